"""What lanes did from one moment to another, and whom they waited for: every construct that leaves events, in small traces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic import LaneFile, ProcessFiles, S, event, packed, subject, write_run
from trimtab.analysis import compiled
from trimtab.analysis.diagnosis import Diagnosis, diagnosis_of
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import (
    BlameCause,
    EventKind,
    RecordLevel,
    SubjectKind,
    WaitCause,
    WaitKind,
    WorkerState,
)
from trimtab.readers import layout, open_run
from trimtab.traces import Trace, traces_of
from trimtab.traces.intervals import NO_LANE, Doing, Intervals, Kind, intervals_of

REGION, LOCK, TASK, OTHER_TASK, LOOP, OTHER_LOCK = 1, 2, 3, 4, 5, 6
NAMES = [
    subject(REGION, name="r"),
    subject(LOCK, kind=SubjectKind.LOCK, name="l"),
    subject(TASK, kind=SubjectKind.TASK, name="t"),
    subject(OTHER_TASK, kind=SubjectKind.TASK, name="u"),
    subject(LOOP, kind=SubjectKind.LOOP, name="loop"),
    subject(OTHER_LOCK, kind=SubjectKind.CRITICAL, name="other lock"),
]
# Lane, begin, end, doing, kind, giver.
Row = tuple[int, float, float, Doing, Kind, int]


def at(second: float) -> int:
    return round(second * S)


def fork(begin: float, end: float, instance: int = 1) -> list[tuple[float, bytes]]:
    return [
        (begin, event(at(begin), EventKind.REGION_BEGIN, REGION, instance, arg=1)),
        (end, event(at(end), EventKind.REGION_END, REGION, instance, 2, arg=1)),
    ]


def part(begin: float, end: float, instance: int = 1) -> list[tuple[float, bytes]]:
    return [
        (begin, event(at(begin), EventKind.WORK_BEGIN, REGION, instance)),
        (end, event(at(end), EventKind.WORK_END, REGION, instance)),
    ]


def wait(
    begin: float, end: float, kind: WaitKind = WaitKind.BARRIER, instance: int = 1
) -> list[tuple[float, bytes]]:
    return [(end, event(at(begin), EventKind.WAIT, REGION, at(end - begin), instance, arg=kind))]


def lock(
    asked: float, entered: float, left: float, place: int = LOCK, number: int = 0
) -> list[tuple[float, bytes]]:
    """`number`: which lock it is; 0: the place is the lock."""
    times = at(left - entered), at(entered - asked)
    return [(left, event(at(entered), EventKind.LOCK, place, *times, arg=number))]


_ORDER = (
    EventKind.WAIT,
    EventKind.WORK_END,
    EventKind.REGION_END,
    EventKind.REGION_BEGIN,
    EventKind.WORK_BEGIN,
)


def _when(entry: tuple[float, bytes]) -> tuple[float, int]:
    kind = int(np.frombuffer(entry[1], layout.EVENT)["kind"][0])
    return entry[0], _ORDER.index(EventKind(kind)) if kind in _ORDER else len(_ORDER)


def lane(*parts: list[tuple[float, bytes]], **fields: object) -> LaneFile:
    """Events in the order in which they were recorded; of one moment, what ends comes before what begins."""
    recorded = sorted((entry for each in parts for entry in each), key=_when)
    return LaneFile(events=[entry for _, entry in recorded], **fields)  # type: ignore[arg-type]


def trace_of(
    folder: Path, *lanes: LaneFile, wall: float = 10.0, switches: list[bytes] | None = None
) -> Trace:
    process = ProcessFiles(
        list(lanes),
        NAMES,
        wall=wall,
        parallel=wall,
        level=RecordLevel.TRACE,
        switches=switches or [],
        cpus=float(len(lanes)),
    )
    (trace,) = traces_of(open_run(write_run(folder / "run", process)))
    return trace


def rows_of(intervals: Intervals) -> set[Row]:
    """All intervals, in seconds."""
    return {
        (
            int(intervals.lane[i]),
            float(intervals.begin_ns[i]) / S,
            float(intervals.end_ns[i]) / S,
            intervals.groups[intervals.group[i]].doing,
            Kind(int(intervals.kind[i])),
            -1 if intervals.giver[i] == NO_LANE else int(intervals.giver[i]),
        )
        for i in range(len(intervals))
    }


def known(trace: Trace) -> set[Row]:
    intervals = intervals_of(trace)
    assert intervals is not None
    check(intervals, trace)
    return rows_of(intervals)


def check(intervals: Intervals, trace: Trace) -> None:
    """What holds of every trace."""
    for number in range(len(intervals.lanes)):
        own = np.flatnonzero(intervals.lane == number)
        own = own[np.argsort(intervals.begin_ns[own])]
        assert (intervals.begin_ns[own] < intervals.end_ns[own]).all()
        assert (intervals.end_ns[own][:-1] <= intervals.begin_ns[own][1:]).all(), "they overlap"
    giver = intervals.giver
    assert ((giver == NO_LANE) | (giver < len(intervals.lanes))).all()
    assert (giver != intervals.lane).all(), "nobody waits for himself"
    diagnosis = diagnosis_of(trace)
    assert diagnosis is not None
    length = (intervals.end_ns - intervals.begin_ns).sum() / S
    charged = sum(charge.seconds for charge in diagnosis.charges)
    worked = sum(diagnosis.work_s) + diagnosis.outside_s
    assert charged + worked == pytest.approx(length), "each moment is work or charged once"
    assert sum(share.seconds for share in diagnosis.path) == pytest.approx(diagnosis.span_s)


def charges_of(diagnosis: Diagnosis | None) -> dict[tuple[BlameCause, int], float]:
    assert diagnosis is not None
    sums: dict[tuple[BlameCause, int], float] = {}
    for charge in diagnosis.charges:
        key = (charge.cause, charge.subject)
        sums[key] = sums.get(key, 0.0) + charge.seconds
    return {key: pytest.approx(seconds) for key, seconds in sums.items()}


def test_a_region_waits_for_its_last_member(tmp_path: Path) -> None:
    main = lane(fork(2, 8), part(2.5, 4), head={})
    helper = lane(part(3, 7))
    trace = trace_of(tmp_path, main, helper)
    assert known(trace) == {
        (0, 0, 2, Doing.SERIAL, Kind.BUSY, -1),
        (0, 2, 2.5, Doing.ARRIVAL, Kind.RESUMING, -1),
        (0, 2.5, 4, Doing.WORK, Kind.BUSY, -1),
        (0, 4, 7, Doing.JOIN, Kind.WAITING, 1),
        (0, 7, 8, Doing.JOIN, Kind.RESUMING, -1),
        (0, 8, 10, Doing.SERIAL, Kind.BUSY, -1),
        (1, 0, 2, Doing.FORK, Kind.WAITING, 0),
        (1, 2, 3, Doing.ARRIVAL, Kind.RESUMING, -1),
        (1, 3, 7, Doing.WORK, Kind.BUSY, -1),
        (1, 7, 10, Doing.FORK, Kind.WAITING, 0),
    }
    # After the join the forker resumes for a second, and the other waits for that.
    assert charges_of(diagnosis_of(trace)) == {
        (BlameCause.LAST_ARRIVAL, REGION): 3.0,
        (BlameCause.SERIAL_PART, NO_SUBJECT): 2.0 + 2.0,
        (BlameCause.WAKEUP_LATENCY, REGION): 0.5 + 1 + 1 + 1,
    }


def test_a_barrier_waits_for_who_comes_last(tmp_path: Path) -> None:
    main = lane(fork(0, 10), part(0, 10), wait(2, 5), wait(7, 7.5))
    helper = lane(part(0, 10), wait(4, 4.5), wait(6, 8))
    rows = known(trace_of(tmp_path, main, helper))
    assert {row for row in rows if row[3] is Doing.BARRIER} == {
        (0, 2, 4, Doing.BARRIER, Kind.WAITING, 1),
        (0, 4, 5, Doing.BARRIER, Kind.RESUMING, -1),
        (1, 4, 4.5, Doing.BARRIER, Kind.RESUMING, -1),
        (1, 6, 7, Doing.BARRIER, Kind.WAITING, 0),
        (1, 7, 8, Doing.BARRIER, Kind.RESUMING, -1),
        (0, 7, 7.5, Doing.BARRIER, Kind.RESUMING, -1),
    }


@pytest.mark.parametrize("kind", [WaitKind.BARRIER, WaitKind.REDUCTION, WaitKind.SINGLE])
def test_barriers_of_all_kinds_are_told_apart_by_instance(tmp_path: Path, kind: WaitKind) -> None:
    main = lane(
        fork(0, 4, 1), part(0, 4, 1), wait(1, 3, kind, 1), fork(5, 9, 2), part(5, 9, 2), wait(8, 8.5, kind, 2)
    )
    helper = lane(part(0, 4, 1), wait(2, 3, kind, 1), part(5, 9, 2), wait(6, 8.5, kind, 2))
    rows = known(trace_of(tmp_path, main, helper))
    assert (0, 1, 2, Doing.BARRIER, Kind.WAITING, 1) in rows
    assert (1, 6, 8, Doing.BARRIER, Kind.WAITING, 0) in rows


def test_a_lock_waits_for_its_holder(tmp_path: Path) -> None:
    main = lane(fork(0, 10), part(0, 10), lock(1, 1, 4))
    helper = lane(part(0, 10), lock(2, 5, 6))
    trace = trace_of(tmp_path, main, helper)
    rows = known(trace)
    assert (1, 2, 4, Doing.LOCK, Kind.WAITING, 0) in rows
    assert (1, 4, 5, Doing.LOCK, Kind.RESUMING, -1) in rows
    assert charges_of(diagnosis_of(trace))[BlameCause.LOCK_HOLDER, LOCK] == 2.0


def test_who_waits_for_a_lock_behind_another_waits_for_both_holders(tmp_path: Path) -> None:
    lanes = [
        lane(fork(0, 10), part(0, 10), lock(0, 0, 3)),
        lane(part(0, 10), lock(1, 3, 5)),
        lane(part(0, 10), lock(2, 5, 6)),
    ]
    trace = trace_of(tmp_path, *lanes)
    assert {row for row in known(trace) if row[3] is Doing.LOCK} == {
        (1, 1, 3, Doing.LOCK, Kind.WAITING, 0),
        (2, 2, 5, Doing.LOCK, Kind.WAITING, 1),
    }
    assert charges_of(diagnosis_of(trace)) == {(BlameCause.LOCK_HOLDER, LOCK): 2.0 + 3.0}


def test_a_lock_that_is_used_at_two_places_has_one_holder(tmp_path: Path) -> None:
    def charges(folder: str, number: int) -> dict[tuple[BlameCause, int], float]:
        main = lane(fork(0, 10), part(0, 10), lock(1, 1, 4, OTHER_LOCK, 7))
        helper = lane(part(0, 10), lock(2, 5, 6, LOCK, number))
        return charges_of(diagnosis_of(trace_of(tmp_path / folder, main, helper)))

    assert charges("same", 7)[BlameCause.LOCK_HOLDER, LOCK] == 2.0
    # Of another lock nobody had it: it was free.
    assert not any(cause is BlameCause.LOCK_HOLDER for cause, _ in charges("other", 8))


@pytest.mark.parametrize("has_holder", [True, False])
def test_a_wait_in_omp_set_lock_is_for_who_held_it(tmp_path: Path, has_holder: bool) -> None:
    # The wait and the time for which the lock is held are two events.
    waited = [(5, event(at(2), EventKind.WAIT, LOCK, at(3), 1, arg=WaitKind.LOCK))]
    main = lane(fork(0, 10), part(0, 10), lock(1, 1, 4, OTHER_LOCK, 7) if has_holder else [])
    helper = lane(part(0, 10), waited, lock(5, 5, 6, LOCK, 7))
    trace = trace_of(tmp_path, main, helper)
    charges = charges_of(diagnosis_of(trace))
    assert charges.get((BlameCause.LOCK_HOLDER, LOCK), 0.0) == (2.0 if has_holder else 0.0)
    assert charges[BlameCause.WAKEUP_LATENCY, LOCK] == (1.0 if has_holder else 3.0)


def test_a_member_that_has_no_cpu_is_not_to_blame_for_that(tmp_path: Path) -> None:
    def switch(second: float, kind: EventKind, preempted: int) -> bytes:
        return packed(layout.EVENT, ticks=at(second), kind=kind, arg=preempted, b=1)

    switches = [switch(3, EventKind.SWITCH_OUT, 1), switch(6, EventKind.SWITCH_IN, 0)]
    trace = trace_of(tmp_path, lane(fork(0, 8), part(0, 2)), lane(part(0, 8)), wall=8.0, switches=switches)
    assert (1, 3, 6, Doing.PREEMPTED, Kind.STOPPED, -1) in known(trace)
    assert charges_of(diagnosis_of(trace)) == {
        (BlameCause.LAST_ARRIVAL, REGION): 1.0 + 2.0,
        (BlameCause.PREEMPTION, REGION): 3.0 + 3.0,
    }


def test_a_member_that_gives_its_cpu_away_is_blocked(tmp_path: Path) -> None:
    def switch(second: float, kind: EventKind) -> bytes:
        return packed(layout.EVENT, ticks=at(second), kind=kind, arg=0, b=1)

    switches = [switch(3, EventKind.SWITCH_OUT), switch(6, EventKind.SWITCH_IN)]
    trace = trace_of(tmp_path, lane(fork(0, 8), part(0, 2)), lane(part(0, 8)), wall=8.0, switches=switches)
    known(trace)
    assert charges_of(diagnosis_of(trace))[BlameCause.BLOCKING_IO, REGION] == 3.0 + 3.0


def instances(lengths: list[tuple[float, float]]) -> list[LaneFile]:
    """Regions one behind the other, whose two members work for so long."""
    main: list[list[tuple[float, bytes]]] = []
    helper: list[list[tuple[float, bytes]]] = []
    begin = 0.0
    for number, (first, second) in enumerate(lengths, 1):
        end = begin + max(first, second)
        main += [fork(begin, end, number), part(begin, begin + first, number)]
        helper.append(part(begin, begin + second, number))
        begin = end
    return [lane(*main), lane(*helper)]


@pytest.mark.parametrize(
    ("lengths", "cause"),
    [
        ([(1.0, 2.0)] * 8, BlameCause.IMBALANCE),
        ([(1.0, 1.0)] * 6 + [(1.0, 3.0)], BlameCause.STRAGGLER),
        ([(1.0, 1.4), (1.4, 1.0)] * 4, BlameCause.LAST_ARRIVAL),
    ],
)
def test_causes_of_waiting_at_a_join(
    tmp_path: Path, lengths: list[tuple[float, float]], cause: BlameCause
) -> None:
    wall = sum(max(pair) for pair in lengths)
    trace = trace_of(tmp_path, *instances(lengths), wall=wall)
    known(trace)
    waited = sum(max(pair) - min(pair) for pair in lengths)
    assert charges_of(diagnosis_of(trace)) == {(cause, REGION): waited}


def state(second: float, what: WorkerState) -> list[tuple[float, bytes]]:
    return [(second, event(at(second), EventKind.WORKER_STATE, TASK, 0, arg=what))]


def task(begin: float, end: float, number: int, kind: int = TASK) -> list[tuple[float, bytes]]:
    return [
        (begin, event(at(begin), EventKind.TASK_BEGIN, kind, number)),
        (end, event(at(end), EventKind.TASK_END, kind, number)),
    ]


def instant(second: float, kind: EventKind, a: int, b: int = 0, arg: int = 0) -> list[tuple[float, bytes]]:
    return [(second, event(at(second), kind, TASK, a, b, arg=arg))]


@pytest.mark.parametrize(
    ("gift", "cause"),
    [
        (instant(5, EventKind.TASK_READY, 2, 1), BlameCause.DEPENDENCE_CHAIN),
        (instant(5, EventKind.TASK_CREATED, 2, 1), BlameCause.SPAWN_RATE),
        (instant(5, EventKind.EDGE, 1, 2, WaitCause.FUTURE), BlameCause.DEPENDENCE_CHAIN),
    ],
)
def test_a_worker_without_a_task_waits_for_who_makes_one_ready(
    tmp_path: Path, gift: list[tuple[float, bytes]], cause: BlameCause
) -> None:
    busy = lane(state(0, WorkerState.RUNS), task(0, 10, 1), gift, worker_of=1)
    idle = lane(
        state(0, WorkerState.IDLE), state(6, WorkerState.RUNS), task(6, 10, 2, OTHER_TASK), worker_of=1
    )
    trace = trace_of(tmp_path, busy, idle)
    rows = known(trace)
    doing = Doing.SPAWN if cause is BlameCause.SPAWN_RATE else Doing.DEPENDENCE
    assert (1, 0, 5, doing, Kind.WAITING, 0) in rows
    assert (1, 5, 6, doing, Kind.RESUMING, -1) in rows
    charges = charges_of(diagnosis_of(trace))
    assert charges[cause, TASK] == 5.0
    assert charges[BlameCause.WAKEUP_LATENCY, NO_SUBJECT] == 1.0


def test_a_task_that_was_ready_all_the_time_was_badly_distributed(tmp_path: Path) -> None:
    busy = lane(instant(0, EventKind.TASK_READY, 2), state(0, WorkerState.RUNS), task(0, 10, 1), worker_of=1)
    idle = lane(state(1, WorkerState.LOOKS), state(6, WorkerState.RUNS), task(6, 10, 2), worker_of=1)
    trace = trace_of(tmp_path, busy, idle)
    assert (1, 1, 6, Doing.FAR_TASK, Kind.RESUMING, -1) in known(trace)
    assert charges_of(diagnosis_of(trace))[BlameCause.BAD_DISTRIBUTION, NO_SUBJECT] == 5.0


def test_behind_the_last_task_a_worker_waits_for_who_still_has_one(tmp_path: Path) -> None:
    busy = lane(state(0, WorkerState.RUNS), task(0, 10, 1), worker_of=1)
    idle = lane(
        state(0, WorkerState.RUNS), task(0, 4, 2, OTHER_TASK), state(4, WorkerState.IDLE), worker_of=1
    )
    trace = trace_of(tmp_path, busy, idle)
    assert (1, 4, 10, Doing.NO_FURTHER_TASK, Kind.WAITING, 0) in known(trace)
    assert charges_of(diagnosis_of(trace)) == {(BlameCause.LAST_ARRIVAL, TASK): 6.0}


def test_a_capped_worker_is_one_too_few(tmp_path: Path) -> None:
    busy = lane(state(0, WorkerState.RUNS), task(0, 10, 1), worker_of=1)
    idle = lane(state(0, WorkerState.CAPPED), state(6, WorkerState.RUNS), task(6, 10, 2), worker_of=1)
    trace = trace_of(tmp_path, busy, idle)
    known(trace)
    assert charges_of(diagnosis_of(trace))[BlameCause.TOO_FEW_WORKERS, NO_SUBJECT] == 6.0


def test_a_process_without_all_events_has_none(tmp_path: Path) -> None:
    main = lane(fork(2, 8), part(2.5, 4))
    main.written = 1000
    assert intervals_of(trace_of(tmp_path, main)) is None


def test_a_process_without_regions_and_tasks_has_none(tmp_path: Path) -> None:
    assert intervals_of(trace_of(tmp_path, LaneFile())) is None
    assert diagnosis_of(trace_of(tmp_path / "again", LaneFile())) is None


def test_what_lies_in_loops_and_chunks_is_work_of_the_region(tmp_path: Path) -> None:
    main = lane(
        fork(0, 10),
        part(0, 9),
        [(7, event(at(1), EventKind.LOOP, LOOP, at(6), 4, arg=1))],
        [(1.5, event(at(1.5), EventKind.CHUNK, LOOP, 4, 0, arg=1))],
    )
    trace = trace_of(tmp_path, main, lane(part(0, 10)))
    assert {row[3:5] for row in known(trace) if row[0] == 0 and row[1] < 9} == {(Doing.WORK, Kind.BUSY)}
    assert charges_of(diagnosis_of(trace)) == {(BlameCause.LAST_ARRIVAL, REGION): 1.0}


def test_a_slow_lane_is_known_though_all_leave_a_barrier_together(tmp_path: Path) -> None:
    parts: tuple[list[list[tuple[float, bytes]]], ...] = ([], [])
    for number in range(1, 7):
        begin = 2.0 * (number - 1)
        parts[0].append(fork(begin, begin + 2, number))
        for own, arrived in zip(parts, (0.5, 1.5), strict=True):
            waited = wait(begin + arrived, begin + 1.5, instance=number)
            ended = event(at(begin + 2), EventKind.WORK_END, REGION, number, at(1.5 - arrived))
            own += [part(begin, begin + 2, number)[:1], waited, [(begin + 2, ended)]]
    trace = trace_of(tmp_path, *(lane(*own) for own in parts), wall=12.0)
    known(trace)
    assert charges_of(diagnosis_of(trace)) == {(BlameCause.IMBALANCE, REGION): 6.0}


def test_an_instant_before_the_first_region_leaves_no_hole(tmp_path: Path) -> None:
    begins = [(1.0, event(at(1), EventKind.THREAD_BEGIN, NO_SUBJECT, 7))]
    rows = known(trace_of(tmp_path, lane(begins, fork(2, 8), part(2, 8)), lane(begins, part(2, 8))))
    assert {row for row in rows if row[1] < 2} == {
        (0, 0, 2, Doing.SERIAL, Kind.BUSY, -1),
        (1, 0, 2, Doing.FORK, Kind.WAITING, 0),
    }


def test_a_region_in_a_region(tmp_path: Path) -> None:
    main = lane(fork(0, 10, 1), part(0, 9, 1), fork(2, 6, 2), part(2, 4, 2))
    helper = lane(part(2, 5.5, 2))
    rows = known(trace_of(tmp_path, main, helper))
    assert (0, 4, 5.5, Doing.JOIN, Kind.WAITING, 1) in rows
    assert (0, 6, 9, Doing.WORK, Kind.BUSY, -1) in rows


def test_what_contradicts_itself_is_refused(tmp_path: Path) -> None:
    table = np.zeros(2, compiled.INTERVAL)
    table["begin_ns"], table["end_ns"] = [0, 5], [10, 8]
    with pytest.raises(compiled.CompiledError, match="interval 1 of lane 0: expected a begin at 10 ns"):
        compiled.blame(table, 1)
    with pytest.raises(compiled.CompiledError, match="lane"):
        compiled.critical_path(np.array([(0, 5, 7, NO_LANE, 0, 0)], compiled.INTERVAL), 2)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_are_accounted_to_the_last_moment(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    members = int(random.integers(2, 6))
    parts: list[list[list[tuple[float, bytes]]]] = [[] for _ in range(members)]
    now = 0.0
    for instance in range(1, 9):
        begin = now + float(random.uniform(0, 0.2))
        arrivals = begin + random.uniform(0, 0.05, members)
        barriers = arrivals + random.uniform(0, 0.3, members)
        release = float(barriers.max())
        ends = release + random.uniform(0.01, 0.3, members)
        now = float(ends.max()) + float(random.uniform(0, 0.05))
        parts[0].append(fork(begin, now, instance))
        for number in range(members):
            parts[number].append(part(float(arrivals[number]), float(ends[number]), instance))
            left = release + float(random.uniform(0, 0.01))
            parts[number].append(wait(float(barriers[number]), left, instance=instance))
    trace = trace_of(tmp_path, *(lane(*own) for own in parts), wall=now + 0.1)
    known(trace)
    diagnosis = diagnosis_of(trace)
    assert diagnosis is not None
    assert not [charge for charge in diagnosis.charges if charge.cause is BlameCause.UNATTRIBUTED]
    assert sum(diagnosis.work_s) + sum(charge.seconds for charge in diagnosis.charges) == pytest.approx(
        members * (now + 0.1), rel=1e-6
    )


def test_a_task_of_several_times_the_usual_length_is_a_straggler(tmp_path: Path) -> None:
    busy = lane(
        state(0, WorkerState.RUNS),
        *(task(at, at + 1, number) for at, number in ((0, 1), (1, 2), (2, 3), (3, 4))),
        task(4, 10, 5),
        worker_of=1,
    )
    idle = lane(state(0, WorkerState.RUNS), task(0, 1, 6), state(1, WorkerState.IDLE), worker_of=1)
    charges = charges_of(diagnosis_of(trace_of(tmp_path, busy, idle)))
    assert charges[BlameCause.STRAGGLER, TASK] == 6.0
    assert charges[BlameCause.LAST_ARRIVAL, TASK] == 3.0


def test_tasks_that_become_ready_one_after_another_are_a_chain_to_the_end(tmp_path: Path) -> None:
    links = [(at, at + 2, at // 2 + 1) for at in range(0, 10, 2)]
    gifts = [instant(end, EventKind.TASK_READY, number + 1, number) for _, end, number in links[:-1]]
    busy = lane(state(0, WorkerState.RUNS), *(task(*link) for link in links), *gifts, worker_of=1)
    idle = lane(
        state(0, WorkerState.RUNS), task(0, 1, 9, OTHER_TASK), state(1, WorkerState.IDLE), worker_of=1
    )
    charges = charges_of(diagnosis_of(trace_of(tmp_path, busy, idle)))
    assert charges[BlameCause.DEPENDENCE_CHAIN, TASK] == 8.0
    assert charges[BlameCause.LAST_ARRIVAL, TASK] == 1.0, "the first link was ready before"


def test_behind_its_last_task_a_worker_waits_for_who_still_makes_tasks(tmp_path: Path) -> None:
    made = [instant(at, EventKind.TASK_CREATED, at + 10, 1) for at in (2, 4, 6)]
    maker = lane(state(0, WorkerState.RUNS), task(0, 7, 1), *made, worker_of=1)
    other = lane(
        state(0, WorkerState.IDLE),
        *((state(at, WorkerState.RUNS) + task(at, at + 2, at + 10, OTHER_TASK)) for at in (2, 4, 6)),
        worker_of=1,
    )
    idle = lane(
        state(0, WorkerState.RUNS), task(0, 1, 9, OTHER_TASK), state(1, WorkerState.IDLE), worker_of=1
    )
    charges = charges_of(diagnosis_of(trace_of(tmp_path, maker, other, idle, wall=8.0)))
    assert charges[BlameCause.SPAWN_RATE, TASK] == 2.0 + 5.0
    assert charges[BlameCause.LAST_ARRIVAL, OTHER_TASK] == 2.0


def test_a_worker_without_a_task_beside_a_full_queue_is_badly_distributed(tmp_path: Path) -> None:
    ready = [instant(0, EventKind.TASK_CREATED, number, 0) for number in (1, 2)]
    busy = lane(*ready, state(0, WorkerState.RUNS), task(0, 6, 1), task(6, 10, 2), worker_of=1)
    idle = lane(state(0, WorkerState.RUNS), task(0, 1, 3), state(1, WorkerState.IDLE), worker_of=1)
    charges = charges_of(diagnosis_of(trace_of(tmp_path, busy, idle)))
    assert charges[BlameCause.BAD_DISTRIBUTION, NO_SUBJECT] == 5.0
    assert charges[BlameCause.LAST_ARRIVAL, TASK] == 4.0


def test_a_lane_whose_cpu_others_take_every_time_is_not_imbalanced(tmp_path: Path) -> None:
    def switch(second: float, kind: EventKind, preempted: int) -> bytes:
        return packed(layout.EVENT, ticks=at(second), kind=kind, arg=preempted, b=1)

    switches = [
        switch(number * 2.0 + after, kind, preempted)
        for number in range(8)
        for after, kind, preempted in ((0.2, EventKind.SWITCH_OUT, 1), (1.2, EventKind.SWITCH_IN, 0))
    ]
    trace = trace_of(tmp_path, *instances([(1.0, 2.0)] * 8), wall=16.0, switches=switches)
    known(trace)
    assert charges_of(diagnosis_of(trace)) == {(BlameCause.PREEMPTION, REGION): 8.0 + 8.0}

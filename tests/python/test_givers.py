"""Who ends a wait: constructs in which the lane that ends it has to be found among several, in small traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import LaneFile, ProcessFiles, S, event, fact, packed, write_run
from test_intervals import (
    NAMES,
    OTHER_TASK,
    REGION,
    TASK,
    Row,
    at,
    charges_of,
    fork,
    instant,
    known,
    lane,
    part,
    rows_of,
    state,
    task,
    trace_of,
    wait,
)
from trimtab.analysis.changes import ChangeKind
from trimtab.analysis.diagnosis import diagnosis_of, diagnosis_of_job
from trimtab.analysis.queued_messages import Queues
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import (
    BlameCause,
    EventKind,
    LeaveCause,
    RecordLevel,
    WaitCause,
    WaitKind,
    WorkerState,
)
from trimtab.readers import layout, open_run
from trimtab.traces import Trace, traces_of
from trimtab.traces.intervals import Doing, Kind, intervals_of, intervals_of_job
from trimtab.traces.intervals.build import lanes_of
from trimtab.traces.steps import steps_of_lanes


def rows_doing(trace: Trace, *doing: Doing) -> set[Row]:
    return {row for row in known(trace) if row[3] in doing}


def unattributed(trace: Trace) -> float:
    diagnosis = diagnosis_of(trace)
    assert diagnosis is not None
    on_path = sum(share.seconds for share in diagnosis.path if share.cause is BlameCause.UNATTRIBUTED)
    return on_path + sum(c.seconds for c in diagnosis.charges if c.cause is BlameCause.UNATTRIBUTED)


def team(*members: list[list[tuple[float, bytes]]]) -> list[LaneFile]:
    """A region of 10 s whose members do this."""
    return [
        lane(*([fork(0, 10)] if number == 0 else []), part(0, 10), *own) for number, own in enumerate(members)
    ]


def test_taskwait_waits_for_the_child_that_ended_last(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path,
        *team(
            [instant(1, EventKind.TASK_CREATED, 7), wait(2, 8.5, WaitKind.TASKWAIT)],
            [task(1, 5, 6, OTHER_TASK)],
            [task(1.5, 8, 7)],
        ),
    )
    assert rows_doing(trace, Doing.TASKWAIT) == {
        (0, 2, 8, Doing.TASKWAIT, Kind.WAITING, 2),
        (0, 8, 8.5, Doing.TASKWAIT, Kind.RESUMING, -1),
    }
    assert charges_of(diagnosis_of(trace))[BlameCause.DEPENDENCE_CHAIN, TASK] == 6.0
    assert unattributed(trace) == 0


def test_taskwait_for_nothing_is_the_runtimes_time(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, *team([wait(2, 3, WaitKind.TASKWAIT)], [task(4, 5, 6)]))
    assert rows_doing(trace, Doing.TASKWAIT) == {(0, 2, 3, Doing.TASKWAIT, Kind.RESUMING, -1)}


def test_at_a_barrier_a_member_waits_for_who_makes_tasks_and_then_for_who_runs_them(tmp_path: Path) -> None:
    created = instant(4, EventKind.TASK_CREATED, 7)
    # 1 waits from the beginning, runs a task in the barrier, and leaves when the task of 2 has ended.
    trace = trace_of(
        tmp_path,
        *team(
            [created, wait(6, 9)],
            # A wait's duration leaves out the tasks that ran in it.
            [task(4.5, 5, 7), [(9, event(at(1), EventKind.WAIT, REGION, at(8), 1, arg=WaitKind.BARRIER))]],
            [wait(5, 5.5), task(5.5, 8, 8), wait(8, 9)],
        ),
    )
    rows = rows_doing(trace, Doing.BARRIER)
    assert (1, 1, 4, Doing.BARRIER, Kind.WAITING, 0) in rows
    assert (1, 4, 4.5, Doing.BARRIER, Kind.RESUMING, -1) in rows
    assert (0, 6, 8, Doing.BARRIER, Kind.WAITING, 2) in rows
    assert (1, 5, 8, Doing.BARRIER, Kind.WAITING, 2) in rows


def depends(second: float, earlier: int, later: int) -> list[tuple[float, bytes]]:
    return instant(second, EventKind.EDGE, earlier, later, WaitCause.OTHER)


def chain_of_three(has_dependences: bool) -> list[LaneFile]:
    """The forker makes three tasks and runs them in the barrier, while the other member has nothing to do from 2 s on."""
    made = [entry for number in (1, 2, 3) for entry in instant(1, EventKind.TASK_CREATED, number)]
    if has_dependences:
        made += depends(1, 1, 2) + depends(1, 2, 3)
    runs = task(1, 4, 1) + task(4, 6, 2) + task(6, 9, 3)
    return team([made, runs, wait(9, 9.5)], [wait(2, 9.5)])


def test_who_waits_at_a_barrier_for_tasks_that_wait_for_each_other_waits_for_a_chain(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, *chain_of_three(has_dependences=True))
    assert {row[:5] for row in rows_doing(trace, Doing.TASK_CHAIN)} == {
        (1, 2, 4, Doing.TASK_CHAIN, Kind.WAITING),
        (1, 4, 6, Doing.TASK_CHAIN, Kind.WAITING),
        (1, 6, 9, Doing.TASK_CHAIN, Kind.WAITING),
        (1, 9, 9.5, Doing.TASK_CHAIN, Kind.RESUMING),
    }
    diagnosis = diagnosis_of(trace)
    assert diagnosis is not None
    assert charges_of(diagnosis)[BlameCause.DEPENDENCE_CHAIN, TASK] == 7.0
    (chain,) = [c for c in diagnosis.chains if c.cause is BlameCause.DEPENDENCE_CHAIN]
    assert [(link.lane, link.begin_ns * 1e-9, link.end_ns * 1e-9) for link in chain.tasks] == [
        (0, 1, 4),
        (0, 4, 6),
        (0, 6, 9),
    ]
    assert (chain.begin_ns * 1e-9, chain.end_ns * 1e-9) == (2, 9)


def test_tasks_that_do_not_wait_for_each_other_are_no_chain(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, *chain_of_three(has_dependences=False))
    assert not rows_doing(trace, Doing.TASK_CHAIN)
    charges = charges_of(diagnosis_of(trace))
    assert not any(cause is BlameCause.DEPENDENCE_CHAIN for cause, _ in charges)


def test_a_task_that_was_ready_before_the_wait_began_is_no_chain(tmp_path: Path) -> None:
    # Its input was there at 2 s, when both members had work.
    made = instant(1, EventKind.TASK_CREATED, 1) + instant(1, EventKind.TASK_CREATED, 2) + depends(1, 1, 2)
    trace = trace_of(
        tmp_path, *team([made, task(1, 2, 1), task(2, 9, 2), wait(9, 9.5)], [task(1, 3, 3), wait(3, 9.5)])
    )
    assert not rows_doing(trace, Doing.TASK_CHAIN)
    assert charges_of(diagnosis_of(trace))[BlameCause.LAST_ARRIVAL, TASK] == 6.0


def test_the_last_to_come_to_a_barrier_ran_a_chain_before(tmp_path: Path) -> None:
    # The other member waits at the barrier; the forker runs the chain in its taskwait, and works for a second behind it.
    made = instant(1, EventKind.TASK_CREATED, 1) + instant(1, EventKind.TASK_CREATED, 2) + depends(1, 1, 2)
    trace = trace_of(tmp_path, *team([made, task(1, 4, 1), task(4, 8, 2), wait(9, 9.5)], [wait(2, 9.5)]))
    charges = charges_of(diagnosis_of(trace))
    assert charges[BlameCause.DEPENDENCE_CHAIN, TASK] == 6.0
    assert charges[BlameCause.LAST_ARRIVAL, REGION] == 1.0


def test_the_forker_waits_for_tasks_that_run_in_the_barrier_of_the_join(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, lane(fork(0, 9), part(0, 2)), lane(part(0, 3), task(3, 8, 5)))
    assert (0, 2, 8, Doing.JOIN, Kind.WAITING, 1) in known(trace)
    assert unattributed(trace) == 0


def test_ordered_waits_for_the_iteration_before(tmp_path: Path) -> None:
    def turn(begin: float, end: float) -> list[tuple[float, bytes]]:
        return wait(begin, end, WaitKind.ORDERED)

    trace = trace_of(tmp_path, *team([turn(1, 1), turn(5, 7)], [turn(1, 3)], [turn(2, 5)]))
    assert rows_doing(trace, Doing.ORDERED) == {
        (1, 1, 3, Doing.ORDERED, Kind.WAITING, 0),
        (2, 2, 5, Doing.ORDERED, Kind.WAITING, 1),
        (0, 5, 7, Doing.ORDERED, Kind.WAITING, 2),
    }
    charges = charges_of(diagnosis_of(trace))
    assert charges == {(BlameCause.DEPENDENCE_CHAIN, REGION): 2 + 3 + 2.0}


def test_a_barrier_that_only_one_member_records_shifts_no_other(tmp_path: Path) -> None:
    # libgomp's copyprivate: who executed the single waits for the others to copy.
    trace = trace_of(tmp_path, *team([wait(1, 1.5, WaitKind.SINGLE), wait(3, 6)], [wait(5, 6)]))
    assert (0, 3, 5, Doing.BARRIER, Kind.WAITING, 1) in known(trace)


def workers(*own: list[list[tuple[float, bytes]]], begin: float = 0.0) -> list[LaneFile]:
    return [lane(state(begin, WorkerState.RUNS), *parts, worker_of=1) for parts in own]


def main_thread(*made: float) -> LaneFile:
    events = [
        entry
        for number, second in enumerate(made, 1)
        for entry in instant(second, EventKind.TASK_CREATED, number)
    ]
    return lane(events, head={})


def test_workers_wait_for_the_thread_that_makes_the_tasks_and_it_for_them(tmp_path: Path) -> None:
    idle = [state(0, WorkerState.IDLE), state(3, WorkerState.RUNS), task(3, 6, 1), state(6, WorkerState.IDLE)]
    trace = trace_of(tmp_path, main_thread(2), *workers(idle))
    assert known(trace) == {
        (0, 0, 3, Doing.SERIAL, Kind.BUSY, -1),
        (0, 3, 6, Doing.TASKS, Kind.WAITING, 1),
        (0, 6, 10, Doing.SERIAL, Kind.BUSY, -1),
        (1, 0, 2, Doing.SPAWN, Kind.WAITING, 0),
        (1, 2, 3, Doing.SPAWN, Kind.RESUMING, -1),
        (1, 3, 6, Doing.WORK, Kind.BUSY, -1),
        (1, 6, 10, Doing.END, Kind.WAITING, 0),
    }
    assert unattributed(trace) == 0
    assert charges_of(diagnosis_of(trace))[BlameCause.SERIAL_PART, NO_SUBJECT] == 2 + 4.0


def test_switches_say_when_the_thread_outside_waited(tmp_path: Path) -> None:
    def switch(second: float, kind: EventKind) -> bytes:
        return packed(layout.EVENT, ticks=at(second), kind=kind, arg=0, b=0)

    switches = [switch(4, EventKind.SWITCH_OUT), switch(7, EventKind.SWITCH_IN)]
    idle = [task(1, 6, 1), state(6, WorkerState.IDLE)]
    trace = trace_of(tmp_path, main_thread(0.5), *workers(idle), switches=switches)
    assert {row for row in known(trace) if row[0] == 0} == {
        (0, 0, 4, Doing.SERIAL, Kind.BUSY, -1),
        (0, 4, 6, Doing.TASKS, Kind.WAITING, 1),
        (0, 6, 7, Doing.TASKS, Kind.RESUMING, -1),
        (0, 7, 10, Doing.SERIAL, Kind.BUSY, -1),
    }


def test_the_worker_of_the_last_task_does_not_wait_for_itself(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path,
        main_thread(0),
        *workers([task(0, 4, 1), state(4, WorkerState.IDLE)], [task(0, 7, 2), state(7, WorkerState.IDLE)]),
    )
    assert rows_doing(trace, Doing.NO_FURTHER_TASK, Doing.END) == {
        (1, 4, 7, Doing.NO_FURTHER_TASK, Kind.WAITING, 2),
        (1, 7, 10, Doing.END, Kind.WAITING, 0),
        (2, 7, 10, Doing.END, Kind.WAITING, 0),
    }


def test_before_a_worker_begins_it_waits_for_the_thread_that_makes_its_runtime(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, main_thread(2), *workers([task(4, 10, 1)], begin=3))
    assert {row for row in known(trace) if row[0] == 1} == {
        (1, 0, 2, Doing.FORK, Kind.WAITING, 0),
        (1, 2, 3, Doing.FORK, Kind.RESUMING, -1),
        (1, 3, 4, Doing.RUNTIME, Kind.BUSY, -1),
        (1, 4, 10, Doing.WORK, Kind.BUSY, -1),
    }


def suspended(
    begin: float, number: int, resumed: float, end: float, since: float | None = None
) -> list[tuple[float, bytes]]:
    since = (begin + resumed) / 2 if since is None else since
    return [
        *task(begin, end, number)[:1],
        *instant(since, EventKind.TASK_SUSPENDED, number, arg=WaitCause.FUTURE),
        *instant(resumed, EventKind.TASK_RESUMED, number, arg=WaitCause.FUTURE),
        *task(begin, end, number)[1:],
    ]


@pytest.mark.parametrize("is_recorded", [True, False])
def test_what_made_a_suspended_task_before_does_not_let_it_go_on(tmp_path: Path, is_recorded: bool) -> None:
    # Task 1 runs from 0 to 3, and again from 6 on.
    waiting = [suspended(0, 1, 6, 10), state(3, WorkerState.IDLE), state(6, WorkerState.RUNS)]
    gift = instant(5, EventKind.EDGE, 2, 1, WaitCause.FUTURE) if is_recorded else []
    trace = trace_of(tmp_path, main_thread(0), *workers(waiting, [task(0, 10, 2), gift]))
    rows = rows_doing(trace, Doing.DEPENDENCE, Doing.RESUMPTION, Doing.FAR_TASK)
    if is_recorded:
        assert rows == {
            (1, 3, 5, Doing.DEPENDENCE, Kind.WAITING, 2),
            (1, 5, 6, Doing.DEPENDENCE, Kind.RESUMING, -1),
        }
    else:
        assert rows == {(1, 3, 6, Doing.RESUMPTION, Kind.WAITING, -1)}


def test_who_waits_for_a_mutex_waits_for_the_task_that_had_it(tmp_path: Path) -> None:
    waiting = [suspended(0, 1, 6, 10), state(3, WorkerState.IDLE), state(6, WorkerState.RUNS)]
    gift = instant(5, EventKind.EDGE, 2, 1, WaitCause.MUTEX)
    trace = trace_of(tmp_path, main_thread(0), *workers(waiting, [task(0, 10, 2), gift]))
    assert rows_doing(trace, Doing.TASK_LOCK, Doing.DEPENDENCE) == {
        (1, 3, 5, Doing.TASK_LOCK, Kind.WAITING, 2),
        (1, 5, 6, Doing.TASK_LOCK, Kind.RESUMING, -1),
    }
    assert charges_of(diagnosis_of(trace))[BlameCause.LOCK_HOLDER, TASK] == 2.0


def test_a_wait_for_several_holders_is_for_each_of_them_in_turn(tmp_path: Path) -> None:
    """Task 2 has the mutex until 4 s, task 3 from then until 6 s; the lane of task 3 ran another task before."""
    own = [suspended(0, 1, 6, 9, since=1), state(1, WorkerState.IDLE), state(6, WorkerState.RUNS)]
    first = [task(0, 4, 2), instant(4, EventKind.EDGE, 2, 3, WaitCause.MUTEX), task(4, 9, 5, OTHER_TASK)]
    second = [
        suspended(0, 3, 4, 6, since=0.5),
        task(0.5, 4, 4, OTHER_TASK),
        instant(6, EventKind.EDGE, 3, 1, WaitCause.MUTEX),
        task(6, 9, 6, OTHER_TASK),
    ]
    trace = trace_of(tmp_path, main_thread(0), *workers(own, first, second))
    assert rows_doing(trace, Doing.TASK_LOCK) == {
        (1, 1, 4, Doing.TASK_LOCK, Kind.WAITING, 2),
        (1, 4, 6, Doing.TASK_LOCK, Kind.WAITING, 3),
    }
    charges = charges_of(diagnosis_of(trace))
    assert charges[BlameCause.LOCK_HOLDER, TASK] == 3 + 2.0
    assert (BlameCause.LOCK_HOLDER, OTHER_TASK) not in charges


def test_a_thread_outside_lets_a_task_go_on(tmp_path: Path) -> None:
    own = [suspended(0, 1, 6, 10), state(3, WorkerState.IDLE), state(6, WorkerState.RUNS)]
    outside = lane(instant(5, EventKind.EDGE, 0, 1, WaitCause.CHANNEL), head={})
    trace = trace_of(tmp_path, main_thread(0), *workers(own), outside)
    assert (1, 3, 5, Doing.DEPENDENCE, Kind.WAITING, 2) in known(trace)
    assert charges_of(diagnosis_of(trace))[BlameCause.SERIAL_PART, NO_SUBJECT] == 2.0
    assert unattributed(trace) == 0


def test_a_worker_whose_next_task_waited_for_one_of_a_message_waits_for_the_message(tmp_path: Path) -> None:
    def traces(sent: float) -> tuple[Trace, ...]:
        sender = [task(0, 9, 1), instant(sent, EventKind.PARCEL_SENT, 9, arg=1), state(9, WorkerState.IDLE)]
        received = [*instant(5, EventKind.TASK_CREATED, 7), *instant(5, EventKind.PARCEL_RECEIVED, 7, 9)]
        first = [state(1, WorkerState.IDLE), received, state(5, WorkerState.RUNS), task(5, 8, 7, OTHER_TASK)]
        gift = instant(6, EventKind.EDGE, 7, 3, WaitCause.FUTURE)
        second = [suspended(0, 3, 6, 9), state(2, WorkerState.IDLE), state(6, WorkerState.RUNS)]
        return job_of(
            tmp_path, [main_thread(0), *workers(sender)], [main_thread(), *workers([*first, gift], second)]
        )

    diagnosis = diagnosis_of_job(traces(4))
    assert diagnosis is not None
    remote = [c for c in diagnosis.charges if (c.waiting, c.process, c.subject) == (1, 0, TASK)]
    # From 1 s on lane 1, from 2 s on lane 2, until the message was sent.
    assert [(charge.cause, charge.seconds) for charge in remote] == [
        (BlameCause.DEPENDENCE_CHAIN, pytest.approx(3.0 + 2.0))
    ]


def test_a_task_whose_stack_another_worker_took_over_ended_there(tmp_path: Path) -> None:
    # The outer task 1 begins on one worker and ends on the other.
    first = [task(0, 9, 1)[:1], state(3, WorkerState.IDLE)]
    second = [task(0, 9, 1)[1:], task(3, 4, 2), state(9, WorkerState.IDLE)]
    trace = trace_of(tmp_path, main_thread(0), *workers(first, second))
    assert (1, 9, 10, Doing.END, Kind.WAITING, 0) in known(trace)
    assert unattributed(trace) == 0


def moved_stack(folder: Path) -> Trace:
    """The first thread makes task 1 at 1 s, and both workers begin then. Task 2 on top of it takes it to the other worker."""
    suspended = event(at(3), EventKind.TASK_SUSPENDED, TASK, 2, arg=WaitCause.MUTEX)
    resumed = event(at(4), EventKind.TASK_RESUMED, TASK, 2, arg=WaitCause.MUTEX)
    first = [
        task(1, 9, 1)[:1],
        [task(2, 9, 2)[0], (3, suspended)],
        *(task(begin, begin + 0.5, number) for begin, number in ((3.5, 3), (4.5, 4), (5.5, 5))),
        state(7, WorkerState.LOOKS),
        state(7.5, WorkerState.NONE),
        [(7.5, event(at(7.5), EventKind.THREAD_END, NO_SUBJECT))],
    ]
    second = [[(4, resumed), task(2, 5, 2)[1]], [task(1, 6, 1)[1]], state(6.5, WorkerState.IDLE)]
    return trace_of(folder, main_thread(1), *workers(first, second, begin=1.0))


def test_what_a_worker_does_behind_a_stack_that_left_it_is_no_work_of_its_task(tmp_path: Path) -> None:
    trace = moved_stack(tmp_path)
    rows = {row for row in known(trace) if row[0] == 1}
    works = {(begin, end) for _, begin, end, doing, *_ in rows if doing is Doing.WORK}
    assert works == {(1, 2), (2, 3), (3.5, 4), (4.5, 5), (5.5, 6)}
    between = {(begin, end) for _, begin, end, doing, *_ in rows if doing is Doing.RUNTIME}
    assert between == {(3, 3.5), (4, 4.5), (5, 5.5), (6, 7)}
    # Behind its end it computes nothing, either.
    assert not [row for row in rows if row[1] >= 7.5 and row[4] is Kind.BUSY]
    assert unattributed(trace) == 0


def test_steps_of_tasks_have_nothing_but_what_their_tasks_did(tmp_path: Path) -> None:
    lanes = lanes_of(moved_stack(tmp_path))
    assert lanes is not None
    steps = steps_of_lanes(lanes)
    assert steps is not None
    pieces = steps.pieces
    own = [
        (begin / S, end / S)
        for begin, end, lane, doing in zip(
            pieces.begin_ns, pieces.end_ns, pieces.lane, pieces.doing, strict=True
        )
        if lane == 1
    ]
    # Neither the time before the worker began, nor what lay between tasks behind the stack that left.
    assert own == [(1, 2), (2, 3), (3.5, 4), (4.5, 5), (5.5, 6)]


@pytest.mark.parametrize("seed", range(20))
def test_random_tasks_leave_nothing_unattributed(tmp_path: Path, seed: int) -> None:
    """Times are on a coarse grid, so that many are equal."""
    random = np.random.default_rng(seed)
    number = 0
    own: list[list[list[tuple[float, bytes]]]] = []
    for _ in range(3):
        parts: list[list[tuple[float, bytes]]] = []
        now = 0
        while now < 8:
            begin = now + int(random.integers(0, 2))
            end = begin + int(random.integers(1, 3))
            number += 1
            if begin > now:
                parts += [state(now, WorkerState.IDLE), state(begin, WorkerState.RUNS)]
            parts.append(task(begin, end, number))
            now = end
        own.append(parts)
    trace = trace_of(tmp_path, main_thread(*([0.0] * number)), *workers(*own), wall=12.0)
    known(trace)
    assert unattributed(trace) == 0


def job_of(
    folder: Path,
    *localities: list[LaneFile],
    begins: tuple[float, ...] = (0.0, 0.0),
    walls: tuple[float, ...] = (10.0, 10.0),
) -> tuple[Trace, ...]:
    """The processes of a job; the place of each is its rank."""
    processes = [
        ProcessFiles(
            lanes,
            [*NAMES, fact("rank", str(rank)), fact("size", str(len(localities)))],
            wall=walls[rank],
            parallel=walls[rank],
            level=RecordLevel.TRACE,
            cpus=1.0,
            pid=100 + rank,
            begin=begins[rank],
        )
        for rank, lanes in enumerate(localities)
    ]
    return traces_of(open_run(write_run(folder / "run", *processes)))


@pytest.mark.parametrize("begin", [0.0, 1.0])
def test_who_waits_for_a_message_waits_for_its_sender(tmp_path: Path, begin: float) -> None:
    # The times of a process count from its own begin.
    sent = 4.0 + begin
    sender = [task(0, 9, 1), instant(sent, EventKind.PARCEL_SENT, 9, arg=1), state(9, WorkerState.IDLE)]
    received = [
        *instant(5, EventKind.TASK_CREATED, 7),
        *instant(5, EventKind.PARCEL_RECEIVED, 7, 9),
    ]
    receiver = [
        state(1, WorkerState.IDLE),
        received,
        state(5.5, WorkerState.RUNS),
        task(5.5, 8, 7, OTHER_TASK),
    ]
    traces = job_of(
        tmp_path,
        [main_thread(0), *workers(sender)],
        [main_thread(), *workers(receiver)],
        begins=(0.0, begin),
    )
    assert [trace.rank for trace in traces] == [0, 1]
    own = [intervals_of(trace) for trace in traces]
    assert own[0] is not None and own[1] is not None
    assert {row for row in rows_of(own[1]) if row[3] is Doing.MESSAGE} == {
        (1, 1, 5, Doing.MESSAGE, Kind.WAITING, -1),
        (1, 5, 5.5, Doing.MESSAGE, Kind.RESUMING, -1),
    }
    together = intervals_of_job(traces, [own[0], own[1]], [0, 1])
    # The lanes of the first process are 0 and 1.
    assert {row for row in rows_of(together) if row[3] in (Doing.MESSAGE, Doing.TRANSIT)} == {
        (3, 1 + begin, sent, Doing.MESSAGE, Kind.WAITING, 1),
        (3, sent, 5 + begin, Doing.TRANSIT, Kind.RESUMING, -1),
        (3, 5 + begin, 5.5 + begin, Doing.MESSAGE, Kind.RESUMING, -1),
    }
    diagnosis = diagnosis_of_job(traces)
    assert diagnosis is not None and diagnosis.places == (0, 1) and diagnosis.has_messages
    from_other = [charge for charge in diagnosis.charges if (charge.waiting, charge.process) == (1, 0)]
    assert [
        (charge.cause, charge.subject, charge.seconds) for charge in from_other if charge.subject == TASK
    ] == [(BlameCause.DEPENDENCE_CHAIN, TASK, pytest.approx(3.0))]
    assert sum(part.seconds for part in diagnosis.path) == pytest.approx(10 + begin)


def leaves_queue(
    time: float, parcel: int, message: int = 1, cause: LeaveCause = LeaveCause.TIME
) -> list[Any]:
    """It leaves the queue of its sender."""
    return [(time, event(at(time), EventKind.PARCEL_LEFT, NO_SUBJECT, a=parcel, b=message, arg=cause))]


def answered(
    folder: Path, call_left: float | None = None, answer_left: float | None = None
) -> tuple[Trace, ...]:
    """Rank 1 calls at 1 s, and waits from 2 s on; rank 0 computes for it from 1.5 s to 4 s, and the answer takes 1 s.

    When call and answer left the queues of their senders; None: that is not recorded.
    """
    sender = [
        state(0, WorkerState.IDLE),
        state(1.5, WorkerState.RUNS),
        instant(1.5, EventKind.TASK_CREATED, 9),
        instant(1.5, EventKind.PARCEL_RECEIVED, 9, 3, 1),
        task(1.5, 4, 9),
        instant(4, EventKind.PARCEL_SENT, 10, 9, 1),
        *([leaves_queue(answer_left, 10)] if answer_left is not None else []),
    ]
    receiver = [
        state(0, WorkerState.RUNS),
        instant(0, EventKind.TASK_CREATED, 7),
        [(0, event(at(0), EventKind.TASK_BEGIN, OTHER_TASK, 7))],
        instant(1, EventKind.PARCEL_SENT, 3, 7),
        *([leaves_queue(call_left, 3)] if call_left is not None else []),
        [(2, event(at(2), EventKind.TASK_SUSPENDED, OTHER_TASK, 7, arg=WaitCause.FUTURE))],
        state(2, WorkerState.IDLE),
        instant(5, EventKind.ANSWER_RECEIVED, 7, 10),
        state(5.25, WorkerState.RUNS),
        [(5.25, event(at(5.25), EventKind.TASK_RESUMED, OTHER_TASK, 7, arg=WaitCause.FUTURE))],
        [(10, event(at(10), EventKind.TASK_END, OTHER_TASK, 7))],
    ]
    return job_of(folder, workers(sender), workers(receiver), walls=(4.0, 10.0))


def test_who_waits_for_an_answer_waits_for_who_computes_it(tmp_path: Path) -> None:
    diagnosis = diagnosis_of_job(answered(tmp_path))
    assert diagnosis is not None
    remote = [c for c in diagnosis.charges if (c.waiting, c.process, c.subject) == (1, 0, TASK)]
    assert [(charge.cause, charge.seconds) for charge in remote] == [
        (BlameCause.DEPENDENCE_CHAIN, pytest.approx(2.0))
    ]
    late = [charge for charge in diagnosis.charges if charge.cause is BlameCause.LATE_MESSAGE]
    # The answer was under way from 4 s to 5 s; the call from 1 s to 1.5 s, while rank 0 had no other task.
    assert sum(charge.seconds for charge in late if charge.waiting == 1) == pytest.approx(1.0)
    assert not [c for c in diagnosis.charges if c.cause is BlameCause.UNATTRIBUTED and c.waiting == 1]
    path = {(part.cause, part.subject, part.process): part.seconds for part in diagnosis.path}
    assert path[None, TASK, 0] == pytest.approx(2.5)
    assert path[None, OTHER_TASK, 1] == pytest.approx(1.0 + 4.75)
    assert path[BlameCause.LATE_MESSAGE, NO_SUBJECT, 0] == pytest.approx(1.5)
    assert path[BlameCause.WAKEUP_LATENCY, NO_SUBJECT, 0] == pytest.approx(0.25)
    assert sum(path.values()) == pytest.approx(10.0)


def test_what_a_message_waits_for_in_a_queue_is_not_its_way(tmp_path: Path) -> None:
    traces = answered(tmp_path, call_left=1.2, answer_left=4.75)
    diagnosis = diagnosis_of_job(traces)
    assert diagnosis is not None
    causes = (BlameCause.QUEUED_MESSAGE, BlameCause.LATE_MESSAGE)
    lost = {
        (cause, waiting): sum(
            c.seconds for c in diagnosis.charges if (c.cause, c.waiting) == (cause, waiting)
        )
        for cause in causes
        for waiting in (0, 1)
    }
    # Rank 0 waited for the call from the begin on, rank 1 from 2 s on, when the call had come.
    assert lost == {
        (BlameCause.QUEUED_MESSAGE, 0): pytest.approx(0.2),
        (BlameCause.LATE_MESSAGE, 0): pytest.approx(0.3),
        (BlameCause.QUEUED_MESSAGE, 1): pytest.approx(0.75),
        (BlameCause.LATE_MESSAGE, 1): pytest.approx(0.25),
    }
    path = {part.cause: part.seconds for part in diagnosis.path if part.cause in causes}
    assert path == {
        BlameCause.QUEUED_MESSAGE: pytest.approx(0.95),
        BlameCause.LATE_MESSAGE: pytest.approx(0.55),
    }
    assert diagnosis.predictions is not None
    saved = {change.kind: change.saved_s for change in diagnosis.predictions.changes}
    assert saved[ChangeKind.NO_MESSAGE_QUEUES] == pytest.approx(0.95)
    assert saved[ChangeKind.NO_MESSAGE_LATENCY] == pytest.approx(0.55)
    assert diagnosis.queues == Queues(2, 2, pytest.approx(0.475), pytest.approx(0.7445), LeaveCause.TIME)
    chains = {chain.cause: chain for chain in diagnosis.chains if chain.process == 1}
    queued = chains[BlameCause.QUEUED_MESSAGE]
    assert (queued.begin_ns, queued.end_ns) == (4_000_000_000, 4_750_000_000)
    assert [link.process for link in queued.links] == [1, 0][: len(queued.links)]


def test_a_parcel_that_left_after_it_was_received_was_in_its_queue_until_then(tmp_path: Path) -> None:
    # The clocks of two hosts differ.
    diagnosis = diagnosis_of_job(answered(tmp_path, call_left=1.2, answer_left=5.5))
    assert diagnosis is not None and diagnosis.predictions is not None
    causes = {c.cause for c in diagnosis.charges if c.waiting == 1}
    assert BlameCause.QUEUED_MESSAGE in causes and BlameCause.LATE_MESSAGE not in causes
    saved = {change.kind: change.saved_s for change in diagnosis.predictions.changes}
    assert saved[ChangeKind.NO_MESSAGE_QUEUES] == pytest.approx(1.2)


def test_a_chain_of_waits_goes_over_the_border_of_a_process(tmp_path: Path) -> None:
    diagnosis = diagnosis_of_job(answered(tmp_path))
    assert diagnosis is not None
    (chain,) = [c for c in diagnosis.chains if (c.cause, c.subject) == (BlameCause.DEPENDENCE_CHAIN, TASK)]
    assert chain.process == 0
    assert [(link.process, link.group.doing) for link in chain.links] == [(1, Doing.MESSAGE), (0, Doing.WORK)]


def test_a_job_is_replayed_over_its_processes(tmp_path: Path) -> None:
    diagnosis = diagnosis_of_job(answered(tmp_path))
    assert diagnosis is not None
    predictions = diagnosis.predictions
    assert predictions is not None
    assert predictions.error == pytest.approx(0.0, abs=1e-9)
    saved = {(change.kind, change.subject): change.saved_s for change in predictions.changes}
    assert saved[ChangeKind.NO_MESSAGE_LATENCY, NO_SUBJECT] == pytest.approx(1.5)
    # Of the 2.5 s that the remote task takes; what waits for it takes 2 + 4.75 s.
    places = {
        predictions.subjects[one]: seconds
        for (kind, one), seconds in saved.items()
        if kind is ChangeKind.FASTER
    }
    assert places[0, TASK] == pytest.approx(0.625)
    assert places[0, OTHER_TASK] == pytest.approx(0.25 + 0.25 * 4.75)


def test_processes_without_messages_are_each_alone(tmp_path: Path) -> None:
    traces = job_of(
        tmp_path,
        *([main_thread(0), *workers([task(0, 6, 1), state(6, WorkerState.IDLE)])] for _ in range(2)),
    )
    alone, together = diagnosis_of(traces[0]), diagnosis_of_job(traces)
    assert alone is not None and together is not None
    assert not together.has_messages
    assert len(together.work_s) == 2
    assert sum(charge.seconds for charge in together.charges) == pytest.approx(
        2 * sum(charge.seconds for charge in alone.charges)
    )
    assert {charge.waiting for charge in together.charges} == {0, 1}


def test_of_a_process_without_all_events_nothing_is_said(tmp_path: Path) -> None:
    own, cut = ([main_thread(0), *workers([task(0, 6, 1), state(6, WorkerState.IDLE)])] for _ in range(2))
    cut[1].written = 1000
    diagnosis = diagnosis_of_job(job_of(tmp_path, own, cut))
    assert diagnosis is not None and diagnosis.places == (0,)

"""Of one process with all events: what its lanes waited for, and the critical path (rooms/diagnosis does the work)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trimtab.analysis import compiled
from trimtab.analysis.blame_causes import (
    NOT_OBSERVED,
    cause_of,
    cause_of_itself,
    cause_on_path,
    is_of_lock,
    reason_of,
    reason_on_path,
)
from trimtab.analysis.chains import Chain, cause_of_charge, chains_of
from trimtab.analysis.changes import Predicting, Predictions
from trimtab.analysis.kept_intervals import KeptIntervals
from trimtab.analysis.keys import keys_of
from trimtab.analysis.queued_messages import Queues, queues_of
from trimtab.analysis.run_phases import RunPhase, phases_of
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause
from trimtab.readers.files import release_pages
from trimtab.threads import usable_threads
from trimtab.traces import Trace
from trimtab.traces.intervals import (
    Doing,
    Intervals,
    Kind,
    LaneParts,
    Lanes,
    Pace,
    intervals_of_job,
    intervals_of_lanes,
    lanes_of,
)
from trimtab.traces.recorded_part import recorded_part
from trimtab.traces.steps import Member, StepDraft, draft_of_lanes, steps_of_job

# Of a process whose steps are replayed: more take ten gigabytes.
_MOST_PIECES = 32_000_000
# The share of core time (docs/reference/metrics.md, "Shares") that each kind of waiting is part of.
SHARES = {
    Doing.JOIN: "barrier_wait",
    Doing.BARRIER: "barrier_wait",
    Doing.TASK_CHAIN: "barrier_wait",
    Doing.LOCK: "barrier_wait",
    Doing.TASKWAIT: "barrier_wait",
    Doing.FORK: "serial",
    Doing.ARRIVAL: "arrival",
    Doing.DEPENDENCE: "starved",
    Doing.TASK_LOCK: "starved",
    Doing.SPAWN: "starved",
    Doing.NO_FURTHER_TASK: "starved",
    Doing.FAR_TASK: "starved",
    Doing.CAPPED: "starved",
    Doing.PREEMPTED: "run_delay",
    Doing.BLOCKED: "unattributed",
    Doing.RUNTIME: "runtime",
    Doing.ORDERED: "barrier_wait",
    Doing.RESUMPTION: "starved",
    Doing.END: "starved",
    # Takes no core.
    Doing.TASKS: "no_core",
    Doing.MESSAGE: "starved",
    Doing.TRANSIT: "starved",
    Doing.QUEUED: "starved",
}


@dataclass(frozen=True)
class Charge:
    """Lane time that was lost: in which share of the core time, why, and at which region or kind of task (NO_SUBJECT: none).

    `waiting`: the process that lost it, `process`: whose subject it is, both by place. `reason`: what is not known of
    what is unattributed. `is_chained`: it was lost while OpenMP tasks ran one after another, each ready only when another one had ended.
    """

    share: str
    cause: BlameCause
    subject: int
    seconds: float
    waiting: int = 0
    process: int = 0
    reason: str | None = None
    is_chained: bool = False


@dataclass(frozen=True)
class PathShare:
    """A part of the critical path by what it was: busy in a subject, or a cause; `reason`: of what is unattributed."""

    cause: BlameCause | None
    subject: int
    seconds: float
    process: int = 0
    reason: str | None = None


@dataclass(frozen=True)
class WakeUps:
    """How often lanes could go on and had not done it yet, and for how long they had not, seconds: all, median and 99th percentile."""

    count: int = 0
    total_s: float = 0.0
    p50_s: float = 0.0
    p99_s: float = 0.0


@dataclass(frozen=True)
class Diagnosis:
    """What a process's events say.

    Attributes:
        charges: all lost lane time, most first.
        path: the critical path, most first; its times add up to the process's time.
        work_s: of each lane that ran parts of regions or tasks, computing.
        span_s: from the first moment to the last one of any lane.
        outside_s: what threads that ran no parts of regions and no tasks computed.
        places: of the processes that it is of, among those that were asked for.
        has_messages: lanes waited for messages of other processes.
        predictions: what changes would save; None: too many events, or they contradict each other.
        chains: how the longest wait of each cause and subject came about.
        unknown_s: the rest of the process's time, of which not all events are there; nothing else here is about it.
        wake_ups: of lanes that could go on.
        phases: of one process, where what its lanes do changes.
        queues: of a job, parcels in the queues of their senders; None: nothing is recorded about them.
    """

    charges: tuple[Charge, ...]
    path: tuple[PathShare, ...]
    work_s: tuple[float, ...]
    span_s: float
    outside_s: float
    places: tuple[int, ...] = (0,)
    has_messages: bool = False
    predictions: Predictions | None = None
    chains: tuple[Chain, ...] = ()
    unknown_s: float = 0.0
    wake_ups: WakeUps = WakeUps()
    phases: tuple[RunPhase, ...] = ()
    queues: Queues | None = None


def diagnosis_of(
    trace: Trace, parts: Sequence[LaneParts] | None = None, kept: KeptIntervals | None = None
) -> Diagnosis | None:
    """Until the first event that found no room; None where no events of regions or tasks are there, or damaged records
    contradict each other.

    Args:
        parts: of its lanes, if they are known.
        kept: where its intervals are put, if all of its events are there.
    """
    known = recorded_part(trace)
    lanes = lanes_of(known, parts if known is trace else None) if known is not None else None
    del parts
    if known is None or lanes is None:
        return None
    unknown_s = (trace.end_ticks - known.end_ticks) * trace.process.tick_s
    # What a change saves in a part of the run says nothing of the rest.
    draft = _draft(lanes) if unknown_s == 0 else None
    pieces = lanes.without_events()
    del lanes  # of a long trace these take gigabytes
    for lane in trace.process.lanes:
        release_pages(lane.events)
    steps = draft.steps() if draft is not None else None
    del draft
    # Replays go on beside what follows.
    predicting = Predicting(steps, usable_threads()) if steps is not None else None
    del steps
    intervals = pieces.intervals()
    del pieces
    diagnosed = _diagnosed(intervals)
    if diagnosed is None:
        if predicting is not None:
            predicting.stop()
        return None
    diagnosis, waits = diagnosed
    if kept is not None and known is trace:
        kept.keep(trace.id, intervals, waits.charges)
    chains = chains_of(intervals, waits.charges, waits.order)
    phases = _phases(intervals, waits.charges)
    del intervals, diagnosed, waits
    predictions = predicting.predictions() if predicting is not None else None
    return replace(diagnosis, predictions=predictions, chains=chains, phases=phases, unknown_s=unknown_s)


def _phases(intervals: Intervals, charges: compiled.Table) -> tuple[RunPhase, ...]:
    def cause_of_group(at: int, kind: Kind) -> BlameCause | None:
        doing = intervals.groups[at].doing
        is_lost = kind is not Kind.WAITING and doing in SHARES
        return cause_of_itself(doing, kind) if is_lost else None

    def cause_of_wait(of: Intervals, charges: compiled.Table, at: int) -> tuple[BlameCause, int]:
        cause, subject, _ = cause_of_charge(of, charges, at)
        return cause, subject

    return phases_of(intervals, charges, cause_of_wait, cause_of_group)


def diagnosis_of_job(traces: Sequence[Trace], kept: KeptIntervals | None = None) -> Diagnosis | None:
    """Of several processes together, as far as they have all their events; `places` says which. None: fewer than one has.

    Args:
        kept: where the intervals of each are put.
    """
    own = [(place, lanes_of(trace)) for place, trace in enumerate(traces)]
    complete = [(place, lanes) for place, lanes in own if lanes is not None]
    del own
    if not complete:
        return None
    places = tuple(place for place, _ in complete)
    predicting = _predicting_job([(traces[place], lanes) for place, lanes in complete], places)
    intervals = [intervals_of_lanes(lanes) for _, lanes in complete]
    del complete
    if kept is not None:
        for place, of_process in zip(places, intervals, strict=True):
            kept.keep(traces[place].id, of_process)
    whole = intervals_of_job([traces[place] for place in places], intervals, places)
    del intervals
    diagnosed = _diagnosed(whole)
    if diagnosed is None:
        if predicting is not None:
            predicting.stop()
        return None
    diagnosis, waits = diagnosed
    chains = chains_of(whole, waits.charges, waits.order)
    del whole, diagnosed, waits
    queues = queues_of([traces[place] for place in places]) if diagnosis.has_messages else None
    predictions = predicting.predictions() if predicting is not None else None
    return replace(diagnosis, places=places, predictions=predictions, chains=chains, queues=queues)


def renumbered(diagnosis: Diagnosis, places: Sequence[int]) -> Diagnosis:
    """The same with other numbers of its processes."""
    return replace(
        diagnosis,
        charges=tuple(
            replace(one, waiting=places[one.waiting], process=places[one.process])
            for one in diagnosis.charges
        ),
        path=tuple(replace(part, process=places[part.process]) for part in diagnosis.path),
        chains=tuple(chain.renumbered(places) for chain in diagnosis.chains),
        predictions=diagnosis.predictions.renumbered(places) if diagnosis.predictions is not None else None,
        places=tuple(places[at] for at in diagnosis.places),
    )


def _diagnosed(intervals: Intervals) -> tuple[Diagnosis, compiled.Waits] | None:
    """None where damaged records contradict each other; the waits without the critical path."""
    table = compiled.table_of(intervals)
    try:
        waits = compiled.waits_of(table, len(intervals.lanes))
        sums = compiled.blame_of_charges(table, waits.charges)
    except compiled.CompiledError:
        return None
    del table
    length = intervals.end_ns - intervals.begin_ns
    is_work = (intervals.kind == Kind.BUSY) & _is_doing(intervals, (Doing.WORK, Doing.SERIAL))
    work = np.bincount(intervals.lane, weights=np.where(is_work, length, 0), minlength=len(intervals.lanes))
    took_part = np.array(intervals.took_part)
    diagnosis = Diagnosis(
        _charges([*_of_waits(intervals, sums), *_of_others(intervals)]),
        _path(intervals, waits.path),
        tuple((work[took_part] * 1e-9).tolist()),
        float(intervals.end_ns.max() - intervals.begin_ns.min()) * 1e-9,
        float(work[~took_part].sum()) * 1e-9,
        has_messages=any(group.doing is Doing.MESSAGE for group in intervals.groups),
        wake_ups=_wake_ups(intervals),
    )
    return diagnosis, waits._replace(path=waits.path[:0])


def _wake_ups(intervals: Intervals) -> WakeUps:
    is_late = np.flatnonzero(
        (intervals.kind == Kind.RESUMING) & (_is_doing(intervals, (Doing.FAR_TASK,)) == 0)
    )
    late_s = (intervals.end_ns - intervals.begin_ns)[is_late] * 1e-9
    if not len(late_s):
        return WakeUps()
    p50_s, p99_s = np.percentile(late_s, (50, 99))
    return WakeUps(len(late_s), float(late_s.sum()), float(p50_s), float(p99_s))


def _draft(lanes: Lanes) -> StepDraft | None:
    """None where there is no work, or too much of it."""
    if sum(len(pieces.low) for pieces in lanes.pieces) > _MOST_PIECES:
        return None
    return draft_of_lanes(lanes)


def _predicting_job(own: Sequence[tuple[Trace, Lanes]], places: Sequence[int]) -> Predicting | None:
    """Of processes of which each has steps; with the subjects of the process that has each first."""
    if sum(len(pieces.low) for _, lanes in own for pieces in lanes.pieces) > _MOST_PIECES:
        return None
    members = [Member.of(trace, lanes) for trace, lanes in own]
    working = [member for member in members if member is not None]
    if len(working) < len(members):
        return None
    numbers = dict[str, int]()
    firsts: list[tuple[int, int]] = []
    subjects: list[dict[int, int]] = []
    for place, (trace, _) in zip(places, own, strict=True):
        keys = keys_of(trace.process)
        for number, key in keys.items():
            if numbers.setdefault(key, len(numbers)) == len(firsts):
                firsts.append((place, number))
        subjects.append({number: numbers[key] for number, key in keys.items()})
    return Predicting(steps_of_job(working, subjects), usable_threads(), tuple(firsts))


def _is_doing(intervals: Intervals, wanted: tuple[Doing, ...]) -> compiled.Table:
    return np.array([group.doing in wanted for group in intervals.groups])[intervals.group]


def _of_waits(intervals: Intervals, sums: compiled.Table) -> Iterator[Charge]:
    """What rooms/diagnosis has charged each wait to."""
    for row in sums:
        wait, culprit = intervals.groups[row["wait_group"]], intervals.groups[row["culprit_group"]]
        cause = cause_of(wait, int(row["end"]), culprit, Kind(int(row["culprit_kind"])))
        is_known = int(row["end"]) == compiled.AT_INTERVAL
        waiting = intervals.process_of[row["wait_group"]]
        subject, process = (
            (culprit.subject, intervals.process_of[row["culprit_group"]])
            if is_known and not is_of_lock(wait, cause)
            else (wait.subject, waiting)
        )
        reason = reason_of(int(row["end"]), culprit) if cause is BlameCause.UNATTRIBUTED else None
        is_chained = is_known and (wait.doing is Doing.TASK_CHAIN or culprit.pace is Pace.CHAINED)
        yield Charge(
            SHARES[wait.doing],
            cause,
            subject,
            int(row["ns"]) * 1e-9,
            waiting,
            process,
            reason,
            is_chained and cause is BlameCause.DEPENDENCE_CHAIN,
        )


def _of_others(intervals: Intervals) -> Iterator[Charge]:
    """Time that is lost without waiting for a lane: to go on, to get a CPU, and in the runtime."""
    length = (intervals.end_ns - intervals.begin_ns) * 1e-9
    for kind in (Kind.RESUMING, Kind.STOPPED, Kind.BUSY):
        chosen = intervals.kind == kind
        sums = np.bincount(intervals.group[chosen], weights=length[chosen], minlength=len(intervals.groups))
        for group, process, seconds in zip(
            intervals.groups, intervals.process_of, sums.tolist(), strict=True
        ):
            if seconds > 0 and group.doing in SHARES:
                cause = cause_of_itself(group.doing, kind)
                yield Charge(SHARES[group.doing], cause, group.subject, seconds, process, process)


def _charges(charges: list[Charge]) -> tuple[Charge, ...]:
    sums: dict[Charge, float] = {}
    for charge in charges:
        key = replace(charge, seconds=0.0)
        sums[key] = sums.get(key, 0.0) + charge.seconds
    entries = (replace(key, seconds=seconds) for key, seconds in sums.items())
    return tuple(
        sorted(
            entries,
            key=lambda one: (
                -one.seconds,
                one.cause.value,
                one.subject,
                one.waiting,
                one.process,
                one.is_chained,
            ),
        )
    )


def _path(intervals: Intervals, path: compiled.Table) -> tuple[PathShare, ...]:
    seconds = (path["end_ns"] - path["begin_ns"]) * 1e-9
    is_known = path["interval"] != compiled.NO_INTERVAL
    at = path["interval"][is_known]
    # By group and kind; a process has few of both.
    place = intervals.group[at] * len(Kind) + intervals.kind[at]
    size = len(intervals.groups) * len(Kind)
    totals = np.bincount(place, weights=seconds[is_known], minlength=size).reshape(-1, len(Kind))
    sums = {
        PathShare(BlameCause.UNATTRIBUTED, NO_SUBJECT, 0.0, 0, NOT_OBSERVED): float(seconds[~is_known].sum())
    }
    for group, process, of_kinds in zip(intervals.groups, intervals.process_of, totals.tolist(), strict=True):
        for kind, total in zip(Kind, of_kinds, strict=True):
            if total > 0:
                cause, subject = cause_on_path(group, kind)
                reason = None
                if cause is BlameCause.UNATTRIBUTED:
                    reason = reason_on_path(group)
                key = PathShare(cause, subject, 0.0, process if subject != NO_SUBJECT else 0, reason)
                sums[key] = sums.get(key, 0.0) + total
    entries = (replace(key, seconds=total) for key, total in sums.items() if total > 0)
    return tuple(
        sorted(entries, key=lambda part: (-part.seconds, part.subject, part.process, part.reason or ""))
    )

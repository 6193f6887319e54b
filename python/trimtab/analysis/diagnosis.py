"""Of one process with all events: what its lanes waited for, and the critical path (rooms/diagnosis does the work)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trimtab.analysis import compiled
from trimtab.analysis.changes import Predictions, predictions_of
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause
from trimtab.traces import Trace
from trimtab.traces.intervals import (
    Doing,
    Group,
    Intervals,
    Kind,
    Lanes,
    Pace,
    intervals_of,
    intervals_of_job,
    intervals_of_lanes,
    lanes_of,
)
from trimtab.traces.steps import steps_of_lanes

# Of a process whose steps are replayed: more take gigabytes.
_MOST_PIECES = 4_000_000
# The share of core time (docs/reference/metrics.md, "Shares") that each kind of waiting is part of.
SHARES = {
    Doing.JOIN: "barrier_wait",
    Doing.BARRIER: "barrier_wait",
    Doing.LOCK: "barrier_wait",
    Doing.TASKWAIT: "barrier_wait",
    Doing.FORK: "serial",
    Doing.ARRIVAL: "arrival",
    Doing.DEPENDENCE: "starved",
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
}
_PACES = {
    Pace.USUAL: BlameCause.LAST_ARRIVAL,
    Pace.LONG_LANE: BlameCause.IMBALANCE,
    Pace.STRAGGLER: BlameCause.STRAGGLER,
    Pace.PREEMPTED: BlameCause.PREEMPTION,
    Pace.CHAINED: BlameCause.DEPENDENCE_CHAIN,
    Pace.MAKING: BlameCause.SPAWN_RATE,
}
# What a task is to blame for that others wait for, whatever they wait for.
_OF_ITSELF = (Pace.STRAGGLER, Pace.PREEMPTED)
# Of a wait whose giver works.
_OF_WAITS = {
    Doing.LOCK: BlameCause.LOCK_HOLDER,
    Doing.TASKWAIT: BlameCause.DEPENDENCE_CHAIN,
    Doing.DEPENDENCE: BlameCause.DEPENDENCE_CHAIN,
    Doing.SPAWN: BlameCause.SPAWN_RATE,
    Doing.FORK: BlameCause.SERIAL_PART,
    Doing.ORDERED: BlameCause.DEPENDENCE_CHAIN,
    Doing.MESSAGE: BlameCause.DEPENDENCE_CHAIN,
}
# Of a wait of which nobody knows who ends it.
_WITHOUT_GIVER = {
    Doing.CAPPED: BlameCause.TOO_FEW_WORKERS,
    Doing.BLOCKED: BlameCause.BLOCKING_IO,
    # Of another process whose events are not there.
    Doing.MESSAGE: BlameCause.DEPENDENCE_CHAIN,
}


_NOT_WOKEN = "what let a suspended task go on is not recorded: a timer, a thread outside of the runtime, or the answer to a message"
# Of waits without a known giver, and of chains of waits that lead to none.
_REASONS = {
    Doing.RESUMPTION: _NOT_WOKEN,
    Doing.LOCK: "who held the lock is not recorded",
    Doing.JOIN: "who came last to the end of the region is not recorded",
    Doing.BARRIER: "who came last to the barrier is not recorded",
    Doing.FORK: "the thread that forks or makes the runtime is not observed",
    Doing.END: "the thread that could make further tasks is not observed",
    Doing.SPAWN: "the thread that made the task is not observed",
    Doing.DEPENDENCE: "the thread that made the task ready is not observed",
}
_REASONS_OF_CHAINS = {
    compiled.ABSENT_LANE: "the lane that ended the wait is not observed then",
    compiled.CIRCLE: "lanes wait for each other in the records",
}
_OTHER_REASON = "who ends this wait is not recorded"
_NOT_OBSERVED = "no lane of the chain is observed then: before its process began, or behind its end"


@dataclass(frozen=True)
class Charge:
    """Lane time that was lost: in which share of the core time, why, and at which region or kind of task (NO_SUBJECT: none).

    `waiting`: the process that lost it, `process`: whose subject it is, both by place. `reason`: what is not known of
    what is unattributed.
    """

    share: str
    cause: BlameCause
    subject: int
    seconds: float
    waiting: int = 0
    process: int = 0
    reason: str | None = None


@dataclass(frozen=True)
class PathShare:
    """A part of the critical path by what it was: busy in a subject, or a cause; `reason`: of what is unattributed."""

    cause: BlameCause | None
    subject: int
    seconds: float
    process: int = 0
    reason: str | None = None


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
        predictions: what changes would save; None: several processes, too many events, or they contradict each other.
    """

    charges: tuple[Charge, ...]
    path: tuple[PathShare, ...]
    work_s: tuple[float, ...]
    span_s: float
    outside_s: float
    places: tuple[int, ...] = (0,)
    has_messages: bool = False
    predictions: Predictions | None = None


def diagnosis_of(trace: Trace) -> Diagnosis | None:
    """None where not all events of regions or tasks are there, or damaged records contradict each other."""
    lanes = lanes_of(trace)
    if lanes is None:
        return None
    predictions = _predictions(lanes)
    intervals = intervals_of_lanes(lanes)
    del lanes  # of a long trace these take gigabytes
    diagnosis = _diagnosed(intervals)
    return None if diagnosis is None else replace(diagnosis, predictions=predictions)


def diagnosis_of_job(traces: Sequence[Trace]) -> Diagnosis | None:
    """Of several processes together, as far as they have all their events; `places` says which. None: fewer than one has."""
    own = [(place, intervals_of(trace)) for place, trace in enumerate(traces)]
    complete = [(place, intervals) for place, intervals in own if intervals is not None]
    del own
    if not complete:
        return None
    places = tuple(place for place, _ in complete)
    whole = intervals_of_job(
        [traces[place] for place in places], [intervals for _, intervals in complete], places
    )
    del complete
    diagnosis = _diagnosed(whole)
    return None if diagnosis is None else replace(diagnosis, places=places)


def renumbered(diagnosis: Diagnosis, places: Sequence[int]) -> Diagnosis:
    """The same with other numbers of its processes."""
    return replace(
        diagnosis,
        charges=tuple(
            replace(one, waiting=places[one.waiting], process=places[one.process])
            for one in diagnosis.charges
        ),
        path=tuple(replace(part, process=places[part.process]) for part in diagnosis.path),
        places=tuple(places[at] for at in diagnosis.places),
    )


def _diagnosed(intervals: Intervals) -> Diagnosis | None:
    table = table_of(intervals)
    try:
        sums = compiled.blame(table, len(intervals.lanes))
        path = compiled.critical_path(table, len(intervals.lanes))
    except compiled.CompiledError:
        return None
    del table
    length = intervals.end_ns - intervals.begin_ns
    is_work = (intervals.kind == Kind.BUSY) & _is_doing(intervals, (Doing.WORK, Doing.SERIAL))
    work = np.bincount(intervals.lane, weights=np.where(is_work, length, 0), minlength=len(intervals.lanes))
    took_part = np.array(intervals.took_part)
    return Diagnosis(
        _charges([*_of_waits(intervals, sums), *_of_others(intervals)]),
        _path(intervals, path),
        tuple((work[took_part] * 1e-9).tolist()),
        float(intervals.end_ns.max() - intervals.begin_ns.min()) * 1e-9,
        float(work[~took_part].sum()) * 1e-9,
        has_messages=any(group.doing is Doing.MESSAGE for group in intervals.groups),
    )


def _predictions(lanes: Lanes) -> Predictions | None:
    if sum(len(pieces.low) for pieces in lanes.pieces) > _MOST_PIECES:
        return None
    steps = steps_of_lanes(lanes)
    return predictions_of(steps) if steps is not None else None


def table_of(intervals: Intervals) -> compiled.Table:
    """As rooms/diagnosis takes them."""
    table = np.zeros(len(intervals), compiled.INTERVAL)
    for name in compiled.INTERVAL.names or ():
        table[name] = getattr(intervals, name)
    return table


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
            if is_known
            else (wait.subject, waiting)
        )
        reason = _reason(int(row["end"]), culprit) if cause is BlameCause.UNATTRIBUTED else None
        yield Charge(SHARES[wait.doing], cause, subject, int(row["ns"]) * 1e-9, waiting, process, reason)


def _reason(end: int, culprit: Group) -> str:
    return _REASONS_OF_CHAINS.get(end) or _REASONS.get(culprit.doing, _OTHER_REASON)


def cause_of(wait: Group, end: int, culprit: Group, kind: Kind) -> BlameCause:
    """Why a lane waited: what the lane did that it waited for, at the end of the chain."""
    if end == compiled.UNKNOWN_GIVER:
        return _WITHOUT_GIVER.get(culprit.doing, BlameCause.UNATTRIBUTED)
    if end != compiled.AT_INTERVAL:
        return BlameCause.UNATTRIBUTED
    if kind is Kind.STOPPED:
        return BlameCause.PREEMPTION
    if kind is Kind.RESUMING:
        return _of_resuming(culprit.doing)
    if culprit.doing is Doing.SERIAL:
        return BlameCause.SERIAL_PART
    if culprit.doing is Doing.RUNTIME:
        return BlameCause.RUNTIME
    if wait.doing in (Doing.DEPENDENCE, Doing.TASKWAIT) and culprit.pace in _OF_ITSELF:
        return _PACES[culprit.pace]
    return _OF_WAITS.get(wait.doing, _PACES[culprit.pace])


def _of_resuming(doing: Doing) -> BlameCause:
    return BlameCause.BAD_DISTRIBUTION if doing is Doing.FAR_TASK else BlameCause.WAKEUP_LATENCY


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


def cause_of_itself(doing: Doing, kind: Kind) -> BlameCause:
    """Why time is lost in which no lane is waited for."""
    if kind is Kind.STOPPED:
        return BlameCause.PREEMPTION
    return BlameCause.RUNTIME if kind is Kind.BUSY else _of_resuming(doing)


def _charges(charges: list[Charge]) -> tuple[Charge, ...]:
    sums: dict[Charge, float] = {}
    for charge in charges:
        key = replace(charge, seconds=0.0)
        sums[key] = sums.get(key, 0.0) + charge.seconds
    made = (replace(key, seconds=seconds) for key, seconds in sums.items())
    return tuple(
        sorted(made, key=lambda one: (-one.seconds, one.cause.value, one.subject, one.waiting, one.process))
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
        PathShare(BlameCause.UNATTRIBUTED, NO_SUBJECT, 0.0, 0, _NOT_OBSERVED): float(seconds[~is_known].sum())
    }
    for group, process, of_kinds in zip(intervals.groups, intervals.process_of, totals.tolist(), strict=True):
        for kind, total in zip(Kind, of_kinds, strict=True):
            if total > 0:
                cause, subject = _on_path(group, kind)
                reason = None
                if cause is BlameCause.UNATTRIBUTED:
                    reason = _reason_on_path(group)
                key = PathShare(cause, subject, 0.0, process if subject != NO_SUBJECT else 0, reason)
                sums[key] = sums.get(key, 0.0) + total
    made = (replace(key, seconds=total) for key, total in sums.items() if total > 0)
    return tuple(
        sorted(made, key=lambda part: (-part.seconds, part.subject, part.process, part.reason or ""))
    )


def _reason_on_path(group: Group) -> str:
    """Of a wait that is on the path though its giver may be known: then it led nowhere."""
    return _REASONS.get(group.doing, _OTHER_REASON)


def _on_path(group: Group, kind: Kind) -> tuple[BlameCause | None, int]:
    if kind is Kind.WAITING:
        return _WITHOUT_GIVER.get(group.doing, BlameCause.UNATTRIBUTED), group.subject
    if kind is not Kind.BUSY or group.doing is Doing.RUNTIME:
        return cause_of_itself(group.doing, kind), group.subject
    return (BlameCause.SERIAL_PART, NO_SUBJECT) if group.doing is Doing.SERIAL else (None, group.subject)

"""Of one process with all events: what its lanes waited for, and the critical path (rooms/diagnosis does the work)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trimtab.analysis import compiled
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause
from trimtab.traces import Trace
from trimtab.traces.intervals import Doing, Group, Intervals, Kind, Pace, intervals_of

# The share of core time (docs/reference/metrics.md, "Shares") that each kind of waiting is part of.
_SHARES = {
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
}
# Of a wait of which nobody knows who ends it.
_WITHOUT_GIVER = {Doing.CAPPED: BlameCause.TOO_FEW_WORKERS, Doing.BLOCKED: BlameCause.BLOCKING_IO}


@dataclass(frozen=True)
class Charge:
    """Lane time that was lost: in which share of the core time, why, and at which region or kind of task (NO_SUBJECT: none)."""

    share: str
    cause: BlameCause
    subject: int
    seconds: float


@dataclass(frozen=True)
class PathShare:
    """A part of the critical path by what it was: busy in a subject, or a cause."""

    cause: BlameCause | None
    subject: int
    seconds: float


@dataclass(frozen=True)
class Diagnosis:
    """What a process's events say.

    Attributes:
        charges: all lost lane time, most first.
        path: the critical path, most first; its times add up to the process's time.
        work_s: of each lane, computing.
        span_s: from the first moment to the last one of any lane.
    """

    charges: tuple[Charge, ...]
    path: tuple[PathShare, ...]
    work_s: tuple[float, ...]
    span_s: float


def diagnosis_of(trace: Trace) -> Diagnosis | None:
    """None where not all events of regions or tasks are there, or damaged records contradict each other."""
    intervals = intervals_of(trace)
    if intervals is None:
        return None
    table = np.zeros(len(intervals), compiled.INTERVAL)
    for name in compiled.INTERVAL.names or ():
        table[name] = getattr(intervals, name)
    try:
        sums = compiled.blame(table, len(intervals.lanes))
        path = compiled.critical_path(table, len(intervals.lanes))
    except compiled.CompiledError:
        return None
    length = intervals.end_ns - intervals.begin_ns
    is_work = (intervals.kind == Kind.BUSY) & _is_doing(intervals, (Doing.WORK, Doing.SERIAL))
    work = np.bincount(intervals.lane, weights=np.where(is_work, length, 0), minlength=len(intervals.lanes))
    return Diagnosis(
        _charges([*_of_waits(intervals, sums), *_of_others(intervals)]),
        _path(intervals, path),
        tuple((work * 1e-9).tolist()),
        float(intervals.end_ns.max() - intervals.begin_ns.min()) * 1e-9,
    )


def _is_doing(intervals: Intervals, wanted: tuple[Doing, ...]) -> compiled.Table:
    return np.array([group.doing in wanted for group in intervals.groups])[intervals.group]


def _of_waits(intervals: Intervals, sums: compiled.Table) -> Iterator[Charge]:
    """What rooms/diagnosis has charged each wait to."""
    for row in sums:
        wait, culprit = intervals.groups[row["wait_group"]], intervals.groups[row["culprit_group"]]
        cause = cause_of(wait, int(row["end"]), culprit, Kind(int(row["culprit_kind"])))
        is_known = int(row["end"]) == compiled.AT_INTERVAL
        yield Charge(
            _SHARES[wait.doing], cause, culprit.subject if is_known else wait.subject, int(row["ns"]) * 1e-9
        )


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
        for group, seconds in zip(intervals.groups, sums.tolist(), strict=True):
            if seconds > 0 and group.doing in _SHARES:
                yield Charge(_SHARES[group.doing], _of_itself(group.doing, kind), group.subject, seconds)


def _of_itself(doing: Doing, kind: Kind) -> BlameCause:
    if kind is Kind.STOPPED:
        return BlameCause.PREEMPTION
    return BlameCause.RUNTIME if kind is Kind.BUSY else _of_resuming(doing)


def _charges(charges: list[Charge]) -> tuple[Charge, ...]:
    sums: dict[tuple[str, BlameCause, int], float] = {}
    for charge in charges:
        key = (charge.share, charge.cause, charge.subject)
        sums[key] = sums.get(key, 0.0) + charge.seconds
    made = (Charge(*key, seconds) for key, seconds in sums.items())
    return tuple(sorted(made, key=lambda charge: (-charge.seconds, charge.cause.value, charge.subject)))


def _path(intervals: Intervals, path: compiled.Table) -> tuple[PathShare, ...]:
    seconds = (path["end_ns"] - path["begin_ns"]) * 1e-9
    is_known = path["interval"] != compiled.NO_INTERVAL
    at = path["interval"][is_known]
    # By group and kind; a process has few of both.
    place = intervals.group[at] * len(Kind) + intervals.kind[at]
    size = len(intervals.groups) * len(Kind)
    totals = np.bincount(place, weights=seconds[is_known], minlength=size).reshape(-1, len(Kind))
    sums: dict[tuple[BlameCause | None, int], float] = {
        (BlameCause.UNATTRIBUTED, NO_SUBJECT): float(seconds[~is_known].sum())
    }
    for group, of_kinds in zip(intervals.groups, totals.tolist(), strict=True):
        for kind, total in zip(Kind, of_kinds, strict=True):
            if total > 0:
                key = _on_path(group, kind)
                sums[key] = sums.get(key, 0.0) + total
    made = (PathShare(*key, total) for key, total in sums.items() if total > 0)
    return tuple(sorted(made, key=lambda part: (-part.seconds, part.subject)))


def _on_path(group: Group, kind: Kind) -> tuple[BlameCause | None, int]:
    if kind is Kind.WAITING:
        return _WITHOUT_GIVER.get(group.doing, BlameCause.UNATTRIBUTED), group.subject
    if kind is not Kind.BUSY or group.doing is Doing.RUNTIME:
        return _of_itself(group.doing, kind), group.subject
    return (BlameCause.SERIAL_PART, NO_SUBJECT) if group.doing is Doing.SERIAL else (None, group.subject)

"""Why lanes waited and time was lost: the cause of each kind of wait and of what ends it (docs/reference/metrics.md, "Blame")."""

from __future__ import annotations

from trimtab.analysis import compiled
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause
from trimtab.traces.intervals import Doing, Group, Kind, Pace

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
_FOR_TASKS = (Doing.DEPENDENCE, Doing.TASKWAIT, Doing.TASK_CHAIN, Doing.SPAWN)
# Of a wait whose giver works.
_OF_WAITS = {
    Doing.LOCK: BlameCause.LOCK_HOLDER,
    Doing.TASK_LOCK: BlameCause.LOCK_HOLDER,
    Doing.TASKWAIT: BlameCause.DEPENDENCE_CHAIN,
    Doing.TASK_CHAIN: BlameCause.DEPENDENCE_CHAIN,
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


_NOT_WOKEN = "what let a suspended task go on is not recorded: a timer, or a yield"
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
    Doing.TASK_LOCK: "the thread that released the mutex is not observed",
}
_REASONS_OF_CHAINS = {
    compiled.ABSENT_LANE: "the lane that ended the wait is not observed then",
    compiled.CIRCLE: "lanes wait for each other in the records",
}
_OTHER_REASON = "who ends this wait is not recorded"
NOT_OBSERVED = "no lane of the chain is observed then: before its process began, or behind its end"


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
    if wait.doing in _FOR_TASKS and culprit.pace in _OF_ITSELF:
        return _PACES[culprit.pace]
    return _OF_WAITS.get(wait.doing, _PACES[culprit.pace])


def is_of_lock(wait: Group, cause: BlameCause) -> bool:
    """Whether the place of a charge is the lock: what its holder did meanwhile may be anything."""
    return wait.doing is Doing.LOCK and cause is BlameCause.LOCK_HOLDER


def _of_resuming(doing: Doing) -> BlameCause:
    if doing is Doing.TRANSIT:
        return BlameCause.LATE_MESSAGE
    if doing is Doing.QUEUED:
        return BlameCause.QUEUED_MESSAGE
    return BlameCause.BAD_DISTRIBUTION if doing is Doing.FAR_TASK else BlameCause.WAKEUP_LATENCY


def cause_of_itself(doing: Doing, kind: Kind) -> BlameCause:
    """Why time is lost in which no lane is waited for."""
    if kind is Kind.STOPPED:
        return BlameCause.PREEMPTION
    return BlameCause.RUNTIME if kind is Kind.BUSY else _of_resuming(doing)


def reason_of(end: int, culprit: Group) -> str:
    """What is not known of a chain of waits that leads nowhere."""
    return _REASONS_OF_CHAINS.get(end) or _REASONS.get(culprit.doing, _OTHER_REASON)


def reason_on_path(group: Group) -> str:
    """Of a wait that is on the path though its giver may be known: then it led nowhere."""
    return _REASONS.get(group.doing, _OTHER_REASON)


def cause_on_path(group: Group, kind: Kind) -> tuple[BlameCause | None, int]:
    """Of a part of the critical path its cause, None: work, and its subject."""
    if kind is Kind.WAITING:
        return _WITHOUT_GIVER.get(group.doing, BlameCause.UNATTRIBUTED), group.subject
    if kind is not Kind.BUSY or group.doing is Doing.RUNTIME:
        return cause_of_itself(group.doing, kind), group.subject
    return (BlameCause.SERIAL_PART, NO_SUBJECT) if group.doing is Doing.SERIAL else (None, group.subject)

"""What the threads of a program without lanes waited for while CPUs were idle, as the sampler saw it at irregular times."""

from __future__ import annotations

from dataclasses import dataclass

from trimtab.analysis.samples import last_value
from trimtab.model import Process
from trimtab.model.enumerations import BlameCause, CounterName

# The basis of what rests on them.
LOOKS = str(CounterName.LOOKS_AT_THREADS)
_BLOCKED = BlameCause.BLOCKING_IO
# Cause, what is said of it, and the counter of idle CPU time that belongs to it.
_WAITS = (
    (
        BlameCause.UNATTRIBUTED,
        "threads waited for each other: a lock, a condition, a join",
        CounterName.IDLE_FOR_THREADS,
    ),
    (_BLOCKED, "waits for files", CounterName.IDLE_FOR_FILES),
    (_BLOCKED, "waits for sockets, pipes or a terminal", CounterName.IDLE_FOR_MESSAGES),
    (_BLOCKED, "waits for other programs", CounterName.IDLE_FOR_PROGRAMS),
    (BlameCause.UNATTRIBUTED, "threads slept until a time", CounterName.IDLE_FOR_TIME),
    (BlameCause.UNATTRIBUTED, "threads waited elsewhere in the kernel", CounterName.IDLE_OTHERWISE),
)


@dataclass(frozen=True)
class IdleWait:
    """A part of the idle time of CPUs, seconds as estimated from the looks; `text` says what was waited for."""

    cause: BlameCause
    text: str
    seconds: float


def idle_waits(process: Process) -> tuple[IdleWait, ...]:
    """Empty: nobody looked, or no CPU was idle while a thread waited."""
    waits = (IdleWait(cause, text, last_value(process, name) or 0.0) for cause, text, name in _WAITS)
    return tuple(wait for wait in waits if wait.seconds > 0)


def share_without_thread(process: Process) -> float:
    """Of the idle time of CPUs that for which there was no thread at all, 0 to 1."""
    without = last_value(process, CounterName.IDLE_NO_THREAD) or 0.0
    idle = without + sum(wait.seconds for wait in idle_waits(process))
    return without / idle if idle > 0 else 0.0

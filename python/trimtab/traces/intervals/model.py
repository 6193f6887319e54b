"""What each lane of a process did from one moment to another, and whom it waited for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trimtab.model import NO_SUBJECT

Integers = NDArray[np.int64]


Booleans = NDArray[np.bool_]


NO_LANE = 0xFFFFFFFF


class Kind(IntEnum):
    """Of an interval, as in rooms/diagnosis."""

    BUSY = 0
    WAITING = 1
    RESUMING = 2
    STOPPED = 3


class Doing(IntEnum):
    """What an interval is about."""

    WORK = 0
    """A part of a region or a task."""
    SERIAL = 1
    """Outside of all regions, on a lane that forks them."""
    RUNTIME = 2
    """Forking, or a worker between two tasks."""
    JOIN = 3
    BARRIER = 4
    LOCK = 5
    TASKWAIT = 6
    FORK = 7
    """Waits for the next region; of a worker: for the begin of its runtime, or behind its end."""
    DEPENDENCE = 8
    """A worker without a task, until one has what it needs."""
    SPAWN = 9
    """A worker without a task, until one is made."""
    NO_FURTHER_TASK = 10
    CAPPED = 11
    """A worker that the cap keeps from running tasks."""
    FAR_TASK = 12
    """A worker without a task, though there was one."""
    BLOCKED = 13
    """Off its CPU by its own will, in the middle of its work."""
    PREEMPTED = 14
    ARRIVAL = 15
    """From the fork until the part begins."""
    TASKS = 16
    """A thread that is no worker, until tasks have ended; it takes no core."""
    ORDERED = 17
    """For its turn."""
    RESUMPTION = 18
    """A worker without a task, until a suspended one can go on; who let it go on is not recorded."""
    MESSAGE = 20
    """A worker without a task, until a message of another process has become one."""
    TRANSIT = 21
    """A worker without a task, from when a message of another process was handed to the transport until it was received."""
    QUEUED = 24
    """A worker without a task, while a message of another process waits in the queue of its sender; the giver is the sender's lane."""
    END = 19
    """A worker behind the last task of all."""
    TASK_LOCK = 22
    """A worker without a task, until one that waits for a mutex gets it."""
    TASK_CHAIN = 23
    """In a barrier or join, while the tasks that are left depend on each other."""


class Pace(IntEnum):
    """How long a part of a region or a task took, beside others, and why it ended when it did."""

    USUAL = 0
    LONG_LANE = 1
    """This lane's parts are longer than the others', in the median."""
    STRAGGLER = 2
    """More than twice as long as this lane's parts of this region, or as the tasks of its kind, are in the median."""
    PREEMPTED = 3
    """It had no CPU for a while, and would not be longer than others without that."""
    CHAINED = 4
    """A task that became ready when a worker had run out of tasks already, and ran at once."""
    MAKING = 5
    """A task that is to make further tasks."""


@dataclass(frozen=True)
class Group:
    """What intervals are summed by: what they are about, the region or kind of task, and the pace of that part."""

    doing: Doing
    subject: int = NO_SUBJECT
    pace: Pace = Pace.USUAL


@dataclass(frozen=True)
class Intervals:
    """All intervals of a process; times in nanoseconds since it began.

    Attributes:
        begin_ns, end_ns: shape (intervals,), as all of these.
        lane, giver: by their place in `lanes`; the giver of a wait: NO_LANE: not known.
        group: by its place in `groups`.
        kind: a `Kind`.
        lanes: numbers of the lanes that have intervals.
        took_part: of each lane, whether it ran parts of regions or tasks.
        process_of: of several processes, the process of each group, by place.
    """

    begin_ns: Integers
    end_ns: Integers
    lane: NDArray[np.int32]
    giver: NDArray[np.uint32]
    group: NDArray[np.int32]
    kind: NDArray[np.int8]
    groups: tuple[Group, ...]
    lanes: tuple[int, ...]
    took_part: tuple[bool, ...] = ()
    process_of: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.begin_ns)

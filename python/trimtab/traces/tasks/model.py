"""Tables of tasks, as columns. Times in nanoseconds since the process began; -1 where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.traces.columns import Groups, picked

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

NO_TASK = NO_TIME = -1


class TaskState(IntEnum):
    """What a task does."""

    RUNNING = 0
    ELIGIBLE = 1
    """It has all that it needs, and no worker yet."""
    INELIGIBLE = 2
    """Created, and something that it needs is missing."""
    SUSPENDED = 3
    """It has begun, and waits."""


@dataclass(frozen=True)
class Stays:
    """How long tasks were in a state, without gaps from the creation of a task until its end.

    Attributes:
        task: its row in the table.
        state: a `TaskState`.
        cause: a `WaitCause`, of suspended tasks.
        lane: by its place in the table's lanes, of running tasks.
    """

    task: NDArray[Any]
    begin_ns: Integers
    end_ns: Integers
    state: NDArray[np.int8]
    cause: NDArray[np.int8]
    lane: NDArray[np.int32]

    def pick(self, chosen: Any) -> Stays:
        return Stays(*picked(vars(self).values(), chosen))

    def __len__(self) -> int:
        return len(self.task)


@dataclass(frozen=True)
class Gifts:
    """What one task gave another, by receiver and time: it created it, made it ready, or gave it an input.

    Attributes:
        receiver, giver: rows in the table; a giver may be NO_TASK: code outside of all tasks.
        is_creation: the giver created the receiver.
        is_edge: the program or its runtime reported it as a dependence.
    """

    receiver: NDArray[Any]
    at_ns: Integers
    giver: NDArray[Any]
    is_creation: Booleans
    is_edge: Booleans

    @cached_property
    def of_receivers(self) -> Groups:
        """The rows of each receiver."""
        return Groups.of(self.receiver, self.at_ns)

    def pick(self, chosen: Any) -> Gifts:
        return Gifts(*picked([getattr(self, name) for name in Gifts.__dataclass_fields__], chosen))

    def __len__(self) -> int:
        return len(self.receiver)


@dataclass(frozen=True)
class Lanes:
    """The lanes that ran tasks or are workers, and when each was occupied: in a task, or a worker that finds the next one at once.

    Attributes:
        id: numbers of the lanes.
        group: workers of one runtime have the same number; 0: no worker.
        lane, begin_ns, end_ns: when lanes were occupied, by their place; in order of lane and time.
        capped_lane, capped_begin_ns, capped_end_ns: when the cap kept workers from running tasks, as these.
    """

    id: tuple[int, ...]
    group: tuple[int, ...]
    lane: Integers
    begin_ns: Integers
    end_ns: Integers
    capped_lane: Integers
    capped_begin_ns: Integers
    capped_end_ns: Integers


@dataclass(frozen=True)
class TaskTable:
    """The tasks of a process.

    Attributes:
        id: as it is recorded; 0: it has none. Rows with identities come first, ascending.
        subject: the kind of task; of an implicit task of OpenMP, its region.
        is_explicit: it is no implicit task.
        created_ns: NO_TIME: not recorded.
        ready_ns: when it had all that it needed to begin; NO_TIME: never, or not known.
        begin_ns, end_ns: NO_TIME: it did not begin.
        end_of_trace_ns: when the process was seen last.
    """

    id: NDArray[np.uint64]
    subject: NDArray[np.uint32]
    is_explicit: Booleans
    created_ns: Integers
    ready_ns: Integers
    begin_ns: Integers
    end_ns: Integers
    stays: Stays
    gifts: Gifts
    lanes: Lanes
    end_of_trace_ns: int

    def __len__(self) -> int:
        return len(self.id)

"""Core slots: the lanes of an executor, and which task was on which.

The log says on which executor a task ran, not on which of its cores. Any assignment in which no slot has two tasks at once
shows the same times.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.spark.application import Application, Executor

Integers = NDArray[np.int64]
# Tasks of one slot may overlap by as much as the clock's steps and the driver's threads make of it.
_OVERLAP_MS = 20


@dataclass(frozen=True)
class Slots:
    """All core slots of an application; times in ms.

    Attributes:
        executor: place of the executor of each slot.
        begin: when each could first have had a task: its executor was requested.
        added: when its executor was there.
        end: when its executor was gone, or the application ended.
        slot: of each task.
        until: when each task left its slot: the driver may note its end after it has started the next one.
        previous: which task was before it on its slot; -1: none.
    """

    executor: Integers
    begin: Integers
    added: Integers
    end: Integers
    slot: Integers
    until: Integers
    previous: Integers

    @property
    def capacity_ms(self) -> int:
        """Core time of all slots."""
        return int((self.end - self.begin).sum())


class _Places:
    """The slots of one executor while tasks are put on them."""

    def __init__(self, first_numbers: list[int]) -> None:
        self.free = [(0, number) for number in first_numbers]
        heapq.heapify(self.free)


def slots_of(application: Application) -> Slots:
    """Puts each task on a slot of its executor, in the order of their begins."""
    tasks = application.tasks
    lives = [_life(application, place) for place in range(len(application.executors))]
    owners: list[int] = []
    places = []
    for at, executor in enumerate(application.executors):
        count = executor.cores // application.task_cpus
        places.append(_Places(list(range(len(owners), len(owners) + count))))
        owners += [at] * count
    begins, executors = tasks["begin"].tolist(), tasks["executor"].tolist()
    ends = tasks["end"].tolist()
    worked = (tasks["begin"] + tasks["deserialize"] + tasks["run"] + tasks["serialize"]).tolist()
    slot, until, previous = [0] * len(tasks), ends[:], [-1] * len(tasks)
    last: dict[int, int] = {}
    for at, (begin, executor_at) in enumerate(zip(begins, executors, strict=True)):
        free = places[executor_at].free
        before = last.get(free[0][1], -1) if free else -1
        is_busy = not free or (free[0][0] > begin and worked[before] > begin + _OVERLAP_MS)
        if is_busy:
            number = len(owners)
            owners.append(executor_at)
            before = -1
        else:
            _, number = heapq.heappop(free)
            if before >= 0:
                until[before] = min(until[before], begin)
        slot[at], previous[at], last[number] = number, before, at
        heapq.heappush(free, (ends[at], number))
    owner = np.array(owners, np.int64)
    table = np.array(lives, np.int64).reshape(-1, 3)
    limits = _widened(tasks, table)
    return Slots(
        owner,
        limits[owner, 0],
        limits[owner, 1],
        limits[owner, 2],
        np.array(slot, np.int64),
        np.array(until, np.int64),
        np.array(previous, np.int64),
    )


def _life(application: Application, place: int) -> tuple[int, int, int]:
    """When an executor was requested, there, and gone.

    Where the log does not say when it was requested: without dynamic allocation at the start, or, of one that replaces
    another, when that one was gone.
    """
    executor = application.executors[place]
    end = application.end if executor.removed is None else executor.removed
    added = min(executor.added or 0, end)
    requested = executor.requested
    if requested is None:
        is_replaced = not application.has_dynamic_allocation
        requested = _replaced_at(application.executors, executor) if is_replaced else added
    return min(requested, added), added, end


def _replaced_at(executors: tuple[Executor, ...], executor: Executor) -> int:
    gone = sorted(other.removed for other in executors if other.removed is not None)
    added = executor.added or 0
    earlier = sum(1 for other in executors if other.removed is not None and (other.added or 0) < added)
    before = [time for time in gone if time <= added]
    return before[-1] if before and earlier else 0


def _widened(tasks: NDArray[np.void], lives: Integers) -> Integers:
    """An executor was there while tasks ran on it, whatever the order of the log's events."""
    limits = lives.copy()
    np.minimum.at(limits[:, 0], tasks["executor"], tasks["begin"])
    np.minimum.at(limits[:, 1], tasks["executor"], tasks["begin"])
    np.maximum.at(limits[:, 2], tasks["executor"], tasks["end"])
    return limits

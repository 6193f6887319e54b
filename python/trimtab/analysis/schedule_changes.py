"""Changes of the schedule of loops, and of the grain of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trimtab.analysis.division import Division
from trimtab.analysis.step_work import Floats, Integers, largest, ones, subject_of_steps, work_of_steps
from trimtab.analysis.task_changes import TaskOrder
from trimtab.analysis.what_if import SHARED_SCHEDULES, Change
from trimtab.model import NO_SUBJECT
from trimtab.traces.columns import numbered
from trimtab.traces.steps import Steps

# As the advice for imbalanced loops has it: so many chunks for each lane.
_CHUNKS_A_LANE = 16
# To hand out a chunk, of the runtime that takes longer for it.
_DISPATCH_NS = 500


@dataclass(frozen=True, eq=False)
class ScheduleChange:
    """A loop with another schedule.

    Attributes:
        chunk: iterations of its chunks; 0: a block for each lane.
        change: for the replay.
        low_ns, high_ns: by how much the run could be shorter or longer than the replay, since iterations of a recorded chunk
            need not take equally long.
    """

    chunk: int
    change: Change
    low_ns: float
    high_ns: float


class LoopSchedules:
    """The loops of a process or a job, chunk by chunk as recorded."""

    def __init__(self, steps: Steps) -> None:
        self._steps, loops = steps, steps.loops
        self._chunks = np.flatnonzero(loops.loop != 0)
        self._leaves = np.flatnonzero(loops.leaves != 0)
        self._length = np.bincount(steps.pieces.step, weights=steps.pieces.length_ns, minlength=len(steps))
        numbers, place = numbered(np.concatenate([loops.loop[self._chunks], loops.leaves[self._leaves]]))
        self._instance, self._left = place[: len(self._chunks)], place[len(self._chunks) :]
        self._count = len(numbers)
        self._lanes = np.bincount(self._left, minlength=self._count)
        self._iterations = np.bincount(
            self._instance, weights=loops.iterations[self._chunks], minlength=self._count
        ).astype(np.int64)
        self._greatest = np.zeros(self._count)
        np.maximum.at(self._greatest, self._instance, self._length[self._chunks])

    def changes(self, least_ns: float) -> Iterator[tuple[int, ScheduleChange]]:
        """Loops with most work, each with the schedule that it does not have."""
        subject = self._steps.loops.subject[self._chunks]
        for number in largest(subject, self._length[self._chunks].astype(np.float64), least_ns):
            chosen = self._chunks[subject == number]
            schedules = self._steps.loops.schedule[chosen]
            if not len(self._instances(number)):
                continue
            if np.isin(schedules, SHARED_SCHEDULES).all():
                yield number, self._in_blocks(number)
            elif not np.isin(schedules, SHARED_SCHEDULES).any():
                yield number, self._handed_out(number)

    def _instances(self, subject: int) -> Integers:
        """The instances of a loop that more than one lane was in."""
        own = np.unique(self._instance[self._steps.loops.subject[self._chunks] == subject])
        shared: Integers = own[self._lanes[own] > 1]
        return shared

    def _handed_out(self, subject: int) -> ScheduleChange:
        """Lanes take chunks while there are any; iterations of a recorded block take equally long."""
        own, loops = self._instances(subject), self._steps.loops
        chunk = max(int(np.median(self._iterations[own] // (_CHUNKS_A_LANE * self._lanes[own]))), 1)
        is_own = np.isin(self._instance, own)
        blocks = self._chunks[is_own]
        parts = np.maximum(-(-loops.iterations[blocks] // chunk), 1)
        greatest = np.zeros(self._count)
        np.maximum.at(greatest, self._instance[is_own], self._length[blocks] / parts)
        is_shared = np.zeros(len(self._steps), np.bool_)
        is_shared[blocks] = True
        is_shared[self._leaves[np.isin(self._left, own)]] = True
        change = Change(division=Division(blocks, parts, _DISPATCH_NS), shared_loops=is_shared)
        rest = 1.0 - 1.0 / np.maximum(self._lanes[own], 1)
        return ScheduleChange(
            chunk, change, float((rest * greatest[own]).sum()), float((rest * self._greatest[own]).sum())
        )

    def _in_blocks(self, subject: int) -> ScheduleChange:
        """Each lane has a block of the iterations; those of a recorded chunk take equally long."""
        factor, added = ones(self._steps), np.zeros(len(self._steps), np.int64)
        own = self._instances(subject)
        for instance in own.tolist():
            chunks = self._chunks[self._instance == instance]
            leaves = self._leaves[self._left == instance]
            added[leaves] = np.rint(self._blocks_ns(chunks, len(leaves))).astype(np.int64)
        is_emptied = np.zeros(len(self._steps), np.bool_)
        is_emptied[self._chunks[np.isin(self._instance, own)]] = True
        factor[is_emptied[self._steps.pieces.step]] = 0.0
        # Both ends of a block may lie in a chunk.
        bound = 2.0 * float(self._greatest[own].sum())
        return ScheduleChange(0, Change(factor, added_ns=added), bound, bound)

    def _blocks_ns(self, chunks: Integers, lanes: int) -> Floats:
        chunks = chunks[np.argsort(self._steps.begin_ns[chunks], kind="stable")]
        done = np.concatenate([[0], np.cumsum(self._steps.loops.iterations[chunks])])
        took = np.concatenate([[0.0], np.cumsum(self._length[chunks])])
        size, rest = divmod(int(done[-1]), lanes)
        ends = size * np.arange(lanes + 1) + np.minimum(np.arange(lanes + 1), rest)
        return np.diff(np.interp(ends, done, took))


class Grain:
    """Kinds of tasks that have some long tasks."""

    def __init__(self, tasks: TaskOrder) -> None:
        steps = tasks.steps
        self._tasks, self._work = tasks, work_of_steps(steps)
        self._subject = np.where(steps.is_pooled, subject_of_steps(steps), NO_SUBJECT)

    def subjects(self, least_ns: float) -> list[int]:
        """The kinds with most work that have a task of at least `least_ns`, largest first."""
        long = np.unique(self._subject[self._work >= least_ns])
        chosen = np.flatnonzero(np.isin(self._subject, long) & (self._subject != NO_SUBJECT))
        return largest(self._subject[chosen], self._work[chosen], 0.0)

    def divided(self, subject: int, parts: int) -> tuple[Change, float]:
        """The change that divides all tasks of a kind into `parts` parts, which do not wait for each other, and its uncertainty in ns.

        A part costs in addition what a worker needs between two tasks. The uncertainty is the length of the longest part.
        """
        chosen = np.flatnonzero((self._subject == subject) & (self._work > 0))
        division = Division(chosen, np.full(len(chosen), parts, np.int64), self._tasks.queued_lead_ns or 0)
        return Change(division=division), float(self._work[chosen].max(initial=0.0)) / parts

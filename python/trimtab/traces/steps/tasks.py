"""What the parts of tasks wait for: the part before, what made the task ready, and tasks that ran on top of theirs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.traces.columns import Groups, ordered
from trimtab.traces.intervals.gifts import Gifts
from trimtab.traces.intervals.model import NO_LANE, Booleans, Doing, Integers


@dataclass(frozen=True)
class TaskSteps:
    """Steps of tasks, by lane and time: number, task, begin in ticks, and place of the lane."""

    step: Integers
    task: Integers
    begin: Integers
    lane: Integers


@dataclass(frozen=True)
class TaskDemands:
    """What steps of tasks wait for.

    Attributes:
        step, giver, given: the step waits until that lane has come to that moment (ticks); shape (gifts,).
        is_lock: since the task there released a mutex.
        later, earlier: the first waits for the end of the second; shape (pairs,).
        without_giver: steps of which nobody of the process made them ready.
        ready: when each of those was.
        is_message: those that a message of another process made ready.
    """

    step: Integers
    giver: Integers
    given: Integers
    is_lock: Booleans
    later: Integers
    earlier: Integers
    without_giver: Integers
    ready: Integers
    is_message: Booleans


def demands_of_tasks(gifts: Gifts, steps: TaskSteps) -> TaskDemands:
    """By the events that make tasks ready."""
    order = ordered(steps.task, steps.begin)
    task, begin, number = steps.task[order], steps.begin[order], steps.step[order]
    place = Groups.of(task, begin).earliest(gifts.task, gifts.at)
    is_message = gifts.doing == int(Doing.MESSAGE)
    given = (place >= 0) & (gifts.lane != NO_LANE) & ~is_message
    is_part = task[1:] == task[:-1]
    later, earlier = number[1:][is_part], number[:-1][is_part]
    nested = _nested(steps)
    is_first = np.concatenate([[True], ~is_part]) if len(task) else np.zeros(0, np.bool_)
    is_alone = is_first
    is_alone[place[given]] = False
    ready = begin.copy()
    from_outside = (place >= 0) & ((gifts.lane == NO_LANE) | is_message)
    ready[place[from_outside]] = gifts.at[from_outside]
    by_message = np.isin(np.arange(len(task)), place[(place >= 0) & is_message])
    is_alone |= by_message
    return TaskDemands(
        number[place[given]],
        gifts.lane[given],
        gifts.at[given],
        gifts.doing[given] == int(Doing.TASK_LOCK),
        np.concatenate([later, steps.step[nested]]),
        np.concatenate([earlier, steps.step[nested - 1]]),
        number[is_alone],
        ready[is_alone],
        by_message[is_alone],
    )


def _nested(steps: TaskSteps) -> Integers:
    """Steps that go on with a task after others ran on top of it: they wait for the one before on their lane."""
    if not len(steps.step):
        return steps.step
    order = np.lexsort((np.arange(len(steps.step)), steps.task))
    earlier = np.full(len(steps.step), -1, np.int64)
    is_same = (steps.task[order][1:] == steps.task[order][:-1]) & (
        steps.lane[order][1:] == steps.lane[order][:-1]
    )
    earlier[order[1:][is_same]] = order[:-1][is_same]
    place = np.arange(len(steps.step))
    return np.flatnonzero((earlier >= 0) & (earlier < place - 1))

"""What each task did from its creation until its end: one stay follows the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model.enumerations import WaitCause
from trimtab.traces.columns import Groups, ordered, small
from trimtab.traces.tasks.lanes import RUNNING
from trimtab.traces.tasks.model import NO_TIME, Gifts, Integers, Stays, TaskState

# Task, begin, end, cause of waiting or RUNNING, and lane; task, time and cause.
Pieces = tuple[NDArray[Any], Integers, Integers, NDArray[np.int8], NDArray[np.int32]]
Suspensions = tuple[Integers, Integers, Integers]


@dataclass(frozen=True)
class Phases:
    """Of each task; NO_TIME where there is none."""

    created: Integers
    ready: Integers
    begin: Integers
    end: Integers
    end_of_trace: int


def stays_of(pieces: Pieces, phases: Phases, gifts: Gifts, suspensions: Suspensions) -> Stays:
    """In order of task and time; none takes no time."""
    between = _between(pieces, gifts, suspensions)
    whole = _joined([_before(phases), _inside(pieces), between])
    return whole.pick(ordered(whole.task, whole.begin_ns))


def _stays(task: NDArray[Any], begin: Integers, end: Integers, state: TaskState) -> Stays:
    count = len(task)
    return Stays(
        small(task, 1 + int(task.max(initial=0))),
        begin,
        end,
        np.full(count, int(state), np.int8),
        np.zeros(count, np.int8),
        np.full(count, -1, np.int32),
    )


def _joined(tables: list[Stays]) -> Stays:
    """Those that take time."""
    chosen = [table.end_ns > table.begin_ns for table in tables]
    return Stays(
        *(
            np.concatenate([getattr(table, name)[own] for table, own in zip(tables, chosen, strict=True)])
            for name in Stays.__dataclass_fields__
        )
    )


def _before(phases: Phases) -> Stays:
    """From its creation, or from when it was ready, until it began or the trace ended."""
    begin = np.where(phases.begin != NO_TIME, phases.begin, phases.end_of_trace)
    ready = np.where(phases.ready != NO_TIME, np.minimum(phases.ready, begin), begin)
    created = np.where(phases.created != NO_TIME, np.minimum(phases.created, ready), ready)
    rows = np.arange(len(begin))
    return _joined(
        [
            _stays(rows, created, ready, TaskState.INELIGIBLE),
            _stays(rows, ready, begin, TaskState.ELIGIBLE),
        ]
    )


def _inside(pieces: Pieces) -> Stays:
    task, low, high, wait, lane = pieces
    stays = _stays(task, low, high, TaskState.RUNNING)
    is_waiting = wait != RUNNING
    stays.state[is_waiting] = int(TaskState.SUSPENDED)
    stays.cause[is_waiting] = wait[is_waiting]
    stays.lane[:] = lane
    return stays


def _between(pieces: Pieces, gifts: Gifts, suspensions: Suspensions) -> Stays:
    """From where a task left a lane, or another began on top of it, until it goes on."""
    task, low, high = pieces[:3]
    order = ordered(task, low)
    task, low, high = task[order], low[order], high[order]
    is_gap = (task[1:] == task[:-1]) & (low[1:] > high[:-1])
    at = np.flatnonzero(is_gap)
    task, begin, end = task[at], high[at], low[at + 1]
    cause = _causes(task, begin, suspensions)
    given = gifts.of_receivers.latest(task, end)
    moment = gifts.at_ns[np.maximum(given, 0)] if len(gifts) else np.zeros(len(task), np.int64)
    ready = np.where((given >= 0) & (moment >= begin) & (cause >= 0), moment, end)
    waiting = _stays(task, begin, ready, TaskState.SUSPENDED)
    # On top of it another task ran, which is as if it had called it.
    waiting.cause[:] = np.where(cause >= 0, cause, int(WaitCause.CHILDREN))
    return _joined([waiting, _stays(task, ready, end, TaskState.ELIGIBLE)])


def _causes(task: Integers, begin: Integers, suspensions: Suspensions) -> Integers:
    """Why each task was suspended at that moment; -1: it was not."""
    row = Groups.of(suspensions[0], suspensions[1]).latest(task, begin)
    if not len(suspensions[0]):
        return np.full(len(task), -1, np.int64)
    place = np.maximum(row, 0)
    return np.where((row >= 0) & (suspensions[1][place] == begin), suspensions[2][place], -1)

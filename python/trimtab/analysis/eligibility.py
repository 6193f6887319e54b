"""How many tasks could run but had no worker, and how many waited for inputs, over time: what lies below the axis of concurrency."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.lane_spans import Floats, blocks, covered_until
from trimtab.model import Process
from trimtab.model.enumerations import EventKind, WaitCause

Integers = NDArray[np.int64]


class _Step(IntEnum):
    """What happened to a task, in the order that events of one moment have."""

    CREATED = 0
    GIVEN = 1
    """It became ready, or got something that it waited for."""
    BEGUN = 2
    SUSPENDED = 3
    ENDED = 4


# The event, the field that has the task, and what it means for it.
_EVENTS = (
    (EventKind.TASK_CREATED, "a", _Step.CREATED),
    (EventKind.TASK_READY, "a", _Step.GIVEN),
    (EventKind.EDGE, "b", _Step.GIVEN),
    (EventKind.TASK_BEGIN, "a", _Step.BEGUN),
    (EventKind.TASK_RESUMED, "a", _Step.BEGUN),
    (EventKind.TASK_SUSPENDED, "a", _Step.SUSPENDED),
    (EventKind.TASK_END, "a", _Step.ENDED),
)


@dataclass(frozen=True)
class Eligibility:
    """Mean numbers of tasks for each bin of time.

    Attributes:
        eligible: all inputs were there, and no worker ran them yet.
        ineligible: inputs were missing, at the beginning or while suspended.
    """

    eligible: Floats
    ineligible: Floats


def eligibility(process: Process, edges_s: Floats) -> Eligibility | None:
    """In the bins between `edges_s`; None where events of the creation of tasks are missing.

    A task whose next step is not recorded counts as neither from its last step on.
    """
    if any(lane.events_written > len(lane.events) or lane.events_dropped for lane in process.lanes):
        return None
    task, ticks, step = _steps(process)
    if not (step == _Step.CREATED).any():
        return None
    order = np.lexsort((step, ticks, task))
    task, ticks, step = task[order], ticks[order], step[order]
    seconds = (ticks - int(process.header["start_ticks"])) * process.tick_s
    is_same = task[1:] == task[:-1]
    now, following = step[:-1], step[1:]
    # What is created, given something or suspended waits for what comes next.
    waits = is_same & np.isin(now, (_Step.CREATED, _Step.GIVEN, _Step.SUSPENDED))
    spans = [
        (seconds[:-1][chosen], seconds[1:][chosen])
        for chosen in (waits & (following == _Step.BEGUN), waits & (following == _Step.GIVEN))
    ]
    width = np.diff(edges_s)
    eligible, ineligible = (
        np.maximum(np.diff(covered_until(low, high, edges_s)), 0.0) / width for low, high in spans
    )
    return Eligibility(eligible, ineligible)


def _steps(process: Process) -> tuple[Integers, Integers, NDArray[np.int8]]:
    """Task, time and step of all events of tasks that have an identity."""
    tables: list[tuple[Any, Any, Any]] = [
        (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int8))
    ]
    for lane in process.lanes:
        for block in blocks(lane.events):
            for kind, field, step in _EVENTS:
                chosen = (block["kind"] == kind) & (block[field] != 0)
                if kind == EventKind.EDGE:
                    chosen &= block["arg"] != WaitCause.OTHER
                own = block[chosen]
                tables.append(
                    (
                        own[field].astype(np.int64),
                        own["ticks"].astype(np.int64),
                        np.full(len(own), int(step), np.int8),
                    )
                )
    task, ticks, steps = (np.concatenate([table[at] for table in tables]) for at in range(3))
    return task, ticks, steps

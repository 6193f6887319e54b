"""What tasks gave each other, from the events of all lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.model.enumerations import EventKind, WaitCause
from trimtab.threads import of_each
from trimtab.traces.columns import joined_columns
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.tasks.model import Integers

Numbers = NDArray[np.uint64]


@dataclass(frozen=True)
class TaskEvents:
    """Events of one kind, of all lanes: two identities, the subject, the argument, and ticks since the process began."""

    a: Numbers
    b: Numbers
    subject: NDArray[np.uint32]
    arg: NDArray[np.uint16]
    at: Integers

    @staticmethod
    def of(lanes: Sequence[LaneParts], kind: EventKind) -> TaskEvents:
        rows = sum(len(parts.lane.events) for parts in lanes)
        return TaskEvents(*joined_columns(of_each(lambda parts: _events(parts, kind), lanes, rows)))


def _events(
    parts: LaneParts, kind: EventKind
) -> tuple[Numbers, Numbers, NDArray[np.uint32], NDArray[np.uint16], Integers]:
    own = parts.lane.events[np.flatnonzero(parts.kinds == kind)]
    # Code outside of all tasks may have given something.
    if kind != EventKind.EDGE and not own["a"].all():
        own = own[own["a"] != 0]
    start = np.uint64(parts.start)
    ticks = (np.maximum(own["ticks"], start) - start).astype(np.int64)
    a, b, subject, arg = (np.ascontiguousarray(own[name]) for name in ("a", "b", "subject", "arg"))
    return a, b, subject, arg, ticks


@dataclass(frozen=True)
class AllEvents:
    """What the events say of tasks beside their slices."""

    created: TaskEvents
    ready: TaskEvents
    edges: TaskEvents
    dependences: TaskEvents
    """Edges that are of tasks and not of a moment: the receiver may begin when the giver has ended."""
    suspended: TaskEvents

    @staticmethod
    def of(lanes: Sequence[LaneParts]) -> AllEvents:
        edges = TaskEvents.of(lanes, EventKind.EDGE)
        is_timed = edges.arg != WaitCause.OTHER
        dependences = _pick(edges, ~is_timed)
        if not is_timed.all():
            edges = _pick(edges, is_timed)
        return AllEvents(
            TaskEvents.of(lanes, EventKind.TASK_CREATED),
            TaskEvents.of(lanes, EventKind.TASK_READY),
            edges,
            dependences,
            TaskEvents.of(lanes, EventKind.TASK_SUSPENDED),
        )


def _pick(events: TaskEvents, chosen: NDArray[np.bool_]) -> TaskEvents:
    return TaskEvents(*(column[chosen] for column in vars(events).values()))

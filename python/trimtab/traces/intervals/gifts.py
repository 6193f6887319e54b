"""What made tasks ready."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Records
from trimtab.model.enumerations import EventKind, WaitCause
from trimtab.threads import of_each
from trimtab.traces.columns import Groups, joined_columns, ordered, picked
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Doing, Integers
from trimtab.traces.intervals.numbered import NumberedTasks

# What one task gives another one.
BY_TASKS = (int(Doing.DEPENDENCE), int(Doing.TASK_LOCK))
_Table = tuple[Integers, Integers, NDArray[np.uint32], NDArray[np.int8], Integers]


@dataclass(frozen=True)
class Gifts:
    """What made tasks ready, by task and time: it was created, its last input came, or another gave what it waited for.

    A suspension is a row, too (`Doing.RESUMPTION`): what was given before it does not let the task go on.
    `giver`: the task that gave it; 0: none, or not known.
    """

    task: Integers
    at: Integers
    lane: Integers
    doing: NDArray[np.int8]
    giver: Integers

    @staticmethod
    def of(
        lanes: Sequence[LaneParts], others: Sequence[LaneParts] = (), tasks: NumberedTasks | None = None
    ) -> Gifts:
        """`others`: lanes of whose time nothing is said, such as those that only receive messages: their gifts have NO_LANE.

        `tasks`: whose ends are what others depend on.
        """
        events = sum(len(parts.lane.events) for parts in lanes)
        of_lanes = of_each(lambda at: _gifts_of(lanes[at], at), range(len(lanes)), events)
        tables = [table for own in of_lanes for table in own]
        tables += [table for parts in others for table in _gifts_of(parts, NO_LANE)]
        tables += [_ends_awaited(parts, tasks) for parts in lanes if tasks is not None]
        columns = joined_columns(tables)
        # Of one moment the suspension comes first, and the first lane last, so that it is found.
        is_gift = columns[3] != int(Doing.RESUMPTION)
        order = ordered(columns[0], columns[1], is_gift, ~columns[2], columns[3], columns[4])
        task, ticks, lane, doing, giver = picked(columns, order)
        return Gifts(task, ticks, lane.astype(np.int64), doing, giver)

    @property
    def last_made(self) -> tuple[int, int]:
        """Who made the last task of the process, and when; NO_LANE: nobody."""
        made = np.flatnonzero((self.doing == int(Doing.SPAWN)) & (self.task > 0))
        if not len(made):
            return NO_LANE, 0
        last = made[np.argmax(self.at[made])]
        return int(self.lane[last]), int(self.at[last])

    @cached_property
    def of_tasks(self) -> Groups:
        """The rows of each task."""
        return Groups.of(self.task, self.at)

    def latest(self, task: Integers, until: Integers) -> Integers:
        """The row of the latest gift to each task until then; -1: none is known."""
        return self.of_tasks.latest(task, until)


def _ends_awaited(parts: LaneParts, tasks: NumberedTasks) -> _Table:
    """Dependences of tasks on others that ended later than they were reported: on earlier ones nobody waited."""
    events = parts.lane.events
    edges = events[np.flatnonzero(parts.kinds == EventKind.EDGE)]
    edges = edges[edges["arg"] == WaitCause.OTHER]
    row = lookup(tasks.number, edges["a"].astype(np.int64))
    end, lane = values_at(tasks.end, row, -1), values_at(tasks.lane, row, NO_LANE)
    is_later = end > edges["ticks"].astype(np.int64) - parts.start
    receiver = edges["b"].astype(np.int64)[is_later]
    doing = np.full(len(receiver), int(Doing.DEPENDENCE), np.int8)
    giver = edges["a"].astype(np.int64)[is_later]
    return receiver, end[is_later], lane[is_later].astype(np.uint32), doing, giver


def _gifts_of(parts: LaneParts, at: int) -> list[_Table]:
    events = parts.lane.events
    received = events["a"][parts.kinds == EventKind.PARCEL_RECEIVED]
    start = np.uint64(parts.start)
    tables = []
    for kind, field, giver, doing in (
        (EventKind.TASK_CREATED, "a", "b", Doing.SPAWN),
        (EventKind.TASK_READY, "a", "b", Doing.DEPENDENCE),
        (EventKind.EDGE, "b", "a", Doing.DEPENDENCE),
        (EventKind.TASK_SUSPENDED, "a", None, Doing.RESUMPTION),
        (EventKind.PARCEL_RECEIVED, "a", None, Doing.MESSAGE),
        (EventKind.ANSWER_RECEIVED, "a", None, Doing.MESSAGE),
    ):
        chosen = parts.kinds == kind
        # Whoever received a parcel has made its task, but the cause is the sender.
        if len(received) and kind in (EventKind.TASK_CREATED, EventKind.TASK_READY):
            chosen &= ~np.isin(events["a"], received)
        if kind == EventKind.TASK_READY:
            chosen &= ~_is_answered(parts)
        own = events[np.flatnonzero(chosen)]
        if kind == EventKind.EDGE:
            own = own[own["arg"] != WaitCause.OTHER]
        count = len(own)
        ticks = (np.maximum(own["ticks"], start) - start).astype(np.int64)
        tables.append(
            (
                own[field].astype(np.int64),
                ticks,
                np.full(count, at, np.uint32),
                _doings(own, doing),
                own[giver].astype(np.int64) if giver is not None else np.zeros(count, np.int64),
            )
        )
    return tables


def _is_answered(parts: LaneParts) -> NDArray[np.bool_]:
    """Of each event, whether the next one says which parcel let the same task go on: that is the cause, not the lane that received it."""
    events, is_before = parts.lane.events, np.zeros(len(parts.kinds), np.bool_)
    answers = np.flatnonzero(parts.kinds[1:] == EventKind.ANSWER_RECEIVED)
    is_before[answers] = events["a"][answers] == events["a"][answers + 1]
    return is_before


def _doings(events: Records, doing: Doing) -> NDArray[np.int8]:
    """Of events of one kind; who got a mutex waited for a lock."""
    is_lock = (events["kind"] == EventKind.EDGE) & (events["arg"] == WaitCause.MUTEX)
    return np.where(is_lock, np.int8(Doing.TASK_LOCK), np.int8(doing))


@dataclass(frozen=True)
class LastTask:
    """The worker that ended a task last, and when; NO_LANE: none did."""

    lane: int
    end: int

    @staticmethod
    def of(lanes: Sequence[LaneParts]) -> LastTask:
        ends = [
            (int(own.max()), -at)
            for at, parts in enumerate(lanes)
            if parts.is_worker and len(own := parts.task_ends())
        ]
        return LastTask(-max(ends)[1], max(ends)[0]) if ends else LastTask(NO_LANE, 0)

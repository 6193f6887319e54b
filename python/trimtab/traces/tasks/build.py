"""The table of tasks, from a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model.enumerations import EventKind
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import latest_row
from trimtab.traces.tasks.gifts import AllEvents
from trimtab.traces.tasks.lanes import LaneTasks, capped, occupied, tasks_of_lane, worker_groups
from trimtab.traces.tasks.lookup import rows_of
from trimtab.traces.tasks.model import NO_TASK, NO_TIME, Gifts, Integers, Lanes, TaskTable
from trimtab.traces.tasks.stays import Phases, stays_of
from trimtab.traces.trace import Trace

_TASK_EVENTS = (EventKind.TASK_BEGIN, EventKind.TASK_RESUMED)


def task_table_of(trace: Trace) -> TaskTable | None:
    """None where the process ran no task that is recorded, or not all events are there."""
    lanes = trace.process.lanes
    if any(lane.events_written > len(lane.events) or lane.events_dropped for lane in lanes):
        return None
    if not any(np.isin(lane.events["kind"], _TASK_EVENTS).any() for lane in lanes):
        return None
    built = [LaneParts.of(lane, trace) for lane in lanes]
    used = [parts for parts in built if len(parts.works) or parts.is_worker]
    own = [tasks_of_lane(parts) for parts in used]
    events = AllEvents.of(built)
    ns_per_tick = trace.process.ns_per_tick
    end = trace.end_ticks - int(trace.process.header["start_ticks"])
    return _Builder.of(own, events, ns_per_tick).table(_lanes(used, own, ns_per_tick), end)


def _lanes(used: Sequence[LaneParts], own: Sequence[LaneTasks], ns_per_tick: float) -> Lanes:
    busy = [occupied(parts, tasks) for parts, tasks in zip(used, own, strict=True)]
    stopped = [capped(parts) for parts in used]
    return Lanes(
        tuple(parts.lane.id for parts in used),
        worker_groups(used),
        *_spans(busy, ns_per_tick),
        *_spans(stopped, ns_per_tick),
    )


def _spans(
    spans: Sequence[tuple[Integers, Integers]], ns_per_tick: float
) -> tuple[Integers, Integers, Integers]:
    lane = np.repeat(np.arange(len(spans)), [len(low) for low, _ in spans])
    low, high = (np.concatenate([span[side] for span in spans]) for side in (0, 1))
    return lane, _ns(low, ns_per_tick), _ns(high, ns_per_tick)


def _ns(ticks: Integers, ns_per_tick: float) -> Integers:
    nanoseconds: Integers = np.rint(ticks * ns_per_tick).astype(np.int64)
    return nanoseconds


@dataclass(frozen=True)
class _Builder:
    """Rows of tasks: first those with an identity, ascending, then a row for each slice of a task without one."""

    ids: NDArray[np.uint64]
    count: int
    own: Sequence[LaneTasks]
    rows_of_slices: Sequence[Integers]
    events: AllEvents
    ns_per_tick: float

    @staticmethod
    def of(own: Sequence[LaneTasks], events: AllEvents, ns_per_tick: float) -> _Builder:
        told = [events.created.a, events.ready.a, events.edges.b, events.dependences.b]
        ids = np.unique(np.concatenate([*(tasks.begun_number for tasks in own), *told]))
        ids = ids[ids != 0]
        count = len(ids)
        rows = []
        for tasks in own:
            row = np.searchsorted(ids, tasks.begun_number).astype(np.int64)
            unnamed = tasks.begun_number == 0
            row[unnamed] = count + np.arange(int(unnamed.sum()))
            count += int(unnamed.sum())
            rows.append(row)
        return _Builder(ids, count, own, rows, events, ns_per_tick)

    def _row(self, numbers: NDArray[np.uint64]) -> Integers:
        found = rows_of(self.ids.view(np.int64), numbers.view(np.int64)) if len(self.ids) else None
        return np.full(len(numbers), NO_TASK, np.int64) if found is None else found

    def _begun(self, name: str) -> Any:
        return np.concatenate([getattr(tasks, name) for tasks in self.own])

    def table(self, lanes: Lanes, end: int) -> TaskTable:
        rows = np.concatenate([*self.rows_of_slices])
        begin, last = np.full(self.count, NO_TIME, np.int64), np.full(self.count, NO_TIME, np.int64)
        low, high = (_ns(self._begun(name), self.ns_per_tick) for name in ("begun_low", "begun_high"))
        order = np.argsort(low, kind="stable")
        begin[rows[order[::-1]]] = low[order[::-1]]  # the first one is written last
        np.maximum.at(last, rows, high)
        subject = self._subjects(rows)
        is_explicit = np.ones(self.count, np.bool_)
        is_explicit[rows] = self._begun("begun_explicit")
        created = np.full(self.count, NO_TIME, np.int64)
        created[self._row(self.events.created.a)] = _ns(self.events.created.at, self.ns_per_tick)
        gifts = self._gifts(last)
        end_ns = round(end * self.ns_per_tick)
        ready = self._ready(gifts, subject, begin, created)
        phases = Phases(created, ready, begin, last, end_ns)
        stays = stays_of(self._pieces(), phases, gifts, self._suspensions())
        numbers = np.concatenate([self.ids, np.zeros(self.count - len(self.ids), np.uint64)])
        return TaskTable(
            numbers, subject, is_explicit, created, ready, begin, last, stays, gifts, lanes, end_ns
        )

    def _subjects(self, rows: Integers) -> NDArray[np.uint32]:
        subject = np.full(self.count, 0xFFFFFFFF, np.uint32)
        for events in (self.events.ready, self.events.created):
            subject[self._row(events.a)] = events.subject
        subject[rows] = self._begun("begun_subject")
        return subject

    def _gifts(self, ended: Integers) -> Gifts:
        """In order of receiver and time; of one moment, what is reported last is last."""
        events = self.events
        dependences = events.dependences
        giver_of_dependence = self._row(dependences.a)
        given = np.where(giver_of_dependence >= 0, ended[np.maximum(giver_of_dependence, 0)], NO_TIME)
        dependence_at = np.maximum(given, _ns(dependences.at, self.ns_per_tick))
        tables = [
            (self._row(events.created.a), events.created.at, self._row(events.created.b), True, False),
            (self._row(events.edges.b), events.edges.at, self._row(events.edges.a), False, True),
            (self._row(events.ready.a), events.ready.at, self._row(events.ready.b), False, False),
        ]
        receiver = np.concatenate([*(table[0] for table in tables), self._row(dependences.b)])
        at = np.concatenate([*(_ns(table[1], self.ns_per_tick) for table in tables), dependence_at])
        giver = np.concatenate([*(table[2] for table in tables), giver_of_dependence])
        counts = [*(len(table[0]) for table in tables), len(dependence_at)]
        is_creation = np.repeat([*(table[3] for table in tables), False], counts)
        is_edge = np.repeat([*(table[4] for table in tables), True], counts)
        # A giver that has not ended has given nothing.
        is_known = np.concatenate([np.ones(len(receiver) - len(given), np.bool_), given != NO_TIME])
        gifts = Gifts(receiver, at, giver, is_creation, is_edge).pick(is_known & (receiver >= 0))
        return gifts.pick(np.lexsort((gifts.at_ns, gifts.receiver)))

    def _ready(
        self, gifts: Gifts, subject: NDArray[np.uint32], begin: Integers, created: Integers
    ) -> Integers:
        """When each task had all it needed to begin: with the last gift before it began.

        A task that never began is ready if it is reported, or if nothing else is known to be missing: no task of its kind is
        ever reported to become ready, and it depends on none.
        """
        has_begun = begin != NO_TIME
        reported = self._row(self.events.ready.a)
        is_reported = np.zeros(self.count, np.bool_)
        is_reported[reported] = True
        waits_for_report = np.isin(subject, np.unique(subject[reported]))
        waits_for_report[self._row(self.events.dependences.b)] = True
        may_be_ready = has_begun | is_reported | ~waits_for_report
        asked = np.flatnonzero(may_be_ready)
        until = np.where(has_begun, begin, np.iinfo(np.int64).max)[asked]
        row = latest_row(gifts.receiver, gifts.at_ns, asked, until)
        ready = np.full(self.count, NO_TIME, np.int64)
        ready[asked] = np.where(row >= 0, gifts.at_ns[np.maximum(row, 0)] if len(gifts) else 0, NO_TIME)
        return np.where(has_begun & (ready == NO_TIME), begin, ready)

    def _pieces(self) -> tuple[Integers, Integers, Integers, Integers, Integers]:
        """Task, begin, end, cause of waiting or RUNNING, and lane, of all pieces of lanes' time in tasks."""
        tables = []
        for at, (tasks, rows) in enumerate(zip(self.own, self.rows_of_slices, strict=True)):
            place = np.searchsorted(tasks.begun, tasks.slice)
            row = rows[place] if len(place) else place.astype(np.int64)
            tables.append((row, tasks.low, tasks.high, tasks.wait, np.full(len(row), at, np.int64)))
        task, low, high, wait, lane = (
            np.concatenate([table[column] for table in tables]) for column in range(5)
        )
        return task, _ns(low, self.ns_per_tick), _ns(high, self.ns_per_tick), wait, lane

    def _suspensions(self) -> tuple[Integers, Integers, Integers]:
        """Task, time and cause of each, in order of task and time."""
        events = self.events.suspended
        task, at = self._row(events.a), _ns(events.at, self.ns_per_tick)
        order = np.lexsort((at, task))
        return task[order], at[order], events.arg[order]

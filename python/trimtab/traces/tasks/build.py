"""The table of tasks, from a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model.enumerations import EventKind
from trimtab.threads import of_each
from trimtab.traces.columns import Places, different, ordered, small
from trimtab.traces.intervals.lane_parts import LaneParts, parts_of
from trimtab.traces.tasks.gifts import AllEvents
from trimtab.traces.tasks.lanes import LaneTasks, capped, occupied, tasks_of_lane, worker_groups
from trimtab.traces.tasks.model import NO_TIME, Booleans, Gifts, Integers, Lanes, TaskTable
from trimtab.traces.tasks.stays import Phases, Pieces, Suspensions, stays_of
from trimtab.traces.trace import Trace

_TASK_EVENTS = (EventKind.TASK_BEGIN, EventKind.TASK_RESUMED)


def task_table_of(trace: Trace, built: Sequence[LaneParts] | None = None) -> TaskTable | None:
    """None where the process ran no task that is recorded, or not all events are there; `built`: as of `lanes_of`."""
    lanes = trace.process.lanes
    if any(lane.events_written > len(lane.events) or lane.events_dropped for lane in lanes):
        return None
    if not any(np.isin(lane.events["kind"], _TASK_EVENTS).any() for lane in lanes):
        return None
    built = parts_of(trace) if built is None else built
    used = [parts for parts in built if len(parts.works) or parts.is_worker]
    own = of_each(tasks_of_lane, used, sum(len(parts.low) for parts in used))
    events = AllEvents.of(built)
    ns_per_tick = trace.process.ns_per_tick
    end = trace.end_ticks - int(trace.process.header["start_ticks"])
    builder = _Builder.of(own, events, ns_per_tick)
    lanes_of_table = _lanes(used, own, ns_per_tick)
    draft = builder.draft(end)
    del own, events, builder  # of a long trace these take hundreds of megabytes
    return draft.table(lanes_of_table)


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
    scaled = ticks * ns_per_tick
    nanoseconds: Integers = np.rint(scaled, out=scaled).astype(np.int64)
    return nanoseconds


@dataclass(frozen=True)
class _Draft:
    """What the table of tasks is made of, when the events are no longer needed."""

    numbers: NDArray[np.uint64]
    subject: NDArray[np.uint32]
    is_explicit: Booleans
    phases: Phases
    gifts: Gifts
    pieces: Pieces
    suspensions: Suspensions

    def table(self, lanes: Lanes) -> TaskTable:
        phases = self.phases
        return TaskTable(
            self.numbers,
            self.subject,
            self.is_explicit,
            phases.created,
            phases.ready,
            phases.begin,
            phases.end,
            stays_of(self.pieces, phases, self.gifts, self.suspensions),
            self.gifts,
            lanes,
            phases.end_of_trace,
        )


@dataclass(frozen=True)
class _Builder:
    """Rows of tasks: first those with an identity, ascending, then a row for each slice of a task without one."""

    ids: Places
    count: int
    own: Sequence[LaneTasks]
    rows_of_slices: Sequence[Integers]
    events: AllEvents
    ns_per_tick: float

    @staticmethod
    def of(own: Sequence[LaneTasks], events: AllEvents, ns_per_tick: float) -> _Builder:
        told = [events.created.a, events.ready.a, events.edges.b, events.dependences.b]
        numbers = different(np.concatenate([*(tasks.begun_number for tasks in own), *told]).view(np.int64))
        ids = Places(numbers[numbers != 0])
        count = len(ids.numbers)
        rows = []
        for tasks in own:
            row = ids.of(tasks.begun_number.view(np.int64))
            unnamed = tasks.begun_number == 0
            row[unnamed] = count + np.arange(int(unnamed.sum()))
            count += int(unnamed.sum())
            rows.append(row)
        return _Builder(ids, count, own, rows, events, ns_per_tick)

    def _row(self, numbers: NDArray[np.uint64]) -> Integers:
        return self.ids.of(numbers.view(np.int64))

    def _small(self, numbers: NDArray[np.uint64]) -> NDArray[Any]:
        return small(self._row(numbers), self.count)

    def _begun(self, name: str) -> Any:
        return np.concatenate([getattr(tasks, name) for tasks in self.own])

    def draft(self, end: int) -> _Draft:
        rows = np.concatenate([*self.rows_of_slices])
        begin, last = np.full(self.count, NO_TIME, np.int64), np.full(self.count, NO_TIME, np.int64)
        low, high = (_ns(self._begun(name), self.ns_per_tick) for name in ("begun_low", "begun_high"))
        begin[rows] = low
        last[rows] = high
        if np.count_nonzero(begin != NO_TIME) < len(rows):  # some tasks have several slices
            order = np.argsort(low, kind="stable")[::-1]
            begin[rows[order]] = low[order]  # the first one is written last
            np.maximum.at(last, rows, high)
        del low, high
        subject = self._subjects(rows)
        is_explicit = np.ones(self.count, np.bool_)
        is_explicit[rows] = self._begun("begun_explicit")
        created = np.full(self.count, NO_TIME, np.int64)
        created[self._row(self.events.created.a)] = _ns(self.events.created.at, self.ns_per_tick)
        gifts = self._gifts(last)
        end_ns = round(end * self.ns_per_tick)
        ready = self._ready(gifts, subject, begin, created)
        phases = Phases(created, ready, begin, last, end_ns)
        ids = self.ids.numbers.view(np.uint64)
        numbers = np.concatenate([ids, np.zeros(self.count - len(ids), np.uint64)])
        return _Draft(numbers, subject, is_explicit, phases, gifts, self._pieces(), self._suspensions())

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
            (self._small(events.created.a), events.created.at, self._small(events.created.b)),
            (self._small(events.edges.b), events.edges.at, self._small(events.edges.a)),
            (self._small(events.ready.a), events.ready.at, self._small(events.ready.b)),
        ]
        receiver = np.concatenate([*(table[0] for table in tables), self._small(dependences.b)])
        at = np.concatenate([*(_ns(table[1], self.ns_per_tick) for table in tables), dependence_at])
        giver = np.concatenate([*(table[2] for table in tables), small(giver_of_dependence, self.count)])
        counts = [*(len(table[0]) for table in tables), len(dependence_at)]
        del tables
        is_creation = np.repeat([True, False, False, False], counts)
        is_edge = np.repeat([False, True, False, True], counts)
        # A giver that has not ended has given nothing.
        is_known = np.concatenate([np.ones(len(receiver) - len(given), np.bool_), given != NO_TIME])
        is_known &= receiver >= 0
        gifts = Gifts(receiver, at, giver, is_creation, is_edge)
        gifts = gifts if is_known.all() else gifts.pick(is_known)
        return gifts.pick(ordered(gifts.receiver, gifts.at_ns))

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
        waits_for_report = np.isin(subject, different(subject[reported]))
        waits_for_report[self._row(self.events.dependences.b)] = True
        may_be_ready = has_begun | is_reported | ~waits_for_report
        asked = np.flatnonzero(may_be_ready)
        until = np.where(has_begun, begin, np.iinfo(np.int64).max)[asked]
        row = gifts.of_receivers.latest(asked, until)
        ready = np.full(self.count, NO_TIME, np.int64)
        ready[asked] = np.where(row >= 0, gifts.at_ns[np.maximum(row, 0)] if len(gifts) else 0, NO_TIME)
        return np.where(has_begun & (ready == NO_TIME), begin, ready)

    def _pieces(self) -> Pieces:
        """Task, begin, end, cause of waiting or RUNNING, and lane, of all pieces of lanes' time in tasks."""
        tables = []
        for at, (tasks, rows) in enumerate(zip(self.own, self.rows_of_slices, strict=True)):
            place = np.searchsorted(tasks.begun, tasks.slice)
            row = rows[place] if len(place) else place.astype(np.int64)
            lane = np.full(len(row), at, np.int32)
            tables.append((small(row, self.count), tasks.low, tasks.high, tasks.wait.astype(np.int8), lane))
        task, low, high, wait, lane = (
            np.concatenate([table[column] for table in tables]) for column in range(5)
        )
        return task, _ns(low, self.ns_per_tick), _ns(high, self.ns_per_tick), wait, lane

    def _suspensions(self) -> Suspensions:
        """Task, time and cause of each, in order of task and time."""
        events = self.events.suspended
        task, at = self._row(events.a), _ns(events.at, self.ns_per_tick)
        order = ordered(task, at)
        return task[order], at[order], events.arg[order].astype(np.int64)

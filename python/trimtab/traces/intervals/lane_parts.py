"""A lane's time, cut where the innermost slice changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Lane
from trimtab.model.enumerations import EventKind
from trimtab.threads import of_each
from trimtab.traces.columns import small
from trimtab.traces.intervals.lookup import among
from trimtab.traces.intervals.model import Integers
from trimtab.traces.intervals.moved_stacks import end_of_worker, left_at
from trimtab.traces.slices import Role, Slices, lane_slices
from trimtab.traces.trace import Trace

WORKS = (Role.WORK, Role.TASK, Role.PART)


@dataclass(frozen=True, eq=False)
class LaneParts:
    """A lane's slices, and its time cut where the innermost of them changes. Times in ticks since the process began.

    Attributes:
        low, high: of each piece.
        inner: the slice that is innermost then, by the place of its begin; -1: none.
        owner: the innermost part of a region or a task then, as `inner`.
        works: begins of parts of regions and of tasks, by place.
        forks: it forks regions.
        start: when the process began, ticks.
    """

    lane: Lane
    slices: Slices
    low: Integers
    high: Integers
    inner: NDArray[Any]
    owner: NDArray[Any]
    works: Integers
    forks: bool
    start: int

    @property
    def is_worker(self) -> bool:
        """Of a task runtime."""
        return bool(self.lane.header["worker_of"])

    @property
    def is_main(self) -> bool:
        """The process's first thread."""
        return bool(self.lane.header["is_main"])

    @cached_property
    def kinds(self) -> NDArray[np.uint16]:
        """Kinds of the lane's events, side by side in memory: looked at once for each kind."""
        return np.ascontiguousarray(self.lane.events["kind"])

    def event(self, name: str, places: NDArray[Any]) -> Integers:
        """A field of the events that slices come from."""
        values: Integers = self.lane.events[name][self.slices.source[places]].astype(np.int64)
        return values

    def ends(self, begins: Integers) -> Integers:
        """When slices end."""
        ticks: Integers = self.slices.ticks[self.slices.partner[begins]]
        return ticks

    def tasks(self) -> Integers:
        """Begins of parts of tasks whose ends are known.

        A task whose stack another worker took over while a task on top of it waited has ended there, not here. What is open
        at the end of the lane has run until then only if the worker has not looked for tasks since.
        """
        slices = self.slices
        tasks = self.works[slices.role[self.works] != Role.WORK]
        states = np.flatnonzero((slices.change == 1) & (slices.role == Role.STATE))
        latest = int(states[-1]) if len(states) else -1
        chosen: Integers = tasks[self._is_ended(tasks) | (tasks > latest)]
        return chosen

    def task_ends(self) -> Integers:
        """When parts of tasks ended on this lane, wherever they began; what was open when the process was killed ended then."""
        still_open = self.tasks()
        still_open = still_open[~self._is_ended(still_open)]
        return np.concatenate(
            [self.moments(EventKind.TASK_END, EventKind.TASK_SUSPENDED), self.ends(still_open)]
        )

    def _is_ended(self, begins: Integers) -> NDArray[np.bool_]:
        """Whether the ends of slices are recorded."""
        is_ended: NDArray[np.bool_] = (
            self.slices.source[self.slices.partner[begins]] != self.slices.source[begins]
        )
        return is_ended

    def moments(self, *kinds: EventKind) -> Integers:
        """When events of these kinds were recorded."""
        events = self.lane.events
        ticks = events["ticks"][among(self.kinds, kinds)]
        start = np.uint64(self.start)
        since_start: Integers = (np.maximum(ticks, start) - start).astype(np.int64)
        return since_start

    @staticmethod
    def of(lane: Lane, trace: Trace) -> LaneParts:
        start = int(trace.process.header["start_ticks"])
        end = end_of_worker(lane.events, trace.end_ticks) if lane.header["worker_of"] else trace.end_ticks
        slices = lane_slices(lane.events, start, end, trace.process.ns_per_tick)
        changing = np.flatnonzero(slices.change)
        inner, parent = _innermost(slices.change[changing])
        owner = _owners(slices.role[changing], parent)
        ticks = slices.ticks[changing]
        begin_of = small(np.append(changing, -1), len(slices))  # -1: none
        owner = np.where(inner >= 0, owner[inner], -1)
        has_left = (owner >= 0) & (ticks >= left_at(slices, lane.events, changing, parent)[owner])
        own_inner = begin_of[np.where(has_left & (inner == owner), -1, inner)]
        own_owner = begin_of[np.where(has_left, -1, owner)]
        is_long = ticks[1:] > ticks[:-1] if len(ticks) else np.empty(0, np.bool_)
        works = changing[(slices.change[changing] == 1) & np.isin(slices.role[changing], WORKS)]
        forks = bool((slices.role[changing] == Role.REGION).any())
        return LaneParts(
            lane,
            slices,
            ticks[:-1][is_long],
            ticks[1:][is_long],
            own_inner[:-1][is_long],
            own_owner[:-1][is_long],
            works,
            forks,
            start,
        )


def parts_of(trace: Trace) -> tuple[LaneParts, ...]:
    """Of all lanes of a process."""
    lanes = trace.process.lanes
    events = sum(len(lane.events) for lane in lanes)
    return tuple(of_each(lambda lane: LaneParts.of(lane, trace), lanes, events))


def _innermost(change: NDArray[np.int8]) -> tuple[Integers, Integers]:
    """After each change the begin that is innermost then, and of each begin the one around it; -1: none."""
    count = len(change)
    inner, parent = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    if not count:
        return inner, parent
    is_begin = change == 1
    depth = np.cumsum(change, dtype=np.int64)
    inner[is_begin] = np.flatnonzero(is_begin)
    outer = np.empty(0, np.int64)
    for level in range(1, int(depth.max()) + 1):
        begins = np.flatnonzero(is_begin & (depth == level))
        if level > 1:
            parent[begins] = outer[np.searchsorted(outer, begins) - 1]
        ends = np.flatnonzero(~is_begin & (depth == level))
        inner[ends] = begins[np.searchsorted(begins, ends) - 1]
        outer = begins
    return inner, parent


def _owners(role: NDArray[np.uint8], parent: Integers) -> Integers:
    """Of each begin the innermost part of a region or task: itself, or around it; -1: none."""
    owner = np.where(np.isin(role, WORKS), np.arange(len(role)), -1)
    around = parent.copy()
    while True:
        missing = (owner < 0) & (around >= 0)
        if not missing.any():
            return owner
        outer = around[missing]
        outer_owner = owner[outer]
        owner[missing] = outer_owner
        around[missing] = np.where(outer_owner >= 0, -1, parent[outer])


def begins_of(parts: LaneParts, role: Role) -> Integers:
    """The slices of a role, by the places of their begins."""
    return np.flatnonzero((parts.slices.change == 1) & (parts.slices.role == role))

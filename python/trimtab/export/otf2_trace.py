"""An OTF2 archive (Vampir, Score-P's tools): a location for each lane, in a tree of hosts and processes.

Slices are Enter and Leave of regions, as viewers want them; what Trimtab knows besides is in attributes of Enter (the identity
of a task, the iterations of a chunk), in parameters (moments, such as a task being made) and in metrics (counters).
Arrows between processes are messages of MPI. A task that goes on on another lane leaves the first and enters the second.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from trimtab.export.otf2_definitions import Clock, Definitions
from trimtab.export.otf2_lane import LaneCalls, Messages, Teams
from trimtab.export.source import Advance, Integers, Series, View
from trimtab.model import Lane
from trimtab.otf2 import numbers
from trimtab.otf2.archive import Archive
from trimtab.otf2.calls import Calls
from trimtab.traces.arrows import FIRST_PARCEL
from trimtab.traces.lock_turns import lock_entries

# Values of counters that are written in one go.
_BLOCK = 1 << 16


class Otf2:
    """Writes processes to an archive, and at last what they have in common."""

    def __init__(self, archive: Archive, views: list[View]) -> None:
        self._archive, self._library = archive, archive.library
        self._attributes = self._library.make("AttributeList_New")
        self._definitions = Definitions()
        self._definitions.text("")
        self._locations: list[int] = []
        self._next_location = 0
        self._end_ns = 1
        self._teams: list[tuple[str, list[int]]] = []
        ranks = [view.process.rank for view in views if view.process.lanes]
        known = [rank for rank in ranks if rank is not None and ranks.count(rank) == 1]
        self._ranks = {rank: place for place, rank in enumerate(sorted(known))}
        self._rank_locations: dict[int, int] = {}
        # The communicator of messages comes behind one for each process.
        self._messages = _messages(views, self._ranks, len(views))
        self._machine = self._definitions.node("machine", "machine", None)
        self._nodes: dict[str, int] = {}
        self._definitions.paradigm(numbers.Paradigm.OPENMP, "OpenMP", numbers.FORK_JOIN)
        if self._ranks:
            name = "messages between processes"
            self._definitions.paradigm(numbers.Paradigm.MPI, name, numbers.PROCESSES)

    def process(self, view: View, advance: Advance) -> None:
        """All of one process."""
        host = view.process.host or "host"
        if host not in self._nodes:
            self._nodes[host] = self._definitions.node(host, "node", self._machine)
        name = view.name or f"process {view.number}"
        group = self._definitions.location_group(name, self._nodes[host])
        rank = self._ranks.get(-1 if view.process.rank is None else view.process.rank)
        teams = Teams(len(self._teams), None if rank is None else self._messages)
        entries = lock_entries(view.process)
        turns, locks = entries.turns(), entries.locks()
        members, locations = [], {}
        for lane in view.process.lanes:
            members.append(len(self._locations))
            location = self._new_location()
            self._locations.append(location)
            locations[lane.id] = location
            if rank is not None:
                self._rank_locations.setdefault(rank, location)
            lock_columns = (turns[lane.id], locks[lane.id]) if lane.id in turns else None
            self._lane(view, lane, (location, group), LaneCalls(view, lane, teams, lock_columns), advance)
        self._teams.append((f"threads of {name}", members))
        self._counters(view, group, locations)

    def close(self, begin_real_ns: int) -> None:
        """The definitions; the run began at this time of day, nanoseconds since 1970."""
        define = self._definitions
        define.communicators(numbers.Paradigm.OPENMP, self._locations, self._teams)
        if self._ranks:
            members = [self._rank_locations[place] for place in range(len(self._ranks))]
            world = ("processes with a rank", list(range(len(members))))
            define.communicators(numbers.Paradigm.MPI, members, [world])
        clock = Clock(self._end_ns, begin_real_ns)
        self._archive.close(lambda writer: define.write(self._library, writer, clock))

    def _new_location(self) -> int:
        self._next_location += 1
        return self._next_location - 1

    def _lane(
        self, view: View, lane: Lane, place: tuple[int, int], lane_calls: LaneCalls, advance: Advance
    ) -> None:
        location, group = place
        with self._archive.events(location) as (writer, count):
            for calls, done in lane_calls.blocks(self._library, writer, self._attributes, self._definitions):
                calls.run(self._library)
                advance(done)
            events = count()
        self._end_ns = max(self._end_ns, lane_calls.end_ns)
        kind = numbers.LocationType.CPU_THREAD
        self._definitions.location(location, view.lane_name(lane), kind, events, group)

    def _counters(self, view: View, group: int, locations: dict[int, int]) -> None:
        """All samples of a process, on a location of their own."""
        all_series = [series for series in view.series() if len(series.ns)]
        if not all_series:
            return
        recorder = self._new_location()
        instances = [self._instance(series, recorder, group, locations) for series in all_series]
        times = np.concatenate([series.ns for series in all_series])
        order = np.argsort(times, kind="stable")
        values = np.ascontiguousarray(np.concatenate([series.values for series in all_series])[order])
        metric = np.repeat(instances, [len(series.ns) for series in all_series])[order]
        with self._archive.events(recorder) as (writer, count):
            self._write_values(writer, times[order], metric, values)
            events = count()
        self._end_ns = max(self._end_ns, int(times.max()))
        kind = numbers.LocationType.METRIC
        self._definitions.location(recorder, "counters", kind, events, group)

    def _instance(self, series: Series, recorder: int, group: int, locations: dict[int, int]) -> int:
        metric = self._definitions.metric(series.name, series.unit, series.is_cumulative)
        scope, about = numbers.Scope.LOCATION_GROUP, group
        if series.lane is not None and series.lane in locations:
            scope, about = numbers.Scope.LOCATION, locations[series.lane]
        return self._definitions.metric_of(metric, recorder, scope, about)

    def _write_values(
        self, writer: int, times: Integers, metric: Integers, values: NDArray[np.float64]
    ) -> None:
        kind = ctypes.c_uint8(numbers.Type.DOUBLE)
        for low in range(0, len(times), _BLOCK):
            part = slice(low, low + _BLOCK)
            places = np.arange(len(times[part]))
            addresses = values.ctypes.data + 8 * (places + low)
            calls = Calls()
            one_value = (1, ctypes.addressof(kind), addresses)
            calls.add(
                self._library, places, "EvtWriter_Metric", writer, None, times[part], metric[part], *one_value
            )
            calls.run(self._library)


def _messages(views: list[View], ranks: dict[int, int], world: int) -> Messages:
    """Who sent each parcel, and who received it."""
    ends: list[list[tuple[NDArray[np.int64], int]]] = [[], []]
    for view in views:
        rank = ranks.get(-1 if view.process.rank is None else view.process.rank)
        for side, flows_by_lane in zip(ends, view.parcels, strict=True):
            for flows in flows_by_lane.values() if rank is not None else ():
                side.append((flows.numbers.astype(np.int64) - FIRST_PARCEL, rank or 0))
    count = max((int(parcels.max()) + 1 for side in ends for parcels, _ in side if len(parcels)), default=0)
    tables = [np.zeros(count, np.int64), np.zeros(count, np.int64)]
    for table, side in zip(tables, ends, strict=True):
        for parcels, rank in side:
            table[parcels] = rank
    return Messages(world, *tables)

"""Arrows between parts of tasks as columns: from which lane when, to which lane when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.readers.files import release_pages
from trimtab.traces import Trace
from trimtab.traces.arrows import Placed, edges_of
from trimtab.traces.columns import ordered

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """Arrows by when they begin; times in nanoseconds since the process began, lanes by their place among those given."""

    from_ns: Integers
    to_ns: Integers
    from_lane: Integers
    to_lane: Integers

    def pick(self, chosen: Any) -> Links:
        return Links(*(column[chosen] for column in vars(self).values()))

    def __len__(self) -> int:
        return len(self.from_ns)


def links_of(trace: Trace, lanes: tuple[int, ...]) -> Links:
    """All arrows of a process between these lanes: what was created, given and made ready, and where tasks went on."""
    edges = edges_of(trace.process)
    from_lane, from_ns = _ends(trace, edges.froms, lanes)
    to_lane, to_ns = _ends(trace, edges.tos, lanes)
    del edges
    is_known = (from_lane >= 0) & (to_lane >= 0)
    links = Links(from_ns, to_ns, from_lane, to_lane)
    links = links if is_known.all() else links.pick(is_known)
    return links.pick(ordered(links.from_ns, np.zeros(len(links), np.int64)))


def _ends(trace: Trace, events: Placed, lanes: tuple[int, ...]) -> tuple[Integers, Integers]:
    """Lane (-1: none of these) and time of these events."""
    lane_of, ticks = np.full(len(events), -1, np.int64), np.zeros(len(events), np.int64)
    start = int(trace.process.header["start_ticks"])
    by_id = {lane.id: lane for lane in trace.process.lanes}
    numbers = np.ascontiguousarray(events["lane"])
    for place, number in enumerate(lanes):
        own = np.flatnonzero(numbers == number)
        lane_of[own] = place
        ticks[own] = by_id[number].events["ticks"][events["at"][own]].astype(np.int64) - start
        release_pages(by_id[number].events)
    return lane_of, np.rint(np.maximum(ticks, 0) * trace.process.ns_per_tick).astype(np.int64)

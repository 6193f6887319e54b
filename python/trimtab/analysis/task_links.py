"""Arrows between parts of tasks as columns: from which lane when, to which lane when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.traces import Trace
from trimtab.traces.arrows import arrows_of

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
    arrows = arrows_of(trace.process)
    from_lane, from_ns = _ends(trace, arrows.leaving, arrows.count, lanes)
    to_lane, to_ns = _ends(trace, arrows.entering, arrows.count, lanes)
    known = np.flatnonzero((from_lane >= 0) & (to_lane >= 0))
    links = Links(from_ns[known], to_ns[known], from_lane[known], to_lane[known])
    return links.pick(np.argsort(links.from_ns, kind="stable"))


def _ends(trace: Trace, flows: Any, count: int, lanes: tuple[int, ...]) -> tuple[Integers, Integers]:
    """Lane (-1: none of these) and time of one end of each arrow, by the arrow's number."""
    place = {lane: at for at, lane in enumerate(lanes)}
    lane_of, at_ns = np.full(count, -1, np.int64), np.zeros(count, np.int64)
    start = int(trace.process.header["start_ticks"])
    for lane in trace.process.lanes:
        if lane.id not in flows or lane.id not in place:
            continue
        counts, numbers = flows[lane.id].at(np.arange(len(lane.events)))
        ticks = np.maximum(lane.events["ticks"].astype(np.int64) - start, 0)
        arrow = numbers.astype(np.int64) - 1
        lane_of[arrow] = place[lane.id]
        at_ns[arrow] = np.rint(np.repeat(ticks, counts) * trace.process.ns_per_tick).astype(np.int64)
    return lane_of, at_ns

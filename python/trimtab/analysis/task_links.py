"""Arrows between parts of tasks as columns: from which lane when, to which lane when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.traces import Trace
from trimtab.traces.arrows import Placed, pairs_of
from trimtab.traces.columns import ordered
from trimtab.traces.intervals.lookup import lookup

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
    columns = [[np.empty(0, np.int64)] for _ in range(4)]
    for _, froms, tos in pairs_of(trace.process):
        from_lane, to_lane = _lanes_of(froms, lanes), _lanes_of(tos, lanes)
        is_known = (from_lane >= 0) & (to_lane >= 0)
        for column, values in zip(
            columns, (_ns_of(froms, trace), _ns_of(tos, trace), from_lane, to_lane), strict=True
        ):
            column.append(values if is_known.all() else values[is_known])
        del froms, tos
    links = Links(*map(np.concatenate, columns))
    return links.pick(ordered(links.from_ns, np.zeros(len(links), np.int64)))


def _lanes_of(events: Placed, lanes: tuple[int, ...]) -> Integers:
    """Where the lane of each event is among `lanes`; -1: it is none of these."""
    numbers = events["lane"].astype(np.int64)
    return lookup(np.asarray(lanes, np.int64) + 1, numbers + 1)  # it takes numbers above 0


def _ns_of(events: Placed, trace: Trace) -> Integers:
    ticks = events["ticks"].astype(np.int64) - int(trace.process.header["start_ticks"])
    return np.rint(np.maximum(ticks, 0) * trace.process.ns_per_tick).astype(np.int64)

"""Concurrency over time: how many lanes worked in which region, per bin of time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Process

_BINS = 400
_MOST_SERIES = 12


def timeline(process: Process, wall_s: float, places: dict[int, Any]) -> dict[str, Any] | None:
    """Mean number of lanes at work per bin and region, from the events that are there; None without any.

    At profile level the flight recorder holds the last events only: `from_s` says from when on the bins count.
    """
    if wall_s <= 0:
        return None
    s = process.ns_per_tick * 1e-9
    start = int(process.header["start_ticks"])
    width = wall_s / _BINS
    busy: dict[int, NDArray[np.float64]] = {}
    is_partial, known_from = False, 0.0
    for lane in process.lanes:
        events = lane.events
        if lane.events_written > len(events) and len(events):
            is_partial = True
            known_from = max(known_from, (int(events["ticks"][0]) - start) * s)
        spans = events[(events["kind"] == 3) | (events["kind"] == 4)]
        begins, ends = _pairs(spans)
        for subject in np.unique(begins["subject"]):
            mine = begins["subject"] == subject
            lows = (begins["ticks"][mine].astype(np.int64) - start) * s
            highs = (ends["ticks"][mine].astype(np.int64) - start) * s
            busy.setdefault(int(subject), np.zeros(_BINS))
            busy[int(subject)] += _spread(lows, highs, width)
    if not busy:
        return None
    order = sorted(busy, key=lambda number: -float(busy[number].sum()))
    series = [
        {"name": places[number][0], "lanes": [round(float(v), 4) for v in busy[number] / width]}
        for number in order[:_MOST_SERIES]
    ]
    if len(order) > _MOST_SERIES:
        rest = np.sum([busy[number] for number in order[_MOST_SERIES:]], axis=0) / width
        series.append(
            {"name": f"{len(order) - _MOST_SERIES} others", "lanes": [round(float(v), 4) for v in rest]}
        )
    return {
        "t0_s": 0.0,
        "dt_s": width,
        "from_s": known_from,
        "series": series,
        "source": "flight recorder" if is_partial else "all events",
    }


def _pairs(events: Any) -> tuple[Any, Any]:
    """Begins and ends that belong together: a begin directly followed by the end of its instance."""
    if len(events) < 2:
        return events[:0], events[:0]
    first, second = events[:-1], events[1:]
    is_pair = (first["kind"] == 3) & (second["kind"] == 4) & (first["a"] == second["a"])
    return first[is_pair], second[is_pair]


def _spread(lows: Any, highs: Any, width: float) -> NDArray[np.float64]:
    """Seconds of the spans [low, high) that fall into each bin.

    Whole spans are added as a running sum of their starts and ends, so that the cost does not grow with length.
    """
    edges = np.arange(_BINS + 1) * width

    def covered(points: Any, at: Any) -> Any:
        # Sum over points p of max(at - p, 0), for every edge.
        ordered = np.sort(points)
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        below = np.searchsorted(ordered, at)
        return below * at - sums[below]

    total = covered(lows, edges) - covered(highs, edges)
    return np.maximum(np.diff(total), 0.0)

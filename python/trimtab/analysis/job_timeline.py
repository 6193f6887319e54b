"""Concurrency over time of a whole run: the timelines of its processes on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.timeline import ALL_EVENTS, BINS, FLIGHT_RECORDER, MOST_SERIES, rounded
from trimtab.model.report import Series, Timeline

Floats = NDArray[np.float64]


def job_timeline(timelines: Mapping[float, Sequence[Timeline]], wall_s: float) -> Timeline | None:
    """The sum of `timelines`, which are by when their process began; None without any.

    Each is spread over the bins of the whole run, which are longer. Series of the same name are one.
    """
    placed = [(begin, line) for begin, lines in timelines.items() for line in lines]
    if not placed or wall_s <= 0:
        return None
    width = wall_s / BINS
    series: dict[str, Floats] = {}
    waiting, eligible, ineligible = np.zeros(BINS), np.zeros(BINS), np.zeros(BINS)
    has_tasks = all(line.eligible for _, line in placed)
    for begin, line in placed:
        waiting += _spread(line.waiting, begin, line.dt_s, width)
        if has_tasks:
            eligible += _spread(line.eligible, begin, line.dt_s, width)
            ineligible += _spread(line.ineligible, begin, line.dt_s, width)
        for one_series in line.series:
            bins = series.setdefault(one_series.name, np.zeros(BINS))
            bins += _spread(one_series.lanes, begin, line.dt_s, width)
    partial = [begin + line.from_s for begin, line in placed if line.source == FLIGHT_RECORDER]
    return Timeline(
        t0_s=0.0,
        dt_s=width,
        from_s=max(partial, default=0.0),
        series=tuple(_longest(series, width)),
        waiting=rounded(waiting / width),
        source=FLIGHT_RECORDER if partial else ALL_EVENTS,
        eligible=rounded(eligible / width) if has_tasks else (),
        ineligible=rounded(ineligible / width) if has_tasks else (),
    )


def _spread(values: Sequence[float], begin: float, dt_s: float, width: float) -> Floats:
    """Lane seconds in each bin of the run, of mean numbers of lanes in the bins of a process that began at `begin`."""
    cumulated = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64) * dt_s)])
    edges = begin + np.arange(len(values) + 1) * dt_s
    return np.diff(np.interp(np.arange(BINS + 1) * width, edges, cumulated))


def _longest(series: Mapping[str, Floats], width: float) -> list[Series]:
    """Those with most lane time, and the sum of the others."""
    order = sorted(series, key=lambda name: -float(series[name].sum()))
    shown = [Series(name, rounded(series[name] / width)) for name in order[:MOST_SERIES]]
    rest = order[MOST_SERIES:]
    if rest:
        total = np.sum([series[name] for name in rest], axis=0) / width
        shown.append(Series(f"{len(rest)} others", rounded(total)))
    return shown

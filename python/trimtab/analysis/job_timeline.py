"""Concurrency over time of a whole run: the timelines of its processes on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.timeline import BINS, MOST_SERIES, rounded

Floats = NDArray[np.float64]


def job_timeline(timelines: Mapping[float, Sequence[dict[str, Any]]], wall_s: float) -> dict[str, Any] | None:
    """The sum of `timelines`, which are by when their process began; None without any.

    Each is spread over the bins of the whole run, which are longer. Series of the same name are one.
    """
    placed = [(begin, line) for begin, lines in timelines.items() for line in lines]
    if not placed or wall_s <= 0:
        return None
    width = wall_s / BINS
    series: dict[str, Floats] = {}
    waiting = np.zeros(BINS)
    for begin, line in placed:
        waiting += _spread(line["waiting"], begin, line["dt_s"], width)
        for each in line["series"]:
            into = series.setdefault(each["name"], np.zeros(BINS))
            into += _spread(each["lanes"], begin, line["dt_s"], width)
    partial = [begin + line["from_s"] for begin, line in placed if line["source"] == "flight recorder"]
    return {
        "t0_s": 0.0,
        "dt_s": width,
        "from_s": max(partial, default=0.0),
        "series": _longest(series, width),
        "waiting": rounded(waiting / width),
        "source": "flight recorder" if partial else "all events",
    }


def _spread(values: Sequence[float], begin: float, dt_s: float, width: float) -> Floats:
    """Lane seconds in each bin of the run, of mean numbers of lanes in the bins of a process that began at `begin`."""
    past = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64) * dt_s)])
    own = begin + np.arange(len(values) + 1) * dt_s
    return np.diff(np.interp(np.arange(BINS + 1) * width, own, past))


def _longest(series: Mapping[str, Floats], width: float) -> list[dict[str, Any]]:
    """Those with most lane time, and the sum of the others."""
    order = sorted(series, key=lambda name: -float(series[name].sum()))
    shown = [{"name": name, "lanes": rounded(series[name] / width)} for name in order[:MOST_SERIES]]
    rest = order[MOST_SERIES:]
    if rest:
        total = np.sum([series[name] for name in rest], axis=0) / width
        shown.append({"name": f"{len(rest)} others", "lanes": rounded(total)})
    return shown

"""Counters over time as lists of points, few enough for a page."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.samples import samples_of, seconds_of
from trimtab.analysis.traffic import is_of_flow
from trimtab.model import NO_LANE, Counter, Process, Records
from trimtab.model.report import CounterSeries

_MOST_POINTS = 1000
# Seconds. Counters of lanes are sampled lane by lane, each 40 ms or less often: sums need a common grid.
_GRID_S = 0.05

Floats = NDArray[np.float64]


def counters(process: Process, process_id: str, wall_s: float) -> list[CounterSeries]:
    """One series a counter: of a counter of lanes the sum over its lanes, on an even grid from 0 on.

    Counters of single flows of messages are left out, because there may be very many: the report's `network` has them.

    A lane's total grows evenly from its begin to its first sample and between samples, and stays at its last one.
    """
    summaries = []
    for number, counter in process.counters.items():
        if is_of_flow(counter.name):
            continue
        samples = samples_of(process, [number])
        if not len(samples):
            continue
        of_lanes = samples[samples["lane"] != NO_LANE]
        if len(of_lanes):
            times, values = _summed(of_lanes, process, counter.is_cumulative, wall_s)
        else:
            times, values = _thinned(seconds_of(process, samples["ticks"]), samples["value"])
        lanes = len(np.unique(of_lanes["lane"])) or None
        summaries.append(_series(process_id, counter, lanes, (times, values)))
    return summaries


def _series(
    process_id: str, counter: Counter, lanes: int | None, points: tuple[Floats, Floats]
) -> CounterSeries:
    times, values = points
    return CounterSeries(
        process=process_id,
        name=counter.name,
        unit=counter.unit,
        source=counter.source,
        is_cumulative=counter.is_cumulative,
        lanes=lanes,
        t_s=tuple(round(float(time), 9) for time in times),
        values=tuple(float(value) for value in values),
    )


def _thinned(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Every n-th point, and the last one: totals end where they ended."""
    step = -(-len(times) // _MOST_POINTS)
    chosen = np.arange(0, len(times), step)
    if chosen[-1] != len(times) - 1:
        chosen = np.append(chosen, len(times) - 1)
    return times[chosen], values[chosen]


def _summed(samples: Records, process: Process, is_cumulative: bool, wall_s: float) -> tuple[Floats, Floats]:
    ordered = samples[np.lexsort((samples["ticks"], samples["lane"]))]
    times = seconds_of(process, ordered["ticks"])
    begins = {lane.id: float(seconds_of(process, lane.header["start_ticks"])) for lane in process.lanes}
    end = max(wall_s, float(times.max()))
    grid = np.linspace(0.0, end, min(max(int(end / _GRID_S), 1), _MOST_POINTS - 1) + 1)
    total = np.zeros(len(grid))
    bounds = np.flatnonzero(np.diff(ordered["lane"])) + 1
    for own_times, own_values in zip(np.split(times, bounds), np.split(ordered, bounds), strict=True):
        if is_cumulative:
            begin = min(max(begins.get(int(own_values["lane"][0]), 0.0), 0.0), float(own_times[0]))
            total += np.interp(
                grid,
                np.concatenate([[begin], own_times]),
                np.concatenate([[0.0], own_values["value"]]),
                left=0.0,
            )
        else:
            total += np.concatenate([[0.0], own_values["value"]])[
                np.searchsorted(own_times, grid, side="right")
            ]
    return grid, total

"""Short regions whose members were timed in a sample of instances only: what the sample says of all of them.

Of such a region the number of instances is exact, and so is their wall, unless the program was steered: then most of
them are only counted. What its members did in the instances that were not timed is estimated from those of the sample
(docs/reference/metrics.md, "Short regions").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trimtab.model import (
    METRICS,
    NO_SUBJECT,
    ROWS_SAMPLE,
    ROWS_UNTIMED,
    STATIC_SCHEDULES,
    WAIT_REDUCTION,
    Process,
    Records,
)
from trimtab.model.enumerations import LoopFields, RegionFields, TeamFields

Key = tuple[int, int]


@dataclass(frozen=True)
class _Factors:
    """What the sample's figures are multiplied by: occurrences, work, and each thread's whole time."""

    count: float
    work: float
    time: float


def scale_samples(process: Process) -> Process:
    """The process with the sample's rows standing for the untimed instances, too, and their wall in the parallel time."""
    if not any((_rows_of(lane.rows, "region")["flags"] == ROWS_UNTIMED).any() for lane in process.lanes):
        return process
    untimed_ticks = 0
    lanes = []
    for lane in process.lanes:
        rows = np.array(lane.rows)
        for row in rows:
            if row["what"] == METRICS["region"] and row["flags"] == ROWS_UNTIMED:
                _stretch_wall(row)
        regions = _rows_of(rows, "region")
        untimed_ticks += int(regions["sum"][regions["flags"] == ROWS_UNTIMED].sum(dtype=float))
        for key, factors in _factors(regions).items():
            _stretch(rows, key, factors)
        lanes.append(replace(lane, rows=rows))
    passages = _passages(process)
    for lane in lanes:
        for row in lane.rows:
            # Those are in timed instances only.
            if row["what"] == METRICS["loop"] and row["flags"] in STATIC_SCHEDULES:
                _stretch_loop(row, passages.get(int(row["in_region"]), 1.0))
            elif row["what"] == METRICS["wait"] and row["flags"] == WAIT_REDUCTION:
                _stretch_wait(row, passages.get(int(row["in_region"]), 1.0))
    ticks = int(process.header["parallel_ticks"]) + untimed_ticks
    return replace(process, lanes=tuple(lanes), header={**process.header, "parallel_ticks": ticks})


def _rows_of(rows: Records, metric: str) -> Records:
    metric_rows: Records = rows[rows["what"] == METRICS[metric]]
    return metric_rows


def _factors(regions: Records) -> dict[Key, _Factors]:
    factors = {}
    for row in regions[regions["flags"] == ROWS_UNTIMED]:
        key = (int(row["subject"]), int(row["in_region"]))
        is_same_place = (regions["subject"] == key[0]) & (regions["in_region"] == key[1])
        sample = regions[is_same_place & (regions["flags"] == ROWS_SAMPLE)]
        count, time = float(sample["count"].sum(dtype=float)), float(sample["sum"].sum(dtype=float))
        if count > 0 and time > 0:
            by_count = 1.0 + float(row["count"]) / count
            by_time = 1.0 + float(row["sum"]) / time
            # Timing makes an instance longer, but not its work. Where the untimed ones were longer nevertheless,
            # something else happened in them: to work and waits alike, as far as is known.
            factors[key] = _Factors(by_count, max(by_count, by_time), by_time)
    return factors


def _stretch(rows: Records, key: Key, factors: _Factors) -> None:
    """Of the sample's rows about region `key`, in place."""
    for row in rows:
        if row["flags"] != ROWS_SAMPLE or (int(row["subject"]), int(row["in_region"])) != key:
            continue
        if row["what"] == METRICS["region"]:
            row["x"][RegionFields.SLOWEST_WORK] = _times(row["x"][RegionFields.SLOWEST_WORK], factors.work)
            row["x"][RegionFields.MEAN_WORK] = _times(row["x"][RegionFields.MEAN_WORK], factors.work)
        elif row["what"] == METRICS["team"]:
            _stretch_team(row, factors)


def _stretch_team(row: Any, factors: _Factors) -> None:
    """What is not work is what is left of the lane's time."""
    others = (
        float(row["x"][TeamFields.JOIN_WAIT])
        + float(row["x"][TeamFields.ARRIVAL])
        + float(row["x"][TeamFields.INNER_WAIT])
    )
    total = (float(row["sum"]) + others) * factors.time
    work = min(float(row["sum"]) * factors.work, total)
    rest = (total - work) / others if others > 0 else 0.0
    row["sum"] = _whole(work)
    for column in TeamFields:
        row["x"][column] = _times(row["x"][column], rest)
    row["count"] = _times(row["count"], factors.count)


def stands_for(row: Any) -> float:
    """Instances of a row of untimed ones for each whose fork and join were timed."""
    return float(row["count"]) / float(row["timed"]) if 0 < row["timed"] < row["count"] else 1.0


def _stretch_wall(row: Any) -> None:
    """Of instances some of which were only counted: those are taken to have been like the others."""
    factor = stands_for(row)
    row["sum"] = _times(row["sum"], factor)
    row["histogram"] = np.minimum(np.rint(row["histogram"] * factor), 2**32 - 1)


def _stretch_loop(row: Any, factor: float) -> None:
    """Executions, their time, iterations and chunks; how many of them were timed stays."""
    row["count"] = _times(row["count"], factor)
    row["sum"] = _times(row["sum"], factor)
    for column in (LoopFields.ITERATIONS, LoopFields.CHUNKS):
        row["x"][column] = _times(row["x"][column], factor)


def _stretch_wait(row: Any, factor: float) -> None:
    """Passages and their time; how many of them were timed stays."""
    row["count"] = _times(row["count"], factor)
    row["sum"] = _times(row["sum"], factor)


def _times(value: Any, factor: float) -> int:
    return _whole(float(value) * factor)


def _whole(value: float) -> int:
    """What fits into a row, whatever a damaged file had in it."""
    return round(min(value, 2.0**62))


def _passages(process: Process) -> dict[int, float]:
    """Instances of each outermost region that has untimed ones, for every one that was timed in full."""
    all_instances: dict[int, float] = {}
    timed: dict[int, float] = {}
    for lane in process.lanes:
        for row in _rows_of(lane.rows, "region"):
            if row["in_region"] != NO_SUBJECT:
                continue
            number = int(row["subject"])
            all_instances[number] = all_instances.get(number, 0.0) + float(row["count"])
            if row["flags"] != ROWS_UNTIMED:
                timed[number] = timed.get(number, 0.0) + float(row["count"])
    return {number: all_instances[number] / timed[number] for number in timed if timed[number] > 0}

"""Stages as regions, and their tasks over time: what the page and the comparison of runs show of every program."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.model.report import (
    Bucket,
    Region,
    RegionLane,
    RegionPart,
    RegionSpread,
    Series,
    Spread,
    Timeline,
)
from trimtab.spark.application import Application
from trimtab.spark.attribution import Attribution
from trimtab.spark.slots import Integers, Slots
from trimtab.spark.sweep import Numbers, counts, integral

_BINS = 240
_MOST_SERIES = 12
_BUCKET_BASE = 2.0


def regions_of(application: Application, slots: Slots, attribution: Attribution) -> tuple[Region, ...]:
    """A row a stage, most wall time first; times without tasks are waits of the lanes that the stage is to blame for."""
    occupied = (slots.until - application.tasks["begin"]) * 1e-3
    idle = attribution.idle_by_stage.sum(axis=1) * 1e-3
    rows = [
        _region(
            application,
            slots,
            at,
            np.flatnonzero(application.tasks["stage"] == at),
            occupied,
            float(idle[at]),
        )
        for at in range(len(application.stages))
    ]
    return tuple(sorted(rows, key=lambda row: -row.wall_s))


def _region(
    application: Application, slots: Slots, at: int, own: Integers, occupied: Numbers, idle: float
) -> Region:
    stage, tasks = application.stages[at], application.tasks
    numbers = np.arange(len(slots.executor)) - np.searchsorted(
        np.sort(slots.executor), np.sort(slots.executor)
    )
    place_of_slot = np.empty(len(slots.executor), np.int64)
    place_of_slot[np.argsort(slots.executor, kind="stable")] = numbers
    used = np.unique(slots.slot[own])
    work = np.bincount(slots.slot[own], occupied[own], minlength=len(slots.executor)).astype(float)
    calls = np.bincount(slots.slot[own], minlength=len(slots.executor))
    names = [f"executor {application.executors[slots.executor[slot]].id}" for slot in used]
    submitted = stage.submitted if stage.submitted is not None else int(tasks["begin"][own].min(initial=0))
    completed = (
        stage.completed if stage.completed is not None else int(tasks["end"][own].max(initial=submitted))
    )
    wall = max(completed - submitted, 0) * 1e-3
    busy = work[used]
    place, _, line = (stage.place or stage.name).rpartition(":")
    file = place.rpartition(" at ")[2]
    figures: dict[str, Any] = {
        "calls": 1,
        "threads": len(used),
        "wall_s": wall,
        "work_s": float(busy.sum()),
        "wait_s": idle,
        "arrival_s": 0.0,
        "imbalance": float(busy.max() / busy.mean()) if len(busy) and busy.mean() > 0 else None,
    }
    executors = dict.fromkeys(names)
    return Region(
        key=stage.key,
        name=stage.label,
        file=file if line.isdecimal() and file else None,
        line=int(line) if line.isdecimal() and len(line) < 9 else None,
        function=None,
        runtime="Spark",
        nested=False,
        **figures,
        critical_path_s=float(busy.max(initial=0.0)),
        mean_work_s=float(busy.mean()) if len(busy) else 0.0,
        schedule=None,
        chunk=None,
        iterations=stage.tasks,
        constructs=("stage",),
        loops=(),
        waits={},
        lock_wait_s=0.0,
        lock_held_s=0.0,
        lanes=tuple(
            RegionLane(name, int(place_of_slot[slot]), int(calls[slot]), float(work[slot]), 0.0, 0.0)
            for name, slot in zip(names, used, strict=True)
        ),
        histogram=_histogram(occupied[own]),
        processes=tuple(_part(name, names, busy, wall) for name in executors),
        spread=_spread(names, busy, wall, len(executors)),
    )


def _histogram(durations: Numbers) -> tuple[Bucket, ...]:
    """Tasks by their length, in powers of two."""
    if not len(durations):
        return ()
    powers = np.ceil(np.log2(np.maximum(durations * 1e9, 1))).astype(int)
    return tuple(
        Bucket(float(_BUCKET_BASE**power), int(count))
        for power, count in zip(*np.unique(powers, return_counts=True), strict=True)
    )


def _part(name: str, names: list[str], busy: Numbers, wall: float) -> RegionPart:
    own = busy[[each == name for each in names]]
    imbalance = float(own.max() / own.mean()) if own.mean() > 0 else None
    return RegionPart(name, 1, len(own), wall, float(own.sum()), 0.0, 0.0, imbalance)


def _spread(names: list[str], busy: Numbers, wall: float, executors: int) -> RegionSpread:
    by_name: dict[str, float] = {}
    for name, value in zip(names, busy.tolist(), strict=True):
        by_name[name] = by_name.get(name, 0.0) + value
    work = sorted(by_name.values()) or [0.0]
    same, none = Spread(wall, wall, wall), Spread(0.0, 0.0, 0.0)
    calls = Spread(1.0, 1.0, 1.0) if executors else none
    return RegionSpread(calls, same, Spread(work[0], float(np.median(work)), work[-1]), none)


def timeline_of(application: Application, slots: Slots) -> Timeline | None:
    """How many slots had a task of which stage, and how many none."""
    if not len(application.tasks) or application.end <= 0:
        return None
    bins = np.linspace(0, application.end, _BINS + 1)
    width = application.end / _BINS
    core_time = np.bincount(application.tasks["stage"], slots.until - application.tasks["begin"])
    shown = [int(at) for at in np.argsort(-core_time)[:_MOST_SERIES] if core_time[at] > 0]
    stage = application.tasks["stage"]
    series = [
        Series(
            application.stages[at].label, tuple(_mean(application, slots, stage == at, bins, width).tolist())
        )
        for at in shown
    ]
    rest = ~np.isin(stage, shown)
    if rest.any():
        series.append(Series("other stages", tuple(_mean(application, slots, rest, bins, width).tolist())))
    everything = np.ones(len(stage), bool)
    there = _binned(slots.added, slots.end, bins, width)
    waiting = np.maximum(there - _mean(application, slots, everything, bins, width), 0.0)
    return Timeline(0.0, width * 1e-3, 0.0, tuple(series), tuple(waiting.tolist()), "all events", (), ())


def _mean(application: Application, slots: Slots, chosen: Any, bins: Numbers, width: float) -> Numbers:
    return _binned(application.tasks["begin"][chosen], slots.until[chosen], bins, width)


def _binned(begins: Integers, ends: Integers, bins: Numbers, width: float) -> Numbers:
    times = np.unique(np.concatenate([begins, ends, [0, int(np.ceil(bins[-1]))]]))
    whole = integral(times, counts(times, begins, ends))
    mean: Numbers = np.diff(np.interp(bins, times, whole)) / width
    return np.maximum(mean, 0.0)

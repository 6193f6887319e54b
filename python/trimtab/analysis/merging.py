"""Tables of several processes as one: entries of the same place are added up, and say how far the processes differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from trimtab.analysis.regions import spread_of
from trimtab.model.report import Bucket, Loop, Region, Scope, TaskKind


class _Entry(Protocol):
    @property
    def key(self) -> str: ...


_Keyed = TypeVar("_Keyed", bound=_Entry)
_Tally = TypeVar("_Tally", TaskKind, Scope)

_SUMMED = (
    *("calls", "wall_s", "work_s", "wait_s", "arrival_s"),
    *("critical_path_s", "mean_work_s", "lock_wait_s", "lock_held_s"),
)
_LOOP_SUMS = ("executed", "chunks", "executions")


def merge_regions(tables: Iterable[Sequence[Region]]) -> list[Region]:
    """One entry a region, most wall time first; times are sums over the processes."""
    merged = [_merged_region(entries) for entries in _by_key(tables)]
    return sorted(merged, key=lambda region: -region.wall_s)


def merge_tasks(tables: Iterable[Sequence[TaskKind]]) -> list[TaskKind]:
    """One entry a kind of task, most time first."""
    merged = [_merged_task(entries) for entries in _by_key(tables)]
    return sorted(merged, key=lambda task: -(task.total_s or 0.0))


def merge_scopes(tables: Iterable[Sequence[Scope]]) -> list[Scope]:
    """One entry a scope, in the order in which they were met first."""
    return [_merged_tally(entries) for entries in _by_key(tables)]


def _by_key(tables: Iterable[Sequence[_Keyed]]) -> Iterable[list[_Keyed]]:
    by_key: dict[str, list[_Keyed]] = {}
    for table in tables:
        for entry in table:
            by_key.setdefault(entry.key, []).append(entry)
    return by_key.values()


def _merged_region(regions: Sequence[Region]) -> Region:
    if len(regions) == 1:
        return regions[0]
    largest = max(regions, key=lambda region: region.wall_s)
    parts = [part for region in regions for part in region.processes]
    sums = _sums(regions, _SUMMED)
    mean = sums["mean_work_s"]
    return replace(
        largest,
        **sums,
        threads=max(region.threads for region in regions),
        nested=all(region.nested for region in regions),
        imbalance=sums["critical_path_s"] / mean if mean else None,
        constructs=tuple(sorted({construct for region in regions for construct in region.constructs})),
        loops=_merged_loops(regions),
        waits=_summed_by_name(region.waits for region in regions),
        lanes=tuple(lane for region in regions for lane in region.lanes),
        histogram=_merged_histogram([region.histogram for region in regions]),
        processes=tuple(parts),
        spread=spread_of(parts),
    )


def _sums(entries: Sequence[object], names: Iterable[str]) -> dict[str, Any]:
    return {name: sum(getattr(entry, name) for entry in entries) for name in names}


def _merged_loops(regions: Sequence[Region]) -> tuple[Loop, ...]:
    by_schedule: dict[tuple[str, str | None], list[Loop]] = {}
    for loop in (loop for region in regions for loop in region.loops):
        by_schedule.setdefault((loop.key, loop.schedule), []).append(loop)
    return tuple(replace(loops[0], **_sums(loops, _LOOP_SUMS)) for loops in by_schedule.values())


def _summed_by_name(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    waits: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            waits[name] = waits.get(name, 0.0) + value
    return waits


def _merged_histogram(parts: Sequence[tuple[Bucket, ...]]) -> tuple[Bucket, ...]:
    """On the bounds of the first process. Clocks have ticks of slightly different lengths, and so have bounds."""
    filled = [part for part in parts if part]
    if not filled:
        return ()
    unit = filled[0][0].le_ns
    counts: dict[int, int] = {}
    for bucket in (bucket for part in filled for bucket in part):
        place = round(math.log2(bucket.le_ns / unit))
        counts[place] = counts.get(place, 0) + bucket.count
    return tuple(
        Bucket(unit * 2.0**place, counts.get(place, 0)) for place in range(min(counts), max(counts) + 1)
    )


def _merged_task(tasks: Sequence[TaskKind]) -> TaskKind:
    if len(tasks) == 1:
        return tasks[0]
    lengths = [task.longest_s for task in tasks if task.longest_s is not None]
    return replace(
        _merged_tally(tasks),
        longest_s=max(lengths, default=None),
        includes_inner=any(task.includes_inner for task in tasks),
        **_sums(tasks, ("created", "suspended", "suspended_s")),
    )


def _merged_tally(entries: Sequence[_Tally]) -> _Tally:
    """Counts and times; the mean is over those whose time is known."""
    if len(entries) == 1:
        return entries[0]
    timed = [(entry.total_s, entry.count) for entry in entries if entry.total_s is not None]
    total, count = sum(total for total, _ in timed), sum(count for _, count in timed)
    return replace(
        entries[0],
        **_sums(entries, ("count", "timed")),
        total_s=total if timed else None,
        mean_s=total / count if count else None,
        processes=tuple(process for entry in entries for process in entry.processes),
    )

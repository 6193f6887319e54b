"""Tables of several processes as one: entries of the same place are added up, and say how far the processes differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

Entry = dict[str, Any]
# The table of each process, by the process's id.
Tables = Mapping[str, Sequence[Entry]]

_SUMMED = (
    *("calls", "wall_s", "work_s", "wait_s", "arrival_s"),
    *("critical_path_s", "mean_work_s", "lock_wait_s", "lock_held_s"),
)
# What an entry tells of each process, and how far the processes differ in it.
_BY_PROCESS = ("calls", "threads", "wall_s", "work_s", "wait_s", "arrival_s", "imbalance")
_SPREAD = ("calls", "wall_s", "work_s", "wait_s")


def merge_regions(tables: Tables) -> list[Entry]:
    """One entry a region, most wall time first; times are sums over the processes."""
    merged = [_merged_region(each) for each in _by_key(tables).values()]
    return sorted(merged, key=lambda entry: -float(entry["wall_s"]))


def merge_tasks(tables: Tables) -> list[Entry]:
    """One entry a kind of task, most time first."""
    merged = [_merged_task(each) for each in _by_key(tables).values()]
    return sorted(merged, key=lambda entry: -float(entry["total_s"] or 0.0))


def merge_scopes(tables: Tables) -> list[Entry]:
    """One entry a scope, in the order in which they were met first."""
    return [_merged_scope(each) for each in _by_key(tables).values()]


def _by_key(tables: Tables) -> dict[str, dict[str, Entry]]:
    found: dict[str, dict[str, Entry]] = {}
    for process, table in tables.items():
        for entry in table:
            found.setdefault(entry["key"], {})[process] = entry
    return found


def _merged_region(parts: dict[str, Entry]) -> Entry:
    most = max(parts.values(), key=lambda entry: float(entry["wall_s"]))
    merged = dict(most) if len(parts) == 1 else {**most, **_sums_of_regions(list(parts.values()))}
    merged["lanes"] = [
        {"process": process, **lane} for process, entry in parts.items() for lane in entry["lanes"]
    ]
    merged["processes"] = [
        {"process": process, **{name: entry[name] for name in _BY_PROCESS}}
        for process, entry in parts.items()
    ]
    merged["spread"] = {name: spread_of([entry[name] for entry in parts.values()]) for name in _SPREAD}
    return merged


def spread_of(values: Sequence[float]) -> dict[str, float]:
    """The least, the median and the greatest of a figure over the processes."""
    return {"least": min(values), "median": median(values), "most": max(values)}


def _sums_of_regions(entries: Sequence[Entry]) -> Entry:
    sums: Entry = {name: sum(entry[name] for entry in entries) for name in _SUMMED}
    mean = sums["mean_work_s"]
    return {
        **sums,
        "threads": max(entry["threads"] for entry in entries),
        "nested": all(entry["nested"] for entry in entries),
        "imbalance": sums["critical_path_s"] / mean if mean else None,
        "constructs": sorted({construct for entry in entries for construct in entry["constructs"]}),
        "loops": _merged_loops(entries),
        "waits": _summed_by_name(entry["waits"] for entry in entries),
        "histogram": _merged_histogram([entry["histogram"] for entry in entries]),
    }


def _merged_loops(entries: Sequence[Entry]) -> list[Entry]:
    found: dict[tuple[str, str | None], Entry] = {}
    for loop in (loop for entry in entries for loop in entry["loops"]):
        same = found.setdefault((loop["key"], loop["schedule"]), {**loop, **dict.fromkeys(_LOOP_SUMS, 0)})
        for name in _LOOP_SUMS:
            same[name] += loop[name]
    return list(found.values())


_LOOP_SUMS = ("executed", "chunks", "executions")


def _summed_by_name(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            found[name] = found.get(name, 0.0) + value
    return found


def _merged_histogram(parts: Sequence[list[Entry]]) -> list[Entry]:
    """On the bounds of the first process. Clocks have ticks of slightly different lengths, and so have bounds."""
    filled = [part for part in parts if part]
    if not filled:
        return []
    unit = float(filled[0][0]["le_ns"])
    counts: dict[int, int] = {}
    for bucket in (bucket for part in filled for bucket in part):
        at = round(math.log2(float(bucket["le_ns"]) / unit))
        counts[at] = counts.get(at, 0) + int(bucket["count"])
    return [
        {"le_ns": unit * 2.0**at, "count": counts.get(at, 0)} for at in range(min(counts), max(counts) + 1)
    ]


def _merged_task(parts: dict[str, Entry]) -> Entry:
    return _merged_tally(parts, _sums_of_tasks)


def _merged_scope(parts: dict[str, Entry]) -> Entry:
    return _merged_tally(parts, _sums_of_tallies)


def _merged_tally(parts: dict[str, Entry], sums_of: Callable[[Sequence[Entry]], Entry]) -> Entry:
    entries = list(parts.values())
    merged = {**entries[0], **(sums_of(entries) if len(entries) > 1 else {})}
    return {**merged, "processes": list(parts)}


def _sums_of_tallies(entries: Sequence[Entry]) -> Entry:
    """Of counts and times; the mean is over those whose time is known."""
    known = [entry for entry in entries if entry["total_s"] is not None]
    total, count = sum(entry["total_s"] for entry in known), sum(entry["count"] for entry in known)
    return {
        "count": sum(entry["count"] for entry in entries),
        "timed": sum(entry["timed"] for entry in entries),
        "total_s": total if known else None,
        "mean_s": total / count if count else None,
    }


def _sums_of_tasks(entries: Sequence[Entry]) -> Entry:
    lengths = [entry["longest_s"] for entry in entries if entry["longest_s"] is not None]
    return {
        **_sums_of_tallies(entries),
        "longest_s": max(lengths, default=None),
        "includes_inner": any(entry["includes_inner"] for entry in entries),
        **{name: sum(entry[name] for entry in entries) for name in ("created", "suspended", "suspended_s")},
    }

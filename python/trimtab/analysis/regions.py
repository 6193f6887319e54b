"""The table of regions: per region and lane what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from trimtab.analysis.account import known
from trimtab.model import METRICS, NO_SUBJECT, SCHEDULES, WAITS, Process
from trimtab.model.enumerations import LockFields, LoopFields, RegionFields, Schedule, TeamFields
from trimtab.symbols import Place, Symbols, label
from trimtab.traces import rows_of


class Places(dict[int, tuple[str, Place]]):
    """Label and place of every subject; of one that names.tt lost (a full disk), its number."""

    def __missing__(self, number: int) -> tuple[str, Place]:
        return f"subject {number}", Place()


def places_of(process: Process, symbols: Symbols) -> Places:
    """Label and place of every subject."""
    found = Places()
    for number, subject in process.subjects.items():
        place = symbols.place(process, subject)
        found[number] = (label(process, subject, place), place)
    return found


def _loops(process: Process) -> dict[int, list[dict[str, Any]]]:
    """Loops by the region they are in: schedule, chunk, iterations of one instance, executions."""
    merged: dict[tuple[int, int, int], dict[str, Any]] = {}
    for row in rows_of(process, "loop"):
        key = (int(row["in_region"]), int(row["subject"]), int(row["flags"]))
        entry = merged.setdefault(
            key,
            {
                "subject": key[1],
                "kind": key[2],
                "count": 0,
                "all_counts": 0,
                "taken": 0,
                "chunks": 0,
                "chunk": 0,
                "trip": None,
                "ticks": 0,
            },
        )
        entry["count"] = max(entry["count"], int(row["count"]))
        entry["all_counts"] += int(row["count"])
        entry["taken"] += int(row["x"][LoopFields.ITERATIONS])
        entry["chunks"] += int(row["x"][LoopFields.CHUNKS])
        entry["chunk"] = int(row["x"][LoopFields.CHUNK_SIZE])
        entry["trip"] = known(int(row["x"][LoopFields.TRIP_COUNT]))
        entry["ticks"] += int(row["sum"])
    grouped: dict[int, list[dict[str, Any]]] = {}
    for (region, _, _), entry in merged.items():
        grouped.setdefault(region, []).append(entry)
    return grouped


def _executions(loop: dict[str, Any], calls: int, members: int, forkers: int) -> int:
    """How often teams executed the loop; `members`: of the region's teams, over all its calls.

    The thread that forks a region is in all its teams. Where several threads fork it (nested regions, threads of the
    program's own), none is: then each execution is counted by as many members as a team has in the mean.
    """
    if forkers < 2 or members == 0:
        return int(loop["count"])
    return round(int(loop["all_counts"]) * calls / members)


def _forkers(process: Process) -> Counter[int]:
    """How many lanes forked each region."""
    what = METRICS["region"]
    lanes = ({int(row["subject"]) for row in lane.rows[lane.rows["what"] == what]} for lane in process.lanes)
    return Counter(subject for subjects in lanes for subject in subjects)


def region_table(process: Process, places: Places, keys: Mapping[int, str]) -> list[dict[str, Any]]:
    """One entry per region, most wall time first; times in seconds."""
    s = process.ns_per_tick * 1e-9
    region_rows, team_rows = rows_of(process, "region"), rows_of(process, "team")
    waits, locks = rows_of(process, "wait"), rows_of(process, "lock")
    loops, forkers = _loops(process), _forkers(process)
    table: list[dict[str, Any]] = []
    for number in sorted({int(n) for n in region_rows["subject"]}) if len(region_rows) else []:
        mine = region_rows[region_rows["subject"] == number]
        teams = team_rows[team_rows["subject"] == number]
        calls = int(mine["count"].sum())
        name, place = places[number]
        subject = process.subjects.get(number)
        mean = float(mine["x"][:, RegionFields.MEAN_WORK].sum())
        inside = loops.get(number, [])
        main_loop = max(
            inside,
            key=lambda entry: (entry["kind"] != Schedule.STATIC_INFERRED, entry["ticks"]),
            default=None,
        )
        table.append(
            {
                "key": keys[number],
                "name": name,
                "file": place.file or None,
                "line": place.line or None,
                "function": place.function or None,
                "runtime": process.runtimes.get(subject.runtime if subject else 0, (None, None))[0],
                "nested": bool((mine["in_region"] != NO_SUBJECT).all()),
                "calls": calls,
                "threads": int(mine["x"][:, RegionFields.MOST_THREADS].max()),
                "wall_s": float(mine["sum"].sum()) * s,
                "work_s": float(teams["sum"].sum()) * s,
                "wait_s": float(
                    teams["x"][:, TeamFields.JOIN_WAIT].sum() + teams["x"][:, TeamFields.INNER_WAIT].sum()
                )
                * s,
                "arrival_s": float(teams["x"][:, TeamFields.ARRIVAL].sum()) * s,
                "imbalance": float(mine["x"][:, RegionFields.SLOWEST_WORK].sum()) / mean if mean else None,
                "critical_path_s": float(mine["x"][:, RegionFields.SLOWEST_WORK].sum()) * s,
                "mean_work_s": mean * s,
                "schedule": SCHEDULES.get(main_loop["kind"]) if main_loop else None,
                "chunk": (main_loop["chunk"] or None) if main_loop else None,
                "iterations": main_loop["trip"] if main_loop else None,
                "constructs": _constructs(process, number),
                "loops": [
                    {
                        "key": keys[entry["subject"]],
                        "name": places[entry["subject"]][0],
                        "schedule": SCHEDULES.get(entry["kind"]),
                        "chunk": entry["chunk"] or None,
                        "iterations": entry["trip"],
                        "executed": entry["taken"],
                        "chunks": entry["chunks"],
                        "executions": _executions(
                            entry, calls, int(mine["x"][:, RegionFields.THREADS].sum()), forkers[number]
                        ),
                    }
                    for entry in inside
                ],
                "waits": _waits(waits, number, s),
                "lock_wait_s": float(locks["sum"][locks["in_region"] == number].sum()) * s
                if len(locks)
                else 0.0,
                "lock_held_s": float(locks["x"][locks["in_region"] == number][:, LockFields.HELD].sum()) * s
                if len(locks)
                else 0.0,
                "lanes": _lanes(teams, s),
                "histogram": _histogram(mine, process.ns_per_tick),
            }
        )
    table.sort(key=lambda entry: -entry["wall_s"])
    return table


def _constructs(process: Process, region: int) -> list[str]:
    """Kinds of what lies directly in a region: loops, tasks, other regions, ..."""
    return sorted({subject.kind for subject in process.subjects.values() if subject.parent == region})


def _waits(waits: Any, region: int, s: float) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in waits[waits["in_region"] == region] if len(waits) else []:
        kind = WAITS.get(int(row["flags"]), "other")
        found[kind] = found.get(kind, 0.0) + float(row["sum"]) * s
    return found


def _lanes(teams: Any, s: float) -> list[dict[str, Any]]:
    found = []
    for lane in sorted({int(n) for n in teams["about"]}):
        mine = teams[teams["about"] == lane]
        found.append(
            {
                "lane": lane,
                "calls": int(mine["count"].sum()),
                "work_s": float(mine["sum"].sum()) * s,
                "wait_s": float(
                    mine["x"][:, TeamFields.JOIN_WAIT].sum() + mine["x"][:, TeamFields.INNER_WAIT].sum()
                )
                * s,
                "arrival_s": float(mine["x"][:, TeamFields.ARRIVAL].sum()) * s,
            }
        )
    return found


def _histogram(rows: Any, ns_per_tick: float) -> list[dict[str, Any]]:
    counts = rows["histogram"].sum(axis=0)
    filled = np.nonzero(counts)[0]
    if not len(filled):
        return []
    return [
        {"le_ns": (2**bucket) * ns_per_tick, "count": int(counts[bucket])}
        for bucket in range(int(filled[0]), int(filled[-1]) + 1)
    ]

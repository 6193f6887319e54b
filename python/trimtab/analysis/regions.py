"""The table of regions: per region and lane what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from trimtab.analysis.account import value_or_none
from trimtab.model import METRICS, NO_SUBJECT, SCHEDULES, WAITS, Process, Records
from trimtab.model.enumerations import LockFields, LoopFields, RegionFields, Schedule, TeamFields
from trimtab.model.report import Bucket, Loop, Region, RegionLane, RegionPart, RegionSpread, Spread
from trimtab.symbols import Place, Symbols, label
from trimtab.traces import rows_of


class Places(dict[int, tuple[str, Place]]):
    """Label and place of every subject; of one that names.tt lost (a full disk), its number."""

    def __missing__(self, number: int) -> tuple[str, Place]:
        return f"subject {number}", Place()


def places_of(process: Process, symbols: Symbols) -> Places:
    """Label and place of every subject."""
    places = Places()
    for number, subject in process.subjects.items():
        place = symbols.place(process, subject)
        places[number] = (label(process, subject, place), place)
    return places


@dataclass
class _LoopSums:
    """Sums over all lanes for one loop in one region, for each schedule that it had."""

    subject: int
    schedule: int
    most_executions: int = 0
    executions: int = 0
    iterations: int = 0
    chunks: int = 0
    chunk_size: int = 0
    trip_count: int | None = None
    ticks: int = 0

    def add(self, row: Any) -> None:
        """One row of metric loop."""
        self.most_executions = max(self.most_executions, int(row["count"]))
        self.executions += int(row["count"])
        self.iterations += int(row["x"][LoopFields.ITERATIONS])
        self.chunks += int(row["x"][LoopFields.CHUNKS])
        self.chunk_size = int(row["x"][LoopFields.CHUNK_SIZE])
        self.trip_count = value_or_none(int(row["x"][LoopFields.TRIP_COUNT]))
        self.ticks += int(row["sum"])

    def executions_of_teams(self, calls: int, members: int, forkers: int) -> int:
        """How often teams executed the loop; `members`: of the region's teams, over all its calls.

        The thread that forks a region is in all its teams. Where several threads fork it (nested regions, threads of the
        program's own), none is: then each execution is counted by as many members as a team has in the mean.
        """
        if forkers < 2 or members == 0:
            return self.most_executions
        return round(self.executions * calls / members)


def _loops(process: Process) -> dict[int, list[_LoopSums]]:
    """Loops by the region that they are in."""
    merged: dict[tuple[int, int, int], _LoopSums] = {}
    for row in rows_of(process, "loop"):
        key = (int(row["in_region"]), int(row["subject"]), int(row["flags"]))
        merged.setdefault(key, _LoopSums(*key[1:])).add(row)
    grouped: dict[int, list[_LoopSums]] = {}
    for (region, _, _), sums in merged.items():
        grouped.setdefault(region, []).append(sums)
    return grouped


def _forkers(process: Process) -> Counter[int]:
    """How many lanes forked each region."""
    metric = METRICS["region"]
    lanes = (
        {int(row["subject"]) for row in lane.rows[lane.rows["what"] == metric]} for lane in process.lanes
    )
    return Counter(subject for subjects in lanes for subject in subjects)


@dataclass(frozen=True)
class _Rows:
    """What the table of a process's regions is made from."""

    process: Process
    id: str
    places: Places
    keys: Mapping[int, str]
    regions: Records
    teams: Records
    waits: Records
    locks: Records
    loops: Mapping[int, list[_LoopSums]]
    forkers: Counter[int]

    @property
    def tick_s(self) -> float:
        """Length of a tick, seconds."""
        return self.process.tick_s


def region_table(process: Process, process_id: str, places: Places, keys: Mapping[int, str]) -> list[Region]:
    """One entry per region, most wall time first; times in seconds."""
    regions, teams, waits, locks = (
        rows_of(process, metric_name) for metric_name in ("region", "team", "wait", "lock")
    )
    rows = _Rows(
        process,
        process_id,
        places,
        keys,
        regions,
        teams,
        waits,
        locks,
        _loops(process),
        _forkers(process),
    )
    if not len(rows.regions):
        return []
    table = [_region(rows, number) for number in sorted({int(n) for n in rows.regions["subject"]})]
    return sorted(table, key=lambda region: -region.wall_s)


def _region(rows: _Rows, number: int) -> Region:
    own_rows = rows.regions[rows.regions["subject"] == number]
    teams = rows.teams[rows.teams["subject"] == number]
    name, place = rows.places[number]
    part = _part(rows, own_rows, teams)
    loops = rows.loops.get(number, [])
    longest = max(
        loops,
        key=lambda loop_sums: (loop_sums.schedule != Schedule.STATIC_INFERRED, loop_sums.ticks),
        default=None,
    )
    lock_wait_s, lock_held_s = _lock_times(rows, number)
    return Region(
        key=rows.keys[number],
        name=name,
        file=place.file or None,
        line=place.line or None,
        function=place.function or None,
        runtime=_runtime(rows.process, number),
        nested=bool((own_rows["in_region"] != NO_SUBJECT).all()),
        calls=part.calls,
        threads=part.threads,
        wall_s=part.wall_s,
        work_s=part.work_s,
        wait_s=part.wait_s,
        arrival_s=part.arrival_s,
        imbalance=part.imbalance,
        critical_path_s=float(own_rows["x"][:, RegionFields.SLOWEST_WORK].sum()) * rows.tick_s,
        mean_work_s=float(own_rows["x"][:, RegionFields.MEAN_WORK].sum()) * rows.tick_s,
        schedule=SCHEDULES.get(longest.schedule) if longest else None,
        chunk=(longest.chunk_size or None) if longest else None,
        iterations=longest.trip_count if longest else None,
        constructs=_constructs(rows.process, number),
        loops=_loop_table(rows, loops, part.calls, own_rows),
        waits=_waits(rows.waits, number, rows.tick_s),
        lock_wait_s=lock_wait_s,
        lock_held_s=lock_held_s,
        lanes=_lanes(rows, teams),
        histogram=_histogram(own_rows, rows.process.ns_per_tick),
        processes=(part,),
        spread=spread_of([part]),
    )


def _part(rows: _Rows, own_rows: Records, teams: Records) -> RegionPart:
    mean = float(own_rows["x"][:, RegionFields.MEAN_WORK].sum())
    return RegionPart(
        process=rows.id,
        calls=int(own_rows["count"].sum()),
        threads=int(own_rows["x"][:, RegionFields.MOST_THREADS].max()),
        wall_s=float(own_rows["sum"].sum()) * rows.tick_s,
        work_s=float(teams["sum"].sum()) * rows.tick_s,
        wait_s=_team_wait_s(teams, rows.tick_s),
        arrival_s=float(teams["x"][:, TeamFields.ARRIVAL].sum()) * rows.tick_s,
        imbalance=float(own_rows["x"][:, RegionFields.SLOWEST_WORK].sum()) / mean if mean else None,
    )


def _team_wait_s(teams: Records, s: float) -> float:
    return float(teams["x"][:, TeamFields.JOIN_WAIT].sum() + teams["x"][:, TeamFields.INNER_WAIT].sum()) * s


def spread_of(parts: list[RegionPart]) -> RegionSpread:
    """The least, the median and the greatest of each figure over the processes."""
    return RegionSpread(
        calls=_spread([part.calls for part in parts]),
        wall_s=_spread([part.wall_s for part in parts]),
        work_s=_spread([part.work_s for part in parts]),
        wait_s=_spread([part.wait_s for part in parts]),
    )


def _spread(values: list[int] | list[float]) -> Spread:
    return Spread(min(values), median(values), max(values))


def _runtime(process: Process, region: int) -> str | None:
    subject = process.subjects.get(region)
    return process.runtimes.get(subject.runtime if subject else 0, (None, None))[0]


def _lock_times(rows: _Rows, region: int) -> tuple[float, float]:
    """Seconds waited for critical sections, and seconds that they were held."""
    if not len(rows.locks):
        return 0.0, 0.0
    own_rows = rows.locks[rows.locks["in_region"] == region]
    return float(own_rows["sum"].sum()) * rows.tick_s, float(
        own_rows["x"][:, LockFields.HELD].sum()
    ) * rows.tick_s


def _loop_table(rows: _Rows, loops: list[_LoopSums], calls: int, own_rows: Records) -> tuple[Loop, ...]:
    members = int(own_rows["x"][:, RegionFields.THREADS].sum())
    forkers = rows.forkers[int(own_rows["subject"][0])]
    return tuple(
        Loop(
            key=rows.keys[loop.subject],
            name=rows.places[loop.subject][0],
            schedule=SCHEDULES.get(loop.schedule),
            chunk=loop.chunk_size or None,
            iterations=loop.trip_count,
            executed=loop.iterations,
            chunks=loop.chunks,
            executions=loop.executions_of_teams(calls, members, forkers),
        )
        for loop in loops
    )


def _constructs(process: Process, region: int) -> tuple[str, ...]:
    """Kinds of what lies directly in a region: loops, tasks, other regions, ..."""
    return tuple(sorted({subject.kind for subject in process.subjects.values() if subject.parent == region}))


def _waits(waits: Records, region: int, s: float) -> dict[str, float]:
    waits_by_kind: dict[str, float] = {}
    for row in waits[waits["in_region"] == region] if len(waits) else []:
        kind = WAITS.get(int(row["flags"]), "other")
        waits_by_kind[kind] = waits_by_kind.get(kind, 0.0) + float(row["sum"]) * s
    return waits_by_kind


def _lanes(rows: _Rows, teams: Records) -> tuple[RegionLane, ...]:
    by_lane = [(lane, teams[teams["about"] == lane]) for lane in sorted({int(n) for n in teams["about"]})]
    return tuple(
        RegionLane(
            process=rows.id,
            lane=lane,
            calls=int(own_rows["count"].sum()),
            work_s=float(own_rows["sum"].sum()) * rows.tick_s,
            wait_s=_team_wait_s(own_rows, rows.tick_s),
            arrival_s=float(own_rows["x"][:, TeamFields.ARRIVAL].sum()) * rows.tick_s,
        )
        for lane, own_rows in by_lane
    )


def _histogram(rows: Records, ns_per_tick: float) -> tuple[Bucket, ...]:
    counts = rows["histogram"].sum(axis=0)
    filled = np.nonzero(counts)[0]
    if not len(filled):
        return ()
    return tuple(
        Bucket(le_ns=(2**bucket) * ns_per_tick, count=int(counts[bucket]))
        for bucket in range(int(filled[0]), int(filled[-1]) + 1)
    )

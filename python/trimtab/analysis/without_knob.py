"""Why a region's loops were not tuned: what Trimtab can change, and what not (docs/concepts/tuning.md)."""

from __future__ import annotations

from typing import Any

from trimtab.analysis.regions import Places
from trimtab.model import NO_SUBJECT, TUNING_OF, UNKNOWN, Process, Unavailable
from trimtab.model.enumerations import LoopFields, Missing, RegionFields, Schedule, WaitKind
from trimtab.traces import rows_of

# Of the time of all regions: what takes less is not worth a line.
_LEAST_SHARE = 0.05
# The library in the program makes a loop tunable when it has measured so many executions.
_MEASURED_BEFORE = 3


def without_knob(process: Process, places: Places, mode: str | None) -> list[Unavailable]:
    """Regions that take a part of the time worth tuning and have nothing to tune, most time first, each with why."""
    regions = rows_of(process, "region")
    if mode != "on" or not len(regions):
        return []
    tunable = _regions_with_knobs(process)
    outermost = float(regions["sum"][regions["in_region"] == NO_SUBJECT].sum(dtype=float))
    unavailable = []
    for number in {int(region_number) for region_number in regions["subject"]} - tunable:
        region_rows = regions[regions["subject"] == number]
        share = float(region_rows["sum"].sum(dtype=float)) / outermost if outermost > 0 else 0.0
        if share >= _LEAST_SHARE:
            reason, remedy = _reason(process, number, region_rows)
            unavailable.append(
                (share, Unavailable(TUNING_OF + places[number][0], reason, remedy, Missing.TUNING))
            )
    return [entry for _, entry in sorted(unavailable, key=lambda pair: -pair[0])]


def _regions_with_knobs(process: Process) -> set[int]:
    with_knobs = {knob.subject for knob in process.knobs.values()}
    regions_with_knobs = {
        int(row["in_region"]) for row in rows_of(process, "loop") if int(row["subject"]) in with_knobs
    }
    return regions_with_knobs | {knob_case for knob_case in with_knobs if knob_case is not None}


def _reason(process: Process, region: int, rows: Any) -> tuple[str, str]:
    """The reason, and what to do about it."""
    loops = [row for row in rows_of(process, "loop") if int(row["in_region"]) == region]
    schedules = {int(row["flags"]) for row in loops}
    waits = {int(row["flags"]) for row in rows_of(process, "wait") if int(row["in_region"]) == region}
    threads = int(rows["x"][:, RegionFields.MOST_THREADS].max())
    trips = [
        int(row["x"][LoopFields.TRIP_COUNT])
        for row in loops
        if int(row["x"][LoopFields.TRIP_COUNT]) != int(UNKNOWN)
    ]
    if (rows["in_region"] != NO_SUBJECT).all():
        return "it is nested, and only loops of outermost regions are changed", ""
    if threads == 1:
        return "it ran with one thread", ""
    if not loops:
        return "it has no worksharing loop", ""
    if WaitKind.ORDERED in waits:
        return "its iterations wait for each other in order", ""
    if schedules == {Schedule.STATIC_INFERRED}:
        return (
            "GCC inlines static loops, so the runtime is not asked for their iterations",
            "try --virtual-threads, or write schedule(runtime) in the source",
        )
    if schedules == {Schedule.AUTO}:
        return "schedule(auto) leaves the choice to the runtime", "write schedule(runtime) in the source"
    if schedules == {Schedule.SECTIONS}:
        return "sections are handed out one at a time already", ""
    if trips and max(trips) < 2 * threads:
        return f"its loops have fewer than two iterations a thread ({max(trips)} for {threads})", ""
    if int(rows["count"].sum()) <= _MEASURED_BEFORE:
        return (
            f"it ran only {int(rows['count'].sum())} times",
            "run longer, or tune over several runs: trimtab tune",
        )
    return "its loops could not be measured: they were cancelled, or their team is another one each time", ""


__all__ = ["without_knob"]

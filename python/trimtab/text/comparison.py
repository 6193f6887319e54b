"""Two sides of runs, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.markup import escape
from rich.table import Table

from trimtab.text.console import output, table
from trimtab.text.units import NAMES, seconds

_MOST_REGIONS = 20
_MOST_CAUSES = 8
_MOST_CAUSES_OF_RUN = 3
_Write = Callable[[float], str]


def comparison(differences: dict[str, Any]) -> None:
    """What `trimtab.analysis.compare` gives, as tables on standard output."""
    console = output()
    before, after = differences["runs"]
    total = table("", "A", "B", "B - A", "95 % interval", "", title=f"{before} and {after} runs")
    for name, entry in differences["total"].items():
        write: _Write = _difference if name == "wall_s" else _points
        total.add_row(
            {"wall_s": "wall time", "efficiency": "efficiency", **NAMES}[name], *_cells(entry, write)
        )
    console.print(total)
    if differences["causes"]:
        console.print(_causes(differences["causes"]))
    for outlier in differences["outliers"]:
        console.print(escape(_apart(outlier)))
    regions = table("region, wall time", "A", "B", "B - A", "95 % interval", "")
    for region in differences["regions"][:_MOST_REGIONS]:
        regions.add_row(escape(region["name"]), *_cells(region["wall_s"], _difference))
    if differences["regions"]:
        console.print(regions)
    if len(differences["regions"]) > _MOST_REGIONS:
        console.print(f"and {len(differences['regions']) - _MOST_REGIONS} more regions (--json has all)")
    if min(before, after) < 4:
        console.print("four runs a side and more tell a difference from noise")


def _causes(causes: list[dict[str, Any]]) -> Table:
    """What a core second is worth in wall time depends on the number of cores, so both are there."""
    rows = table("core time, by cause", "A", "B", "B - A", "of the wall time", "95 % interval", "")
    for entry in [entry for entry in causes if entry["wall_s"]["difference"]][:_MOST_CAUSES]:
        before, after, difference = _cells(entry["lane_time_s"], _difference)[:3]
        name = f"{entry['cause']}, {entry['subject']}" if entry["subject"] else entry["cause"]
        rows.add_row(escape(name), before, after, difference, *_cells(entry["wall_s"], _difference)[2:])
    return rows


def _apart(outlier: dict[str, Any]) -> str:
    name = outlier["name"] or f"run {outlier['run']}"
    parts = [
        f"{cause['cause']}{' at ' + cause['subject'] if cause['subject'] else ''} "
        f"{seconds(cause['wall_s'])} instead of {seconds(cause['others_wall_s'])}"
        for cause in outlier["causes"][:_MOST_CAUSES_OF_RUN]
    ]
    return (
        f"{name} lies apart from the others of {outlier['side']}: {seconds(outlier['wall_s'])}, the others "
        f"{seconds(outlier['others_wall_s'])} in the median"
        + (f"; of the wall time, {', '.join(parts)}" if parts else "")
    )


def _difference(value: float) -> str:
    """A duration that may be a difference below zero."""
    return f"-{seconds(-value)}" if value < 0 else seconds(value)


def _points(share: float) -> str:
    return f"{share * 100:.1f} %"


def _cells(entry: dict[str, Any], write: _Write) -> list[str]:
    figures = ["-" if entry[key] is None else write(entry[key]) for key in ("before", "after", "difference")]
    if entry["interval"] is None:
        return [*figures, "", ""]
    low, high = entry["interval"]
    return [*figures, f"{write(low)} .. {write(high)}", "differs" if entry["is_clear"] else "within noise"]

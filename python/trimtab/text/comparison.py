"""Two sides of runs, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.markup import escape

from trimtab.text.console import output, table
from trimtab.text.units import NAMES, seconds

_MOST_REGIONS = 20
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
    regions = table("region, wall time", "A", "B", "B - A", "95 % interval", "")
    for region in differences["regions"][:_MOST_REGIONS]:
        regions.add_row(escape(region["name"]), *_cells(region["wall_s"], _difference))
    if differences["regions"]:
        console.print(regions)
    if len(differences["regions"]) > _MOST_REGIONS:
        console.print(f"and {len(differences['regions']) - _MOST_REGIONS} more regions (--json has all)")
    if min(before, after) < 4:
        console.print("four runs a side and more tell a difference from noise")


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

"""What was counted, in lines and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.markup import escape

from trimtab.model.enumerations import CounterName
from trimtab.model.report import CounterUse, Report
from trimtab.text.console import table
from trimtab.text.units import percent, seconds

if TYPE_CHECKING:
    from rich.table import Table

_MOST_ROWS = 12
_ENERGY = "energy"
# In this order, if they were counted.
_COLUMNS = (
    _ENERGY,
    "cycles",
    "instructions",
    "cache misses",
    "disk read",
    "disk written",
    CounterName.MAJOR_PAGE_FAULTS,
    "run delay",
)
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def energy_lines(report: Report) -> Iterator[str]:
    """What the machines took, where there is a meter."""
    energy = report.energy
    if energy is None:
        return
    power = "" if energy.watts is None else f", {energy.watts:.3g} W in the mean"
    simulated = ", simulated" if any("simulated" in meter for meter in energy.meters) else ""
    yield f"energy of the machine{simulated}: {energy.joules:.4g} J{power}"


def use_table(report: Report) -> Table | None:
    """What was counted while which region or kind of task ran; None: nothing is known of that."""
    sums = _by_subject(report.counter_use, report.energy.meters if report.energy is not None else ())
    columns = [column for column in _COLUMNS if any(column in uses for uses in sums.values())]
    if not columns:
        return None
    ratio = ["per cycle"] if {"cycles", "instructions"} <= set(columns) else []
    rows = table("counted during", *columns, *ratio, title="what regions and tasks used, by time")
    totals = {column: sum(uses.get(column, 0.0) for uses in sums.values()) for column in columns}
    for name, uses in sorted(sums.items(), key=lambda item: -item[1].get(columns[0], 0.0))[:_MOST_ROWS]:
        cells = [_cell(column, uses.get(column), totals[column]) for column in columns]
        rows.add_row(escape(name), *cells, *([_instructions_per_cycle(uses)] if ratio else []))
    return rows


def _by_subject(uses: tuple[CounterUse, ...], meters: tuple[str, ...]) -> Mapping[str, dict[str, float]]:
    """By name and column, over all processes; of the meters, which all processes of a host read, one process's."""
    readers = {use.process for use in uses if use.counter in meters}
    reader = min(readers, default="")
    sums: dict[str, dict[str, float]] = {}
    for use in uses:
        column = _ENERGY if use.counter in meters else use.counter
        if column not in _COLUMNS or (column == _ENERGY and use.process != reader):
            continue
        own_sums = sums.setdefault(use.name, {})
        own_sums[column] = own_sums.get(column, 0.0) + use.value
    return sums


def _cell(column: str, value: float | None, total: float) -> str:
    if value is None:
        return ""
    share = f" ({percent(value / total)})" if total > 0 else ""
    if column == "run delay":
        return seconds(value) + share
    unit = " J" if column == _ENERGY else " B" if column.startswith("disk") else ""
    return _short(value) + unit + share


def _short(value: float) -> str:
    """Three digits: `1.23 G`."""
    for factor, prefix in _PREFIXES:
        if value >= factor:
            return f"{value / factor:.3g} {prefix}"
    return f"{value:.3g}"


def _instructions_per_cycle(uses: Mapping[str, float]) -> str:
    cycles = uses.get("cycles", 0.0)
    return f"{uses.get('instructions', 0.0) / cycles:.2f}" if cycles > 0 else ""

"""The figures that an experiment file asks for, as data for `trimtab.figures`."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.experiments.conditions import holds
from trimtab.experiments.fields import as_word
from trimtab.experiments.spec import Experiment, FigureSpec, Value
from trimtab.experiments.summary import Row, Summary
from trimtab.figures import Figure, Line, Panel, Point


def figures_of(experiment: Experiment, summary: Summary) -> tuple[list[Figure], list[str]]:
    """Every figure that has points, and a note about each that has none."""
    drawn, notes = [], []
    for spec in experiment.figures:
        rows = [row for row in summary.rows if holds(spec.where, {**experiment.fixed, **row.configuration})]
        figure = _figure(experiment, spec, [row for row in rows if _has_value(spec, row)])
        if figure.panels:
            drawn.append(figure)
        else:
            notes.append(
                f"no figure '{spec.name}': no run has '{spec.y}'" + ("" if rows else " of these values")
            )
    return drawn, notes


def _has_value(spec: FigureSpec, row: Row) -> bool:
    return spec.y in row.spreads and (spec.x in row.configuration or spec.x in row.spreads)


def _figure(experiment: Experiment, spec: FigureSpec, rows: Sequence[Row]) -> Figure:
    titles = {factor.name: factor.title for factor in experiment.factors}
    panels = []
    for value in _values(experiment, spec.panels):
        panel_rows = [row for row in rows if spec.panels is None or row.configuration[spec.panels] == value]
        lines = [
            _line(experiment, spec, panel_rows, line_value) for line_value in _values(experiment, spec.lines)
        ]
        lines = [line for line in lines if line.points]
        if lines:
            title = "" if spec.panels is None or value is None else f"{titles[spec.panels]}: {_shown(value)}"
            panels.append(Panel(title, tuple(lines)))
    return Figure(
        spec.name,
        spec.title,
        spec.x_label,
        spec.y_label,
        "" if spec.lines is None else titles[spec.lines],
        "x" in spec.log,
        "y" in spec.log,
        spec.has_errors,
        tuple(panels),
    )


def _values(experiment: Experiment, factor: str | None) -> Sequence[Value | None]:
    """The values of a factor in the file's order, so that a line has the same colour in every figure."""
    return next(
        (factor_named.values for factor_named in experiment.factors if factor_named.name == factor), (None,)
    )


def _line(experiment: Experiment, spec: FigureSpec, rows: Sequence[Row], value: Value | None) -> Line:
    line_rows = [row for row in rows if spec.lines is None or row.configuration[spec.lines] == value]
    points = []
    for row in line_rows:
        spread = row.spreads[spec.y]
        points.append(Point(_x(spec, row), spread.median, spread.quarter, spread.three_quarters))
    if all(isinstance(point.x, float) for point in points):
        points.sort(key=lambda point: point.x)
    return Line("" if value is None else _shown(value), tuple(points))


def _shown(value: Value) -> str:
    """A value in a figure's words; large numbers in groups of three."""
    is_large = isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000
    return f"{value:,}" if is_large else as_word(value)


def _x(spec: FigureSpec, row: Row) -> float | str:
    value = row.configuration.get(spec.x)
    if value is None:
        return row.spreads[spec.x].median
    return as_word(value) if isinstance(value, str | bool) else float(value)

"""What an experiment file says of metrics, and of the figures and tables that are made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.experiments.conditions import condition
from trimtab.experiments.fields import Fields
from trimtab.experiments.formula import Formula, FormulaError, parse
from trimtab.experiments.spec import BUILT_IN, GOALS, OBSERVED, BestSpec, Factor, FigureSpec, Metric, Value

_NAME = re.compile(r"[A-Za-z_]\w*")
_FILE_NAME = re.compile(r"[\w][\w.+-]*")
_AXES = ("x", "y")
Metrics = dict[str, Metric]


def metrics(top: Fields, factors: Sequence[Factor], fixed: Mapping[str, Value], is_observed: bool) -> Metrics:
    """The metrics of the file, those derived from them by formulas, the built-in ones, in this order."""
    taken_names = {*fixed, *(factor.name for factor in factors), *BUILT_IN}
    by_name: Metrics = {}
    table = top.table("metrics")
    for name, definition in table.rest().items():
        _check_name(table, name, taken_names | by_name.keys())
        inner = Fields(
            table.file, table.path(name), {"unit": definition} if isinstance(definition, str) else definition
        )
        by_name[name] = _printed(name, inner, is_observed)
    numbers = {name for name, value in fixed.items() if _is_number(value)}
    numbers |= {factor.name for factor in factors if all(map(_is_number, factor.values))}
    table = top.table("derived")
    for name, definition in table.rest().items():
        _check_name(table, name, taken_names | by_name.keys())
        inner = Fields(
            table.file,
            table.path(name),
            {"formula": definition} if isinstance(definition, str) else definition,
        )
        formula = _formula(inner, numbers | by_name.keys() | BUILT_IN.keys(), is_observed)
        by_name[name] = Metric(name, name, inner.text("title", name), inner.text("unit", ""), formula=formula)
        inner.done()
    return by_name | {name: Metric(name, name, title, unit) for name, (title, unit) in BUILT_IN.items()}


def _printed(name: str, table: Fields, is_observed: bool) -> Metric:
    source = table.text("from", name)
    title, unit, is_required = table.text("title", name), table.text("unit", ""), table.flag("required", True)
    if source.startswith(OBSERVED) and is_required and not is_observed:
        table.wrong(
            "from", "`observe` at the top of the file, or `required = false`, for such a name", source
        )
    metric = Metric(name, source, title, unit, is_required)
    table.done()
    return metric


def _check_name(table: Fields, name: str, taken_names: set[str]) -> None:
    if not _NAME.fullmatch(name) or name in taken_names:
        table.wrong(name, "a name of letters, digits and _ that nothing else has", name)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _formula(table: Fields, known_metrics: set[str], is_observed: bool) -> Formula:
    text = table.text("formula")
    try:
        formula = parse(text)
    except FormulaError as error:
        table.wrong("formula", f"a formula ({error})", text)
    for name in formula.names:
        if name not in known_metrics and not (is_observed and name.startswith(OBSERVED)):
            table.wrong("formula", f"names of numbers ({', '.join(sorted(known_metrics))})", name)
    return formula


def figures(
    top: Fields, factors: Sequence[Factor], values: Mapping[str, tuple[Value, ...]], known_metrics: Metrics
) -> tuple[FigureSpec, ...]:
    """Every [[figure]]."""
    figures: list[FigureSpec] = []
    for table in top.tables("figure"):
        spec = _figure(table, factors, values, known_metrics)
        if any(spec.name == other.name for other in figures):
            table.wrong("name", "a name that no other figure has (default: y)", spec.name)
        figures.append(spec)
    return tuple(figures)


def _figure(
    table: Fields, factors: Sequence[Factor], values: Mapping[str, tuple[Value, ...]], known_metrics: Metrics
) -> FigureSpec:
    names = [factor.name for factor in factors]
    x = table.one_of("x", [*names, *known_metrics])
    y = table.one_of("y", list(known_metrics))
    lines, panels = table.one_of("lines", names, None), table.one_of("panels", names, None)
    condition_given = condition(table.table("where"), values)
    explained = {x, lines, panels, *(name for name, kept in condition_given.values.items() if len(kept) == 1)}
    for factor in factors:
        # Points that stand for several configurations would mean nothing.
        if len(factor.values) > 1 and factor.name not in explained and x in names:
            table.wrong("where", f"one value for '{factor.name}', which is neither x, lines nor panels")
    name = table.text("name", y)
    if not _FILE_NAME.fullmatch(name):
        table.wrong("name", "letters, digits and . _ + - (it names a file)", name)
    spec = FigureSpec(
        name,
        table.text("title", known_metrics[y].title),
        x,
        y,
        lines,
        panels,
        table.words("log", _AXES),
        table.flag("errors", True),
        condition_given,
        table.text("x_label", "") or _label(x, factors, known_metrics),
        table.text("y_label", "") or labelled(known_metrics[y].title, known_metrics[y].unit),
    )
    table.done()
    return spec


def _label(name: str, factors: Sequence[Factor], known_metrics: Metrics) -> str:
    titled: Any = next((factor for factor in factors if factor.name == name), None) or known_metrics[name]
    return labelled(titled.title, titled.unit)


def labelled(title: str, unit: str) -> str:
    """What an axis or a column says.

    Example:
        >>> labelled("execution time", "s")
        'execution time (s)'
    """
    return f"{title} ({unit})" if unit else title


def best_tables(top: Fields, factors: Sequence[Factor], known_metrics: Metrics) -> tuple[BestSpec, ...]:
    """Every [[best]]."""
    names = [factor.name for factor in factors]
    specs = []
    for table in top.tables("best"):
        metric = table.one_of("metric", list(known_metrics))
        goal = table.one_of("goal", GOALS, GOALS[0])
        group_names, show = table.words("per", names), table.words("show", list(known_metrics))
        specs.append(
            BestSpec(
                table.text("title", f"Best {known_metrics[metric].title}"), metric, goal, group_names, show
            )
        )
        table.done()
    return tuple(specs)

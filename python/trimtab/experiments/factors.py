"""Factors: their values, written as lists or ranges, and the configurations that they make."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Mapping
from typing import Any

from trimtab.experiments.conditions import holds
from trimtab.experiments.fields import Fields, as_word, is_value
from trimtab.experiments.placement import PlacementError, wish_of
from trimtab.experiments.spec import (
    CPUS,
    HOST,
    Configuration,
    Experiment,
    ExperimentError,
    Factor,
    Value,
)

_SCALES = ("lin", "log2", "log10")
_MOST_VALUES = 100_000
_MOST_CONFIGURATIONS = 1_000_000


def factor(table: Fields, name: str, definition: Any, fixed: Mapping[str, Value]) -> Factor:
    """The factor that `definition` is: a list, or a table with `values` or `range`."""
    if not isinstance(definition, dict):
        return Factor(name, _listed(table, name, definition), name)
    inner = Fields(table.file, table.path(name), definition)
    if HOST in inner:
        return _host(inner, name)
    if CPUS in inner:
        return _placements(inner, name)
    is_listed = "values" in inner
    values = _listed(inner, "values", inner.take("values")) if is_listed else _range(inner, fixed)
    built = Factor(name, values, inner.text("title", name), inner.text("unit", ""))
    inner.done()
    return built


def _host(table: Fields, name: str) -> Factor:
    """Its value is the name of the host that reads the file (or another label from --set), under which results are put together."""
    if not table.flag(HOST, True):
        table.wrong(HOST, "true", False)
    labels = _listed(table, "values", table.take("values", [os.uname().nodename]))
    built = Factor(name, labels, table.text("title", name), "", HOST)
    table.done()
    return built


def _placements(table: Fields, name: str) -> Factor:
    values = _listed(table, CPUS, table.take(CPUS))
    for words in values:
        try:
            wish_of(str(words))
        except PlacementError as error:
            table.wrong(CPUS, str(error), words)
    built = Factor(name, values, table.text("title", name), "", CPUS)
    table.done()
    return built


def _listed(table: Fields, key: str, definition: Any) -> tuple[Value, ...]:
    if not isinstance(definition, list) or not definition:
        table.wrong(key, "a list of values, or a table with `values` or `range`", definition)
    for element in definition:
        if not is_value(element):
            table.wrong(key, "strings, numbers or booleans", element)
    # Other kinds would neither sort nor share an axis.
    if len({isinstance(element, str) for element in definition}) > 1:
        table.wrong(key, "values of one kind", definition)
    for at, element in enumerate(definition):
        if element in definition[:at]:
            table.wrong(key, "every value once", f"{element} twice")
    return tuple(definition)


def _range(table: Fields, fixed: Mapping[str, Value]) -> tuple[Value, ...]:
    """From `from` to `to`, in steps (of octaves or decades where the scale is logarithmic) or as many as `count`.

    A logarithmic range always has its end; a linear one where a step meets it.
    """
    scale = table.one_of("range", _SCALES)
    begin, end = _end(table, "from", fixed), _end(table, "to", fixed)
    if not begin < end:
        table.wrong("to", f"more than 'from' = {begin:g}", end)
    if scale != "lin" and begin <= 0:
        table.wrong("from", f"a number above 0 (the range is {scale})", begin)
    base = {"lin": 0.0, "log2": 2.0, "log10": 10.0}[scale]
    low, high = (math.log(begin, base), math.log(end, base)) if base else (begin, end)
    count = table.integer("count", 0, 2) if "count" in table else 0
    step = table.number("step", 1.0, 1e-9)
    width = (high - low) / (count - 1) if count else step
    steps = count - 1 if count else math.floor((high - low) / step + 1e-9)
    if steps >= _MOST_VALUES:
        table.wrong("count" if count else "step", f"a range of at most {_MOST_VALUES} values", count or step)
    exact = [low + width * at for at in range(steps + 1)]
    points = [base**exponent for exponent in exact] if base else exact
    points[0] = begin
    if math.isclose(points[-1], end):
        points[-1] = end
    elif base:
        points.append(end)
    is_whole = begin.is_integer() and end.is_integer() and bool(base or width.is_integer())
    return tuple(dict.fromkeys(round(point) if is_whole else float(f"{point:.12g}") for point in points))


def _end(table: Fields, key: str, fixed: Mapping[str, Value]) -> float:
    bound = table.take(key, expected="a number, or the name of a fixed value")
    value = fixed.get(bound) if isinstance(bound, str) else bound
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        table.wrong(key, "a number, or the name of a fixed value that is one", bound)
    return float(value)


def configurations(experiment: Experiment) -> list[Configuration]:
    """Every combination of values that the conditions leave, the last factor varying fastest.

    Raises:
        ExperimentError: there are none, or more than anybody can run.
    """
    names = [factor_named.name for factor_named in experiment.factors]
    total = math.prod(len(factor_named.values) for factor_named in experiment.factors)
    if total > _MOST_CONFIGURATIONS:
        raise ExperimentError(
            f"{experiment.file}: key 'factors': expected at most {_MOST_CONFIGURATIONS} combinations, found {total}"
        )
    combinations = (
        dict(zip(names, values, strict=True))
        for values in itertools.product(*(factor_named.values for factor_named in experiment.factors))
    )
    kept_combinations = [
        combination for combination in combinations if _stays(experiment, {**experiment.fixed, **combination})
    ]
    if not kept_combinations:
        raise ExperimentError(
            f"{experiment.file}: keys 'where', 'skip': expected a configuration that stays, found none of {total}"
        )
    return kept_combinations


def _stays(experiment: Experiment, row_values: Mapping[str, Value]) -> bool:
    return (not experiment.where or any(holds(rule, row_values) for rule in experiment.where)) and not any(
        holds(rule, row_values) for rule in experiment.skip
    )


def key_of(configuration: Mapping[str, Value]) -> str:
    """The same configuration has the same key, in whatever order its factors come.

    Example:
        >>> key_of({"b": 2, "a": "x"})
        '{"a": "x", "b": 2}'
    """
    return json.dumps(configuration, sort_keys=True)


def titled(configuration: Mapping[str, Value]) -> str:
    """A configuration as people read it.

    Example:
        >>> titled({"policy": "local", "workers": 2})
        'policy=local workers=2'
    """
    return " ".join(f"{name}={as_word(value)}" for name, value in configuration.items())

"""Conditions over configurations, as `where`, `skip` and figures have them: values and bounds, no expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trimtab.experiments.fields import Fields
from trimtab.experiments.spec import Bound, Condition, Value

_RELATIONS = ("above", "below", "at_least", "at_most")


def condition(table: Fields, names: Mapping[str, tuple[Value, ...]]) -> Condition:
    """A table such as {policy = ["static", "local"], workers = {above = 1}} over factors and fixed values."""
    values: dict[str, tuple[Value, ...]] = {}
    bounds: dict[str, tuple[Bound, ...]] = {}
    for name, bound_given in table.rest().items():
        if name not in names:
            table.wrong(name, f"a factor or fixed value ({', '.join(names)})", name)
        if isinstance(bound_given, dict):
            bounds[name] = _bounds(Fields(table.file, table.path(name), bound_given), names)
            continue
        wanted = bound_given if isinstance(bound_given, list) else [bound_given]
        for wanted_value in wanted:
            # A value that never occurs is a slip of the pen.
            if wanted_value not in names[name]:
                table.wrong(name, f"values of '{name}' ({_some_of(names[name])})", wanted_value)
        values[name] = tuple(wanted)
    return Condition(values, bounds)


def _some_of(values: Sequence[Value]) -> str:
    return ", ".join(map(str, values[:8])) + (", ..." if len(values) > 8 else "")


def _bounds(table: Fields, names: Mapping[str, tuple[Value, ...]]) -> tuple[Bound, ...]:
    bounds = []
    for relation in _RELATIONS:
        limit = table.take(relation, None)
        if limit is None:
            continue
        if isinstance(limit, bool) or not (
            isinstance(limit, int | float) or (isinstance(limit, str) and limit in names)
        ):
            table.wrong(relation, "a number, or the name of a factor or fixed value", limit)
        bounds.append(Bound(relation, limit))
    table.done()
    return tuple(bounds)


def holds(condition: Condition, row_values: Mapping[str, Value]) -> bool:
    """Whether the configuration (with the fixed values) meets the condition."""
    return all(row_values[name] in values for name, values in condition.values.items()) and all(
        _is_within(row_values[name], bound, row_values)
        for name, bounds in condition.bounds.items()
        for bound in bounds
    )


def _is_within(value: Value, bound: Bound, row_values: Mapping[str, Value]) -> bool:
    limit = row_values[bound.limit] if isinstance(bound.limit, str) else bound.limit
    if isinstance(value, str) or isinstance(limit, str):
        return False
    return {
        "above": value > limit,
        "below": value < limit,
        "at_least": value >= limit,
        "at_most": value <= limit,
    }[bound.relation]

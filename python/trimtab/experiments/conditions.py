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
    for name, given in table.rest().items():
        if name not in names:
            table.wrong(name, f"a factor or fixed value ({', '.join(names)})", name)
        if isinstance(given, dict):
            bounds[name] = _bounds(Fields(table.file, table.path(name), given), names)
            continue
        wanted = given if isinstance(given, list) else [given]
        for each in wanted:
            # A value that never occurs is a slip of the pen.
            if each not in names[name]:
                table.wrong(name, f"values of '{name}' ({_some(names[name])})", each)
        values[name] = tuple(wanted)
    return Condition(values, bounds)


def _some(values: Sequence[Value]) -> str:
    return ", ".join(map(str, values[:8])) + (", ..." if len(values) > 8 else "")


def _bounds(table: Fields, names: Mapping[str, tuple[Value, ...]]) -> tuple[Bound, ...]:
    found = []
    for relation in _RELATIONS:
        limit = table.take(relation, None)
        if limit is None:
            continue
        if isinstance(limit, bool) or not (
            isinstance(limit, int | float) or (isinstance(limit, str) and limit in names)
        ):
            table.wrong(relation, "a number, or the name of a factor or fixed value", limit)
        found.append(Bound(relation, limit))
    table.done()
    return tuple(found)


def holds(condition: Condition, of: Mapping[str, Value]) -> bool:
    """Whether the configuration (with the fixed values) meets the condition."""
    return all(of[name] in values for name, values in condition.values.items()) and all(
        _is_within(of[name], bound, of) for name, bounds in condition.bounds.items() for bound in bounds
    )


def _is_within(value: Value, bound: Bound, of: Mapping[str, Value]) -> bool:
    limit = of[bound.limit] if isinstance(bound.limit, str) else bound.limit
    if isinstance(value, str) or isinstance(limit, str):
        return False
    return {
        "above": value > limit,
        "below": value < limit,
        "at_least": value >= limit,
        "at_most": value <= limit,
    }[bound.relation]

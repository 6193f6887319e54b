"""Variants of an experiment: a smaller one under a name of its own in the same file."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trimtab.experiments.fields import Fields
from trimtab.experiments.spec import CPUS, HOST, ExperimentError

KEY = "variant"
_CONDITIONS = ("where", "skip")


def varied(
    file: Path, table: Mapping[str, Any], name: str | None, overrides: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The content of `file` with what its variant of this name changes, and all overrides; those given come last.

    Raises:
        ExperimentError: something in a variant is wrong, or there is none of this name.
    """
    variants = {
        variant_name: _read(file, variant_name, definition)
        for variant_name, definition in _tables(file, table).items()
    }
    if name is None:
        return dict(table), dict(overrides)
    if name not in variants:
        variant_names = ", ".join(variants) or "it has none"
        raise ExperimentError(
            f"{file}: --variant: expected one of its variants ({variant_names}), found '{name}'"
        )
    chosen = variants[name]
    # In a folder of its own: it would not go on where the whole experiment is.
    changed = {**table, "name": f"{table.get('name', '')}-{name}"}
    if chosen["samples"] is not None:
        changed["samples"] = chosen["samples"]
    if chosen["run_s"] is not None:
        changed["run_s"] = chosen["run_s"]
    for key_of_conditions in _CONDITIONS:
        replaced = table.get(key_of_conditions, [])
        changed[key_of_conditions] = (
            [*replaced, *chosen[key_of_conditions]] if isinstance(replaced, list) else replaced
        )
    return changed, {**chosen["set"], **overrides}


def overridden(file: Path, table: dict[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The content of `file` with other values for factors and fixed values that it has.

    Raises:
        ExperimentError: it has none of a name.
    """
    fixed, factors = copy.copy(table.get("fixed", {})), copy.copy(table.get("factors", {}))
    for name, value in overrides.items():
        if isinstance(fixed, dict) and name in fixed:
            fixed[name] = value
        elif isinstance(factors, dict) and name in factors:
            values = value if isinstance(value, list) else [value]
            old = factors[name]
            kept = {key: old[key] for key in ("title", "unit") if key in old} if isinstance(old, dict) else {}
            factors[name] = {**_values_of_its_kind(old, values), **kept}
        else:
            names = ", ".join([*factors, *fixed]) or "none"
            raise ExperimentError(f"{file}: --set {name}: expected a factor or fixed value of it: {names}")
    replaced = {"fixed": fixed, "factors": factors}
    return {**table, **{key: definition for key, definition in replaced.items() if key in table}}


def _values_of_its_kind(definition: object, values: list[Any]) -> dict[str, Any]:
    """Other values of a factor, written as those that it had."""
    if isinstance(definition, dict) and HOST in definition:
        return {HOST: True, "values": values}
    return {CPUS if isinstance(definition, dict) and CPUS in definition else "values": values}


def _tables(file: Path, table: Mapping[str, Any]) -> dict[str, Any]:
    return Fields(file, KEY, table.get(KEY, {})).rest()


def _read(file: Path, name: str, definition: object) -> dict[str, Any]:
    fields = Fields(file, f"{KEY}.{name}", definition)
    variant: dict[str, Any] = {"set": fields.table("set").rest()}
    # Taken in any case, so that a slip of the pen is told what is allowed.
    variant["samples"] = (
        fields.integer("samples", 1, 1) if "samples" in fields else fields.take("samples", None)
    )
    variant["run_s"] = fields.number("run_s", None, 0.0, 1e7)
    for condition in _CONDITIONS:
        variant[condition] = fields.take(condition, [])
        if not isinstance(variant[condition], list):
            fields.wrong(condition, f"tables, written [[{fields.path(condition)}]]", variant[condition])
    fields.done()
    return variant

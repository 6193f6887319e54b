"""What an experiment file says of violin figures, tables of means and lists of outliers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trimtab.experiments.columns import Metrics
from trimtab.experiments.fields import Fields
from trimtab.experiments.spec import AverageSpec, Factor, OutlierSpec, ViolinSpec

_FILE_NAME = re.compile(r"[\w][\w.+-]*")


def violins(top: Fields, factors: Sequence[Factor], known_metrics: Metrics) -> tuple[ViolinSpec, ...]:
    """Every [[violin]]."""
    names = [factor.name for factor in factors]
    specs: list[ViolinSpec] = []
    for table in top.tables("violin"):
        x = table.one_of("x", names)
        rows = _some(table, "rows", list(known_metrics))
        per = table.words("per", [name for name in names if name != x])
        name = table.text("name", "violins")
        if not _FILE_NAME.fullmatch(name) or any(spec.name == name for spec in specs):
            table.wrong("name", "letters, digits and . _ + -, and no name of another violin figure", name)
        specs.append(ViolinSpec(name, table.text("title", ""), x, rows, per))
        table.done()
    return tuple(specs)


def averages(top: Fields, factors: Sequence[Factor], known_metrics: Metrics) -> tuple[AverageSpec, ...]:
    """Every [[average]]."""
    names = [factor.name for factor in factors]
    specs = []
    for table in top.tables("average"):
        metrics, per = _some(table, "metrics", list(known_metrics)), table.words("per", names)
        specs.append(AverageSpec(table.text("title", "Means"), metrics, per))
        table.done()
    return tuple(specs)


def outliers(top: Fields, factors: Sequence[Factor], known_metrics: Metrics) -> tuple[OutlierSpec, ...]:
    """Every [[outliers]]; without `per`, runs are compared with those of the same configuration."""
    names = [factor.name for factor in factors]
    specs = []
    for table in top.tables("outliers"):
        metrics = _some(table, "metrics", list(known_metrics))
        per = table.words("per", names) if "per" in table else tuple(names)
        beyond = table.number("beyond", 1.5, 0.0)
        specs.append(OutlierSpec(table.text("title", "Outliers"), metrics, per, beyond))
        table.take("per", None)
        table.done()
    return tuple(specs)


def _some(table: Fields, key: str, allowed: Sequence[str]) -> tuple[str, ...]:
    words = table.words(key, allowed)
    if not words:
        table.wrong(key, f"some of {', '.join(allowed)}", [])
    return words

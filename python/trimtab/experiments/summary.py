"""Tables of a sweep: each run, each configuration with its spread, the best of each group."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.experiments.factors import key_of
from trimtab.experiments.results import Record
from trimtab.experiments.spec import BUILT_IN, BestSpec, Configuration, Experiment, Metric, Value
from trimtab.experiments.swept import Swept


@dataclass(frozen=True)
class Spread:
    """The median of some samples, the quartiles around it, the least, and how many there are."""

    median: float
    quarter: float
    three_quarters: float
    least: float
    most: float
    count: int

    @property
    def iqr(self) -> float:
        """Interquartile range."""
        return self.three_quarters - self.quarter


def spread(values: Sequence[float]) -> Spread:
    """Of at least one value; quartiles are interpolated between the values.

    Example:
        >>> spread([3.0, 1.0, 2.0]).iqr
        1.0
    """
    if len(values) == 1:
        quarter = three_quarters = values[0]
    else:
        quarter, _, three_quarters = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(statistics.median(values), quarter, three_quarters, min(values), max(values), len(values))


@dataclass(frozen=True)
class Row:
    """A configuration: its runs that count, and the spread of each metric that has values."""

    configuration: Configuration
    runs: int
    failed: int
    disturbed: int
    spreads: dict[str, Spread]


@dataclass(frozen=True)
class Best:
    """The best configuration of a group, and how many others cannot be told from it (their quartiles overlap)."""

    group: Configuration
    row: Row
    spread: Spread
    as_good: int


@dataclass(frozen=True)
class Summary:
    """All tables."""

    metrics: list[Metric]
    rows: list[Row]
    best: list[tuple[BestSpec, list[Best]]]


def summarised(swept: Swept) -> Summary:
    """The tables of what was run so far."""
    experiment = swept.experiment
    runs = swept.runs
    metrics = columns(experiment, runs)
    by_key: dict[str, list[Record]] = {key_of(configuration): [] for configuration in swept.configurations}
    for record in runs:
        by_key[key_of(record.configuration)].append(record)
    rows = [
        _row(experiment, metrics, configuration, by_key[key_of(configuration)])
        for configuration in swept.configurations
    ]
    specs = experiment.best or (_default_best(),)
    return Summary(metrics, rows, [(spec, _best(experiment, spec, rows)) for spec in specs])


def columns(experiment: Experiment, runs: Sequence[Record]) -> list[Metric]:
    """The metrics of the file, and after them what the runs have besides, in order of names."""
    metrics_known = dict(experiment.metrics)
    sources = {one_metric.source for one_metric in metrics_known.values() if one_metric.formula is None}
    units: dict[str, str] = {}
    for record in runs:
        for name in record.metrics:
            if name not in sources and name not in metrics_known:
                units.setdefault(name, record.units.get(name, ""))
    return [*metrics_known.values(), *(Metric(name, name, name, units[name]) for name in sorted(units))]


def values_of(experiment: Experiment, metrics: Sequence[Metric], record: Record) -> dict[str, float]:
    """The metrics of one run by their names, derived ones included; what has no value is left out."""
    metric_values = {
        one_metric.name: record.metrics[one_metric.source]
        for one_metric in metrics
        if one_metric.source in record.metrics
    }
    formula_values = {**experiment.fixed, **record.configuration, **record.metrics, **metric_values}
    numbers = {name: float(value) for name, value in formula_values.items() if _is_number(value)}
    # In the file's order: a formula may use those before it.
    for metric in metrics:
        if metric.formula is not None:
            value = metric.formula.value(numbers)
            if value is not None:
                metric_values[metric.name] = numbers[metric.name] = value
    return {
        one_metric.name: metric_values[one_metric.name]
        for one_metric in metrics
        if one_metric.name in metric_values
    }


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _row(
    experiment: Experiment, metrics: Sequence[Metric], configuration: Configuration, runs: Sequence[Record]
) -> Row:
    right = [run for run in runs if run.failure is None]
    samples = [values_of(experiment, metrics, record) for record in right]
    spreads = {}
    for metric in metrics:
        values = [sample[metric.name] for sample in samples if metric.name in sample]
        if values:
            spreads[metric.name] = spread(values)
    disturbed = sum(record.is_disturbed for record in right)
    return Row(configuration, len(right), len(runs) - len(right), disturbed, spreads)


def _default_best() -> BestSpec:
    """Of all configurations, by wall time."""
    return BestSpec(f"Best {BUILT_IN['wall_s'][0]}", "wall_s", "min", (), ())


def _best(experiment: Experiment, spec: BestSpec, rows: Sequence[Row]) -> list[Best]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if spec.metric in row.spreads:
            groups.setdefault(key_of(_group(spec, row)), []).append(row)
    sign = 1.0 if spec.goal == "min" else -1.0
    best_groups = []
    for members in groups.values():
        first = min(members, key=lambda row: sign * row.spreads[spec.metric].median)
        own_spread = first.spreads[spec.metric]
        as_good = sum(_overlap(own_spread, row.spreads[spec.metric]) for row in members) - 1
        best_groups.append(Best(_group(spec, first), first, own_spread, as_good))
    values = {factor.name: factor.values for factor in experiment.factors}
    return sorted(
        best_groups, key=lambda best: [values[name].index(value) for name, value in best.group.items()]
    )


def _group(spec: BestSpec, row: Row) -> Configuration:
    return {name: row.configuration[name] for name in spec.per}


def _overlap(first: Spread, other: Spread) -> bool:
    return first.quarter <= other.three_quarters and other.quarter <= first.three_quarters

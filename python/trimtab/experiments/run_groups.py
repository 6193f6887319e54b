"""Single runs in groups: their means, and the runs that lie far from the others."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.experiments.factors import key_of
from trimtab.experiments.results import Record
from trimtab.experiments.spec import AverageSpec, Configuration, OutlierSpec
from trimtab.experiments.summary import columns, spread, values_of
from trimtab.experiments.swept import Swept


@dataclass(frozen=True)
class Run:
    """A run that counts, and its metrics, derived ones included."""

    record: Record
    metrics: dict[str, float]


@dataclass(frozen=True)
class Average:
    """The means of a group of runs; a metric that no run has is left out."""

    group: Configuration
    means: dict[str, float]
    runs: int


@dataclass(frozen=True)
class Outlier:
    """A run whose metric lies `distance` interquartile ranges below (negative) or above the quartiles of its group."""

    record: Record
    metric: str
    value: float
    quarter: float
    three_quarters: float

    @property
    def distance(self) -> float:
        """In interquartile ranges; infinite where all other values are equal."""
        low, high = self.quarter, self.three_quarters
        gap = self.value - high if self.value > high else self.value - low
        return gap / (high - low) if high > low else (float("inf") if gap > 0 else float("-inf"))


def runs_of(swept: Swept) -> list[Run]:
    """All runs that count, in the order of the configurations and samples."""
    metrics = columns(swept.experiment, swept.runs)
    place = {key_of(configuration): at for at, configuration in enumerate(swept.configurations)}
    right = [record for record in swept.runs if record.failure is None]
    right.sort(key=lambda record: (place[key_of(record.configuration)], record.sample))
    return [Run(record, values_of(swept.experiment, metrics, record)) for record in right]


def grouped(runs: Sequence[Run], per: Sequence[str]) -> list[tuple[Configuration, list[Run]]]:
    """Runs that have the same values of these factors, in order of their first run."""
    groups: dict[str, tuple[Configuration, list[Run]]] = {}
    for run in runs:
        group = {name: run.record.configuration[name] for name in per}
        groups.setdefault(key_of(group), (group, []))[1].append(run)
    return list(groups.values())


def averages(spec: AverageSpec, runs: Sequence[Run]) -> list[Average]:
    """A row for each group. Each run has the same weight."""
    rows = []
    for group, members in grouped(runs, spec.per):
        means = {}
        for metric in spec.metrics:
            values = [run.metrics[metric] for run in members if metric in run.metrics]
            if values:
                means[metric] = statistics.fmean(values)
        rows.append(Average(group, means, len(members)))
    return rows


def outliers(spec: OutlierSpec, runs: Sequence[Run]) -> list[Outlier]:
    """Runs beyond the quartiles of their group by more than `beyond` interquartile ranges, metric by metric."""
    rows = []
    for metric in spec.metrics:
        for _, members in grouped(runs, spec.per):
            having = [run for run in members if metric in run.metrics]
            if having:
                rows += _far_ones(spec, metric, having)
    return rows


def _far_ones(spec: OutlierSpec, metric: str, runs: Sequence[Run]) -> list[Outlier]:
    whole = spread([run.metrics[metric] for run in runs])
    margin = spec.beyond * whole.iqr
    low, high = whole.quarter - margin, whole.three_quarters + margin
    return [
        Outlier(run.record, metric, run.metrics[metric], whole.quarter, whole.three_quarters)
        for run in runs
        if not low <= run.metrics[metric] <= high
    ]

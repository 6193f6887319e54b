"""The violin figures that an experiment file asks for, as data for `trimtab.figures`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trimtab.experiments.columns import labelled
from trimtab.experiments.factors import titled
from trimtab.experiments.fields import as_word
from trimtab.experiments.run_groups import Run, grouped, runs_of
from trimtab.experiments.spec import Configuration, Experiment, ViolinSpec
from trimtab.experiments.summary import Summary
from trimtab.experiments.swept import Swept
from trimtab.figures import Violin, ViolinRow, Violins


def violins_of(swept: Swept, summary: Summary) -> tuple[list[Violins], list[str]]:
    """Every violin figure that has runs, and a note about each metric that none of its runs has."""
    runs = runs_of(swept)
    drawn, notes = [], []
    for spec in swept.experiment.violins:
        missing = [metric for metric in spec.rows if not any(metric in run.metrics for run in runs)]
        notes += [f"no row in figure '{spec.name}': no run has '{metric}'" for metric in missing]
        shown = [metric for metric in spec.rows if metric not in missing]
        if shown:
            drawn += [
                _figure(swept.experiment, summary, spec, shown, group) for group in grouped(runs, spec.per)
            ]
    return drawn, notes


def _figure(
    experiment: Experiment,
    summary: Summary,
    spec: ViolinSpec,
    metrics: Sequence[str],
    group: tuple[Configuration, list[Run]],
) -> Violins:
    configuration, runs = group
    labels = {metric.name: labelled(metric.title, metric.unit) for metric in summary.metrics}
    words = "-".join(as_word(value) for value in configuration.values())
    name = "-".join(filter(None, (spec.name, re.sub(r"[^\w.+-]+", "-", words))))
    title = ": ".join(filter(None, (spec.title, titled(configuration))))
    x_label = next(factor.title for factor in experiment.factors if factor.name == spec.x)
    by_x = grouped(runs, [spec.x])
    return Violins(
        name,
        title,
        x_label,
        tuple(ViolinRow(labels[metric], _violins(spec, metric, by_x)) for metric in metrics),
    )


def _violins(
    spec: ViolinSpec, metric: str, by_x: Sequence[tuple[Configuration, list[Run]]]
) -> tuple[Violin, ...]:
    """One for each value of x, in all rows at the same place; without values where no run has the metric."""
    return tuple(
        Violin(as_word(group[spec.x]), tuple(run.metrics[metric] for run in members if metric in run.metrics))
        for group, members in by_x
    )

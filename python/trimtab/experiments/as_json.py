"""All tables of a sweep as one JSON-able dictionary."""

from __future__ import annotations

from typing import Any

from trimtab.experiments.run_groups import Outlier, averages, outliers, runs_of
from trimtab.experiments.spec import BestSpec
from trimtab.experiments.summary import Best, Spread, Summary
from trimtab.experiments.swept import Swept


def json_of(swept: Swept, summary: Summary) -> dict[str, Any]:
    """Everything that the tables hold, for machines."""
    runs = runs_of(swept)
    return {
        "name": swept.experiment.name,
        "directory": str(swept.directory),
        "runs": swept.counts(),
        "stopped": swept.is_stopped,
        "metrics": {metric.name: {"title": metric.title, "unit": metric.unit} for metric in summary.metrics},
        "configurations": [
            {
                "configuration": row.configuration,
                "runs": row.runs,
                "failed": row.failed,
                "disturbed": row.disturbed,
                "metrics": {name: _spread_json(spread) for name, spread in row.spreads.items()},
            }
            for row in summary.rows
        ],
        "best": [
            {
                "title": spec.title,
                "metric": spec.metric,
                "goal": spec.goal,
                "groups": [_best_json(spec, best_row) for best_row in best_rows],
            }
            for spec, best_rows in summary.best
        ],
        "averages": [
            {
                "title": spec.title,
                "groups": [
                    {"group": row.group, "runs": row.runs, "means": row.means} for row in averages(spec, runs)
                ],
            }
            for spec in swept.experiment.averages
        ],
        "outliers": [
            {"title": spec.title, "runs": [_outlier_json(far) for far in outliers(spec, runs)]}
            for spec in swept.experiment.outliers
        ],
        "failures": [
            {
                "configuration": failure.configuration,
                "sample": failure.sample,
                "failure": failure.failure,
                "stderr": failure.stderr,
            }
            for failure in swept.failed
        ],
    }


def _outlier_json(far: Outlier) -> dict[str, Any]:
    return {
        "configuration": far.record.configuration,
        "sample": far.record.sample,
        "metric": far.metric,
        "value": far.value,
        "q1": far.quarter,
        "q3": far.three_quarters,
    }


def _best_json(spec: BestSpec, best: Best) -> dict[str, Any]:
    rest = {name: value for name, value in best.row.configuration.items() if name not in best.group}
    spreads = best.row.spreads
    return {
        "configuration": {**best.group, **rest},
        **_spread_json(best.spread),
        "show": {name: spreads[name].median for name in spec.show if name in spreads},
        "as_good": best.as_good,
    }


def _spread_json(spread: Spread) -> dict[str, float]:
    """A spread by the names that the tables use."""
    return {
        "median": spread.median,
        "iqr": spread.iqr,
        "q1": spread.quarter,
        "q3": spread.three_quarters,
        "min": spread.least,
        "max": spread.most,
        "n": spread.count,
    }

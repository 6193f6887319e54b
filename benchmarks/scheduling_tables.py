"""Results of the study of the operating system's scheduler as tables."""

from __future__ import annotations

from typing import Any

from benchmarks.study_tables import study_figures, study_run
from benchmarks.tables import Results, markdown

_FACTORS = ("application", "schedule", "threads")
_COST, _WAITING = "parallel_cost_s", "switching_s"


def averages(results: Results) -> str:
    """The publication's tables of means, one below the other."""
    return "\n\n".join(_average(table) for table in results["averages"])


def _average(table: dict[str, Any]) -> str:
    first = table["groups"][0]
    factors, metrics = list(first["group"]), list(first["means"])
    rows = [
        [
            *map(str, row["group"].values()),
            str(row["runs"]),
            *(f"{row['means'][name]:.4g}" for name in metrics),
        ]
        for row in table["groups"]
    ]
    titles = [_TITLES[name] for name in metrics]
    return f"**{table['title']}**\n\n{markdown([*factors, 'runs', *titles], rows)}"


_TITLES = {
    "switching_share": "share of parallel cost spent switching, %",
    "switches": "switches of the application",
    "all_switches": "all switches",
}


def cases(results: Results) -> str:
    """Medians and quartiles of each experiment."""
    rows = [
        [
            *(case["configuration"][name] for name in _FACTORS),
            _spread(case, _COST, 1.0, 3),
            _spread(case, _WAITING, 1e3, 1),
            _spread(case, "switching_share", 1.0, 1),
            _spread(case, "switches", 1.0, 0),
        ]
        for case in results["cases"]
    ]
    head = ["parallel cost, s", "waiting for a CPU, ms", "share, %", "switches"]
    return markdown([*_FACTORS, *head], rows)


def _spread(case: dict[str, Any], metric: str, unit: float, digits: int) -> str:
    median, quarter, three_quarters = (value * unit for value in case["metrics"][metric])
    return f"{median:.{digits}f} ({quarter:.{digits}f}-{three_quarters:.{digits}f})"


def outliers(results: Results) -> str:
    """How many runs lie far from the others of their experiment, by measure and application."""
    far = [run for table in results["outliers"] for run in table["runs"]]
    applications = list(dict.fromkeys(case["configuration"]["application"] for case in results["cases"]))
    rows = [
        [_MEASURES[metric], *(_count(far, metric, name) for name in applications)] for metric in _MEASURES
    ]
    return markdown(["measure", *applications], rows)


_MEASURES = {
    _COST: "parallel cost",
    _WAITING: "cost of switching the application",
    "all_switching_s": "cost of switching everything",
    "switches": "switches of the application",
    "all_switches": "all switches",
}


def _count(far: list[dict[str, Any]], metric: str, application: str) -> str:
    matches = [run["configuration"]["application"] == application for run in far if run["metric"] == metric]
    return str(sum(matches))


SCHEDULING_BLOCKS = {
    "study-run": study_run,
    "scheduling-averages": averages,
    "scheduling-cases": cases,
    "scheduling-outliers": outliers,
    "study-figures": study_figures,
}

"""What recording costs task programs, as tables."""

from __future__ import annotations

from typing import Any

from benchmarks.spread import Spread, judge, ratios, spread, together
from benchmarks.tables import Results, machine, markdown
from benchmarks.task_programs import BARE, WATCHED

MOST, MOST_OF_ALL = 1.10, 1.05
# Programs whose tasks are smaller have no bar of their own.
LEAST_TASK_US = 0.3


def _ratios(case: dict[str, Any]) -> list[float]:
    return ratios(case["times"][WATCHED], case["times"][BARE])


def _overhead(found: Spread) -> str:
    return (
        f"{100 * (found.median - 1):+.1f} % ({100 * (found.low - 1):+.1f} to {100 * (found.high - 1):+.1f})"
    )


def _length(case: dict[str, Any]) -> str:
    return "" if case["task_us"] is None else f"{case['task_us']:.3g}"


def programs(results: Results) -> str:
    """A line a program: its overhead with the 95 % interval of the pairs' median, and whether the bar is met."""
    rows = []
    for case in results["cases"]:
        found = spread(_ratios(case))
        is_small = case["task_us"] is not None and case["task_us"] < LEAST_TASK_US
        rows.append(
            [
                case["name"],
                case["kind"],
                f"{spread(case['times'][BARE]).median:.2f}",
                str(case["tasks"]),
                _length(case),
                _overhead(found),
                "tasks under 0.3 us" if is_small else judge(found, MOST),
            ]
        )
    head = [
        "program",
        "tasks by",
        "bare, s",
        "tasks",
        "mean, us",
        "overhead (95 % interval)",
        "at most 10 %",
    ]
    return markdown(head, rows)


def mean(results: Results) -> str:
    """The geometric mean of all programs' median ratios."""
    rows = []
    kinds = sorted({case["kind"] for case in results["cases"]})
    for kind in [*kinds, None]:
        chosen = [case for case in results["cases"] if kind in (None, case["kind"])]
        found = together([_ratios(case) for case in chosen])
        verdict = judge(found, MOST_OF_ALL) if kind is None else ""
        rows.append([kind or "all", str(len(chosen)), _overhead(found), verdict])
    table = markdown(["tasks by", "programs", "mean overhead (95 % interval)", "at most 5 %"], rows)
    left_out = "" if results["has_suite"] else "\n\nThe Barcelona OpenMP Tasks Suite was left out."
    return table + left_out


TASK_PROGRAM_BLOCKS = {
    "task-programs-machine": machine,
    "task-programs-mean": mean,
    "task-programs": programs,
}

"""What recording costs task programs, as tables."""

from __future__ import annotations

from typing import Any

from benchmarks.spread import Spread, judge, ratios, spread, together
from benchmarks.tables import Results, machine, markdown
from benchmarks.task_programs import BARE, THREADS, WATCHED

MOST, MOST_OF_ALL = 1.10, 1.05
# Programs whose tasks are smaller have no bar of their own.
LEAST_TASK_US = 0.3


def _ratios(case: dict[str, Any]) -> list[float]:
    return ratios(case["times"][WATCHED], case["times"][BARE])


def _overhead(result: Spread) -> str:
    return f"{100 * (result.median - 1):+.1f} % ({100 * (result.low - 1):+.1f} to {100 * (result.high - 1):+.1f})"


def _task_us(case: dict[str, Any]) -> float | None:
    """The mean that the run reports, microseconds; at most the time that the threads had for a task.

    Of kinds of tasks that run inside each other what is reported includes the inner ones, so that it can be more.
    """
    if case["task_us"] is None:
        return None
    possible_us = 1e6 * THREADS * spread(case["times"][BARE]).median / int(case["tasks"])
    return min(float(case["task_us"]), float(possible_us))


def _is_small(case: dict[str, Any]) -> bool:
    took = _task_us(case)
    return took is not None and took < LEAST_TASK_US


def _length(case: dict[str, Any]) -> str:
    took = _task_us(case)
    return "" if took is None else f"{took:.3g}"


def programs(results: Results) -> str:
    """A line a program: its overhead with the 95 % interval of the pairs' median, and whether the bar is met."""
    rows = []
    for case in results["cases"]:
        result = spread(_ratios(case))
        rows.append(
            [
                case["name"],
                case["kind"],
                f"{spread(case['times'][BARE]).median:.2f}",
                str(case["tasks"]),
                _length(case),
                _overhead(result),
                "tasks under 0.3 us" if _is_small(case) else judge(result, MOST),
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
    """The geometric mean of the programs' median ratios: by kind, of all, and of those whose tasks are not small."""
    cases = results["cases"]
    groups = {
        kind: [case for case in cases if case["kind"] == kind]
        for kind in sorted({case["kind"] for case in cases})
    }
    groups["all"] = cases
    groups["all with tasks of 0.3 us or more"] = [case for case in cases if not _is_small(case)]
    rows = []
    for name, chosen in groups.items():
        if not chosen:
            continue
        result = together([_ratios(case) for case in chosen])
        verdict = judge(result, MOST_OF_ALL) if name.startswith("all") else ""
        rows.append([name, str(len(chosen)), _overhead(result), verdict])
    table = markdown(["tasks by", "programs", "mean overhead (95 % interval)", "at most 5 %"], rows)
    left_out = "" if results["has_suite"] else "\n\nThe Barcelona OpenMP Tasks Suite was left out."
    return table + left_out


TASK_PROGRAM_BLOCKS = {
    "task-programs-machine": machine,
    "task-programs-mean": mean,
    "task-programs": programs,
}

"""The study of ASAT: from numbers of threads over time to how soon they follow the load."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.asat import stairs
from benchmarks.asat_tables import timelines

STEPS = [[0, 0], [2, 1], [5, 0], [8, 0]]


def case(counts: list[list[float]]) -> dict[str, Any]:
    return {
        "kind": "timeline",
        "load": "fast",
        "policy": "fit",
        "steps": STEPS,
        "counts": [counts],
        "work_cpus": [1.0],
        "cpu_time_ratio": [1.0],
    }


def cells(counts: list[list[float]]) -> list[str]:
    row = timelines({"cases": [case(counts)]}).splitlines()[-1]
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize(
    ("counts", "fewer", "again", "mean"),
    [
        ([[0, 2]], "never", "0.00 (1)", "2.00"),
        ([[0, 2], [2.5, 1], [5.75, 2]], "0.50 (1)", "0.75 (1)", "1.59"),
        ([[0, 2], [1, 1]], "0.00 (1)", "never", "1.12"),
        ([[0, 4], [2.5, 3], [3, 2], [5.25, 3], [6, 4]], "0.50 (1)", "1.00 (1)", "3.28"),
        ([[0, 2], [2.5, 1], [4, 2]], "0.50 (1)", "0.00 (1)", "1.81"),
    ],
)
def test_how_soon_threads_follow_the_load(
    counts: list[list[float]], fewer: str, again: str, mean: str
) -> None:
    assert cells(counts)[2:5] == [fewer, again, mean]


def test_a_line_stays_at_a_value_until_the_next() -> None:
    points = [(point.x, point.y) for point in stairs([[0, 2], [1, 1]], 3)]
    assert points == [(0, 2), (1, 2), (1, 1), (3, 1)]

"""Differences between sides of runs, and what is only noise."""

from __future__ import annotations

import pytest
from reports import typed
from trimtab.analysis.compare import compare
from trimtab.model.report import Report


def report(wall: float, **regions: float) -> Report:
    created = {
        "wall_s": wall,
        "efficiency": 0.5,
        "time": {"work": 0.5, "serial": 0.5},
        "regions": [
            {"name": name, "wall_s": value, "work_s": value, "wait_s": 0.0, "imbalance": None, "calls": 1}
            for name, value in regions.items()
        ],
    }
    return typed(created)


def side(*walls: float, **regions: float) -> list[Report]:
    return [report(wall, **regions) for wall in walls]


def test_a_faster_side_is_clear() -> None:
    result = compare(side(10.0, 10.2, 9.9, 10.1), side(8.0, 8.1, 7.9, 8.2))
    wall = result["total"]["wall_s"]
    assert (wall["before"], wall["after"]) == (pytest.approx(10.05), pytest.approx(8.05))
    assert wall["difference"] == pytest.approx(-2.0)
    assert wall["interval"] == [pytest.approx(-2.3), pytest.approx(-1.7)]
    assert wall["is_clear"] is True
    assert result["total"]["work"]["is_clear"] is False


def test_noise_is_not_clear() -> None:
    wall = compare(side(10.0, 11.0, 9.0, 10.5), side(9.8, 10.9, 9.2, 10.1))["total"]["wall_s"]
    low, high = wall["interval"]
    assert low < 0 < high
    assert wall["is_clear"] is False


def test_too_few_runs_say_nothing_of_noise() -> None:
    wall = compare(side(10.0), side(5.0, 5.0, 5.0))["total"]["wall_s"]
    assert wall["difference"] == -5.0
    assert wall["interval"] is None
    assert wall["is_clear"] is None


def test_regions_are_matched_by_name_and_sorted_by_change() -> None:
    result = compare(side(10.0, a=1.0, b=5.0, gone=1.0), side(10.0, a=1.5, b=2.0, fresh=1.0))
    by_name = {region["name"]: region["wall_s"] for region in result["regions"]}
    assert by_name["b"]["difference"] == -3.0
    assert (by_name["gone"]["after"], by_name["gone"]["difference"]) == (None, None)
    assert (by_name["fresh"]["before"], by_name["fresh"]["difference"]) == (None, None)
    assert [region["name"] for region in result["regions"]][2:] == ["b", "a"]


def test_runs_without_recording_compare_by_wall_time() -> None:
    bare = typed({"wall_s": 3.0, "efficiency": None, "time": None, "regions": []})
    result = compare([bare], [bare])
    assert result["total"]["wall_s"]["difference"] == 0.0
    assert result["total"]["efficiency"]["before"] is None


def test_a_side_needs_a_run() -> None:
    with pytest.raises(ValueError, match="needs a run"):
        compare([], side(1.0))

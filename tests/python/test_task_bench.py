"""The arithmetic of the task runtime's benchmarks, and that docs/performance/tasks.md shows the results that are kept."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from benchmarks import docs
from benchmarks.__main__ import SUITES
from benchmarks.spread import spread
from benchmarks.task_suite import task_cases
from benchmarks.task_tables import TARGETS, TASK_BLOCKS, Target, speed_up, task_peers, task_targets, verdict
from benchmarks.tasks import add_metg, metg


def _case(
    name: str, workers: int, not_available: list[str] | None = None, **systems: list[float]
) -> dict[str, Any]:
    return {
        "name": name,
        "title": name,
        "figure": "ns",
        "unit": "ns/task",
        "workers": workers,
        "others_share": [0.0],
        "run_again": 0,
        "not_available": not_available or [],
        "systems": {system: {"ns": values} for system, values in systems.items()},
    }


def _results(*cases: dict[str, Any]) -> dict[str, Any]:
    return {"cases": list(cases)}


def test_metg_is_where_half_of_the_peak_is_left() -> None:
    # A cost of 3 us a task: half is left where the work is as long as that.
    points = [(3 + 2.0**k, 2.0**k / (3 + 2.0**k)) for k in range(-5, 12)]
    assert metg(points) == pytest.approx(6, rel=0.05)


def test_metg_of_the_very_quick_and_the_very_slow() -> None:
    assert metg([(1.0, 0.6), (2.0, 0.9)]) == 1.0
    assert metg([(1.0, 0.1), (2.0, 0.3)]) == math.inf


def test_one_peak_for_all_systems() -> None:
    # The second system is twice as slow whatever the kernel: it has half of the first one's peak and no more.
    result = {
        "a": {f"stencil_{2**k}": 2.0**k for k in range(3)},
        "b": {f"stencil_{2**k}": 2.0**k * 2.1 for k in range(3)},
    }
    add_metg(result, 2)
    assert result["a"]["metg"] == pytest.approx(1e3) and result["b"]["metg"] == math.inf


def test_verdicts_need_the_whole_interval() -> None:
    shorter = Target("time", 20, 10, "ns", lambda _: None)
    assert [
        verdict(spread(values), shorter) for values in ([9.0, 10.0], [9.0, 11.0], [19.0, 21.0], [21.0, 22.0])
    ] == [
        "met, and the aim",
        "met",
        "open",
        "not met",
    ]
    overrides = Target("speed-up", 1.9, 1.97, "", lambda _: None, least=True)
    assert [
        verdict(spread(values), overrides) for values in ([1.98, 2.0], [1.91, 2.0], [1.8, 1.95], [1.2, 1.3])
    ] == [
        "met, and the aim",
        "met",
        "open",
        "not met",
    ]


def test_speed_up_is_of_pairs() -> None:
    results = _results(
        _case("fork_join", 1, trimtab=[10.0, 20.0, 12.0]), _case("fork_join", 2, trimtab=[5.0, 10.0, 6.0])
    )
    assert speed_up(results) == [2.0, 2.0, 2.0]
    assert "2.00 (2.00 to 2.00) | met, and the aim" in task_targets(results)


def test_what_is_not_available_is_not_zero() -> None:
    results = _results(_case("flat", 2, ["tbb"], trimtab=[10.0, 11.0], libgomp=[30.0, 33.0]))
    lines = task_peers(results).splitlines()
    assert [line for line in lines if "oneTBB" in line and "not available" in line]
    assert [
        line for line in lines if "libgomp" in line and "3.00 (3.00 to 3.00)" in line and "slower" in line
    ]
    assert task_targets(results).count("not available") == len(TARGETS) - 1


def test_smoke_run_has_every_case() -> None:
    def names(is_smoke: bool) -> list[tuple[str, int]]:
        return [(task_case.name, task_case.workers) for task_case in task_cases(is_smoke, 3, 2)]

    assert names(True) == names(False)
    assert len(set(names(False))) == len(names(False))
    assert {task_case.workers for task_case in task_cases(False, 3, 1)} == {1}


def test_page_shows_the_kept_results() -> None:
    text = SUITES["tasks"].page.read_text(encoding="utf-8")
    assert (
        docs.filled(text, json.loads(SUITES["tasks"].kept.read_text(encoding="utf-8")), TASK_BLOCKS) == text
    )

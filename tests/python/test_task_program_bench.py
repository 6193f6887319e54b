"""The arithmetic of the benchmark of task programs, and that its page shows the results that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import bots, docs
from benchmarks.__main__ import SUITES
from benchmarks.running import BenchError
from benchmarks.task_program_tables import TASK_PROGRAM_BLOCKS, mean, programs
from benchmarks.task_programs import WORD


def _case(
    name: str, ratio: float, task_us: float | None, rounds: int = 9, kind: str = "gcc"
) -> dict[str, Any]:
    spread = [1 + 0.001 * (at - rounds // 2) for at in range(rounds)]
    return {
        "name": name,
        "kind": kind,
        "tasks": 1000,
        "task_us": task_us,
        "others_share": [0.0] * rounds,
        "run_again": 0,
        "times": {"bare": [0.5] * rounds, "run": [0.5 * ratio * entry for entry in spread]},
    }


def _results(*cases: dict[str, Any], has_suite: bool = True) -> dict[str, Any]:
    return {"cases": list(cases), "has_suite": has_suite}


def test_a_bar_fails_only_where_the_whole_interval_lies_beyond_it() -> None:
    result = programs(
        _results(
            _case("slow", 1.2, 1.0),
            _case("quick", 1.02, 1.0),
            _case("near", 1.1, 1.0),
            _case("tiny", 1.5, 0.2),
        )
    )
    verdicts = {line.split("|")[1].strip(): line.split("|")[-2].strip() for line in result.splitlines()[2:]}
    assert verdicts == {"slow": "not met", "quick": "met", "near": "open", "tiny": "tasks under 0.3 us"}
    assert "+20.0 %" in result


def test_a_task_took_at_most_the_time_that_the_threads_had_for_it() -> None:
    """Tasks that run inside each other are reported with what ran inside them: 1000 of 1 ms do not fit into 2 x 0.5 s."""
    line = programs(_results(_case("inner", 1.0, 3000.0))).splitlines()[2]
    assert line.split("|")[5].strip() == "1e+03"


def test_the_mean_is_of_all_programs() -> None:
    cases = [_case("a", 1.0, 1.0), _case("b", 1.21, 1.0, kind="async"), _case("tiny", 4.0, 0.02)]
    lines = mean(_results(*cases, has_suite=False)).splitlines()
    result = {line.split("|")[1].strip(): line for line in lines if line.startswith("|")}
    assert "+69.2 %" in result["all"] and "not met" in result["all"]
    larger = result["all with tasks of 0.3 us or more"]
    assert "+10.0 %" in larger and "not met" in larger
    assert "left out" in lines[-1]


def test_what_a_suite_program_prints_is_read() -> None:
    printed = "Verification        = successful\nTime Program        = 0.125 seconds\n"
    assert bots.seconds(printed) == 0.125
    assert bots.is_right(printed)
    assert not bots.is_right(printed.replace("successful", "UNSUCCESSFUL"))
    with pytest.raises(BenchError, match="Time Program"):
        bots.seconds("nothing")


def test_a_folder_without_the_suite_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=f"{tmp_path}/common: expected a folder"):
        bots.build(bots.PROGRAMS[0], "gcc", tmp_path, tmp_path / "out")


def test_the_page_shows_the_results_that_are_kept() -> None:
    suite = SUITES[WORD]
    text = suite.page.read_text(encoding="utf-8")
    assert docs.filled(text, json.loads(suite.kept.read_text()), TASK_PROGRAM_BLOCKS) == text

"""The arithmetic of the benchmark of predicted gains, and that its page shows the results that are kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from trimtab.model.enumerations import Cause

from benchmarks import docs
from benchmarks.__main__ import SUITES
from benchmarks.planted_programs import PlantedProgram
from benchmarks.predicted_gains import WORD, predicted_gain
from benchmarks.predicted_gains_tables import (
    PREDICTED_GAINS_BLOCKS,
    is_near,
    prediction_faults,
    programs,
    summary,
    verdict,
)


def _case(name: str, predicted_s: float, *repaired: float, first: str = "imbalance") -> dict[str, Any]:
    return {
        "name": name,
        "severity": "50 %",
        "causes": ["imbalance"],
        "first_causes": [first],
        "predicted_s": [predicted_s],
        "times": {"faulty": [1.0] * len(repaired), "repaired": list(repaired)},
    }


@pytest.mark.parametrize(
    ("predicted_s", "measured_s", "expected"),
    [(0.45, 0.4, True), (0.47, 0.4, False), (0.09, 0.1, True), (0.02, 0.0, True), (0.03, 0.0, False)],
)
def test_near_is_by_the_gain_or_by_the_time(predicted_s: float, measured_s: float, expected: bool) -> None:
    assert is_near(predicted_s, measured_s, 1.0) is expected


def test_a_verdict_needs_the_whole_interval() -> None:
    assert verdict(_case("near", 0.4, 0.6, 0.61, 0.62)) == "met"
    assert verdict(_case("far", 0.4, 0.2, 0.21, 0.22)) == "not met"
    assert verdict(_case("wide", 0.4, 0.2, 0.6, 0.7)) == "open"
    assert verdict(_case("too wide to say", 0.4, 0.2, 0.8, 0.2, 0.8)) == "open"


def test_the_table_has_both_gains_and_the_faults_are_named() -> None:
    results = {"cases": [_case("near", 0.4, 0.6, 0.61, 0.62), _case("far", 0.4, 0.2, 0.21, 0.22, first="")]}
    near, far = programs(results).splitlines()[2:]
    assert "0.390 (0.380 to 0.400)" in near and "39%" in near and "+3%" in near
    assert far.rstrip(" |").endswith("not met")
    assert prediction_faults(results) == ["far, 50 %: predicted 0.400 s, measured 0.790 s"]
    assert "1 of 2 predictions are near, 0 open, 1 not near" in summary(results)
    assert "in 1 of 2 recorded runs" in summary(results)


def test_the_prediction_is_that_of_the_planted_cause() -> None:
    program = PlantedProgram("lock", (Cause.LOCK_CONTENTION,), "50 %", (), ())
    findings = [{"cause": "imbalance", "gain_s": 2.0}, {"cause": "lock contention", "gain_s": 1.0}]
    assert predicted_gain(program, {"findings": findings}) == 1.0
    assert predicted_gain(program, {"findings": findings[:1]}) == 0.0


def test_the_page_shows_the_results_that_are_kept() -> None:
    suite = SUITES[WORD]
    if not suite.kept.exists():
        pytest.skip("no results are kept yet: ./x bench --only predicted-gains --write-docs")
    text = suite.page.read_text(encoding="utf-8")
    assert docs.filled(text, json.loads(suite.kept.read_text()), PREDICTED_GAINS_BLOCKS) == text

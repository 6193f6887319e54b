"""The arithmetic of the benchmarks of Spark."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.__main__ import SUITES
from benchmarks.spark_overhead import overhead_faults, overhead_table
from benchmarks.spark_persist import persist_faults, persist_table

MISSING = {"missing": "java is not on PATH", "cases": []}


def persisted(each: list[float], last: list[float]) -> dict[str, Any]:
    """Results whose program as written takes 10 s in each round."""
    return {
        "cases": [
            {"shape": shape, "setting": setting, "seconds": seconds}
            for shape, policy in (("each", each), ("last", last))
            for setting, seconds in (("as written", [10.0] * 3), ("policy", policy))
        ]
    }


@pytest.mark.parametrize(
    ("each", "last", "faults"),
    [([9, 9.5, 10], [10, 10, 11], 0), ([9, 9.6, 10], [10, 10, 11], 1), ([10, 10, 10], [11, 11, 11], 2)],
)
def test_a_policy_that_gives_less_than_promised_is_a_fault(
    each: list[float], last: list[float], faults: int
) -> None:
    assert len(persist_faults(persisted(each, last))) == faults


def test_tables_have_medians_of_the_ratios_of_rounds() -> None:
    table = persist_table(persisted([5, 6, 8], [10, 10, 10]))
    assert "| an action after each iteration | policy | 6.0 | 0.60 | 0.50 to 0.80 |" in table
    bare = {"level": "bare", "seconds": [10.0, 20.0], "cpu_s": [10.0, 20.0]}
    recorded = {"level": "recorded", "seconds": [11.0, 24.0], "cpu_s": [10.0, 20.0]}
    lines = overhead_table({"tasks": 1000, "cases": [bare, recorded]}).splitlines()
    assert lines[2] == "| the job, s | 15.0 | 17.5 | 1.150 | 1.100 to 1.200 |"
    assert lines[3] == "| CPU time of the JVM, s | 15.0 | 15.0 | 1.000 | 1.000 to 1.000 |"


@pytest.mark.parametrize(("ratios", "faults"), [([1.0, 1.1, 1.2], 0), ([1.03] * 9, 0), ([1.04] * 9, 1)])
def test_recording_that_surely_costs_more_than_promised_is_a_fault(ratios: list[float], faults: int) -> None:
    bare = {"level": "bare", "seconds": [10.0] * len(ratios)}
    recorded = {"level": "recorded", "seconds": [10 * ratio for ratio in ratios]}
    assert len(overhead_faults({"tasks": 1, "cases": [bare, recorded]})) == faults


def test_nothing_is_promised_where_nothing_can_be_measured() -> None:
    assert persist_faults(MISSING) == overhead_faults(MISSING) == []
    assert persist_table(MISSING) == overhead_table(MISSING) == "left out, because java is not on PATH"


@pytest.mark.parametrize("word", ["spark-pooled", "spark-persist", "spark-overhead"])
def test_each_has_a_page_with_its_block(word: str) -> None:
    text = SUITES[word].page.read_text(encoding="utf-8")
    assert f"<!-- bench {word} -->" in text
    assert f"./x bench --only {word}" in text

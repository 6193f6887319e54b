"""The study of Spark: its experiments, and tables and figures of made-up results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trimtab.experiments import configurations, load

from benchmarks import docs
from benchmarks.spark_runs import IDLE, LEVELS, POOLED, SETTINGS, SHOWN, STOCK
from benchmarks.spark_study import (
    MEMORY,
    SHUFFLES,
    distribution,
    draw_spark,
    figure_names,
    iterations_of,
    programs_of,
)
from benchmarks.spark_study_tables import SPARK_BLOCKS, spark_memory, spark_modes, spark_reads, spark_time
from benchmarks.studies import SHORT

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "docs" / "experiments"


def shuffled(executors: int, delay_us: int, setting: str, seconds: float, opens: int) -> dict[str, Any]:
    """A case with two programs, of which the first is not shown; 6 of 8 s of its core time are work."""
    metrics = {"exchange.seconds": [99.0], "group_by.seconds": [seconds, seconds + 2, 100.0]}
    metrics |= {f"group_by.time.{part}": [0.0] for part in SHOWN}
    metrics |= {"group_by.time.application": [6.0], f"group_by.time.{IDLE}": [2.0]}
    metrics |= {"group_by.opens": [float(opens)], "group_by.open_s": [0.5], "group_by.stages": [2.0]}
    metrics |= {"group_by.blocks": [512.0], "group_by.most_blocks": [500.0]}
    metrics |= {"opens.read.width14": [30.0], "opens.read.width20": [10.0], "opens.write.width12": [5.0]}
    configuration = {"executors": executors, "delay_us": delay_us, "setting": setting}
    return {"file": SHUFFLES, "configuration": configuration, "metrics": metrics}


def iterated(setting: str, seconds: float) -> dict[str, Any]:
    metrics = {"seconds": [seconds]}
    for at in range(1, 11):
        metrics |= {f"iteration{at}.seconds": [seconds / 10], f"iteration{at}.blocks": [36.0]}
        metrics |= {f"iteration{at}.spilled_bytes": [1e6], f"iteration{at}.gc_s": [0.25]}
    return {"file": MEMORY, "configuration": {"memory": 480, "setting": setting}, "metrics": metrics}


RESULTS: dict[str, Any] = {
    "cases": [
        shuffled(1, 0, STOCK, 7, 1000),
        shuffled(2, 0, STOCK, 4, 1000),
        shuffled(2, 1000, STOCK, 8, 1000),
        shuffled(2, 1000, POOLED, 4, 90),
        *(iterated(setting, seconds) for setting, seconds in zip(LEVELS, (20, 10, 5, 4), strict=True)),
    ]
}


@pytest.mark.parametrize("file", [SHUFFLES, MEMORY])
def test_both_experiments_have_all_that_is_compared(file: str) -> None:
    chosen = configurations(load(EXPERIMENTS / file))
    expected = set(SETTINGS) if file == SHUFFLES else set(LEVELS)
    assert {entry["setting"] for entry in chosen} == expected
    assert 0 < len(configurations(load(EXPERIMENTS / file, variant=SHORT))) < len(chosen)
    if file == SHUFFLES:
        at_two = {(entry["delay_us"], entry["setting"]) for entry in chosen if entry["executors"] == 2}
        assert at_two == {(delay, setting) for delay in (0, 1000) for setting in SETTINGS}
        assert {entry["executors"] for entry in chosen} == {1, 2, 4}


def test_tables_have_medians_shares_and_ratios() -> None:
    assert programs_of(RESULTS) == ["group_by"]
    one, two = spark_time(RESULTS).splitlines()[2:]
    assert [cell.strip() for cell in one.split("|")[1:5]] == ["GroupBy", "1", "9.0", "75%"]
    assert one.rstrip("| ").endswith("25%") and "| 6.0 |" in " ".join(two.split())
    fast, slow = (" ".join(line.split()) for line in spark_modes(RESULTS).splitlines()[2:])
    assert fast == "| GroupBy | 0 ms | 6.0 | - | - | 1000 | - | - | 0.50 |"
    assert slow == "| GroupBy | 1 ms | 10.0 | 0.60 | - | 1000 | 90 | - | 0.50 |"
    assert " ".join(spark_reads(RESULTS).split()).endswith("| GroupBy | 2 | 512 | 500 |")
    rows = [" ".join(line.split()) for line in spark_memory(RESULTS).splitlines()[2:]]
    assert rows[1] == "| 480 MB | policy | 10.0 | 0.50 | 1.0 | 1.0 | 360 | 10 | 2.5 |"


def test_iterations_are_in_the_order_of_their_numbers() -> None:
    assert iterations_of(RESULTS["cases"][-1]) == list(range(1, 11))


def test_the_distribution_of_opens_ends_with_all_of_them() -> None:
    points = distribution(RESULTS["cases"][0], "read")
    assert [(point.x, point.y) for point in points] == [(16.384, 0.75), (1048.576, 1.0)]
    assert distribution({"metrics": {}}, "read") == ()


def test_all_figures_are_drawn_and_the_page_has_all_blocks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw_spark(RESULTS, tmp_path)
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(figure_names())
    assert all(path.read_bytes().startswith(b"<?xml") for path in tmp_path.iterdir())
    text = (ROOT / "docs" / "studies" / "spark.md").read_text(encoding="utf-8")
    blocks = {name: (lambda _: "filled") for name in SPARK_BLOCKS}
    assert docs.filled(text, RESULTS, blocks).count("filled") == len(SPARK_BLOCKS)

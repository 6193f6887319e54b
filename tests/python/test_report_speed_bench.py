"""The arithmetic of the benchmark of reports, and that its page shows the results that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import docs
from benchmarks.__main__ import SUITES
from benchmarks.report_speed import HTML, JSON, WORD, ReportCase
from benchmarks.report_speed_tables import REPORT_BLOCKS, report_faults, targets


def _case(events: int, seconds: float, drawings_ms: list[float]) -> dict[str, Any]:
    cost = {"wall_s": seconds, "cpu_s": seconds, "peak_bytes": 1e9}
    return {
        "events": events,
        "costs": {JSON: [cost], HTML: [cost]},
        "page_bytes": 25_000_000,
        "pages": [{"first_picture_s": 0.5, "drawings_ms": drawings_ms}],
    }


def test_a_run_has_four_events_a_task() -> None:
    command = ReportCase(10_000_000, Path("workloads")).command
    points, partition, steps = (int(word) for word in command[2::2])
    assert points // partition * steps * 4 == 10_000_000


def test_the_largest_run_is_judged() -> None:
    results = {"cases": [_case(1000, 20.0, [1.0]), _case(2000, 5.0, [1.0])]}
    assert report_faults(results) == []
    assert "5.00 (5.00 to 5.00) s | met" in targets(results)


def test_what_is_worse_than_promised_is_a_fault() -> None:
    results = {"cases": [_case(1000, 20.0, [20.0] * 6 + [1.0] * 94)]}
    assert [fault.split(":")[0] for fault in report_faults(results)] == [
        "report, time",
        "script of a step of zooming, 95 %",
    ]
    # Five of a hundred steps may take longer.
    results = {"cases": [_case(1000, 2.0, [20.0] * 5 + [1.0] * 95)]}
    assert report_faults(results) == []


def test_the_page_shows_the_results_that_are_kept() -> None:
    suite = SUITES[WORD]
    if not suite.kept.exists():
        pytest.skip("no results are kept yet: ./x bench --only report-speed --write-docs")
    text = suite.page.read_text(encoding="utf-8")
    assert docs.filled(text, json.loads(suite.kept.read_text()), REPORT_BLOCKS) == text

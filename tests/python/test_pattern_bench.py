"""The benchmark of OpenMP patterns: its cases, its verdicts, and that its page shows the results that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import docs, patterns
from benchmarks.__main__ import SUITES
from benchmarks.pattern_programs import PATTERNS, patterns_of, region_lines, source_of
from benchmarks.pattern_rows import COMPILERS, SCHEDULE
from benchmarks.pattern_tables import PATTERN_BLOCKS, faults, pattern_faults
from benchmarks.pattern_tables import patterns as table
from benchmarks.progress import Progress


def _case(**overrides: Any) -> dict[str, Any]:
    levels = {level: [1.0] * 6 for level in ("bare", "tuned", "frozen", "hand")}
    case = {"title": "a pattern", "has_knob": True, "most_of_hand": 1.10, "why_no_knob": "", "levels": levels}
    return {**case, "others_share": [0.0] * 6, "run_again": 0, **overrides}


def _with(**levels: list[float]) -> dict[str, Any]:
    case = _case()
    return {**case, "levels": {**case["levels"], **levels}}


def test_only_a_whole_interval_above_the_bar_fails() -> None:
    assert faults(_case()) == []
    assert faults(_with(tuned=[1.04] * 6)) == ["tuned above 1.03 of bare"]
    assert faults(_with(tuned=[1.02] + [1.5] * 5)) == []
    assert faults(_with(frozen=[1.04] * 5 + [1.2])) == ["frozen above 1.03 of bare"]
    assert faults(_with(hand=[0.9] * 6)) == ["frozen above 1.1 of by hand"]
    assert faults(_with(hand=[0.9] * 5 + [0.95])) == []
    fewer = _case(
        levels={level: [2.0 if level == "tuned" else 1.0] * 5 for level in ("bare", "tuned", "frozen")}
    )
    assert faults(fewer) == [], "five rounds have no 95 % interval"


def test_no_knob_needs_a_reason_and_no_schedule_by_hand() -> None:
    lacking = {"has_knob": False, "most_of_hand": None}
    assert faults({**_with(hand=[0.5] * 6), **lacking}) == ["no knob, and no reason was printed"]
    reported = {**_with(hand=[0.5] * 6), **lacking, "why_no_knob": "it is nested"}
    assert faults(reported) == []
    assert "no: it is nested" in table({"cases": [reported]})
    assert pattern_faults({"cases": [reported, _with(tuned=[2.0] * 6)]}) == [
        "a pattern: tuned above 1.03 of bare"
    ]


def test_cases_are_rows_and_cover_every_compiler() -> None:
    cases = patterns.pattern_cases(is_smoke=False)
    assert {case.compiler for case in cases} == set(COMPILERS)
    assert len({case.title for case in cases}) == len(cases)
    assert {case.compiler for case in patterns.pattern_cases(is_smoke=True)} == set(COMPILERS)
    for part, compiler in zip(patterns.PARTS, COMPILERS, strict=True):
        assert {case.compiler for case in patterns.pattern_cases(False, part)} == {compiler}


def test_rows_are_written_as_they_say() -> None:
    assert len({row.name for row in PATTERNS}) == len(PATTERNS)
    for compiler, language in COMPILERS.items():
        rows = patterns_of(compiler)
        source = source_of(rows, language)
        for row in rows:
            assert len(region_lines(source, row.name)) == len(row.calls), row.name
        by_hand = source_of([row for row in rows if row.has_schedule], language, by_hand=True)
        assert "schedule(dynamic, 8)" in by_hand and SCHEDULE not in by_hand
        # Of loops that must be shared out alike, and of scans, none is another by hand.
        assert "nowait_chain(" not in by_hand and "inscan" not in by_hand
        assert "schedule(static)" not in by_hand and "schedule(guided)" not in by_hand


def test_a_stopped_benchmark_continues(tmp_path: Path) -> None:
    file = tmp_path / "progress.json"
    first = Progress(file, 6, False)
    first.add("a pattern", _case())
    assert Progress(file, 6, False).done("a pattern") == _case()
    assert Progress(file, 6, False).done("another") is None
    assert Progress(file, 7, False).done("a pattern") is None, "of another benchmark"
    first.end()
    assert not file.exists()


def test_the_page_shows_the_kept_results() -> None:
    suite = SUITES["patterns"]
    text = suite.page.read_text(encoding="utf-8")
    if not suite.kept.exists():
        pytest.skip("nothing was measured yet")
    assert docs.filled(text, json.loads(suite.kept.read_text(encoding="utf-8")), PATTERN_BLOCKS) == text

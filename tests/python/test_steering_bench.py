"""The steering benchmarks' cases and tables, and that docs/performance/tuning.md shows the results that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import docs, steering
from benchmarks.__main__ import SUITES
from benchmarks.steering import SteeringCase, run_anew, steering_cases
from benchmarks.steering_tables import (
    STEERING_BLOCKS,
    steering_sharing,
    steering_targets,
    steering_times,
    steering_turns,
)


def _case(title: str, limit: float, why_not: str = "", **levels: list[float]) -> dict[str, Any]:
    return {
        "title": title,
        "most": limit,
        "most_of_hand": 1.05 if "hand" in levels else None,
        "why_not": why_not,
        "levels": levels,
        "others_share": [0.0] * len(next(iter(levels.values()), [])),
        "run_again": 0,
    }


def test_targets() -> None:
    rounds = 7
    results = {
        "cases": [
            _case(
                "gains",
                0.75,
                bare=[2.0] * rounds,
                tuned=[1.4] * rounds,
                again=[1.2] * rounds,
                hand=[1.0] * rounds,
            ),
            _case("loses", 1.01, bare=[2.0] * rounds, tuned=[2.2] * rounds, again=[2.0] * rounds),
            _case("cannot", 0.2, "no control group"),
        ]
    }
    gains, loses, cannot = steering_targets(results).splitlines()[2:]
    assert "0.70 (0.70-0.70)" in gains and "1.20 (1.20-1.20)" in gains and "met, not met" in gains
    assert "1.10 (1.10-1.10)" in loses and "not met" in loses
    assert "not measured: no control group" in cannot
    assert "2.00" in steering_times(results).splitlines()[2]


def test_a_run_that_takes_minutes_counts_in_all_rounds_time() -> None:
    stuck = _case("stuck", 0.1, bare=[1.0] * 6 + [54.0], tuned=[1.0] * 6 + [0.0])
    cells = [word.strip() for word in steering_targets({"cases": [stuck]}).splitlines()[2].split("|")]
    assert cells[2:4] == ["1.00 (1.00-1.00)", "0.10"]


def test_turns() -> None:
    def level(ratio: float) -> dict[str, list[float]]:
        return {"ratio": [ratio] * 9, "hooks_ns": [40.0, 50.0, 60.0] * 3, "region_ns": [2000.0] * 9}

    case = {"title": "loop, gcc", "most": 1.03, "levels": {"bare": level(1.0), "`--tune`": level(1.05)}}
    bare, tuned = steering_turns({"turns": [case]}).splitlines()[2:]
    assert "1.000 (1.000-1.000)" in bare and "met" not in bare and "1.03 " not in bare
    assert (
        " 2.0 |" in tuned
        and "50 (40 to 60)" in tuned
        and "1.050 (1.050-1.050)" in tuned
        and "not met" in tuned
    )
    apart = {"turns": [case], "apart": {"turns": {"date": "2026-11-23", "commit": "abc"}}}
    assert steering_turns(apart).splitlines()[:2] == ["2026-11-23, commit abc", ""]


def test_sharing() -> None:
    cases = [
        {"title": "copies", "bar": 1.1, "ratio": [1.02] * 6, "notes": []},
        {"title": "cap", "bar": 1.05, "ratio": [1.2] * 6, "notes": ["2", "3", "2"]},
    ]
    copies, cap = steering_sharing({"sharing": cases}).splitlines()[2:]
    assert "copies" in copies and "1.02 (1.02-1.02)" in copies and "| met" in copies
    assert "cap (2, 3)" in cap and "1.20" in cap and "not met" in cap


def test_cases_are_shorter_in_a_smoke_run() -> None:
    full, smoke = (steering_cases(entry, Path("bin"), Path("work")) for entry in (False, True))
    assert len({entry.title for entry in full}) == len(full)
    by_title = {entry.title: entry for entry in full}
    assert 0 < len(smoke) < len(full)
    for short in smoke:
        long = by_title[short.title]
        assert long.command[0] == short.command[0] and long.command != short.command


def test_what_is_promised_to_a_percent_has_more_rounds() -> None:
    cases = steering_cases(False, Path("bin"), Path("work"))
    assert {case.rounds(3) for case in cases if case.most < 1 and not case.hogs} == {3}
    assert {case.rounds(3) for case in cases if case.most >= 1 or case.hogs} == {15}


def test_a_bare_run_beside_hogs_is_stopped_and_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(steering, "_MOST_BARE_S", 0.2)
    stuck = SteeringCase("stuck", "gcc", ("sleep", "60"), 0.1, ("true",), hogs=1)
    assert steering._run(stuck, "bare", tmp_path, None) == (0.2, None)
    assert steering._run(stuck, "hand", tmp_path, None)[1] == ""


def test_a_part_is_measured_beside_the_results_of_the_rest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.json"
    rest = {"cases": [{"title": "a", "n": 1}, {"title": "b", "n": 1}], "turns": [2], "apart": {"turns": {}}}
    kept.write_text(json.dumps(rest))
    anew = {"cases": [{"title": "b", "n": 2}, {"title": "c", "n": 2}]}
    monkeypatch.setattr(steering, "_run_cases", lambda *_, only_hogs: anew if only_hogs else {})
    monkeypatch.setattr(steering, "_made", lambda *_: tmp_path)
    result = run_anew("hogs", kept)(tmp_path, tmp_path, False, 1, 0.0, print)
    assert [(case["title"], case["n"]) for case in result["cases"]] == [("a", 1), ("b", 2), ("c", 2)]
    assert (
        result["turns"] == [2]
        and set(result["apart"]) == {"turns", "hogs"}
        and result["apart"]["hogs"]["cpus"]
    )
    monkeypatch.setattr(steering, "run_sharing", lambda *_: [3])
    result = run_anew("sharing", kept)(tmp_path, tmp_path, False, 1, 0.0, print)
    assert (result["cases"], result["sharing"]) == (rest["cases"], [3])
    assert set(result["apart"]) == {"turns", "sharing"}


def test_what_was_measured_by_itself_says_so() -> None:
    case = _case("x", 0.1, bare=[2.0] * 6, tuned=[1.0] * 6)
    results: dict[str, Any] = {"cases": [{**case, "stopped": 2}]}
    assert "Beside CPU hogs" not in steering_targets(results)
    results["apart"] = {"hogs": {"date": "2026-11-23", "commit": "abc"}}
    assert steering_targets(results).startswith("Beside CPU hogs: 2026-11-23, commit abc\n\n")
    assert "| 6, 2 stopped |" in steering_times(results)


def test_the_page_shows_the_results_that_are_kept() -> None:
    suite = SUITES["steering"]
    text = suite.page.read_text(encoding="utf-8")
    assert docs.filled(text, json.loads(suite.kept.read_text(encoding="utf-8")), STEERING_BLOCKS) == text

"""Decisions of a run: as the report has them, and as people read them."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pytest
from reports import build, part, typed
from synthetic import LaneFile, ProcessFiles, decision, knob, policy, subject, team_of, write_run
from trimtab.history import Key, entries_of
from trimtab.model.enumerations import Outcome
from trimtab.model.report import Decision
from trimtab.readers import open_run
from trimtab.text.decisions import decision_line, lasting, summary
from trimtab.text.tables import tables
from trimtab.text.verdict import verdict

NAMES = [
    subject(1, name="mandel.c:48"),
    knob(1, 1, "threads"),
    knob(2, 1, "schedule", values="static,dynamic"),
    policy(1, "tuner"),
]
KEPT = b"run delay 31 %\0run_delay_share=0.31 passage_s=0.014 half="
DECISIONS = [
    decision(1.0, 1, 1, 1, (4, 3), Outcome.TRIAL, b"search"),
    decision(1.32, 2, 1, 1, (4, 3), Outcome.KEPT, KEPT, (0.22, 0.03, 9)),
    decision(1.32, 2, 1, 2, (0, 1), Outcome.KEPT, KEPT, (0.22, 0.03, 9)),
    decision(1.5, 3, 1, 2, (1, 7), Outcome.UNDONE, "zurück".encode()[:5]),
    decision(1.6, 4, 1, 1, (3, 2), Outcome.SET, b"load", policy_number=9),
    decision(1.7, 5, 1, 99, (3, 2), Outcome.SET),
]


def run_with(tmp_path: Path, decisions: list[bytes]) -> Path:
    lanes = [LaneFile(team_of(1, 4.0, [3.0, 2.0]), run_s=3.0), LaneFile(run_s=2.0)]
    return write_run(tmp_path / "run", ProcessFiles(lanes, NAMES, parallel=4.0, decisions=decisions))


@pytest.fixture
def report(tmp_path: Path) -> dict[str, Any]:
    return build(open_run(run_with(tmp_path, DECISIONS)))


@pytest.mark.parametrize("measured", [(math.nan, 0.03, 9), (0.22, math.inf, 9)])
def test_figures_that_are_no_numbers_are_left_out(tmp_path: Path, measured: tuple[float, float, int]) -> None:
    reason = b"slow\0share=nan pairs=1e999 passage_s=0.014"
    report = build(
        open_run(run_with(tmp_path, [decision(1.0, 1, 1, 1, (4, 3), Outcome.KEPT, reason, measured)]))
    )
    (damaged,) = report["decisions"]
    assert (damaged["gain"], damaged["uncertainty"], damaged["pairs"]) == (None, None, 0)
    assert damaged["evidence"] == {"passage_s": 0.014}


def test_a_decision_has_all_its_changes(report: dict[str, Any]) -> None:
    trial, kept, undone, rule = report["decisions"]
    assert kept["changes"] == [
        {"knob": "threads", "from": "4", "to": "3"},
        {"knob": "schedule", "from": "static", "to": "dynamic"},
    ]
    assert (kept["time_s"], kept["outcome"], kept["policy"]) == (pytest.approx(1.32), "kept", "tuner")
    assert (kept["subject"], kept["key"]) == ("mandel.c:48", "app+0x40")
    assert (kept["gain"], kept["uncertainty"], kept["pairs"]) == (0.22, 0.03, 9)
    assert kept["reason"] == "run delay 31 %"
    assert kept["evidence"] == {"run_delay_share": 0.31, "passage_s": 0.014}
    assert trial["gain"] is None
    assert undone["changes"] == [{"knob": "schedule", "from": "dynamic", "to": "7"}]
    assert undone["reason"].startswith("zur")
    assert (rule["outcome"], rule["policy"]) == ("set", None)


def test_lines(report: dict[str, Any]) -> None:
    trial, kept, undone, _ = report["decisions"]
    assert decision_line(part(Decision, trial)) == "at 1.00 s threads of mandel.c:48 4 -> 3, trial: search"
    assert decision_line(part(Decision, kept)) == (
        "at 1.32 s threads of mandel.c:48 4 -> 3, schedule static -> dynamic: run delay 31 %; gain 22.0 % ± 3.0 %"
    )
    assert ", undone: zur" in decision_line(part(Decision, undone))
    assert summary(typed(report).decisions) == "1 change kept, 1 tried, 1 set by rules"


def test_a_subject_that_is_called_by_its_knob_is_said_once(report: dict[str, Any]) -> None:
    named = {**report["decisions"][1], "subject": "threads of teams"}
    assert decision_line(part(Decision, named)).startswith("at 1.32 s threads of teams 4 -> 3, schedule")


def test_the_verdict_and_the_tables_have_what_lasted(
    report: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    stream = io.StringIO()
    verdict(typed(report), Path("run"), stream)
    tables(typed(report), Path("run"))
    for text in (stream.getvalue(), capsys.readouterr().out):
        assert "1 change kept, 1 tried, 1 set by rules" in text
        assert "at 1.32 s threads of mandel.c:48 4 -> 3, schedule" in text
        assert "at 1.00 s" not in text


def test_without_decisions_nothing_is_said(tmp_path: Path) -> None:
    report = build(open_run(run_with(tmp_path, [])))
    assert report["decisions"] == []
    stream = io.StringIO()
    verdict(typed(report), Path("run"), stream)
    assert "steering" not in stream.getvalue()


def test_a_tuned_run_without_decisions_and_a_policy_that_failed_are_told(tmp_path: Path) -> None:
    report = build(open_run(run_with(tmp_path, [])))
    report["steering"] = {"mode": "on"}
    report["unavailable"].append(
        {"what": "policy mine.py", "why": "it threw: oops", "remedy": "none", "kind": "policy"}
    )
    stream = io.StringIO()
    verdict(typed(report), Path("run"), stream)
    reported = "  steering: nothing was changed\n    policy mine.py was disabled: it threw: oops\n"
    assert reported in stream.getvalue()


def test_what_is_turned_all_the_time_hides_no_other_change(report: dict[str, Any]) -> None:
    _, kept, _, rule = report["decisions"]
    change = {"knob": "moved", "from": "0", "to": "1"}
    moved = [
        {**rule, "subject": "threads that share a CPU", "time_s": 2.0 + n, "changes": [change]}
        for n in range(5)
    ]
    stream = io.StringIO()
    verdict(typed(report | {"decisions": [kept, *moved]}), Path("run"), stream)
    assert "1 change kept, 0 tried, 5 set by rules" in stream.getvalue()
    assert "at 1.32 s threads of mandel.c:48 4 -> 3, schedule" in stream.getvalue()
    assert stream.getvalue().count("moved of threads") == 1 and "at 6.00 s moved" in stream.getvalue()


@pytest.mark.parametrize(
    ("steering", "told"),
    [
        (
            {"mode": "frozen", "known_settings": 0},
            "no settings are known for this program with these arguments",
        ),
        (
            {"mode": "frozen", "known_settings": 1},
            "nothing was changed, although earlier runs found 1 setting for its loops",
        ),
        ({"mode": "off", "threads": "fit"}, "nothing was changed"),
    ],
)
def test_that_nothing_was_changed_is_told_with_the_reason(
    tmp_path: Path, steering: dict[str, Any], told: str
) -> None:
    report = build(open_run(run_with(tmp_path, []))) | {"steering": steering}
    stream = io.StringIO()
    verdict(typed(report), Path("run"), stream)
    assert f"  steering: {told}" in stream.getvalue()


def test_a_file_that_was_cut_off_is_told(tmp_path: Path) -> None:
    run = run_with(tmp_path, DECISIONS)
    path = run / "100-0" / "decisions.tt"
    path.write_bytes(path.read_bytes()[:-1])
    (process,) = open_run(run).processes
    assert len(process.decisions) == 0, "the rest of the process is read"
    (lost,) = [entry for entry in process.unavailable if "decisions.tt: byte 24" in entry.why]
    assert lost.what


def test_what_a_search_confirmed_is_no_change_of_the_program(tmp_path: Path) -> None:
    confirmed = [
        decision(1.0, 1, 1, 1, (4, 4), Outcome.KEPT, b"the best"),
        decision(1.0, 1, 1, 2, (0, 0), Outcome.KEPT, b"the best"),
    ]
    (created,) = build(open_run(run_with(tmp_path, confirmed)))["decisions"]
    assert (
        decision_line(part(Decision, created))
        == "at 1.00 s threads of mandel.c:48 stays 4, schedule stays static: the best"
    )
    assert lasting([part(Decision, created)]) == []
    remembered = typed({"decisions": [created], "processes": [{"id": created["process"]}], "program": "app"})
    assert entries_of(remembered, Key("abc", "2", "", "Processor, 2 CPUs"), "run")[0].settings == {
        "threads": "4",
        "schedule": "static",
    }


def _decided(outcome: str, setting: tuple[str, str], reason: str = "", **other: Any) -> dict[str, Any]:
    change = {"knob": "schedule", "from": setting[0], "to": setting[1]}
    known_values = {
        "subject": "loop.c:8",
        "policy": "tuner",
        "gain": None,
        "uncertainty": None,
        "time_s": 1.0,
    }
    return {"outcome": outcome, "changes": [change], "reason": reason, **known_values, **other}


REJECTED = [
    _decided("trial", ("as-written", "fac2"), "imbalance"),
    _decided("undone", ("fac2", "as-written"), "the incumbent's turn"),
    _decided("trial", ("as-written", "fac2"), "imbalance"),
    _decided("undone", ("fac2", "as-written"), "no better", gain=-0.012, uncertainty=0.004),
    _decided("trial", ("as-written", "dynamic"), "imbalance"),
    _decided("undone", ("dynamic", "as-written"), "the incumbent's turn"),
]


def test_what_was_tried_without_success_is_said_with_the_reason(report: dict[str, Any]) -> None:
    stream = io.StringIO()
    verdict(typed(report | {"decisions": REJECTED}), Path("run"), stream)
    # A setting that was tried in several turns counts once.
    assert "0 changes kept, 2 tried\n" in stream.getvalue()
    lines = [line.strip() for line in stream.getvalue().splitlines() if "tried schedule" in line]
    assert lines == [
        "tried schedule fac2 at loop.c:8, undone: no better; gain -1.2 % ± 0.4 %",
        "tried schedule dynamic at loop.c:8, undone: the run ended before a gain was proved",
    ]


def test_what_was_tried_before_something_better_was_kept_is_left_out(report: dict[str, Any]) -> None:
    kept = _decided("kept", ("as-written", "guided"), "imbalance", gain=0.68, uncertainty=0.0002)
    stream = io.StringIO()
    verdict(typed(report | {"decisions": [*REJECTED, kept]}), Path("run"), stream)
    assert "tried schedule" not in stream.getvalue()
    assert "gain 68.0 % ± less than 0.1 %" in stream.getvalue()


def test_settings_from_earlier_runs_are_not_set_by_rules() -> None:
    known_values = _decided("set", ("as-written", "fac2"), "found by an earlier run", policy="history")
    rule = _decided("set", ("as-written", "static"), "overhead")
    assert summary([part(Decision, known_values)]) == "0 changes kept, 0 tried, 1 from earlier runs"
    assert (
        summary([part(Decision, known_values), part(Decision, rule)])
        == "0 changes kept, 0 tried, 1 from earlier runs, 1 set by rules"
    )

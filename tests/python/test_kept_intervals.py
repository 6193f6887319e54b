"""A page of a report that was just made: its lanes are drawn from the intervals of that report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from simulated.generating import single_case
from synthetic import write_run
from trimtab.analysis import build
from trimtab.analysis.kept_intervals import KeptIntervals
from trimtab.cli.main import main
from trimtab.readers import open_run
from trimtab.report.lane_page import lane_page


def _not_again(trace: Any) -> None:
    raise AssertionError(f"the intervals of {trace.id} are found out twice")


@pytest.mark.parametrize("processes", [1, 2])
def test_lanes_of_a_page_are_those_of_the_report(
    processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [single_case(seed).recording.files() for seed in range(processes)]
    for number, process in enumerate(files):
        process.pid += number
    run = open_run(write_run(tmp_path / "run", *files))
    expected, expected_report = lane_page(run), build(run)
    kept = KeptIntervals()
    monkeypatch.setattr("trimtab.analysis.stretches.intervals_of", _not_again)
    assert build(run, kept) == expected_report
    lanes = lane_page(run, kept=[kept])
    assert expected is not None and lanes == expected
    assert len(lanes.head["processes"]) == processes


def test_lanes_of_two_compared_runs_are_those_of_their_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [single_case(seed).recording.write(tmp_path / f"run-{seed}") for seed in range(2)]
    expected = lane_page(*map(open_run, runs))
    drawn: list[Any] = []

    def keep_lanes(*arguments: Any) -> None:
        drawn.append(arguments[2])

    monkeypatch.setattr("trimtab.report.write_html", keep_lanes)
    monkeypatch.setattr("trimtab.analysis.stretches.intervals_of", _not_again)
    command = ["compare", *map(str, runs), "--json", "--html", str(tmp_path / "page.html")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert expected is not None and drawn == [expected] and len(expected.head["processes"]) == 2


def test_what_was_taken_is_no_longer_kept(tmp_path: Path) -> None:
    run = open_run(single_case(0).recording.write(tmp_path / "run"))
    kept = KeptIntervals()
    build(run, kept)
    (process,) = (directory.name for directory in run.directory.iterdir() if directory.is_dir())
    assert kept.take(process) is not None
    assert kept.take(process) is None

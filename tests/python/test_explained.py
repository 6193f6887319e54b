"""Findings of small traces with times that are known: gains by replay, what-if, and the chain of waits in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic import LaneFile, ProcessFiles, S, write_run
from test_givers import chain_of_three
from test_intervals import NAMES, fork, lane, lock, part, trace_of
from trimtab.analysis.diagnosis import diagnosis_of
from trimtab.analysis.report import build
from trimtab.model.enumerations import Cause, RecordLevel
from trimtab.model.report import Report
from trimtab.readers import open_run
from trimtab.text.units import gain_words
from trimtab.traces.intervals import Doing


def report_of(folder: Path, *lanes: LaneFile, wall: float, level: RecordLevel = RecordLevel.TRACE) -> Report:
    process = ProcessFiles(list(lanes), NAMES, wall=wall, parallel=wall, level=level, cpus=float(len(lanes)))
    return build(open_run(write_run(folder / "run", process)))


def straggling(folder: Path) -> Report:
    """Six instances of 1 s on both lanes; in the last one a lane takes 5 s."""
    forks, first, second = [], [], []
    for number in range(5):
        forks += fork(number, number + 1, number + 1)
        first += part(number, number + 1, number + 1)
        second += part(number, number + 1, number + 1)
    forks += fork(5, 10, 6)
    first += part(5, 6, 6)
    second += part(5, 10, 6)
    return report_of(folder, lane(forks, first), lane(second), wall=10.0)


def test_a_straggler_is_a_finding_with_its_gain_and_chain(tmp_path: Path) -> None:
    report = straggling(tmp_path)
    (found,) = [finding for finding in report.findings if finding.cause == Cause.STRAGGLER]
    assert found.subject == "r"
    assert found.gain_s == pytest.approx(4.0)
    assert found.gain_low_s == pytest.approx(4.0) and found.gain_high_s == pytest.approx(4.0)
    assert found.chain == (
        "lane 0 waits for the end of r, for 4 s from 6 s on",
        "meanwhile lane 1 works in r, for 5 s",
    )
    wait = found.longest_wait
    assert wait is not None and (wait.process, wait.lane) == (report.processes[0].id, 0)
    assert (wait.begin_s, wait.end_s) == pytest.approx((6.0, 10.0))
    assert gain_words(found) == "about 4 s"


def test_what_if_begins_with_the_unchanged_run(tmp_path: Path) -> None:
    unchanged, *changes = straggling(tmp_path).what_if
    assert unchanged.replay_error == pytest.approx(0.0, abs=1e-9)
    assert unchanged.predicted_s == pytest.approx(10.0)
    assert changes[0].change == "stragglers take as long as the median"
    assert changes[0].predicted_s == pytest.approx(6.0)
    assert [change.predicted_s for change in changes] == sorted(change.predicted_s for change in changes)


def test_a_chain_goes_over_lanes_that_wait_too(tmp_path: Path) -> None:
    # The third lane waits at the end for the second one, which waits for a lock that the first one holds.
    trace = trace_of(
        tmp_path,
        lane(fork(0, 9), part(0, 8), lock(0, 0, 7)),
        lane(part(0, 9), lock(0, 7, 8)),
        lane(part(0, 1)),
        wall=9.0,
    )
    diagnosis = diagnosis_of(trace)
    assert diagnosis is not None
    (chain,) = [chain for chain in diagnosis.chains if len(chain.links) == 3]
    assert [(link.lane, link.group.doing) for link in chain.links] == [
        (2, Doing.JOIN),
        (1, Doing.LOCK),
        (0, Doing.WORK),
    ]
    assert (chain.begin_ns, chain.end_ns) == (1 * S, 9 * S)


def test_a_profile_has_formulas_and_no_replay(tmp_path: Path) -> None:
    report = report_of(
        tmp_path, lane(fork(0, 4), part(0, 4)), lane(part(0, 1)), wall=4.0, level=RecordLevel.PROFILE
    )
    assert report.what_if == ()
    assert all(finding.gain_low_s == 0 and not finding.chain for finding in report.findings)


def test_a_chain_of_tasks_is_a_finding_with_its_tasks(tmp_path: Path) -> None:
    report = report_of(tmp_path, *chain_of_three(has_dependences=True), wall=10.0)
    (chain,) = [finding for finding in report.findings if finding.cause == Cause.TASK_CHAIN]
    assert chain.subject == "t" and chain.gain_s == pytest.approx(3.5)
    assert "no ready task for 7 s" in chain.evidence
    assert chain.chain == (
        "lane 1 has no ready task at a barrier of r, for 7 s from 2 s on",
        "it ends at 9 s with t on lane 0, which became ready when t on lane 0 had ended, at 6 s",
        "that one became ready when t on lane 0 had ended, at 4 s",
        "t on lane 0 was running when the wait began, at 2 s",
    )


def test_independent_tasks_are_no_chain(tmp_path: Path) -> None:
    report = report_of(tmp_path, *chain_of_three(has_dependences=False), wall=10.0)
    assert all(finding.cause != Cause.TASK_CHAIN for finding in report.findings)

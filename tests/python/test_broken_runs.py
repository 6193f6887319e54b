"""Runs that lack events or an end: what is known is used, and each claim says what it does not know."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic import LaneFile, ProcessFiles, team_of, write_run
from test_intervals import NAMES, REGION, fork, lane, part
from trimtab.analysis.report import build
from trimtab.model.enumerations import BlameCause, RecordLevel
from trimtab.model.report import Report
from trimtab.readers import open_run
from trimtab.text.blame import limit_lines
from trimtab.text.tables import tables


def straggling(until: int = 8) -> list[tuple[list[tuple[float, bytes]], list[tuple[float, bytes]]]]:
    """Instances of 1 s on both lanes, of which the second works for half of it."""
    return [(fork(n, n + 1, n + 1) + part(n, n + 1, n + 1), part(n, n + 0.5, n + 1)) for n in range(until)]


def report_of(folder: Path, *lanes: LaneFile, wall: float = 8.0, ended: bool = True) -> Report:
    process = ProcessFiles(
        list(lanes),
        NAMES,
        wall=wall,
        parallel=wall,
        level=RecordLevel.TRACE,
        cpus=float(len(lanes)),
        ended=ended,
    )
    return build(open_run(write_run(folder / "run", process)))


def lanes_of(first: int, second: int, dropped: int) -> tuple[LaneFile, LaneFile]:
    """Lanes with so many of the instances; the second one found no room for the rest."""
    steps = straggling()
    return (
        lane(
            *[own for own, _ in steps[:first]],
            rows=team_of(REGION, 8.0, [8.0, 4.0], calls=8),
            run_s=8.0,
        ),
        lane(*[other for _, other in steps[:second]], dropped=dropped, run_s=8.0),
    )


def test_events_before_the_first_that_found_no_room_are_used(tmp_path: Path) -> None:
    report = report_of(tmp_path, *lanes_of(8, 4, dropped=8))
    by_events = [row for row in report.blame if row.basis.startswith("events")]
    assert by_events and by_events[0].subject == "r"
    assert all("of the first" in row.basis for row in by_events), by_events
    assert sum(row.share for row in report.blame) == pytest.approx(1 - (report.efficiency or 0.0), abs=1e-6)


def test_the_path_says_how_much_of_it_is_not_known(tmp_path: Path) -> None:
    report = report_of(tmp_path, *lanes_of(8, 4, dropped=8))
    assert sum(part.share for part in report.critical_path) == pytest.approx(1.0)
    (unknown,) = [each for each in report.critical_path if "found no room" in (each.reason or "")]
    assert unknown.cause is BlameCause.UNATTRIBUTED and "events of the first" in unknown.basis
    # The last event of the second lane is that of the fourth instance.
    assert 4.0 <= unknown.time_s <= 5.0
    assert sum(part.time_s for part in report.critical_path) == pytest.approx(8.0)


def test_nothing_is_predicted_from_a_part_of_a_run(tmp_path: Path) -> None:
    report = report_of(tmp_path, *lanes_of(8, 4, dropped=8))
    assert report.what_if == () and report.pop is None
    assert report.findings
    for finding in report.findings:
        assert "found no room" in finding.evidence and finding.gain_low_s == 0.0


def test_a_lane_without_any_event_leaves_nothing_to_say(tmp_path: Path) -> None:
    report = report_of(tmp_path, *lanes_of(8, 0, dropped=16))
    assert {row.basis for row in report.blame} <= {"profile"}
    assert report.critical_path == ()


def test_a_whole_run_has_no_limits(tmp_path: Path) -> None:
    report = report_of(tmp_path, *lanes_of(8, 8, dropped=0))
    assert {row.basis for row in report.blame} <= {"events", "profile"}
    assert not list(limit_lines(report))
    # No time lies between the regions: what a lane does next waits for the join all the same.
    shared = [row for row in report.what_if if row.change == "r: lanes share the work equally"]
    assert [row.predicted_s for row in shared] == [pytest.approx(6.0)]
    assert {row.basis for row in (*report.critical_path, *report.what_if)} == {"events"}
    assert all(";" not in finding.evidence for finding in report.findings)


def test_each_claim_of_a_killed_run_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(tmp_path, *lanes_of(8, 8, dropped=0), ended=False)
    by_events = [row for row in report.blame if row.basis.startswith("events")]
    assert by_events and all("no end recorded" in row.basis for row in by_events)
    assert report.findings
    assert all("no end is recorded" in finding.evidence for finding in report.findings)
    (line,) = limit_lines(report)
    assert "100 at 8" in line and "counted until then" in line
    rows = (*report.critical_path, *report.what_if)
    assert report.critical_path and report.what_if
    assert {row.basis for row in rows} == {"events until 8 s (no end recorded)"}
    tables(report, tmp_path)
    printed = capsys.readouterr().out
    words = " ".join(printed.split())
    assert words.count("from events until 8 s (no end recorded)") == 2, "both tables"

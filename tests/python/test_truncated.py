"""Regions that were under way when their process was killed, from rings that had lost their begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import NO, LaneFile, ProcessFiles, S, event, subject, write_run
from trimtab.analysis import build
from trimtab.model.enumerations import EventKind, Metric, TeamFields, WaitKind
from trimtab.readers import open_run
from trimtab.traces import rows_of, traces_of

END = 10.0
SUBJECT, INSTANCE = 1, 7


def at(seconds: float) -> int:
    return int(seconds * S)


def loops(count: int, begin: float) -> list[bytes]:
    return [event(at(begin) + n, EventKind.LOOP, 9, 5, 1) for n in range(count)]


def wait(begin: float, length: float, instance: int = INSTANCE) -> bytes:
    return event(at(begin), EventKind.WAIT, SUBJECT, at(length), instance, WaitKind.BARRIER)


def lane(events: list[bytes], **head: int) -> LaneFile:
    """Of a ring that was filled four times. Readers leave out its first event, which may be half overwritten."""
    return LaneFile([], events, run_s=4.0, written=4 * len(events), capacity=len(events), head=head)


def part(
    begin: float, instance: int = INSTANCE, waited: float = 0.0, summarized: int = 150
) -> dict[str, int]:
    return {
        "part_ticks": at(begin),
        "part_instance": instance,
        "part_wait": at(waited),
        "part_subject": SUBJECT,
        "summarized_events": summarized,
    }


def open_region(begin: float) -> dict[str, int]:
    return {"region_ticks": at(begin), "region_instance": INSTANCE, "region_subject": SUBJECT}


def killed(folder: Path, *lanes: LaneFile) -> Any:
    """The rows of the process: that of the region, and those of its lanes by number."""
    process = ProcessFiles(list(lanes), [subject(SUBJECT, name="solve")], wall=END, ended=False)
    run = open_run(write_run(folder / "run", process))
    trace = traces_of(run)[0]
    teams = {int(row["about"]): row for row in rows_of(trace.process, "team")}
    return run, rows_of(trace.process, "region"), teams


def seconds(value: Any) -> float:
    return round(float(value) / S, 6)


def test_the_header_tells_of_the_region_that_the_ring_has_lost(tmp_path: Path) -> None:
    forker = lane(loops(50, 9.0), **open_region(2.0), **part(2.0))
    other = lane(loops(50, 9.0), **part(3.0))
    run, regions, teams = killed(tmp_path, forker, other)
    assert len(regions) == 1
    assert (regions["subject"][0], regions["in_region"][0]) == (SUBJECT, NO)
    assert seconds(regions["sum"][0]) == 8.0
    assert {number: seconds(row["sum"]) for number, row in teams.items()} == {0: 8.0, 1: 7.0}
    assert seconds(teams[1]["x"][TeamFields.ARRIVAL]) == 1.0
    report = build(run)
    assert [region.name for region in report.regions] == ["solve"]
    assert report.regions[0].calls == 1


def test_nothing_is_open_where_the_header_says_nothing(tmp_path: Path) -> None:
    assert not len(killed(tmp_path, lane(loops(50, 9.0)))[1])


def test_later_events_say_more_than_the_header(tmp_path: Path) -> None:
    end = event(at(9.5), EventKind.REGION_END, SUBJECT, INSTANCE, 1, arg=1)
    assert not len(killed(tmp_path, lane([*loops(50, 9.0), end], **open_region(2.0), **part(2.0)))[1])


def test_a_part_that_ended_after_the_summary(tmp_path: Path) -> None:
    end = event(at(9.0), EventKind.WORK_END, SUBJECT, INSTANCE, at(2.0))
    forker = lane(loops(50, 9.0), **open_region(2.0), **part(2.0))
    teams = killed(tmp_path, forker, lane([*loops(50, 8.0), end], **part(3.0)))[2]
    assert seconds(teams[1]["sum"]) == 4.0
    assert seconds(teams[1]["x"][TeamFields.INNER_WAIT]) == 2.0
    assert seconds(teams[1]["x"][TeamFields.JOIN_WAIT]) == 1.0


@pytest.mark.parametrize(
    ("summarized", "waited"),
    # 200 events, of which the ring has 50: the waits are the 153rd and the last one.
    [(152, 1.75), (153, 1.25), (200, 1.0)],
)
def test_waits_before_the_summary_count_once(tmp_path: Path, summarized: int, waited: float) -> None:
    events = [*loops(2, 8.0), wait(8.5, 0.5), *loops(46, 9.0), wait(9.5, 0.25)]
    forker = lane(events, **open_region(2.0), **part(2.0, waited=1.0, summarized=summarized))
    teams = killed(tmp_path, forker)[2]
    assert seconds(teams[0]["x"][TeamFields.INNER_WAIT]) == waited


def test_waits_of_other_instances_do_not_count(tmp_path: Path) -> None:
    forker = lane([*loops(49, 8.0), wait(9.0, 0.5, instance=8)], **open_region(2.0), **part(2.0))
    assert seconds(killed(tmp_path, forker)[2][0]["x"][TeamFields.INNER_WAIT]) == 0.0


def test_parts_of_an_unknown_instance_belong_to_the_region_in_whose_time_they_lie(tmp_path: Path) -> None:
    forker = lane(loops(50, 9.0), **open_region(2.0), **part(2.0))
    inner, before = lane(loops(50, 9.0), **part(4.0, 0)), lane(loops(50, 9.0), **part(1.0, 0))
    another = lane(loops(50, 9.0), **part(4.0, 6))
    teams = killed(tmp_path, forker, inner, before, another)[2]
    assert {number: seconds(row["sum"]) for number, row in teams.items()} == {0: 8.0, 1: 6.0}


def test_figures_that_cannot_be(tmp_path: Path) -> None:
    """A damaged header: the row is bounded by the time of the process."""
    limit = (1 << 64) - 1
    head = {
        **open_region(2.0),
        **part(2.0),
        "part_wait": limit,
        "summarized_events": limit,
        "part_ticks": limit,
    }
    _, regions, teams = killed(tmp_path, lane(loops(50, 9.0), **head))
    assert seconds(regions["sum"][0]) == 8.0
    assert teams[0]["sum"] == 0
    assert Metric(int(teams[0]["what"])) == Metric.TEAM
    assert np.all(teams[0]["x"] <= at(END))

"""Why a region has nothing to tune, and how often its loops were executed, from rows that are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reports import build
from synthetic import LaneFile, ProcessFiles, knob, row, subject, team_of, write_run
from trimtab.model.enumerations import Metric, Schedule, SubjectKind, WaitKind
from trimtab.readers import open_run

REGION, LOOP = 1, 2
UNKNOWN = 0xFFFFFFFFFFFFFFFF
STATIC, DYNAMIC, AUTO = Schedule.STATIC, Schedule.DYNAMIC, Schedule.AUTO
INFERRED, SECTIONS = Schedule.STATIC_INFERRED, Schedule.SECTIONS
ORDERED = WaitKind.ORDERED


def loop(schedule: int, *, trip: int = 100, count: int = 10, region: int = REGION) -> bytes:
    executed = 0 if trip == UNKNOWN else trip * count
    return row(
        LOOP, Metric.LOOP, 1000, count=count, flags=schedule, x=(executed, count, 0, trip), in_region=region
    )


def told(
    folder: Path, rows: list[bytes], *names: bytes, threads: int = 2, calls: int = 10, mode: str = "on"
) -> list[str]:
    """Why there is nothing to tune, of a region with these rows."""
    team = team_of(REGION, 2.0, [1.0] * threads, calls=calls)
    lanes = [LaneFile(rows=[*team, *rows]), *[LaneFile() for _ in range(threads - 1)]]
    known_values = [subject(REGION, name="r"), subject(LOOP, kind=SubjectKind.LOOP), *names]
    process = ProcessFiles(lanes, known_values, parallel=2.0)
    report = build(open_run(write_run(folder, process, info={"steering": {"mode": mode}})))
    return [entry["why"] for entry in report["unavailable"] if entry["what"] == "tuning of r"]


@pytest.mark.parametrize(
    ("rows", "more", "why"),
    [
        ([loop(INFERRED, trip=UNKNOWN)], {}, "GCC inlines static loops"),
        ([loop(SECTIONS)], {}, "sections are handed out"),
        ([loop(AUTO)], {}, "schedule(auto) leaves the choice"),
        (
            [loop(DYNAMIC), row(3, Metric.WAIT, 10, flags=ORDERED, in_region=REGION)],
            {},
            "wait for each other in order",
        ),
        ([loop(STATIC, trip=3)], {}, "fewer than two iterations a thread (3 for 2)"),
        ([loop(STATIC, count=2)], {"calls": 2}, "it ran only 2 times"),
        ([loop(STATIC)], {"threads": 1}, "it ran with one thread"),
        ([], {}, "it has no worksharing loop"),
        ([loop(STATIC)], {}, "could not be measured"),
    ],
)
def test_the_reason_is_of_the_region(
    tmp_path: Path, rows: list[bytes], more: dict[str, int], why: str
) -> None:
    (result,) = told(tmp_path / "run", rows, **more)
    assert why in result


def test_what_has_a_knob_or_was_not_to_be_tuned_has_no_reason(tmp_path: Path) -> None:
    assert told(tmp_path / "known", [loop(STATIC)], knob(1, LOOP, "partition")) == []
    assert told(tmp_path / "off", [loop(INFERRED)], mode="frozen") == []


def test_a_region_that_takes_next_to_nothing_is_left_out(tmp_path: Path) -> None:
    other = team_of(3, 100.0, [50.0, 50.0], calls=10)
    assert told(tmp_path / "run", [loop(INFERRED), *other], subject(3, name="other")) == []


def loops_of(folder: Path, *lanes: list[bytes]) -> list[dict[str, Any]]:
    names = [subject(REGION, name="r"), subject(LOOP, kind=SubjectKind.LOOP)]
    process = ProcessFiles([LaneFile(rows=rows) for rows in lanes], names, parallel=2.0)
    (region,) = build(open_run(write_run(folder, process)))["regions"]
    result: list[dict[str, Any]] = region["loops"]
    return result


def test_executions_by_teams_of_several_forkers_add_up(tmp_path: Path) -> None:
    """Two threads fork ten teams of two each, and members of one team may be members of the other later."""
    first = [*team_of(REGION, 1.0, [0.5, 0.5], calls=10, lanes=[0, 2]), loop(STATIC)]
    second = [*team_of(REGION, 1.0, [0.5, 0.5], calls=10, lanes=[1, 2], forker=1), loop(STATIC)]
    (of_both,) = loops_of(tmp_path / "both", first, second, [loop(STATIC, count=20)])
    assert of_both["executions"] == 20
    (of_one,) = loops_of(tmp_path / "one", first, [loop(STATIC, count=4)])
    assert of_one["executions"] == 10

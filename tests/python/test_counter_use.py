"""What regions and tasks used of each counter, and what the machine's power meters counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reports import build
from synthetic import LaneFile, ProcessFiles, S, counter, event, subject, write_run
from trimtab.model.enumerations import EventKind, RecordLevel, SubjectKind
from trimtab.readers import open_run
from trimtab.text import counters as text
from trimtab.text.console import output

FIRST, SECOND, TASK = 1, 2, 3
NAMES = [subject(FIRST, name="first"), subject(SECOND, name="second")]
Part = tuple[float, float, int]


def lane_with(*parts: Part) -> LaneFile:
    """A lane that was in each subject from when until when, in seconds."""
    events = []
    for low, high, number in sorted(parts):
        events += [
            event(int(low * S), EventKind.WORK_BEGIN, number),
            event(int(high * S), EventKind.WORK_END, number),
        ]
    return LaneFile(events=events)


def run_of(
    folder: Path, lanes: list[LaneFile], counters: list[bytes], samples: list[Any], **fields: Any
) -> dict[str, Any]:
    process = ProcessFiles(
        lanes, [*NAMES, *counters], samples, **{"level": RecordLevel.TRACE, "parallel": 10.0, **fields}
    )
    return build(open_run(write_run(folder / "run", process)))


def uses_of(report: dict[str, Any], name: str) -> dict[str, tuple[float, float]]:
    """Value and certain part by subject."""
    return {
        use["name"]: (pytest.approx(use["value"], rel=1e-9), pytest.approx(use["certain"], abs=1e-9))
        for use in report["counter_use"]
        if use["counter"] == name
    }


CYCLES = [counter(1, "cycles", "1")]


def test_a_lanes_counter_goes_to_what_the_lane_ran(tmp_path: Path) -> None:
    lane = lane_with((0.0, 2.0, FIRST), (2.0, 3.0, SECOND), (3.5, 4.0, SECOND))
    report = run_of(
        tmp_path,
        [lane, lane_with((0.0, 10.0, FIRST))],
        CYCLES,
        [(1, 1, 100.0, 0), (2, 1, 300.0, 0), (4, 1, 340.0, 0)],
    )
    # 300 in the first for sure; from 2 s to 4 s 40, 3/4 of them in the second.
    assert uses_of(report, "cycles") == {
        "first": (300.0, 300.0),
        "second": (30.0, 0.0),
        "outside": (10.0, 0.0),
    }
    assert sum(use["share"] for use in report["counter_use"]) == pytest.approx(1.0)
    assert {use["key"] for use in report["counter_use"] if use["name"] == "outside"} == {None}


def test_the_machines_counter_goes_to_all_lanes_by_their_time(tmp_path: Path) -> None:
    lanes = [
        lane_with((0.0, 4.0, FIRST)),
        lane_with((0.0, 1.0, FIRST), (1.0, 4.0, SECOND)),
        lane_with((8.0, 9.0, SECOND)),
    ]
    samples = [(2.0, 1, 80.0), (4.0, 1, 160.0), (10.0, 1, 190.0)]
    report = run_of(tmp_path, lanes, [counter(1, "energy package-0", "J")], samples)
    # Until 2 s three quarters of the lanes' time are the first's, then half of it, then a sixth of 30 J is the second's.
    assert uses_of(report, "energy package-0") == {
        "first": (60.0 + 40.0, 0.0),
        "second": (20.0 + 40.0 + 5.0, 0.0),
        "outside": (25.0, 0.0),
    }
    assert report["energy"] == {
        "meters": ["energy package-0"],
        "seconds": 10.0,
        "joules": 190.0,
        "watts": 19.0,
        "joule_seconds": 1900.0,
    }


def test_what_was_counted_is_neither_lost_nor_made(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    lanes, samples, total = [], [], 0.0
    for number in range(5):
        edges = np.sort(random.uniform(0, 10, 40))
        parts = [
            (float(low), float(high), int(random.integers(1, 3)))
            for low, high in zip(edges[::2], edges[1::2], strict=True)
        ]
        lanes.append(lane_with(*parts))
        values = np.cumsum(random.uniform(0, 50, 30))
        samples += [
            (float(at), 1, float(value), number)
            for at, value in zip(np.sort(random.uniform(0, 10, 30)), values, strict=True)
        ]
        total += float(values[-1])
    samples += [(float(at), 2, 3.0 * at) for at in np.linspace(0.5, 10, 20)]
    samples.sort(key=lambda sample: sample[0])
    report = run_of(tmp_path, lanes, [*CYCLES, counter(2, "disk read", "B")], samples)
    of_lanes, of_machine = (
        [use for use in report["counter_use"] if use["counter"] == name] for name in ("cycles", "disk read")
    )
    assert sum(use["value"] for use in of_lanes) == pytest.approx(total)
    assert sum(use["value"] for use in of_machine) == pytest.approx(30.0)
    assert all(0 <= use["certain"] <= use["value"] * (1 + 1e-9) for use in report["counter_use"])
    assert [use["value"] for use in of_lanes] == sorted((use["value"] for use in of_lanes), reverse=True)


def test_tasks_have_theirs_too(tmp_path: Path) -> None:
    events = [
        event(int(at * S), kind, TASK, 1) for at, kind in ((1, EventKind.TASK_BEGIN), (3, EventKind.TASK_END))
    ]
    report = run_of(
        tmp_path,
        [LaneFile(events=events, worker_of=1)],
        [subject(TASK, kind=SubjectKind.TASK, name="stencil"), *CYCLES],
        [(1, 1, 10.0, 0), (3, 1, 50.0, 0)],
    )
    assert uses_of(report, "cycles") == {"stencil": (40.0, 40.0), "outside": (10.0, 10.0)}


def test_many_subjects_share_a_row(tmp_path: Path) -> None:
    names = [subject(10 + at, name=f"r{at}") for at in range(40)]
    parts = [(at / 4, at / 4 + 0.1 + at / 400, 10 + at) for at in range(40)]
    report = run_of(tmp_path, [lane_with(*parts)], [*names, *CYCLES], [(10, 1, 1000.0, 0)])
    named = [use["name"] for use in report["counter_use"]]
    assert len(named) == 24 + 2
    assert {"others", "outside", "r39"} <= set(named)
    assert "r0" not in named
    assert sum(use["value"] for use in report["counter_use"]) == pytest.approx(1000.0)


@pytest.mark.parametrize("samples", [[], [(1, 1, 0.0, 0)]])
def test_what_was_not_counted_has_no_rows(tmp_path: Path, samples: list[Any]) -> None:
    report = run_of(tmp_path, [lane_with((0.0, 2.0, FIRST))], CYCLES, samples)
    assert report["counter_use"] == []
    assert report["energy"] is None


def test_levels_and_counters_of_runtimes_have_none(tmp_path: Path) -> None:
    counters = [counter(1, "/threads/count/cumulative", "1")]
    report = run_of(tmp_path, [lane_with((0.0, 2.0, FIRST))], counters, [(1, 1, 5.0)])
    assert report["counter_use"] == []


def test_a_profile_knows_the_energy_of_the_run_only(tmp_path: Path) -> None:
    report = run_of(
        tmp_path,
        [lane_with((0.0, 2.0, FIRST))],
        [counter(1, "energy package-0", "J")],
        [(4.0, 1, 100.0)],
        level=RecordLevel.PROFILE,
    )
    assert report["counter_use"] == []
    assert report["energy"]["watts"] == 25.0


def test_parts_of_a_package_and_the_whole_board_are_not_added_to_it(tmp_path: Path) -> None:
    names = ["energy package-0", "energy package-1", "energy 0 core", "energy psys"]
    samples = [(2.0, at, 10.0 * at) for at in range(1, 5)]
    report = run_of(
        tmp_path, [LaneFile()], [counter(at, name, "J") for at, name in enumerate(names, 1)], samples
    )
    assert report["energy"]["meters"] == names[:2]
    assert report["energy"]["joules"] == 30.0


def test_processes_of_a_host_read_the_same_meter(tmp_path: Path) -> None:
    def process(pid: int, seconds: float) -> ProcessFiles:
        names = [*NAMES, counter(1, "energy package-0", "J")]
        return ProcessFiles([LaneFile()], names, [(seconds, 1, 10 * seconds)], pid=pid, wall=seconds)

    report = build(open_run(write_run(tmp_path / "run", process(100, 4.0), process(200, 8.0))))
    assert (report["energy"]["joules"], report["energy"]["seconds"]) == (80.0, 8.0)


def test_text_has_a_row_for_each_subject(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counters = [
        counter(1, "energy package-0", "J"),
        counter(2, "cycles", "1"),
        counter(3, "instructions", "1"),
    ]
    samples = [(4.0, 1, 100.0), (4.0, 2, 2e9, 0), (4.0, 3, 5e9, 0)]
    process = ProcessFiles(
        [lane_with((0.0, 3.0, FIRST), (3.0, 4.0, SECOND))],
        [*NAMES, *counters],
        samples,
        level=RecordLevel.TRACE,
        parallel=4.0,
    )
    from trimtab.analysis.report import build as build_report

    report = build_report(open_run(write_run(tmp_path / "run", process)))
    assert list(text.energy_lines(report)) == ["energy of the machine: 100 J, 25 W in the mean"]
    rows = text.use_table(report)
    assert rows is not None
    output().print(rows)
    lines = capsys.readouterr().out.splitlines()
    assert any("first" in line and "75 J (75.0 %)" in line and "2.50" in line for line in lines), lines
    assert any("second" in line and "500 M (25.0 %)" in line for line in lines), lines

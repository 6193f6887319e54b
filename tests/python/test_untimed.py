"""Short regions whose members were timed in a sample of instances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reports import build
from synthetic import LaneFile, ProcessFiles, S, event, row, subject, write_run
from trimtab.analysis.overhead import CHUNK_NS, COST_NS, SHARED_REGION_NS, UNTIMED_REGION_NS
from trimtab.export import export
from trimtab.model import WAIT_REDUCTION
from trimtab.model.enumerations import EventKind, Metric, RegionFlags, Schedule, SubjectKind, WaitKind
from trimtab.readers import open_run
from trimtab.readers.layout import ROW

UNTIMED, SAMPLE = RegionFlags.UNTIMED, RegionFlags.SAMPLE
STATIC, STATIC_CHUNKED, DYNAMIC = Schedule.STATIC, Schedule.STATIC_CHUNKED, Schedule.DYNAMIC
INFERRED = Schedule.STATIC_INFERRED
BARRIER = WaitKind.BARRIER


def sampled_team(wall: float, works: list[float], waited: list[float], arrived: list[float]) -> list[bytes]:
    """Rows of ten instances of region 1 that were timed in full."""
    mean = sum(works) / len(works)
    x = (10 * len(works), len(works), int(max(works) * S), int(mean * S))
    rows = [row(1, Metric.REGION, int(wall * S), count=10, x=x, flags=SAMPLE)]
    for lane, (work, wait, arrival) in enumerate(zip(works, waited, arrived, strict=True)):
        rest = (int(wait * S), int(arrival * S), 0, 0)
        rows.append(row(1, Metric.TEAM, int(work * S), description=lane, count=10, x=rest, flags=SAMPLE))
    return rows


def untimed(count: int, wall: float, members: int = 2) -> bytes:
    """The row of instances of region 1 that were stamped at fork and join only."""
    return row(
        1, Metric.REGION, int(wall * S), count=count, x=(count * members, members, 0, 0), flags=UNTIMED
    )


def report_of(tmp_path: Path, rows: list[bytes], parallel: float = 2.0) -> dict[str, Any]:
    lanes = [LaneFile(rows=rows, run_s=20.0), LaneFile(run_s=20.0)]
    process = ProcessFiles(
        lanes,
        [subject(1, name="r"), subject(2, kind=SubjectKind.LOOP)],
        wall=20.0,
        parallel=parallel,
        cpus=2.0,
    )
    return build(open_run(write_run(tmp_path / "run", process)))


SHORT = sampled_team(2.0, [0.5, 0.25], [1.0, 1.25], [0.25, 0.5])


def test_the_sample_stands_for_all_instances(tmp_path: Path) -> None:
    # 90 more, each a tenth shorter: timing took its time. Their work is ten times that of the sample, and what is
    # not work is the rest of each lane's time (9.1 times that in the sample), divided as there.
    report = report_of(tmp_path, [*SHORT, untimed(90, 16.2)])
    region = report["regions"][0]
    assert (region["calls"], region["threads"]) == (100, 2)
    assert region["wall_s"] == pytest.approx(18.2)
    assert [lane["work_s"] for lane in region["lanes"]] == pytest.approx([5.0, 2.5])
    assert [lane["calls"] for lane in region["lanes"]] == [100, 100]
    others = [1.75 * 9.1 - 5.0, 2.0 * 9.1 - 2.5]
    assert [lane["wait_s"] for lane in region["lanes"]] == pytest.approx(
        [others[0] * 1.0 / 1.25, others[1] * 1.25 / 1.75]
    )
    assert region["critical_path_s"] == pytest.approx(5.0)
    assert region["imbalance"] == pytest.approx(4 / 3)


def test_their_wall_is_parallel_time(tmp_path: Path) -> None:
    shares = report_of(tmp_path, [*SHORT, untimed(90, 16.2)])["time"]
    assert sum(shares.values()) == pytest.approx(1.0)
    # 1.8 s of 20 are outside of all regions, for one of two cores; the first lane's part of it is work or run delay.
    assert shares["serial"] == pytest.approx(1.8 / 40, abs=1e-3)


def counted(count: int, timed: int, wall: float, buckets: dict[int, int]) -> bytes:
    """As untimed(), but only `timed` of them were stamped; `buckets`: their part of the histogram."""
    created = np.frombuffer(untimed(count, wall), ROW).copy()
    created["timed"] = timed
    created["histogram"] = 0
    created["histogram"][0, list(buckets)] = list(buckets.values())
    return created.tobytes()


def test_what_was_only_counted_is_like_what_was_stamped(tmp_path: Path) -> None:
    stamped = report_of(tmp_path / "all", [*SHORT, counted(90, 90, 16.2, {10: 60, 12: 30})])
    several = report_of(tmp_path / "some", [*SHORT, counted(90, 9, 1.62, {10: 6, 12: 3})])
    for key in ("calls", "wall_s", "histogram", "critical_path_s", "lanes"):
        assert several["regions"][0][key] == stamped["regions"][0][key], key
    assert several["time"]["work"] == pytest.approx(stamped["time"]["work"])
    assert several["overhead"]["seconds"] < stamped["overhead"]["seconds"]


def test_longer_than_the_sample_counts_in_proportion(tmp_path: Path) -> None:
    region = report_of(tmp_path, [*SHORT, untimed(10, 8.0)])["regions"][0]
    # Twice as many, but five times as long.
    assert [lane["work_s"] for lane in region["lanes"]] == pytest.approx([2.5, 1.25])
    assert [lane["calls"] for lane in region["lanes"]] == [20, 20]


def test_other_rows_of_the_region_stay(tmp_path: Path) -> None:
    # What was timed in full before the region became short says nothing of the short ones.
    before = [
        row(1, Metric.REGION, 10 * S, x=(2, 2, 8 * S, 8 * S)),
        row(1, Metric.TEAM, 8 * S, x=(2 * S, 0, 0, 0)),
    ]
    region = report_of(tmp_path, [*before, *SHORT, untimed(90, 7.0)])["regions"][0]
    assert region["calls"] == 101
    assert region["lanes"][0]["work_s"] == pytest.approx(8.0 + 5.0)


def test_without_a_sample_nothing_is_estimated(tmp_path: Path) -> None:
    region = report_of(tmp_path, [untimed(90, 7.0)])["regions"][0]
    assert (region["calls"], region["wall_s"], region["work_s"]) == (90, pytest.approx(7.0), 0.0)


def test_inferred_loops_are_counted_for_all_instances(tmp_path: Path) -> None:
    loop = row(2, Metric.LOOP, 0, count=10, flags=INFERRED, x=(0, 0, 0, 2**64 - 1), in_region=1)
    region = report_of(tmp_path, [*SHORT, untimed(90, 16.2), loop])["regions"][0]
    assert region["loops"][0]["executions"] == 100


def test_static_loops_of_the_sample_stand_for_all(tmp_path: Path) -> None:
    def loop(schedule: int) -> bytes:
        return row(2, Metric.LOOP, 2 * S, count=10, flags=schedule, x=(40, 10, 0, 4), in_region=1)

    def told(schedule: int) -> tuple[int, int]:
        rows = [*SHORT, untimed(90, 16.2), loop(schedule)]
        (result,) = report_of(tmp_path / str(schedule), rows)["regions"][0]["loops"]
        return result["executions"], result["executed"]

    assert told(STATIC) == (100, 400)
    assert told(DYNAMIC) == (10, 40)


def test_reductions_of_the_sample_stand_for_all(tmp_path: Path) -> None:
    def told(reason: int) -> float:
        wait = row(2, Metric.WAIT, 2 * S, count=20, flags=reason, in_region=1)
        report = report_of(tmp_path / str(reason), [*SHORT, untimed(90, 16.2), wait])
        (seconds,) = report["regions"][0]["waits"].values()
        return float(seconds)

    assert told(WAIT_REDUCTION) == pytest.approx(20.0)
    assert told(BARRIER) == pytest.approx(2.0)


def test_blocks_of_static_loops_cost_nothing(tmp_path: Path) -> None:
    def seconds(schedule: int) -> float:
        loop = row(2, Metric.LOOP, S, count=10, flags=schedule, x=(40, 1_000_000_010, 0, 4), in_region=1)
        return float(report_of(tmp_path / str(schedule), [*SHORT, loop])["overhead"]["seconds"])

    assert seconds(DYNAMIC) - seconds(STATIC_CHUNKED) > CHUNK_NS


def test_own_cost_of_untimed_instances(tmp_path: Path) -> None:
    seconds = report_of(tmp_path, [*SHORT, untimed(1_000_000, 10.0)])["overhead"]["seconds"]
    # Twenty members of the sample.
    assert seconds == pytest.approx(20e-9 * (COST_NS["region"] + SHARED_REGION_NS) + 2e-3 * UNTIMED_REGION_NS)


def test_timeline_has_their_members_from_fork_to_join(tmp_path: Path) -> None:
    events = [
        event(4 * S, EventKind.REGION_BEGIN, 1, a=7, arg=1),
        event(6 * S, EventKind.REGION_END, 1, a=7, b=2, arg=1),
    ]
    # The forker's own part begins right after a region that was timed.
    events += [
        event(8 * S, EventKind.REGION_BEGIN, 1, a=8, arg=1),
        event(8 * S, EventKind.WORK_BEGIN, 1),
        event(9 * S, EventKind.WORK_END, 1),
        event(9 * S, EventKind.REGION_END, 1, a=8, b=2),
    ]
    process = ProcessFiles([LaneFile(events=events)], [subject(1, name="r")])
    line = build(open_run(write_run(tmp_path / "run", process)))["timeline"]
    assert sum(line["series"][0]["lanes"]) * line["dt_s"] == pytest.approx(2 * 2 + 1, abs=1e-3)


@pytest.mark.parametrize(("timed", "times"), [(4, 1), (2, 2), (1, 4)])
def test_timeline_has_those_that_were_only_counted(tmp_path: Path, timed: int, times: int) -> None:
    events = [
        event(4 * S, EventKind.REGION_BEGIN, 1, a=7, arg=1),
        event(4 * S + S // 1000, EventKind.REGION_END, 1, a=7, b=2, arg=1),
    ]
    lane = LaneFile(events=events, rows=[counted(4, timed, 0.001, {})])
    line = build(open_run(write_run(tmp_path / "run", ProcessFiles([lane], [subject(1, name="r")]))))[
        "timeline"
    ]
    assert sum(line["series"][0]["lanes"]) * line["dt_s"] == pytest.approx(times * 2 * 0.001, abs=1e-5)


def test_tables_say_which_rows_they_are(tmp_path: Path) -> None:
    lanes = [LaneFile(rows=[*SHORT, untimed(90, 7.0)])]
    run = open_run(write_run(tmp_path / "run", ProcessFiles(lanes, [subject(1, name="r")])))
    export(run, "csv", tmp_path / "tables")
    text = "".join(path.read_text() for path in (tmp_path / "tables").rglob("*.csv"))
    assert text.count(",sample,") == 3 and text.count(",members not timed,") == 1


def test_damaged_rows_are_no_error(tmp_path: Path) -> None:
    huge = row(1, Metric.REGION, 2**40, count=2**30, x=(2**63, 2**63, 2**63, 2**63), flags=UNTIMED)
    shares = report_of(tmp_path, [*SHORT, huge])["time"]
    assert sum(shares.values()) == pytest.approx(1.0)

"""Where the first thread was blocked: inside regions or outside, from context switches and the events of regions."""

from __future__ import annotations

from pathlib import Path

import pytest
from reports import build
from synthetic import NO, LaneFile, ProcessFiles, S, event, row, subject, team_of, write_run
from trimtab.analysis.blocked import blocked_share_outside
from trimtab.model.enumerations import EventKind, Metric, RegionFlags
from trimtab.readers import open_run


def at(seconds: float) -> int:
    return int(seconds * S)


def region(begin: float, end: float, level: int = 1) -> list[bytes]:
    return [
        event(at(begin), EventKind.REGION_BEGIN, 1, a=1, arg=level),
        event(at(end), EventKind.REGION_END, 1, a=1, b=2, arg=level),
    ]


def off(begin: float, end: float, *, preempted: bool = False, lane: int = 0) -> list[bytes]:
    out = event(at(begin), EventKind.SWITCH_OUT, NO, b=lane, arg=int(preempted))
    return [out, event(at(end), EventKind.SWITCH_IN, NO, b=lane)]


def process_of(events: list[bytes], switches: list[bytes], **lane: int) -> ProcessFiles:
    """10 s on 2 CPUs, 6 s of it in regions; the first lane works for 2 s of them, runs for 6 s in all and is blocked for 4 s."""
    lanes = [
        LaneFile(rows=team_of(1, 6.0, [2.0, 6.0]), events=events, run_s=6.0, **lane),
        LaneFile(run_s=6.0),
    ]
    return ProcessFiles(lanes, [subject(1, name="loop")], parallel=6.0, cpus=2.0, switches=switches)


def share_of(path: Path, process: ProcessFiles) -> float | None:
    return blocked_share_outside(open_run(write_run(path / "run", process)).processes[0])


def test_all_blocked_time_inside_regions(tmp_path: Path) -> None:
    # Blocked at the end of each region: 4 s. Without the switches, half of it would be taken to lie outside.
    events = [*region(0.0, 3.0), *region(5.0, 8.0)]
    switches = [*off(1.0, 3.0), *off(6.0, 8.0)]
    assert share_of(tmp_path, process_of(events, switches)) == 0.0


def test_blocked_time_is_divided_at_the_ends_of_regions(tmp_path: Path) -> None:
    events = [*region(1.0, 3.0), *region(5.0, 8.0)]
    # 1 s before the region and 1 s in it; 1 s in the second one and 1 s after it; what another lane did does not count.
    switches = [*off(0.0, 2.0), *off(7.0, 9.0), *off(3.0, 5.0, lane=1)]
    assert share_of(tmp_path, process_of(events, switches)) == pytest.approx(0.5)


def test_preempted_time_is_not_blocked_time(tmp_path: Path) -> None:
    switches = [*off(0.0, 1.0, preempted=True), *off(2.0, 3.0)]
    assert share_of(tmp_path, process_of(region(2.0, 4.0), switches)) == 0.0


def test_a_nested_region_is_part_of_the_outer_one(tmp_path: Path) -> None:
    events = [region(1.0, 5.0)[0], *region(2.0, 3.0, level=2), region(1.0, 5.0)[1]]
    assert share_of(tmp_path, process_of(events, off(4.0, 6.0))) == pytest.approx(0.5)


def test_only_the_last_events_are_left(tmp_path: Path) -> None:
    # The ring holds what came from 5 s on: being blocked before says nothing, for its regions are not known.
    process = process_of(region(5.0, 8.0), [*off(0.0, 4.0), *off(7.0, 9.0)], written=100)
    # The oldest record of a ring that wrapped may be half overwritten, so readers begin with the next: the end of a region.
    assert share_of(tmp_path, process) == pytest.approx(1.0)


def test_a_region_that_was_open_when_the_program_was_killed(tmp_path: Path) -> None:
    events = [*region(0.0, 3.0), region(5.0, 8.0)[0]]
    assert share_of(tmp_path, process_of(events, off(6.0, 9.0))) == 0.0


@pytest.mark.parametrize("events", [[], region(1.0, 2.0)[1:]])
def test_without_a_region_all_of_it_is_outside(tmp_path: Path, events: list[bytes]) -> None:
    assert share_of(tmp_path, process_of(events, off(4.0, 6.0))) == 1.0


def test_unknown_without_switches_or_with_sampled_regions(tmp_path: Path) -> None:
    assert share_of(tmp_path / "none", process_of(region(1.0, 2.0), [])) is None
    sampled = process_of(region(1.0, 2.0), off(1.0, 2.0))
    sampled.lanes[0].rows.append(row(1, Metric.REGION, at(1.0), flags=RegionFlags.UNTIMED))
    assert share_of(tmp_path / "sampled", sampled) is None


def test_the_account_uses_it(tmp_path: Path) -> None:
    events = [*region(0.0, 3.0), *region(5.0, 8.0)]

    def shares(name: str, switches: list[bytes]) -> dict[str, float]:
        report = build(open_run(write_run(tmp_path / name, process_of(events, switches))))
        return {key: round(share, 6) for key, share in report["time"].items() if share > 1e-6}

    # The first lane ran for 6 s. Blocked in regions only: it ran for 2 s there and for all 4 s outside.
    inner = shares("inside", [*off(1.0, 3.0), *off(6.0, 8.0)])
    assert inner == {"work": 0.6, "barrier_wait": 0.2, "serial": 0.2}
    # Blocked outside only: there it did nothing, and spun in the region's waits.
    outer = shares("outside", [*off(3.0, 5.0), *off(8.0, 10.0)])
    assert outer == {"work": 0.4, "barrier_wait": 0.2, "serial": 0.2, "unattributed": 0.2}
    # Not known: half and half, as waits and the time outside are equally long.
    assert shares("unknown", []) == {"work": 0.5, "barrier_wait": 0.2, "serial": 0.2, "unattributed": 0.1}

"""Shares of core time against cases worked out by hand (docs/reference/metrics.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reports import build, typed
from synthetic import (
    NO,
    LaneFile,
    ProcessFiles,
    S,
    counter,
    event,
    row,
    runtime_of,
    subject,
    team_of,
    write_run,
)
from trimtab.analysis.account import SHARES, Account
from trimtab.analysis.findings import findings
from trimtab.analysis.overhead import (
    CHUNK_NS,
    COST_NS,
    LOADED_S,
    LOCK_WAIT_MOST_NS,
    LOCK_WAIT_PART,
    SHARED_REGION_NS,
)
from trimtab.model.enumerations import Cause, EventKind, Metric, Schedule, SubjectKind, WaitKind
from trimtab.readers import open_run


def report_of(path: Path, *processes: ProcessFiles, **info: Any) -> dict[str, Any]:
    return build(open_run(write_run(path / "run", *processes, info=info or None)))


def lanes_of(count: int, **main: Any) -> list[LaneFile]:
    return [LaneFile(**main), *(LaneFile() for _ in range(count - 1))]


def check(report: dict[str, Any], **expected: float) -> None:
    shares = report["time"]
    assert tuple(shares) == SHARES
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-12)
    wanted = {**dict.fromkeys(SHARES, 0.0), **expected}
    # The tool's own cost in these runs is that of a few calls: no more than this moves.
    assert shares == pytest.approx(wanted, abs=1e-7)
    assert report["efficiency"] == shares["work"]


def test_imbalanced_region_in_half_the_time(tmp_path: Path) -> None:
    # 4 CPUs, 10 s, 5 s of it in a region where the lanes work 5, 3, 2 and 2 s; outside it the main lane runs
    # for 4 of 5 s.
    lanes = lanes_of(4, rows=team_of(1, 5.0, [5.0, 3.0, 2.0, 2.0]), run_s=9.0)
    process = ProcessFiles(lanes, [subject(1, name="loop")], parallel=5.0)
    report = report_of(tmp_path, process)
    check(report, work=(12 + 4) / 40, barrier_wait=8 / 40, serial=15 / 40, unattributed=1 / 40)
    region = report["regions"][0]
    assert (region["name"], region["calls"], region["threads"]) == ("loop", 1, 4)
    assert region["imbalance"] == pytest.approx(5 / 3)
    assert [lane["work_s"] for lane in region["lanes"]] == pytest.approx([5, 3, 2, 2])
    imbalance = next(finding for finding in report["findings"] if finding["cause"] == "imbalance")
    assert imbalance["gain_s"] == pytest.approx(2.0)
    serial = next(finding for finding in report["findings"] if finding["cause"] == "serial part")
    # For 1 s of the 5 s outside the first thread waited, which is a finding of its own.
    assert serial["gain_s"] == pytest.approx(4 * 3 / 4)
    assert [finding["gain_s"] for finding in report["findings"]] == sorted(
        (finding["gain_s"] for finding in report["findings"]), reverse=True
    )


@pytest.mark.parametrize(
    ("work", "delay_s", "gain_s"),
    [
        ([3.0] * 4, 1.0, 2.0 - 0.75),
        ([3.0] * 4, 4.0, None),
        ([5.0, 3.0, 2.0, 2.0], 4.0, 2.0),
        ([4.0, 3.0, 3.0, 2.0], 4.0, 1.0),
    ],
    ids=["part of it", "all of it", "none: it is always the same lane", "what is not always the same lane's"],
)
def test_imbalance_is_not_what_waits_for_a_cpu_explain(
    tmp_path: Path, work: list[float], delay_s: float, gain_s: float | None
) -> None:
    # The slowest lanes of all calls worked for 5 s together, 2 s longer than the mean.
    lanes = lanes_of(4, rows=team_of(1, 5.0, work, calls=10, slowest=5.0), run_s=9.0, delay_s=delay_s)
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=5.0))
    gains = [finding["gain_s"] for finding in report["findings"] if finding["cause"] == "imbalance"]
    assert gains == ([] if gain_s is None else [pytest.approx(gain_s)])


def test_cores_without_a_lane_are_serial_and_not_waiting(tmp_path: Path) -> None:
    lanes = lanes_of(2, rows=team_of(1, 10.0, [10.0, 10.0]), run_s=10.0)
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=10.0))
    check(report, work=0.5, serial=0.5)
    assert "fewer threads than CPUs" in [finding["cause"] for finding in report["findings"]]


def test_arrival_is_its_own_share(tmp_path: Path) -> None:
    lanes = lanes_of(4, rows=team_of(1, 10.0, [8.0] * 4, arrival=1.0), run_s=10.0)
    check(
        report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=10.0)),
        work=0.8,
        arrival=0.1,
        barrier_wait=0.1,
    )


def test_run_delay_is_taken_from_the_lane_that_had_it(tmp_path: Path) -> None:
    # Lane 1 has no CPU for half of the time: half of its 8 s of work and of its 2 s of waiting were none.
    lanes = lanes_of(2, rows=team_of(1, 10.0, [10.0, 8.0]), run_s=10.0)
    lanes[1].run_s = lanes[1].delay_s = 5.0
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=10.0, cpus=2.0))
    check(report, work=14 / 20, barrier_wait=1 / 20, run_delay=5 / 20)
    assert report["findings"][0]["cause"] == "CPU contention"
    assert report["os"]["run_delay_s"] == pytest.approx(5.0)


def test_more_lanes_than_cpus_that_keep_the_cpus_busy_lose_nothing_to_run_delay(tmp_path: Path) -> None:
    lanes = [LaneFile(run_s=5.0, delay_s=5.0) for _ in range(4)]
    lanes[0].rows = team_of(1, 10.0, [10.0] * 4)
    check(report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=10.0, cpus=2.0)), work=1.0)


def waiting_lanes(*states: tuple[float, float, float]) -> list[LaneFile]:
    """Lanes in a region of 10 s: how long each was in its part, on a CPU, and waiting for one."""
    lanes = [LaneFile(run_s=run_s, delay_s=delay_s) for _, run_s, delay_s in states]
    lanes[0].rows = team_of(1, 10.0, [work for work, _, _ in states])
    return lanes


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([(10, 9, 1), (10, 9, 1), (1, 1, 0), (1, 1, 0)], {"work": 1.0}),
        # 5 s of 20 are not this program's: its lanes slept for 19 s and waited for a CPU for 6 in it.
        (
            [(10, 7, 3), (10, 7, 3), (0.5, 0.5, 0), (0.5, 0.5, 0)],
            {"work": 0.75, "barrier_wait": 0.25 * 19 / 25, "run_delay": 0.25 * 6 / 25},
        ),
        # Those that spin have their CPU for as long as those that work.
        ([(10, 5, 5), (10, 5, 5), (5, 5, 5), (5, 5, 5)], {"work": 0.75, "barrier_wait": 0.25}),
        # Nobody waits for a core on which a part of the region slept.
        ([(10, 10, 0), (10, 4, 0)], {"work": 0.7, "unattributed": 0.3}),
        ([(10, 4, 0), (10, 10, 0)], {"work": 0.7, "unattributed": 0.3}),
    ],
    ids=["asleep", "asleep beside another program", "spinning", "asleep in its part", "the first one, too"],
)
def test_what_ran_on_a_cpu_comes_before_what_waited(
    tmp_path: Path, states: list[tuple[float, float, float]], expected: dict[str, float]
) -> None:
    process = ProcessFiles(waiting_lanes(*states), [subject(1)], parallel=10.0, cpus=2.0)
    check(report_of(tmp_path, process), **expected)


@pytest.mark.parametrize(
    ("runtime", "cpus", "expected"),
    [
        # Each ran for 5 s, worked for 2.5 of them, and waited for the others with 2.5 s of CPU and 5 s without.
        ("libomp", 2.0, {"work": 0.5, "barrier_wait": 0.5}),
        ("libiomp5", 2.0, {"work": 0.5, "barrier_wait": 0.5}),
        # Who does not give way is taken to have its CPU in waits as in its part.
        ("libgomp", 2.0, {"work": 0.25, "barrier_wait": 0.75}),
        # Nobody of its own to give way to.
        ("libomp", 4.0, {"work": 0.125, "barrier_wait": 0.375, "run_delay": 0.5}),
    ],
)
def test_who_gives_way_lacks_a_cpu_in_its_waits(
    tmp_path: Path, runtime: str, cpus: float, expected: dict[str, float]
) -> None:
    lanes = waiting_lanes(*[(2.5, 5.0, 5.0)] * 4)
    process = ProcessFiles(lanes, [runtime_of(1, runtime), subject(1)], parallel=10.0, cpus=cpus)
    check(report_of(tmp_path, process), **expected)


def test_lanes_that_wait_for_their_first_cpu_leave_the_work_to_others(tmp_path: Path) -> None:
    # Two lanes work all the time, two begin after 8 s in which they had no CPU, and find none left to do.
    lanes = [LaneFile(run_s=10.0 - delay_s, delay_s=delay_s) for delay_s in (1.0, 1.0, 9.0, 9.0)]
    late = [row(1, Metric.TEAM, 2 * S, description=lane, x=(0, 8 * S, 0, 0)) for lane in (2, 3)]
    lanes[0].rows = [*team_of(1, 10.0, [10.0, 10.0, 2.0, 2.0])[:3], *late]
    check(report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=10.0, cpus=2.0)), work=1.0)


def test_more_lanes_than_cpus_without_schedstat_share_the_cpus_evenly(tmp_path: Path) -> None:
    lanes = lanes_of(4, rows=team_of(1, 10.0, [10.0, 10.0, 5.0, 5.0]))
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=10.0, cpus=2.0))
    check(report, work=0.75, barrier_wait=0.25)
    finding = report["findings"][0]
    assert finding["cause"] == "more threads than CPUs"
    assert "OMP_NUM_THREADS=2" in finding["action"]


def test_nested_region_counts_its_lanes_once(tmp_path: Path) -> None:
    # Outer: lanes 0 and 1 for 10 s. Lane 0 forks an inner team (0, 2) for 4 s that works 4 and 3 s. Seen from
    # the outer region lane 0 worked 10 s, the inner 4 s included.
    lanes = lanes_of(3, run_s=10.0)
    lanes[0].rows = team_of(1, 10.0, [10.0, 10.0]) + team_of(2, 4.0, [4.0, 3.0], lanes=[0, 2], in_region=1)
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1), subject(2, parent=1)], parallel=10.0))
    check(report, work=23 / 40, barrier_wait=1 / 40, serial=16 / 40)
    assert [region["nested"] for region in report["regions"]] == [False, True]


def test_forker_waits_in_a_nested_region(tmp_path: Path) -> None:
    # As before, but the inner team's lane 0 works 1 s and waits 3: the outer region has these as waits.
    lanes = lanes_of(3, run_s=10.0)
    outer = team_of(1, 10.0, [10.0, 10.0])
    outer[1] = row(1, Metric.TEAM, 7 * S, description=0, x=(0, 0, 3 * S, 0))
    lanes[0].rows = outer + team_of(2, 4.0, [1.0, 4.0], lanes=[0, 2], in_region=1)
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1), subject(2, parent=1)], parallel=10.0))
    check(report, work=(7 + 10 + 4) / 40, barrier_wait=3 / 40, serial=16 / 40)


def test_nested_teams_that_are_more_than_the_cpus_are_no_other_program(tmp_path: Path) -> None:
    # Two lanes, each of which forks a team of two for as long: four threads on two CPUs, and never more than two a team.
    lanes = [LaneFile(run_s=5.0, delay_s=5.0) for _ in range(4)]
    lanes[0].rows = team_of(1, 10.0, [10.0, 10.0]) + team_of(2, 10.0, [10.0, 10.0], lanes=[0, 2], in_region=1)
    lanes[1].rows = team_of(2, 10.0, [10.0, 5.0], lanes=[1, 3], in_region=1)
    report = report_of(
        tmp_path, ProcessFiles(lanes, [subject(1), subject(2, parent=1)], parallel=10.0, cpus=2.0)
    )
    assert report["threads"] == 2
    causes = [finding["cause"] for finding in report["findings"]]
    assert "CPU contention" not in causes
    crowded = report["findings"][causes.index("more threads than CPUs")]
    assert "4.0 threads at a time" in crowded["evidence"] and "OMP_MAX_ACTIVE_LEVELS=1" in crowded["action"]


@pytest.mark.parametrize(("hosts", "gain"), [(1, 5.0), (2, None)])
def test_few_threads_cost_what_cpus_are_without_one(tmp_path: Path, hosts: int, gain: float | None) -> None:
    # One or two threads of the program's own, each with teams of one, on two CPUs.
    lanes = [LaneFile(team_of(1, 10.0, [10.0], lanes=[at]), run_s=10.0) for at in range(hosts)]
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=10.0, cpus=2.0))
    result = {finding["cause"]: finding["gain_s"] for finding in report["findings"]}
    assert result.get("fewer threads than CPUs") == (None if gain is None else pytest.approx(gain))


@pytest.mark.parametrize(("chunk", "smaller"), [(1, "iterations"), (4, "chunks")])
def test_chunks_of_one_iteration_cannot_be_smaller(tmp_path: Path, chunk: int, smaller: str) -> None:
    loop = row(2, Metric.LOOP, 15 * S, flags=Schedule.DYNAMIC, x=(100, 100, chunk, 100), in_region=1)
    lanes = lanes_of(2, rows=[*team_of(1, 10.0, [10.0, 5.0]), loop], run_s=10.0)
    report = report_of(
        tmp_path,
        ProcessFiles(lanes, [subject(1), subject(2, kind=SubjectKind.LOOP)], parallel=10.0, cpus=2.0),
    )
    result = {finding["cause"]: finding["action"] for finding in report["findings"]}
    assert result["imbalance"].startswith(f"make the {smaller} smaller")


def test_program_without_regions(tmp_path: Path) -> None:
    report = report_of(tmp_path, ProcessFiles(user=8.0))
    check(report, work=8 / 40, serial=30 / 40, unattributed=2 / 40)
    assert report["regions"] == []
    assert any(entry["what"] == "OpenMP regions" for entry in report["unavailable"])


def test_threads_without_regions_are_not_serial(tmp_path: Path) -> None:
    process = ProcessFiles(user=20.0, names=[counter(1, "process run delay", "s")], samples=[(10.0, 1, 4.0)])
    check(report_of(tmp_path, process), work=0.5, run_delay=0.1, unattributed=0.4)


def of_looks(values: dict[str, float], user: float = 4.0) -> ProcessFiles:
    """Ten seconds on four CPUs; `values`: of counters at the end."""
    names = [counter(number, name, "s") for number, name in enumerate(values, 1)]
    samples = [(10.0, number, value) for number, value in enumerate(values.values(), 1)]
    return ProcessFiles(user=user, names=names, samples=samples)


def test_run_delay_of_ended_threads_counts(tmp_path: Path) -> None:
    delays = {"process run delay": 4.0, "run delay of ended threads": 8.0}
    check(report_of(tmp_path, of_looks(delays, user=20.0)), work=0.5, run_delay=0.3, unattributed=0.2)


def test_idle_time_without_lanes_is_divided_as_the_looks_say(tmp_path: Path) -> None:
    """Of 36 s without work the looks saw 24: as many of each kind, and CPUs without a thread for a quarter."""
    looks = {
        "first thread's CPU time": 1.0,
        "looks at threads": 50.0,
        "idle: no thread": 6.0,
        "idle: waits for threads": 9.0,
        "idle: waits for files": 3.0,
        "idle: sleeps": 6.0,
    }
    report = report_of(tmp_path, of_looks(looks))
    check(report, work=0.1, serial=0.225, unattributed=0.675)
    blame = {(entry["cause"], entry["subject"] or entry["reason"]): entry for entry in report["blame"]}
    idle = 0.9
    assert {about: entry["share"] for about, entry in blame.items()} == {
        ("serial part", None): pytest.approx(idle / 4),
        ("unattributed", "threads waited for each other: a lock, a condition, a join"): pytest.approx(
            idle * 9 / 24
        ),
        ("blocking I/O", "waits for files"): pytest.approx(idle / 8),
        ("unattributed", "threads slept until a time"): pytest.approx(idle / 4),
    }
    assert {entry["basis"] for entry in report["blame"]} == {"profile", "looks at threads"}


def test_looks_that_saw_no_idle_cpu_explain_nothing(tmp_path: Path) -> None:
    report = report_of(tmp_path, of_looks({"looks at threads": 3.0, "idle: sleeps": 0.0}, user=20.0))
    (entry,) = report["blame"]
    assert (entry["cause"], entry["basis"]) == ("unattributed", "profile")


def test_own_cost_is_runtime(tmp_path: Path) -> None:
    # 1 M regions, which cost each of four threads, 2 M waits, and a loop of 5 M chunks.
    rows = [
        *team_of(1, 10.0, [10.0] * 4, calls=1_000_000),
        row(2, Metric.WAIT, 0, count=2_000_000, in_region=1),
        row(3, Metric.LOOP, 0, x=(0, 5_000_000, 0, 0), in_region=1),
    ]
    process = ProcessFiles(lanes_of(4, rows=rows, run_s=10.0), [subject(1)], parallel=10.0)
    home = process.write(tmp_path / "run")
    events = home / "lane-0000.events"
    data = bytearray(events.read_bytes())
    # clock_reads is the last field of the lane header: 10 M reads of 20 ns.
    offset = 64 + 120 - 8
    data[offset : offset + 8] = (10_000_000).to_bytes(8, "little")
    events.write_bytes(data)
    report = build(open_run(write_run(tmp_path / "run")))
    own_value = 4e-3 * (COST_NS["region"] + SHARED_REGION_NS) + 2e-3 * COST_NS["wait"] + 5e-3 * CHUNK_NS + 0.2
    assert report["overhead"]["seconds"] == pytest.approx(own_value, rel=1e-6)
    assert report["overhead"]["share"] == pytest.approx(own_value / 40, rel=1e-6)
    check(report, work=1 - own_value / 40, runtime=own_value / 40)


def test_own_cost_of_a_start(tmp_path: Path) -> None:
    process = ProcessFiles(lanes_of(1), setup=0.01, sampler=0.02, user=1.0)
    assert report_of(tmp_path, process)["overhead"]["seconds"] == pytest.approx(0.03 + LOADED_S)


def test_own_cost_is_paid_again_by_who_waits(tmp_path: Path) -> None:
    # Lane 1 waits for half as long as the two work: half of what the waits inside cost, their clock reads included.
    rows = [*team_of(1, 10.0, [10.0, 10.0 / 3]), row(2, Metric.WAIT, 0, count=2_000_000, in_region=1)]
    process = ProcessFiles(lanes_of(2, rows=rows, run_s=10.0), [subject(1)], parallel=10.0)
    seconds = report_of(tmp_path, process)["overhead"]["seconds"]
    regions = 2e-9 * (COST_NS["region"] + SHARED_REGION_NS)
    assert seconds == pytest.approx(2e-3 * COST_NS["wait"] * 1.5 + regions)


def test_own_cost_of_a_lane_alone_is_paid_once(tmp_path: Path) -> None:
    # A team of one passes barriers, too: it waits for nobody who would be in a hook.
    rows = [
        row(1, Metric.TEAM, 5 * S, x=(0, 0, 5 * S, 0)),
        row(2, Metric.WAIT, 0, count=2_000_000, in_region=1),
    ]
    process = ProcessFiles(lanes_of(1, rows=rows, run_s=10.0), [subject(1)], parallel=10.0)
    seconds = report_of(tmp_path, process)["overhead"]["seconds"]
    assert seconds == pytest.approx(2e-3 * COST_NS["wait"])


@pytest.mark.parametrize(
    ("each_ns", "extra_ns"),
    [(50, 0.0), (400, LOCK_WAIT_PART * 400), (100_000, LOCK_WAIT_MOST_NS)],
    ids=["free", "contended", "long"],
)
def test_own_cost_of_locks_is_paid_again_by_who_waits_for_them(
    tmp_path: Path, each_ns: int, extra_ns: float
) -> None:
    rows = [row(2, Metric.LOCK, each_ns * 1_000_000, count=1_000_000, in_region=1)]
    process = ProcessFiles(
        lanes_of(1, rows=rows, run_s=10.0), [subject(2, kind=SubjectKind.CRITICAL)], user=10.0
    )
    seconds = report_of(tmp_path, process)["overhead"]["seconds"]
    assert seconds == pytest.approx(1e-3 * (COST_NS["lock"] + extra_ns))


def test_own_cost_of_scopes_counts_reads_of_the_timed(tmp_path: Path) -> None:
    # 10 M passages; row() says that all were timed: two reads of 20 ns each.
    process = ProcessFiles(
        lanes_of(1, rows=[row(1, Metric.SCOPE, S, count=10_000_000)]), [subject(1)], user=1.0
    )
    assert report_of(tmp_path, process)["overhead"]["seconds"] == pytest.approx(1e-2 * COST_NS["scope"] + 0.4)


@pytest.mark.parametrize(("runtime", "gain"), [("libgomp", 0.5), ("libomp", 5.0), ("libiomp5", 5.0)])
def test_small_chunks_cost_what_the_runtime_takes(tmp_path: Path, runtime: str, gain: float) -> None:
    # 20 M chunks of one iteration on two threads: 50 ns each by libgomp, 500 ns where threads steal them.
    loop = row(
        2, Metric.LOOP, 9 * S, flags=Schedule.DYNAMIC, x=(20_000_000, 20_000_000, 1, 20_000_000), in_region=1
    )
    lanes = lanes_of(2, rows=[*team_of(1, 9.0, [9.0, 9.0]), loop], run_s=10.0)
    regions = report_of(tmp_path, ProcessFiles(lanes, [subject(1), subject(2)], parallel=9.0, cpus=2.0))[
        "regions"
    ]
    regions[0]["runtime"] = runtime
    result = findings(
        Account(dict.fromkeys(SHARES, 0.0), 10.0, 2.0, 9.0, 0.0),
        typed({"regions": regions}).regions,
        2,
        None,
        0.0,
    )
    assert {entry.cause: entry.gain_s for entry in result}[Cause.SMALL_CHUNKS] == pytest.approx(gain)


def test_region_under_way_at_a_kill(tmp_path: Path) -> None:
    # Killed at 10 s inside a region since 4 s: lane 0 still works, lane 1 ended its part at 8 s and had
    # waited for 1 s.
    first = [
        event(4 * S, EventKind.REGION_BEGIN, 1, a=7, arg=1),
        event(4 * S, EventKind.WORK_BEGIN, 1, a=7, b=0),
    ]
    second = [event(5 * S, EventKind.WORK_BEGIN, 1, a=7, b=1), event(8 * S, EventKind.WORK_END, 1, a=7, b=S)]
    lanes = [LaneFile(events=first, run_s=10.0), LaneFile(events=second, run_s=5.0)]
    process = ProcessFiles(lanes, [subject(1, name="long")], cpus=2.0, ended=False)
    ended = {"mono_ns": 15 * S, "code": None, "signal": "SIGKILL", "wall_s": 10.0}
    report = report_of(tmp_path, process, ended=ended)
    assert not report["complete"]
    assert report["exit"] == {"code": None, "signal": "SIGKILL"}
    assert report["regions"][0]["wall_s"] == pytest.approx(6.0)
    assert [lane["work_s"] for lane in report["regions"][0]["lanes"]] == pytest.approx([6.0, 2.0])
    check(report, work=(4 + 6 + 2) / 20, barrier_wait=3 / 20, arrival=1 / 20, serial=4 / 20)


def test_regions_are_reported_beside_a_process_without_any(tmp_path: Path) -> None:
    worker = ProcessFiles(
        lanes_of(2, rows=team_of(1, 9.0, [9.0, 9.0])), [subject(1, name="r")], pid=7, parallel=9.0
    )
    report = report_of(tmp_path, ProcessFiles(user=100.0, pid=5), worker)
    assert [region["name"] for region in report["regions"]] == ["r"]
    assert [(process["pid"], process["regions"]) for process in report["processes"]] == [(5, 0), (7, 1)]


def test_loop_of_few_iterations_is_told(tmp_path: Path) -> None:
    lanes = lanes_of(4, run_s=10.0)
    rows = team_of(1, 10.0, [10.0, 5.0, 5.0, 5.0])
    rows.append(row(2, Metric.LOOP, 10 * S, flags=Schedule.DYNAMIC, x=(2, 2, 1, 5), in_region=1))
    lanes[0].rows = rows
    report = report_of(
        tmp_path, ProcessFiles(lanes, [subject(1), subject(2, kind=SubjectKind.LOOP)], parallel=10.0)
    )
    region = report["regions"][0]
    assert (region["schedule"], region["chunk"], region["iterations"]) == ("dynamic", 1, 5)
    assert "only 5 iterations for 4 threads" in report["findings"][0]["action"]


def test_throttling_by_a_quota_is_told(tmp_path: Path) -> None:
    lanes = [LaneFile(run_s=5.0, delay_s=5.0) for _ in range(2)]
    lanes[0].rows = team_of(1, 10.0, [10.0, 10.0])
    names = [subject(1), counter(1, "time throttled", "s")]
    process = ProcessFiles(lanes, names, [(10.0, 1, 8.0)], parallel=10.0, cpus=2.0, quota=2.0)
    report = report_of(tmp_path, process)
    assert [finding["cause"] for finding in report["findings"]] == ["throttled by the quota"]
    assert report["findings"][0]["gain_s"] == pytest.approx(4.0)


def test_threads_that_spin_between_regions_are_told(tmp_path: Path) -> None:
    lanes = lanes_of(2, rows=team_of(1, 4.0, [4.0, 4.0]), run_s=8.0, delay_s=2.0)
    lanes[1].run_s = 9.0
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=4.0, cpus=2.0))
    finding = next(one_finding for one_finding in report["findings"] if one_finding["cause"] == "wait policy")
    assert finding["gain_s"] == pytest.approx(1.0)
    assert "5 s" in finding["evidence"]


times = st.floats(0.0, 20.0)


@settings(max_examples=60, deadline=None)
@given(
    works=st.lists(times, min_size=1, max_size=6),
    wall=times,
    parallel=times,
    cpus=st.floats(0.25, 8.0),
    runs=st.lists(st.tuples(times, times), min_size=6, max_size=6),
    user=times,
)
def test_shares_are_never_negative_and_sum_to_one(
    tmp_path_factory: pytest.TempPathFactory,
    works: list[float],
    wall: float,
    parallel: float,
    cpus: float,
    runs: list[tuple[float, float]],
    user: float,
) -> None:
    lanes = [LaneFile(run_s=run, delay_s=delay) for run, delay in runs[: len(works)]]
    longest = max([*works, parallel])
    lanes[0].rows = team_of(1, longest, works)
    process = ProcessFiles(lanes, [subject(1)], wall=wall, parallel=parallel, cpus=cpus, user=user)
    shares = report_of(tmp_path_factory.mktemp("run"), process)["time"]
    assert all(value >= 0 for value in shares.values())
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-9)


def test_timeline_counts_lanes_per_region(tmp_path: Path) -> None:
    # Lane 0 is in region 1 for 0..10 s, in the nested region 2 for 4..6 s; lane 1 in region 1 for 0..5 s.
    outer = [
        event(0, EventKind.WORK_BEGIN, 1, a=1),
        event(4 * S, EventKind.WORK_BEGIN, 2, a=2),
        event(6 * S, EventKind.WORK_END, 2, a=2),
        event(10 * S, EventKind.WORK_END, 1, a=1),
    ]
    lanes = [
        LaneFile(events=outer),
        LaneFile(
            events=[event(0, EventKind.WORK_BEGIN, 1, a=1, b=1), event(5 * S, EventKind.WORK_END, 1, a=1)]
        ),
    ]
    lanes[1].events.append(event(2 * S, EventKind.WAIT, 9, a=S, b=1, arg=WaitKind.BARRIER))
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1, name="one"), subject(2, name="two")]))
    line = report["timeline"]
    lanes_by_name = {series_entry["name"]: np.array(series_entry["lanes"]) for series_entry in line["series"]}
    seconds = {name: values.sum() * line["dt_s"] for name, values in lanes_by_name.items()}
    assert seconds == pytest.approx({"one": 8 + 5, "two": 2}, abs=1e-3)
    assert lanes_by_name["one"][0] == pytest.approx(2.0)
    assert lanes_by_name["one"][len(lanes_by_name["one"]) // 2] == pytest.approx(0.0)
    assert sum(line["waiting"]) * line["dt_s"] == pytest.approx(1.0, abs=1e-3)
    assert line["source"] == "all events"


def test_flight_recorder_says_from_when_it_knows(tmp_path: Path) -> None:
    pairs = [
        event(at * S, EventKind.WORK_BEGIN if at % 2 else EventKind.WORK_END, 1, a=at // 2)
        for at in (9, 10, 7, 8)
    ]
    pairs[0] = event(9 * S, EventKind.WORK_BEGIN, 1, a=4)
    pairs[1] = event(int(9.5 * S), EventKind.WORK_END, 1, a=4)
    lane = LaneFile(events=pairs, capacity=4, written=6)
    line = report_of(tmp_path, ProcessFiles([lane], [subject(1)]))["timeline"]
    assert line["source"] == "flight recorder"
    assert line["from_s"] == pytest.approx(8.0)
    assert NO not in [series_entry["name"] for series_entry in line["series"]]


def test_waits_outside_of_regions_are_serial_input(tmp_path: Path) -> None:
    """Of 10 s, 4 s in a region; the first thread ran for 5 s in all, and waited for a CPU 1 s: it was blocked 4 s outside."""
    lanes = [LaneFile(rows=team_of(1, 4.0, [4.0, 4.0]), run_s=5.0, delay_s=1.0), LaneFile(run_s=4.0)]
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=4.0, cpus=2.0))
    (waits,) = [finding for finding in report["findings"] if finding["cause"] == "serial input or output"]
    assert waits["gain_s"] == pytest.approx(4.0, abs=0.5)
    assert "the first thread waited" in waits["evidence"]
    # It is no serial part that threads could share: of that there are 6 s less the 4 s.
    (serial,) = [finding for finding in report["findings"] if finding["cause"] == "serial part"]
    assert serial["gain_s"] == pytest.approx((6.0 - waits["gain_s"]) / 2)
    assert serial["evidence"].startswith("2 s of 10 s (20%)") or waits["gain_s"] != pytest.approx(4.0)


def test_a_first_thread_that_works_waits_for_nothing(tmp_path: Path) -> None:
    lanes = [LaneFile(rows=team_of(1, 4.0, [4.0, 4.0]), run_s=9.7), LaneFile(run_s=4.0)]
    report = report_of(tmp_path, ProcessFiles(lanes, [subject(1)], parallel=4.0, cpus=2.0))
    assert "serial input or output" not in {finding["cause"] for finding in report["findings"]}

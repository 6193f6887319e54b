"""Reports of runs with several processes, against cases worked out by hand (docs/reference/metrics.md, "The whole job")."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reports import build, typed
from synthetic import (
    LaneFile,
    ProcessFiles,
    S,
    decision,
    event,
    fact,
    knob,
    module,
    policy,
    row,
    subject,
    team_of,
    unavailable,
    write_run,
)
from trimtab.analysis.account import SHARES
from trimtab.analysis.job import mask_of
from trimtab.analysis.lives import Life, capacity_s, groups_of, longest_chain, mean_beside, most_at_a_time
from trimtab.model.enumerations import EventKind, Metric, Outcome, SubjectKind
from trimtab.readers import open_run
from trimtab.text.tables import tables
from trimtab.text.units import percent
from trimtab.text.verdict import verdict

APP = module(1, "/app", "ab12")


def program(pid: int, works: list[float], **overrides: Any) -> ProcessFiles:
    """One that is in the same region for all of its 10 s, and has a CPU for each lane."""
    wall = float(overrides.get("wall", 10.0))
    names = [APP, subject(1, offset=0x40, module_number=1), *overrides.pop("names", [])]
    lanes = [LaneFile(run_s=wall) for _ in works]
    lanes[0].rows = team_of(1, wall, works)
    return ProcessFiles(lanes, names, pid=pid, parallel=wall, **{"cpus": 2.0, **overrides})


def idle(pid: int, wall: float = 10.0, **overrides: Any) -> ProcessFiles:
    """A shell that waits for the others."""
    return ProcessFiles(pid=pid, wall=wall, user=0.002, command=b"sh\0-c\0", **overrides)


def report_of(path: Path, *processes: ProcessFiles, **info: Any) -> dict[str, Any]:
    return build(open_run(write_run(path / "run", *processes, info=info or None)))


def check(report: dict[str, Any], **expected: float) -> None:
    shares = report["time"]
    assert tuple(shares) == SHARES
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-12)
    assert shares == pytest.approx({**dict.fromkeys(SHARES, 0.0), **expected}, abs=1e-6)
    assert report["efficiency"] == shares["work"]


def verdict_of(report: dict[str, Any]) -> str:
    target = io.StringIO()
    verdict(typed(report), Path("run"), target)
    return target.getvalue()


# Shares


def test_one_process_after_another_adds_up(tmp_path: Path) -> None:
    # All of 2 CPUs for 10 s, then half of them for 5 s.
    first, second = program(1, [10.0, 10.0]), program(2, [5.0, 0.0], wall=5.0, begin=10.0)
    report = report_of(tmp_path, first, second)
    check(report, work=25 / 30, barrier_wait=5 / 30)
    assert (report["capacity_s"], report["observed_s"], report["cpus_available"]) == (30.0, 15.0, 2.0)
    assert report["threads"] == 2
    (region,) = report["regions"]
    assert (region["calls"], region["wall_s"], region["work_s"], region["wait_s"]) == (2, 15.0, 25.0, 5.0)


def test_a_gap_between_processes_is_nobodys_time(tmp_path: Path) -> None:
    report = report_of(
        tmp_path, program(1, [10.0, 10.0]), program(2, [10.0, 10.0], begin=50.0), idle(3, 60.0)
    )
    check(report, work=1.0)
    assert report["observed_s"] == 20.0


def test_cpus_that_two_processes_share_count_once(tmp_path: Path) -> None:
    # Each has one thread on 2 CPUs: together they fill both, and each by itself says that half of them was idle.
    parts = [ProcessFiles(pid=pid, cpus=2.0, user=10.0) for pid in (1, 2)]
    report = report_of(tmp_path, *parts)
    check(report, work=1.0)
    assert (report["capacity_s"], report["observed_s"]) == (20.0, 10.0)
    assert [process["efficiency"] for process in report["processes"]] == [0.5, 0.5]


def test_a_cpu_that_another_process_of_the_job_had_is_not_lost(tmp_path: Path) -> None:
    def crowded(pid: int) -> ProcessFiles:
        created = program(pid, [10.0, 10.0])
        for lane in created.lanes:
            lane.run_s = lane.delay_s = 5.0
        return created

    report = report_of(tmp_path, crowded(1), crowded(2))
    check(report, work=1.0)
    assert [process["time"]["run_delay"] for process in report["processes"]] == pytest.approx(
        [0.5, 0.5], abs=1e-6
    )
    assert report["findings"] == [], "nothing is lost, so no other program is to blame"


def test_what_other_programs_took_stays_run_delay(tmp_path: Path) -> None:
    # Two processes with a thread for each of 2 CPUs; each lane had a CPU for 2 of 10 s, its siblings for 2 more.
    def crowded(pid: int) -> ProcessFiles:
        created = program(pid, [10.0, 10.0])
        for lane in created.lanes:
            lane.run_s, lane.delay_s = 2.0, 8.0
        return created

    report = report_of(tmp_path, crowded(1), crowded(2))
    check(report, work=0.4, run_delay=0.6)
    (finding,) = report["findings"]
    assert finding["cause"] == "CPU contention"
    assert "for 12 s more than the 2 processes took from each other" in finding["evidence"]
    assert finding["gain_s"] == pytest.approx(6.0)
    assert finding["processes"] == ["1-0", "2-0"]


def test_processes_with_cpus_enough_for_all_delay_nobody(tmp_path: Path) -> None:
    # A thread each on 2 CPUs, which other programs had for half of the time.
    def alone(pid: int) -> ProcessFiles:
        created = program(pid, [10.0])
        created.lanes[0].run_s = created.lanes[0].delay_s = 5.0
        return created

    report = report_of(tmp_path, alone(1), alone(2))
    check(report, work=0.5, run_delay=0.5)
    (finding,) = report["findings"]
    assert (finding["cause"], finding["gain_s"]) == ("CPU contention", pytest.approx(2.5))


def test_more_threads_than_cpus_over_all_processes(tmp_path: Path) -> None:
    # Both spin at barriers for as long as they work, while the other one wants the CPUs.
    def spinning(pid: int) -> ProcessFiles:
        created = program(pid, [5.0, 5.0])
        for lane in created.lanes:
            lane.run_s = lane.delay_s = 5.0
        return created

    report = report_of(tmp_path, spinning(1), spinning(2))
    check(report, work=0.5, barrier_wait=0.5)
    (finding,) = report["findings"]
    assert finding["cause"] == "more threads than CPUs"
    assert (
        "2 processes at the same time with 4 threads together on average share 2 CPUs" in finding["evidence"]
    )
    assert finding["gain_s"] == pytest.approx(5.0)


def test_processes_on_cpus_of_their_own_have_all_of_them(tmp_path: Path) -> None:
    parts = [
        program(pid, [10.0, 5.0], names=[fact("cpus", cpus)], begin=begin)
        for pid, cpus, begin in ((1, "0-1", 0.0), (2, "2,3", 2.0))
    ]
    report = report_of(tmp_path, *parts)
    check(report, work=0.75, barrier_wait=0.25)
    assert (report["capacity_s"], report["observed_s"]) == (40.0, 12.0)
    assert report["cpus_available"] == pytest.approx(40 / 12)


def test_two_hosts_have_the_cpus_of_both(tmp_path: Path) -> None:
    # The second host's monotonic clock began 100 s earlier; by the real-time clocks both ran at the same time.
    parts = [
        program(1, [10.0, 10.0], names=[fact("host", "a"), fact("rank", "0"), fact("size", "2")]),
        program(
            1,
            [10.0, 0.0],
            names=[fact("host", "b"), fact("rank", "1"), fact("size", "2")],
            image=1,
            begin=100.0,
            real_offset=-105.0,
        ),
    ]
    report = report_of(tmp_path, *parts)
    check(report, work=0.75, barrier_wait=0.25)
    assert (report["capacity_s"], report["observed_s"], report["cpus_available"]) == (40.0, 10.0, 4.0)
    assert report["threads"] == 4
    reported = [
        (process["host"], process["rank"], process["size"], process["begin_s"])
        for process in report["processes"]
    ]
    assert reported == [("a", 0, 2, 0.0), ("b", 1, 2, 0.0)]
    assert "rank 1 of 2 on b (process 1-1)" in verdict_of(report)


def test_a_shell_is_listed_and_has_no_part_in_the_shares(tmp_path: Path) -> None:
    alone = report_of(tmp_path / "alone", program(2, [5.0, 2.5], wall=5.0))
    report = report_of(tmp_path, idle(1), program(2, [5.0, 2.5], wall=5.0, begin=1.0))
    assert report["time"] == alone["time"]
    for key in ("observed_s", "cpus_available", "threads", "findings", "timeline"):
        assert report[key] == alone[key], key
    assert [(process["pid"], process["takes_part"]) for process in report["processes"]] == [
        (1, False),
        (2, True),
    ]
    assert report["processes"][0]["time"] is None
    assert verdict_of(report).splitlines()[1:3] == verdict_of(alone).splitlines()[1:3]
    assert "process" not in verdict_of(report)


def test_a_shell_with_a_short_life_has_no_part_either(tmp_path: Path) -> None:
    shell = ProcessFiles(pid=1, wall=0.05, user=0.004, cpus=2.0)
    report = report_of(tmp_path, shell, program(2, [0.04, 0.04], wall=0.04))
    assert [process["takes_part"] for process in report["processes"]] == [False, True]


def test_where_all_do_nothing_all_take_part(tmp_path: Path) -> None:
    report = report_of(tmp_path, idle(1), idle(2))
    assert [process["takes_part"] for process in report["processes"]] == [True, True]
    assert sum(report["time"].values()) == pytest.approx(1.0)


def test_a_serial_program_with_cpu_time_takes_part(tmp_path: Path) -> None:
    # It prepares for 10 s, then both CPUs work for 10 s.
    report = report_of(
        tmp_path, ProcessFiles(pid=1, cpus=2.0, user=10.0), program(2, [10.0, 10.0], begin=10.0)
    )
    check(report, work=30 / 40, serial=10 / 40)


times = st.floats(0.0, 20.0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(times, min_size=1, max_size=3),
            times,
            times,
            times,
            st.floats(0.25, 8.0),
            st.sampled_from(["", "0", "0-3", "1,5-7", "nonsense"]),
            st.floats(0.0, 3.0),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_shares_are_never_negative_and_sum_to_one(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[Any, ...]]
) -> None:
    processes = []
    for pid, (works, begin, wall, delay, cpus, mask, quota) in enumerate(made, 1):
        lanes = [LaneFile(run_s=work, delay_s=delay) for work in works]
        lanes[0].rows = team_of(1, max(*works, wall), works)
        names = [subject(1, name="r"), *([fact("cpus", mask)] if mask else [])]
        processes.append(
            ProcessFiles(
                lanes,
                names,
                pid=pid,
                begin=begin,
                wall=wall,
                parallel=wall / 2,
                cpus=cpus,
                quota=quota,
                user=sum(works),
            )
        )
    report = report_of(tmp_path_factory.mktemp("run"), *processes)
    shares = report["time"]
    assert all(value >= 0 for value in shares.values())
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-9)
    own_value = sum(process["cpus_available"] * process["wall_s"] for process in report["processes"])
    assert report["capacity_s"] <= own_value + 1e-6
    json.dumps(report, allow_nan=False)
    verdict_of(report)


# When processes lived


def lives(*spans: tuple[float, float], **overrides: Any) -> list[Life]:
    return [Life(None, begin, end, 2.0, **overrides) for begin, end in spans]


def test_processes_beside_each_other_are_a_group_through_others() -> None:
    result = groups_of([*lives((0, 2), (5, 6), (1, 4), (3, 5)), Life("other", 0, 9, 1.0)])
    assert sorted(map(sorted, result)) == [[0, 2, 3], [1], [4]]


def test_capacity_is_the_union_of_cpus_over_time() -> None:
    first, two = Life(None, 0, 10, 2.0, 0b11), Life(None, 5, 15, 2.0, 0b110)
    assert capacity_s([first, two]) == pytest.approx(2 * 5 + 3 * 5 + 2 * 5)
    assert capacity_s(lives((0, 10), (5, 15))) == pytest.approx(2 * 15), "not told which: the same ones"
    limited = [Life(None, 0, 10, 1.5, mask, 1.5) for mask in (0b11, 0b1100)]
    assert capacity_s(limited) == pytest.approx(15.0), "one quota for both"


def test_what_lives_at_a_time() -> None:
    result = lives((0, 10), (0, 5), (20, 30))
    assert mean_beside(result, [4.0, 2.0, 1.0]) == pytest.approx([5.0, 6.0, 1.0])
    assert most_at_a_time(result, [4.0, 2.0, 1.0]) == 6.0


def test_gains_add_up_only_over_processes_that_ran_one_after_another() -> None:
    assert longest_chain(lives((0, 5), (5, 9), (0, 9)), [2.0, 3.0, 4.0]) == 5.0
    assert longest_chain(lives((0, 5), (4, 9), (0, 9)), [2.0, 3.0, 4.0]) == 4.0
    assert longest_chain(lives((0, 5.0005), (5, 9)), [2.0, 3.0]) == 5.0, "after exec"


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("0", 1),
        ("0-3,8", 0b100001111),
        ("3-1", None),
        ("", None),
        (None, None),
        ("0-99999", None),
        ("x", None),
    ],
)
def test_lists_of_cpus(text: str | None, mask: int | None) -> None:
    assert mask_of(text) == mask


# Regions


def test_the_same_place_in_two_processes_is_one_region_with_its_spread(tmp_path: Path) -> None:
    report = report_of(tmp_path, program(1, [10.0, 10.0]), program(2, [10.0, 4.0]), program(3, [9.0, 9.0]))
    (region,) = report["regions"]
    assert (region["calls"], region["threads"], region["wall_s"]) == (3, 2, 30.0)
    assert region["spread"]["work_s"] == {"least": 14.0, "median": 18.0, "most": 20.0}
    assert region["spread"]["wait_s"] == {"least": 0.0, "median": 2.0, "most": 6.0}
    assert [(process["process"], process["work_s"]) for process in region["processes"]] == [
        ("1-0", 20.0),
        ("2-0", 14.0),
        ("3-0", 18.0),
    ]
    assert [(lane["process"], lane["lane"]) for lane in region["lanes"]] == [
        (f"{pid}-0", lane) for pid in (1, 2, 3) for lane in (0, 1)
    ]
    # Slowest over mean, each summed over the calls.
    assert region["imbalance"] == pytest.approx((10 + 10 + 9) / (10 + 7 + 9))
    assert "in 3 processes (wall 10 s to 10 s each)" in verdict_of(report)


def test_places_of_different_builds_are_different_regions(tmp_path: Path) -> None:
    other = program(2, [10.0, 10.0])
    other.names = [module(1, "/app", "cd34"), subject(1, offset=0x40, module_number=1)]
    report = report_of(tmp_path, program(1, [10.0, 10.0]), other)
    assert [len(region["processes"]) for region in report["regions"]] == [1, 1]


def test_two_regions_of_one_name_in_one_process_stay_two(tmp_path: Path) -> None:
    lanes = [LaneFile([*team_of(1, 1.0, [1.0]), *team_of(2, 2.0, [2.0])])]
    names = [subject(1, name="r"), subject(2, name="r")]
    report = report_of(tmp_path, *(ProcessFiles(lanes, names, pid=pid) for pid in (1, 2)))
    assert [region["wall_s"] for region in report["regions"]] == [4.0, 2.0]


def test_loops_waits_locks_and_durations_are_added_up(tmp_path: Path) -> None:
    def looping(pid: int, executed: int) -> ProcessFiles:
        created = program(pid, [10.0, 10.0])
        created.names.append(subject(2, kind=SubjectKind.LOOP, name="l"))
        created.lanes[0].rows += [
            row(2, Metric.LOOP, S, flags=3, x=(executed, executed // 2, 2, executed), in_region=1),
            row(3, Metric.WAIT, S, flags=2, in_region=1),
            row(4, Metric.LOCK, 2 * S, x=(S, 0, 0, 0), in_region=1),
        ]
        return created

    (region,) = report_of(tmp_path, looping(1, 10), looping(2, 30))["regions"]
    (loop,) = region["loops"]
    assert (loop["executed"], loop["chunks"], loop["executions"]) == (40, 20, 2)
    assert region["waits"] == {"barrier": 2.0}
    assert (region["lock_wait_s"], region["lock_held_s"]) == (4.0, 2.0)
    assert sum(bucket["count"] for bucket in region["histogram"]) == 2


def test_tasks_and_scopes_are_added_up(tmp_path: Path) -> None:
    def tasks(pid: int, count: int) -> ProcessFiles:
        rows = [
            row(8, Metric.WORKER, 10 * S, flags=1, x=(10 * S, 0, 0, 0)),
            row(9, Metric.TASK, count * S, count=count, x=(1, 0, 2, 0)),
            row(7, Metric.SCOPE, S, count=2),
        ]
        names = [
            subject(8, SubjectKind.WORKERS, "runtime 1"),
            subject(9, SubjectKind.TASK, "stencil"),
            subject(7, SubjectKind.SCOPE, "solve"),
        ]
        return ProcessFiles([LaneFile(rows, run_s=10.0)], names, pid=pid, parallel=10.0)

    report = report_of(tmp_path, tasks(1, 4), tasks(2, 2))
    (kind,) = report["tasks"]
    assert (kind["count"], kind["created"], kind["suspended"], kind["total_s"]) == (6, 2, 4, 6.0)
    assert (kind["mean_s"], kind["longest_s"], kind["processes"]) == (1.0, 1.0, ["1-0", "2-0"])
    (scope,) = report["scopes"]
    assert (scope["count"], scope["total_s"], scope["mean_s"]) == (4, 2.0, 0.5)
    assert [(worker["process"], worker["tasks"]) for worker in report["workers"]] == [("1-0", 4), ("2-0", 2)]


# Findings


def test_findings_say_which_process_they_are_about(tmp_path: Path) -> None:
    cpus = [[fact("cpus", "0-1")], [fact("cpus", "2-3")]]
    report = report_of(
        tmp_path, program(1, [10.0, 2.0], names=cpus[0]), program(2, [10.0, 10.0], names=cpus[1])
    )
    imbalance = next(finding for finding in report["findings"] if finding["cause"] == "imbalance")
    assert imbalance["processes"] == ["1-0"]
    assert imbalance["evidence"].startswith("process 1 (app): the slowest thread works 1.67 times")
    assert imbalance["gain_s"] == pytest.approx(4.0)


@pytest.mark.parametrize(("begin", "gain"), [(0.0, 4.0), (10.0, 4.0 + 2.0)], ids=["beside", "after"])
def test_one_cause_at_one_place_is_one_finding(tmp_path: Path, begin: float, gain: float) -> None:
    masks = [[fact("cpus", "0-1")], [fact("cpus", "2-3")]]
    first = program(1, [10.0, 2.0], names=masks[0])
    report = report_of(tmp_path, first, program(2, [10.0, 6.0], names=masks[1], begin=begin))
    (imbalance,) = [finding for finding in report["findings"] if finding["cause"] == "imbalance"]
    assert imbalance["evidence"].startswith("in 2 of 2 processes, most in process 1 (app): ")
    assert imbalance["processes"] == ["1-0", "2-0"]
    assert imbalance["gain_s"] == pytest.approx(gain)


def test_processes_of_one_program_with_unequal_work(tmp_path: Path) -> None:
    def rank(number: int, work: float, begin: float = 0.0) -> ProcessFiles:
        names = [fact("rank", str(number)), fact("cpus", f"{2 * number}-{2 * number + 1}")]
        return program(number + 1, [work, work], names=names, wall=work, begin=begin)

    uneven = report_of(tmp_path / "uneven", rank(0, 9.0), rank(1, 3.0), rank(2, 3.0))
    (finding,) = [
        one_finding
        for one_finding in uneven["findings"]
        if one_finding["cause"] == "imbalance between processes"
    ]
    assert finding["evidence"].startswith("rank 0 (app) works 1.80 times as long as the mean of 3 processes")
    assert finding["gain_s"] == pytest.approx(4.0)
    assert finding["processes"] == ["1-0", "2-0", "3-0"]
    for name, later_value in (("even", [rank(1, 9.0)]), ("in turn", [rank(1, 3.0, 4.0)])):
        report = report_of(tmp_path / name, rank(0, 9.0), *later_value)
        assert "imbalance between processes" not in [
            one_finding["cause"] for one_finding in report["findings"]
        ], name


def test_more_threads_is_no_advice_where_the_others_use_the_cpus(tmp_path: Path) -> None:
    alone = report_of(tmp_path / "alone", program(1, [10.0, 10.0], cpus=4.0))
    assert "fewer threads than CPUs" in [finding["cause"] for finding in alone["findings"]]
    pair = report_of(tmp_path, *(program(pid, [10.0, 10.0], cpus=4.0) for pid in (1, 2)))
    check(pair, work=1.0)
    assert pair["findings"] == []


# What is of one process by nature


def test_lanes_counters_and_decisions_carry_their_process(tmp_path: Path) -> None:
    def steered(pid: int, at_s: float, begin: float) -> ProcessFiles:
        created = program(pid, [10.0, 10.0], begin=begin)
        created.names += [knob(1, 1, "threads"), policy(1, "tuner")]
        created.decisions = [decision(at_s, 1, 1, 1, (4, 3), Outcome.SET)]
        return created

    report = report_of(tmp_path, steered(1, 9.0, 0.0), steered(2, 1.0, 5.0))
    assert [(lane["process"], lane["lane"]) for lane in report["lanes"]] == [
        ("1-0", 0),
        ("1-0", 1),
        ("2-0", 0),
        ("2-0", 1),
    ]
    reported = [
        (one_decision["process"], one_decision["number"], one_decision["time_s"])
        for one_decision in report["decisions"]
    ]
    assert reported == [("2-0", 1, 1.0), ("1-0", 1, 9.0)], "in order of the job's time"


def test_timelines_are_there_for_each_process_and_for_all(tmp_path: Path) -> None:
    def busy(pid: int, begin: float) -> ProcessFiles:
        created = program(pid, [10.0], begin=begin)
        created.lanes[0].events = [
            event(2 * S, EventKind.WORK_BEGIN, 1, a=1),
            event(6 * S, EventKind.WORK_END, 1, a=1),
        ]
        return created

    report = report_of(tmp_path, busy(1, 0.0), busy(2, 10.0))
    own_value = [process["timeline"] for process in report["processes"]]
    for line in (*own_value, report["timeline"]):
        assert line["source"] == "all events"
    assert [sum(line["series"][0]["lanes"]) * line["dt_s"] for line in own_value] == pytest.approx(
        [4, 4], abs=1e-2
    )
    whole = report["timeline"]
    assert whole["dt_s"] == pytest.approx(0.02)
    (series,) = whole["series"]
    assert sum(series["lanes"]) * 0.02 == pytest.approx(8, abs=1e-2)
    # From 2 to 6 s, and from 12 to 16 s.
    assert [series["lanes"][int(at / 0.02)] for at in (1, 4, 8, 14, 18)] == pytest.approx([0, 1, 0, 1, 0])


def test_the_launchers_clock_says_nothing_of_other_hosts(tmp_path: Path) -> None:
    parts = [
        program(pid, [10.0, 10.0], names=[fact("host", host)], ended=False)
        for pid, host in ((1, "here"), (2, "there"))
    ]
    ended = {"mono_ns": 16 * S, "code": 0, "signal": None, "wall_s": 11.0}
    report = report_of(tmp_path, *parts, machine={"hostname": "here"}, ended=ended)
    assert [process["wall_s"] for process in report["processes"]] == [11.0, 10.0]


def test_what_is_missing_is_told_once_and_not_of_who_takes_no_part(tmp_path: Path) -> None:
    lack = unavailable("energy", "no meter", "none")
    parts = [program(pid, [10.0, 10.0], names=[lack]) for pid in (1, 2)]
    shell = idle(3, names=[unavailable("switches", "too short", "none")])
    report = report_of(tmp_path, *parts, shell)
    assert [entry["what"] for entry in report["unavailable"]] == ["energy"]


def test_an_exec_a_fork_and_a_reused_pid_are_processes_of_their_own(tmp_path: Path) -> None:
    parts = [
        program(1, [2.0, 2.0], wall=2.0, state=3),
        program(1, [3.0, 3.0], wall=3.0, begin=2.0, image=1),
        program(2, [4.0, 4.0], wall=4.0, begin=1.0, forked_from=1),
    ]
    report = report_of(tmp_path, *parts)
    reported = [
        (process["id"], process["image"], process["forked_from"], process["begin_s"])
        for process in report["processes"]
    ]
    assert reported == [("1-0", 0, None, 0.0), ("1-1", 1, None, 2.0), ("2-0", 0, 1, 1.0)]
    assert [process["ended"] for process in report["processes"]] == ["exec", "exit", "exit"]
    assert report["regions"][0]["work_s"] == pytest.approx(18.0)
    assert report["observed_s"] == pytest.approx(5.0)


def test_a_killed_child_counts_until_its_last_sign(tmp_path: Path) -> None:
    killed = ProcessFiles(
        [
            LaneFile(
                events=[
                    event(1 * S, EventKind.REGION_BEGIN, 1, a=7, arg=1),
                    event(1 * S, EventKind.WORK_BEGIN, 1, a=7),
                    event(4 * S, EventKind.WAIT, 1, a=1),
                ]
            )
        ],
        [APP, subject(1, offset=0x40, module_number=1)],
        pid=2,
        wall=4.0,
        ended=False,
        cpus=2.0,
    )
    report = report_of(tmp_path, program(1, [10.0, 10.0]), killed)
    (region,) = report["regions"]
    assert (region["calls"], region["wall_s"], region["work_s"]) == (2, 13.0, 23.0)
    assert [process["complete"] for process in report["processes"]] == [True, False]


def test_tables_and_json_say_the_same_of_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    names = [[fact("host", f"node{rank}"), fact("rank", str(rank))] for rank in (0, 1)]
    report = report_of(
        tmp_path, program(1, [10.0, 10.0], names=names[0]), program(2, [10.0, 4.0], names=names[1])
    )
    tables(typed(report), tmp_path)
    lines = capsys.readouterr().out.splitlines()
    for rank, process in enumerate(report["processes"]):
        cells = [
            cell.strip() for cell in next(line for line in lines if process["id"] in line).split("│")[1:-1]
        ]
        assert cells[:4] == ["./app -x", process["id"], f"node{rank}", str(rank)]
        assert cells[6] == percent(process["efficiency"])
    region = next(line for line in lines if "10 s / 10 s / 10 s" in line)
    assert "14 s / 17 s / 20 s" in region and "0 us / 3 s / 6 s" in region


def test_a_host_that_all_share_is_no_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    parts = [program(pid, [10.0, 10.0], names=[fact("host", "node1")]) for pid in (1, 2)]
    tables(typed(report_of(tmp_path, *parts)), tmp_path)
    head = next(line for line in capsys.readouterr().out.splitlines() if "command" in line)
    assert "process" in head and "host" not in head and "rank" not in head


def test_sweeps_add_up_totals_of_processes_and_not_those_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from synthetic import counter
    from trimtab.experiments import observe

    parts = [
        program(
            pid, [10.0, 10.0], names=[counter(7, "answers", "1")], samples=[(1.0, 7, 0.0), (9.0, 7, last)]
        )
        for pid, last in ((1, 40.0), (2, 2.0))
    ]
    ended = {"mono_ns": 15 * S, "code": 0, "signal": None, "wall_s": 10.0}
    usage = {"user_s": 1.0, "system_s": 0.0, "voluntary": 1, "involuntary": 1, "max_rss_kb": 1}
    run = write_run(tmp_path / "run", *parts, info={"ended": {**ended, "rusage": usage}})
    assert observe.figures_of(run)["observed_counter_answers"] == (42.0, "1")
    monkeypatch.setattr(observe, "_OF_THE_MACHINE", ("test",))
    assert observe.figures_of(run)["observed_counter_answers"] == (40.0, "1")

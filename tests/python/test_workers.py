"""Workers of task runtimes: shares, tables and findings against cases worked out by hand (docs/reference/metrics.md)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reports import build, typed
from synthetic import LaneFile, ProcessFiles, S, fact, row, subject, team_of, write_run
from trimtab.analysis.account import SHARES
from trimtab.analysis.overhead import COUNTED_TASK_NS, TIMED_TASK_NS
from trimtab.model.enumerations import Metric, SubjectKind, TaskFlags, WaitCause, WorkerState
from trimtab.readers import open_run
from trimtab.text.verdict import verdict

RUNTIME, TASK = 8, 9
RUNS, LOOKS, IDLE, CAPPED = WorkerState.RUNS, WorkerState.LOOKS, WorkerState.IDLE, WorkerState.CAPPED
NAMES = [subject(RUNTIME, SubjectKind.WORKERS, "runtime 1"), subject(TASK, SubjectKind.TASK, "stencil")]


def state(chosen: int, total: float, busy: float | None = None, count: int = 1, begin: int = 0) -> bytes:
    seen_values = int((total if busy is None else busy) * S)
    return row(
        RUNTIME, Metric.WORKER, int(total * S), flags=chosen, count=count, x=(seen_values, begin, 0, 0)
    )


def tasks(count: int, entry: float, created: int = 0, number: int = TASK) -> bytes:
    return row(number, Metric.TASK, int(count * entry * S), count=count, x=(created, 0, 0, 0))


def report_of(path: Path, lanes: list[LaneFile], parallel: float, **overrides: Any) -> dict[str, Any]:
    info = overrides.pop("info", None)
    names = [*NAMES, *overrides.pop("facts", ())]
    process = ProcessFiles(lanes, names, parallel=parallel, **{"cpus": 2.0, **overrides})
    return build(open_run(write_run(path / "run", process, info=info)))


def check(report: dict[str, Any], **expected: float) -> None:
    shares = report["time"]
    assert tuple(shares) == SHARES
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-12)
    assert shares == pytest.approx({**dict.fromkeys(SHARES, 0.0), **expected}, abs=1e-6)


def causes(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {finding["cause"]: finding for finding in report["findings"]}


def two_workers(**second: Any) -> list[LaneFile]:
    """The first thread, which runs for 1 s; a worker that always has a task, and one that has not."""
    rows = [state(RUNS, 4.0), state(LOOKS, 1.0), state(IDLE, 5.0, 3.0)]
    return [
        LaneFile(run_s=1.0),
        LaneFile(rows=[state(RUNS, 8.0), state(IDLE, 2.0, 0.0)], run_s=8.0),
        LaneFile(**{"rows": rows, "run_s": 5.0, **second}),
    ]


def test_a_parked_worker_is_starved_while_another_works_and_idle_while_none_does(tmp_path: Path) -> None:
    # 2 CPUs, 10 s; tasks ran for 8 s. Of 16 s in it: 12 work, 3 parked and 1 looking without a task. Outside: 1 s of work by
    # the first thread, 1 s in which it slept, and a core for which there was no thread.
    report = report_of(tmp_path, two_workers(), 8.0)
    check(report, work=13 / 20, starved=4 / 20, serial=2 / 20, unattributed=1 / 20)
    assert report["threads"] == 2
    second = report["workers"][1]
    figures = ("work_s", "looking_s", "starved_s", "idle_s", "capped_s")
    assert [second[key] for key in figures] == pytest.approx([4, 0, 4, 2, 0], abs=1e-5)
    assert (second["runtime"], second["parks"]) == ("runtime 1", 1)
    assert not any(entry["what"] == "OpenMP regions" for entry in report["unavailable"])


def test_who_looks_for_longer_than_finding_takes_has_no_task(tmp_path: Path) -> None:
    # The same second of looking, at 1,000 times: 2 ms of it are the runtime's.
    rows = [state(RUNS, 4.0), state(LOOKS, 1.0, count=1000), state(IDLE, 5.0, 3.0)]
    report = report_of(tmp_path, two_workers(rows=rows), 8.0)
    assert report["time"]["runtime"] == pytest.approx(0.002 / 20, rel=0.1)
    assert report["time"]["starved"] == pytest.approx(3.998 / 20, rel=1e-3)
    second = report["workers"][1]
    figures = ("work_s", "looking_s", "starved_s", "idle_s", "capped_s")
    assert [second[key] for key in figures] == pytest.approx([4, 0.002, 3.998, 2, 0])


def test_in_a_job_who_has_no_task_waits_for_other_processes(tmp_path: Path) -> None:
    # As above, but the second in which the first thread slept, too, has no core without work: both workers waited for others.
    facts = [fact("rank", "1"), fact("size", "4")]
    report = report_of(tmp_path, two_workers(), 8.0, facts=facts)
    (process,) = report["processes"]
    expected = {**dict.fromkeys(SHARES, 0.0), "work": 13 / 20, "starved": 6 / 20, "serial": 1 / 20}
    assert process["time"] == pytest.approx(expected, abs=1e-6)
    # What other processes are to blame for is no want of tasks beside others that run, and no serial part.
    alone = causes(report_of(tmp_path / "alone", two_workers(), 8.0))
    assert causes(report)["too few tasks ready"]["gain_s"] == alone["too few tasks ready"]["gain_s"]
    assert causes(report)["serial part"]["gain_s"] == pytest.approx(alone["serial part"]["gain_s"] / 2)


def test_the_cap_takes_a_worker_away(tmp_path: Path) -> None:
    lanes = two_workers(rows=[state(RUNS, 5.0), state(CAPPED, 5.0, 3.0)])
    check(report_of(tmp_path, lanes, 8.0), work=14 / 20, serial=(2 + 3) / 20, unattributed=1 / 20)


def test_parked_workers_beyond_the_cpus_lack_nothing(tmp_path: Path) -> None:
    busy = [LaneFile(rows=[state(RUNS, 10.0)], run_s=10.0) for _ in range(2)]
    parked = [LaneFile(rows=[state(IDLE, 10.0)]) for _ in range(2)]
    report = report_of(tmp_path, [LaneFile(), *busy, *parked], 10.0)
    check(report, work=1.0)
    assert "too few tasks ready" not in causes(report)


def test_run_delay_of_a_worker_comes_off_what_wants_a_cpu(tmp_path: Path) -> None:
    # It had a CPU for half of its 8 s at work, and did not want one while it was parked.
    starved = LaneFile(rows=[state(RUNS, 8.0), state(IDLE, 2.0)], run_s=4.0, delay_s=4.0)
    other = LaneFile(rows=[state(RUNS, 10.0)], run_s=10.0)
    report = report_of(tmp_path, [LaneFile(), starved, other], 10.0)
    check(report, work=14 / 20, run_delay=4 / 20, starved=2 / 20)


def test_a_first_thread_that_works_beside_the_workers(tmp_path: Path) -> None:
    lanes = [LaneFile(run_s=5.0), LaneFile(rows=[state(RUNS, 10.0)], run_s=10.0)]
    check(report_of(tmp_path, lanes, 10.0), work=15 / 20, serial=5 / 20)


def test_a_region_inside_a_task_is_counted_once(tmp_path: Path) -> None:
    # The worker forks a team of two for 4 of its 10 s.
    worker = LaneFile(
        rows=[state(RUNS, 10.0), *team_of(1, 4.0, [4.0, 3.0], forker=1, lanes=[1, 2])], run_s=10.0
    )
    report = report_of(tmp_path, [LaneFile(), worker, LaneFile(run_s=3.0)], 10.0)
    check(report, work=13 / 20, barrier_wait=1 / 20, serial=6 / 20)


def test_a_part_of_a_task_that_another_worker_began_is_part_of_its_time(tmp_path: Path) -> None:
    # Two tasks of 1 s each until they left their thread; 3 s of one of them on the other worker, which counts none.
    later_value = row(TASK, Metric.TASK, 3 * S, count=0)
    lanes = [
        LaneFile(),
        LaneFile(rows=[state(RUNS, 10.0), tasks(2, 1.0)], run_s=10.0),
        LaneFile(rows=[state(RUNS, 10.0), later_value], run_s=10.0),
    ]
    (result,) = report_of(tmp_path, lanes, 10.0)["tasks"]
    assert (result["count"], result["timed"]) == (2, 2)
    assert result["total_s"] == pytest.approx(5.0)


def test_what_timed_tasks_do_not_explain_is_the_runtime(tmp_path: Path) -> None:
    # 10 M tasks in 10 s; 100,000 were timed, at 0.5 us each, of which a clock read of 20 ns: they stand for 4.8 s.
    entry = 500
    counted = bytearray(
        row(TASK, Metric.TASK, 100_000 * entry, count=100_000, flags=TaskFlags.COUNTED, x=(0, 0, 0, 5 * S))
    )
    counted[16:24] = (10_000_000).to_bytes(8, "little")
    # All in one bucket, whose middle is not at 500: an error of 116 ns each, over the root of 100,000.
    error = 2 * (0.75 * 512 - entry) * 1e7 / 100_000**0.5 * 1e-9
    lanes = [LaneFile(), LaneFile(rows=[state(RUNS, 10.0), bytes(counted)], run_s=10.0)]
    report = report_of(tmp_path, lanes, 10.0)
    own_value = (1e7 * COUNTED_TASK_NS + 1e5 * TIMED_TASK_NS + 35.0) * 1e-9
    work = 4.8 + abs(error) - own_value
    check(report, work=work / 20, runtime=(10 - work) / 20, serial=10 / 20)
    assert report["tasks"][0]["total_s"] == pytest.approx(4.8)
    assert report["tasks"][0]["mean_s"] == pytest.approx(480e-9)
    finding = causes(report)["tasks too small"]
    assert "10000000 tasks of 1 us" in finding["evidence"] and finding["gain_s"] == pytest.approx(
        5.2, rel=0.02
    )


def test_times_with_inner_tasks_explain_nothing(tmp_path: Path) -> None:
    inclusive = row(
        TASK,
        Metric.TASK,
        1000 * S,
        count=1000,
        flags=TaskFlags.COUNTED | TaskFlags.INCLUSIVE,
        x=(0, 0, 0, 1000 * S),
    )
    lanes = [LaneFile(), LaneFile(rows=[state(RUNS, 10.0), inclusive], run_s=10.0)]
    report = report_of(tmp_path, lanes, 10.0)
    assert report["time"]["work"] == pytest.approx(0.5, abs=1e-5)
    assert report["tasks"][0]["includes_inner"]


def test_states_that_a_kill_left_open_last_until_then(tmp_path: Path) -> None:
    # Killed at 10 s: one worker ran since 4 s, the other was parked since 6 s and had run for 2 s before that.
    running = LaneFile(rows=[state(RUNS, 0.0, count=0, begin=4 * S)], run_s=6.0)
    parked = LaneFile(rows=[state(RUNS, 2.0), state(IDLE, 0.0, count=0, begin=6 * S)], run_s=2.0)
    process = ProcessFiles([LaneFile(), running, parked], NAMES, cpus=2.0, ended=False)
    home = process.write(tmp_path / "run")
    head = bytearray((home / "process.tt").read_bytes())
    head[176:184] = (4 * S).to_bytes(8, "little")  # parallel_since
    (home / "process.tt").write_bytes(head)
    ended = {"mono_ns": 15 * S, "code": None, "signal": "SIGKILL", "wall_s": 10.0}
    report = build(open_run(write_run(tmp_path / "run", info={"ended": ended})))
    check(report, work=8 / 20, starved=4 / 20, serial=4 / 20, unattributed=4 / 20)


def test_too_few_tasks_and_a_long_one(tmp_path: Path) -> None:
    lanes = two_workers()
    lanes[1].rows += [tasks(4, 0.5), tasks(1, 6.0, number=7)]
    result = causes(report_of(tmp_path, lanes, 8.0))
    assert "too few tasks ready" not in result  # the long one explains all
    assert result["one long task"]["gain_s"] == pytest.approx(2.0, rel=1e-5)
    assert result["one long task"]["subject"] == "subject 7"
    assert "6 s of the 8 s" in result["one long task"]["evidence"]


def test_too_few_tasks_where_nothing_explains_it(tmp_path: Path) -> None:
    lanes = two_workers()
    lanes[1].rows += [tasks(5, 0.5)]
    result = causes(report_of(tmp_path, lanes, 8.0))["too few tasks ready"]
    assert result["gain_s"] == pytest.approx(2.0, rel=1e-5)
    assert "1.5 of 2" in result["evidence"]
    assert "than the 5 it has" in result["action"]


def test_one_producer(tmp_path: Path) -> None:
    lanes = two_workers()
    lanes[0].rows = [tasks(0, 0.0, created=990)]
    lanes[0].run_s = 5.0
    lanes[1].rows += [tasks(600, 0.013)]
    lanes[2].rows += [tasks(400, 0.01, created=10)]
    result = causes(report_of(tmp_path, lanes, 8.0, cpus=3.0))
    assert "99% of 1000 tasks" in result["one producer"]["evidence"]
    assert "took it 5 s of the 8 s" in result["one producer"]["evidence"]
    assert result["one producer"]["gain_s"] == pytest.approx(2.0)
    assert "too few tasks ready" not in result


@pytest.mark.parametrize(("ran", "is_limit"), [(0.0, True), (3.9, True), (4.1, False), (8.0, False)])
def test_who_makes_all_tasks_is_told_only_while_others_wait_for_it(
    tmp_path: Path, ran: float, is_limit: bool
) -> None:
    # Of 8 s the first worker ran the tasks that it had made for so long: the rest it was busy with making them.
    lanes = two_workers()
    lanes[1].rows += [tasks(500, ran / 500, created=1000)]
    lanes[2].rows += [tasks(500, 0.008)]
    assert ("one producer" in causes(report_of(tmp_path, lanes, 8.0))) == is_limit


def test_a_chain_of_tasks(tmp_path: Path) -> None:
    # By turns at two workers, each of which has nothing to do meanwhile.
    lanes = [LaneFile(run_s=1.0)] + [
        LaneFile(
            rows=[state(RUNS, 4.0), state(IDLE, 6.0, 4.0), tasks(1000, 0.004, created=created)], run_s=4.0
        )
        for created in (2000, 0)
    ]
    report = report_of(tmp_path, lanes, 8.0)
    first = report["findings"][0]
    assert first["cause"] == "a chain of tasks" and first["gain_s"] == pytest.approx(4.0)
    assert "2000 tasks ran one after another" in first["evidence"]
    assert not {"one producer", "too few tasks ready"} & set(causes(report))


def test_tasks_that_are_too_short_to_be_shared(tmp_path: Path) -> None:
    # 0.8 us each: that the second worker had none is no want of tasks.
    lanes = two_workers(rows=[state(IDLE, 10.0, 8.0)])
    lanes[1].rows += [tasks(10_000_000, 0.6e-6, created=10_000_000)]
    report = report_of(tmp_path, lanes, 8.0)
    assert report["findings"][0]["cause"] == "tasks too small"
    assert "too few tasks ready" not in causes(report)


def test_times_of_a_kind_that_waits(tmp_path: Path) -> None:
    lanes = two_workers()
    lanes[2].rows += [tasks(4, 0.5), row(TASK, Metric.SUSPENDED, 2 * S, count=4, flags=WaitCause.MUTEX)]
    (entry,) = report_of(tmp_path, lanes, 8.0)["tasks"]
    assert (entry["mean_s"], entry["suspended_s"]) == pytest.approx((0.5, 2.0))


def test_tasks_that_wait_for_one_mutex_are_no_chain(tmp_path: Path) -> None:
    lanes = [LaneFile(run_s=1.0)] + [
        LaneFile(
            rows=[state(RUNS, 4.0), state(IDLE, 6.0, 4.0), tasks(1000, 0.004, created=created)], run_s=4.0
        )
        for created in (2000, 0)
    ]
    lanes[2].rows += [row(TASK, Metric.SUSPENDED, 20 * S, count=1900, flags=WaitCause.MUTEX)]
    result = report_of(tmp_path, lanes, 8.0)["findings"]
    assert result[0]["cause"] == "tasks wait for each other"
    assert not {"one producer", "a chain of tasks"} & {entry["cause"] for entry in result}


def test_tasks_that_wait(tmp_path: Path) -> None:
    lanes = two_workers()
    lanes[2].rows += [row(TASK, Metric.SUSPENDED, 2 * S, count=4, flags=WaitCause.MUTEX)]
    finding = causes(report_of(tmp_path, lanes, 8.0))["tasks wait for each other"]
    assert "4 times for 2 s in all (waiting: mutex)" in finding["evidence"]
    assert finding["gain_s"] == pytest.approx(1.0)


@pytest.mark.parametrize(("tasks_ran", "is_told"), [(79, True), (81, False)])
def test_the_task_that_waits_for_all_others_is_not_told(
    tmp_path: Path, tasks_ran: int, is_told: bool
) -> None:
    lanes = two_workers()
    lanes[2].rows += [
        row(TASK, Metric.SUSPENDED, 2 * S, count=4, flags=WaitCause.FUTURE),
        tasks(tasks_ran, 0.01),
    ]
    result = causes(report_of(tmp_path, lanes, 8.0))
    assert ("tasks wait for each other" in result) == is_told


def test_time_without_tasks_and_cpus_without_workers(tmp_path: Path) -> None:
    lanes = [LaneFile(run_s=4.0), LaneFile(rows=[state(RUNS, 6.0)], run_s=6.0)]
    result = causes(report_of(tmp_path, lanes, 6.0))
    assert result["serial part"]["gain_s"] == pytest.approx(2.0)
    assert result["fewer workers than CPUs"]["gain_s"] == pytest.approx(3.0)


def test_scheduling_policies_that_were_left_open_are_told(tmp_path: Path) -> None:
    key = "tasks/app/runtime 1/2 workers"
    reported = [
        fact(f"scheduler {key}", "local"),
        fact(f"schedulers {key}", "local-priority,abp-priority"),
        fact(f"scheduler-advised {key}", "abp-priority: 30 % of the tasks are stolen: too many"),
        fact("scheduler tasks/app/runtime 2/1 workers", "local-priority"),
    ]
    process = ProcessFiles(two_workers(), [*NAMES, *reported], parallel=8.0, cpus=2.0)
    first, second = build(open_run(write_run(tmp_path / "run", process)))["schedulers"]
    assert first == {
        "process": "100-0",
        "subject": "runtime 1",
        "key": key,
        "now": "local",
        "advised": "abp-priority",
        "reason": "30 % of the tasks are stolen: too many",
        "others": ["local-priority", "abp-priority"],
    }
    assert (second["subject"], second["advised"], second["others"]) == ("runtime 2", None, [])


def test_advice_of_the_steering_is_a_finding(tmp_path: Path) -> None:
    advice = fact("advice for runtime 1", "--trimtab:policy=abp-priority: 30 % of the tasks are stolen")
    process = ProcessFiles(two_workers(), [*NAMES, advice], parallel=8.0, cpus=2.0)
    result = causes(build(open_run(write_run(tmp_path / "run", process))))["another scheduling policy"]
    assert (result["subject"], result["evidence"]) == ("runtime 1", "30 % of the tasks are stolen")
    assert result["action"].startswith("try --trimtab:policy=abp-priority and compare")
    assert result["gain_s"] == pytest.approx(2.0)


def test_verdict_of_workers(tmp_path: Path) -> None:
    lanes = two_workers()
    lanes[1].rows += [tasks(16_000_000, 0.5e-6)]
    lanes[2].rows += [tasks(8_000_000, 0.5e-6)]
    out = io.StringIO()
    verdict(typed(report_of(tmp_path, lanes, 8.0)), tmp_path, out)
    lines = out.getvalue().splitlines()
    assert (
        "  2 workers: 60.0 % work, 20.0 % no task ready, 20.0 % nobody at work; "
        "24000000 tasks of 0.5 us: too small"
    ) in lines
    assert "  task stencil: 24000000, 0.5 us each" in lines
    assert "no task ready 20.0 %" in lines[1]


times = st.floats(0.0, 20.0)


@settings(max_examples=60, deadline=None)
@given(
    workers=st.lists(st.tuples(times, times, times, times, times), min_size=1, max_size=6),
    wall=times,
    parallel=times,
    cpus=st.floats(0.25, 8.0),
    own=st.tuples(times, times),
)
def test_shares_are_never_negative_and_sum_to_one(
    tmp_path_factory: pytest.TempPathFactory,
    workers: list[tuple[float, float, float, float, float]],
    wall: float,
    parallel: float,
    cpus: float,
    own: tuple[float, float],
) -> None:
    lanes = [LaneFile(run_s=own[0], delay_s=own[1])]
    for runs, looks, idle, run, delay in workers:
        rows = [state(RUNS, runs), state(LOOKS, looks, looks / 2), state(IDLE, idle, idle / 3)]
        lanes.append(LaneFile(rows=rows, run_s=run, delay_s=delay))
    path = tmp_path_factory.mktemp("run")
    shares = report_of(path, lanes, parallel, wall=wall, cpus=cpus)["time"]
    assert all(value >= 0 for value in shares.values())
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-9)


def test_tasks_of_workers_that_ran_for_no_time_are_not_said_to_be_too_small(tmp_path: Path) -> None:
    # Only a damaged run has them; how much larger they should be cannot be said.
    lanes = [LaneFile(), LaneFile(rows=[state(LOOKS, 5.0), tasks(1000, 0.0)], run_s=5.0)]
    assert "tasks too small" not in causes(report_of(tmp_path, lanes, 8.0))

"""Event logs of Spark: reading, core slots, attribution, replay, what-if and findings; real logs, and a matrix of made ones."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import reports
from trimtab.cli.sources import source_at
from trimtab.model import RunError
from trimtab.report import lane_page
from trimtab.spark import codecs, reading
from trimtab.spark.attribution import IDLE, PARTS, attribute
from trimtab.spark.logs import Log, is_event_log, logs_at
from trimtab.spark.replay import Schedule
from trimtab.spark.report import Analysis, analyse, report_of
from trimtab.spark.slots import slots_of
from trimtab.spark.sweep import between, counts, integral, medians_by

sys.path.insert(0, str(Path(__file__).parents[1] / "spark"))
import written_logs
from written_logs import Job, Stage, Task

LOGS = Path(__file__).parents[1] / "spark" / "logs"
REAL = sorted(path.name for path in LOGS.iterdir())


def analysed(path: Path) -> Analysis:
    (log,) = logs_at(path)
    return analyse(log)


def plain(analysis: Analysis) -> dict[str, Any]:
    """The report as it is printed, checked against the JSON Schema."""
    return reports.checked(reports.plain(report_of(analysis)))


def made(tmp_path: Path, *arguments: Any, **options: Any) -> Analysis:
    return analysed(written_logs.write(tmp_path / "log", *arguments, **options))


def causes(report: dict[str, Any]) -> dict[str, float]:
    return {finding["cause"]: finding["gain_s"] for finding in report["findings"]}


def one_stage(*tasks: Task, end: int, count: int | None = None) -> list[Job]:
    return [Job(0, 100, end, [Stage(0, 100, end, tasks, count=count)])]


@pytest.mark.parametrize("name", REAL)
def test_a_real_log_is_accounted_for(name: str) -> None:
    analysis = analysed(LOGS / name)
    total, capacity = analysis.attribution.total, analysis.slots.capacity_ms
    assert sum(total.values()) == pytest.approx(capacity, rel=1e-9)
    assert total["unattributed"] <= 0.01 * capacity, "at least 99 % is attributed"
    assert min(total.values()) >= 0
    by_executor, by_stage = analysis.attribution.idle_by_executor, analysis.attribution.idle_by_stage
    assert by_executor.sum(axis=0) == pytest.approx(by_stage.sum(axis=0), abs=1e-3)
    report = plain(analysis)
    assert sum(report["time"].values()) == pytest.approx(1)
    assert sum(row["share"] for row in report["blame"]) == pytest.approx(1 - report["efficiency"])
    for kind in {group["group"] for group in report["spark"]["groups"]}:
        times = [group["core_time_s"] for group in report["spark"]["groups"] if group["group"] == kind]
        assert sum(times) == pytest.approx(capacity * 1e-3, rel=1e-6), kind
    print(f"{name}: unchanged replay {report['spark']['replay_error']:+.2%} off")
    assert abs(report["spark"]["replay_error"]) <= 0.05


@pytest.mark.parametrize("name", REAL)
def test_no_slot_has_two_tasks(name: str) -> None:
    analysis = analysed(LOGS / name)
    tasks, slots = analysis.application.tasks, analysis.slots
    order = np.lexsort((tasks["begin"], slots.slot))
    same = slots.slot[order][1:] == slots.slot[order][:-1]
    assert (slots.until[order][:-1][same] <= tasks["begin"][order][1:][same]).all()
    assert (slots.executor[slots.slot] == tasks["executor"]).all()


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("straggler.gz", "straggler"),
        ("skew.gz", "skew"),
        ("speculation.gz", "straggler"),
        ("one-partition.gz", "too few partitions"),
        ("eviction.gz", "memory thrash"),
        ("killed-executor.gz", "recomputation"),
    ],
)
def test_a_real_log_has_its_finding(name: str, cause: str) -> None:
    assert cause in causes(plain(analysed(LOGS / name)))


@pytest.mark.parametrize("hosts", [1, 2])
def test_speculation_is_advised_only_where_there_is_another_host(tmp_path: Path, hosts: int) -> None:
    executors = [(str(number), 2, 0, None) for number in range(1, hosts + 1)]
    tasks = [Task(10, 1010, str(1 + at % hosts), at) for at in range(3 * hosts)]
    tasks.append(Task(1010, 9010, "1", len(tasks)))
    jobs = [Job(0, 0, 9020, [Stage(0, 5, 9015, tasks)])]
    report = plain(made(tmp_path, jobs, 9030, executors))
    (action,) = [row["action"] for row in report["findings"] if row["cause"] == "straggler"]
    assert ("would give nothing" in action) == (hosts == 1), action
    assert ("copy on another host" in action or "set spark.excludeOnFailure" in action) == (hosts == 2), (
        action
    )


@pytest.mark.parametrize("name", ["no-straggler.gz", "group-by.gz", "sql-aqe-off.gz", "rolling"])
def test_a_well_tuned_log_has_no_finding_about_tasks(name: str) -> None:
    assert set(causes(plain(analysed(LOGS / name)))) <= {"driver busy"}


def test_an_injected_straggler_is_predicted_within_10_percent() -> None:
    """The same program with and without a sleep in one partition, both run for real."""
    analysis, without = analysed(LOGS / "straggler.gz"), analysed(LOGS / "no-straggler.gz")
    what_if = analysis.what_if
    jobs, actual = analysis.application.jobs, without.application.jobs[1]
    replayed = Schedule(analysis.application, analysis.slots).replay(what_if.without_stragglers())
    job = jobs[1]
    assert job.completed is not None and actual.completed is not None
    recorded_start = job.submitted - (jobs[0].completed or 0)
    predicted = replayed.job_end[1] - replayed.job_end[0] - recorded_start
    assert predicted == pytest.approx(actual.completed - actual.submitted, rel=0.1)
    assert predicted < 0.6 * (job.completed - job.submitted)


CODECS = {"group-by-zstd.zstd", "group-by-lz4.lz4", "group-by-snappy.snappy", "group-by.gz"}


@pytest.mark.parametrize("name", sorted(CODECS))
def test_every_codec_is_read(name: str) -> None:
    application = analysed(LOGS / name).application
    assert (len(application.tasks), len(application.stages), application.is_complete) == (14, 2, True)
    assert application.remarks == ()


@pytest.mark.parametrize("name", sorted(CODECS))
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_truncated_file_is_analysed_as_far_as_it_goes(name: str, part: float, tmp_path: Path) -> None:
    whole = (LOGS / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole[: int(len(whole) * part)])
    try:
        analysis = analysed(path)
    except RunError as error:
        assert "found no event" in str(error)
        return
    assert any(
        "the end of the application is not in the log" in remark for remark in analysis.application.remarks
    )
    plain(analysis)


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_file_never_crashes(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    name = sorted(CODECS)[seed % len(CODECS)]
    data = bytearray((LOGS / name).read_bytes() if seed % 2 else codec_free(LOGS / name))
    for _ in range(random.integers(1, 12)):
        at = int(random.integers(0, len(data)))
        data[at] = int(random.integers(0, 256))
    path = tmp_path / "log"
    path.write_bytes(data)
    try:
        plain(analysed(path))
    except RunError as error:
        assert str(path) in str(error)


def codec_free(path: Path) -> bytes:
    return b"".join(codecs.chunks(path))


def lines_of(tmp_path: Path) -> list[dict[str, Any]]:
    return list(written_logs.events(one_stage(Task(110, 300), end=310), 400))


@pytest.mark.parametrize(
    "value",
    [-1, 1 << 62, 1 << 70, 1.5, "text", None, [], {}, True, -(1 << 40)],
    ids=str,
)
@pytest.mark.parametrize(
    "key", ["Launch Time", "Finish Time", "Index", "Task ID", "Executor ID", "Host", "Failed"]
)
def test_hostile_values_are_passed_over_or_bounded(key: str, value: Any, tmp_path: Path) -> None:
    events = lines_of(tmp_path)
    for event in events:
        if event["Event"].endswith("TaskEnd"):
            event["Task Info"][key] = value
    path = tmp_path / "log"
    path.write_text("\n".join(json.dumps(event) for event in events))
    report = plain(analysed(path))
    assert report["wall_s"] >= 0


def test_a_damaged_line_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = [json.dumps(event, separators=(",", ":")) for event in lines_of(tmp_path)]
    lines.insert(4, '{"Event":"SparkListenerTaskEnd","Stage ID":')
    path = tmp_path / "log"
    path.write_text("\n".join(lines) + "\n")
    application = analysed(path).application
    assert len(application.tasks) == 1
    assert any("line 5" in remark and "passed over" in remark for remark in application.remarks)


def test_a_half_written_last_line_is_normal(tmp_path: Path) -> None:
    lines = [json.dumps(event, separators=(",", ":")) for event in lines_of(tmp_path)]
    path = tmp_path / "log"
    path.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:-9])
    application = analysed(path).application
    assert not application.is_complete
    assert any("still being written" in remark for remark in application.remarks)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"hello\n", b'{"a": 1}\n', b"\x00" * 100, b"[" * 100_000])
def test_what_is_no_event_log_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(RunError, match="expected an event log of Spark"):
        analysed(path)
    assert not is_event_log(path)


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_LONGEST_LINE", 1 << 21)
    lines = [json.dumps(event, separators=(",", ":")) for event in lines_of(tmp_path)]
    path = tmp_path / "log.gz"
    long = '{"Event":"SparkListenerTaskEnd",' + " " * (1 << 23)
    path.write_bytes(gzip.compress("\n".join([*lines[:3], long, *lines[3:]]).encode()))
    application = analysed(path).application
    assert len(application.tasks) == 1
    assert any("line 4: longer than" in remark for remark in application.remarks)


def test_files_of_a_rolling_log_are_read_in_order(tmp_path: Path) -> None:
    lines = [json.dumps(event, separators=(",", ":")) + "\n" for event in lines_of(tmp_path)]
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    (folder / "appstatus_app-1").touch()
    for number in (10, 2, 1):
        at = {1: slice(0, 4), 2: slice(4, 6), 10: slice(6, None)}[number]
        (folder / f"events_{number}_app-1").write_text("".join(lines[at]))
    (log,) = logs_at(tmp_path)
    assert [file.name for file in log.files] == ["events_1_app-1", "events_2_app-1", "events_10_app-1"]
    assert len(analyse(log).application.tasks) == 1
    (folder / "events_2_app-1.compact").write_text("".join(lines[:6]))
    (log,) = logs_at(folder)
    assert [file.name for file in log.files] == ["events_2_app-1.compact", "events_10_app-1"]
    assert log.is_compacted
    assert "compacted" in analyse(log).application.remarks[0]


def test_idle_time_is_charged_to_its_cause(tmp_path: Path) -> None:
    """Two slots: one task of 100 ms, one of 1000 ms, alone in the stage."""
    tasks = [Task(100, 200, index=at) for at in range(2)] + [
        Task(200, 300, index=2),
        Task(200, 1200, index=3),
    ]
    analysis = made(tmp_path, one_stage(*tasks, end=1200), 1500)
    total = analysis.attribution.total
    assert total["straggler"] == pytest.approx(900)
    assert total["driver"] == pytest.approx(2 * 100 + 2 * 300)
    assert total["application"] == pytest.approx(1300)
    report = plain(analysis)
    assert report["stages"][0]["stragglers"] == 1
    assert causes(report)["straggler"] == pytest.approx(0.9)


def test_a_task_with_more_data_is_skew(tmp_path: Path) -> None:
    read = [{"Shuffle Read Metrics": {"Local Bytes Read": size}} for size in (100, 100, 100, 1000)]
    tasks = [
        Task(100, 200, index=0, metrics=read[0]),
        Task(100, 200, index=1, metrics=read[1]),
        Task(200, 300, index=2, metrics=read[2]),
        Task(200, 1200, index=3, metrics=read[3]),
    ]
    analysis = made(tmp_path, one_stage(*tasks, end=1200), 1300)
    assert analysis.attribution.total["skew"] == pytest.approx(900)
    found = causes(plain(analysis))
    assert "straggler" not in found
    # Four tasks of their mean, 325 ms, on two slots.
    assert found["skew"] == pytest.approx((1100 - 650) * 1e-3)


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ({"JVM GC Time": 900}, "garbage collection"),
        (
            {"Shuffle Read Metrics": {"Fetch Wait Time": 900, "Remote Bytes Read": 5}},
            "waited for shuffle data",
        ),
        ({}, "not explained"),
    ],
)
def test_a_straggler_is_explained(metrics: dict[str, Any], words: str, tmp_path: Path) -> None:
    usual = {"Shuffle Read Metrics": {"Remote Bytes Read": 5}}
    tasks = [Task(100, 200, index=at, metrics=usual) for at in range(3)]
    tasks.append(Task(200, 1200, index=3, metrics=usual | metrics))
    report = plain(made(tmp_path, one_stage(*tasks, end=1200), 1250, (("1", 3, 0, None),)))
    (finding,) = [each for each in report["findings"] if each["cause"] == "straggler"]
    assert words in finding["evidence"]


def test_parts_of_a_task_are_told_apart(tmp_path: Path) -> None:
    metrics = {
        "Executor Deserialize Time": 50,
        "Executor Run Time": 800,
        "Result Serialization Time": 30,
        "JVM GC Time": 100,
        "Disk Bytes Spilled": 1000,
        "Shuffle Read Metrics": {"Fetch Wait Time": 200, "Remote Bytes Read": 300, "Local Bytes Read": 100},
        "Shuffle Write Metrics": {"Shuffle Bytes Written": 1000, "Shuffle Write Time": 40_000_000},
    }
    analysis = made(tmp_path, one_stage(Task(100, 1100, metrics=metrics), end=1100), 1100)
    total = analysis.attribution.total
    expected = {"deserialization": 50, "serialization": 70, "gc": 100, "fetch_network": 150, "fetch_disk": 50}
    expected |= {"spill": 80, "scheduler_delay": 120, "application": 380}
    assert {name: total[name] for name in expected} == pytest.approx(expected)


def test_slots_without_a_task_of_the_stage_are_too_few_partitions(tmp_path: Path) -> None:
    analysis = made(tmp_path, one_stage(Task(100, 1100), end=1100), 1200, (("1", 4, 0, None),))
    assert analysis.attribution.total["few_partitions"] == pytest.approx(3000)
    assert causes(plain(analysis))["too few partitions"] == pytest.approx(0.75)


def test_late_executors_and_pending_tasks(tmp_path: Path) -> None:
    tasks = [Task(150, 400, index=0), Task(400, 700, index=1)]
    executors = (("1", 1, 120, None), ("2", 1, 500, 800))
    analysis = made(tmp_path, one_stage(*tasks, end=700), 800, executors)
    total = analysis.attribution.total
    assert total["executor_start"] == pytest.approx(120 + 500)
    assert total["pending"] == pytest.approx(30)


def test_failed_and_running_tasks(tmp_path: Path) -> None:
    tasks = [Task(100, 300, index=0, is_failed=True), Task(310, 500, index=0, attempt=1)]
    tasks.append(Task(100, 900, index=1, has_ended=False))
    analysis = made(tmp_path, [Job(0, 100, None, [Stage(0, 100, None, tasks, count=2)])], None)
    total = analysis.attribution.total
    assert total["failed"] == pytest.approx(200)
    assert total["unattributed"] == pytest.approx(400), "it ran until the last event, at 500"
    assert not analysis.application.is_complete
    assert plain(analysis)["exit"] == {"code": None, "signal": None}


def test_small_tasks_spill_wide_shuffles_and_garbage(tmp_path: Path) -> None:
    metrics = {"Executor Run Time": 5, "Executor Deserialize Time": 5}
    small = [Task(100 + at // 2 * 20, 120 + at // 2 * 20, index=at, metrics=metrics) for at in range(100)]
    assert "too many small tasks" in causes(plain(made(tmp_path, one_stage(*small, end=1100), 1100)))
    spilling = {"Memory Bytes Spilled": 9000, "Disk Bytes Spilled": 3000}
    spilling |= {"Shuffle Write Metrics": {"Shuffle Bytes Written": 1000, "Shuffle Write Time": 100_000_000}}
    assert (
        causes(plain(made(tmp_path, one_stage(Task(100, 2100, metrics=spilling), end=2100), 2100)))["spill"]
        > 0.5
    )
    wide = {
        "Shuffle Read Metrics": {
            "Local Blocks Fetched": 20_000,
            "Local Bytes Read": 20_000,
            "Fetch Wait Time": 900,
        }
    }
    assert "wide shuffle" in causes(
        plain(made(tmp_path, one_stage(Task(100, 1100, metrics=wide), end=1100), 1100))
    )
    garbage = {"JVM GC Time": 700}
    report = plain(made(tmp_path, one_stage(Task(100, 1100, metrics=garbage), end=1100), 1100))
    assert causes(report)["memory thrash"] == pytest.approx(0.7)


def test_evicted_partitions_are_computed_again(tmp_path: Path) -> None:
    kept = [
        {
            "RDD ID": 5,
            "Callsite": "map at program.py:3",
            "Storage Level": {"Use Memory": True},
            "Number of Partitions": 2,
        }
    ]
    hit, miss = {"Input Metrics": {"Bytes Read": 10}}, {}
    first = Stage(0, 100, 600, [Task(100, 600, index=at) for at in range(2)], rdds=kept)
    jobs = [Job(0, 100, 600, [first])]
    for number, begin in ((1, 700), (2, 1300)):
        tasks = [
            Task(begin, begin + 50, index=0, metrics=hit),
            Task(begin, begin + 500, index=1, metrics=miss),
        ]
        jobs.append(Job(number, begin, begin + 500, [Stage(number, begin, begin + 500, tasks, rdds=kept)]))
    report = plain(made(tmp_path, jobs, 1900))
    (finding,) = [each for each in report["findings"] if each["cause"] == "memory thrash"]
    assert "up to 3 times" in finding["evidence"]
    assert finding["gain_s"] == pytest.approx(0.9)
    assert "recomputation" in causes(plain(made(tmp_path, jobs[:2], 1300)))


def test_executors_that_are_not_needed(tmp_path: Path) -> None:
    executors = tuple((str(number), 2, 0, None) for number in range(1, 5))
    tasks = [Task(100, 1100, str(1 + at), index=at) for at in range(2)]
    assert "idle executors" in causes(plain(made(tmp_path, one_stage(*tasks, end=1100), 1200, executors)))
    busy = [Task(100, 1100, str(1 + at // 2), index=at) for at in range(8)]
    assert "idle executors" not in causes(plain(made(tmp_path, one_stage(*busy, end=1100), 1200, executors)))


def test_executors_that_are_given_back_and_asked_for_again(tmp_path: Path) -> None:
    """The second job waits 400 ms for two new executors; the two of the first job would have been there."""
    executors = (("1", 1, 100, 300), ("2", 1, 120, 300), ("3", 1, 900, None), ("4", 1, 900, None))
    first = Stage(0, 100, 220, [Task(120, 220, "1", 0), Task(120, 220, "2", 1)])
    second = Stage(1, 500, 1000, [Task(900, 1000, "3", 0), Task(900, 1000, "4", 1)])
    jobs = [Job(0, 100, 220, [first]), Job(1, 500, 1000, [second])]
    dynamic = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.executorIdleTimeout": "80ms",
    }
    given_back = {"settings": dynamic, "removed_reason": "Executor killed by driver."}
    analysis = made(tmp_path, jobs, 1000, executors, **given_back)
    report = plain(analysis)
    (finding,) = [each for each in report["findings"] if each["cause"] == "late executors"]
    assert finding["gain_s"] == pytest.approx(0.4)
    assert "gave 2 idle executors back" in finding["evidence"]
    assert "4 were started, at most 2 at a time" in finding["evidence"]
    assert "executorIdleTimeout (80ms)" in finding["action"] and "minExecutors to 2;" in finding["action"]
    changes = {change.change: change.total for change in analysis.what_if.changes()}
    assert changes["executors stay until the end"] == pytest.approx(600)
    assert "1 more executor" not in changes and "idle executors" not in causes(report)
    # Somebody else's decision: more executors from the beginning are the way out.
    static = made(tmp_path, jobs, 1000, executors)
    assert "late executors" not in causes(plain(static))
    assert "executors stay until the end" not in {change.change for change in static.what_if.changes()}
    # As many as there were from the beginning: nothing came back late.
    lasting = made(tmp_path, jobs[:1], 300, executors[:2], **given_back)
    assert "late executors" not in causes(plain(lasting))
    # Those that died were not given back.
    assert "late executors" not in causes(plain(made(tmp_path, jobs, 1000, executors, dynamic)))


def test_more_executors_and_slopes_by_hand(tmp_path: Path) -> None:
    """Four tasks of 100 ms on one slot; with a second executor they take half."""
    tasks = [Task(100 + 100 * at, 200 + 100 * at, index=at) for at in range(4)]
    analysis = made(tmp_path, one_stage(*tasks, end=500), 500, (("1", 1, 0, None),))
    changes = {change.change: change.total for change in analysis.what_if.changes()}
    assert changes["1 more executor"] == pytest.approx(300)
    assert analysis.what_if.sensitivities()[0] == pytest.approx(0, abs=0.1), "one slot: only the sum counts"
    wide = [Task(100, 200, index=at) for at in range(8)]
    spread = made(tmp_path, one_stage(*wide, end=200), 200, (("1", 8, 0, None),)).what_if.sensitivities()[0]
    # The largest of eight draws lies 1.4 standard deviations above the mean, of log-normal ones a little further.
    assert 1.2 < spread < 2.0


def test_an_executor_that_is_gone_takes_no_task_in_a_replay(tmp_path: Path) -> None:
    tasks = [Task(100, 200, "1", 0), Task(100, 200, "2", 1), Task(200, 300, "1", 2), Task(300, 400, "1", 3)]
    analysis = made(tmp_path, one_stage(*tasks, end=400), 400, (("1", 1, 0, None), ("2", 1, 0, 200)))
    assert analysis.what_if.error == pytest.approx(0, abs=1e-9)
    assert analysis.what_if.unchanged.end.tolist() == [200, 200, 300, 400]


def test_a_stage_waits_for_its_parents_in_a_replay(tmp_path: Path) -> None:
    first = Stage(0, 100, 410, [Task(110, 400, index=0)])
    second = Stage(1, 420, 600, [Task(425, 595, index=0)], parents=[0])
    analysis = made(tmp_path, [Job(0, 90, 605, [first, second])], 650)
    assert analysis.what_if.error == pytest.approx(0, abs=1e-9)
    durations = analysis.what_if.durations.copy()
    durations[0] -= 200
    assert analysis.what_if.gain(durations) == pytest.approx(200)


@pytest.mark.parametrize("seed", range(20))
def test_random_schedules_are_accounted_for_and_replayed(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    executors = [(str(at), int(random.integers(1, 4)), int(random.integers(0, 300)), None) for at in range(3)]
    jobs, now, free = [], 400, {}
    for number in range(int(random.integers(1, 4))):
        stages, begin = [], now
        for at in range(int(random.integers(1, 4))):
            submitted, tasks = now + int(random.integers(0, 20)), []
            free = {(name, core): submitted for name, cores, _, _ in executors for core in range(cores)}
            for index in range(int(random.integers(1, 12))):
                slot = min(free, key=lambda each: (free[each], each))
                start = free[slot] + int(random.integers(0, 5))
                free[slot] = start + int(random.integers(1, 200))
                tasks.append(
                    Task(
                        start,
                        free[slot],
                        slot[0],
                        index,
                        metrics={"JVM GC Time": int(random.integers(0, 50))},
                    )
                )
            now = max(task.end for task in tasks) + int(random.integers(0, 10))
            stages.append(
                Stage(number * 10 + at, submitted, now, tasks, [number * 10 + at - 1] if at else [])
            )
        jobs.append(Job(number, begin, now + 3, stages))
        now += int(random.integers(3, 100))
    analysis = made(tmp_path, jobs, now + 50, executors)
    total = analysis.attribution.total
    assert sum(total.values()) == pytest.approx(analysis.slots.capacity_ms)
    assert abs(analysis.what_if.error) <= 0.05
    plain(analysis)


def test_a_replay_that_is_far_off_claims_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.spark.what_if.MOST_ERROR", -1.0)
    tasks = [Task(100, 200, index=at) for at in range(3)] + [Task(200, 1200, index=3)]
    report = plain(made(tmp_path, one_stage(*tasks, end=1200), 1300, (("1", 3, 0, None),)))
    assert len(report["what_if"]) == 1 and not report["spark"]["replay_trusted"]
    assert report["stages"][0]["sensitivity"] is None
    assert any(row["what"] == "what-if" for row in report["unavailable"])
    # The bound: two slots idle for 1000 ms, of three.
    assert causes(report)["straggler"] == pytest.approx(2 / 3)


def test_names_of_others_are_escaped_in_pages(tmp_path: Path) -> None:
    from trimtab.report.html import page

    name = "</script><img src=x onerror=alert(1)>\x1b[2J"
    jobs = [Job(0, 100, 300, [Stage(0, 100, 300, [Task(100, 300)], name=name, rdds=[])])]
    html = page(report_of(made(tmp_path, jobs, 400, name=name)))
    assert "<img src=x" not in html and "\x1b" not in html


def test_what_is_kept_of_every_step() -> None:
    times = np.array([0, 10, 20, 40])
    assert counts(times, [0, 10], [20, 40]).tolist() == [1, 2, 1]
    assert integral(times, np.array([1, 2, 1])).tolist() == [0, 10, 30, 50]
    whole = integral(times, np.array([1.0, 2.0, 1.0]))
    assert between(times, whole, np.array([5]), np.array([15])).tolist() == [15.0]
    assert medians_by(np.array([0, 0, 2, 2, 2]), np.array([1, 3, 5, 9, 7]), 4).tolist() == [2, 0, 7, 0]


def test_parts_and_causes_have_a_meaning_in_every_report() -> None:
    from trimtab.spark.report import _MEANING

    assert set(_MEANING) == {*PARTS, *IDLE}


def test_an_analysis_is_the_same_each_time() -> None:
    (log,) = logs_at(LOGS / "straggler.gz")
    first, second = (msgspec.json.encode(report_of(analyse(log))) for _ in range(2))
    assert first == second


def test_lanes_of_the_page_are_where_the_report_has_them() -> None:
    """The executors came long after the application began."""
    lanes = lane_page(source_at(LOGS / "straggler.gz").run())
    assert lanes is not None
    begins = [process["begin_ns"] * 1e-9 for process in lanes.head["processes"]]
    slots = analysed(LOGS / "straggler.gz").slots
    added = [slots.added[slots.executor == at].min() * 1e-3 for at in range(len(begins))]
    assert sorted(begins) == pytest.approx(sorted(added)) and min(begins) > 10


def test_a_missing_file_and_a_folder_without_logs(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"No such file"):
        reading.read(Log(tmp_path / "none", (tmp_path / "none",)))
    with pytest.raises(RunError, match="found none"):
        logs_at(tmp_path)


def test_slots_follow_cores_per_task(tmp_path: Path) -> None:
    path = written_logs.write(
        tmp_path / "log",
        one_stage(Task(100, 200), end=200),
        300,
        (("1", 8, 0, None),),
        {"spark.task.cpus": "4"},
    )
    application = analysed(path).application
    slots = slots_of(application)
    assert len(slots.executor) == 2
    assert attribute(application, slots).total["few_partitions"] == pytest.approx(100)


def test_decisions_of_policies_are_those_of_the_report(tmp_path: Path) -> None:
    decision = {
        "Event": "trimtab.spark.policy.PolicyDecision",
        "time": written_logs.START + 250,
        "policy": "speculation",
        "subject": "count at program.py:7",
        "outcome": "trial",
        "reason": "a task was slow",
        "before": {"spark.speculation.quantile": "1.0"},
        "after": {"spark.speculation.quantile": "0.75"},
        "evidence": {"saved_s": 3.5},
    }
    # An outcome that this version does not know is left out, and no time is before the start.
    others = [decision | {"outcome": "later"}, decision | {"time": 0, "outcome": "undone"}]
    lines = [*written_logs.events(one_stage(Task(110, 300), end=310), 400), decision, *others]
    path = tmp_path / "log"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    trial, undone = report_of(analyse(logs_at(path)[0])).decisions
    assert (trial.time_s, trial.outcome, trial.policy) == (0.25, "trial", "speculation")
    (change,) = trial.changes
    assert (change.knob, change.from_, change.to) == ("spark.speculation.quantile", "1.0", "0.75")
    assert trial.evidence == {"saved_s": 3.5}
    assert (undone.time_s, undone.number) == (0.0, 3)

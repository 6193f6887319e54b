"""Records of the operating system's scheduler: what is read, and what the report makes of it."""

from __future__ import annotations

import io
import os
import random
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from reports import build, typed
from synthetic import LaneFile, ProcessFiles, S, SchedulerFiles, subject, team_of, write_run
from trimtab.model.enumerations import Cause, SchedulerChargeKind, SchedulerThreadFlags, SchedulerWait
from trimtab.model.report import Unavailable
from trimtab.readers import layout, open_run
from trimtab.text.kernel import kernel_lines
from trimtab.text.tables import tables
from trimtab.text.verdict import verdict

MS = 1_000_000
AFTER_WAKE_UP, AFTER_PREEMPTION, WOKE = SchedulerChargeKind
CASES = int(os.environ.get("TRIMTAB_FUZZ", "0")) or 300


def thread(pid: int, program: str, name: str = "", **figures: int) -> dict[str, Any]:
    """A row of threads.tt."""
    texts = {"program": program.encode(), "name": (name or program).encode()}
    return {"pid": pid, "tid": pid, "system_tid": pid, **texts, **figures}


def charge(waiter: int, other: int, kind: SchedulerChargeKind, ms: float, count: int = 1) -> dict[str, int]:
    """A row of charges.tt."""
    return {"waiter": waiter, "other": other, "kind": kind, "ns": int(ms * MS), "count": count}


def delay(number: int, kind: SchedulerWait, ms: float, count: int) -> dict[str, int]:
    """A row of delays.tt."""
    return {"thread": number, "kind": kind, "longest_ns": int(ms * MS), "count": count}


def hog() -> SchedulerFiles:
    """The program has two threads; a hog preempts the first one, a daemon delays the second one."""
    watched = {"flags": int(SchedulerThreadFlags.WATCHED)}
    return SchedulerFiles(
        [
            thread(
                *(100, "app"),
                **watched,
                running_ns=3 * S,
                voluntary_switches=10,
                involuntary_switches=4,
                moves=2,
                preempted_waits=4,
                preempted_ns=800 * MS,
                longest_preempted_ns=500 * MS,
            ),
            # Known by the number of its process alone.
            thread(
                *(100, "app", "worker"),
                running_ns=1 * S,
                voluntary_switches=100,
                woken_waits=100,
                woken_ns=200 * MS,
                longest_woken_ns=30 * MS,
                idle_though_ready_ns=50 * MS,
                unknown_ns=20 * MS,
            ),
            thread(7, "hog", running_ns=2 * S, involuntary_switches=5),
            thread(8, "daemon", running_ns=1 * S, woken_waits=1, woken_ns=MS, longest_woken_ns=MS),
            thread(9, "trimtab-kernel", running_ns=10 * MS),
            thread(10, "never ran"),
        ],
        [
            charge(1, 3, AFTER_PREEMPTION, 780, 3),
            charge(1, 4, AFTER_PREEMPTION, 20, 1),
            charge(2, 4, AFTER_WAKE_UP, 100, 40),
            charge(2, 1, AFTER_WAKE_UP, 30, 10),
            charge(2, 1, WOKE, 190, 90),
            charge(4, 3, AFTER_WAKE_UP, 1),
        ],
        [
            delay(1, SchedulerWait.PREEMPTED, 100, 3),
            delay(1, SchedulerWait.PREEMPTED, 500, 1),
            delay(2, SchedulerWait.WOKEN, 1, 50),
            delay(2, SchedulerWait.WOKEN, 4, 49),
            delay(2, SchedulerWait.WOKEN, 30, 1),
            delay(4, SchedulerWait.WOKEN, 1, 1),
        ],
        head={"lost": 3, "inferred": 2},
    )


def report_of(folder: Path, *schedulers: SchedulerFiles, processes: int = 1) -> dict[str, Any]:
    """Of a run whose only thread waited for a CPU."""
    lanes = [LaneFile(team_of(1, 5.0, [5.0]), run_s=5.0, delay_s=1.0)]
    files = [ProcessFiles(lanes, [subject(1)], parallel=5.0, cpus=2.0) for _ in range(processes)]
    run = write_run(folder, *files)
    for scheduler in schedulers:
        scheduler.write(run)
    return build(open_run(run))


def test_by_hand(tmp_path: Path) -> None:
    kernel = report_of(tmp_path / "run", hog())["kernel"]
    assert kernel["observed_s"] == pytest.approx(10)
    assert (kernel["running_s"], kernel["waiting_s"]) == (pytest.approx(4), pytest.approx(1))
    assert kernel["switches"] == 114
    assert (kernel["idle_though_ready_s"], kernel["unknown_s"]) == (pytest.approx(0.05), pytest.approx(0.02))
    rows = [(row["name"], row["pid"], row["is_own"], row["count"]) for row in kernel["preemptors"]]
    assert rows == [("hog", 7, False, 3), ("daemon", 8, False, 41), ("app", 100, True, 10)]
    assert [row["time_s"] for row in kernel["preemptors"]] == pytest.approx([0.78, 0.12, 0.03])
    assert [row["share"] for row in kernel["preemptors"]] == pytest.approx([0.78, 0.12, 0.03])
    assert [row["preempted_s"] for row in kernel["preemptors"]] == pytest.approx([0.78, 0.02, 0])
    # Ranks 50 and 99 of 100.
    latency = kernel["wakeup_latency"]
    assert (latency["count"], latency["sum_s"]) == (100, pytest.approx(0.2))
    assert (latency["p50_s"], latency["p99_s"]) == (pytest.approx(0.001), pytest.approx(0.004))
    assert latency["max_s"] == pytest.approx(0.03)
    assert kernel["preemption"]["p50_s"] == pytest.approx(0.1)
    assert kernel["preemption"]["p99_s"] == pytest.approx(0.5)
    programs = {row["name"]: row for row in kernel["programs"]}
    assert list(programs) == ["app", "hog", "daemon", "trimtab-kernel"]
    assert programs["app"]["is_own"]
    assert (programs["app"]["processes"], programs["app"]["threads"]) == (1, 2)
    assert programs["daemon"]["waiting_s"] == pytest.approx(0.001)
    assert programs["daemon"]["wakeup_latency"]["p50_s"] == pytest.approx(0.001)
    assert [row["name"] for row in kernel["threads"]] == ["app", "worker"]
    assert kernel["threads"][1]["idle_though_ready_s"] == pytest.approx(0.05)
    assert kernel["late_wakers"] == [
        {"name": "app", "woken": "worker", "host": "node0", "time_s": pytest.approx(0.19), "count": 90}
    ]
    assert (kernel["lost"], kernel["inferred"], kernel["complete"]) == (3, 2, True)


def test_finding_names_who_had_the_cpus(tmp_path: Path) -> None:
    cause = Cause.CPU_CONTENTION.value
    (with_recording,) = [
        entry for entry in report_of(tmp_path / "a", hog())["findings"] if entry["cause"] == cause
    ]
    assert "hog (process 7) for 78%" in with_recording["evidence"]
    assert "app" not in with_recording["evidence"]  # 3 % are not worth a word
    (without,) = [entry for entry in report_of(tmp_path / "b")["findings"] if entry["cause"] == cause]
    assert "meanwhile" not in without["evidence"]


def test_advice_to_record_is_not_given_to_who_asked_for_it(tmp_path: Path) -> None:
    report = typed(report_of(tmp_path / "run"))
    assert "trimtab run --kernel" in "\n".join(kernel_lines(report))
    # Many threads on few CPUs wait for longer than there was core time: seconds are told, no share.
    crowded = msgspec.structs.replace(report.os, run_delay_s=30 * (report.capacity_s or 0.0))
    (line,) = kernel_lines(msgspec.structs.replace(report, os=crowded))
    assert f"had no CPU for {crowded.run_delay_s:.3g} s in all" in line and "%" not in line
    refused = Unavailable("the operating system's scheduler (--kernel)", "not permitted", "run as root")
    assert not list(kernel_lines(msgspec.structs.replace(report, unavailable=[refused])))


def test_program_that_nothing_was_loaded_into(tmp_path: Path) -> None:
    report = report_of(tmp_path / "run", hog(), processes=0)
    assert report["efficiency"] is None
    # Only the watched thread is the program's.
    assert report["kernel"]["waiting_s"] == pytest.approx(0.8)
    assert report["kernel"]["preemptors"][0]["name"] == "hog"


def test_hosts_are_summed(tmp_path: Path) -> None:
    second = hog()
    second.host = "node1"
    kernel = report_of(tmp_path / "run", hog(), second)["kernel"]
    assert kernel["waiting_s"] == pytest.approx(2)
    assert [(row["name"], row["host"]) for row in kernel["preemptors"][:2]] == [
        ("hog", "node0"),
        ("hog", "node1"),
    ]
    assert kernel["preemptors"][0]["share"] == pytest.approx(0.39)
    assert kernel["wakeup_latency"]["count"] == 200
    assert kernel["wakeup_latency"]["p50_s"] == pytest.approx(0.001)


def test_host_that_two_ranks_recorded_counts_once(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", info={"job": {"launcher": "Open MPI", "id": "a", "size": 2}})
    for rank in range(2):
        write_run(run / f"rank-{rank}")
        files = hog()
        files.head = {"end_ns": (15 + rank) * S}
        files.write(run / f"rank-{rank}")
    (recording,) = open_run(run).schedulers
    assert recording.directory.parent.name == "rank-1"


def test_long_lists_are_cut_and_their_sums_stay(tmp_path: Path) -> None:
    files = hog()
    for number in range(80):
        files.threads.append(thread(1000 + number, f"other{number}", running_ns=MS, voluntary_switches=1))
        files.charges.append(charge(1, len(files.threads), AFTER_PREEMPTION, 0.001))
    kernel = report_of(tmp_path / "run", files)["kernel"]
    assert len(kernel["preemptors"]) == 51
    assert kernel["preemptors"][-1]["name"] == "33 others"
    assert sum(row["time_s"] for row in kernel["preemptors"]) == pytest.approx(0.93 + 80e-6)
    assert len(kernel["programs"]) == 51
    assert sum(row["running_s"] for row in kernel["programs"]) == pytest.approx(7.01 + 0.08)
    assert kernel["programs"][-1]["wakeup_latency"]["p50_s"] is None


@pytest.mark.parametrize("seed", range(20))
def test_parts_add_up(tmp_path: Path, seed: int) -> None:
    """Whatever was recorded, what ran, idle and unknown time are the time waited; of several programs, the same."""
    chance = random.Random(seed)
    count = chance.randrange(1, 60)
    files = SchedulerFiles(head={"is_ended": chance.randrange(2)})
    for number in range(count):
        pid = chance.randrange(1, 12)
        figures = {
            name: chance.randrange(1000)
            for name in ("woken_ns", "preempted_ns", "idle_though_ready_ns", "unknown_ns", "running_ns")
        }
        flags = chance.randrange(2) if number else int(SchedulerThreadFlags.WATCHED)
        files.threads.append(thread(pid, f"p{pid % 5}", f"t{number}", flags=flags, **figures))
    for _ in range(chance.randrange(300)):
        waiter, other = chance.randrange(1, count + 1), chance.randrange(1, count + 1)
        files.charges.append(
            charge(waiter, other, chance.choice((AFTER_WAKE_UP, AFTER_PREEMPTION, WOKE)), 1e-4)
        )
    kernel = report_of(tmp_path / "run", files, processes=0)["kernel"]
    ran = sum(row["time_s"] for row in kernel["preemptors"])
    parts = ran + kernel["idle_though_ready_s"] + kernel["unknown_s"]
    assert parts == pytest.approx(kernel["waiting_s"], abs=1e-12)
    assert kernel["unknown_s"] >= 0
    assert kernel["waiting_s"] == pytest.approx(
        sum(row["waiting_s"] for row in kernel["programs"] if row["is_own"]), abs=1e-12
    )
    assert kernel["waiting_s"] == pytest.approx(sum(row["waiting_s"] for row in kernel["threads"]), abs=1e-12)
    if kernel["waiting_s"] > 0:
        assert sum(row["share"] for row in kernel["preemptors"]) == pytest.approx(ran / kernel["waiting_s"])


@pytest.mark.parametrize("seed", range(20))
def test_percentiles_are_those_of_the_sorted_waits(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    lengths = [chance.randrange(1, 50) for _ in range(chance.randrange(1, 400))]
    files = SchedulerFiles()
    for number in range(3):
        own = lengths[number::3]
        longest = max(own, default=0) * MS
        figures = {"woken_waits": len(own), "woken_ns": sum(own) * MS, "longest_woken_ns": longest}
        files.threads.append(thread(5, "app", flags=1, **figures))
        files.delays += [
            delay(number + 1, SchedulerWait.WOKEN, length, own.count(length)) for length in sorted(set(own))
        ]
    latency = report_of(tmp_path / "run", files, processes=0)["kernel"]["wakeup_latency"]
    lengths.sort()
    for name, share in (("p50_s", 50), ("p99_s", 99)):
        rank = -(-share * len(lengths) // 100)
        assert latency[name] == pytest.approx(lengths[rank - 1] * 1e-3), (name, len(lengths))


def reasons(report: dict[str, Any]) -> str:
    return "\n".join(f"{entry['what']}: {entry['why']}" for entry in report["unavailable"])


def test_charges_of_unknown_threads_and_absurd_times_are_passed_over(tmp_path: Path) -> None:
    files = hog()
    files.charges += [
        charge(0, 1, AFTER_WAKE_UP, 1),
        charge(1, 7, AFTER_WAKE_UP, 1),
        charge(1, 2, AFTER_WAKE_UP, 20_000),
    ]
    files.delays += [delay(99, SchedulerWait.WOKEN, 1, 5)]
    files.threads[2]["running_ns"] = 1 << 63
    report = report_of(tmp_path / "run", files)
    assert report["kernel"]["waiting_s"] == pytest.approx(1)
    assert sum(row["time_s"] for row in report["kernel"]["preemptors"]) == pytest.approx(0.93)
    assert "3 of 9 records were passed over, the first of them record 7" in reasons(report)
    assert "1 of 7 records were passed over" in reasons(report)
    assert "threads of the scheduler" in reasons(report)
    # The hog stays known by its charges.
    assert report["kernel"]["preemptors"][0]["name"] == "hog"


@pytest.mark.parametrize("name", ["charges", "delays"])
def test_damaged_file_leaves_the_rest(tmp_path: Path, name: str) -> None:
    run = write_run(tmp_path / "run")
    path = hog().write(run) / f"{name}.tt"
    path.write_bytes(path.read_bytes()[:-1])
    report = build(open_run(run))
    assert f"{name} of the scheduler: left out: {path}" in reasons(report)
    assert "it was cut off" in reasons(report)
    kernel = report["kernel"]
    assert kernel["waiting_s"] == pytest.approx(0.8)
    if name == "charges":
        assert kernel["preemptors"] == []
        assert kernel["unknown_s"] == pytest.approx(0.8)
    else:
        assert kernel["preemption"]["count"] == 4
        assert kernel["preemption"]["p50_s"] is None


@pytest.mark.parametrize(
    ("field", "value"),
    [("end_ns", 1), ("end_ns", 1 << 63), ("cpus", 0), ("busy_ns", 1 << 60), ("lost", 1 << 60)],
)
def test_header_that_cannot_be(tmp_path: Path, field: str, value: int) -> None:
    files = hog()
    files.head[field] = value
    run = write_run(tmp_path / "run")
    home = files.write(run)
    report = build(open_run(run))
    assert report["kernel"] is None
    assert f"{home / 'threads.tt'}: byte " in reasons(report)
    assert f"expected {field} from" in reasons(report)


def test_recorder_that_was_killed_at_once(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (run / "node0.scheduler").mkdir()
    report = build(open_run(run))
    assert report["kernel"] is None
    assert "records of the scheduler in node0.scheduler" in reasons(report)
    assert "OpenMP regions: the library could not be loaded" in reasons(report)


def test_link_to_records_elsewhere_is_none(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    hog().write(tmp_path)
    (run / "node0.scheduler").symlink_to(tmp_path / "node0.scheduler")
    assert open_run(run).schedulers == ()


def test_any_bytes_make_a_report(tmp_path: Path) -> None:
    """A report, whose parts add up, whatever is in the files."""
    run = write_run(tmp_path / "run")
    files = sorted(hog().write(run).iterdir())
    contents = {path: path.read_bytes() for path in files}
    was_read = 0
    for case in range(CASES):
        chance = random.Random(case)
        path = chance.choice(files)
        content = bytearray(contents[path])
        if chance.random() < 0.1:
            del content[chance.randrange(len(content)) :]
        for _ in range(chance.randrange(1, 8)):
            at = chance.choice(
                (chance.randrange(64), chance.randrange(64, 256), chance.randrange(4096, 5000))
            )
            if at + 8 <= len(content):
                content[at : at + chance.randrange(1, 9)] = chance.randbytes(8)
        path.write_bytes(content)
        try:
            report = build(open_run(run))
            kernel = report["kernel"]
            if kernel is not None:
                was_read += 1
                parts = sum(row["time_s"] for row in kernel["preemptors"]) + kernel["unknown_s"]
                assert parts + kernel["idle_though_ready_s"] == pytest.approx(kernel["waiting_s"])
                assert all(row["share"] <= 1 + 1e-9 for row in kernel["preemptors"])
            verdict(typed(report), run, io.StringIO())
        except Exception as error:
            raise AssertionError(f"case {case}, {path.name}") from error
        finally:
            path.write_bytes(contents[path])
    assert CASES / 4 < was_read < CASES


def verdict_of(report: dict[str, Any]) -> str:
    target = io.StringIO()
    verdict(typed(report), Path("run"), target)
    return target.getvalue()


def test_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(tmp_path / "run", hog())
    text = verdict_of(report)
    assert "scheduler: ready to run without a CPU for 1 s, 25.0 % of the running time" in text
    assert "after a wake-up p50 1 ms, p99 4 ms, max 30 ms" in text
    assert "hog (process 7) 78.0 %, daemon (process 8) 12.0 %, the program itself 3.0 %" in text
    assert "3 events were lost" in text
    assert "--kernel" not in text
    tables(typed(report), Path("run"))
    printed = capsys.readouterr().out
    for title in ("ran meanwhile", "program", "thread", "woke late"):
        assert title in printed
    assert "trimtab-kernel" in printed


def test_own_processes_are_named_once(tmp_path: Path) -> None:
    files = hog()
    for pid in (200, 201):
        files.threads.append(thread(pid, "app", flags=1))
        files.charges.append(charge(1, len(files.threads), AFTER_PREEMPTION, 500))
    text = verdict_of(report_of(tmp_path / "run", files))
    assert text.count("the program itself") == 1
    assert text.index("the program itself 5") < text.index("hog (process 7)")


def test_static_program_has_the_line_too(tmp_path: Path) -> None:
    assert "scheduler: ready to run" in verdict_of(report_of(tmp_path / "run", hog(), processes=0))


def test_line_about_the_option_where_cpus_were_lost(tmp_path: Path) -> None:
    text = verdict_of(report_of(tmp_path / "run"))
    assert text.count("--kernel") == 1
    assert "CAP_PERFMON" in text
    calm = ProcessFiles([LaneFile(team_of(1, 5.0, [5.0]), run_s=5.0)], [subject(1)], parallel=5.0)
    assert "--kernel" not in verdict_of(build(open_run(write_run(tmp_path / "calm", calm))))


def test_large_recording_is_quick(tmp_path: Path) -> None:
    """100,000 threads and a million charges: seconds, not minutes."""
    home = SchedulerFiles([thread(1, "a")]).write(write_run(tmp_path / "run"))
    chance = np.random.default_rng(1)
    threads = np.zeros(100_000, layout.SCHEDULER_THREAD)
    threads["pid"] = chance.integers(1, 20_000, len(threads))
    threads["flags"] = chance.integers(0, 2, len(threads))
    threads["program"] = [b"program%d" % number for number in threads["pid"] % 3000]
    threads["woken_ns"] = 1000 * S // 1000
    charges = np.zeros(1_000_000, layout.SCHEDULER_CHARGE)
    for field in ("waiter", "other"):
        charges[field] = chance.integers(1, len(threads) + 1, len(charges))
    charges["kind"] = chance.integers(1, 4, len(charges))
    charges["ns"], charges["count"] = 1000, 1
    for name, rows in (("threads", threads), ("charges", charges)):
        path = home / f"{name}.tt"
        head = bytearray(path.read_bytes()[:4096])
        head[24:40] = np.array([len(rows), len(rows)], "<u8").tobytes()
        path.write_bytes(bytes(head) + rows.tobytes())
    kernel = build(open_run(tmp_path / "run"))["kernel"]
    assert len(kernel["preemptors"]) == 51
    assert kernel["waiting_s"] == pytest.approx(
        int((threads["flags"] == SchedulerThreadFlags.WATCHED).sum()), rel=1e-6
    )

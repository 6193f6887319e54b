"""What limits a program for which nothing was found: named truly, also where threads are not OpenMP's or were not observed."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic import LaneFile, ProcessFiles, counter, subject, team_of, write_run
from trimtab.analysis import build
from trimtab.analysis.limit import limit_of
from trimtab.analysis.thread_scaling import gain_of_fewer_threads, reason_for_fewer_threads
from trimtab.model.report import Report
from trimtab.readers import open_run

FIRST = "first thread's CPU time"


def report_of(folder: Path, process: ProcessFiles, cpu_s: float | None = None) -> Report:
    ended = {"mono_ns": 15_000_000_000, "code": 0, "signal": None, "wall_s": 10.0}
    info = {} if cpu_s is None else {"ended": {**ended, "rusage": {"user_s": cpu_s, "system_s": 0.0}}}
    return build(open_run(write_run(folder / "run", process, info=info)))


def of_threads(first_s: float, cpu_s: float) -> ProcessFiles:
    return ProcessFiles(user=cpu_s, names=[counter(1, FIRST, "s")], samples=[(10.0, 1, first_s)], cpus=2.0)


def test_other_threads_are_no_serial_part(tmp_path: Path) -> None:
    """On a busy machine two threads may together have less than one CPU."""
    report = report_of(tmp_path, of_threads(1.0, 9.0))
    assert report.time is not None
    assert report.time["serial"] == 0.0
    assert report.time["work"] == pytest.approx(9 / 20)
    assert limit_of(report).startswith("threads that are not OpenMP's: on average 0.9 of 2 CPUs were used")


def test_what_other_threads_wait_for_is_named(tmp_path: Path) -> None:
    names = [counter(1, FIRST, "s"), counter(2, "idle: waits for messages", "s")]
    process = ProcessFiles(user=8.0, names=names, samples=[(10.0, 1, 1.0), (10.0, 2, 5.0)], cpus=2.0)
    assert limit_of(report_of(tmp_path, process)).endswith(
        "; 60% of the core time: waits for sockets, pipes or a terminal"
    )


def test_one_thread_is_a_serial_part(tmp_path: Path) -> None:
    report = report_of(tmp_path, of_threads(10.4, 10.6))
    assert report.time is not None
    assert report.time["serial"] > 0.4
    assert limit_of(report).startswith("serial part: one thread was at work")


def test_a_thread_that_waits_for_files_is_named(tmp_path: Path) -> None:
    limit = limit_of(report_of(tmp_path, of_threads(2.0, 2.0)))
    assert (
        limit == "serial input and output, or waits for other processes: its only thread waited 8 s of 10 s"
    )


def test_cpu_time_of_processes_without_a_record_is_work(tmp_path: Path) -> None:
    report = report_of(tmp_path, of_threads(1.0, 1.0), cpu_s=17.0)
    assert report.time is not None
    assert report.time["work"] == pytest.approx(17 / 20)
    assert report.os.cpu_s == pytest.approx(17.0)
    (missing,) = [entry for entry in report.unavailable if entry.what == "other processes"]
    assert missing.why.startswith("used 16 s CPU time and left no record")


def of_region(work_s: list[float], user: float = 0.0) -> ProcessFiles:
    longest = max(work_s)
    lanes = [
        LaneFile(rows=team_of(1, longest, work_s), run_s=10.0),
        *(LaneFile(run_s=work) for work in work_s[1:]),
    ]
    return ProcessFiles(lanes, [subject(1)], parallel=longest, cpus=2.0, user=user)


def test_work_that_takes_longer_with_more_threads_waits_for_memory(tmp_path: Path) -> None:
    both = report_of(tmp_path / "2", of_region([9.0, 9.0]))
    alone = report_of(tmp_path / "1", of_region([10.0]))
    assert limit_of(both, alone).startswith("probably memory bandwidth in ")
    assert (
        "2 threads need 1.80 times the time for the same work that 1 need (18 s and 10 s in all)"
        in limit_of(both, alone)
    )
    assert "memory bandwidth" not in limit_of(both)


def test_work_that_is_divided_is_not_limited_by_memory(tmp_path: Path) -> None:
    both = report_of(tmp_path / "2", of_region([9.5, 9.5]))
    alone = report_of(tmp_path / "1", of_region([18.0]))
    assert limit_of(both, alone).startswith("the work is balanced: ")


def test_threads_without_regions_beside_regions_are_work(tmp_path: Path) -> None:
    """Of 10 s, 6 s lie outside of regions; there the first thread worked, and one without a lane used 5 s."""
    report = report_of(tmp_path, of_region([4.0, 4.0], user=10.0 + 4.0 + 5.0))
    assert report.time is not None
    assert report.time["serial"] == pytest.approx(1 / 20, abs=1e-6)
    assert report.time["work"] == pytest.approx(19 / 20, abs=1e-6)
    (serial,) = [finding for finding in report.findings if finding.cause == "serial part"]
    assert "threads that entered none used 5 s CPU time meanwhile" in serial.evidence
    assert serial.gain_s == pytest.approx(0.5)


def of_bandwidth(folder: Path, threads: int, wall_s: float) -> Report:
    """A region whose threads all work for all of its time, on a machine with 8 CPUs."""
    lanes = [
        LaneFile(rows=team_of(1, wall_s, [wall_s] * threads), run_s=10.0),
        *(LaneFile(run_s=wall_s) for _ in range(threads - 1)),
    ]
    return report_of(folder, ProcessFiles(lanes, [subject(1)], parallel=wall_s, cpus=8.0))


@pytest.mark.parametrize(
    ("all_s", "half_s", "gain_s"),
    [
        (8.0, 6.0, 2.0),  # beyond the best number: threads push each other out of caches and queues
        (8.0, 8.0, 0.0),  # saturated: half of them do as well, and nothing is to gain
        (8.0, 9.0, 0.0),  # nearly
        (4.0, 8.0, 0.0),  # it scales
    ],
)
def test_half_the_threads_are_worth_a_proof_if_they_are_faster(
    tmp_path: Path, all_s: float, half_s: float, gain_s: float
) -> None:
    many, few = of_bandwidth(tmp_path / "8", 8, all_s), of_bandwidth(tmp_path / "4", 4, half_s)
    assert max(gain_of_fewer_threads(many, few), 0.0) == pytest.approx(gain_s)
    reason = reason_for_fewer_threads(many, few)
    assert bool(reason) == (gain_s > 0)
    if gain_s > 0:
        assert f"8 threads took {all_s:.3g} s, and 4 threads {half_s:.3g} s" in reason
        assert f"{gain_s:.3g} s less in all" in reason


def test_regions_that_differ_are_not_compared(tmp_path: Path) -> None:
    many = of_bandwidth(tmp_path / "8", 8, 8.0)
    others = report_of(tmp_path / "0", ProcessFiles([LaneFile(run_s=5.0)], [], cpus=8.0))
    assert gain_of_fewer_threads(many, others) == 0.0
    assert reason_for_fewer_threads(many, others) == ""
    assert reason_for_fewer_threads(many, many) == ""

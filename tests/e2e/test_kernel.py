"""`trimtab run --kernel`: who had the CPUs, as the operating system's scheduler says."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from trimtab.paths import scheduler_recorder
from trimtab.readers import open_run

Run = Callable[..., Any]
Compiled = Callable[..., Path]

# Computes for so many seconds of CPU time, in each of so many threads.
BUSY = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int n, char** v) {
  int wrong = 0;
#pragma omp parallel num_threads(atoi(v[2])) reduction(+:wrong)
  {
    struct timespec now;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec + 1e-9 * now.tv_nsec < atof(v[1]));
    wrong += omp_get_num_threads() != atoi(v[2]);
  }
  puts(wrong ? "wrong" : "done");
  return wrong;
}
"""


def problem() -> str:
    """Why the scheduler cannot be recorded here."""
    with_no_folder = [str(scheduler_recorder()), "/no such folder/scheduler", "1", "here"]
    done = subprocess.run(
        with_no_folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return "" if done.stdout.startswith("/no such folder") else done.stdout


@pytest.fixture(scope="module")
def busy(compiled: Compiled) -> Path:
    return compiled(BUSY)


@pytest.fixture
def permitted() -> None:
    if why := problem():
        pytest.skip(why)


@contextmanager
def hog_on(cpu: int, folder: Path) -> Iterator[None]:
    """A program `planted_hog` that never gives up that CPU."""
    shell = folder / "planted_hog"
    shutil.copy(os.path.realpath("/bin/sh"), shell)
    with subprocess.Popen(["taskset", "-c", str(cpu), str(shell), "-c", "while :; do :; done"]) as hog:
        try:
            yield
        finally:
            hog.kill()


@pytest.mark.alone
@pytest.mark.usefixtures("permitted")
def test_a_planted_hog_is_named_first(run: Run, busy: Path, tmp_path: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    with hog_on(cpu, tmp_path):
        watched = run("taskset", "-c", str(cpu), str(busy), "0.5", "1", options=("--kernel",))
    assert watched.done.returncode == 0 and watched.done.stdout == "done\n", watched.done.stderr
    kernel = watched.report()["kernel"]
    first = kernel["preemptors"][0]
    assert first["name"] == "planted_hog" and not first["is_own"]
    preempted = kernel["preemption"]["sum_s"]
    assert preempted > 0.1
    assert first["preempted_s"] >= 0.9 * preempted
    charged = sum(one["time_s"] for one in kernel["preemptors"])
    assert charged + kernel["idle_though_ready_s"] + kernel["unknown_s"] == pytest.approx(
        kernel["waiting_s"], rel=1e-6
    )
    assert "planted_hog" in watched.done.stderr, "the verdict names it"


@pytest.mark.alone
@pytest.mark.usefixtures("permitted")
def test_times_are_those_of_the_kernels_own_account(run: Run, busy: Path) -> None:
    watched = run(busy, "0.3", "5", options=("--kernel",))
    assert watched.done.returncode == 0, watched.done.stderr
    recorded = open_run(watched.directory)
    (scheduler,) = recorded.schedulers
    rows = {int(row["tid"]): row for row in scheduler.threads}
    lanes = [
        lane.header
        for process in recorded.processes
        for lane in process.lanes
        if lane.header["tid"] and not lane.header["is_main"]
    ]
    own = [rows[int(lane["tid"])] for lane in lanes]
    assert len(own) >= 4
    running = sum(int(row["running_ns"]) for row in own) / sum(int(lane["run_ns"]) for lane in lanes)
    waiting = sum(int(row["woken_ns"] + row["preempted_ns"]) for row in own)
    # Some kernels do not record every switch (rooms/kernel/README.md): such times count as unknown. A thread also waits before
    # our library sees it, and after.
    assert running == pytest.approx(1, abs=0.03)
    assert waiting / sum(int(lane["run_delay_ns"]) for lane in lanes) == pytest.approx(1, abs=0.05)
    left = sum(int(row["voluntary_switches"] + row["involuntary_switches"]) for row in own)
    seen = sum(int(lane["voluntary_switches"] + lane["involuntary_switches"]) for lane in lanes)
    assert seen <= left <= 1.02 * seen + 3 * len(own)


def test_without_rights_one_line_says_what_is_missing(trimtab: str, busy: Path, tmp_path: Path) -> None:
    command = [trimtab, "run", "--kernel", "-o", str(tmp_path / "run"), "--", str(busy), "0.01", "1"]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    elif not problem():
        pytest.skip("this user may record the scheduler")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("trimtab: --kernel: ")]
    assert len(lines) == 1 and "CAP_PERFMON" in lines[0], done.stderr
    recorded = open_run(tmp_path / "run")
    assert recorded.processes and not recorded.schedulers


@pytest.mark.usefixtures("permitted")
def test_a_killed_recorder_leaves_what_it_had_counted(trimtab: str, busy: Path, tmp_path: Path) -> None:
    command = [trimtab, "run", "--kernel", "-o", str(tmp_path / "run"), "--", str(busy), "3", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watched:
        recorder = child_named("trimtab-kernel", watched.pid)
        until(lambda: list((tmp_path / "run").glob("*.scheduler/delays.tt")))
        time.sleep(1.5)
        os.kill(recorder, signal.SIGKILL)
        printed, errors = watched.communicate(timeout=120)
    assert watched.returncode == 0 and printed == "done\n", errors
    recorded = open_run(tmp_path / "run")
    (scheduler,) = recorded.schedulers
    assert not scheduler.header["is_ended"]
    assert any(entry.get("what", "").endswith("(--kernel)") for entry in recorded.info["unavailable"])


@pytest.mark.usefixtures("permitted")
def test_a_recorder_whose_launcher_is_killed_ends_in_order(trimtab: str, busy: Path, tmp_path: Path) -> None:
    command = [trimtab, "run", "--kernel", "-q", "-o", str(tmp_path / "run"), "--", str(busy), "2", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as watched:
        recorder = child_named("trimtab-kernel", watched.pid)
        program = child_named(busy.name[:15], watched.pid)
        watched.kill()
        until(lambda: not Path(f"/proc/{recorder}").exists())
        os.kill(program, signal.SIGKILL)
    (scheduler,) = open_run(tmp_path / "run").schedulers
    assert scheduler.header["is_ended"]


def until(is_so: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def child_named(name: str, parent: int) -> int:
    """A child of that process, when it is there."""
    found: list[int] = []

    def look() -> bool:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            for child in task.read_text().split():
                if Path(f"/proc/{child}/comm").read_text().strip() == name:
                    found.append(int(child))
        return bool(found)

    until(look)
    return found[0]

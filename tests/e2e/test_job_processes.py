"""Runs of several processes: how each way to start one is recorded, and that a report has the work of all of them."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Compiled = Callable[..., Path]
Run = Callable[..., Any]

CALLS = 20
# Regions of some milliseconds: none is short.
WORK = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile double sink;
static void work(int calls) {
  for (int call = 0; call < calls; call++)
#pragma omp parallel for num_threads(2) schedule(dynamic, 100)
    for (int i = 0; i < 1000; i++)
      for (int j = 0; j < 200; j++) sink = j;
}
"""
PROGRAM = WORK + "int main(int n, char** v) { work(n > 1 ? atoi(v[1]) : 20); }\n"


def regions_of(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Of each region: how often it was entered, and in how many processes."""
    return {region["name"]: (region["calls"], len(region["processes"])) for region in report["regions"]}


def parts_of(report: dict[str, Any]) -> list[dict[str, Any]]:
    result = [process for process in report["processes"] if process["takes_part"]]
    assert all(entry["calls"] for entry in result), "shells and launchers have no part"
    return result


def check_sums(report: dict[str, Any]) -> None:
    assert sum(report["time"].values()) == pytest.approx(1.0)
    assert all(share >= 0 for share in report["time"].values())
    calls = sum(process["calls"] for process in report["processes"])
    assert sum(region["calls"] for region in report["regions"]) == calls
    work = report["time"]["work"] * report["capacity_s"]
    assert work <= sum(process["cpu_s"] for process in report["processes"]) * 1.1 + 0.05


def test_two_programs_at_the_same_time(run: Run, compiled: Compiled) -> None:
    program = compiled(PROGRAM)
    watched = run("sh", "-c", f"{program} {CALLS} & {program} {CALLS} & wait")
    assert watched.done.returncode == 0
    report = watched.report()
    assert list(regions_of(report).values()) == [(2 * CALLS, 2)]
    assert [part["calls"] for part in parts_of(report)] == [CALLS, CALLS]
    assert len(report["processes"]) == 3
    check_sums(report)
    cpus = max(process["cpus_available"] for process in report["processes"])
    assert report["cpus_available"] <= cpus + 1e-6, "they share the CPUs"
    assert f"({len(parts_of(report))} processes, " in watched.done.stderr
    assert f": {2 * CALLS} calls, " in watched.done.stderr and "in 2 processes" in watched.done.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
@pytest.mark.skipif(shutil.which("taskset") is None, reason="needs taskset")
def test_programs_bound_to_cpus_of_their_own_have_both(run: Run, compiled: Compiled) -> None:
    program = compiled(PROGRAM)
    first, second = sorted(os.sched_getaffinity(0))[:2]
    bound = [f"taskset -c {cpu} {program} {50 * CALLS}" for cpu in (first, second)]
    report = run("sh", "-c", f"{bound[0]} & {bound[1]} & wait").report()
    parts = parts_of(report)
    assert [part["cpus_available"] for part in parts] == [1.0, 1.0]
    begin = max(part["begin_s"] for part in parts)
    end = min(part["begin_s"] + part["wall_s"] for part in parts)
    assert end > begin, "they ran at the same time"
    # So there were two CPUs meanwhile.
    assert report["capacity_s"] == pytest.approx(sum(part["wall_s"] for part in parts))


def test_one_program_after_another(run: Run, compiled: Compiled) -> None:
    program = compiled(PROGRAM)
    report = run("sh", "-c", f"{program} {CALLS}; {program} {2 * CALLS}; true").report()
    first, second = parts_of(report)
    assert (first["calls"], second["calls"]) == (CALLS, 2 * CALLS)
    assert second["begin_s"] >= first["begin_s"] + first["wall_s"] - 1e-3
    assert report["observed_s"] == pytest.approx(first["wall_s"] + second["wall_s"], abs=1e-3)
    check_sums(report)


def test_different_programs_are_different_regions(run: Run, compiled: Compiled) -> None:
    other = compiled(PROGRAM.replace("200", "300"))
    report = run("sh", "-c", f"{compiled(PROGRAM)} {CALLS} & {other} {CALLS} & wait").report()
    assert (
        sorted((region["calls"], len(region["processes"])) for region in report["regions"])
        == [(CALLS, 1)] * 2
    )


def test_a_fork_with_openmp_on_both_sides(run: Run, compiled: Compiled) -> None:
    source = (
        WORK
        + "int main(void) {\n  const pid_t child = fork();\n  work(child == 0 ? 30 : 20);\n"
        + "  if (child == 0) _exit(0);\n  waitpid(child, 0, 0);\n}\n"
    )
    report = run(compiled(source, "g++", suffix=".cpp")).report()
    assert list(regions_of(report).values()) == [(50, 2)]
    parent, child = sorted(report["processes"], key=lambda process: process["calls"])
    assert (parent["calls"], child["calls"]) == (20, 30)
    assert child["forked_from"] == parent["pid"] and parent["forked_from"] is None
    assert (parent["image"], child["image"]) == (0, 0) and child["ppid"] == parent["pid"]
    check_sums(report)


def test_a_chain_of_execs_is_an_image_each(run: Run, compiled: Compiled) -> None:
    source = (
        WORK
        + "#include <stdio.h>\nint main(int n, char** v) {\n  const int left = n > 1 ? atoi(v[1]) : 3;\n"
        + '  work(10 * left);\n  char next[9];\n  snprintf(next, sizeof next, "%d", left - 1);\n'
        + "  if (left > 1) execl(v[0], v[0], next, (char*)0);\n}\n"
    )
    report = run(compiled(source)).report()
    assert [(process["image"], process["calls"]) for process in report["processes"]] == [
        (0, 30),
        (1, 20),
        (2, 10),
    ]
    assert [process["ended"] for process in report["processes"]] == ["exec", "exec", "exit"]
    assert len({process["pid"] for process in report["processes"]}) == 1
    assert len({process["id"] for process in report["processes"]}) == 3
    assert list(regions_of(report).values()) == [(60, 3)]
    # One after the other on the same CPUs.
    assert report["capacity_s"] == pytest.approx(
        sum(process["wall_s"] * process["cpus_available"] for process in report["processes"]), rel=0.01
    )
    check_sums(report)


def test_a_killed_child_is_reported_until_its_end(run: Run, compiled: Compiled) -> None:
    source = (
        WORK
        + "#include <signal.h>\nint main(void) {\n  const pid_t child = fork();\n"
        + "  work(20);\n  if (child == 0) { kill(getpid(), SIGKILL); }\n"
        + "  int how = 0;\n  waitpid(child, &how, 0);\n  return WTERMSIG(how);\n}\n"
    )
    watched = run(compiled(source))
    assert watched.done.returncode == signal.SIGKILL
    report = watched.report()
    assert sorted(process["complete"] for process in report["processes"]) == [False, True]
    assert list(regions_of(report).values()) == [(40, 2)]
    check_sums(report)


POOL = """
import ctypes, multiprocessing, os, sys
library = ctypes.CDLL(sys.argv[1])

def work(calls):
    library.work_of(calls)
    return os.getpid()

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    with multiprocessing.Pool(2) as pool:
        print(len(set(pool.map(work, [10] * 4, chunksize=1))))
        pool.close()
        pool.join()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_of_python(run: Run, compiled: Compiled, tmp_path: Path, method: str) -> None:
    library = compiled(WORK + "void work_of(int calls) { work(calls); }\n", "gcc", "-shared", "-fPIC")
    (tmp_path / "pool.py").write_text(POOL)
    watched = run(sys.executable, tmp_path / "pool.py", library, method)
    assert watched.done.returncode == 0, watched.done.stderr
    used = int(watched.done.stdout)
    report = watched.report()
    assert list(regions_of(report).values()) == [(40, used)]
    assert report["regions"][0]["name"].endswith("(work)")
    check_sums(report)


def test_joblib(run: Run, compiled: Compiled, tmp_path: Path) -> None:
    pytest.importorskip("joblib", reason="joblib is not installed")
    library = compiled(WORK + "void work_of(int calls) { work(calls); }\n", "gcc", "-shared", "-fPIC")
    source = """
    import ctypes, sys
    from joblib import Parallel, delayed

    def work(path, calls):
        ctypes.CDLL(path).work_of(calls)

    if __name__ == "__main__":
        Parallel(n_jobs=2)(delayed(work)(sys.argv[1], 10) for _ in range(4))
    """
    (tmp_path / "jobs.py").write_text(textwrap.dedent(source))
    watched = run(sys.executable, tmp_path / "jobs.py", library)
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    ((calls, used),) = regions_of(report).values()
    assert calls == 40 and 1 <= used <= 2
    check_sums(report)


def test_exports_have_the_regions_of_all_processes(
    run: Run, compiled: Compiled, trimtab: str, tmp_path: Path
) -> None:
    import csv
    import subprocess

    program = compiled(PROGRAM)
    watched = run("sh", "-c", f"{program} {CALLS} & {program} {CALLS} & wait")
    subprocess.run(
        [trimtab, "export", str(watched.directory), "--to", "csv", "-o", str(tmp_path / "csv")], check=True
    )
    with (tmp_path / "csv" / "regions.csv").open(newline="") as stream:
        rows = {(entry["process"], entry["name"]): entry for entry in csv.DictReader(stream)}
    (region,) = watched.report()["regions"]
    assert {(process["process"], region["name"]) for process in region["processes"]} == set(rows)
    for process in region["processes"]:
        shown = rows[process["process"], region["name"]]
        for name in ("calls", "work_s", "wait_s"):
            assert float(shown[name]) == pytest.approx(process[name])

"""Simulated programs have the events of real ones of the same shape: kinds, order, and what the fields are."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from simulated.machine import Machine
from simulated.recording import Recording
from simulated.task_program import Task, TaskProgram
from simulated.task_simulation import simulate_tasks
from simulated.team_program import Barrier, Critical, Loop, Region, TeamProgram, Work
from simulated.team_simulation import simulate_team
from trimtab.model import Process
from trimtab.model.enumerations import EventKind, Metric, Schedule, WorkerState
from trimtab.readers import open_run

LOOPS = """
#include <time.h>
static void work(double ms) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const double end = 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec + ms;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec < end);
}
int main(void) {
  for (int step = 0; step < 2; ++step) {
#pragma omp parallel
    {
      work(1);
#pragma omp barrier
#pragma omp critical
      work(0.3);
#pragma omp for schedule(dynamic, 2)
      for (int i = 0; i < 8; ++i) work(0.2);
      work(0.1);  // else GCC takes the loop's barrier and the join for one
    }
  }
  return 0;
}
"""
TASKS = """
#include <chrono>
#include <trimtab/tasks.hpp>
static void compute(int us) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < end) {
  }
}
int main() {
  trimtab::runtime rt({.workers = 2});
  rt.run([] {
    trimtab::task_scope scope;
    for (int i = 0; i < 6; ++i) scope.spawn([] { compute(2000); });
    scope.wait();
  });
}
"""
STEPS = (
    Work((10**6,) * 2),
    Barrier(),
    Critical(1, (0, 0), 300_000),
    Loop((200_000,) * 8, 2, True),
    Work((10**5,) * 2),
)
PROGRAM = TeamProgram(2, (Region("r", STEPS),) * 2)


def recorded(process: Process) -> list[list[tuple[EventKind, int]]]:
    """Kinds of the events of each lane in their order, with `arg`, but for chunks: a lane takes some or none. Any lock is 1."""
    lanes = []
    for lane in process.lanes:
        kinds: list[tuple[EventKind, int]] = []
        for event in lane.events:
            kind, arg = EventKind(int(event["kind"])), int(event["arg"])
            kinds.append((kind, min(arg, 1) if kind is EventKind.LOCK else arg))
        # Whether a thread is seen to end depends on the runtime.
        hidden = ((EventKind.CHUNK, Schedule.DYNAMIC), (EventKind.THREAD_END, 0))
        lanes.append([kind for kind in kinds if kind not in hidden])
    return lanes


def simulated(recording: Recording, folder: Path) -> Process:
    (process,) = open_run(recording.write(folder)).processes
    return process


def rows(process: Process) -> set[tuple[Metric, int, bool]]:
    """Identities of profile rows: metric, flags, whether it is of something in a region."""
    return {
        (Metric(int(row["what"])), int(row["flags"]), int(row["in_region"]) != 0xFFFFFFFF)
        for lane in process.lanes
        for row in lane.rows
        if row["what"] != Metric.CPU_USE  # the kernel says it
    }


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_a_team(
    run: Callable[..., Any], compiled: Callable[..., Path], tmp_path: Path, compiler: str
) -> None:
    watched = run(
        compiled(LOOPS, compiler),
        options=("--trace", "--tune=off"),
        env={**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"},
    )
    assert watched.done.returncode == 0, watched.done.stderr
    (real,) = open_run(watched.directory).processes
    made = simulated(simulate_team(PROGRAM, Machine(2)), tmp_path / "simulated")
    assert recorded(made) == recorded(real)
    assert rows(made) == rows(real)
    for process in (real, made):
        check_fields(process)
    kinds = [[subject.kind for subject in process.subjects.values()] for process in (real, made)]
    assert sorted(kinds[0]) == sorted(kinds[1])


def check_fields(process: Process) -> None:
    """What must hold of the fields of events, simulated or not."""
    for lane in process.lanes:
        begin = 0
        for event in lane.events:
            kind, ticks, a, b = (int(event[name]) for name in ("kind", "ticks", "a", "b"))
            if kind == EventKind.WORK_BEGIN:
                begin, waited, instance = ticks, 0, a
            elif kind == EventKind.WAIT:
                assert begin <= ticks and b == instance
                waited += a
            elif kind == EventKind.LOCK:
                assert ticks - b >= begin
                waited += b
            elif kind == EventKind.WORK_END:
                assert (a, b) == (instance, waited)


def test_tasks(trimtab: str, tmp_path: Path) -> None:
    done = subprocess.run([trimtab, "--cmake-dir"], capture_output=True, text=True, check=True)
    native = Path(done.stdout.strip()).parent
    source, program = tmp_path / "tasks.cpp", tmp_path / "tasks"
    source.write_text(TASKS)
    libraries = [
        native / f"lib/libtrimtab_{name}.a" for name in ("tasks", "observe", "base", "boost_context")
    ]
    command = ["g++", "-std=c++20", "-O1", "-I", native / "include", source, *libraries, "-pthread", "-ldl"]
    subprocess.run([*map(str, command), "-o", str(program)], check=True, timeout=300)
    traced = [trimtab, "run", "-q", "--trace", "--tune=off", "-o", str(tmp_path / "run"), "--", str(program)]
    subprocess.run(traced, check=True, timeout=120)
    (real,) = open_run(tmp_path / "run").processes
    root = Task("root", 0, tuple(range(1, 7)), waits=True)
    tasks = TaskProgram(2, (root, *(Task("leaf", 2_000_000) for _ in range(6))))
    made = simulated(simulate_tasks(tasks, Machine(2)), tmp_path / "simulated")
    for process in (real, made):
        check_task_lanes(process)
    always = {Metric.TASK, Metric.WORKER}
    assert always <= {metric for metric, _, _ in rows(real)} and always <= {
        metric for metric, _, _ in rows(made)
    }
    assert [len(lane.events) > 0 for lane in made.lanes] == [len(lane.events) > 0 for lane in real.lanes]
    assert sorted(subject.kind for subject in made.subjects.values()) == sorted(
        subject.kind for subject in real.subjects.values()
    )


def check_task_lanes(process: Process) -> None:
    """What must hold of the events of tasks: seven are made by who says so, and run once; workers begin running, and end."""
    made: dict[int, int] = {}
    begun: list[int] = []
    for lane in process.lanes:
        states = [int(event["arg"]) for event in lane.events if event["kind"] == EventKind.WORKER_STATE]
        assert bool(states) == bool(lane.header["worker_of"])
        assert not states or (states[0], states[-1]) == (WorkerState.RUNS, WorkerState.NONE)
        inside: list[int] = []
        for event in lane.events:
            number, creator = int(event["a"]), int(event["b"])
            if event["kind"] == EventKind.TASK_CREATED:
                made[number] = creator
                assert creator == (inside[-1] if inside else 0)
            if event["kind"] in (EventKind.TASK_BEGIN, EventKind.TASK_RESUMED):
                inside.append(number)
            if event["kind"] == EventKind.TASK_BEGIN:
                begun.append(number)
            if event["kind"] in (EventKind.TASK_END, EventKind.TASK_SUSPENDED):
                assert inside.pop() == number
    assert sorted(begun) == sorted(made) and len(made) == 7
    assert list(made.values()).count(0) == 1

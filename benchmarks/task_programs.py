"""Task programs with and without `trimtab run`, in turn: what recording costs those whose tasks are small."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import bots
from benchmarks.machine import Patience, Watch
from benchmarks.measure import measure_all
from benchmarks.progress import Progress
from benchmarks.running import BenchError, finished

WORD = "task-programs"
# The folder of the Barcelona OpenMP Tasks Suite's sources; its programs are left out where it is not set.
SUITE = "BOTS"
BARE, WATCHED = "bare", "run"
THREADS = 2
_TIMEOUT_S = 300
# Of the suite's programs some recurse deeply: their threads' stacks, bytes.
_STACK = 1 << 30
_TIME = re.compile(r"^time_s=([\d.e+-]+)$", re.MULTILINE)

# Of workloads/tasks/programs, with their sizes: for some 0.2 to 0.6 s on two workers, and to show only that they work.
ASYNC_PROGRAMS = {
    "alignment": (160, 10),
    "fft": (22, 12),
    "fib": (38, 16),
    "floorplan": (11, 5),
    "health": (20_000, 5),
    "intersim": (5_000, 4),
    "nqueens": (15, 8),
    "pyramids": (6_000, 100),
    "qap": (11, 7),
    "round": (2_500, 4),
    "sort": (7_000_000, 50_000),
    "sparselu": (80, 6),
    "strassen": (11, 8),
    "uts": (200_000, 200),
}
_SMOKE = ("fib", "round", "sort")


@dataclass(frozen=True)
class TaskProgram:
    """A program and how its output is read.

    Attributes:
        kind: what its tasks are: "gcc" or "clang" for OpenMP's, else "async".
        check: more arguments, with which it compares its answer.
    """

    name: str
    kind: str
    command: tuple[str, ...]
    check: tuple[str, ...]
    seconds: Callable[[str], float]
    is_right: Callable[[str], bool]

    @property
    def title(self) -> str:
        """For progress, tables and errors."""
        return f"{self.name}, {self.kind}"


def run_task_programs(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """The results of all programs; without those of the suite if its folder is not known. A stopped benchmark continues after its last program."""
    cases = async_programs(root, is_smoke)
    suite = os.environ.get(SUITE)
    if suite and not is_smoke:
        cases += suite_programs(Path(suite), programs / "bots")
    else:
        report_progress(
            f"the Barcelona OpenMP Tasks Suite is left out: set {SUITE} to the folder of its sources"
        )
    resource.setrlimit(resource.RLIMIT_STACK, (_STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    progress = Progress(root / "build" / "bench" / f"{WORD}-progress.json", rounds, is_smoke)

    def one(case: TaskProgram, patience: Patience, seed: int) -> dict[str, Any]:
        return progress.done(case.title) or progress.add(case.title, _measure(case, rounds, patience, seed))

    results = measure_all(
        cases,
        lambda case: case.title,
        one,
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )
    progress.end()
    return {**results, "has_suite": bool(suite) and not is_smoke}


def async_programs(root: Path, is_smoke: bool) -> list[TaskProgram]:
    """Those of workloads/tasks/programs, as `./x build` leaves them."""
    program = root / "build" / "workloads" / "task_programs"
    if not program.exists():
        raise BenchError(f"{program}: expected a program, found none: ./x build makes it")

    def command(name: str) -> tuple[str, ...]:
        full, smallest = ASYNC_PROGRAMS[name]
        size = str(smallest if is_smoke else full)
        return (str(program), name, "--size", size, f"--trimtab:workers={THREADS}")

    return [
        TaskProgram(name, "async", (*command(name), "--no-check"), (), _seconds, lambda _: True)
        for name in (_SMOKE if is_smoke else ASYNC_PROGRAMS)
    ]


def suite_programs(suite: Path, out: Path) -> list[TaskProgram]:
    """The suite's, built by each compiler."""
    return [
        TaskProgram(
            program.name,
            compiler,
            tuple(bots.build(program, compiler, suite, out)),
            ("-c",),
            bots.seconds,
            bots.is_right,
        )
        for program in bots.PROGRAMS
        for compiler in bots.COMPILERS
    ]


def _seconds(printed: str) -> float:
    result = _TIME.search(printed)
    if result is None:
        raise BenchError(f"expected a line 'time_s=...', found {printed[-200:]!r}")
    return float(result[1])


def _measure(case: TaskProgram, rounds: int, patience: Patience, seed: int) -> dict[str, Any]:
    order = random.Random(seed)
    watch = Watch()
    patience.next_case()
    times: dict[str, list[float]] = {BARE: [], WATCHED: []}
    disturbed: list[float] = []
    repeated = 0
    known_values = _check(case)
    while len(disturbed) < rounds:
        levels = [BARE, WATCHED]
        order.shuffle(levels)
        watch.again()
        began = time.monotonic()
        result = {level: case.seconds(_run(case.command, level)) for level in levels}
        others = watch.others()
        if patience.bears(others, time.monotonic() - began):
            repeated += 1
            continue
        disturbed.append(others or 0.0)
        for level, entry in result.items():
            times[level].append(round(entry, 6))
    return {
        "name": case.name,
        "kind": case.kind,
        "command": " ".join([Path(case.command[0]).name, *case.command[1:]]),
        "rounds": rounds,
        "run_again": repeated,
        "others_share": [round(one_entry, 4) for one_entry in disturbed],
        **known_values,
        "times": times,
    }


def _check(case: TaskProgram) -> dict[str, Any]:
    """One run that compares the answer: how many tasks ran, and what one took in the mean, us."""
    command = tuple(entry for entry in case.command if entry != "--no-check")
    with tempfile.TemporaryDirectory() as folder:
        printed = _run((*command, *case.check), WATCHED, f"{folder}/run")
        if not case.is_right(printed):
            raise BenchError(f"{case.title}: under `trimtab run` the answer is wrong: {printed[-300:]!r}")
        report = json.loads(finished(["trimtab", "report", "--json", f"{folder}/run"], _TIMEOUT_S))
    tasks = [task for task in report["tasks"] if task["count"]]
    count = sum(task["count"] for task in tasks)
    timed = [task for task in tasks if task["total_s"] is not None]
    total = sum(entry["total_s"] for entry in timed)
    counted = sum(entry["count"] for entry in timed)
    return {"tasks": count, "task_us": round(1e6 * total / counted, 3) if counted else None}


def _run(command: tuple[str, ...], level: str, directory: str | None = None) -> str:
    with tempfile.TemporaryDirectory() as folder:
        kept = directory or f"{folder}/run"
        watched = ("trimtab", "run", "--tune=off", "-q", "-o", kept, "--") if level == WATCHED else ()
        # Where the system puts two new threads is else most of the difference between two runs.
        environment = {
            **os.environ,
            **{"OMP_NUM_THREADS": str(THREADS), "OMP_PROC_BIND": "true", "OMP_STACKSIZE": f"{_STACK}B"},
        }
        return finished([*watched, *command], _TIMEOUT_S, env=environment)

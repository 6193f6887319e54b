"""ASAT as published (Severance, 1996) beside our own rules: threads over time while load comes and goes, and how far apart threads are.

Published was four processors and load of minutes; here are as many as there are, and seconds.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.figures import Figure, Line, Panel, Point, draw

from benchmarks.machine import Patience
from benchmarks.measure import measure_all
from benchmarks.running import BenchError, finished, make

WORD = "study-asat"
_TIMEOUT_S = 120
_CPUS = len(os.sched_getaffinity(0))
# It ends by itself, too, where the benchmark is killed.
_HOG = ["timeout", str(_TIMEOUT_S), "sh", "-c", "while :; do :; done"]
# Evaluations eight times as often as published, as in the study of threads that fit.
_EVAL_S = 0.06
FREE, SPINNING = "free", {"OMP_WAIT_POLICY": "ACTIVE", "OMP_NUM_THREADS": str(_CPUS)}
POLICIES = {
    FREE: "",
    "asat-v1": f"asat-v1:load_time_s={60 * _EVAL_S:g}",
    "asat-v2": f"asat-v2:eval_time_s={_EVAL_S:g}",
    "fit": "fit",
}
# Of appendix A: ASAT evaluates seldom, so that it costs a look at the clock, or at every region.
SKEW_POLICIES = {FREE: "", "asat-v2": "asat-v2", "asat-v2, at every region": "asat-v2:eval_time_s=1e-6"}


@dataclass(frozen=True)
class Load:
    """Busy programs beside the one that is observed: how many from each second on; the last entry is the end."""

    title: str
    steps: tuple[tuple[float, int], ...]

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.steps[-1][0]

    def shortened(self, by: float) -> Load:
        """The same in less time."""
        return Load(self.title, tuple((second / by, count) for second, count in self.steps))


LOADS = (
    Load("fast", ((0, 0), (2, 1), (5, 0), (8, 1), (11, 0), (14, 0))),
    Load("slow", ((0, 0), *((2.0 + 2 * at, count) for at, count in enumerate((1, 2, 1, 0))), (12, 0))),
)


@dataclass(frozen=True)
class _Timeline:
    policy: str
    load: Load

    @property
    def title(self) -> str:
        return f"{self.policy}, {self.load.title} load"


@dataclass(frozen=True)
class _Skew:
    policy: str
    beside: int

    @property
    def title(self) -> str:
        return f"skew, {self.policy}, {self.beside} beside"


_Case = _Timeline | _Skew
_CASES: Sequence[_Case] = (
    *(_Timeline(policy, load) for load in LOADS for policy in POLICIES),
    *(_Skew(policy, beside) for beside in (0, 1) for policy in SKEW_POLICIES),
)


def run_asat(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """All results."""
    workloads = root / "build" / "workloads"
    make(root, "workloads", workloads)

    def measured(case: _Case, _: Patience, __: int) -> dict[str, Any]:
        if isinstance(case, _Skew):
            return _skew(case, workloads, is_smoke, rounds)
        return _timeline(case, workloads, is_smoke, rounds)

    return measure_all(
        _CASES,
        lambda case: f"{WORD}: {case.title}",
        measured,
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )


def _timeline(case: _Timeline, workloads: Path, is_smoke: bool, rounds: int) -> dict[str, Any]:
    load = case.load.shortened(20) if is_smoke else case.load
    alone = _run(workloads, FREE, Load("", ((0, 0), (load.seconds / 8, 0))), {"OMP_NUM_THREADS": "1"})
    runs = [_run(workloads, case.policy, load, {}) for _ in range(rounds)]
    return {
        "kind": "timeline",
        "title": case.title,
        "policy": case.policy,
        "load": load.title,
        "steps": load.steps,
        "counts": [one["counts"] for one in runs],
        "work_cpus": [round(one["rate"] / alone["rate"], 4) for one in runs],
        "cpu_time_ratio": [round(one["cpu"] / alone["cpu"], 4) for one in runs],
        "others_share": [0.0],
        "run_again": 0,
    }


_DONE = re.compile(r"^updates=(\d+) seconds=([\d.]+) cpu=([\d.]+)$", re.MULTILINE)


def _run(workloads: Path, policy: str, load: Load, variables: dict[str, str]) -> dict[str, Any]:
    """Work a second and CPU time for it, and the number of threads from each moment on, in seconds of the load."""
    program = [str(workloads / "vector_loop-gcc"), "--size", "10000", "--no-check", "--window"]
    with tempfile.TemporaryDirectory() as folder:
        command = _observed(program, policy, f"{folder}/run")
        environment = {**os.environ, **SPINNING, **variables}
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin and process.stdout
            if (line := process.stdout.readline()) != "ready\n":
                raise BenchError(f"{' '.join(command)}: expected 'ready', found {line!r}")
            begin = time.monotonic() + 0.1
            began_ns = time.time_ns() + 100_000_000
            process.stdin.write(f"{begin:.6f} {load.seconds:.6f}\n")
            process.stdin.flush()
            _make_load(load, begin)
            printed = process.communicate(timeout=_TIMEOUT_S)[0]
        found = _DONE.search(printed)
        if process.returncode != 0 or found is None:
            raise BenchError(f"{' '.join(command)}: expected updates, found {printed!r}")
        counts = [(0.0, _CPUS)] if policy == FREE else _counts(f"{folder}/run", began_ns)
    updates = max(int(found[1]), 1)
    return {"rate": updates / float(found[2]), "cpu": float(found[3]) / updates, "counts": counts}


def _observed(program: list[str], policy: str, folder: str) -> list[str]:
    if policy == FREE:
        return program
    threads = {**POLICIES, **SKEW_POLICIES}[policy]
    return ["trimtab", "run", "-q", "-o", folder, "--threads", threads, "--", *program]


def _make_load(load: Load, begin: float) -> None:
    """Starts and ends busy programs at their times."""
    with ExitStack() as running:
        hogs: list[subprocess.Popen[bytes]] = []
        running.callback(lambda: _end(hogs))
        for at, count in load.steps[:-1]:
            time.sleep(max(0.0, begin + at - time.monotonic()))
            while len(hogs) < count:
                hogs.append(subprocess.Popen(_HOG))
            _end(hogs, count)
        time.sleep(max(0.0, begin + load.seconds - time.monotonic()))


def _end(hogs: list[subprocess.Popen[bytes]], kept: int = 0) -> None:
    while len(hogs) > kept:
        with suppress(ProcessLookupError):
            hogs[-1].terminate()
        hogs.pop().wait()


def _counts(folder: str, began_ns: int) -> list[tuple[float, int]]:
    """The number of threads from each moment on."""
    report = json.loads(finished(["trimtab", "report", folder, "--json"], _TIMEOUT_S))
    offset_s = (report["started_real_ns"] - began_ns) * 1e-9
    counts = [(0.0, _CPUS)]
    for decision in report["decisions"]:
        for change in decision["changes"]:
            if change["knob"] == "threads":
                counts.append((round(decision["time_s"] + offset_s, 4), int(change["to"])))
    return counts


def _skew(case: _Skew, workloads: Path, is_smoke: bool, rounds: int) -> dict[str, Any]:
    steps = 20 if is_smoke else 200  # as published
    program = [str(workloads / "skew-gcc"), "--steps", str(steps)]
    runs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
            hogs = [subprocess.Popen(_HOG) for _ in range(case.beside)]
            running.callback(_end, hogs)
            command = _observed(program, case.policy, f"{folder}/run")
            runs.append(_numbers(finished(command, _TIMEOUT_S, env={**os.environ, **SPINNING})))
    return {
        "kind": "skew",
        "title": case.title,
        "policy": case.policy,
        "beside": case.beside,
        "figures": {name: round(statistics.median(one[name] for one in runs), 3) for name in runs[0]},
        "others_share": [0.0],
        "run_again": 0,
    }


def _numbers(printed: str) -> dict[str, float]:
    pairs = (word.split("=") for word in printed.split() if "=" in word)
    return {name: float(number) for name, number in pairs}


def draw_asat(results: dict[str, Any], folder: Path) -> None:
    """The numbers of threads over time, of the first round, one figure a load."""
    folder.mkdir(exist_ok=True)
    for load in LOADS:
        cases = [case for case in results["cases"] if case.get("load") == load.title]
        panels = tuple(_panel(case) for case in cases)
        figure = Figure(
            f"{WORD}-{load.title}",
            f"Threads while load comes and goes: {load.title}",
            "time (s)",
            "threads or programs",
            "",
            False,
            False,
            False,
            panels,
        )
        (folder / f"{figure.name}.png").write_bytes(draw(figure)[1])


def _panel(case: dict[str, Any]) -> Panel:
    end = case["steps"][-1][0]
    return Panel(
        case["policy"],
        (
            Line("threads of the program", stairs(case["counts"][0], end)),
            Line("busy programs beside it", stairs(case["steps"], end)),
        ),
    )


def stairs(changes: Sequence[Sequence[float]], end: float) -> tuple[Point, ...]:
    """A line that stays at each value until the next one."""
    points: list[Point] = []
    for (at, value), (until, _) in zip(changes, [*changes[1:], (end, 0)], strict=True):
        points += [Point(x, value, value, value) for x in (at, min(until, end)) if x <= end]
    return tuple(points)

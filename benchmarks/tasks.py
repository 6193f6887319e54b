"""Runs the cases of the task runtime: all systems in turn, round after round, while the machine is quiet."""

from __future__ import annotations

import math
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from trimtab.paths import cmake_dir

from benchmarks.machine import Patience, Watch
from benchmarks.measure import measure_all
from benchmarks.running import finished
from benchmarks.task_suite import NAMES, OURS, RECORDED, TaskCase, missing, task_cases

_TIMEOUT_S = 300
_STEPS = 1000  # of the stencil in peers/bench.hpp


def run_tasks(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """All cases' results."""
    available = _build(root, programs, report_progress)
    workers = len(os.sched_getaffinity(0))
    return measure_all(
        task_cases(is_smoke, rounds, workers),
        lambda case: f"tasks: {case.heading}",
        lambda case, patience, seed: _measure(case, programs, available, patience, seed),
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )


def _build(root: Path, programs: Path, report_progress: Callable[[str], None]) -> set[str]:
    """Programs of the systems that are there."""
    available = {name for name in NAMES if missing(name) is None}
    for name in sorted(set(NAMES) - available):
        report_progress(f"{NAMES[name]} is not available: install {missing(name)}")
    native = cmake_dir().parent
    folder = str(root / "benchmarks" / "peers")
    systems = " ".join(sorted(available - {RECORDED}))
    command = ["make", "-s", "-C", folder, f"OUT={programs}", f"TRIMTAB={native}", f"SYSTEMS={systems}"]
    subprocess.run(command, check=True)
    return available


def _measure(
    case: TaskCase, programs: Path, available: set[str], patience: Patience, seed: int
) -> dict[str, Any]:
    order = random.Random(seed)
    watch = Watch()
    patience.next_case()
    systems = [system for system in case.systems if system in available]
    figures: dict[str, list[dict[str, float]]] = {system: [] for system in systems}
    repeated = 0
    disturbed: list[float] = []
    while len(disturbed) < case.rounds:
        order.shuffle(systems)
        watch.again()
        began = time.monotonic()
        result = {system: _run(case, programs, system) for system in systems}
        others = watch.others()
        if patience.bears(others, time.monotonic() - began):
            repeated += 1
            continue
        disturbed.append(others or 0.0)
        if case.name == "stencil":
            add_metg(result, case.workers)
        for system in systems:
            figures[system].append(result[system])
    return {
        "name": case.name,
        "title": case.title,
        "figure": case.figure,
        "unit": case.unit,
        "workers": case.workers,
        "size": case.size,
        "rounds": case.rounds,
        "run_again": repeated,
        "not_available": [system for system in case.systems if system not in available],
        "others_share": [round(entry, 4) for entry in disturbed],
        "systems": {
            system: {name: [figure[name] for figure in figures[system]] for name in figures[system][0]}
            for system in case.systems
            if system in available
        },
    }


def _run(case: TaskCase, programs: Path, system: str) -> dict[str, float]:
    if system == RECORDED:
        with tempfile.TemporaryDirectory() as folder:
            watched = [
                *("trimtab", "run", "-q", "--tune=off", "-o", f"{folder}/run", "--"),
                str(programs / f"tasks-{OURS}"),
            ]
            return _figures(case, watched)
    return _figures(case, [str(programs / f"tasks-{system}")])


def _figures(case: TaskCase, program: list[str]) -> dict[str, float]:
    command = [*program, case.name, str(case.workers), str(case.size), str(case.repeats)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(case.workers)}
    printed = finished(command, _TIMEOUT_S, env=environment)
    pairs = (line.partition("=") for line in printed.splitlines())
    return {name: float(value) for name, _, value in pairs}


def add_metg(result: Mapping[str, dict[str, float]], workers: int) -> None:
    """METG(50 %) of each system in us, from its times for each size of kernel: of one round, with one peak for all."""
    times = {
        system: sorted(
            (int(name.removeprefix("stencil_")), s) for name, s in entry.items() if "stencil_" in name
        )
        for system, entry in result.items()
    }
    peak = max(kernel / s for one_time in times.values() for kernel, s in one_time)
    for system, one_time in times.items():
        # The mean length of a task with all that comes with it, and how much of the peak is reached.
        points = [(s * 1e6 / _STEPS, kernel / s / peak) for kernel, s in one_time]
        result[system]["metg"] = metg(points)
        result[system]["task_us"] = points[0][0]


def metg(points: list[tuple[float, float]]) -> float:
    """The length at which half of the peak is reached, of (length, share of the peak) by rising kernels.

    Where even the shortest reaches half, its length; infinity where none does.

    Example:
        >>> metg([(1.0, 0.25), (4.0, 1.0)])
        2.0
    """
    longer: tuple[float, float] | None = None
    for length, share in reversed(points):
        if share < 0.5:
            if longer is None:
                return math.inf
            part = math.log(0.5 / share) / math.log(longer[1] / share)
            return length * math.pow(longer[0] / length, part)
        longer = (length, share)
    return points[0][0]

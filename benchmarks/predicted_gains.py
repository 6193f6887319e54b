"""Gains that reports predict, beside gains that are measured: programs with a planted fault, with it and without, in turn."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import Patience, Watch
from benchmarks.measure import measure_all
from benchmarks.planted_programs import THREADS, PlantedProgram, planted_programs
from benchmarks.progress import Progress
from benchmarks.running import finished

WORD = "predicted-gains"
FAULTY, REPAIRED = "faulty", "repaired"
# Runs that are recorded: the prediction is their median.
RECORDINGS = 2
_TIMEOUT_S = 120
# Busy for a part of each 10 ms, on the CPU that is named.
_HOG = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
busy_s = int(sys.argv[2]) * 1e-4
while True:
    begin = time.monotonic()
    while time.monotonic() < begin + busy_s: pass
    if busy_s < 0.01: time.sleep(max(begin + 0.01 - time.monotonic(), 0))
"""


def run_predicted_gains(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """The results of all programs. A stopped benchmark continues after its last program."""
    progress = Progress(root / "build" / "bench" / f"{WORD}-progress.json", rounds, is_smoke)
    recordings = 1 if is_smoke else RECORDINGS

    def measure_one(case: PlantedProgram, patience: Patience, seed: int) -> dict[str, Any]:
        return progress.done(case.title) or progress.add(
            case.title, _measure(case, rounds, recordings, patience, seed)
        )

    results = measure_all(
        planted_programs(root, is_smoke),
        lambda case: case.title,
        measure_one,
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )
    progress.end()
    return results


def _measure(
    case: PlantedProgram, rounds: int, recordings: int, patience: Patience, seed: int
) -> dict[str, Any]:
    order = random.Random(seed)
    watch = Watch()
    patience.next_case()
    times: dict[str, list[float]] = {FAULTY: [], REPAIRED: []}
    disturbed: list[float] = []
    repeated = 0
    reports = [_recorded(case) for _ in range(recordings)]
    while len(disturbed) < rounds:
        kinds = [FAULTY, REPAIRED]
        order.shuffle(kinds)
        watch.again()
        began = time.monotonic()
        pair = {kind: _seconds(case, kind) for kind in kinds}
        # The hog is another program, too.
        others = None if case.hog_percent else watch.others()
        if patience.bears(others, time.monotonic() - began):
            repeated += 1
            continue
        disturbed.append(others or 0.0)
        for kind, seconds in pair.items():
            times[kind].append(round(seconds, 6))
    return {
        "name": case.name,
        "severity": case.severity,
        "command": " ".join(Path(word).name for word in case.command),
        "rounds": rounds,
        "run_again": repeated,
        "others_share": [round(share, 4) for share in disturbed],
        "first_causes": [report["findings"][0]["cause"] if report["findings"] else "" for report in reports],
        "causes": [str(cause) for cause in case.causes],
        "predicted_s": [round(predicted_gain(case, report), 6) for report in reports],
        "replay_errors": [round(_replay_error(report), 5) for report in reports],
        "times": times,
    }


def predicted_gain(case: PlantedProgram, report: dict[str, Any]) -> float:
    """What the report says that the planted fault costs, seconds; 0: it has no such finding."""
    gains = [finding["gain_s"] for finding in report["findings"] if finding["cause"] in case.causes]
    return float(max(gains, default=0.0))


def _replay_error(report: dict[str, Any]) -> float:
    return float(report["what_if"][0]["replay_error"]) if report["what_if"] else 0.0


def _recorded(case: PlantedProgram) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, _hog(case.hog_percent):
        options = ("--trace",) if case.is_traced else ()
        run = ("trimtab", "run", "-q", "--tune=off", *options, "-o", f"{folder}/run", "--")
        finished([*run, *case.command], _TIMEOUT_S, env=_environment())
        report: dict[str, Any] = json.loads(
            finished(["trimtab", "report", "--json", f"{folder}/run"], _TIMEOUT_S)
        )
    return report


def _seconds(case: PlantedProgram, kind: str) -> float:
    command = case.command if kind == FAULTY else case.repaired
    with _hog(case.hog_percent if kind == FAULTY else 0):
        began = time.monotonic()
        finished(list(command), _TIMEOUT_S, env=_environment())
        return time.monotonic() - began


def _environment() -> dict[str, str]:
    # Where the system puts two new threads is else most of the difference between two runs.
    return {**os.environ, "OMP_NUM_THREADS": str(THREADS), "OMP_PROC_BIND": "true"}


@contextlib.contextmanager
def _hog(percent: int) -> Iterator[None]:
    """Another program takes that much of the last CPU meanwhile."""
    if not percent:
        yield
        return
    cpu = str(max(os.sched_getaffinity(0)))
    with subprocess.Popen([sys.executable, "-c", _HOG, cpu, str(percent)]) as hog:
        try:
            time.sleep(0.2)
            yield
        finally:
            hog.kill()

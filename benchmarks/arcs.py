"""ARCS as published (Chaimov, 2017) on our loops: the best setting of each region, waits before and after, and a model of power levels.

Each round runs, in random order: the program as written with all threads and with one, with the best points that an exhaustive run
found before (ARCS-offline), with a search of its own in the same run (ARCS-online), and with Trimtab's tuner and its history.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import Patience
from benchmarks.measure import measure_all
from benchmarks.running import finished, make

WORD = "study-arcs"
_TIMEOUT_S = 120
_CPUS = len(os.sched_getaffinity(0))
WRITTEN, ONE, OFFLINE, ONLINE, TUNER = "as written", "one thread", "ARCS-offline", "ARCS-online", "tuner"
_OFFLINE_POLICY = ("--tune", "--policy", "arcs-offline", "--threads", "regions")
_ONLINE_POLICY = ("--tune", "--policy", "arcs-online", "--threads", "regions")
_TUNER = ("--tune", "--threads", "regions")


@dataclass(frozen=True)
class _Program:
    """A workload whose regions run often enough for every point of ARCS's domain, and for some time after it."""

    name: str
    size: int
    steps: int

    @property
    def title(self) -> str:
        return self.name

    def command(self, workloads: Path, is_smoke: bool) -> list[str]:
        steps = 20 if is_smoke else self.steps
        sizes = ["--size", str(self.size), "--steps", str(steps), "--schedule", "runtime", "--no-check"]
        return [str(workloads / f"{self.name}-gcc"), *sizes]


PROGRAMS = (
    _Program("mandelbrot", 64, 1200),
    _Program("triangular", 2000, 1500),
    _Program("sph", 4000, 300),
    _Program("hotspot3d", 256, 600),
    _Program("lavamd", 4, 400),
)


def run_arcs(
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

    def measured(case: _Program, _: Patience, seed: int) -> dict[str, Any]:
        return _measured(case, case.command(workloads, is_smoke), rounds, seed)

    return measure_all(
        PROGRAMS,
        lambda case: f"{WORD}: {case.title}",
        measured,
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )


def _measured(case: _Program, command: list[str], rounds: int, seed: int) -> dict[str, Any]:
    order = random.Random(seed)
    runs: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        offline, tuner = f"{folder}/offline", f"{folder}/tuner"
        _report(command, (*_OFFLINE_POLICY, "--history", offline))
        _report(command, (*_TUNER, "--history", tuner))
        levels = {
            WRITTEN: ("--tune=off",),
            ONE: ("--tune=off",),
            OFFLINE: (*_OFFLINE_POLICY, "--history", offline),
            TUNER: (*_TUNER, "--history", tuner),
        }
        for number in range(rounds):
            levels[ONLINE] = (*_ONLINE_POLICY, "--history", f"{folder}/online-{number}")
            for level in order.sample(list(levels), len(levels)):
                threads = 1 if level == ONE else _CPUS
                runs.setdefault(level, []).append(_report(command, levels[level], threads))
    return {
        "title": case.title,
        "wall_s": {level: [round(one["wall_s"], 5) for one in found] for level, found in runs.items()},
        "regions": _regions(runs),
        "others_share": [0.0],
        "run_again": 0,
    }


def _report(command: list[str], options: tuple[str, ...], threads: int = _CPUS) -> dict[str, Any]:
    """What `trimtab report --json` says of a run."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        run = f"{folder}/run"
        finished(["trimtab", "run", "-q", "-o", run, *options, "--", *command], _TIMEOUT_S, env=environment)
        report: dict[str, Any] = json.loads(finished(["trimtab", "report", run, "--json"], _TIMEOUT_S))
        return report


def _regions(runs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Of each region as written: times of all levels, seconds a call, and the best setting."""
    return [
        {
            "name": region["name"].partition(" ")[0],
            "calls": region["calls"],
            "best": _best_setting(runs[OFFLINE][0], region),
            "call_s": {level: _median(found, region["name"], "wall_s") for level, found in runs.items()},
            "wait_s": {level: _median(found, region["name"], "wait_s") for level, found in runs.items()},
        }
        for region in sorted(runs[WRITTEN][0]["regions"], key=lambda one: one["line"])
    ]


def _median(reports: list[dict[str, Any]], name: str, figure: str) -> float:
    """Seconds a call; 0 where the region never ran."""
    values = [
        region[figure] / max(region["calls"], 1)
        for report in reports
        for region in report["regions"]
        if region["name"] == name
    ]
    return float(f"{statistics.median(values):.6g}") if values else 0.0


def _best_setting(report: dict[str, Any], region: dict[str, Any]) -> dict[str, str]:
    """Knobs that differ from the program's own setting."""
    subjects = {region["name"], *(loop["name"] for loop in region["loops"])}
    setting: dict[str, str] = {}
    for decision in report["decisions"]:
        if decision["subject"] in subjects:
            setting |= {change["knob"]: change["to"] for change in decision["changes"]}
    return setting


@dataclass(frozen=True)
class PowerModel:
    """Power of a processor: so much without work, and for each busy CPU so much at full speed; it falls with the cube of the speed.

    A level below what the busy CPUs take lowers their speed until it is kept.
    """

    idle_w: float = 25.0
    cpu_w: float = 45.0

    def speed(self, level_w: float, cpus: int) -> float:
        """A part of full speed."""
        room_w = max(level_w - self.idle_w, 0.0)
        return float(min(1.0, (room_w / (cpus * self.cpu_w)) ** (1 / 3)))

    def energy_j(self, level_w: float, cpus: int, full_speed_s: float) -> tuple[float, float]:
        """Seconds, and joules, of work that takes so long at full speed on so many CPUs, all of them busy (waits spin)."""
        speed = self.speed(level_w, cpus)
        seconds = full_speed_s / speed
        return seconds, seconds * (self.idle_w + cpus * self.cpu_w * speed**3)

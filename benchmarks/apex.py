"""APEX as published (Chaimov, 2017): the cap of workers under a limit of power.

A model gives the power, so that machines without a meter can run this: a fixed number of watts, and more for each busy CPU. The length of queues over workers, and searches of a whole job beside those of each process, have studies of their own.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.figures import Figure, Line, Panel, draw

from benchmarks.asat import stairs
from benchmarks.machine import Patience
from benchmarks.measure import measure_all
from benchmarks.running import BenchError, finished

WORD = "study-apex"
_TIMEOUT_S = 120
_CPUS = len(os.sched_getaffinity(0))
IDLE_W, CPU_W = 20.0, 10.0
# Half of the CPUs fit, and a little is left; and all of them.
LIMITS_W = (round(IDLE_W + CPU_W * max(_CPUS // 2, 1) + CPU_W / 5), round(IDLE_W + CPU_W * (_CPUS + 1)))
# Power over time is drawn in steps of so many seconds.
_STEP_S = 0.3


@dataclass(frozen=True)
class _Limit:
    watts: int

    @property
    def title(self) -> str:
        return f"at most {self.watts} W"


_CASES = tuple(_Limit(watts) for watts in LIMITS_W)


def run_apex(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """All results."""
    program = root / "build" / "workloads" / "heat_ring"
    if not program.exists():
        raise BenchError(f"{program}: expected the program, found none; ./x build makes it")

    def measured(case: _Limit, _: Patience, __: int) -> dict[str, Any]:
        runs = [_run(case, program, is_smoke) for _ in range(rounds)]
        return {
            "title": case.title,
            **vars(case),
            "cpus": _CPUS,
            "runs": runs,
            "others_share": [0.0],
            "run_again": 0,
        }

    return measure_all(
        _CASES,
        lambda case: f"{WORD}: {case.title}",
        measured,
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )


def _run(case: _Limit, program: Path, is_smoke: bool) -> dict[str, Any]:
    """What one run did: its cap, power and busy workers over time, in seconds, and what its work took."""
    seconds, workers = 1 if is_smoke else 8, 4 * _CPUS
    arguments = [
        "--points",
        "200000",
        "--partition",
        "1000",
        "--steps",
        "20",
        "--measure",
        str(1000 * seconds),
    ]
    options: dict[str, str | int] = {
        "workers": workers,
        "power-meter": f"simulated:idle_w={IDLE_W:g},cpu_w={CPU_W:g}",
        "power-limit": case.watts,
    }
    with tempfile.TemporaryDirectory() as folder:
        command = ["trimtab", "run", "-q", "--trace", "-o", f"{folder}/run", "--", str(program), "--no-check"]
        printed = finished(
            [*command, *arguments, *(f"--trimtab:{name}={value}" for name, value in options.items())],
            _TIMEOUT_S,
        )
        report = json.loads(finished(["trimtab", "report", f"{folder}/run", "--json"], _TIMEOUT_S))
    updates = re.search(r"^lups=([\d.e+]+)$", printed, re.MULTILINE)
    if updates is None or report["energy"] is None:
        raise BenchError(f"{' '.join(command)}: expected lups= and an energy, found {printed!r}")
    return {
        "updates_per_s": float(updates[1]),
        "joules": round(report["energy"]["joules"], 4),
        "seconds": round(report["energy"]["seconds"], 4),
        "caps": _caps(report, workers),
        "power": _power(report),
        "busy": _busy(report),
    }


def _caps(report: dict[str, Any], first: int) -> list[tuple[float, int]]:
    """The cap of workers from each moment on."""
    caps = [(0.0, first)]
    for decision in report["decisions"]:
        for change in decision["changes"]:
            if change["knob"] == "workers":
                caps.append((round(decision["time_s"], 3), int(change["to"])))
    return caps


def _power(report: dict[str, Any]) -> list[tuple[float, float]]:
    """Watts, each from its moment on."""
    series = next(each for each in report["counters"] if each["name"].startswith("energy "))
    times, joules = [0.0, *series["t_s"]], [0.0, *series["values"]]
    points, begin = [], 0
    for end in range(1, len(times)):
        if times[end] - times[begin] >= _STEP_S:
            watts = (joules[end] - joules[begin]) / (times[end] - times[begin])
            points.append((round(times[begin], 3), round(watts, 3)))
            begin = end
    return points


def _busy(report: dict[str, Any]) -> list[tuple[float, float]]:
    """Workers that ran tasks, in the mean, each from its moment on."""
    line = report["timeline"]
    counts = [sum(values) for values in zip(*(series["lanes"] for series in line["series"]), strict=True)]
    together = max(1, round(_STEP_S / line["dt_s"]))
    return [
        (
            round(line["t0_s"] + at * line["dt_s"], 3),
            round(sum(counts[at : at + together]) / len(counts[at : at + together]), 3),
        )
        for at in range(0, len(counts), together)
    ]


def draw_apex(results: dict[str, Any], folder: Path) -> None:
    """Busy workers with their cap, and the power with its limit, of each limit's first run."""
    folder.mkdir(exist_ok=True)
    cases = results["cases"]
    for name, title, unit, panels in (
        ("workers", "Workers under a limit of power", "workers", [_workers(case) for case in cases]),
        ("power", "Power under a limit", "watts", [_watts(case) for case in cases]),
    ):
        figure = Figure(f"{WORD}-{name}", title, "time (s)", unit, "", False, False, False, tuple(panels))
        (folder / f"{figure.name}.png").write_bytes(draw(figure)[1])


def _workers(case: dict[str, Any]) -> Panel:
    run = case["runs"][0]
    return Panel(
        case["title"],
        (
            Line("run tasks", stairs(run["busy"], run["seconds"])),
            Line("cap", stairs(run["caps"], run["seconds"])),
        ),
    )


def _watts(case: dict[str, Any]) -> Panel:
    run = case["runs"][0]
    return Panel(
        case["title"],
        (
            Line("power", stairs(run["power"], run["seconds"])),
            Line("limit", stairs([(0.0, case["watts"])], run["seconds"])),
        ),
    )

"""What a report and its page cost, by the events of the run; and how fast the page is in a browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.readers import open_run

from benchmarks.machine import Patience, Watch
from benchmarks.measure import measure_all
from benchmarks.progress import Progress
from benchmarks.running import BenchError, finished

WORD = "report-speed"
JSON, HTML = "json", "html"
OPTIONS = (JSON, HTML)
# A task of heat_ring has four events: it is created, becomes ready, begins and ends.
_EVENTS_A_TASK, _PARTITION, _STEPS = 4, 1000, 250
_TIMEOUT_S = 300
_FULL, _SMOKE = (1_000_000, 3_000_000, 10_000_000), (100_000,)


@dataclass(frozen=True)
class ReportCase:
    """A run of about so many events."""

    events: int
    workloads: Path

    @property
    def title(self) -> str:
        """For progress."""
        return f"report of {self.events / 1e6:g} million events"

    @property
    def command(self) -> tuple[str, ...]:
        """The program that is recorded."""
        points = self.events // _EVENTS_A_TASK // _STEPS * _PARTITION
        sizes = ("--points", str(points), "--partition", str(_PARTITION), "--steps", str(_STEPS))
        return str(self.workloads / "heat_ring"), *sizes


def run_report_speed(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """The results of all sizes. A stopped benchmark continues after its last size."""
    progress = Progress(root / "build" / "bench" / f"{WORD}-progress.json", rounds, is_smoke)

    def measure_one(case: ReportCase, patience: Patience, seed: int) -> dict[str, Any]:
        return progress.done(case.title) or progress.add(case.title, _measure(root, case, rounds, patience))

    results = measure_all(
        [ReportCase(events, root / "build" / "workloads") for events in (_SMOKE if is_smoke else _FULL)],
        lambda case: case.title,
        measure_one,
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )
    progress.end()
    return results


def _measure(root: Path, case: ReportCase, rounds: int, patience: Patience) -> dict[str, Any]:
    watch = Watch()
    patience.next_case()
    with tempfile.TemporaryDirectory(dir=root / "build" / "bench") as folder:
        run, page = Path(folder) / "run", Path(folder) / "page.html"
        options = ("-q", "--tune=off", "--trace", "--max-trace", "4G", "-o", str(run))
        finished(["trimtab", "run", *options, "--", *case.command], _TIMEOUT_S)
        costs: dict[str, list[dict[str, float]]] = {option: [] for option in OPTIONS}
        pages: list[dict[str, Any]] = []
        disturbed: list[float] = []
        repeated = 0
        while len(disturbed) < rounds:
            watch.again()
            began = time.monotonic()
            round_costs = {JSON: _cost(run, "--json"), HTML: _cost(run, "--html", str(page))}
            others = watch.others()
            if patience.bears(others, time.monotonic() - began):
                repeated += 1
                continue
            disturbed.append(others or 0.0)
            # The browser's processes are not this one's children: they would count as others.
            pages.append(_opened(root, page))
            for option, cost in round_costs.items():
                costs[option].append(cost)
        return {
            "events": _events(run),
            "command": " ".join([Path(case.command[0]).name, *case.command[1:]]),
            "rounds": rounds,
            "run_again": repeated,
            "others_share": [round(share, 4) for share in disturbed],
            "costs": costs,
            "page_bytes": page.stat().st_size,
            "pages": pages,
        }


def _events(run: Path) -> int:
    return sum(len(lane.events) for process in open_run(run).processes for lane in process.lanes)


def _cost(run: Path, *options: str) -> dict[str, float]:
    """Of `trimtab report` with these options: seconds, CPU seconds of the whole process, and its peak memory in bytes."""
    command = [sys.executable, "-m", "trimtab", "report", str(run), *options]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as reporting:
        complaint = reporting.stderr.read() if reporting.stderr is not None else ""
        _, status, usage = os.wait4(reporting.pid, 0)
        reporting.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    if reporting.returncode != 0:
        raise BenchError(
            f"{' '.join(command)}: expected exit code 0, found {reporting.returncode}: {complaint.strip()}"
        )
    return {
        "wall_s": round(seconds, 4),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 4),
        "peak_bytes": float(usage.ru_maxrss * 1024),
    }


def _opened(root: Path, page: Path) -> dict[str, Any]:
    """The page in a headless browser: seconds until its first picture, and milliseconds of script of each drawing while it is zoomed."""
    script = root / "tests" / "page" / "measure_lane_view.py"
    opened: dict[str, Any] = json.loads(
        finished([sys.executable, str(script), "--json", str(page)], _TIMEOUT_S)
    )
    return opened

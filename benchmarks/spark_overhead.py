"""What recording a Spark application costs: one job of many empty tasks, bare and under `trimtab run`, in turn."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from benchmarks.running import finished
from benchmarks.spark_pooled import missing
from benchmarks.spread import ratios as paired
from benchmarks.spread import spread

WORD = "spark-overhead"
BARE, RECORDED = "bare", "recorded"
TASKS, _SMOKE_TASKS = 30_000, 500
# Of the time of the bare job: what is promised, unless the interval of the pairs has it.
MOST = 1.03
_END_S = 3600


def run_spark_overhead(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    wait_minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """Seconds of the job and CPU seconds of the JVM, in pairs whose order alternates."""
    if reason := missing():
        report_progress(f"{WORD}: left out, because {reason}")
        return {"missing": reason, "cases": []}
    script = root / "benchmarks" / "many_tasks.py"
    tasks = _SMOKE_TASKS if is_smoke else TASKS
    cases: dict[str, dict[str, Any]] = {
        level: {"level": level, "seconds": [], "cpu_s": []} for level in (BARE, RECORDED)
    }
    for index in range(rounds):
        for level in (BARE, RECORDED) if index % 2 == 0 else (RECORDED, BARE):
            seconds, cpu_s = _measured(script, tasks, level)
            cases[level]["seconds"].append(round(seconds, 3))
            cases[level]["cpu_s"].append(round(cpu_s, 2))
        report_progress(f"{WORD}: pair {index + 1} of {rounds}")
    return {"machine": describe(), "tasks": tasks, "cases": list(cases.values())}


def _measured(script: Path, tasks: int, level: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        recorded = ["-m", "trimtab", "run", "-q", "-o", f"{folder}/run", "--", sys.executable]
        command = [sys.executable, *(recorded if level == RECORDED else []), str(script), str(tasks), folder]
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        seconds, cpu_s = map(float, finished(command, _END_S, env=environment).split()[-2:])
        return seconds, cpu_s


def overhead_table(results: dict[str, Any]) -> str:
    """Time of the job, and CPU time of the JVM, with the medians of the pairs' ratios."""
    if results.get("missing"):
        return f"left out, because {results['missing']}"
    bare, recorded = results["cases"]
    lines = [
        f"| {results['tasks']} tasks | bare, median | recorded, median | recorded / bare: median | least to most |",
        "|---|---|---|---|---|",
    ]
    for key, label in (("seconds", "the job, s"), ("cpu_s", "CPU time of the JVM, s")):
        ratios = paired(recorded[key], bare[key])
        lines.append(
            f"| {label} | {statistics.median(bare[key]):.1f} | {statistics.median(recorded[key]):.1f} "
            f"| {statistics.median(ratios):.3f} | {min(ratios):.3f} to {max(ratios):.3f} |"
        )
    return "\n".join(lines)


def overhead_faults(results: dict[str, Any]) -> list[str]:
    """Where recording surely costs more time than promised; nothing where it could not be measured."""
    if results.get("missing"):
        return []
    bare, recorded = results["cases"]
    ratio = spread(paired(recorded["seconds"], bare["seconds"]))
    if ratio.low <= MOST:
        return []
    return [
        f"{WORD}: expected at most {MOST} of the bare job's time, found {ratio.low:.3f} to {ratio.high:.3f}"
    ]

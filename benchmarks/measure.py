"""Runs the cases: the levels in turn, round after round, while the machine is quiet."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.machine import Patience, Watch, describe
from benchmarks.running import BenchError, Outcome, run
from benchmarks.suite import Case, Size

# A round in which others had more of the CPUs than this is run again.
QUIET = 0.05
_ANSWER = re.compile(r"answer (\S+),")
_CLI = "from trimtab.cli import main; main()"


Measured = TypeVar("Measured")


def measure_all(
    cases: Sequence[Measured],
    titled: Callable[[Measured], str],
    measure_one: Callable[[Measured, Patience, int], dict[str, Any]],
    *,
    is_smoke: bool,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """The results of all cases, with the machine.

    Args:
        cases: what is measured.
        titled: a case as progress has it.
        one: measures it, with patience and a seed.
        is_smoke: a short round, which waits for nothing.
        minutes: most to spend waiting for a quiet machine.
        tell: progress.
    """
    results: dict[str, Any] = {
        "format": 1,
        "machine": describe(),
        "quiet": QUIET,
        "is_smoke": is_smoke,
        "cases": [],
    }
    patience = Patience(0 if is_smoke else 60 * minutes / max(len(cases), 1), QUIET)
    for number, case in enumerate(cases):
        began = time.monotonic()
        results["cases"].append(measure_one(case, patience, number))
        report_progress(f"{number + 1:3}/{len(cases)}  {titled(case)}  {time.monotonic() - began:.1f} s")
    return results


def measure(case: Case, size: Size, scratch: Path, patience: Patience, seed: int) -> dict[str, Any]:
    """All rounds of a case; per level a list of each figure, one entry a round."""
    order = random.Random(seed)
    watch = Watch()
    patience.next_case()
    kept: list[dict[str, Outcome]] = []
    rounds = case.rounds(size)
    repeated = 0
    disturbed: list[float] = []
    shortest_us = _shortest_region_us(case, scratch) if case.group == "program" else None
    while len(kept) < rounds:
        levels = list(case.levels)
        order.shuffle(levels)
        watch.again()
        began = time.monotonic()
        outcomes = {
            level: run(list(case.argv), level, case.threads, scratch, is_bound=case.is_whole)
            for level in levels
        }
        others = watch.others()
        if patience.bears(others, time.monotonic() - began):
            repeated += 1
            continue
        disturbed.append(others or 0.0)
        _check_answers(case, outcomes)
        kept.append(outcomes)
    return {
        "group": case.group,
        "name": case.name,
        "compiler": case.compiler,
        "threads": case.threads,
        "command": " ".join([Path(case.argv[0]).name, *case.argv[1:]]),
        "occurrences": case.occurrences,
        "rounds": len(kept),
        "run_again": repeated,
        "others_share": [round(entry, 4) for entry in disturbed],
        "shortest_region_us": shortest_us,
        "levels": {level: _columns(case, [entry[level] for entry in kept]) for level in case.levels},
    }


def _columns(case: Case, outcomes: list[Outcome]) -> dict[str, list[float]]:
    """Figures of one level by name; `value` is what the case is about, ns or s."""
    if case.is_whole:
        return {
            "value": [round(outcome.wall_s, 6) for outcome in outcomes],
            "cpu_s": [round(outcome.cpu_s, 6) for outcome in outcomes],
            "own_s": [round(outcome.own_s, 6) for outcome in outcomes],
        }
    result: dict[str, list[float]] = {
        name: [round(float(getattr(outcome, name)), 9) for outcome in outcomes]
        for name in ("wall_s", "cpu_s", "own_s", "hooks", "clock_reads", "clock_read_ns", "events", "dropped")
    }
    is_timed_inside = case.group in ("scope", "construct")
    result["value"] = [
        float(outcome.output) if is_timed_inside else round(outcome.wall_s, 9) for outcome in outcomes
    ]
    return result


def _check_answers(case: Case, outcomes: dict[str, Outcome]) -> None:
    """A program that is watched must still be right: the same answer at every level."""
    if case.group != "program":
        return
    answers = {level: _ANSWER.search(outcome.output) for level, outcome in outcomes.items()}
    bare = answers["bare"]
    for level, answer in answers.items():
        if bare is None or answer is None:
            raise BenchError(f"{case.title}: expected an answer, found {outcomes[level].output!r}")
        if abs(float(answer[1]) - float(bare[1])) > 1e-9 * max(abs(float(bare[1])), 1.0):
            raise BenchError(f"{case.title}, {level}: expected the answer {bare[1]}, found {answer[1]}")


def _shortest_region_us(case: Case, scratch: Path) -> float:
    """Mean length of the program's shortest region, by a run that also warms everything up."""
    report, _, _ = _report(case, "profile", scratch)
    lengths = [region["wall_s"] / region["calls"] * 1e6 for region in report["regions"] if region["calls"]]
    if not lengths:
        raise BenchError(f"{case.title}: expected regions, found none")
    return round(float(min(lengths)), 1)


def _report(case: Case, level: str, scratch: Path) -> tuple[dict[str, Any], float, float]:
    """Run once, and report with the command in a process of its own: the report, wall s and peak bytes of that."""
    directory = scratch / "kept"
    run(list(case.argv), level, case.threads, scratch, keep=directory)
    try:
        return _reported(directory, scratch)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _reported(directory: Path, scratch: Path) -> tuple[dict[str, Any], float, float]:
    written = scratch / "report.json"
    with written.open("wb") as stream:
        began = time.monotonic()
        child = subprocess.Popen(
            [sys.executable, "-c", _CLI, "report", "--json", str(directory)], stdout=stream
        )
        _, status, usage = os.wait4(child.pid, 0)
        took = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
    if status != 0:
        raise BenchError(f"trimtab report: expected exit code 0, found wait status {status}")
    report: dict[str, Any] = json.loads(written.read_bytes())
    return report, took, usage.ru_maxrss * 1024.0


def measure_command(case: Case, size: Size, scratch: Path) -> dict[str, Any]:
    """`trimtab run` with its verdict around a program that does nothing, against the program alone."""
    bare, command = [], []
    for _ in range(size.rounds):
        bare.append(run(list(case.argv), "bare", 1, scratch).wall_s)
        directory = scratch / "run"
        began = time.monotonic()
        completed = subprocess.run(
            [sys.executable, "-c", _CLI, "run", "-o", str(directory), "--", *case.argv], capture_output=True
        )
        command.append(time.monotonic() - began)
        shutil.rmtree(directory, ignore_errors=True)
        if completed.returncode != 0:
            raise BenchError(
                f"trimtab run: expected exit code 0, found {completed.returncode}: {completed.stderr.decode()}"
            )
    return {"bare_s": bare, "command_s": command}


def measure_reading(
    program: Path, threads: int, size: Size, scratch: Path, report_progress: Callable[[str], None]
) -> dict[str, Any]:
    """Record a trace of so many events with a real program, and report it several times."""
    directory = scratch / "kept"
    count = 200
    # What one occurrence of the construct records is asked of a short run first.
    probe = run([str(program), "mixed", str(count), "1"], "trace", threads, scratch)
    wanted = int(size.trace_events / (probe.events / (2 * count)) * 1.02 / 2) + 1
    try:
        traced = run([str(program), "mixed", str(wanted), "1"], "trace", threads, scratch, keep=directory)
        taken_bytes = sum(path.stat().st_blocks * 512 for path in directory.rglob("*") if path.is_file())
        walls, peaks = [], []
        for _ in range(size.trace_rounds):
            report, took, peak = _reported(directory, scratch)
            walls.append(round(took, 4))
            peaks.append(peak)
            report_progress(f"  {report['overhead']['events']} events in {took:.2f} s, {peak / 1e6:.0f} MB")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return {
        "events": traced.events,
        "dropped": traced.dropped,
        "bytes_on_disk": taken_bytes,
        "lanes": threads,
        "wall_s": walls,
        "peak_bytes": peaks,
    }

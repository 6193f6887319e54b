"""What recording costs: instrumented scopes, OpenMP constructs, whole programs, the command itself and the reading of a trace."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.measure import measure, measure_all, measure_command, measure_reading
from benchmarks.running import make
from benchmarks.suite import FULL, SMOKE, Case, Size, cases, program_cases

# Whole programs: `--only` this measures them again, beside the kept results of the rest of the page.
PROGRAMS = "programs"
# Teams of the constructs and programs: enough to wait for each other, few enough for small machines.
_MOST_THREADS = 2

Tell = Callable[[str], None]


class _Measurement:
    """Cases to measure, and the folder in which they run."""

    def __init__(
        self, root: Path, programs: Path, is_smoke: bool, rounds: int, minutes: float, report_progress: Tell
    ) -> None:
        self.size: Size = replace(SMOKE if is_smoke else FULL, rounds=rounds)
        self.programs, self.minutes, self.tell = programs, minutes, report_progress
        self.scratch = programs.parent / "scratch"
        self.threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)))
        workloads = root / "build" / "workloads"
        make(root, "benchmarks", programs)
        make(root, "workloads", workloads)
        self.parts = cases(self.size, programs, self.threads)
        self.whole = program_cases(self.size, programs, workloads, self.threads)

    def __enter__(self) -> _Measurement:
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)

    def of(self, chosen: list[Case]) -> dict[str, Any]:
        """The results of these cases."""
        return measure_all(
            chosen,
            lambda case: case.title,
            lambda case, patience, seed: measure(case, self.size, self.scratch, patience, seed),
            is_smoke=self.size.is_smoke,
            minutes=self.minutes,
            report_progress=self.tell,
        )


def run_recording(
    root: Path, programs: Path, is_smoke: bool, rounds: int, minutes: float, report_progress: Tell
) -> dict[str, Any]:
    """The results of the whole page."""
    with _Measurement(root, programs, is_smoke, rounds, minutes, report_progress) as measurement:
        results = measurement.of(measurement.parts)
        results[PROGRAMS] = measurement.of(measurement.whole)
        size, scratch = measurement.size, measurement.scratch
        results["command"] = measure_command(measurement.parts[0], size, scratch)
        report_progress("reading a trace")
        constructs = programs / "constructs-gcc"
        results["reading"] = measure_reading(constructs, measurement.threads, size, scratch, report_progress)
        return results


def run_programs(kept: Path) -> Callable[..., dict[str, Any]]:
    """Whole programs alone, beside the results of the rest that are kept at `kept`."""

    def run(
        root: Path, programs: Path, is_smoke: bool, rounds: int, minutes: float, report_progress: Tell
    ) -> dict[str, Any]:
        with _Measurement(root, programs, is_smoke, rounds, minutes, report_progress) as measurement:
            result = measurement.of(measurement.whole)
        return {**json.loads(kept.read_text(encoding="utf-8")), PROGRAMS: result}

    return run


def run_titled(word: str) -> Callable[..., dict[str, Any]]:
    """Only cases whose title holds the word."""

    def run(
        root: Path, programs: Path, is_smoke: bool, rounds: int, minutes: float, report_progress: Tell
    ) -> dict[str, Any]:
        with _Measurement(root, programs, is_smoke, rounds, minutes, report_progress) as measurement:
            all_entries = [*measurement.parts, *measurement.whole]
            return measurement.of([case for case in all_entries if word in case.title])

    return run

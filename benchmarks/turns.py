"""What hooks cost short regions, with them and past them in turn within one process: runs differ by more than that."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.running import BenchError, finished

_TIMEOUT_S = 300
BARE_NAME, TUNED_NAME = "bare", "`--tune`"
_LEVELS = {BARE_NAME: (), "run": ("run", "--tune=off"), TUNED_NAME: ("run", "--tune")}


@dataclass(frozen=True)
class TurnsCase:
    """A loop of benchmarks/loops.h.

    Attributes:
        regions: of a step.
        turns: of a process.
        most: of the time as a share of that without hooks, with `--tune`: what is promised.
    """

    name: str
    compiler: str
    steps: int
    regions: int
    turns: int
    most: float

    @property
    def title(self) -> str:
        """For progress, tables and errors."""
        return f"{self.name}, {self.compiler}"


CASES = tuple(
    TurnsCase(name, compiler, steps, regions, turns, limit)
    for compiler in ("gcc", "clang")
    for name, steps, regions, turns, limit in (
        ("copy", 10, 1, 150, 1.01),
        ("even", 100, 1, 60, 1.01),
        ("levels", 20, 30, 150, 1.03),
        ("many", 25, 40, 150, 1.03),
        ("spin", 1000, 1, 150, 1.03),
        ("sum", 1000, 1, 150, 1.03),
        ("tree", 20, 1, 150, 1.03),
    )
)


def run_turns(
    programs: Path, is_smoke: bool, rounds: int, report_progress: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Of each case and level: each process's median ratio, and the medians of what a region takes, ns."""
    result = []
    for case in CASES[:1] if is_smoke else CASES:
        turns = 4 if is_smoke else case.turns
        levels: dict[str, dict[str, list[float]]] = {
            level: {"ratio": [], "hooks_ns": [], "region_ns": []} for level in _LEVELS
        }
        for _ in range(rounds):
            for level, options in _LEVELS.items():
                for name, value in _run(case, programs, options, turns).items():
                    levels[level][name].append(value)
        result.append({"title": case.title, "most": case.most, "levels": levels})
        report_progress(f"turns: {case.title}")
    return result


def _run(case: TurnsCase, programs: Path, options: tuple[str, ...], turns: int) -> dict[str, float]:
    program = [str(programs / f"turns-{case.compiler}"), case.name, str(case.steps), str(turns)]
    with tempfile.TemporaryDirectory() as folder:
        history = ["--history", f"{folder}/history"] if "--tune" in options else []
        watched = ["trimtab", *options, "-q", *history, "-o", f"{folder}/run", "--"] if options else []
        # Where the system puts two new threads is else most of the difference between two runs.
        printed = finished([*watched, *program], _TIMEOUT_S, env={**os.environ, "OMP_PROC_BIND": "true"})
    try:
        pairs = [tuple(map(float, line.split())) for line in printed.splitlines()]
        return {
            "ratio": round(statistics.median(hooked / direct for hooked, direct in pairs), 5),
            "hooks_ns": round(
                statistics.median(hooked - direct for hooked, direct in pairs) / case.regions, 1
            ),
            "region_ns": round(statistics.median(direct for _, direct in pairs) / case.regions, 1),
        }
    except (ValueError, ZeroDivisionError) as error:
        raise BenchError(f"{case.title}: expected two times a line, found {printed[:200]!r}") from error

"""What tuning does to patterns of OpenMP: each bare, tuned, frozen and by hand, in turn (`./x bench --only patterns`)."""

from __future__ import annotations

import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import Patience, Watch
from benchmarks.measure import measure_all
from benchmarks.pattern_programs import build, patterns_of
from benchmarks.pattern_rows import COMPILERS, Pattern
from benchmarks.progress import Progress
from benchmarks.running import BenchError, finished

BARE, TUNED, FROZEN, HAND = "bare", "tuned", "frozen", "hand"
# What is a fault: tuned or frozen above the first of bare, frozen above the second of the best that is easily written.
MOST_OF_BARE, MOST_OF_HAND = 1.03, 1.10
PARTS = tuple(f"patterns-{compiler}" for compiler in COMPILERS)
_TIMEOUT_S = 120
# A second or so of each; learning, of which frozen runs get the settings, takes longer.
_INSTANCES, _LEARNING = 1200, 5000
_SMOKE_INSTANCES = 20
_THREADS = {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "true"}
_VIRTUAL = "--virtual-threads"
# Of each compiler: patterns with the shape of their costs, and the options of `trimtab run`.
_LIGHT, _HEAVY, _TURNS = "light-first", "heavy-first", "alternating"
_CASES: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]] = {
    "clang++-19": (
        ("static_block", _LIGHT, ()),
        ("static_one", _TURNS, ()),
        ("dynamic_one", _LIGHT, ()),
        ("guided", _HEAVY, ()),
        ("for_in_parallel", _HEAVY, ()),
        ("reduction_sum", _LIGHT, ()),
        ("reduction_array", _HEAVY, ()),
        ("reduction_twice", _LIGHT, ()),
        ("reduction_dynamic", _LIGHT, ()),
        ("inscan", _LIGHT, ()),
        ("nowait_chain", _LIGHT, ()),
        ("nowait_different", _LIGHT, ()),
        ("nowait_nested", _LIGHT, ()),
        ("lastprivate", _HEAVY, ()),
        ("collapse", _LIGHT, ()),
        ("unsigned_long_guided", _HEAVY, ()),
        ("nested", _LIGHT, ()),
        ("sections", _LIGHT, ()),
        ("taskloop", _LIGHT, ()),
        ("doacross", _LIGHT, ()),
        ("cancel_static", _LIGHT, ()),
        ("serialized", _LIGHT, ()),
    ),
    "g++": (
        ("static_block", _LIGHT, (_VIRTUAL,)),
        ("reduction_sum", _LIGHT, (_VIRTUAL,)),
        ("for_in_parallel", _LIGHT, ()),
        ("dynamic_one", _LIGHT, ()),
        ("dynamic_in_parallel", _HEAVY, ()),
        ("reduction_dynamic", _LIGHT, ()),
        ("guided", _HEAVY, ()),
        ("taskloop", _LIGHT, ()),
        ("doacross", _LIGHT, ()),
    ),
    "gfortran": (
        ("parallel_do", _LIGHT, ()),
        ("do_dynamic_one", _LIGHT, ()),
        ("do_array_sum", _HEAVY, ()),
        ("do_taskloop", _LIGHT, ()),
    ),
}
# One of each compiler shows that they work.
_SMOKE = (("clang++-19", "reduction_sum"), ("g++", "reduction_dynamic"), ("gfortran", "do_dynamic_one"))


@dataclass(frozen=True)
class PatternCase:
    """A pattern as one compiler builds it.

    Attributes:
        compiler: builds it.
        row: the pattern.
        shape: of the iterations' costs.
        options: further ones of `trimtab run`.
    """

    compiler: str
    row: Pattern
    shape: str
    options: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """For progress and tables."""
        options_text = "".join(f", `{option}`" for option in self.options)
        return f"{self.row.name}, {self.compiler}, {self.shape}{options_text}"

    @property
    def has_knob(self) -> bool:
        """Whether Trimtab can change how one of its loops is shared out."""
        return _VIRTUAL in self.options or any(loop.is_tuned for loop in self.row.loops_of(self.compiler))

    @property
    def most_of_hand(self) -> float | None:
        """The bar against the schedule by hand; None: there is no knob, or one cannot write another schedule."""
        return MOST_OF_HAND if self.has_knob and self.row.has_schedule else None


def pattern_cases(is_smoke: bool, part: str | None = None) -> list[PatternCase]:
    """All cases, or those of one compiler."""
    result = [
        PatternCase(compiler, {row.name: row for row in patterns_of(compiler)}[name], shape, options)
        for compiler, cases in _CASES.items()
        for name, shape, options in cases
        if part in (None, f"patterns-{compiler}")
    ]
    return [entry for entry in result if (entry.compiler, entry.row.name) in _SMOKE] if is_smoke else result


def run_patterns(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
    part: str | None = None,
) -> dict[str, Any]:
    """All cases' results, or those of one compiler. A run that was stopped goes on behind its last whole case."""
    cases = pattern_cases(is_smoke, part)
    programs.mkdir(parents=True, exist_ok=True)
    built = {
        compiler: _built(programs, compiler, [case.row for case in cases if case.compiler == compiler])
        for compiler in {case.compiler for case in cases}
    }
    progress = Progress(root / "build" / "bench" / "patterns-progress.json", rounds, is_smoke)

    def one(case: PatternCase, patience: Patience, seed: int) -> dict[str, Any]:
        return progress.done(case.title) or progress.add(
            case.title, _Measuring(case, built[case.compiler], is_smoke).rounds(rounds, patience, seed)
        )

    result = measure_all(
        cases,
        lambda case: f"patterns: {case.title}",
        one,
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )
    progress.end()
    return result


def run_part(part: str, kept: Path) -> Callable[..., dict[str, Any]]:
    """The cases of one compiler alone, beside the results of the others that are kept at `kept`."""

    def run(
        root: Path,
        programs: Path,
        is_smoke: bool,
        rounds: int,
        minutes: float,
        report_progress: Callable[[str], None],
    ) -> dict[str, Any]:
        result = run_patterns(root, programs, is_smoke, rounds, minutes, report_progress, part)
        rest = json.loads(kept.read_text(encoding="utf-8"))["cases"] if kept.exists() else []
        by_title = {entry["title"]: entry for entry in [*rest, *result["cases"]]}
        order = [case.title for case in pattern_cases(is_smoke=False)]
        return {**result, "cases": [by_title[title] for title in order if title in by_title]}

    return run


def _built(programs: Path, compiler: str, rows: list[Pattern]) -> dict[str, Path]:
    rows = list({row.name: row for row in rows}.values())
    result = {BARE: build(programs, compiler, rows)}
    by_hand = [row for row in rows if row.has_schedule]
    if by_hand:
        result[HAND] = build(programs, compiler, by_hand, by_hand=True)
    return result


class _Measuring:
    """All rounds of one case."""

    def __init__(self, case: PatternCase, built: dict[str, Path], is_smoke: bool) -> None:
        self._case, self._built = case, built
        self._instances = _SMOKE_INSTANCES if is_smoke else _INSTANCES
        self._learning = _SMOKE_INSTANCES if is_smoke else _LEARNING
        self._answers: set[str] = set()

    def rounds(self, count: int, patience: Patience, seed: int) -> dict[str, Any]:
        """Seconds of each level, an entry a round, and why there is no knob as Trimtab says it."""
        order, watch, repeated = random.Random(seed), Watch(), 0
        others_share: list[float] = []
        levels: dict[str, list[float]] = {}
        patience.next_case()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            reason = self._learn(folder)
            while len(others_share) < count:
                watch.again()
                began = time.monotonic()
                chosen = [BARE, TUNED, FROZEN, *([HAND] if self._case.row.has_schedule else [])]
                order.shuffle(chosen)
                times = {entry: self._seconds(entry, folder) for entry in chosen}
                others = watch.others()
                if patience.bears(others, time.monotonic() - began):
                    repeated += 1
                    continue
                others_share.append(round(others or 0.0, 4))
                for level, seconds in times.items():
                    levels.setdefault(level, []).append(round(seconds, 6))
        if self._answers != {f"{self._case.row.name} right"}:
            raise BenchError(f"{self._case.title}: expected right answers, found {sorted(self._answers)}")
        return {
            "title": self._case.title,
            "has_knob": self._case.has_knob,
            "most_of_hand": self._case.most_of_hand,
            "why_no_knob": reason,
            "levels": levels,
            "others_share": others_share,
            "run_again": repeated,
        }

    def _program(self, level: str, instances: int) -> list[str]:
        program = self._built[HAND if level == HAND else BARE]
        return [str(program), self._case.shape, str(instances), self._case.row.name]

    def _watched(self, mode: str, history: Path, run: Path, instances: int) -> list[str]:
        named = ["--history", str(history), "--input-class", "any", "-o", str(run)]
        return ["trimtab", "run", mode, *self._case.options, *named, "--", *self._program(BARE, instances)]

    def _learn(self, folder: Path) -> str:
        """One long tuned run, whose settings frozen runs get; gives the reasons it printed for loops without a knob."""
        command = self._watched("--tune", folder / "history", folder / "learning", self._learning)
        completed = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            env={**os.environ, **_THREADS},
            check=False,
        )
        if completed.returncode != 0:
            raise BenchError(
                f"{self._case.title}: expected exit code 0, found {completed.returncode}: {completed.stderr}"
            )
        self._answers.add(completed.stdout.strip())
        lines = [line.strip() for line in completed.stderr.splitlines()]
        return "; ".join(line.rpartition("): ")[2] for line in lines if line.startswith("not tuned: "))

    def _seconds(self, level: str, folder: Path) -> float:
        """Of the program's process; the launcher's start is no part of it."""
        environment = {**os.environ, **_THREADS}
        if level in (BARE, HAND):
            began = time.monotonic()
            self._answers.add(
                finished(self._program(level, self._instances), _TIMEOUT_S, env=environment).strip()
            )
            return time.monotonic() - began
        with tempfile.TemporaryDirectory() as scratch:
            run = Path(scratch) / "run"
            history = folder / "history" if level == FROZEN else Path(scratch) / "history"
            mode = "--frozen" if level == FROZEN else "--tune"
            command = self._watched(mode, history, run, self._instances)
            command.insert(2, "-q")
            self._answers.add(finished(command, _TIMEOUT_S, env=environment).strip())
            return float(json.loads((run / "run.json").read_text(encoding="utf-8"))["ended"]["wall_s"])

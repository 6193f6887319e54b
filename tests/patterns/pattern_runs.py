"""Runs the programs of the matrix of patterns in every mode, and compares what Trimtab says with what was written."""

from __future__ import annotations

import os
import shutil
import subprocess
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conftest import finished, remember
from reports import build as report_of
from trimtab.readers import open_run
from trimtab.symbols import Binary

from benchmarks.pattern_programs import build, patterns_of, region_lines
from benchmarks.pattern_rows import SHAPES, Loop, Pattern

INSTANCES = 16
# A measurement lies between the bounds of the program's clock, but for what two clocks differ by.
TOLERANCE, TOLERANCE_S = 0.03, 10e-6
# The tuner takes shorter instances together until they have taken so long.
GATHERED_S = 100e-6
LEAST_MEASUREMENTS = 3
# So many of the measurements do. Those of a wrong objective do not, with one shape of costs at least.
LEAST_SHARE = 0.7


@dataclass(frozen=True)
class Measured:
    """A loop of one region as a run's snapshots tell of it."""

    function: str
    trip: int
    key: str
    knobs: dict[str, tuple[str, ...]]
    seconds: list[float] = field(default_factory=list)  # of one execution, each time that it was measured


class Program:
    """The program of one compiler, with one shape of costs; each mode is run once."""

    def __init__(self, trimtab: str, folder: Path, program: Path, compiler: str, shape: str) -> None:
        self.compiler = compiler
        self._trimtab, self._folder, self._program, self._shape = trimtab, folder, program, shape
        self._history = folder / "history.sqlite"
        self._done: dict[str, subprocess.CompletedProcess[str]] = {}
        self._report: dict[str, Any] = {}
        self._measured: list[Measured] = []

    @property
    def arguments(self) -> tuple[str, ...]:
        return (self._shape, str(INSTANCES))

    def clock(self, mode: str) -> dict[tuple[str, int], list[tuple[float, float]]]:
        """What each instance took at least and at most, by pattern and iterations; from the program in that mode."""
        result: dict[tuple[str, int], list[tuple[float, float]]] = {}
        for line in (self._folder / f"{mode}.clock").read_text(encoding="utf-8").splitlines():
            name, iterations, *times = line.split()
            bounds = list(map(float, times))
            result.setdefault((name, int(iterations)), []).extend(zip(bounds[::2], bounds[1::2], strict=True))
        return result

    def done(self, mode: str, *options: str, instances: int = INSTANCES) -> subprocess.CompletedProcess[str]:
        """The program's end in that mode; "bare" is without Trimtab."""
        if mode not in self._done:
            environment = {
                **os.environ,
                "OMP_NUM_THREADS": "2",
                "OMP_WAIT_POLICY": "passive",
                # Two threads on one CPU run after each other: then a loop has no time that all clocks agree on.
                "OMP_PROC_BIND": "true",
                "OMP_CANCELLATION": "true",
                "PATTERNS_CLOCK": str(self._folder / f"{mode}.clock"),
            }
            watched = [self._trimtab, "run", "-q", *options, "-o", str(self._folder / mode), "--"]
            command = [*([] if mode == "bare" else watched), str(self._program), self._shape, str(instances)]
            self._done[mode] = finished(command, env=environment)
        return self._done[mode]

    def run(self) -> subprocess.CompletedProcess[str]:
        return self.done("run", "--tune=off")

    def tuned(self) -> subprocess.CompletedProcess[str]:
        """Repeated with more instances where the machine let loops be measured too rarely."""
        if "tuned" not in self._done:
            expected = sum(
                len({loop.iterations for loop in row.loops_of(self.compiler) if loop.is_tuned})
                for row in patterns_of(self.compiler)
            )
            for overrides in (1, 4, 16):
                self._done.pop("tuned", None)
                shutil.rmtree(self._folder / "tuned", ignore_errors=True)
                self._tune(INSTANCES * overrides)
                enough = [entry for entry in self._measured if len(entry.seconds) >= LEAST_MEASUREMENTS]
                if len(enough) >= expected:
                    break
        return self._done["tuned"]

    def _tune(self, instances: int) -> None:
        options = ("--tune", "--record-snapshots", "--history", str(self._folder / "tuned.sqlite"))
        completed = self.done("tuned", *options, instances=instances)
        assert completed.returncode == 0, completed.stderr
        (file,) = (self._folder / "tuned").glob("*/snapshots.txt")
        self._measured = _measured(file.read_text(encoding="utf-8"), self._program)

    def frozen(self) -> subprocess.CompletedProcess[str]:
        """With another setting of each loop that has knobs, as if the tuned run had kept that."""
        if "frozen" not in self._done:
            for number, entry in enumerate(self.measured()):
                remember(self._history, self._program, self.arguments, entry.key, _setting(entry, number))
        return self.done("frozen", "--frozen", "--history", str(self._history))

    def report(self, mode: str = "run") -> dict[str, Any]:
        if mode not in self._report:
            assert mode in self._done, f"the mode {mode} was not run"
            self._report[mode] = report_of(open_run(self._folder / mode))
        return self._report[mode]

    def measured(self) -> list[Measured]:
        """All loops with knobs, and how long they took by Trimtab's own measurement."""
        self.tuned()
        return self._measured

    @property
    def source(self) -> Path:
        """Where the program was made from."""
        (result,) = self._program.parent.glob(f"{self._program.name}.*")
        return result

    def lines_of(self, row: Pattern) -> list[int]:
        """Lines of its parallel directives."""
        return region_lines(self.source.read_text(encoding="utf-8"), row.name)


def programs(trimtab: str, folder: Path, compiler: str) -> dict[str, Program]:
    """The compiler's program with each shape."""
    program = build(folder, compiler, patterns_of(compiler), has_marks=True)
    result = {}
    for shape in SHAPES:
        (folder / shape).mkdir()
        result[shape] = Program(trimtab, folder / shape, program, compiler, shape)
    return result


def _measured(snapshots: str, program: Path) -> list[Measured]:
    result: dict[str, Measured] = {}
    binary = Binary(program)
    at: Measured | None = None
    for line in snapshots.splitlines():
        tag, _, rest = line.partition(" ")
        words = [urllib.parse.unquote(word) for word in rest.split()]
        if tag == "appeared":
            at = None
            if len(words) > 1 and "+0x" in words[1]:
                place, _, trip = words[1].split("/")
                function = binary.function_at(int(place.partition("+")[2], 16)).split(".")[0].rstrip("_")
                at = result[words[0]] = Measured(function, int(trip), words[1], {})
        elif tag == "knob" and at is not None:
            at.knobs[words[0]] = tuple(words[6:])
        elif tag == "subject":
            at = result.get(words[0])
        elif tag == "measured" and at is not None:
            at.seconds.append(float.fromhex(words[1]) * at.trip)
    binary.close()
    return list(result.values())


def _setting(of: Measured, number: int) -> dict[str, str]:
    """Another one than the program's; which one is by turns."""
    if "partition" in of.knobs:
        return {"partition": "weighted", "partition.costs": "0.500000000/0.250000000"}
    chunks = of.knobs["chunk"]
    chunk = chunks[1 + number % (len(chunks) - 1)]
    if "schedule" not in of.knobs:
        return {"chunk": chunk}
    schedules = of.knobs["schedule"][1:]
    return {"schedule": schedules[number % len(schedules)], "chunk": chunk}


def check_answers(program: Program, row: Pattern) -> None:
    """The same answer as the program's own serial computation in every mode."""
    for completed in (program.done("bare"), program.run(), program.tuned(), program.frozen()):
        assert f"{row.name} right" in completed.stdout.splitlines(), (
            f"{completed.args}\n{completed.stdout}{completed.stderr}"
        )


def check_report(program: Program, row: Pattern, compiler: str) -> None:
    """Names, lines, calls, threads and loops are what was written."""
    assert program.run().returncode == 0, program.run().stderr
    regions = [region for region in program.report()["regions"] if region["function"].rstrip("_") == row.name]
    regions.sort(key=lambda region: region["line"])
    source = program.source.name
    result = [(region["line"], region["calls"]) for region in regions]
    expected = [
        (line, calls * INSTANCES) for line, calls in zip(program.lines_of(row), row.calls, strict=True)
    ]
    assert result == expected, f"lines and calls {result}, expected {expected}"
    assert {region["name"] for region in regions} == {
        f"{source}:{region['line']} ({region['function']})" for region in regions
    }
    assert regions[0]["threads"] == row.threads
    loops = sorted(
        (_loop(entry) for entry in (loop for region in regions for loop in region["loops"])), key=str
    )
    expected = sorted((_expected(entry) for entry in row.loops_of(compiler)), key=str)
    assert loops == expected, f"found {loops}, expected {expected}"


def _loop(of: dict[str, Any]) -> tuple[Any, ...]:
    executed = of["executed"] if of["iterations"] is not None else None
    return of["schedule"], of["chunk"], of["iterations"], of["executions"], executed


def _expected(loop: Loop) -> tuple[Any, ...]:
    iterations = loop.iterations or None
    executions = loop.executions * INSTANCES
    return loop.schedule, loop.chunk, iterations, executions, executions * iterations if iterations else None


def check_objective(program: Program, row: Pattern, compiler: str) -> None:
    """What the tuner took for a loop's time is what the program's clock says; loops without a knob are not measured."""
    measured = {entry.trip: entry for entry in program.measured() if entry.function == row.name}
    tuned = {loop.iterations for loop in row.loops_of(compiler) if loop.is_tuned}
    assert set(measured) == tuned, f"measured {set(measured)}, expected {tuned}"
    assert all(len(entry.seconds) >= LEAST_MEASUREMENTS for entry in measured.values()), measured
    for trip in tuned:
        own_figures, other_figures = measured[trip].seconds, program.clock("tuned")[row.name, trip]
        if not row.has_clock:
            continue
        agreeing = in_common(own_figures, gathered(other_figures))
        assert agreeing >= LEAST_SHARE * len(own_figures), (
            f"{trip} iterations: {agreeing} of {len(own_figures)} measurements agree, us\n"
            f"measured {' '.join(f'{entry * 1e6:.0f}' for entry in own_figures)}\n"
            f"clock    {' '.join(f'{smallest * 1e6:.0f}-{limit * 1e6:.0f}' for smallest, limit in other_figures)}"
        )


def gathered(instances: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The means of those that the tuner takes together."""
    result, smallest, limit, count = [], 0.0, 0.0, 0
    for its_least, its_most in instances:
        smallest, limit, count = smallest + its_least, limit + its_most, count + 1
        if limit >= GATHERED_S:
            result.append((smallest / count, limit / count))
            smallest, limit, count = 0.0, 0.0, 0
    return result


def in_common(own_figures: list[float], other_figures: list[tuple[float, float]]) -> int:
    """The most measurements that can be instances of the program's clock, in the same order."""
    best = [0] * (len(other_figures) + 1)
    for first in own_figures:
        before = best[:]
        for at, (smallest, limit) in enumerate(other_figures):
            is_same = (
                (1 - TOLERANCE) * smallest - TOLERANCE_S <= first <= (1 + TOLERANCE) * limit + TOLERANCE_S
            )
            best[at + 1] = max(before[at + 1], best[at], before[at] + is_same)
    return best[-1]


def check_frozen(program: Program) -> None:
    """Loops that have knobs ran with the setting that was remembered of them."""
    assert program.frozen().returncode == 0, program.frozen().stderr
    decided = program.report("frozen")["decisions"]
    assert {entry["policy"] for entry in decided} == {"history"}
    set_to = {
        entry["key"]: {change["knob"]: change["to"] for change in entry["changes"]} for entry in decided
    }
    for number, entry in enumerate(program.measured()):
        wanted = {knob: value for knob, value in _setting(entry, number).items() if "." not in knob}
        result = set_to.get(entry.key, wanted)
        assert result == wanted, f"{entry.function}: set to {result}, expected {wanted}"
    # Of the last patterns it may be told no more before the program ends.
    assert len(set_to) >= 0.5 * len(program.measured()), f"{len(set_to)} of {len(program.measured())}"


__all__ = [
    "SHAPES",
    "Program",
    "check_answers",
    "check_frozen",
    "check_objective",
    "check_report",
    "programs",
]

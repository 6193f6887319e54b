"""Response surfaces for searches, recorded from real programs: two experiment files into one compact text file."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.experiments import (
    ExperimentError,
    Row,
    Swept,
    Value,
    load,
    summarised,
    write_outputs,
)

from benchmarks.machine import describe
from benchmarks.running import BenchError, make
from benchmarks.studies import folder_of_sweep, swept_whole, telling

LOOPS, TASKS = "surfaces_of_loops.toml", "surfaces_of_tasks.toml"
# As rooms/steer/bench/recorded_surfaces.hpp reads it.
FIRST_LINE = "trimtab-surfaces 1"
_QUANTILES = tuple(f"step_q{percent:02}_us" for percent in (5, 25, 50, 75, 95))
_MEDIAN = _QUANTILES[2]
# What only shows that it works.
_SMOKE = {"measure": 5}


@dataclass(frozen=True)
class Surface:
    """A part of an experiment: `at` is where, `knobs` are the factors that are left.

    Attributes:
        start: the knobs' values that the program has by itself.
        hints: what Trimtab's knobs have as remedies for what is wrong there (imbalance, too small, oversubscription).
    """

    name: str
    about: str
    file: str
    at: Mapping[str, Value]
    knobs: tuple[str, ...]
    start: tuple[Value, ...]
    hints: tuple[tuple[Value, ...], ...]


def _loop(
    name: str,
    description: str,
    program: str,
    start: tuple[Value, ...],
    *hints: tuple[Value, ...],
    busy: int = 0,
) -> Surface:
    at: dict[str, Value] = {"loop": program, "busy": busy}
    return Surface(name, description, LOOPS, at, ("threads", "schedule", "chunk"), start, hints)


def _tasks(
    name: str, description: str, program: str, start: tuple[Value, ...], *hints: tuple[Value, ...]
) -> Surface:
    return Surface(name, description, TASKS, {"program": program}, ("grain", "workers"), start, hints)


SURFACES = (
    *(
        _loop(
            f"triangular, {compiler}",
            "uneven loop: iteration i costs i",
            f"triangular-{compiler} --size 1500",
            (2, "static", 750),
            (2, "dynamic", 8),
            (2, "guided", 8),
        )
        for compiler in ("gcc", "clang")
    ),
    _loop(
        "mandelbrot, gcc",
        "three loops of 128 rows, the first very uneven",
        "mandelbrot-gcc --size 128",
        (2, "static", 64),
        (2, "dynamic", 4),
        (2, "guided", 1),
    ),
    _loop(
        "sph, clang",
        "two loops of 2000 particles, somewhat uneven",
        "sph-clang --size 2000",
        (2, "static", 1000),
        (2, "dynamic", 8),
        (2, "guided", 8),
    ),
    _loop(
        "lavamd, clang",
        "even loop of 64 boxes, but for those at the border",
        "lavamd-clang --size 4",
        (2, "static", 32),
        (2, "dynamic", 1),
        (2, "guided", 1),
    ),
    _loop(
        "hotspot3d, gcc",
        "loop of a few layers",
        "hotspot3d-gcc --size 64",
        (4, "static", 1),
        (2, "static", 1),
        (1, "static", 1),
    ),
    _loop(
        "short regions beside a busy CPU, gcc",
        "regions of 2000 elements, one CPU busy with another program",
        "vector_loop-gcc --size 2000",
        (2, "static", 1000),
        (1, "static", 1000),
        busy=1,
    ),
    *(
        _loop(
            f"tiny iterations, {compiler}",
            "loop of 20,000 elements, handed out one by one",
            f"vector_loop-{compiler} --size 20000",
            (2, "dynamic", 1),
            (2, "dynamic", 2048),
            (2, "guided", 10_000),
            (2, "static", 2048),
        )
        for compiler in ("gcc", "clang")
    ),
    _loop(
        "memory-bound, gcc",
        "even loop of 2,000,000 elements",
        "vector_loop-gcc --size 2000000",
        (4, "static", 1_000_000),
        (2, "static", 1_000_000),
        (1, "static", 1_000_000),
    ),
    _tasks(
        "stencil of tasks",
        "ring of 200,000 points, 10 steps, started with partitions of 64 points",
        "heat_ring --points 200000 --steps 10 --partition",
        (64, 2),
        (512, 2),
        (2048, 2),
    ),
    _tasks(
        "loops of tasks",
        "conjugate gradients of 256 rows, 10 steps, started with a row a task and more workers than CPUs",
        "cg --size 256 --steps 10 --grain",
        (1, 4),
        (8, 2),
        (32, 1),
    ),
)


def record(root: Path, out: Path, is_smoke: bool, rounds: int, report_progress: Callable[[str], None]) -> str:
    """Sweeps both files, or goes on with what is there of this commit: the text of the file.

    Raises:
        BenchError: a sweep cannot be run, or a run failed.
    """
    make(root, "workloads", root / "build" / "workloads")
    machine = describe()
    result: dict[str, Swept] = {}
    for file in dict.fromkeys(surface.file for surface in SURFACES):
        try:
            experiment = load(root / "docs" / "experiments" / file, _SMOKE if is_smoke else {})
            folder = folder_of_sweep(out, experiment.name, str(machine["commit"]), is_smoke)
            swept = swept_whole(
                experiment, folder, is_smoke, rounds, telling(experiment.name, report_progress), file
            )
        except ExperimentError as error:
            raise BenchError(str(error)) from error
        report_progress(f"{experiment.name}: {write_outputs(swept, summarised(swept)).page}")
        result[file] = swept
    return text_of(result, machine)


def text_of(
    result: Mapping[str, Swept], machine: Mapping[str, Any], surfaces: Sequence[Surface] = SURFACES
) -> str:
    """The file's text.

    Raises:
        ValueError: a point of a surface was not measured, or one of its values is of no point.
    """
    rows = {file: summarised(swept).rows for file, swept in result.items()}
    lines = [FIRST_LINE, *(f"machine {entry}" for entry in _machine(result, machine))]
    for surface in surfaces:
        lines += ["", *_lines_of(surface, rows[surface.file])]
    return "\n".join(lines) + "\n"


def _machine(result: Mapping[str, Swept], machine: Mapping[str, Any]) -> list[str]:
    runs = [run for swept in result.values() for run in swept.runs]
    others = statistics.median((run.others or 0) + (run.steal or 0) for run in runs)
    disturbed = sum(run.is_disturbed for run in runs)
    samples = max(swept.experiment.samples for swept in result.values())
    cpus = f"{machine['cpus']} CPUs" + (" of a virtual machine" if machine["virtual"] else "")
    return [
        f"{machine['date']}, commit {machine['commit']}: {machine['cpu']}, {cpus}, {machine['memory_gb']} GB,"
        f" Linux {machine['kernel']}",
        f"{machine['gcc']}; {machine['clang']}",
        f"{len(runs)} runs, {samples} of each point, in random order; other programs and the hypervisor took"
        f" {others:.1%} of the CPUs in the median one, and too much in {disturbed}",
    ]


def _lines_of(surface: Surface, rows: Sequence[Row]) -> list[str]:
    own_rows = [row for row in rows if surface.at.items() <= row.configuration.items()]
    points = {tuple(row.configuration[knob] for knob in surface.knobs): row for row in own_rows}
    values = [list(dict.fromkeys(point[at] for point in points)) for at in range(len(surface.knobs))]
    lines = [f"surface {surface.name}", f"about {surface.about}"]
    for knob, knob_values in zip(surface.knobs, values, strict=True):
        kind = "names" if any(isinstance(value, str) for value in knob_values) else "set"
        lines.append(f"knob {knob} {kind} {_words(knob_values)}")
    for word, point in (("start", surface.start), *(("hint", hint) for hint in surface.hints)):
        if point not in points:
            raise ValueError(
                f"{surface.file}: {surface.name}: expected the {word} {_words(point)} among its points"
            )
        lines.append(f"{word} {_words(point)}")
    for point in itertools.product(*values):
        row = points.get(point)
        if row is None or any(metric not in row.spreads for metric in _QUANTILES):
            raise ValueError(f"{surface.file}: {surface.name}: expected times at {_words(point)}, found none")
        # Medians of runs' quantiles need not rise.
        times = sorted(row.spreads[metric].median for metric in _QUANTILES)
        median = row.spreads[_MEDIAN]
        # Four digits, and no exponents.
        microseconds = " ".join(f"{float(f'{time:.4g}'):.12g}" for time in times)
        lines.append(f"point {_words(point)} {microseconds} {median.iqr / median.median:.3f}")
    return lines


def _words(values: Sequence[Value]) -> str:
    return " ".join(map(str, values))

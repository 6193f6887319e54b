"""Programs that are to settle beside others: a serial job, copies of themselves, more workers than CPUs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.running import BenchError, finished

_TIMEOUT_S = 300
_CPUS = len(os.sched_getaffinity(0))
_COPIES = (2, 3, 4)
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
# Of a balanced loop: 5 s with one thread. Half of it for the job, and for each copy.
_STEPS, _SMOKE_STEPS = {"gcc": 20_000, "clang": 40_000}, 20
_RING_STEPS, _SMOKE_RING_STEPS = 32_000, 200
_CAP = re.compile(r"^at [\d.]+ s runtime 1: workers \d+ -> (\d+), (?:kept|set)", re.MULTILINE)


class _Found(NamedTuple):
    title: str
    bar: float
    ratio: float
    note: str = ""


@dataclass(frozen=True)
class _Where:
    programs: Path
    workloads: Path
    is_smoke: bool

    def loop(self, compiler: str, share: int = 1) -> list[str]:
        """The balanced loop, or one of `share` parts of it."""
        steps = _SMOKE_STEPS if self.is_smoke else _STEPS[compiler] // share
        return [str(self.programs / f"steered-{compiler}"), "even", str(steps)]

    def ring(self, *options: str) -> list[str]:
        """The stencil."""
        steps = _SMOKE_RING_STEPS if self.is_smoke else _RING_STEPS
        size = ["--points", "200000", "--partition", "1000", "--no-check", "--steps", str(steps)]
        return [str(self.workloads / "heat_ring"), *size, *options]


def run_sharing(
    programs: Path, workloads: Path, is_smoke: bool, rounds: int, report_progress: Callable[[str], None]
) -> list[dict[str, Any]]:
    """What is promised of programs that share CPUs: title, bar, the ratio of each round, and what was found besides."""
    place = _Where(programs, workloads, is_smoke)
    result: dict[str, dict[str, Any]] = {}
    for number in range(rounds):
        for compiler in ("gcc",) if is_smoke else ("gcc", "clang"):
            _take(result, _beside_a_serial_job(place, compiler))
            _take(result, _copies(place, compiler))
        _take(result, _too_many_workers(place))
        report_progress(f"sharing: round {number + 1} of {rounds}")
    return list(result.values())


def _take(target: dict[str, dict[str, Any]], result: Iterable[_Found]) -> None:
    for entry in result:
        case = target.setdefault(
            entry.title, {"title": entry.title, "bar": entry.bar, "ratio": [], "notes": []}
        )
        case["ratio"].append(round(entry.ratio, 4))
        if entry.note:
            case["notes"].append(entry.note)


def _beside_a_serial_job(place: _Where, compiler: str) -> Iterator[_Found]:
    job, program = place.loop(compiler, share=2), place.loop(compiler)
    alone = _timed(job, _ONE_THREAD)
    work = _timed(program, _ONE_THREAD)
    with _started([(program, {}, True), (job, _ONE_THREAD, False)]) as ended:
        program_s, job_s = ended
    yield _Found(f"a serial job beside `--threads fit`, {compiler}: the job / alone", 1.05, job_s / alone)
    ideal = max(alone, (alone + work) / _CPUS)
    both_s = max(program_s, job_s)
    yield _Found(f"a serial job beside `--threads fit`, {compiler}: both done / ideal", 1.1, both_s / ideal)


def _copies(place: _Where, compiler: str) -> Iterator[_Found]:
    program = place.loop(compiler, share=2)
    for count in _COPIES[:1] if place.is_smoke else _COPIES:
        with _started([(program, _ONE_THREAD, False)] * count) as ended:
            single = max(ended)
        with _started([(program, {}, True)] * count) as ended:
            title = f"{count} copies with `--threads fit`, {compiler} / of one thread"
            yield _Found(title, 1.1, max(ended) / single)


def _too_many_workers(place: _Where) -> Iterator[_Found]:
    best = _timed(place.ring(f"--trimtab:workers={_CPUS}"), {})
    tuned = ["--trimtab:tune=workers", "--trimtab:print-decisions"]
    began = time.monotonic()
    reported = subprocess.run(
        place.ring(f"--trimtab:workers={4 * _CPUS}", *tuned),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=True,
    ).stderr
    took = time.monotonic() - began
    caps = [int(cap) for cap in _CAP.findall(reported)] or [4 * _CPUS]
    settled = _timed(place.ring(f"--trimtab:workers={caps[-1]}"), {})
    yield _Found("stencil, four workers a CPU, `tune=workers` / as many as CPUs", 1.1, took / best)
    yield _Found("stencil, the cap that it settles at / as many as CPUs", 1.05, settled / best, str(caps[-1]))


def _timed(command: Sequence[str], variables: dict[str, str]) -> float:
    began = time.monotonic()
    finished(list(command), _TIMEOUT_S, env={**os.environ, **variables})
    return time.monotonic() - began


@contextmanager
def _started(programs: Sequence[tuple[list[str], dict[str, str], bool]]) -> Iterator[list[float]]:
    """Seconds of each, of a watched one those of its process: all begin together, and all have ended."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        running = []
        for number, (command, variables, is_fitted) in enumerate(programs):
            run = folder / f"run-{number}"
            watched = (
                ["trimtab", "run", "-q", "--tune=off", "--threads", "fit", "-o", str(run), "--"]
                if is_fitted
                else []
            )
            process = stack.enter_context(
                subprocess.Popen(
                    [*watched, *command],
                    env={**os.environ, **variables},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            stack.callback(process.kill)
            running.append((process, time.monotonic(), run if is_fitted else None))
        took: dict[int, float] = {}
        until = time.monotonic() + _TIMEOUT_S
        while len(took) < len(running):
            for number, (process, began, run_folder) in enumerate(running):
                if number in took or process.poll() is None:
                    continue
                if process.returncode != 0:
                    raise BenchError(f"{programs[number][0]}: ended with {process.returncode}")
                took[number] = time.monotonic() - began
                if run_folder is not None:
                    info = json.loads((run_folder / "run.json").read_text(encoding="utf-8"))
                    took[number] = float(info["ended"]["wall_s"])
            if time.monotonic() > until:
                raise BenchError(f"{programs[0][0]}: expected to end within {_TIMEOUT_S} s")
            time.sleep(0.01)
        yield [took[number] for number in range(len(running))]

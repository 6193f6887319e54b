"""What steering gains, and costs where there is nothing to gain: bare, tuned within one run, by hand, in turn."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import Patience, Watch, describe
from benchmarks.measure import measure_all
from benchmarks.running import BenchError, TooLongError, finished, make
from benchmarks.sharing import run_sharing
from benchmarks.turns import BARE_NAME, TUNED_NAME, run_turns

BARE, TUNED, AGAIN, HAND = "bare", "tuned", "again", "hand"
# Parts that can be measured by themselves, and under what the results have their machines.
TURNS, HOGS, SHARING, APART = "turns", "hogs", "sharing", "apart"
NAMES = {BARE: BARE_NAME, TUNED: TUNED_NAME, AGAIN: "`--frozen`", HAND: "by hand"}
_TIMEOUT_S = 300
# A bare run beside hogs is stopped then, and counts as that: its threads may be on one CPU, and take a slice for each barrier.
_MOST_BARE_S = 60
_HOG = "while True: pass"
# What is promised to a percent, of programs of a second, and whose times vary twofold: this many times the rounds.
_OFTEN = 5
# Processes of a program that takes turns: a few seconds each.
_TURNS_OFTEN = 3
# One of each kind shows that they work.
_SMOKE = (("triangular", "clang"), ("tiny iterations", "gcc"), ("barriers", "gcc"))


@dataclass(frozen=True)
class SteeringCase:
    """A program; `hand`: the same with the best that is known.

    Attributes:
        most: of the time as a share of the bare one's; what is promised.
        most_of_hand: of the time as a share of the one by hand.
        hogs: other programs that want a CPU meanwhile.
        quota: of CPUs, of a control group.
        options: further ones of `trimtab run`.
        environment: the program's, at all levels.
    """

    name: str
    compiler: str
    command: tuple[str, ...]
    most: float
    hand: tuple[str, ...] | None = None
    most_of_hand: float | None = None
    hogs: int = 0
    quota: float | None = None
    options: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def rounds(self, usual: int) -> int:
        """Rounds of this program; `usual`: of the other programs. More where the effect is small and the noise large."""
        return usual * (_OFTEN if self.most >= 1 or self.hogs else 1)

    @property
    def title(self) -> str:
        """For progress, tables and errors."""
        hogs_text = f", {self.hogs} CPU hogs beside it" if self.hogs else ""
        group = f", {self.quota:g} CPUs by its control group" if self.quota else ""
        variables = "".join(f", `{name}={value}`" for name, value in self.environment)
        options_text = f", `{' '.join(self.options)}`" if self.options else ""
        return f"{self.name}, {self.compiler}{hogs_text}{group}{variables}{options_text}"


def steering_cases(is_smoke: bool, programs: Path, workloads: Path) -> list[SteeringCase]:
    """Sizes for some seconds on two cores."""

    def steps(full: int) -> str:
        return str(max(full // 100, 2) if is_smoke else full)

    def workload(name: str, compiler: str, *arguments: str) -> tuple[str, ...]:
        return (str(workloads / f"{name}-{compiler}"), "--no-check", *arguments)

    def barriers(compiler: str, full: int, limit: float, **overrides: Any) -> SteeringCase:
        command = (str(programs / f"steered-{compiler}"), "spin", steps(full))
        return SteeringCase(
            "barriers", compiler, command, limit, ("env", "OMP_NUM_THREADS=1", *command), **overrides
        )

    triangular = ("--size", "3000", "--steps", steps(500))
    mandelbrot = ("--size", "160", "--steps", steps(500))
    result = [
        SteeringCase(
            name,
            compiler,
            workload(name, compiler, *size),
            0.75,
            workload(name, compiler, *size, "--schedule", "guided"),
            1.05,
            options=options,
        )
        for compiler, options in (("clang", ()), ("gcc", ("--virtual-threads",)))
        for name, size in (("triangular", triangular), ("mandelbrot", mandelbrot))
    ]
    for compiler in ("gcc", "clang"):
        program = str(programs / f"steered-{compiler}")
        # By hand still long against a process's start. A chunk of one costs clang's programs so much that they get eight.
        tiny, chunk = (program, "tiny", steps(10_000)), "1" if compiler == "gcc" else "8"
        result.append(SteeringCase("tiny iterations", compiler, (*tiny, chunk), 0.5, (*tiny, "1024"), 1.05))
        # Nothing to gain. Bound to CPUs: where the system puts two new threads is else most of the difference between two runs.
        result += [
            SteeringCase(name, compiler, command, limit, environment=(("OMP_PROC_BIND", "true"),))
            for name, command, limit in (
                ("lavamd", workload("lavamd", compiler, "--steps", steps(60)), 1.01),
                ("copy", (program, "copy", steps(2200)), 1.01),
                ("levels", (program, "levels", steps(8000)), 1.03),
                ("hotspot3d", workload("hotspot3d", compiler, "--steps", steps(3000)), 1.03),
                ("sph", workload("sph", compiler, "--steps", steps(14)), 1.03),
                (
                    "tasktree",
                    workload("tasktree", compiler, "--steps", steps(400 if compiler == "gcc" else 300)),
                    1.03,
                ),
            )
        ]
        # Threads that spin on: LLVM's yield meanwhile, unless they are told not to.
        spinning = (("OMP_WAIT_POLICY", "active"), ("KMP_LIBRARY", "turnaround"))
        active = spinning[: 1 if compiler == "gcc" else 2]
        # As many threads as the host has CPUs, who does not know of the quota.
        hosts = (("OMP_NUM_THREADS", "4"), *active)
        fit = ("--threads", "fit")
        spun = 20_000 if compiler == "gcc" else 100_000

        result += [
            barriers(compiler, 200_000, 0.1, hogs=2),
            barriers(compiler, 200_000, 0.1, hogs=2, options=fit),
            barriers(compiler, 200_000, 0.1, hogs=2, environment=active, options=fit),
            barriers(compiler, 1_000_000, 0.2, quota=0.5),
            # As long by themselves: LLVM's threads starve less.
            barriers(compiler, spun, 0.2, quota=0.5, environment=hosts, options=fit),
        ]
    return [entry for entry in result if (entry.name, entry.compiler) in _SMOKE] if is_smoke else result


def run_steering(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """All cases' results."""
    result = _run_cases(root, programs, is_smoke, rounds, minutes, report_progress)
    return {
        **result,
        TURNS: run_turns(programs, is_smoke, rounds * _TURNS_OFTEN, report_progress),
        SHARING: run_sharing(programs, root / "build" / "workloads", is_smoke, rounds, report_progress),
    }


def run_anew(part: str, kept: Path) -> Callable[..., dict[str, Any]]:
    """TURNS, HOGS or SHARING alone, beside the results of the rest that are kept at `kept`."""

    def run(
        root: Path,
        programs: Path,
        is_smoke: bool,
        rounds: int,
        minutes: float,
        report_progress: Callable[[str], None],
    ) -> dict[str, Any]:
        rest = json.loads(kept.read_text(encoding="utf-8"))
        workloads = _made(root, programs)
        result: dict[str, Any]
        if part == TURNS:
            result = {TURNS: run_turns(programs, is_smoke, rounds * _TURNS_OFTEN, report_progress)}
        elif part == SHARING:
            result = {SHARING: run_sharing(programs, workloads, is_smoke, rounds, report_progress)}
        else:
            cases = _run_cases(root, programs, is_smoke, rounds, minutes, report_progress, only_hogs=True)[
                "cases"
            ]
            by_title = {case["title"]: case for case in [*rest["cases"], *cases]}
            result = {"cases": list(by_title.values())}
        return {**rest, **result, APART: {**rest.get(APART, {}), part: describe()}}

    return run


def _made(root: Path, programs: Path) -> Path:
    """Makes the benchmarks' programs and the workloads, and says where the latter are."""
    workloads = root / "build" / "workloads"
    make(root, "benchmarks", programs)
    make(root, "workloads", workloads)
    return workloads


def _run_cases(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
    *,
    only_hogs: bool = False,
) -> dict[str, Any]:
    workloads = _made(root, programs)
    return measure_all(
        [
            steering_case
            for steering_case in steering_cases(is_smoke, programs, workloads)
            if steering_case.hogs or not only_hogs
        ],
        lambda case: f"steering: {case.title}",
        lambda case, patience, seed: _measure(case, case.rounds(rounds), patience, seed),
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )


def _measure(case: SteeringCase, rounds: int, patience: Patience, seed: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "title": case.title,
        "most": case.most,
        "most_of_hand": case.most_of_hand,
        "why_not": "",
        "levels": {},
        "others_share": [],
        "run_again": 0,
        "stopped": 0,
    }
    order, watch = random.Random(seed), Watch()
    patience.next_case()
    with _group(case.quota) as join, _hogs(case.hogs), tempfile.TemporaryDirectory() as folder:
        if isinstance(join, str):
            return {**entry, "why_not": join}
        result: dict[str, list[float]] = {}
        answers: set[str] = set()
        while len(entry["others_share"]) < rounds:
            watch.again()
            began = time.monotonic()
            levels = [BARE, TUNED, *([HAND] if case.hand else [])]
            order.shuffle(levels)
            times = {}
            history = Path(folder) / f"{len(entry['others_share'])}-{entry['run_again']}"
            # Frozen is what the tuned run of the same round found.
            levels.insert(levels.index(TUNED) + 1, AGAIN)
            stopped = 0
            for level in levels:
                times[level], answer = _run(case, level, history, join)
                if answer is None:
                    stopped += 1
                else:
                    answers.add(answer)
            others = watch.others()
            if case.hogs == 0 and patience.bears(others, time.monotonic() - began):
                entry["run_again"] += 1
                continue
            entry["others_share"].append(round(others or 0.0, 4))
            entry["stopped"] += stopped
            for level, seconds in times.items():
                result.setdefault(level, []).append(seconds)
    if len(answers) != 1:
        raise BenchError(f"{case.title}: expected the same answer each time, found {sorted(answers)}")
    return {**entry, "levels": result}


def _run(
    case: SteeringCase, level: str, history: Path, join: Callable[[], None] | None
) -> tuple[float, str | None]:
    """Seconds of the whole process, and what it answered; None: it was stopped."""
    program = case.hand if level == HAND and case.hand else case.command
    command = list(program)
    if level in (TUNED, AGAIN):
        with tempfile.TemporaryDirectory() as folder:
            mode = "--tune" if level == TUNED else "--frozen"
            return _timed(
                [
                    "trimtab",
                    "run",
                    "-q",
                    mode,
                    *case.options,
                    "--history",
                    str(history),
                    "-o",
                    f"{folder}/run",
                    "--",
                    *command,
                ],
                join,
                Path(folder) / "run" / "run.json",
                dict(case.environment),
            )
    if level == BARE and case.hogs:
        try:
            return _timed(command, join, None, dict(case.environment), _MOST_BARE_S)
        except TooLongError:
            return _MOST_BARE_S, None
    return _timed(command, join, None, dict(case.environment))


def _timed(
    command: list[str],
    join: Callable[[], None] | None,
    info: Path | None,
    variables: dict[str, str],
    most_s: float = _TIMEOUT_S,
) -> tuple[float, str]:
    """From the program's start to its end; of a watched one what its launcher says, since that takes time to load."""
    began = time.monotonic()
    printed = finished(command, most_s, preexec_fn=join, env={**os.environ, **variables})
    took = time.monotonic() - began
    if info is not None:
        took = float(json.loads(info.read_text(encoding="utf-8"))["ended"]["wall_s"])
    # Workloads say how long they took as well.
    return took, printed.strip().split(", ")[0]


@contextlib.contextmanager
def _hogs(count: int) -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", _HOG]) for _ in range(count)]
    try:
        if started:
            time.sleep(0.5)
        yield
    finally:
        for entry in started:
            entry.kill()
            entry.wait()


@contextlib.contextmanager
def _group(cpus: float | None) -> Iterator[Callable[[], None] | str | None]:
    """A control group with that quota: how to join it; or why there can be none."""
    if cpus is None:
        yield None
        return
    second, first = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/cpu")
    name, period = f"trimtab-bench-{os.getpid()}", 100_000
    folder = (first if first.is_dir() else second) / name
    try:
        folder.mkdir()
    except OSError as error:
        yield f"no control group of our own: {error.strerror}"
        return
    try:
        if first.is_dir():
            (folder / "cpu.cfs_period_us").write_text(str(period))
            (folder / "cpu.cfs_quota_us").write_text(str(int(cpus * period)))
        else:
            (folder / "cpu.max").write_text(f"{int(cpus * period)} {period}")

        def join() -> None:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

        yield join
    except OSError as error:
        yield f"no control group with a quota: {error.strerror or error}"
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()

"""What recording the operating system's scheduler costs, beside `perf sched record`, and whether both say the same."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.paths import scheduler_recorder
from trimtab.readers import open_run

from benchmarks.machine import Patience, Watch
from benchmarks.measure import measure_all
from benchmarks.running import BenchError, finished

BARE, OURS, PERF = "bare", "trimtab-kernel", "perf sched record"
_TIMEOUT_S = 300
_SMOKE_TURNS = 2_000
_SWITCH = re.compile(r"sched_switch:.*?(?:prev_pid=(\d+)|:(\d+) \[)")
_LATENCY = re.compile(
    r"^\s*(?P<name>.+?):(?P<tid>\d+)\s*\|\s*(?P<running>[\d.]+) ms \|\s*(?P<waits>\d+) \|(?P<rest>.*)$"
)
_MEAN = re.compile(r"avg:\s*([\d.]+) ms")


@dataclass(frozen=True)
class _Cost:
    """`switches`: pairs of threads that hand a turn to each other.

    Attributes:
        turns: of each pair.
        work_ns: between two turns.
    """

    title: str
    pairs: int
    turns: int
    work_ns: int


# A turn takes some 3 us more than the work.
_COSTS = (
    _Cost("50,000 switches a second, on two CPUs", 2, 25_000, 37_000),
    _Cost("50,000 switches a second, on one CPU of two", 1, 50_000, 17_000),
    _Cost("a switch after 100 us, on two CPUs", 2, 10_000, 97_000),
)


@dataclass(frozen=True)
class _Agreement:
    """A program of OpenMP, with so many threads."""

    title: str
    program: str
    threads: int


_AGREEMENTS = (
    _Agreement("lavamd, 4 threads", "lavamd", 4),
    _Agreement("triangular, 2 threads", "triangular", 2),
    _Agreement("mandelbrot, 8 threads", "mandelbrot", 8),
)
_Case = _Cost | _Agreement


def run_scheduler(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """All results; what needs `perf` is left out where that is not installed, and everything where recording is not permitted."""
    workloads = root / "build" / "workloads"
    problem = _problem()
    cases: Sequence[_Case] = (
        () if problem else _COSTS if shutil.which("perf") is None else (*_COSTS, *_AGREEMENTS)
    )
    if problem:
        report_progress(f"kernel: left out: {problem}")
    return measure_all(
        cases,
        lambda case: f"kernel: {case.title}",
        lambda case, patience, seed: (
            _cost(case, programs, is_smoke, rounds, patience, seed)
            if isinstance(case, _Cost)
            else _agreement(case, workloads, 1 if is_smoke else rounds)
        ),
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )


def _problem() -> str:
    """Why nothing can be recorded; empty: it can."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(scheduler_recorder()), f"{folder}/scheduler", "1", "bench"]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
            )
        except OSError as error:
            return f"{command[0]}: {error.strerror}"
    first_line = done.stdout.partition("\n")[0]
    return "" if first_line == "ready" else first_line


def _cost(
    case: _Cost, programs: Path, is_smoke: bool, rounds: int, patience: Patience, seed: int
) -> dict[str, Any]:
    turns = _SMOKE_TURNS if is_smoke else case.turns
    program = [str(programs / "switches-gcc"), str(turns), str(case.work_ns), str(case.pairs)]
    levels = [BARE, OURS, *([PERF] if shutil.which("perf") else [])]
    order, watch = random.Random(seed), Watch()
    patience.next_case()
    seconds: dict[str, list[float]] = {level: [] for level in levels}
    rates: list[float] = []
    disturbed: list[float] = []
    repeated = 0
    while len(rates) < rounds:
        order.shuffle(levels)
        found: dict[str, tuple[float, float]] = {}
        watch.again()
        for level in levels:
            found[level] = _timed(level, program)
        others = watch.others()
        if patience.bears(others, sum(took for took, _ in found.values())):
            repeated += 1
            continue
        disturbed.append(others or 0.0)
        rates.append(found[BARE][1])
        for level, (took, _) in found.items():
            seconds[level].append(took)
    return {
        "kind": "cost",
        "title": case.title,
        "seconds": seconds,
        "rates": rates,
        "others_share": [round(entry, 4) for entry in disturbed],
        "run_again": repeated,
    }


def _timed(level: str, program: list[str]) -> tuple[float, float]:
    """Seconds that the program says it took, and switches a second."""
    with tempfile.TemporaryDirectory() as folder:
        if level == OURS:
            command = [str(scheduler_recorder()), f"{folder}/scheduler", "1", "bench"]
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as recorder:
                assert recorder.stdout is not None
                if (answer := recorder.stdout.readline().strip()) != "ready":
                    raise BenchError(f"{command[0]}: expected 'ready', found {answer!r}")
                printed = finished(program, _TIMEOUT_S)
                recorder.communicate(timeout=_TIMEOUT_S)
        elif level == PERF:
            printed = finished(
                ["perf", "sched", "record", "-o", f"{folder}/data", "--", *program], _TIMEOUT_S
            )
        else:
            printed = finished(program, _TIMEOUT_S)
    took, rate = printed.split()[:2]
    return float(took), float(rate)


def _agreement(case: _Agreement, workloads: Path, rounds: int) -> dict[str, Any]:
    found = [_compared(case, workloads) for _ in range(rounds)]
    return {
        "kind": "agreement",
        "title": case.title,
        "ratios": {name: [round(one[name], 5) for one in found] for name in found[0]},
        "others_share": [0.0],
        "run_again": 0,
    }


def _compared(case: _Agreement, workloads: Path) -> dict[str, float]:
    """Ratios, over the threads of OpenMP that the program made, of what one recording of ours says to what others say of it.

    The system's own account of a thread (schedstat) covers its life, which our library sees but for its first and last
    microseconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, run = f"{folder}/data", f"{folder}/run"
        program = [str(workloads / f"{case.program}-gcc"), "--no-check"]
        watched = ["trimtab", "run", "--kernel", "--tune=off", "-q", "-o", run, "--", *program]
        environment = {"OMP_NUM_THREADS": str(case.threads), "OMP_WAIT_POLICY": "passive"}
        env_words = [f"{name}={value}" for name, value in environment.items()]
        finished(["perf", "sched", "record", "-o", data, "--", "env", *env_words, *watched], _TIMEOUT_S)
        recorded = open_run(run)
        (scheduler,) = recorded.schedulers
        lanes = {
            int(lane.header["tid"]): lane.header
            for process in recorded.processes
            for lane in process.lanes
            if lane.header["tid"] and not lane.header["is_main"]
        }
        own = {int(row["tid"]): row for row in scheduler.threads if int(row["tid"]) in lanes}
        latency = {
            int(row["tid"]): row
            for line in finished(["perf", "sched", "latency", "-i", data, "-p"], _TIMEOUT_S).splitlines()
            if (row := _LATENCY.match(line)) is not None
        }
        switches = _switches_in(data)
    if not own:
        raise BenchError(f"{case.title}: expected threads in both recordings, found none")
    delay = {
        tid: int(latency[tid]["waits"]) * float(mean[1])
        for tid in own
        if tid in latency and (mean := _MEAN.search(latency[tid]["rest"]))
    }
    waited = {tid: (int(row["woken_ns"]) + int(row["preempted_ns"])) * 1e-6 for tid, row in own.items()}
    left = {
        tid: int(row["voluntary_switches"]) + int(row["involuntary_switches"]) for tid, row in own.items()
    }
    return {
        "running, perf sched latency": sum(int(own[tid]["running_ns"]) for tid in delay)
        * 1e-6
        / sum(float(latency[tid]["running"]) for tid in delay),
        "running, schedstat": sum(int(row["running_ns"]) for row in own.values())
        / sum(int(lanes[tid]["run_ns"]) for tid in own),
        "switches, events of perf": sum(left.values()) / sum(switches.get(tid, 0) for tid in own),
        "waiting, perf sched latency": sum(waited[tid] for tid in delay) / sum(delay.values()),
        "waiting, schedstat": sum(waited.values())
        / (sum(int(lanes[tid]["run_delay_ns"]) for tid in own) * 1e-6),
    }


def _switches_in(data: str) -> dict[int, int]:
    """How often each thread left a CPU, by thread, in the events that perf recorded."""
    counts: dict[int, int] = {}
    for line in finished(["perf", "script", "-i", data, "-F", "event,trace"], _TIMEOUT_S).splitlines():
        if switch := _SWITCH.search(line):
            tid = int(switch[1] or switch[2])
            counts[tid] = counts.get(tid, 0) + 1
    return counts

"""What recording the operating system's scheduler costs, beside `perf sched record`, and whether both say the same."""

from __future__ import annotations

import math
import random
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.model import Run
from trimtab.paths import scheduler_recorder
from trimtab.readers import open_run

from benchmarks.machine import Patience, Watch
from benchmarks.measure import measure_all
from benchmarks.running import BenchError, finished, make

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
    make(root, "benchmarks", programs)
    make(root, "workloads", workloads)
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


def _recorder(folder: str) -> list[str]:
    """The command that records the scheduler, whatever runs."""
    return [str(scheduler_recorder()), f"{folder}/scheduler", "1", "bench"]


def _problem() -> str:
    """Why nothing can be recorded; empty: it can."""
    with tempfile.TemporaryDirectory() as folder:
        command = _recorder(folder)
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
            command = _recorder(folder)
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
        "ratios": {
            name: [round(one[name], 5) for one in found if not math.isnan(one[name])] for name in found[0]
        },
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
        finished(["perf", "sched", "record", "-o", data, "--", *_watched(case, workloads, run)], _TIMEOUT_S)
        recorded = open_run(run)
        lanes = _threads_of_openmp(recorded)
        own = {int(row["tid"]): row for row in recorded.schedulers[0].threads if int(row["tid"]) in lanes}
        latency, switches = _latency_in(data), _switches_in(data)
    if not own:
        raise BenchError(f"{case.title}: expected threads in both recordings, found none")
    both = [tid for tid in own if tid in latency]
    return {
        "running, perf sched latency": _ratio(
            sum(_running_s(own[tid]) for tid in both), sum(latency[tid][0] for tid in both)
        ),
        "running, schedstat": _ratio(
            sum(map(_running_s, own.values())), sum(int(lanes[tid]["run_ns"]) for tid in own) * 1e-9
        ),
        "switches, events of perf": _ratio(
            sum(map(_switches, own.values())), sum(switches.get(tid, 0) for tid in own)
        ),
        "waiting, perf sched latency": _ratio(
            sum(_waiting_s(own[tid]) for tid in both), sum(latency[tid][1] for tid in both)
        ),
        "waiting, schedstat": _ratio(
            sum(map(_waiting_s, own.values())), sum(int(lanes[tid]["run_delay_ns"]) for tid in own) * 1e-9
        ),
    }


def _ratio(ours: float, other: float) -> float:
    """Not a number where the other has nothing."""
    return ours / other if other > 0 else math.nan


def _watched(case: _Agreement, workloads: Path, run: str) -> list[str]:
    """The command that records the program, with its threads that sleep while they wait."""
    environment = ["env", f"OMP_NUM_THREADS={case.threads}", "OMP_WAIT_POLICY=passive"]
    program = [str(workloads / f"{case.program}-gcc"), "--no-check"]
    return [*environment, "trimtab", "run", "--kernel", "--tune=off", "-q", "-o", run, "--", *program]


def _threads_of_openmp(recorded: Run) -> dict[int, dict[str, Any]]:
    """The headers of lanes of threads that the program has made, by thread."""
    headers = [lane.header for process in recorded.processes for lane in process.lanes]
    return {int(header["tid"]): header for header in headers if header["tid"] and not header["is_main"]}


def _running_s(row: Any) -> float:
    return int(row["running_ns"]) * 1e-9


def _waiting_s(row: Any) -> float:
    return (int(row["woken_ns"]) + int(row["preempted_ns"])) * 1e-9


def _switches(row: Any) -> int:
    return int(row["voluntary_switches"]) + int(row["involuntary_switches"])


def _latency_in(data: str) -> dict[int, tuple[float, float]]:
    """Seconds on CPUs, and waiting for one, by thread, as `perf sched latency` has them."""
    found = {}
    for line in finished(["perf", "sched", "latency", "-i", data, "-p"], _TIMEOUT_S).splitlines():
        row = _LATENCY.match(line)
        mean = _MEAN.search(row["rest"]) if row else None
        if row and mean:
            waiting_ms = int(row["waits"]) * float(mean[1])
            found[int(row["tid"])] = (float(row["running"]) * 1e-3, waiting_ms * 1e-3)
    return found


def _switches_in(data: str) -> dict[int, int]:
    """How often each thread left a CPU, by thread, in the events that perf recorded."""
    printed = finished(["perf", "script", "-i", data, "-F", "event,trace"], _TIMEOUT_S)
    return Counter(int(switch[1] or switch[2]) for switch in _SWITCH.finditer(printed))

"""Threads of the mathematical libraries of Python programs: each process, and each pool in it, may start one for each CPU."""

from __future__ import annotations

import re
from pathlib import Path

from trimtab.tuning.multi_run import Start
from trimtab.tuning.start import BLAS_VARIABLES, THREAD_VARIABLES, group_of
from trimtab.tuning.start_situation import WIDE, Situation

_PYTHON = re.compile(r"(python|pypy|ipython)[0-9.]*")
_MUCH_DELAY = 0.03
# CPUs that were used beyond those of the threads that are known.
_UNKNOWN_CPUS = 0.2


def blas_starts(situation: Situation) -> list[Start]:
    """The CPUs divided among the processes, and one thread for each of them."""
    # With any of these the user has said how many threads there are to be, OMP_NUM_THREADS included: the libraries read it.
    if not situation.is_open(*group_of(BLAS_VARIABLES[0]), *THREAD_VARIABLES):
        return []
    processes = _python_processes(situation)
    reason = _reason(situation, processes)
    if processes == 0 or not reason:
        return []
    counts = dict.fromkeys((max(1, int(situation.cpus) // processes), 1))
    if processes == 1:
        counts.pop(int(situation.cpus), None)  # as they are without a setting
    return [_start(count, processes, reason) for count in counts]


def _start(count: int, processes: int, reason: str) -> Start:
    # OpenMP's own number only where several processes share the CPUs: one process may need its regions' threads.
    names = [*BLAS_VARIABLES, *(["OMP_NUM_THREADS"] if processes > 1 else [])]
    return Start(dict.fromkeys(names, str(count)), reason)


def _python_processes(situation: Situation) -> int:
    """Most at a time."""
    lives = [
        (process.begin_s, process.begin_s + process.wall_s)
        for process in situation.report.processes
        if process.command and _PYTHON.fullmatch(Path(process.command[0]).name)
    ]
    return max((sum(begin <= start < end for begin, end in lives) for start, _ in lives), default=0)


def _reason(situation: Situation, processes: int) -> str:
    report = situation.report
    delay = situation.share("run_delay")
    if delay > _MUCH_DELAY:
        return f"threads of {processes} Python processes waited for a CPU {delay:.0%} of the time"
    used = report.os.cpu_s / report.observed_s if report.observed_s > 0 else 0.0
    if not report.regions and used > processes + _UNKNOWN_CPUS:
        return f"{used:.3g} CPUs were used by {processes} Python processes without OpenMP: by threads of their libraries"
    return WIDE if situation.is_wide else ""

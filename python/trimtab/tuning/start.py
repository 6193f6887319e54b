"""What can only be set before a program starts: it reads these itself, so that its arrays and loops agree with them."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from trimtab.doctor.cgroup import find_quota
from trimtab.doctor.check import Machine

# The number of threads that the user wants, whatever else: then it is none of ours.
_THREADS = (
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OMP_DYNAMIC",
    "KMP_ALL_THREADS",
    "KMP_DEVICE_THREAD_LIMIT",
)
_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY")
_GROUPS = (frozenset(_THREADS), frozenset(_WAITING))
# libgomp's own for a team of more threads than CPUs: spins through short regions, whose threads would otherwise have to be
# woken for each, and is asleep some 15 us into any longer wait.
_SPINS_BESIDE_OTHERS = "1000"
# What has just ended, or ends with our own start, is over within a block of looks; who is there in all of them stays.
_BLOCKS = 4
_LOOKS = 9
_LOOK_S = 0.004


@dataclass(frozen=True)
class StartValue:
    """An environment variable of the program, and why it has this value."""

    name: str
    value: str
    reason: str


def is_left_open(name: str, environment: Mapping[str, str]) -> bool:
    """Whether the user has set neither this variable nor another one that says the same thing."""
    alike = {name}.union(*(group for group in _GROUPS if name in group))
    return not alike & environment.keys()


def start_values(
    environment: Mapping[str, str],
    *,
    machine: Machine | None = None,
    cpus: int | None = None,
    runnable: Callable[[], float] | None = None,
) -> list[StartValue]:
    """Values for what the user has left open.

    Args:
        environment: as the program would get it.
        machine: where quotas are read.
        cpus: CPUs that the program may use; None: of this process.
        runnable: how many threads of others want a CPU now.
    """
    found: list[StartValue] = []
    available = cpus if cpus is not None else len(os.sched_getaffinity(0))
    quota = find_quota(machine if machine is not None else Machine(Path("/")))
    threads = available
    if is_left_open("OMP_NUM_THREADS", environment) and quota is not None and quota.cpus is not None:
        # Rounded down: whoever has more threads than quota stands still together until the next period.
        threads = max(1, int(quota.cpus))
        if threads < available:
            reason = f"the control group may use {quota.cpus:g} of {available} CPUs"
            found.append(StartValue("OMP_NUM_THREADS", str(threads), reason))
    if is_left_open("GOMP_SPINCOUNT", environment):
        others = (runnable if runnable is not None else runnable_others)()
        # libgomp alone spins without ever looking whether others want the CPU; LLVM's runtime yields it.
        if others + threads > available + 0.5 and others >= 0.5:
            reason = f"{others:g} threads of other programs want a CPU"
            told = f"{reason}: who spins long at a barrier is in the way"
            found.append(StartValue("GOMP_SPINCOUNT", _SPINS_BESIDE_OTHERS, told))
    return found


def runnable_others(root: Path = Path("/proc")) -> float:
    """Threads that run or want to, but for this one, for 0.14 s at least; 0 where the kernel does not tell."""
    least = float("inf")
    for _ in range(_BLOCKS):
        least = min(least, _runnable_now(root))
        if least == 0:
            break
    return least


def _runnable_now(root: Path) -> float:
    """The median of several looks."""
    looks: list[int] = []
    for _ in range(_LOOKS):
        try:
            text = (root / "stat").read_text(encoding="ascii")
        except OSError:
            return 0.0
        for line in text.splitlines():
            if line.startswith("procs_running "):
                looks.append(max(int(line.split()[1]) - 1, 0))
        time.sleep(_LOOK_S)
    return float(statistics.median(looks)) if looks else 0.0

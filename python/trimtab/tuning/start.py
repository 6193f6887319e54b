"""What can only be set before a program starts: it reads these itself, so that its arrays and loops agree with them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from trimtab import machine as the_machine
from trimtab.cgroup import find_quota
from trimtab.machine_files import Machine

# Variables that say the same thing: where the user has set one of a group, all of it is none of ours.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OMP_DYNAMIC",
    "KMP_ALL_THREADS",
    "KMP_DEVICE_THREAD_LIMIT",
)
WAITING_VARIABLES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY")
PLACEMENT_VARIABLES = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_HW_SUBSET")
BLAS_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_OTHER_BLAS_VARIABLES = ("GOTO_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_DYNAMIC")
PRELOAD_VARIABLE = "LD_PRELOAD"
INTERLEAVE_VARIABLE = "TRIMTAB_INTERLEAVE"
_GROUPS = tuple(
    frozenset(names)
    for names in (
        THREAD_VARIABLES,
        WAITING_VARIABLES,
        PLACEMENT_VARIABLES,
        (*BLAS_VARIABLES, *_OTHER_BLAS_VARIABLES),
    )
)
# libgomp's own for a team of more threads than CPUs: spins through short regions, whose threads would otherwise have to be
# woken for each, and is asleep some 15 us into any longer wait.
_SPINS_BESIDE_OTHERS = "1000"
# What has just ended, or ends with our own start, is over within a block; who is there in all of them stays.
_BLOCKS = 4
_BLOCK_S = 0.04
# Of a block, and of all of them, how much of a CPU's time makes it taken; the kernel counts in ticks of 10 ms.
_TAKEN_IN_A_BLOCK = 0.3
_TAKEN = 0.8


@dataclass(frozen=True)
class StartValue:
    """An environment variable of the program, and why it has this value."""

    name: str
    value: str
    reason: str


def is_left_open(name: str, environment: Mapping[str, str]) -> bool:
    """Whether the user has set neither this variable nor another one that says the same thing."""
    return not group_of(name) & environment.keys()


def group_of(name: str) -> set[str]:
    """The variable, and those that say the same thing.

    >>> sorted(group_of("KMP_LIBRARY"))
    ['GOMP_SPINCOUNT', 'KMP_BLOCKTIME', 'KMP_LIBRARY', 'OMP_WAIT_POLICY']
    """
    return {name}.union(*(group for group in _GROUPS if name in group))


def start_values(
    environment: Mapping[str, str],
    *,
    machine: Machine | None = None,
    cpus: int | None = None,
    are_cpus_taken: Callable[[], bool] | None = None,
) -> list[StartValue]:
    """Values for what the user has left open.

    Args:
        environment: as the program would get it.
        machine: where quotas are read.
        cpus: CPUs that the program may use; None: of this process.
        are_taken: whether others keep all of them busy; None: looks.
    """
    starts: list[StartValue] = []
    available = cpus if cpus is not None else len(os.sched_getaffinity(0))
    quota = find_quota(machine if machine is not None else Machine(Path("/")))
    threads = available
    if is_left_open("OMP_NUM_THREADS", environment) and quota is not None and quota.cpus is not None:
        # Rounded down: whoever has more threads than quota stands still together until the next period.
        threads = max(1, int(quota.cpus))
        if threads < available:
            reason = f"the control group may use {quota.cpus:g} of {available} CPUs"
            starts.append(StartValue("OMP_NUM_THREADS", str(threads), reason))
    # libgomp alone spins without ever looking whether others want the CPU; LLVM's runtime yields it. While a CPU is free, the
    # scheduler has a place for who is not waiting, and threads that sleep lose theirs to the others.
    looks = are_cpus_taken if are_cpus_taken is not None else cpus_are_taken
    if is_left_open("GOMP_SPINCOUNT", environment) and looks():
        spin_reason = "other programs keep all its CPUs busy: who spins long at a barrier is in the way"
        starts.append(StartValue("GOMP_SPINCOUNT", _SPINS_BESIDE_OTHERS, spin_reason))
    return starts


def cpus_are_taken(
    root: Path = Path("/proc"), *, cpus: Collection[int] | None = None, nice: int | None = None
) -> bool:
    """Whether others keep each of these CPUs busy for 0.16 s; False where the kernel does not tell.

    Who has a lower priority than the program does not count, since it gets next to nothing beside it.

    Args:
        root: where the kernel's files are.
        cpus: their numbers; None: those that this process may use.
        nice: the program's own; None: that of this process.
    """
    usable_cpus = os.sched_getaffinity(0) if cpus is None else cpus
    counts_nice = (os.getpriority(os.PRIO_PROCESS, 0) if nice is None else nice) > 0

    def look() -> tuple[float, list[float]]:
        """When, and how many seconds each of them was busy until then."""
        times = the_machine.cpu_times(root)
        found = (times.get(f"cpu{cpu}", the_machine.CpuTimes(0, 0, 0)) for cpu in usable_cpus)
        return time.monotonic(), [each.busy_s - (0 if counts_nice else each.nice_s) for each in found]

    looks = [look()]
    for _ in range(_BLOCKS):
        time.sleep(_BLOCK_S)
        looks.append(look())
        if not _are_taken(looks[-2], looks[-1], _TAKEN_IN_A_BLOCK):
            return False
    return _are_taken(looks[0], looks[-1], _TAKEN)


def _are_taken(before: tuple[float, list[float]], after: tuple[float, list[float]], share: float) -> bool:
    least = share * (after[0] - before[0])
    return all(now - then >= least for then, now in zip(before[1], after[1], strict=True))

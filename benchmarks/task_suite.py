"""What is measured of the task runtime, and beside which systems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

OURS = "trimtab"
# Each has a program of the same cases; what must be there for it, and what to do where it is not.
PEERS = ("tbb", "libgomp", "libomp")
COROUTINES = "coroutines"
RECORDED = "recorded"  # OURS under `trimtab run`, at profile level
SERIAL = "std"
_NEEDED = {
    "tbb": ("/usr/include/oneapi/tbb.h", "libtbb-dev"),
    "libomp": ("/usr/lib/llvm-19/lib/libomp.so", "libomp-19-dev"),
    COROUTINES: ("/usr/bin/clang++-19", "clang-19"),
}
NAMES = {
    OURS: "Trimtab",
    RECORDED: "Trimtab, recorded",
    COROUTINES: "Trimtab, clang 19",
    "tbb": "oneTBB",
    "libgomp": "libgomp 12",
    "libomp": "libomp 19",
    SERIAL: "std, one thread",
}


def missing(system: str) -> str | None:
    """The package that would make it available; None where it is."""
    path, package = _NEEDED.get(system, ("/", ""))
    return None if Path(path).exists() else package


@dataclass(frozen=True)
class TaskCase:
    """The same thing done by several systems, in turn."""

    name: str  # of the programs
    title: str
    figure: str  # what a program prints that is compared
    unit: str
    workers: int
    size: int
    repeats: int
    systems: tuple[str, ...]
    rounds: int

    @property
    def heading(self) -> str:
        """For tables and progress."""
        return f"{self.title}, {self.workers} worker{'s'[: self.workers > 1]}"


def task_cases(is_smoke: bool, rounds: int, workers: int) -> list[TaskCase]:
    """Every case; at most so many workers."""
    all_of_them = (OURS, *PEERS)
    two = min(2, workers)
    result: list[TaskCase] = []

    def add(
        name: str,
        title: str,
        figure: str,
        unit: str,
        teams: tuple[int, ...],
        sizes: tuple[int, int],
        repeats: int,
        systems: tuple[str, ...] = all_of_them,
        most_rounds: int = 1000,
    ) -> None:
        for team in sorted(set(teams)):
            size = sizes[is_smoke]
            often = 1 if is_smoke else repeats
            result.append(
                TaskCase(name, title, figure, unit, team, size, often, systems, min(rounds, most_rounds))
            )

    add("fork_join", "fork-join (fib)", "ns", "ns/task", (1, two), (29, 16), 5, (OURS, RECORDED, *PEERS))
    add("futures", "futures (fib)", "ns", "ns/task", (1, two), (28, 16), 5, (OURS,))
    add("coroutines", "coroutines (fib)", "ns", "ns/task", (1, two), (28, 16), 5, (COROUTINES,))
    add("flat", "flat, empty tasks", "ns", "ns/task", (1, two), (1_000_000, 10_000), 5)
    add("stencil", "stencil of futures, METG(50 %)", "metg", "us", (two,), (1 << 16, 1 << 9), 3)
    add("ring", "heat ring (1D)", "s", "s", (1, two), (10_000_000, 100_000), 3, (OURS, "libgomp", "libomp"))
    add("skynet", "skynet, 11 M tasks", "peak_kb", "MB", (two,), (7, 3), 1, all_of_them, 3)
    for order in ("oldest", "newest"):
        title = f"ten futures a level, awaited {order} first"
        add(f"await_{order}", title, "ns", "ns/task", (1, two), (6, 3), 3, (OURS,))
        # By another name: rows are found by name and workers.
        add(f"await_{order}_memory", f"{title}, 11 M tasks", "peak_kb", "MB", (two,), (7, 3), 1, (OURS,), 3)
    add(
        "suspended",
        "suspended: 1 M that wait",
        "peak_kb",
        "MB",
        (1,),
        (1_000_000, 1000),
        1,
        (OURS, COROUTINES),
        3,
    )
    # Algorithms: one worker beside what the standard library does with one thread.
    for systems, teams in (((OURS, SERIAL, *PEERS), (1,)), (all_of_them, (2,) if two > 1 else ())):
        add("loop", "loop: y += 3 x, 10 M", "ns", "ns", teams, (10_000_000, 10_000), 9, systems)
        add("short_loops", "the same over 1,000, a loop", "ns", "ns", teams, (5_000, 10), 9, systems)
        add("reduce", "sum of 10 M", "ns", "ns", teams, (10_000_000, 10_000), 9, systems)
        add("scan", "inclusive scan of 10 M", "ns", "ns", teams, (10_000_000, 10_000), 9, systems)
        add("sort", "sort of 2 M random numbers", "ns", "ns", teams, (2_000_000, 10_000), 5, systems)
    return result

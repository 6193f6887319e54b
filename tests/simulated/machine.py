"""The machine that a simulated program runs on: how long its runtime's steps take, and who takes CPUs away."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

US = 1_000
MS = 1_000_000


@dataclass(frozen=True)
class Hog:
    """Another program on one CPU: it takes the CPU for each of these times, [begin, end) in nanoseconds, ascending."""

    cpu: int
    slices: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Machine:
    """Lane n runs on CPU n. Times in nanoseconds.

    Attributes:
        cpus: that the process may use.
        wake_ns: from when a sleeping lane is woken until it goes on.
        fork_ns: to fork a region, and to join it.
        dispatch_ns: to hand out a chunk of a loop.
        spawn_ns: to make a task.
        fetch_ns: between two tasks of a worker that finds the next one in its own queue.
        steal_ns: to take a task from another worker's queue.
        look_ns: a worker looks for a task for so long before it sleeps.
        hogs: other programs.
    """

    cpus: int
    wake_ns: int = 20 * US
    fork_ns: int = 2 * US
    dispatch_ns: int = 100
    spawn_ns: int = 150
    fetch_ns: int = 100
    steal_ns: int = 500
    look_ns: int = 5 * US
    hogs: tuple[Hog, ...] = ()

    def but(self, **changed: object) -> Machine:
        """The same machine but for these."""
        return replace(self, **changed)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Pause:
    """A lane had no CPU from `begin` to `end`, though it could have gone on."""

    begin: int
    end: int


class Cpu:
    """When a lane may run: always but for a hog's slices."""

    def __init__(self, machine: Machine, number: int) -> None:
        slices = sorted(
            taken for hog in machine.hogs if hog.cpu == number % machine.cpus for taken in hog.slices
        )
        self._begins = [begin for begin, _ in slices]
        self._ends = [end for _, end in slices]

    def free_at(self, time: int) -> int:
        """The first moment from `time` on at which the CPU is free."""
        at = bisect_right(self._begins, time) - 1
        return max(time, self._ends[at]) if at >= 0 else time

    def compute(self, begin: int, work: int) -> tuple[int, list[Pause]]:
        """When that much work ends that begins then, and when it had no CPU meanwhile."""
        pauses = []
        now, left = begin, work
        while True:
            free = self.free_at(now)
            if free > now and left > 0:
                pauses.append(Pause(now, free))
            now = max(now, free) if left > 0 else now
            at = bisect_right(self._begins, now)
            until = self._begins[at] if at < len(self._begins) else now + left
            if now + left <= until:
                return now + left, pauses
            left -= until - now
            now = until

"""The clock of a simulation: processes that run until they wait for time to pass or for a signal."""

from __future__ import annotations

import heapq
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TypeAlias

# What a process waits for: so many nanoseconds, or until a signal is sent.
Process: TypeAlias = "Generator[int | Signal, None, None]"


@dataclass(eq=False)
class Signal:
    """Wakes all processes that wait for it, at the moment when it is sent."""

    engine: Engine
    waiting: list[Process] = field(default_factory=list)

    def send(self) -> None:
        """Processes that begin to wait later wait for the next one."""
        woken, self.waiting = self.waiting, []
        for process in woken:
            self.engine.start(process)


class Engine:
    """Runs processes in simulated time, nanoseconds. What happens at one moment happens in the order in which it was caused."""

    def __init__(self) -> None:
        self.now = 0
        self._order = 0
        self._due: list[tuple[int, int, Process]] = []

    def start(self, process: Process, after: int = 0) -> None:
        """The process goes on `after` nanoseconds from now."""
        self._order += 1
        heapq.heappush(self._due, (self.now + after, self._order, process))

    def run(self) -> int:
        """Until nothing can go on any more; returns when the last process ended or began to wait."""
        while self._due:
            self.now, _, process = heapq.heappop(self._due)
            wanted = next(process, None)
            if isinstance(wanted, Signal):
                wanted.waiting.append(process)
            elif wanted is not None:
                self.start(process, wanted)
        return self.now

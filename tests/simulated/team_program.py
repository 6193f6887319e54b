"""A program with parallel regions, as its author sees it: phases, and what each lane has to do in them. Times in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Work:
    """So much for each lane."""

    times: tuple[int, ...]


@dataclass(frozen=True)
class Loop:
    """A worksharing loop: what each iteration takes. A chunk of 0 iterations: one block for each lane (static)."""

    times: tuple[int, ...]
    chunk: int = 0
    has_barrier: bool = False


@dataclass(frozen=True)
class Barrier:
    """Explicit."""


@dataclass(frozen=True)
class Critical:
    """Each lane enters the same critical section this often: works outside for `between`, then holds it for `held`."""

    turns: int
    between: tuple[int, ...]
    held: int


Step: TypeAlias = "Work | Loop | Barrier | Critical"


@dataclass(frozen=True)
class Serial:
    """Outside of regions: only the first lane works."""

    time: int


@dataclass(frozen=True)
class Region:
    """One instance of a parallel region; those with one name are instances of the same one."""

    name: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class TeamProgram:
    """Lanes that work in the same regions, one phase after another."""

    lanes: int
    phases: tuple[Serial | Region, ...]

    @property
    def work_ns(self) -> int:
        """All that it has to compute."""
        return sum(_work_of(phase, self.lanes) for phase in self.phases)


def _work_of(phase: Serial | Region, lanes: int) -> int:
    if isinstance(phase, Serial):
        return phase.time
    return sum(
        sum(step.times)
        if isinstance(step, (Work, Loop))
        else step.turns * (sum(step.between) + step.held * lanes)
        if isinstance(step, Critical)
        else 0
        for step in phase.steps
    )

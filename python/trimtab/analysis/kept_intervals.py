"""Intervals that a report was made of, kept for pictures of the same run's lanes, which are made next."""

from __future__ import annotations

from dataclasses import dataclass, field

from trimtab.analysis import compiled
from trimtab.traces.intervals import Intervals


@dataclass(frozen=True)
class KeptIntervals:
    """By process. Of a long trace each entry takes hundreds of megabytes: whoever takes one decides how long it stays."""

    _own: dict[str, tuple[Intervals, compiled.Table | None]] = field(default_factory=dict)

    def keep(self, process: str, intervals: Intervals, charges: compiled.Table | None = None) -> None:
        """All intervals of a process, and the charges of its waits, if they are known."""
        self._own[process] = intervals, charges

    def take(self, process: str) -> tuple[Intervals, compiled.Table | None] | None:
        """What was kept of a process, once; None: nothing."""
        return self._own.pop(process, None)

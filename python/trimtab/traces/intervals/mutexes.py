"""Tasks of a runtime that wait for mutexes, and what workers without a task wait for meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.model.enumerations import EventKind, WaitCause
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import among
from trimtab.traces.intervals.model import Doing, Integers
from trimtab.traces.intervals.moments import union
from trimtab.traces.intervals.pieces import Pieces, joined


@dataclass(frozen=True)
class MutexWaits:
    """Suspensions for mutexes that ended.

    Attributes:
        low, high: times in which any task waited. They follow each other.
    """

    low: Integers
    high: Integers

    @staticmethod
    def of(lanes: Sequence[LaneParts]) -> MutexWaits:
        tables = [_resumptions(parts) for parts in lanes]
        at, waited = (np.concatenate([table[column] for table in tables]) for column in range(2))
        return MutexWaits(*union(at - waited, at))

    def while_locked(self, pieces: Pieces) -> Pieces:
        """A lane's pieces; while tasks wait for mutexes its waits for inputs are for these: with the mutex free, it would have a task."""
        is_wait = among(pieces.doing, (int(Doing.DEPENDENCE),)) & (pieces.release > pieces.low)
        if not is_wait.any() or not len(self.low):
            return pieces
        waits = pieces.pick(is_wait)
        end = np.minimum(waits.release, waits.high)
        # The last time that begins before the wait ends: it may begin in it.
        at = np.searchsorted(self.low, end) - 1
        low = np.clip(np.where(at >= 0, self.low[at], end), waits.low, end)
        high = np.clip(np.where(at >= 0, self.high[at], end), low, end)
        before, locked, after = (waits.pick(np.arange(len(end))) for _ in range(3))
        before.high[:], locked.low[:], locked.high[:], after.low[:] = low, low, high, high
        locked.doing[:] = int(Doing.TASK_LOCK)
        parts = [part.pick(part.high > part.low) for part in (before, locked, after)]
        return joined([pieces.pick(~is_wait), *parts])


def _resumptions(parts: LaneParts) -> tuple[Integers, Integers]:
    """When tasks went on, and how long each had waited."""
    events = parts.lane.events
    own = events[(events["kind"] == EventKind.TASK_RESUMED) & (events["arg"] == WaitCause.MUTEX)]
    at = np.maximum(own["ticks"].astype(np.int64) - parts.start, 0)
    return at, np.minimum(own["b"].astype(np.int64), at)

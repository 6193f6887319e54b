"""What a process would take with a change: its recorded steps run again, on paper (rooms/diagnosis, `replay`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis import compiled
from trimtab.analysis.step_work import Floats
from trimtab.traces.steps import Steps


@dataclass(frozen=True, eq=False)
class Change:
    """How a replay differs from the recorded run.

    Attributes:
        factor: what the length of each piece is multiplied by, shape (pieces,); None: as recorded.
        more_workers: so many workers take tasks, too.
        has_locks: whether steps wait for locks.
        has_leads: whether steps begin as late as recorded after they could; without, they still wait for CPUs.
        has_delays: whether lanes wait for CPUs before steps.
        kept_links: which links there are, shape (links,); None: all.
    """

    factor: Floats | None = None
    more_workers: int = 0
    has_locks: bool = True
    has_leads: bool = True
    has_delays: bool = True
    kept_links: NDArray[np.bool_] | None = None


class Replays:
    """Replays of one process.

    The replay keeps the recorded order of tasks in queues, and of those who hold a lock.
    """

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    @cached_property
    def unchanged_ns(self) -> int:
        """What the replay of the recorded run takes."""
        return self.end_ns(Change())

    @property
    def error(self) -> float:
        """By how much that differs from the recorded time, as a share of it."""
        return self.unchanged_ns / max(self.steps.span_ns, 1) - 1.0

    def saved_s(self, change: Change) -> float:
        """By how much shorter the process would be with a change, seconds; below 0: longer.

        Raises:
            CompiledError: steps wait for each other.
        """
        scale = self.steps.span_ns / max(self.unchanged_ns, 1)
        return (self.unchanged_ns - self.end_ns(change)) * scale * 1e-9

    def end_ns(self, change: Change) -> int:
        """When the last step ends, nanoseconds from the first one's begin.

        Raises:
            CompiledError: steps wait for each other.
        """
        steps, pieces = self.steps, self.steps.pieces
        length = pieces.length_ns * (change.factor if change.factor is not None else 1.0)
        before = np.concatenate([[0.0], np.cumsum(length)])
        table = np.zeros(len(steps), compiled.STEP)
        table["duration_ns"] = steps.clock_ns
        own = np.bincount(pieces.step, weights=length, minlength=len(steps))
        table["duration_ns"] += np.rint(own).astype(np.int64)
        table["lead_ns"] = self._leads(change)
        table["recorded_begin_ns"] = steps.begin_ns
        table["lane"] = np.where(steps.is_pooled | (steps.lane < 0), compiled.NO_LANE, steps.lane)
        table["pooled"] = steps.is_pooled
        begun = compiled.replay(
            table,
            self._links(change, before),
            steps.lanes + change.more_workers,
            steps.workers + change.more_workers if steps.workers else 0,
        )
        return int((begun["begin_ns"] + table["duration_ns"]).max())

    def _leads(self, change: Change) -> NDArray[np.int64]:
        """Who does not wait for a lock is not woken, either."""
        steps = self.steps
        leads = steps.lead_ns if change.has_leads else steps.delay_ns
        if not change.has_delays:
            leads = leads - steps.delay_ns
        if not change.has_locks:
            leads = leads.copy()
            leads[steps.links.to_step[steps.links.is_lock]] = 0
        return leads

    def _links(self, change: Change, before: Floats) -> compiled.Table:
        links = self.steps.links
        is_kept = np.ones(len(links.to_step), np.bool_) if change.kept_links is None else change.kept_links
        chosen = np.flatnonzero(is_kept if change.has_locks else is_kept & ~links.is_lock)
        piece, from_step = links.from_piece[chosen], links.from_step[chosen]
        is_inside = piece >= 0
        first = np.maximum(self.steps.first_piece[from_step], 0)
        at = np.maximum(piece, 0)
        share = links.within_ns[chosen] / np.maximum(self.steps.pieces.length_ns[at], 1)
        moment = before[at] - before[first] + share * (before[at + 1] - before[at])
        table = np.zeros(len(piece), compiled.LINK)
        table["from_step"], table["to_step"] = from_step, links.to_step[chosen]
        table["latency_ns"] = links.latency_ns[chosen] + np.where(is_inside, np.rint(moment), 0).astype(
            np.int64
        )
        table["base"] = np.where(is_inside, compiled.FROM_BEGIN, compiled.FROM_END)
        return table

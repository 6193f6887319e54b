"""Ordered sections: who came through before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.model.enumerations import WaitKind
from trimtab.traces.intervals.lane_parts import LaneParts, begins_of
from trimtab.traces.intervals.lookup import lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Integers
from trimtab.traces.slices import Role


@dataclass(frozen=True)
class Turns:
    """Waits for a turn, by construct, region instance and end: each was ended by the lane whose turn came before.

    Turns come one after the other, so whoever came through last before a wait ends is the one that it waited for.
    """

    lane: Integers
    source: Integers
    before: Integers

    @staticmethod
    def of(lanes: Sequence[LaneParts]) -> Turns:
        columns = [_turns_of(parts, at) for at, parts in enumerate(lanes)]
        lane, source, subject, instance, end = (
            np.concatenate([column[at] for column in columns]) for at in range(5)
        )
        order = np.lexsort((lane, end, instance, subject))
        lane, source, subject, instance = (column[order] for column in (lane, source, subject, instance))
        is_same = np.append(False, (subject[1:] == subject[:-1]) & (instance[1:] == instance[:-1]))
        before = np.where(is_same[: len(lane)], np.roll(lane, 1), NO_LANE)
        return Turns(lane, source, before)

    def giver(self, lane: int, source: Integers) -> Integers:
        """Who had the turn before, of waits of a lane by event; NO_LANE: it was the first, or the lane itself had it."""
        own = np.flatnonzero(self.lane == lane)
        row = values_at(own, lookup(self.source[own] + 1, source + 1), -1)
        before = values_at(self.before, row, NO_LANE)
        return np.where(before == lane, NO_LANE, before)


def _turns_of(parts: LaneParts, at: int) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    begins = begins_of(parts, Role.WAIT)
    begins = begins[parts.event("arg", begins) == WaitKind.ORDERED]
    return (
        np.full(len(begins), at, np.int64),
        parts.slices.source[begins],
        parts.event("subject", begins),
        parts.event("b", begins),
        parts.ends(begins),
    )

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

    Turns come one after the other, so whoever came through last before a wait ends is the one that it waited for. The end
    of a turn is not recorded: it is taken to last until that lane's next event, or until the wait ends.

    Attributes:
        before: the lane that had the turn before; NO_LANE: none.
        left: until when.
    """

    lane: Integers
    source: Integers
    before: Integers
    left: Integers

    @staticmethod
    def of(lanes: Sequence[LaneParts]) -> Turns:
        columns = [_turns_of(parts, at) for at, parts in enumerate(lanes)]
        lane, source, subject, instance, end, following = (
            np.concatenate([column[at] for column in columns]) for at in range(6)
        )
        order = np.lexsort((lane, end, instance, subject))
        lane, source, subject, instance, following = (
            column[order] for column in (lane, source, subject, instance, following)
        )
        is_same = np.append(False, (subject[1:] == subject[:-1]) & (instance[1:] == instance[:-1]))
        before = np.where(is_same[: len(lane)], np.roll(lane, 1), NO_LANE)
        return Turns(lane, source, before, np.roll(following, 1))

    def giver(self, lane: int, source: Integers) -> tuple[Integers, Integers]:
        """Who had the turn before, of waits of a lane by event, and until when.

        NO_LANE: it was the first, or the lane itself had it: then it waits for nobody.
        """
        own = np.flatnonzero(self.lane == lane)
        row = values_at(own, lookup(self.source[own] + 1, source + 1), -1)
        before = values_at(self.before, row, NO_LANE)
        return np.where(before == lane, NO_LANE, before), values_at(self.left, row, 0)


def _turns_of(parts: LaneParts, at: int) -> tuple[Integers, ...]:
    begins = begins_of(parts, Role.WAIT)
    begins = begins[parts.event("arg", begins) == WaitKind.ORDERED]
    behind = np.minimum(parts.slices.partner[begins] + 1, len(parts.slices) - 1)
    return (
        np.full(len(begins), at, np.int64),
        parts.slices.source[begins],
        parts.event("subject", begins),
        parts.event("b", begins),
        parts.ends(begins),
        parts.slices.ticks[behind],
    )

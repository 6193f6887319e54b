"""Who held a lock before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.traces.columns import Groups
from trimtab.traces.intervals.lane_parts import LaneParts, begins_of
from trimtab.traces.intervals.lookup import lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Integers
from trimtab.traces.slices import Role

# Numbers of locks lie above those of subjects.
_NUMBERED = 1 << 32


def locks_of(parts: LaneParts, places: Integers) -> Integers:
    """Which lock each of these begins of lock events is of."""
    number = parts.event("arg", places)
    return np.where(number > 0, _NUMBERED | number, parts.event("subject", places))


@dataclass(frozen=True)
class Holds:
    """How long locks and critical sections were held, by lock and time; `begin` is when the lock was entered.

    `lock`: where it is recorded which lock it is, all places that use it have the same number; else the place is the lock.
    """

    lane: Integers
    source: Integers
    lock: Integers
    subject: Integers
    begin: Integers
    end: Integers

    @staticmethod
    def of(lanes: Sequence[LaneParts]) -> Holds:
        tables = []
        for at, parts in enumerate(lanes):
            begins = begins_of(parts, Role.LOCK)
            length = np.minimum(parts.lane.events["a"][parts.slices.source[begins]], np.uint64(1 << 62))
            end = parts.ends(begins)
            tables.append(
                (
                    np.full(len(begins), at, np.int64),
                    parts.slices.source[begins],
                    locks_of(parts, begins),
                    parts.event("subject", begins),
                    end - length.astype(np.int64),
                    end,
                )
            )
        columns = [np.concatenate([table[at] for table in tables]) for at in range(6)]
        order = np.lexsort((columns[4], columns[2]))
        return Holds(*(column[order] for column in columns))

    def before(self, lane: int, source: Integers) -> tuple[Integers, Integers]:
        """Of entries of a lane, by event: who held the lock before, and until when; NO_LANE: it was free."""
        own = np.flatnonzero(self.lane == lane)
        row = values_at(own, lookup(self.source[own] + 1, source + 1), -1)
        return self.before_rows(lane, row)

    def behind(self, lane: int, subject: Integers, moment: Integers) -> Integers:
        """The entries of a lane, by row, that follow its waits of these places, which ended at these moments; -1: not recorded."""
        own = np.flatnonzero(self.lane == lane)
        own = own[np.lexsort((self.begin[own], self.subject[own]))]
        places = Groups.of(self.subject[own], self.begin[own])
        return values_at(own, places.earliest(subject, moment), -1)

    def before_rows(self, lane: int, row: Integers) -> tuple[Integers, Integers]:
        """The same, of entries by row; nobody before those that are not known (-1)."""
        if not len(self.lock):
            return np.full(len(row), NO_LANE, np.int64), np.full(len(row), -1, np.int64)
        earlier = np.where((row > 0) & (self.lock[row] == self.lock[row - 1]), row - 1, -1)
        holder = values_at(self.lane, earlier, NO_LANE)
        return np.where(holder == lane, NO_LANE, holder), values_at(self.end, earlier, -1)

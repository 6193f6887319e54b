"""Who held a lock before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.traces.intervals.lane_parts import LaneParts, begins_of
from trimtab.traces.intervals.lookup import lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Integers
from trimtab.traces.slices import Role


@dataclass(frozen=True)
class Holds:
    """How long locks and critical sections were held, by subject and time; `begin` is when the lock was entered."""

    lane: Integers
    source: Integers
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
                    parts.event("subject", begins),
                    end - length.astype(np.int64),
                    end,
                )
            )
        columns = [np.concatenate([table[at] for table in tables]) for at in range(5)]
        order = np.lexsort((columns[3], columns[2]))
        return Holds(*(column[order] for column in columns))

    def before(self, lane: int, source: Integers) -> tuple[Integers, Integers]:
        """Of entries of a lane, by event: who held the lock before, and until when; NO_LANE: it was free."""
        own = np.flatnonzero(self.lane == lane)
        row = values_at(own, lookup(self.source[own] + 1, source + 1), -1)
        earlier = np.where((row > 0) & (self.subject[row] == self.subject[row - 1]), row - 1, -1)
        holder = values_at(self.lane, earlier, NO_LANE)
        return np.where(holder == lane, NO_LANE, holder), values_at(self.end, earlier, -1)

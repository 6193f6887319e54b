"""Tasks with identities of lanes that are no workers: when and where they began and ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.model import Integers
from trimtab.traces.slices import Role


@dataclass(frozen=True)
class NumberedTasks:
    """Tasks by identity, ascending; times in ticks since the process began.

    Attributes:
        begin: of the first part.
        end, lane: of the part that ended last.
        part_row, part_lane, part_begin: of all parts of tasks, in order of begin.
    """

    number: Integers
    begin: Integers
    end: Integers
    lane: Integers
    part_row: Integers
    part_lane: Integers
    part_begin: Integers

    @staticmethod
    def of(lanes: Sequence[LaneParts]) -> NumberedTasks:
        number, lane, low, high = _parts_of(lanes)
        numbers, row = np.unique(number, return_inverse=True)
        order = np.lexsort((high, row))
        last = order[np.flatnonzero(np.diff(row[order], append=len(numbers)))]
        first = np.full(len(numbers), np.iinfo(np.int64).max)
        np.minimum.at(first, row, low)
        by_begin = np.argsort(low, kind="stable")
        return NumberedTasks(
            numbers, first, high[last], lane[last], row[by_begin], lane[by_begin], low[by_begin]
        )

    def begins(self, lanes: int) -> tuple[tuple[Integers, Integers], ...]:
        """Of each lane, when parts of tasks began on it, and the rows of these tasks."""
        own = [np.flatnonzero(self.part_lane == at) for at in range(lanes)]
        return tuple((self.part_begin[chosen], self.part_row[chosen]) for chosen in own)


def _parts_of(lanes: Sequence[LaneParts]) -> tuple[Integers, Integers, Integers, Integers]:
    """Identity, lane, begin and end of all parts of tasks with an identity."""
    tables = [(np.empty(0, np.int64),) * 4]
    for at, parts in enumerate(lanes):
        if parts.is_worker:
            continue
        tasks = parts.works[parts.slices.role[parts.works] != Role.WORK]
        tasks = tasks[parts.event("a", tasks) > 0]
        where = np.full(len(tasks), at, np.int64)
        tables.append((parts.event("a", tasks), where, parts.slices.ticks[tasks], parts.ends(tasks)))
    number, lane, low, high = (np.concatenate([table[column] for table in tables]) for column in range(4))
    return number, lane, low, high

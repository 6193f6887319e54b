"""Tasks and chunks of loops that a replay divides into parts. Any lane may take each part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.analysis import compiled
from trimtab.analysis.compiled import LinkColumns, StepColumns
from trimtab.analysis.step_work import Integers
from trimtab.traces.columns import ordered


@dataclass(frozen=True, eq=False)
class Division:
    """Each of these steps becomes several, of equal length; what waits for the step waits for all of them.

    Attributes:
        steps: ascending, shape (divided,).
        parts: into how many each is divided, shape (divided,).
        overhead_ns: from when a lane could begin a further part until it does.
    """

    steps: Integers
    parts: Integers
    overhead_ns: int

    def divided(self, table: StepColumns, links: LinkColumns) -> tuple[StepColumns, LinkColumns]:
        """Steps and links of a replay, with the further parts behind all other steps; they begin right behind the first part.

        Behind these comes, for each divided step, a join of what the step waits for, which takes no time: each part waits for it.
        Otherwise parts that wait for parts would have as many links as both have parts, multiplied.
        """
        if not len(self.steps):
            return table, links
        count = len(table.lane)
        source = np.repeat(np.arange(len(self.steps)), self.parts - 1)
        first = count + np.concatenate([[0], np.cumsum(self.parts - 1)[:-1]]).astype(np.int64)
        number = np.arange(len(source)) - (first[source] - count) + 1  # of each further part, from 1
        duration_ns = table.duration_ns.copy()
        share_ns = duration_ns[self.steps] // self.parts
        duration_ns[self.steps] -= share_ns * (self.parts - 1)
        further = self.steps[source]
        places = np.concatenate([table.recorded_begin_ns, table.recorded_begin_ns[further]])
        order = ordered(places, np.concatenate([np.zeros(count, np.int64), number]))
        places[order] = np.arange(len(places))
        # Joins come last: they take no time and no lane.
        zeros = np.zeros(len(self.steps), np.int64)
        steps = StepColumns(
            np.concatenate([duration_ns, share_ns[source], zeros]),
            np.concatenate([table.lead_ns, np.full(len(source), self.overhead_ns), zeros]),
            np.concatenate([places, zeros]),
            np.concatenate([table.lane, table.lane[further], (zeros + compiled.NO_LANE).astype(np.uint32)]),
            np.concatenate([table.pool, table.pool[further], zeros.astype(np.uint32)]),
        )
        links = self._from_parts(links, count, first, duration_ns[self.steps])
        return steps, self._into_parts(links, count, first, count + len(source))

    def _from_parts(
        self, links: LinkColumns, count: int, first: Integers, length_ns: Integers
    ) -> LinkColumns:
        """What waits for the step waits for all parts. What comes in the middle of the step comes in the middle of a part."""
        place = np.full(count, -1, np.int64)
        place[self.steps] = np.arange(len(self.steps))
        from_step, latency_ns = links.from_step.copy(), links.latency_ns.copy()
        giver = place[from_step]
        is_from_begin = links.base == compiled.FROM_BEGIN
        middle = np.flatnonzero((giver >= 0) & is_from_begin)
        length = np.maximum(length_ns[giver[middle]], 1)
        part_number = np.minimum(latency_ns[middle] // length, self.parts[giver[middle]] - 1)
        is_in_later_part = part_number > 0
        others = np.where(giver >= 0, self.parts[np.maximum(giver, 0)] - 1, 0)
        others[middle] = part_number
        copied = np.repeat(np.arange(len(giver)), others)
        number = np.arange(len(copied)) - np.repeat(np.cumsum(others) - others, others)
        # The parts before the one in which it comes have ended: by number from 0, which is the step itself.
        is_end = ~is_from_begin[copied]
        number += is_end
        from_parts = np.where(number > 0, first[giver[copied]] + number - 1, from_step[copied])
        copied_latency_ns = np.where(is_end, latency_ns[copied], 0)
        latency_ns[middle] -= part_number * length
        from_step[middle[is_in_later_part]] = (
            first[giver[middle]][is_in_later_part] + part_number[is_in_later_part] - 1
        )
        return LinkColumns(
            np.concatenate([from_step, from_parts.astype(np.uint32)]),
            np.concatenate([links.to_step, links.to_step[copied]]),
            np.concatenate([latency_ns, copied_latency_ns]),
            np.concatenate([links.base, np.full(len(copied), compiled.FROM_END, np.uint8)]),
        )

    def _into_parts(self, links: LinkColumns, count: int, first: Integers, first_join: int) -> LinkColumns:
        """With joins in place of the steps that wait, and links from each join to the parts of its step."""
        join = np.arange(count)
        join[self.steps] = first_join + np.arange(len(self.steps))
        entering = int(self.parts.sum())
        begins = np.cumsum(self.parts) - self.parts
        number = np.arange(entering) - np.repeat(begins, self.parts)
        # The step itself is its first part.
        to_part = np.where(
            number == 0, np.repeat(self.steps, self.parts), np.repeat(first, self.parts) + number - 1
        )
        return LinkColumns(
            np.concatenate([links.from_step, np.repeat(join[self.steps], self.parts).astype(np.uint32)]),
            np.concatenate([join[links.to_step].astype(np.uint32), to_part.astype(np.uint32)]),
            np.concatenate([links.latency_ns, np.zeros(entering, np.int64)]),
            np.concatenate([links.base, np.full(entering, compiled.FROM_END, np.uint8)]),
        )

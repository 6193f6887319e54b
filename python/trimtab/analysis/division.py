"""Tasks and chunks of loops that a replay divides into parts. Any lane may take each part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.analysis import compiled
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

    def divided(self, table: compiled.Table, links: compiled.Table) -> tuple[compiled.Table, compiled.Table]:
        """Steps and links of a replay, with the further parts behind all other steps; they begin right behind the first part.

        Behind these comes, for each divided step, a join of what the step waits for, which takes no time: each part waits for it.
        Otherwise parts that wait for parts would have as many links as both have parts, multiplied.
        """
        if not len(self.steps):
            return table, links
        count = len(table)
        of = np.repeat(np.arange(len(self.steps)), self.parts - 1)
        first = count + np.concatenate([[0], np.cumsum(self.parts - 1)[:-1]]).astype(np.int64)
        number = np.arange(len(of)) - (first[of] - count) + 1  # of each further part, from 1
        share_ns = table["duration_ns"][self.steps] // self.parts
        table = np.concatenate([table, table[self.steps[of]]])
        table["duration_ns"][self.steps] -= share_ns * (self.parts - 1)
        table["duration_ns"][count:] = share_ns[of]
        table["lead_ns"][count:] = self.overhead_ns
        order = ordered(table["recorded_begin_ns"], np.concatenate([np.zeros(count, np.int64), number]))
        table["recorded_begin_ns"][order] = np.arange(len(table))
        joins = np.zeros(len(self.steps), compiled.STEP)
        joins["lane"] = compiled.NO_LANE
        first_join = len(table)
        length_ns = table["duration_ns"][self.steps]
        links = self._from_parts(links, count, first, length_ns)
        return np.concatenate([table, joins]), self._into_parts(links, count, first, first_join)

    def _from_parts(
        self, links: compiled.Table, count: int, first: Integers, length_ns: Any
    ) -> compiled.Table:
        """What waits for the step waits for all parts. What comes in the middle of the step comes in the middle of a part."""
        place = np.full(count, -1, np.int64)
        place[self.steps] = np.arange(len(self.steps))
        links = links.copy()
        giver = place[links["from_step"]]
        middle = np.flatnonzero((giver >= 0) & (links["base"] == compiled.FROM_BEGIN))
        length = np.maximum(length_ns[giver[middle]], 1)
        comes_in = np.minimum(links["latency_ns"][middle] // length, self.parts[giver[middle]] - 1)
        is_later = comes_in > 0
        others = np.where(giver >= 0, self.parts[np.maximum(giver, 0)] - 1, 0)
        others[middle] = comes_in
        copies = np.repeat(links, others)
        copied = np.repeat(np.arange(len(links)), others)
        number = np.arange(len(copies)) - np.repeat(np.cumsum(others) - others, others)
        # The parts before the one in which it comes have ended: by number from 0, which is the step itself.
        is_end = links["base"][copied] == compiled.FROM_END
        number += is_end
        copies["from_step"] = np.where(
            number > 0, first[giver[copied]] + number - 1, links["from_step"][copied]
        )
        copies["base"] = compiled.FROM_END
        copies["latency_ns"] = np.where(is_end, links["latency_ns"][copied], 0)
        links["latency_ns"][middle] -= comes_in * length
        links["from_step"][middle[is_later]] = first[giver[middle]][is_later] + comes_in[is_later] - 1
        return np.concatenate([links, copies])

    def _into_parts(
        self, links: compiled.Table, count: int, first: Integers, first_join: int
    ) -> compiled.Table:
        """With joins in place of the steps that wait, and links from each join to the parts of its step."""
        join = np.arange(count)
        join[self.steps] = first_join + np.arange(len(self.steps))
        links["to_step"] = join[links["to_step"]]
        entering = np.zeros(int(self.parts.sum()), compiled.LINK)
        entering["from_step"] = np.repeat(join[self.steps], self.parts)
        begins = np.cumsum(self.parts) - self.parts
        number = np.arange(len(entering)) - np.repeat(begins, self.parts)
        # The step itself is its first part.
        entering["to_step"] = np.where(
            number == 0, np.repeat(self.steps, self.parts), np.repeat(first, self.parts) + number - 1
        )
        entering["base"] = compiled.FROM_END
        return np.concatenate([links, entering])

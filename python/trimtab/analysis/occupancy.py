"""How many workers were busy, and when at most one was, between two moments in which all were.

Times in nanoseconds since the process began.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.eligibility import StepFunction
from trimtab.traces.columns import different, ordered
from trimtab.traces.tasks import Lanes

Integers = NDArray[np.int64]
# With fewer workers "at most one works" says little: of two, one is half of the machine.
LEAST_WORKERS = 4
# A lane that finds its next task within this time was not idle.
_SHORT_GAP_NS = 10_000


@dataclass(frozen=True)
class Occupancy:
    """How many lanes of a group were busy, and how many it had, at each moment: columns of equal length.

    Attributes:
        is_sampled: what lies between two moments is not known; otherwise a count holds until the next one.
    """

    at_ns: Integers
    busy: Integers
    available: Integers
    is_sampled: bool = False

    def free_at(self, ns: int) -> int:
        """How many lanes were free."""
        row = int(np.searchsorted(self.at_ns, ns, side="right")) - 1
        return max(int(self.available[row] - self.busy[row]), 0) if row >= 0 else 0

    def sampled(self, period_ns: int) -> Occupancy:
        """As if somebody had looked every so often, which is how idle regions were published."""
        if not len(self.at_ns):
            return self
        moments = np.arange(self.at_ns[0], self.at_ns[-1] + 1, max(period_ns, 1), dtype=np.int64)
        row = np.searchsorted(self.at_ns, moments, side="right") - 1
        return Occupancy(moments, self.busy[row], self.available[row], True)


@dataclass(frozen=True)
class Dips:
    """Idle regions without their causes.

    Attributes:
        rise_ns: when the number of busy lanes rose above one for the last time; of samples, the last one before that.
        lost_ns: lanes x time in which they were not busy.
    """

    begin_ns: Integers
    end_ns: Integers
    rise_ns: Integers
    lost_ns: Integers

    def __len__(self) -> int:
        return len(self.begin_ns)


def occupancy_of(lanes: Lanes, group: int) -> Occupancy:
    """Of the workers of one runtime; of group 0, the lanes that are no workers, as many as were ever busy at a time."""
    members = np.flatnonzero(np.array(lanes.group) == group)
    chosen = np.isin(lanes.lane, members)
    begin, end = _without_short_gaps(lanes.lane[chosen], lanes.begin_ns[chosen], lanes.end_ns[chosen])
    busy = StepFunction.of(begin, end)
    if group == 0:
        most = int(busy.count.max(initial=0))
        return Occupancy(busy.at_ns, busy.count, np.full(len(busy.count), most, np.int64))
    stopped = np.isin(lanes.capped_lane, members)
    capped = StepFunction.of(lanes.capped_begin_ns[stopped], lanes.capped_end_ns[stopped])
    moments = different(np.concatenate([busy.at_ns, capped.at_ns]))
    return Occupancy(moments, busy.at(moments), len(members) - capped.at(moments))


def _without_short_gaps(lane: Integers, begin: Integers, end: Integers) -> tuple[Integers, Integers]:
    order = ordered(lane, begin)
    lane, begin, end = lane[order], begin[order], end[order]
    is_new = np.ones(len(lane), np.bool_)
    is_new[1:] = (lane[1:] != lane[:-1]) | (begin[1:] - end[:-1] > _SHORT_GAP_NS)
    first = np.flatnonzero(is_new)
    return begin[first], np.maximum.reduceat(end, first) if len(first) else end


def dips_of(occupancy: Occupancy) -> Dips:
    """All lanes busy, then fewer, at some moment one or none, then all again."""
    at, busy, available = occupancy.at_ns, occupancy.busy, occupancy.available
    is_full = (busy >= available) & (available > 1)
    full = np.flatnonzero(is_full)
    # Between two full rows that are no neighbours lies a dip.
    is_dip = np.diff(full) > 1
    first, last = full[:-1][is_dip] + 1, full[1:][is_dip]
    if not len(first):
        nothing = np.empty(0, np.int64)
        return Dips(nothing, nothing, nothing, nothing)
    least = np.minimum.reduceat(np.append(busy, busy[-1:]), np.stack([first, last], axis=1).ravel())[::2]
    first, last = first[least <= 1], last[least <= 1]
    low_rows = np.maximum.accumulate(np.where(busy <= 1, np.arange(len(busy)), -1))
    # What was full in one sample may have begun to fall right after it.
    begin = first - 1 if occupancy.is_sampled else first
    rise = low_rows[last - 1] + (0 if occupancy.is_sampled else 1)
    idle = np.maximum(available - busy, 0)[:-1] * np.diff(at)
    sums = np.concatenate([[0], np.cumsum(idle)])
    return Dips(at[begin], at[last], at[rise], sums[last] - sums[first])


def free_in(occupancy: Occupancy) -> StepFunction:
    """Whether any lane of the group was free, as a count of 0 or 1."""
    is_free = (occupancy.busy < occupancy.available).astype(np.int64)
    return StepFunction(occupancy.at_ns, is_free)

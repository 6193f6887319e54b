"""The teams of parallel regions: who forked, who ended last, and how the parts of a lane compare with others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.model.enumerations import EventKind
from trimtab.traces.intervals.lane_parts import LaneParts, begins_of
from trimtab.traces.intervals.lookup import last_of, lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Integers, Pace
from trimtab.traces.intervals.off_cpu import Absences
from trimtab.traces.slices import Role

# Of a straggler, and of a lane that is slower: times the median.
_STRAGGLER, _LONG_LANE = 2.0, 1.05
# What explains so much of a delay is its cause.
_MOST = 0.5


# So many instances are needed to say what is usual.
_LEAST_INSTANCES = 4


@dataclass(frozen=True)
class Teams:
    """Each lane's parts of regions, by lane and begin, with what is known of their teams.

    Attributes:
        begin, end: of the part.
        lane: by its place.
        fork: when the region was forked; -1: not known.
        forker: the lane that did; NO_LANE: not known.
        last: the lane whose part ended last.
        released: when that was.
    """

    lane: Integers
    begin: Integers
    end: Integers
    instance: Integers
    subject: Integers
    fork: Integers
    forker: Integers
    last: Integers
    released: Integers
    pace: Integers
    first: Integers

    def of_lane(self, lane: int) -> slice:
        """Its rows."""
        return slice(int(self.first[lane]), int(self.first[lane + 1]))

    @staticmethod
    def of(lanes: Sequence[LaneParts], absences: Sequence[Absences]) -> Teams:
        tables = [
            (
                np.full(len(begins), at, np.int64),
                parts.slices.ticks[begins],
                parts.ends(begins),
                parts.event("a", begins),
                parts.event("subject", begins),
                _waited(parts, begins),
                _preempted(parts, begins, absences[at]),
            )
            for at, parts in enumerate(lanes)
            for begins in [parts.works[parts.slices.role[parts.works] == Role.WORK]]
        ]
        lane, begin, end, instance, subject, waited, off_cpu = (
            np.concatenate([table[column] for table in tables]) for column in range(7)
        )
        fork, forker = _forks(lanes, instance)
        last, released = last_of(instance, lane, end)
        first = np.searchsorted(lane, np.arange(len(lanes) + 1))
        pace = _paces(lane, subject, np.maximum(end - begin - waited, 0), off_cpu)
        return Teams(lane, begin, end, instance, subject, fork, forker, last, released, pace, first)


def _waited(parts: LaneParts, begins: Integers) -> Integers:
    """How long parts of regions waited inside, as far as their ends are recorded."""
    ends = parts.slices.partner[begins]
    is_recorded = parts.event("kind", ends) == EventKind.WORK_END
    return np.where(is_recorded, parts.event("b", ends), 0)


def _forks(lanes: Sequence[LaneParts], instance: Integers) -> tuple[Integers, Integers]:
    """When each instance was forked, and by which lane."""
    regions = [begins_of(parts, Role.REGION) for parts in lanes]
    numbers = np.concatenate([parts.event("a", own) for parts, own in zip(lanes, regions, strict=True)])
    at = np.concatenate([parts.slices.ticks[own] for parts, own in zip(lanes, regions, strict=True)])
    by = np.repeat(np.arange(len(lanes)), [len(own) for own in regions])
    place = lookup(numbers, instance)
    return values_at(at, place, -1), values_at(by, place, NO_LANE)


def _preempted(parts: LaneParts, begins: Integers, absences: Absences) -> Integers:
    """How long parts of regions were preempted in their work, not in their waits."""

    def within(slices: Integers) -> Integers:
        until, since = parts.ends(slices), parts.slices.ticks[slices]
        taken: Integers = absences.preempted_until(until) - absences.preempted_until(since)
        return taken

    waits = np.sort(np.concatenate([begins_of(parts, Role.WAIT), begins_of(parts, Role.LOCK_WAIT)]))
    row = np.searchsorted(begins, waits, side="right") - 1
    is_in = row >= 0
    in_waits = np.bincount(row[is_in], weights=within(waits)[is_in], minlength=len(begins))
    preempted: Integers = np.maximum(within(begins) - in_waits.astype(np.int64), 0)
    return preempted


def _paces(lane: Integers, subject: Integers, wall: Integers, off_cpu: Integers) -> Integers:
    """The pace of each part of a region; that others took a lane's CPU makes it neither slow nor a straggler."""
    pace = np.full(len(lane), int(Pace.USUAL), np.int64)
    length = np.maximum(wall - off_cpu, 0)
    for region in np.unique(subject).tolist():
        rows = np.flatnonzero(subject == region)
        own_lanes, place, counts = np.unique(lane[rows], return_inverse=True, return_counts=True)
        medians = np.array([np.median(length[rows[place == at]]) for at in range(len(own_lanes))])
        known = counts[place] >= _LEAST_INSTANCES
        typical = np.maximum(medians[place], 1.0)
        is_long = known & (medians[place] > _LONG_LANE * medians.mean()) & (len(own_lanes) > 1)
        pace[rows[is_long]] = int(Pace.LONG_LANE)
        pace[rows[known & (length[rows] > _STRAGGLER * typical)]] = int(Pace.STRAGGLER)
        others = (medians.sum() - medians[place]) / max(len(own_lanes) - 1, 1)
        late = wall[rows] - others
        is_preempted = (late > (_LONG_LANE - 1) * others) & (off_cpu[rows] > _MOST * late)
        pace[rows[is_preempted]] = int(Pace.PREEMPTED)
    return pace

"""What lies outside of all slices."""

from __future__ import annotations

import numpy as np

from trimtab.model import NO_SUBJECT
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Doing, Integers
from trimtab.traces.intervals.pieces import Pieces, joined, pieces_of_lane
from trimtab.traces.intervals.teams import Teams


def between_tasks(parts: LaneParts, at: int, outsider: int, first_gift: int, end: int) -> Pieces:
    """What a worker's runtime takes between two tasks; before it began and behind its end it waits for the thread outside.

    When that thread makes its first task (`first_gift`) the runtime is there: a worker that has not begun then is about to.
    """
    between = parts.inner < 0
    low, high = parts.low[between], parts.high[between]
    first, last = _life(parts, end)
    begins = parts.slices.ticks[parts.slices.change != 0]
    begun = int(begins[0]) if len(begins) else last
    low, high = np.append(low, first), np.append(high, begun)
    runtime = pieces_of_lane(low, high, at, int(Doing.RUNTIME))
    absent_low, absent_high = np.array([0, last], np.int64), np.array([first, end], np.int64)
    release = np.array([min(first, first_gift), end], np.int64)
    absent = pieces_of_lane(absent_low, absent_high, at, int(Doing.FORK), giver=outsider, release=release)
    both = joined([runtime, absent])
    return both.pick(both.high > both.low)


def _life(parts: LaneParts, end: int) -> tuple[int, int]:
    """When the first and the last event of a lane was recorded."""
    if not len(parts.slices):
        return end, end
    changes = np.flatnonzero(parts.slices.change)
    last = int(parts.slices.ticks[changes[-1]]) if len(changes) else int(parts.slices.ticks[-1])
    states = parts.lane.events["ticks"][:1]
    first = int(states[0]) - parts.start if len(states) else 0
    return min(max(first, 0), int(parts.slices.ticks[0])), last


def outside(parts: LaneParts, at: int, teams: Teams, end: int) -> Pieces:
    """What lies outside of all slices: a lane that forks works alone, others wait for the next region."""
    low, high = _gaps(parts, end)
    if parts.forks or parts.is_main:
        return pieces_of_lane(low, high, at, int(Doing.SERIAL))
    rows = teams.of_lane(at)
    # A gap begins where a part ended, and ends where one begins.
    before = lookup(teams.end[rows] + 1, low + 1)
    before = np.where(before >= 0, before + rows.start, -1)
    after = lookup(teams.begin[rows] + 1, high + 1)
    after = np.where(after >= 0, after + rows.start, -1)
    released = np.clip(values_at(teams.released, before, 0), low, high)
    forked = np.clip(values_at(teams.fork, after, 0), released, high)
    forked = np.where(after >= 0, forked, high)
    join = pieces_of_lane(
        low,
        released,
        at,
        int(Doing.JOIN),
        subject=values_at(teams.subject, before, NO_SUBJECT),
        giver=values_at(teams.last, before, NO_LANE),
    )
    idle = pieces_of_lane(released, forked, at, int(Doing.FORK), giver=_forker(teams, after))
    arrival = pieces_of_lane(
        forked,
        high,
        at,
        int(Doing.ARRIVAL),
        subject=values_at(teams.subject, after, NO_SUBJECT),
        release=forked,
    )
    both = joined([join, idle, arrival])
    return both.pick(both.high > both.low)


def _forker(teams: Teams, row: Integers) -> Integers:
    """Who forks the region that ends a gap; behind the last one, whoever forked most."""
    known = teams.forker[teams.forker != NO_LANE]
    usual = int(np.bincount(known).argmax()) if len(known) else NO_LANE
    return np.where(row >= 0, values_at(teams.forker, row, NO_LANE), usual)


def _gaps(parts: LaneParts, end: int) -> tuple[Integers, Integers]:
    """The times outside of all slices, of a lane that lives as long as its process."""
    between = parts.inner < 0
    low, high = parts.low[between], parts.high[between]
    ticks = parts.slices.ticks[parts.slices.change != 0]  # an instant ends nothing
    first, last = (int(ticks[0]), int(ticks[-1])) if len(ticks) else (end, end)
    if first > 0:
        low, high = np.append(low, 0), np.append(high, first)
    if last < end and len(ticks):
        low, high = np.append(low, last), np.append(high, end)
    return low, high

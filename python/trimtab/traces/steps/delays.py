"""How much of what passed before steps began was waiting for a CPU."""

from __future__ import annotations

import numpy as np

from trimtab.traces.intervals.build import LanePieces
from trimtab.traces.intervals.model import Doing, Integers
from trimtab.traces.intervals.pieces import Pieces
from trimtab.traces.steps.model import same


def delays_of(lanes: LanePieces, lane: Integers, lead_ns: Integers) -> Integers:
    """Of each step the part of its lead in which its lane was ready and had no CPU, nanoseconds.

    The operating system says how long each lane waited for CPUs in all. What of it is not in a lane's work was
    before steps. A wake-up takes microseconds, a turn of another program milliseconds, so it is taken from the
    longest leads. Where context switches are not recorded it is not known what was in the work: 0.

    Args:
        lane: place of each step's lane, shape (steps,).
        lead_ns: of each step, in the same order.
    """
    if not lanes.has_switches:
        return same(0, len(lead_ns))
    delays = np.zeros(len(lead_ns), np.int64)
    for at, (own_lane, pieces) in enumerate(zip(lanes.lanes, lanes.pieces, strict=True)):
        rest_ns = int(own_lane.header["run_delay_ns"]) - _preempted_ns(pieces, lanes.ns_per_tick)
        own = np.flatnonzero(lane == at)
        if rest_ns > 0 and len(own):
            delays[own] = _from_longest(lead_ns[own], rest_ns)
    return delays


def _preempted_ns(pieces: Pieces, ns_per_tick: float) -> int:
    chosen = pieces.doing == int(Doing.PREEMPTED)
    return round(float((pieces.high - pieces.low)[chosen].sum()) * ns_per_tick)


def _from_longest(lead_ns: Integers, amount_ns: int) -> Integers:
    """What lies above the level that makes these parts add up to the amount; all, if that is not enough."""
    ascending = np.sort(lead_ns)
    above = np.concatenate([np.cumsum(ascending[::-1])[::-1][1:], [0]])
    count_above = np.arange(len(ascending))[::-1]
    # What lies above the level of each lead.
    beyond = above - count_above * ascending
    place = int(np.searchsorted(-beyond, -amount_ns))
    if place == 0:
        level = (float(ascending.sum()) - amount_ns) / len(ascending)
    else:
        level = float(ascending[place]) - (amount_ns - float(beyond[place])) / (len(ascending) - place)
    parts: Integers = np.maximum(lead_ns - round(max(level, 0.0)), 0)
    return parts

"""Lanes' pieces as steps: cut where a lane waits, and where others must be able to wait for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trimtab.traces.intervals.build import Lanes
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import among
from trimtab.traces.intervals.model import NO_LANE, Booleans, Doing, Integers
from trimtab.traces.intervals.pieces import BUSY, Pieces
from trimtab.traces.slices import Role

# What always depends on other lanes: a replay decides how long it takes.
_STATE = int(Role.STATE)
_WAITS = (int(Doing.JOIN), int(Doing.BARRIER), int(Doing.TASK_CHAIN), int(Doing.FORK), int(Doing.ARRIVAL))


@dataclass(frozen=True)
class LaneSteps:
    """A lane's pieces that belong to steps, in the order of time. Times in ticks since the process began.

    Attributes:
        pieces: of one lane.
        step: number of each piece's step, from 0.
        owner: number of the task that each piece belongs to; 0: none.
        part: number of the step that it would be in if chunks of loops were no steps, from 0.
    """

    pieces: Pieces
    step: Integers
    owner: Integers
    part: Integers

    @property
    def count(self) -> int:
        """How many steps there are."""
        return int(self.step[-1]) + 1 if len(self.step) else 0

    def starting_at(self, ticks: Integers) -> Integers:
        """The first piece that begins at each moment or later; -1: none."""
        place = np.searchsorted(self.pieces.low, ticks)
        return np.where(place < len(self.step), place, -1)

    def running_at(self, ticks: Integers) -> Integers:
        """The piece that each moment is in or ends, or else the one before; -1: none."""
        place: Integers = np.searchsorted(self.pieces.low, ticks) - 1
        return place


def steps_of_lane(lanes: Lanes, at: int, cuts: Integers, chunks: Integers) -> LaneSteps:
    """The steps of a lane; `cuts`: when others may have to wait, or to be waited for; `chunks`: where those of loops begin and end."""
    parts, pieces = lanes.parts[at], lanes.pieces[at]
    pieces = _divided(pieces.pick(np.argsort(pieces.low, kind="stable")), chunks)
    owner = _owners(parts, pieces)
    is_kept = owner != 0 if parts.is_worker else ~_depends(pieces)
    before = np.concatenate([[False], is_kept[:-1]])  # the piece before is part of a step, too
    pieces, owner, before = pieces.pick(is_kept), owner[is_kept], before[is_kept]
    if not len(owner):
        return LaneSteps(pieces, np.zeros(0, np.int64), owner, np.zeros(0, np.int64))
    is_first = ~before | (owner != np.concatenate([owner[:1], owner[:-1]]))
    is_first |= _is_in(cuts, pieces.low) if len(cuts) else ~before
    is_first[0] = True
    part = np.cumsum(is_first) - 1
    if not len(chunks):
        return LaneSteps(pieces, part, owner, part)
    is_first |= _is_in(chunks, pieces.low)
    return LaneSteps(pieces, np.cumsum(is_first) - 1, owner, part)


def _is_in(ascending: Integers, wanted: Integers) -> Booleans:
    if not len(ascending):
        return np.zeros(len(wanted), np.bool_)
    place = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    known: Booleans = ascending[place] == wanted
    return known


def _divided(pieces: Pieces, moments: Integers) -> Pieces:
    """With a piece that begins at each of these moments, where it is inside of one."""
    place = np.searchsorted(pieces.low, moments, side="right") - 1
    is_inside = place >= 0
    if len(pieces.low):
        is_inside &= (pieces.low[place] < moments) & (moments < pieces.high[place])
    moments, place = moments[is_inside], place[is_inside]
    if not len(moments):
        return pieces
    source = np.concatenate([np.arange(len(pieces.low)), place])
    low = np.concatenate([pieces.low, moments])
    order = np.lexsort((low, source))
    source, low = source[order], low[order]
    high = pieces.high[source]
    is_same = source[1:] == source[:-1]
    high[:-1][is_same] = low[1:][is_same]
    return replace(pieces.pick(source), low=low, high=high)


def _depends(pieces: Pieces) -> Booleans:
    """Waits that others end; what nobody is known to end is as long in each replay as it was."""
    depends: Booleans = among(pieces.doing, _WAITS) | ((pieces.giver != NO_LANE) & ~among(pieces.doing, BUSY))
    return depends


def _owners(parts: LaneParts, pieces: Pieces) -> Integers:
    """The task that each piece of a worker belongs to; 0: none, or no worker."""
    if not parts.is_worker or not len(parts.low):
        return np.zeros(len(pieces.low), np.int64)
    place = np.maximum(np.searchsorted(parts.low, pieces.low, side="right") - 1, 0)
    begin = parts.owner[place]
    is_in = (
        (begin >= 0)
        & (parts.low[place] <= pieces.low)  # not before the first one
        & (pieces.low < parts.high[place])
        & (parts.slices.role[parts.inner[place]] != _STATE)
    )
    return np.where(is_in, parts.event("a", np.maximum(begin, 0)), 0)

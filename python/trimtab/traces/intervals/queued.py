"""Waits of workers for a task, while one was ready and waited for another worker."""

from __future__ import annotations

import numpy as np

from trimtab.traces.columns import different
from trimtab.traces.intervals.lookup import among
from trimtab.traces.intervals.model import NO_LANE, Booleans, Doing, Integers
from trimtab.traces.intervals.pieces import Pieces, joined

_FOR_TASKS = tuple(map(int, (Doing.DEPENDENCE, Doing.TASK_LOCK, Doing.SPAWN, Doing.NO_FURTHER_TASK)))


def though_there_was_one(pieces: Pieces, low: Integers, high: Integers) -> Pieces:
    """A lane's pieces; its waits for a task are badly distributed ones in the times [low, high), which follow each other."""
    is_wait = among(pieces.doing, _FOR_TASKS) & (pieces.release > pieces.low)
    if not is_wait.any() or not len(low):
        return pieces
    waits = pieces.pick(is_wait)
    # What follows the end of a wait is another matter: the worker has been given its task.
    release = np.minimum(waits.release, waits.high)
    edges = different(np.concatenate([waits.low, waits.high, release, low, high]))
    first = np.searchsorted(edges, waits.low)
    counts = np.searchsorted(edges, waits.high) - first
    wait = np.repeat(np.arange(len(counts)), counts)
    begin = np.repeat(first, counts) + np.arange(len(wait)) - np.repeat(np.cumsum(counts) - counts, counts)
    cut = waits.pick(wait)
    cut = Pieces(
        edges[begin], edges[begin + 1], cut.lane, cut.doing, cut.subject, cut.pace, cut.release, cut.giver
    )
    is_queued = _lies_in(cut.low, low, high) & (cut.high <= release[wait])
    cut.doing[is_queued] = int(Doing.FAR_TASK)
    cut.giver[is_queued] = NO_LANE
    cut.release[is_queued] = cut.low[is_queued]
    return joined([pieces.pick(~is_wait), cut])


def until_last_made(pieces: Pieces, lane: int, giver: int, last_ticks: int) -> Pieces:
    """A lane's pieces; behind its last task, it waits for the lane that makes tasks until that has made the last one."""
    is_early = (pieces.doing == int(Doing.NO_FURTHER_TASK)) & (pieces.low < last_ticks)
    if giver in (lane, NO_LANE) or not is_early.any():
        return pieces
    head, rest = pieces.pick(is_early), pieces.pick(is_early & (pieces.high > last_ticks))
    head.doing[:] = int(Doing.SPAWN)
    head.giver[:] = giver
    np.minimum(head.high, last_ticks, out=head.high)
    head.release[:] = head.high
    rest.low[:] = last_ticks
    return joined([pieces.pick(~is_early), head, rest])


def _lies_in(ticks: Integers, low: Integers, high: Integers) -> Booleans:
    at = np.searchsorted(low, ticks, side="right") - 1
    inside: Booleans = (at >= 0) & (ticks < high[np.maximum(at, 0)])
    return inside

"""Pieces of work, cut where the lane had no CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.model.enumerations import EventKind
from trimtab.traces.intervals.lookup import among
from trimtab.traces.intervals.model import Booleans, Doing, Integers
from trimtab.traces.intervals.pieces import BUSY, Pieces, joined


def without_cpu(pieces: Pieces, switches: Any, start: int) -> Pieces:
    """The pieces of a lane's work cut where it had no CPU: it was preempted, or gave the CPU away."""
    low, high, preempted = off_cpu(switches, start)
    is_touched = _touched(pieces, low, high) & among(pieces.doing, BUSY)
    if not is_touched.any():
        return pieces
    return joined([pieces.pick(~is_touched), _cut(pieces.pick(is_touched), low, high, preempted)])


def off_cpu(switches: Any, start: int) -> tuple[Integers, Integers, Booleans]:
    """When a lane had no CPU, and whether it was preempted."""
    switches = switches[np.argsort(switches["ticks"], kind="stable")]
    kind, ticks = switches["kind"], switches["ticks"].astype(np.int64) - start
    is_pair = (kind[:-1] == EventKind.SWITCH_OUT) & (kind[1:] == EventKind.SWITCH_IN)
    out = np.flatnonzero(is_pair)
    low, high = np.maximum(ticks[out], 0), np.maximum(ticks[out + 1], 0)
    # Of a damaged file: the times follow each other.
    low = np.maximum(low, np.concatenate([[0], np.maximum.accumulate(high)[:-1]])) if len(low) else low
    return low, np.maximum(high, low), switches["arg"][out] == 1


def _touched(pieces: Pieces, low: Integers, high: Integers) -> Booleans:
    """Which pieces overlap one of the times [low, high), which follow each other."""
    touched: Booleans = np.searchsorted(low, pieces.high, side="left") > np.searchsorted(
        high, pieces.low, side="right"
    )
    return touched


def _cut(pieces: Pieces, low: Integers, high: Integers, preempted: Booleans) -> Pieces:
    """Pieces that do not overlap, cut at the edges of times that do not overlap; what lies in these is off its CPU."""
    if not len(low) or not len(pieces.low):
        return pieces
    edges = np.sort(np.concatenate([pieces.low, pieces.high, low, high]))
    begins, ends = edges[:-1][edges[1:] > edges[:-1]], edges[1:][edges[1:] > edges[:-1]]
    order = np.argsort(pieces.low, kind="stable")
    piece = np.searchsorted(pieces.low[order], begins, side="right") - 1
    is_in = (piece >= 0) & (ends <= pieces.high[order][np.maximum(piece, 0)])
    chosen = pieces.pick(order[piece[is_in]])
    away = np.searchsorted(low, begins[is_in], side="right") - 1
    is_away = (away >= 0) & (ends[is_in] <= high[np.maximum(away, 0)])
    doing = np.where(preempted[np.maximum(away, 0)], int(Doing.PREEMPTED), int(Doing.BLOCKED))
    chosen.doing[is_away] = doing[is_away]
    return Pieces(
        begins[is_in],
        ends[is_in],
        chosen.lane,
        chosen.doing,
        chosen.subject,
        chosen.pace,
        ends[is_in],
        chosen.giver,
    )

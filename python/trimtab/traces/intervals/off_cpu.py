"""Pieces of work, cut where the lane had no CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.model.enumerations import EventKind
from trimtab.traces.intervals.lookup import among, values_at
from trimtab.traces.intervals.model import Booleans, Doing, Integers
from trimtab.traces.intervals.pieces import BUSY, Pieces, joined


@dataclass(frozen=True)
class Absences:
    """When a lane had no CPU, and whether it was preempted; times follow each other."""

    low: Integers
    high: Integers
    preempted: Booleans
    is_recorded: bool

    @staticmethod
    def of(switches: Any, start: int) -> Absences:
        """From the switches of a lane."""
        switches = switches[np.argsort(switches["ticks"], kind="stable")]
        kind, ticks = switches["kind"], switches["ticks"].astype(np.int64) - start
        is_pair = (kind[:-1] == EventKind.SWITCH_OUT) & (kind[1:] == EventKind.SWITCH_IN)
        out = np.flatnonzero(is_pair)
        low, high = np.maximum(ticks[out], 0), np.maximum(ticks[out + 1], 0)
        # Of a damaged file: the times follow each other.
        low = np.maximum(low, np.concatenate([[0], np.maximum.accumulate(high)[:-1]])) if len(low) else low
        return Absences(low, np.maximum(high, low), switches["arg"][out] == 1, len(switches) > 0)

    def preempted_until(self, ticks: Integers) -> Integers:
        """How long the lane had been preempted in all by then."""
        low, high = self.low[self.preempted], self.high[self.preempted]
        total = np.concatenate([[0], np.cumsum(high - low)])
        at = np.searchsorted(low, ticks, side="right")
        beyond = np.maximum(values_at(high, at - 1, 0) - ticks, 0)
        sums: Integers = total[at] - beyond
        return sums


def without_cpu(pieces: Pieces, absences: Absences) -> Pieces:
    """The pieces of a lane's work cut where it had no CPU: it was preempted, or gave the CPU away."""
    low, high = absences.low, absences.high
    is_touched = _touched(pieces, low, high) & among(pieces.doing, BUSY)
    if not is_touched.any():
        return pieces
    cut = _cut(pieces.pick(is_touched), low, high, absences.preempted)
    return joined([pieces.pick(~is_touched), cut])


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

"""Levels of detail of lanes over time: how long each lane did what in each bucket of time, exactly, at every level.

A bucket of a level is `1 << shift` nanoseconds long, and 4 buckets of one level are one of the next coarser level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.stretches import OTHERS, LaneClass, Stretches

Integers = NDArray[np.int64]
STEP = 2
# Of the coarsest level: at least a quarter of that, about the width of a screen.
COARSEST_BUCKETS = 2048
# In one bucket of one lane: others of the same state are added up.
MOST_KINDS = 6


@dataclass(frozen=True)
class Level:
    """Entries by lane, bucket and class; `first` is each lane's first entry, and one behind the last.

    Attributes:
        shift: the length of a bucket is `1 << shift` ns.
        ns: how long the lane did that in that bucket.
    """

    shift: int
    bucket: Integers
    kind: Integers
    ns: Integers
    first: Integers

    def __len__(self) -> int:
        return len(self.bucket)


def levels_of(stretches: Stretches, most_entries: int) -> list[Level]:
    """From coarse to fine; all but the coarsest have at most `most_entries`, and fewer than there are stretches."""
    shift = finest = coarsest_shift(stretches.span_ns)
    most = min(most_entries, len(stretches))
    while finest >= STEP and _entries_at_most(stretches, finest - STEP) <= most:
        finest -= STEP
    level = level_at(stretches, finest)
    levels = [level]
    while level.shift < shift:
        level = coarser(level)
        levels.append(level)
    return [folded(each, stretches.classes) for each in reversed(levels)]


def coarsest_shift(span_ns: int) -> int:
    """Such that the whole time has at most COARSEST_BUCKETS buckets, and more than a quarter of that; at least 0."""
    shift = 0
    while (span_ns - 1) >> shift >= COARSEST_BUCKETS:
        shift += STEP
    return shift


def _entries_at_most(stretches: Stretches, shift: int) -> int:
    """More than there are where stretches share a bucket and a class."""
    return int(((stretches.end_ns - 1 >> shift) - (stretches.begin_ns >> shift) + 1).sum())


def level_at(stretches: Stretches, shift: int) -> Level:
    """All classes of each bucket."""
    parts = []
    for lane in range(len(stretches.lanes)):
        rows = slice(int(stretches.first[lane]), int(stretches.first[lane + 1]))
        parts.append(_entries(stretches.begin_ns[rows], stretches.end_ns[rows], stretches.kind[rows], shift))
    return _level(shift, parts)


def _entries(
    begin: Integers, end: Integers, kind: NDArray[np.int32], shift: int
) -> tuple[Integers, Integers, Integers]:
    """Bucket, class and time of one lane's entries."""
    low = begin >> shift
    count = (end - 1 >> shift) - low + 1
    row = np.repeat(np.arange(len(begin)), count)
    bucket = low[row] + np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    ns = np.minimum(end[row], bucket + 1 << shift) - np.maximum(begin[row], bucket << shift)
    return _summed(bucket, kind[row].astype(np.int64), ns)


def _summed(bucket: Integers, kind: Integers, ns: Integers) -> tuple[Integers, Integers, Integers]:
    """One entry for each bucket and class."""
    if not len(bucket):
        return bucket, kind, ns
    key = bucket << 16 | kind
    order = np.argsort(key, kind="stable")
    key = key[order]
    firsts = np.flatnonzero(np.diff(key, prepend=key[0] - 1))
    return key[firsts] >> 16, key[firsts] & 0xFFFF, np.add.reduceat(ns[order], firsts)


def _level(shift: int, lanes: Sequence[tuple[Integers, Integers, Integers]]) -> Level:
    bucket, kind, ns = (np.concatenate([lane[at] for lane in lanes]) for at in range(3))
    first = np.concatenate([[0], np.cumsum([len(lane[0]) for lane in lanes])])
    return Level(shift, bucket, kind, ns, first)


def _lanes_of(level: Level) -> list[slice]:
    return [slice(int(low), int(high)) for low, high in zip(level.first[:-1], level.first[1:], strict=True)]


def coarser(level: Level) -> Level:
    """The next level: four buckets become one."""
    parts = [
        _summed(level.bucket[rows] >> STEP, level.kind[rows], level.ns[rows]) for rows in _lanes_of(level)
    ]
    return _level(level.shift + STEP, parts)


def folded(level: Level, classes: Sequence[LaneClass]) -> Level:
    """At most MOST_KINDS classes with most time in each bucket; others of a state are one entry."""
    other = np.array([len(classes) - len(OTHERS) + int(each.state) for each in classes])
    parts = []
    for rows in _lanes_of(level):
        bucket, kind, ns = level.bucket[rows], level.kind[rows], level.ns[rows]
        order = np.lexsort((-ns, bucket))
        begins = np.flatnonzero(np.diff(bucket[order], prepend=-1))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
        parts.append(_summed(bucket, np.where(rank < MOST_KINDS, kind, other[kind]), ns))
    return _level(level.shift, parts)

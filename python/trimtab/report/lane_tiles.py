"""Lanes over time in tiles: levels of detail, and single stretches where the page looks closely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.kept_intervals import KeptIntervals
from trimtab.analysis.lane_levels import Level, levels_of
from trimtab.analysis.stretches import Stretches, stretches_of_job
from trimtab.analysis.task_links import Links, links_of
from trimtab.model import NO_SUBJECT
from trimtab.report.columns import packed
from trimtab.traces import Trace
from trimtab.traces.compiled_columns import largest_of_kinds
from trimtab.traces.intervals import NO_LANE

Integers = NDArray[np.int64]
# Buckets of a level, and stretches, in a tile.
TILE_BUCKETS = 4096
TILE_STRETCHES = 40_000
_MOST_ENTRIES = 1_500_000
# Longest stretches of each class that the page can jump to, and of all.
_LONGEST_OF_CLASS, _LONGEST = 12, 4000


@dataclass(frozen=True)
class LaneTiles:
    """The tiles of one process; `lanes_before`: lanes of other runs that come before those of its run."""

    trace: Trace
    stretches: Stretches
    lanes_before: int = 0

    @property
    def first_lane(self) -> int:
        """The place of its first lane among those of all processes, as givers have it."""
        return self.lanes_before + self.stretches.first_lane

    @cached_property
    def levels(self) -> list[Level]:
        """From coarse to fine."""
        return levels_of(self.stretches, _MOST_ENTRIES)

    @cached_property
    def links(self) -> Links:
        return links_of(self.trace, self.stretches.lanes)

    @cached_property
    def bounds(self) -> list[int]:
        """Where tiles of single stretches begin, and the end of the last one; each has about TILE_STRETCHES."""
        begins = np.sort(self.stretches.begin_ns, kind="stable")
        inner = np.unique(begins[TILE_STRETCHES::TILE_STRETCHES])
        return [0, *(at for at in inner.tolist() if 0 < at < self.stretches.span_ns), self.stretches.span_ns]

    def tiles_of(self, level: int) -> int:
        """How many tiles a level has."""
        buckets = ((self.stretches.span_ns - 1) >> self.levels[level].shift) + 1
        return -(-buckets // TILE_BUCKETS)

    def level_tile(self, level: int, tile: int) -> bytes:
        """Entries of each lane, then, of each entry, its bucket (from the one before, or the tile's first one), class and time."""
        whole = self.levels[level]
        low = tile * TILE_BUCKETS
        rows = [
            _between(whole.bucket, int(begin), int(end), low, low + TILE_BUCKETS)
            for begin, end in zip(whole.first[:-1], whole.first[1:], strict=True)
        ]
        counts = np.array([row.stop - row.start for row in rows])
        chosen = np.concatenate([np.arange(row.start, row.stop) for row in rows])
        return packed(
            [counts, _steps(whole.bucket[chosen] - low, counts), whole.kind[chosen], whole.ns[chosen]]
        )

    def stretch_tile(self, tile: int) -> bytes:
        """Stretches of each lane, and when its first one begins; then, of each, the gap before it, its length, class and
        giver + 1 (0: none; by its place among the lanes of all processes); then the arrows: lanes and times of both ends."""
        low, high = self.bounds[tile], self.bounds[tile + 1]
        whole = self.stretches
        rows = []
        for begin, end in zip(whole.first[:-1].tolist(), whole.first[1:].tolist(), strict=True):
            first = begin + int(np.searchsorted(whole.end_ns[begin:end], low, side="right"))
            last = begin + int(np.searchsorted(whole.begin_ns[begin:end], high, side="left"))
            rows.append((first, max(last, first)))
        counts = np.array([last - first for first, last in rows])
        chosen = np.concatenate([np.arange(first, last) for first, last in rows])
        begin_ns, end_ns = whole.begin_ns[chosen], whole.end_ns[chosen]
        gaps = np.concatenate([[0], begin_ns[1:] - end_ns[:-1]])[: len(chosen)]
        firsts = np.cumsum(counts) - counts
        has_any = counts > 0
        gaps[firsts[has_any]] = 0
        first_ns = np.zeros(len(counts), np.int64)
        first_ns[has_any] = begin_ns[firsts[has_any]]
        giver = np.where(
            whole.giver[chosen] == NO_LANE, 0, whole.giver[chosen].astype(np.int64) + self.lanes_before + 1
        )
        links = self._links_between(low, high)
        return packed(
            [
                *(counts, first_ns, gaps, end_ns - begin_ns, whole.kind[chosen], giver),
                *(links.from_lane, links.from_ns, links.to_lane, links.to_ns),
            ]
        )

    def _links_between(self, low: int, high: int) -> Links:
        first = int(np.searchsorted(self._reached_ns, low))
        last = int(np.searchsorted(self.links.from_ns, high))
        links = self.links.pick(slice(first, max(last, first)))
        return links.pick((links.to_ns >= low) & (links.from_ns >= 0) & (links.to_ns >= 0))

    @cached_property
    def _reached_ns(self) -> Integers:
        """Of each arrow, when the last of it and of those before it ends: ascending."""
        return np.maximum.accumulate(self.links.to_ns)

    @cached_property
    def longest(self) -> list[list[int]]:
        """Lane, begin, end and class of the longest stretches of each class, longest first."""
        whole = self.stretches
        length = whole.end_ns - whole.begin_ns
        chosen = largest_of_kinds(whole.kind, length, _LONGEST_OF_CLASS)
        chosen = chosen[np.argsort(-length[chosen], kind="stable")][:_LONGEST]
        rows: list[list[int]] = np.stack(
            [whole.lane[chosen], whole.begin_ns[chosen], whole.end_ns[chosen], whole.kind[chosen]], axis=1
        ).tolist()
        return rows


def tiles_of(
    traces: Sequence[Trace], lanes_before: int = 0, kept: KeptIntervals | None = None
) -> list[LaneTiles]:
    """Of all processes of a run that have all of their events; `kept`: intervals that are known."""
    return [
        LaneTiles(trace, stretches, lanes_before)
        for trace, stretches in zip(traces, stretches_of_job(traces, kept), strict=True)
        if stretches is not None and len(stretches)
    ]


def _between(bucket: Integers, begin: int, end: int, low: int, high: int) -> slice:
    first, last = np.searchsorted(bucket[begin:end], [low, high])
    return slice(begin + int(first), begin + int(last))


def _steps(values: Integers, counts: Any) -> Integers:
    """Of each value how far it is from the one before; the first one of each lane as it is."""
    steps = np.diff(values, prepend=0)
    firsts = (np.cumsum(counts) - counts)[counts > 0]
    steps[firsts] = values[firsts]
    return steps


def subjects_of(stretches: Stretches) -> list[tuple[int, int]]:
    """Processes and numbers of all subjects that classes name."""
    named = {subject for entry in stretches.classes for subject in entry.subjects}
    return sorted(subject for subject in named if subject[1] != NO_SUBJECT)

"""What lanes did at single moments: the latest such moment of another lane before a given time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.model.enumerations import EventKind
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.model import NO_LANE, Integers


@dataclass(frozen=True)
class Moments:
    """Moments in the order of time; of equal times the first lane comes last, so it is the one that is found.

    Attributes:
        at: when, ticks.
        lane: whose.
        other: the latest moment of another lane before this one, by place; -1: none.
    """

    at: Integers
    lane: Integers
    other: Integers

    @staticmethod
    def of(at: Integers, lane: Integers) -> Moments:
        order = np.lexsort((-lane, at))
        at, lane = at[order], lane[order]
        places = np.arange(len(lane))
        is_change = np.append(False, lane[1:] != lane[:-1]) if len(lane) else np.empty(0, np.bool_)
        return Moments(at, lane, np.maximum.accumulate(np.where(is_change, places, 0)) - 1)

    def latest(self, own: int, after: Integers, until: Integers) -> tuple[Integers, Integers]:
        """Of lanes other than `own`, the latest moment behind `after` and not behind `until`: its lane (NO_LANE: none), and when."""
        if not len(self.at):
            return np.full(len(until), NO_LANE, np.int64), np.full(len(until), -1, np.int64)
        place = np.searchsorted(self.at, until, side="right") - 1
        is_own = (place >= 0) & (self.lane[place] == own)
        place = np.where(is_own, self.other[place], place)
        is_found = (place >= 0) & (self.at[place] > after)
        return np.where(is_found, self.lane[place], NO_LANE), np.where(is_found, self.at[place], -1)


def ends_of_tasks(lanes: Sequence[LaneParts], is_worker: bool) -> Moments:
    """Where parts of tasks ended, of workers or of all other lanes."""
    return _moments([parts.task_ends() if parts.is_worker == is_worker else None for parts in lanes])


def progress_of_tasks(lanes: Sequence[LaneParts]) -> Moments:
    """Where lanes that are no workers made or ended tasks: what lets others run tasks, or leave a wait for them."""
    return _moments(
        [
            None
            if parts.is_worker
            else np.concatenate([parts.task_ends(), parts.moments(EventKind.TASK_CREATED)])
            for parts in lanes
        ]
    )


def _moments(columns: Sequence[Integers | None]) -> Moments:
    own = [np.empty(0, np.int64) if column is None else column for column in columns]
    lane = np.repeat(np.arange(len(own)), [len(column) for column in own])
    return Moments.of(np.concatenate([np.empty(0, np.int64), *own]), lane)


def union(low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """The times that lie in any of these, as ones that follow each other."""
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order]) if len(high) else high
    is_first = np.ones(len(low), np.bool_)
    is_first[1:] = low[1:] > high[:-1]
    first = np.flatnonzero(is_first)
    return low[first], high[np.append(first[1:], len(low)) - 1] if len(first) else high

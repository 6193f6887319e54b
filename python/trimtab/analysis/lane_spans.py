"""What each lane was in, as spans of time, and how much of them lies before given moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Lane, Process, Records
from trimtab.model.enumerations import EventKind, WorkerState

_BLOCK = 1 << 20  # events looked at in one go: bounds the memory for long traces
# A task runs from its begin, or from when it was resumed, until it ends or is suspended.
_TASK_BEGINS = (EventKind.TASK_BEGIN, EventKind.TASK_RESUMED)
_TASK_ENDS = (EventKind.TASK_END, EventKind.TASK_SUSPENDED)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_NO_TICKS = np.empty(0, np.int64)


def changes(lane: Lane) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Ticks, subject and sense of the begins and ends of a lane's parts in regions, or of tasks."""
    begins: tuple[int, ...] = (EventKind.WORK_BEGIN,)
    ends: tuple[int, ...] = (EventKind.WORK_END,)
    if lane.header["worker_of"]:
        if not _has_kinds(lane.events, _TASK_BEGINS):
            return _times_at_work(lane.events)
        begins, ends = (*begins, *_TASK_BEGINS), (*ends, *_TASK_ENDS)
    # By kind of event.
    is_edge, opens = np.zeros(1 << 16, np.bool_), np.zeros(1 << 16, np.bool_)
    is_edge[list((*begins, *ends))] = opens[list(begins)] = True
    ticks, subjects, is_begin = [_NO_TICKS], [_NO_TICKS], [np.empty(0, np.bool_)]
    for block in blocks(lane.events):
        kind = np.ascontiguousarray(block["kind"])
        chosen = np.flatnonzero(is_edge[kind])
        ticks.append(block["ticks"][chosen].astype(np.int64))
        subjects.append(block["subject"][chosen].astype(np.int64))
        is_begin.append(opens[kind[chosen]])
    return np.concatenate(ticks), np.concatenate(subjects), np.concatenate(is_begin)


def blocks(events: Records) -> Iterator[Records]:
    for low in range(0, len(events), _BLOCK):
        yield events[low : low + _BLOCK]


def _has_kinds(events: Records, kinds: tuple[int, ...]) -> bool:
    return any(np.isin(block["kind"], kinds).any() for block in blocks(events))


def _times_at_work(events: Records) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """The same of a worker whose tasks have no events: from its states."""
    states = np.concatenate(
        [events[:0], *(block[block["kind"] == EventKind.WORKER_STATE] for block in blocks(events))]
    )
    runs = states["arg"] == WorkerState.RUNS
    # Other states end what ran before them; what ran before a ring's first event counts as well.
    changes = np.flatnonzero(runs | np.concatenate([[True], runs[:-1]])) if len(states) else _NO_TICKS
    chosen = states[changes]
    return chosen["ticks"].astype(np.int64), chosen["subject"].astype(np.int64), runs[changes]


def spans(
    at: Floats, subjects: Integers, is_begin: NDArray[np.bool_], end: float | None
) -> tuple[Floats, Floats, Integers]:
    """The times between changes, and the innermost subject then open (-1: none, or not known).

    `end` closes what is open at the last change (the process was killed); None leaves it out.
    """
    if not len(at):
        return at, at, subjects
    innermost = np.where(is_begin, subjects, -1)
    depth = np.cumsum(np.where(is_begin, 1, -1))
    # Ends whose begins a ring has lost would count below zero.
    depth -= min(int(depth.min()), 0)
    resumed = ~is_begin & (depth > 0)
    if resumed.any():
        for level in np.unique(depth[resumed]):
            opened = np.flatnonzero(is_begin & (depth == level))
            resumed_at_level = np.flatnonzero(resumed & (depth == level))
            latest = np.searchsorted(opened, resumed_at_level) - 1
            has_begin = latest >= 0
            innermost[resumed_at_level[has_begin]] = subjects[opened[latest[has_begin]]]
    if end is None:
        return at[:-1], at[1:], innermost[:-1]
    return at, np.append(at[1:], max(end, float(at[-1]))), innermost


@dataclass(frozen=True)
class LaneSpans:
    """What a lane was in from when to when, seconds since the process began, and the innermost subject (-1: none, or not known)."""

    lane: int
    lows: Floats
    highs: Floats
    subjects: Integers


def lane_spans(process: Process, lane: Lane, wall_s: float) -> LaneSpans:
    """Of a process that was observed for `wall_s`; what is open at its end lasts until then only if it was killed."""
    ticks, subjects, is_begin = changes(lane)
    at = seconds(ticks - np.uint64(process.header["start_ticks"]).astype(np.int64), process.tick_s)
    end = None if process.header["end_ticks"] else wall_s
    return LaneSpans(lane.id, *spans(at, subjects, is_begin, end))


def seconds(ticks: Integers, tick_s: float) -> Floats:
    return ticks.astype(np.float64) * tick_s


@dataclass(frozen=True)
class _Sums:
    """Points in ascending order, and the sums of those before each."""

    points: Floats
    sums: Floats

    @staticmethod
    def of(points: Floats) -> _Sums:
        # Most are in order already, which is seen much faster than they are sorted.
        is_ascending = bool((points[1:] >= points[:-1]).all())
        ascending = points if is_ascending else np.sort(points, kind="stable")
        return _Sums(ascending, np.concatenate([[0.0], np.cumsum(ascending)]))

    def after(self, moments: Floats) -> Floats:
        """Sum over points p of max(moment - p, 0), for every moment."""
        count_below = np.searchsorted(self.points, moments)
        result: Floats = count_below * moments - self.sums[count_below]
        return result


@dataclass(frozen=True)
class Coverage:
    """Spans of time, to be asked again and again how much of them lies before moments.

    Running sums of the starts and of the ends, so that the cost does not grow with the spans' lengths.
    """

    lows: _Sums
    highs: _Sums

    @staticmethod
    def of(lows: Floats, highs: Floats) -> Coverage:
        """Of the spans [low, high)."""
        return Coverage(_Sums.of(lows), _Sums.of(highs))

    def until(self, moments: Floats) -> Floats:
        """How much of the spans together lies before each of the ascending moments."""
        return self.lows.after(moments) - self.highs.after(moments)

"""Concurrency over time: how many lanes worked in which region or task, per bin of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import METRICS, NO_SUBJECT, ROWS_UNTIMED, Lane, Process, Records
from trimtab.model.enumerations import EventKind, RecordLevel, WorkerState
from trimtab.model.report import Series, Timeline
from trimtab.traces.sampling import stands_for

BINS = 1000
MOST_SERIES = 12
# `source` of a timeline.
FLIGHT_RECORDER, ALL_EVENTS = "flight recorder", "all events"
# A program has hundreds; a damaged trace may have as many as events, and each has its bins.
_MOST_SUBJECTS = 4096
_BLOCK = 1 << 20  # events looked at in one go: bounds the memory for long traces
# A task runs from its begin, or from when it was resumed, until it ends or is suspended.
_TASK_BEGINS = (EventKind.TASK_BEGIN, EventKind.TASK_RESUMED)
_TASK_ENDS = (EventKind.TASK_END, EventKind.TASK_SUSPENDED)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_NO_TICKS = np.empty(0, np.int64)


def timeline(process: Process, wall_s: float, places: Mapping[int, Any]) -> Timeline | None:
    """Mean number of lanes inside each region per bin, from the events that are there; None without any.

    At profile level the flight recorder holds the last events only: the bins count from `from_s` on. Where the
    members of a region were not timed, all count as inside from its fork to its join.
    A lane inside a nested region counts for the nested one. `waiting` is how many of the lanes waited in
    barriers and locks inside regions. A worker of a task runtime counts for the tasks that it runs, where their
    events are there, else for its runtime while it runs any.
    """
    if wall_s <= 0:
        return None
    s = process.tick_s
    start = int(process.header["start_ticks"])
    width = wall_s / BINS
    end = None if process.header["end_ticks"] else wall_s
    busy: dict[int, Floats] = {}
    waiting = np.zeros(BINS)
    is_partial, from_s = False, 0.0
    for lane in process.lanes:
        if lane.events_written > len(lane.events) and len(lane.events):
            is_partial = True
            from_s = max(from_s, (int(lane.events["ticks"][0]) - start) * s)
        ticks, subjects, is_begin = _changes(lane)
        lows, highs, innermost = _spans(_seconds(ticks - start, s), subjects, is_begin, end)
        innermost = _most_frequent(innermost)
        order = np.argsort(innermost, kind="stable")
        numbers, firsts = np.unique(innermost[order], return_index=True)
        for number, chosen in zip(numbers.tolist(), np.split(order, firsts[1:]), strict=False):
            if number >= 0:
                _bins_of(busy, number)[:] += _spread(lows[chosen], highs[chosen], width)
        if process.header["level"] != RecordLevel.TRACE:
            for subject, low, high, members in _untimed(lane.events):
                spread = _spread(_seconds(low - start, s), _seconds(high - start, s), width)
                _bins_of(busy, subject)[:] += members * np.minimum(
                    spread * _counted_only(lane, subject), width
                )
        begins, lengths = _waits(lane.events)
        waiting += _spread(_seconds(begins - start, s), _seconds(begins - start + lengths, s), width)
    if not busy:
        return None
    order_by_time = sorted(busy, key=lambda number: -float(busy[number].sum()))
    series = [
        Series(
            "others" if number == NO_SUBJECT else places[number][0],
            rounded(busy[number] / width),
        )
        for number in order_by_time[:MOST_SERIES]
    ]
    others = order_by_time[MOST_SERIES:]
    if others:
        rest = np.sum([busy[number] for number in others], axis=0) / width
        series.append(Series(f"{len(others)} others", rounded(rest)))
    return Timeline(
        t0_s=0.0,
        dt_s=width,
        from_s=from_s,
        series=tuple(series),
        waiting=rounded(waiting / width),
        source=FLIGHT_RECORDER if is_partial else ALL_EVENTS,
    )


def _most_frequent(numbers: Integers) -> Integers:
    """At most `_MOST_SUBJECTS` different subjects, the most frequent ones; NO_SUBJECT instead of any other."""
    different, counts = np.unique(numbers, return_counts=True)
    if len(different) <= _MOST_SUBJECTS:
        return numbers
    kept = different[np.argsort(-counts, kind="stable")[:_MOST_SUBJECTS]]
    return np.where((numbers < 0) | np.isin(numbers, kept), numbers, NO_SUBJECT)


def _bins_of(busy: dict[int, Floats], subject: int) -> Floats:
    """The bins of a subject; of very many subjects, those of all that have no room share theirs."""
    kept = subject if subject in busy or len(busy) < _MOST_SUBJECTS else NO_SUBJECT
    return busy.setdefault(kept, np.zeros(BINS))


def _seconds(ticks: Integers, s: float) -> Floats:
    return ticks.astype(np.float64) * s


def rounded(values: Floats) -> tuple[float, ...]:
    """As a report has them."""
    return tuple(np.round(values, 4).tolist())


def _changes(lane: Lane) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Ticks, subject and sense of the begins and ends of a lane's parts in regions, or of tasks."""
    begins: tuple[int, ...] = (EventKind.WORK_BEGIN,)
    ends: tuple[int, ...] = (EventKind.WORK_END,)
    if lane.header["worker_of"]:
        if not _has_kinds(lane.events, _TASK_BEGINS):
            return _times_at_work(lane.events)
        begins, ends = (*begins, *_TASK_BEGINS), (*ends, *_TASK_ENDS)
    ticks, subjects, is_begin = [_NO_TICKS], [_NO_TICKS], [np.empty(0, np.bool_)]
    for block in _blocks(lane.events):
        chosen = np.flatnonzero(np.isin(block["kind"], (*begins, *ends)))
        ticks.append(block["ticks"][chosen].astype(np.int64))
        subjects.append(block["subject"][chosen].astype(np.int64))
        is_begin.append(np.isin(block["kind"][chosen], begins))
    return np.concatenate(ticks), np.concatenate(subjects), np.concatenate(is_begin)


def _blocks(events: Records) -> Iterator[Records]:
    for low in range(0, len(events), _BLOCK):
        yield events[low : low + _BLOCK]


def _has_kinds(events: Records, kinds: tuple[int, ...]) -> bool:
    return any(np.isin(block["kind"], kinds).any() for block in _blocks(events))


def _times_at_work(events: Records) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """The same of a worker whose tasks have no events: from its states."""
    states = np.concatenate(
        [events[:0], *(block[block["kind"] == EventKind.WORKER_STATE] for block in _blocks(events))]
    )
    runs = states["arg"] == WorkerState.RUNS
    # Other states end what ran before them; what ran before a ring's first event counts as well.
    changes = np.flatnonzero(runs | np.concatenate([[True], runs[:-1]])) if len(states) else _NO_TICKS
    chosen = states[changes]
    return chosen["ticks"].astype(np.int64), chosen["subject"].astype(np.int64), runs[changes]


def _untimed(events: Records) -> list[tuple[int, Integers, Integers, int]]:
    """Subject, begins, ends and members of the instances whose members left no events of their own.

    The forker's own part begins right after the region: where its end stands there, no member was timed.
    """
    begins, ends = events[:-1], events[1:]
    chosen = np.flatnonzero(
        (begins["kind"] == EventKind.REGION_BEGIN)
        & (ends["kind"] == EventKind.REGION_END)
        & (begins["a"] == ends["a"])
    )
    instances = []
    for subject, members in np.unique(
        np.stack([begins["subject"][chosen], ends["b"][chosen]]), axis=1
    ).T.tolist():
        own_instances = chosen[(begins["subject"][chosen] == subject) & (ends["b"][chosen] == members)]
        low, high = (
            begins["ticks"][own_instances].astype(np.int64),
            ends["ticks"][own_instances].astype(np.int64),
        )
        instances.append((int(subject), low, high, int(members)))
    return instances


def _counted_only(lane: Lane, subject: int) -> float:
    """Instances of that region for each whose begin and end are among the events."""
    rows = lane.rows
    subject_rows = rows[
        (rows["what"] == METRICS["region"]) & (rows["subject"] == subject) & (rows["flags"] == ROWS_UNTIMED)
    ]
    return max((stands_for(row) for row in subject_rows), default=1.0)


def _waits(events: Records) -> tuple[Integers, Integers]:
    begins, lengths = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for low in range(0, len(events), _BLOCK):
        block = events[low : low + _BLOCK]
        chosen = np.flatnonzero((block["kind"] == EventKind.WAIT) & (block["b"] != 0))
        begins.append(block["ticks"][chosen].astype(np.int64))
        lengths.append(block["a"][chosen].astype(np.int64))
    return np.concatenate(begins), np.concatenate(lengths)


def _spans(
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


def _spread(lows: Floats, highs: Floats, width: float) -> Floats:
    """Seconds of the spans [low, high) that fall into each bin.

    Running sums of the starts and of the ends, so that the cost does not grow with the spans' lengths.
    """
    edges = np.arange(BINS + 1) * width

    def covered(points: Floats) -> Floats:
        # Sum over points p of max(edge - p, 0), for every edge.
        ordered = np.sort(points, kind="stable")
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        count_below = np.searchsorted(ordered, edges)
        result: Floats = count_below * edges - sums[count_below]
        return result

    return np.maximum(np.diff(covered(lows) - covered(highs)), 0.0)

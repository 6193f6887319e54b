"""Concurrency over time: how many lanes worked in which region or task, per bin of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trimtab.analysis.eligibility import Eligibility
from trimtab.analysis.lane_spans import Coverage, Floats, Integers, LaneSpans, blocks, lane_spans, seconds
from trimtab.model import METRICS, NO_SUBJECT, ROWS_UNTIMED, Lane, Process, Records
from trimtab.model.enumerations import EventKind, RecordLevel
from trimtab.model.report import Series, Timeline
from trimtab.traces.columns import Places, different, numbered
from trimtab.traces.sampling import stands_for
from trimtab.traces.tasks import TaskState

BINS = 1000
MOST_SERIES = 12
# `source` of a timeline.
FLIGHT_RECORDER, ALL_EVENTS = "flight recorder", "all events"
# A program has hundreds; a damaged trace may have as many as events, and each has its bins.
_MOST_SUBJECTS = 4096


def timeline(
    process: Process,
    wall_s: float,
    places: Mapping[int, Any],
    tasks: Eligibility | None = None,
    known: Sequence[LaneSpans] | None = None,
) -> Timeline | None:
    """Mean number of lanes inside each region per bin, from the events that are there; None without any.

    At profile level the flight recorder holds the last events only: the bins count from `from_s` on. Where the
    members of a region were not timed, all count as inside from its fork to its join.
    A lane inside a nested region counts for the nested one. `waiting` is how many of the lanes waited in
    barriers and locks inside regions. A worker of a task runtime counts for the tasks that it runs, where their
    events are there, else for its runtime while it runs any.

    Args:
        known: what its lanes were in, if that has been found out already.
    """
    if wall_s <= 0:
        return None
    s = process.tick_s
    start = int(process.header["start_ticks"])
    width = wall_s / BINS
    busy: dict[int, Floats] = {}
    waiting = np.zeros(BINS)
    is_partial, from_s = False, 0.0
    for at, lane in enumerate(process.lanes):
        if lane.events_written > len(lane.events) and len(lane.events):
            is_partial = True
            from_s = max(from_s, (int(lane.events["ticks"][0]) - start) * s)
        own = lane_spans(process, lane, wall_s) if known is None else known[at]
        lows, highs, innermost = own.lows, own.highs, _most_frequent(own.subjects)
        numbers, place = numbered(innermost)
        # There are few, and 16-bit numbers are sorted in a fraction of the time.
        order = np.argsort(place.astype(np.int16), kind="stable")
        firsts = np.searchsorted(place[order], np.arange(len(numbers)))
        for number, chosen in zip(numbers.tolist(), np.split(order, firsts[1:]), strict=False):
            if number >= 0:
                _bins_of(busy, number)[:] += _spread(lows[chosen], highs[chosen], width)
        if process.header["level"] != RecordLevel.TRACE:
            for subject, low, high, members in _untimed(lane.events):
                spread = _spread(seconds(low - start, s), seconds(high - start, s), width)
                _bins_of(busy, subject)[:] += members * np.minimum(
                    spread * _counted_only(lane, subject), width
                )
        begins, lengths = _waits(lane.events)
        waiting += _spread(seconds(begins - start, s), seconds(begins - start + lengths, s), width)
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
    edges_ns = np.rint(np.linspace(0.0, BINS * width, BINS + 1) * 1e9).astype(np.int64)
    return Timeline(
        t0_s=0.0,
        dt_s=width,
        from_s=from_s,
        series=tuple(series),
        waiting=rounded(waiting / width),
        source=FLIGHT_RECORDER if is_partial else ALL_EVENTS,
        eligible=() if tasks is None else rounded(tasks.means(TaskState.ELIGIBLE, edges_ns)),
        ineligible=()
        if tasks is None
        else rounded(
            tasks.means(TaskState.INELIGIBLE, edges_ns) + tasks.means(TaskState.SUSPENDED, edges_ns)
        ),
    )


def _most_frequent(numbers: Integers) -> Integers:
    """At most `_MOST_SUBJECTS` different subjects, the most frequent ones; NO_SUBJECT instead of any other."""
    subjects = different(numbers)
    if len(subjects) <= _MOST_SUBJECTS:
        return numbers
    counts = np.bincount(Places(subjects).of(numbers))
    kept = subjects[np.argsort(-counts, kind="stable")[:_MOST_SUBJECTS]]
    return np.where((numbers < 0) | np.isin(numbers, kept), numbers, NO_SUBJECT)


def _bins_of(busy: dict[int, Floats], subject: int) -> Floats:
    """The bins of a subject; of very many subjects, those of all that have no room share theirs."""
    kept = subject if subject in busy or len(busy) < _MOST_SUBJECTS else NO_SUBJECT
    return busy.setdefault(kept, np.zeros(BINS))


def rounded(values: Floats) -> tuple[float, ...]:
    """As a report has them."""
    return tuple(np.round(values, 4).tolist())


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
    for block in blocks(events):
        chosen = np.flatnonzero((block["kind"] == EventKind.WAIT) & (block["b"] != 0))
        begins.append(block["ticks"][chosen].astype(np.int64))
        lengths.append(block["a"][chosen].astype(np.int64))
    return np.concatenate(begins), np.concatenate(lengths)


def _spread(lows: Floats, highs: Floats, width: float) -> Floats:
    """Seconds of the spans [low, high) that fall into each bin."""
    return np.maximum(np.diff(Coverage.of(lows, highs).until(np.linspace(0.0, BINS * width, BINS + 1))), 0.0)

"""How much of each counter was counted while which region or kind of task ran.

Between two readings of a counter, what was counted goes to what ran in between, by time. A counter of a lane is its own;
one of the process or the machine goes to all lanes' subjects, for the time in which any of them ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from trimtab.analysis.lane_spans import Coverage, Floats, LaneSpans
from trimtab.analysis.process_report import ProcessReport
from trimtab.analysis.samples import samples_of, seconds_of
from trimtab.model import NO_LANE, Process, Records
from trimtab.model.enumerations import RecordLevel
from trimtab.model.report import CounterUse
from trimtab.traces.columns import different, numbered

# Paths of counters of task runtimes, which say themselves what kinds of tasks did.
_OF_RUNTIMES = "/"
OUTSIDE, OTHERS = "outside", "others"
# Subjects that have rows of their own: those with the most lane time.
_MOST_SUBJECTS = 24
# Numbers beside those of subjects.
_OUTSIDE, _OTHERS = -1, -2
# Of the time between two readings: what little else ran then cannot have counted much.
_ALONE = 0.95


@dataclass
class _Spans:
    """When each subject ran on a lane, or on all of them."""

    lows: dict[int, Floats] = field(default_factory=dict)
    highs: dict[int, Floats] = field(default_factory=dict)
    known: dict[bytes, Floats] = field(default_factory=dict)

    def add(self, lows: Floats, highs: Floats, subject: int) -> None:
        self.lows[subject] = np.concatenate([self.lows.get(subject, lows[:0]), lows])
        self.highs[subject] = np.concatenate([self.highs.get(subject, highs[:0]), highs])

    def between(self, moments: Floats) -> Floats:
        """What part of the time between two moments belongs to each subject and, last, to none: (subjects + 1, intervals).

        Of each interval it adds up to 1. Counters that are read together ask for the same moments.
        """
        name = moments.tobytes()
        if name not in self.known:
            self.known[name] = self._between(moments)
        return self.known[name]

    def _between(self, moments: Floats) -> Floats:
        lengths = np.maximum(np.diff(moments), 1e-12)
        times = [np.maximum(np.diff(coverage.until(moments)), 0.0) for coverage in self._coverages]
        lane_times = np.array(times).reshape(len(times), len(lengths))
        ran = np.minimum(np.diff(self._any.until(moments)), lengths)
        outside = np.maximum(lengths - ran, 0.0)
        together = lane_times.sum(axis=0)
        scale = np.divide(ran, together, out=np.zeros_like(ran), where=together > 0)
        weights = np.vstack([lane_times * scale, outside]) / lengths
        sums = weights.sum(axis=0)
        # Rounding may leave an interval with nothing at all.
        weights[-1] += np.where(sums > 0, 0.0, 1.0)
        result: Floats = weights / weights.sum(axis=0)
        return result

    @cached_property
    def _coverages(self) -> list[Coverage]:
        """Of each subject; when all spans have been added."""
        return [Coverage.of(self.lows[subject], self.highs[subject]) for subject in self.lows]

    @cached_property
    def _any(self) -> Coverage:
        """Of the times in which at least one subject ran, without overlaps."""
        if not self.lows:
            return Coverage.of(np.empty(0), np.empty(0))
        lows, highs = np.concatenate(list(self.lows.values())), np.concatenate(list(self.highs.values()))
        # The times of one subject on one lane are in order already.
        if not (lows[1:] >= lows[:-1]).all():
            order = np.argsort(lows, kind="stable")
            lows, highs = lows[order], highs[order]
        reached = np.maximum.accumulate(highs)
        begins = np.concatenate([[True], lows[1:] > reached[:-1]])
        ends = np.concatenate([begins[1:], [True]])
        return Coverage.of(lows[begins], reached[ends])


def counter_use(report: ProcessReport, lanes: Sequence[LaneSpans]) -> Iterator[CounterUse]:
    """The uses of a process's counters that only grow, from what its lanes were in; nothing where not all events were recorded."""
    process = report.process
    counters = [
        (number, counter)
        for number, counter in process.counters.items()
        if counter.is_cumulative and not counter.name.startswith(_OF_RUNTIMES)
    ]
    if process.header["level"] != RecordLevel.TRACE or not counters:
        return
    of_lanes = _spans_of_lanes(lanes)
    together = _together(of_lanes.values())
    for number, counter in counters:
        sums = _Sums()
        for lane, times, values in _series(process, samples_of(process, [number])):
            sums.add(together if lane is None else of_lanes.get(lane, _Spans()), times, values)
        for subject, value, certain in sums.largest_first():
            yield CounterUse(
                process=report.id,
                counter=counter.name,
                unit=counter.unit,
                key=report.keys[subject] if subject >= 0 else None,
                name=_name(report, subject),
                value=value,
                share=value / sums.total,
                certain=certain,
            )


def _name(report: ProcessReport, subject: int) -> str:
    if subject == _OUTSIDE:
        return OUTSIDE
    return OTHERS if subject == _OTHERS else report.places[subject][0]


@dataclass
class _Sums:
    """What each subject has of one counter."""

    values: dict[int, float] = field(default_factory=dict)
    certain: dict[int, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.values.values())

    def add(self, ran: _Spans, moments: Floats, values: Floats) -> None:
        """One series: `moments` in seconds, ascending; one value for each, a total so far."""
        counted = np.maximum(np.diff(values), 0.0)
        weights = ran.between(moments)
        for at, subject in enumerate([*ran.lows, _OUTSIDE]):
            of_it = counted * weights[at]
            self.values[subject] = self.values.get(subject, 0.0) + float(of_it.sum())
            self.certain[subject] = self.certain.get(subject, 0.0) + float(of_it[weights[at] >= _ALONE].sum())

    def largest_first(self) -> list[tuple[int, float, float]]:
        """Subject, value and the certain part of it; without what has counted nothing."""
        rows = [
            (subject, value, self.certain[subject]) for subject, value in self.values.items() if value > 0
        ]
        return sorted(rows, key=lambda row: (-row[1], row[0]))


def _series(process: Process, samples: Records) -> Iterator[tuple[int | None, Floats, Floats]]:
    """Lane (None: none), times in seconds and totals then, each with a 0 where the lane or the process began."""
    begins: Mapping[int, float] = {
        lane.id: float(seconds_of(process, lane.header["start_ticks"])) for lane in process.lanes
    }
    ordered = samples[np.lexsort((samples["ticks"], samples["lane"]))]
    for part in np.split(ordered, np.flatnonzero(np.diff(ordered["lane"])) + 1):
        if not len(part):
            continue
        lane = int(part["lane"][0])
        times = seconds_of(process, part["ticks"])
        begin = max(begins.get(lane, 0.0), 0.0) if lane != NO_LANE else 0.0
        moments = np.maximum.accumulate(np.concatenate([[min(begin, float(times[0]))], times]))
        yield None if lane == NO_LANE else lane, moments, np.concatenate([[0.0], part["value"]])


def _spans_of_lanes(lanes: Sequence[LaneSpans]) -> dict[int, _Spans]:
    kept = _with_most_time(lanes)
    result = {}
    for lane in lanes:
        own = result[lane.lane] = _Spans()
        named = np.where(np.isin(lane.subjects, kept) | (lane.subjects < 0), lane.subjects, _OTHERS)
        for subject in different(named[lane.subjects >= 0]).tolist():
            chosen = named == subject
            own.add(lane.lows[chosen], lane.highs[chosen], subject)
    return result


def _with_most_time(lanes: Iterable[LaneSpans]) -> list[int]:
    times: dict[int, float] = {}
    for lane in lanes:
        numbers, places = numbered(lane.subjects)
        lengths = np.bincount(places, weights=lane.highs - lane.lows)
        for subject, time in zip(numbers.tolist(), lengths.tolist(), strict=False):
            times[subject] = times.get(subject, 0.0) + time
    times.pop(_OUTSIDE, None)
    return sorted(times, key=lambda subject: (-times[subject], subject))[:_MOST_SUBJECTS]


def _together(lanes: Iterable[_Spans]) -> _Spans:
    everything = _Spans()
    for own in lanes:
        for subject in own.lows:
            everything.add(own.lows[subject], own.highs[subject], subject)
    return everything

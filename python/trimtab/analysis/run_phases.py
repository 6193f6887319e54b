"""Phases of a process: stretches of time between which the mix of what its lanes do changes, and what each loses time to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis import compiled
from trimtab.analysis.charge_classes import classes_of
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause
from trimtab.traces.intervals import Doing, Intervals, Kind

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# The run is cut into so many windows of equal length; a phase has at least so many of them.
_WINDOWS, _LEAST_WINDOWS = 64, 8
# Of the lanes' time: two phases differ by at least that much in what it is spent on,
_LEAST_CHANGE = 0.15
# and by so many times what neighbouring stretches differ by in the median.
_OVER_NOISE = 4.0
_Cause = tuple[BlameCause, int]


@dataclass(frozen=True)
class RunPhase:
    """A stretch of time, nanoseconds since the process began.

    Attributes:
        work: share of the lanes' time that was work.
        cause, subject: what most of the lost time is charged to; None: nothing was lost. NO_SUBJECT: no place.
        lost: share of the lanes' time that this is.
    """

    begin_ns: int
    end_ns: int
    work: float
    cause: BlameCause | None
    subject: int
    lost: float


def phases_of(
    intervals: Intervals,
    charges: compiled.Table,
    cause_of_charge: Callable[[Intervals, compiled.Table, int], _Cause],
    cause_of_group: Callable[[int, Kind], BlameCause | None],
) -> tuple[RunPhase, ...]:
    """In order of time; empty where the run does not change.

    Args:
        charges: of all waits.
        cause_of_charge: of a charge of waiting, by its place in the table.
        cause_of_group: why time of that group and kind is lost without waiting; None: it is not.
    """
    begin, end = int(intervals.begin_ns.min(initial=0)), int(intervals.end_ns.max(initial=0))
    edges = np.linspace(begin, end, _WINDOWS + 1)
    mix = _mix(intervals, edges)
    cuts = [0, *sorted(_cuts(mix, 0, _WINDOWS)), _WINDOWS]
    if len(cuts) < 3:
        return ()
    bounds = edges[cuts]
    lost = _lost(intervals, charges, bounds, cause_of_charge, cause_of_group)
    return tuple(_phases(intervals, bounds, lost))


def _sums(begin: Integers, end: Integers, edges: Floats, kind: Integers, kinds: int) -> Floats:
    """Time by window and kind, shape (windows, kinds).

    What lies in one window is added up at once. The few others are cut at the edges, which are ascending.
    """
    window = np.searchsorted(edges, begin, side="right") - 1
    windows = len(edges) - 1
    is_cut = (window < 0) | (window >= windows) | (end > edges[np.clip(window + 1, 0, windows)])
    length = np.where(is_cut, 0, end - begin)
    cell = np.where(is_cut, 0, window) * kinds + kind
    counts: Floats = np.bincount(cell, weights=length, minlength=windows * kinds).astype(np.float64)
    sums = counts.reshape(windows, kinds)
    begin, end, kind = begin[is_cut], end[is_cut], kind[is_cut]
    for at, (low, high) in enumerate(pairwise(edges.tolist())):
        inside = np.maximum(np.minimum(end, high) - np.maximum(begin, low), 0)
        sums[at] += np.bincount(kind, weights=inside, minlength=kinds)
    return sums


def _mix(intervals: Intervals, edges: Floats) -> Floats:
    """What the lanes do in each window, by what it is about: shares that add up to 1 where all lanes are seen."""
    keys = [
        (group.doing, group.subject if group.doing is Doing.WORK else NO_SUBJECT)
        for group in intervals.groups
    ]
    numbers = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    kind = np.array([numbers[key] for key in keys])[intervals.group]
    width = (edges[1] - edges[0]) * max(len(intervals.lanes), 1)
    mix: Floats = _sums(intervals.begin_ns, intervals.end_ns, edges, kind, len(numbers)) / max(width, 1.0)
    return mix


def _difference(one: Floats, other: Floats) -> float:
    """The share of the time that is spent otherwise."""
    return float(np.abs(one.mean(axis=0) - other.mean(axis=0)).sum()) / 2


def _cuts(mix: Floats, low: int, high: int) -> Iterator[int]:
    """Where the windows from `low` to `high` change most, and then each part again."""
    places = range(low + _LEAST_WINDOWS, high - _LEAST_WINDOWS + 1)
    if not places:
        return

    def gain(at: int) -> float:
        """By how much two means describe the windows better than one (the drop of the sum of squares)."""
        first, second = mix[low:at], mix[at:high]
        apart = first.mean(axis=0) - second.mean(axis=0)
        return float((apart**2).sum()) * len(first) * len(second) / (high - low)

    best = max(places, key=gain)
    if _difference(mix[low:best], mix[best:high]) >= max(_LEAST_CHANGE, _OVER_NOISE * _noise(mix)):
        yield best
        yield from _cuts(mix, low, best)
        yield from _cuts(mix, best, high)


def _noise(mix: Floats) -> float:
    """By how much neighbouring stretches differ anyhow, in the median: what alternates does so everywhere."""
    places = range(_LEAST_WINDOWS, len(mix) - _LEAST_WINDOWS + 1)
    return float(
        np.median(
            [_difference(mix[at - _LEAST_WINDOWS : at], mix[at : at + _LEAST_WINDOWS]) for at in places]
        )
    )


def _lost(
    intervals: Intervals,
    charges: compiled.Table,
    bounds: Floats,
    cause_of_charge: Callable[[Intervals, compiled.Table, int], _Cause],
    cause_of_group: Callable[[int, Kind], BlameCause | None],
) -> dict[_Cause, Floats]:
    """Lost lane time by cause and subject, in each phase."""
    lost: dict[_Cause, Floats] = {}
    place, first = classes_of(intervals, charges)
    sums = _sums(charges["begin_ns"], charges["end_ns"], bounds, place, len(first))
    for column, at in enumerate(first.tolist()):
        key = cause_of_charge(intervals, charges, at)
        lost[key] = lost.get(key, np.zeros(len(bounds) - 1)) + sums[:, column]
    kinds = len(Kind)
    own = _sums(
        intervals.begin_ns,
        intervals.end_ns,
        bounds,
        intervals.group.astype(np.int64) * kinds + intervals.kind,
        len(intervals.groups) * kinds,
    )
    for at in np.flatnonzero(own.sum(axis=0) > 0).tolist():
        cause = cause_of_group(at // kinds, Kind(at % kinds))
        if cause is not None:
            key = cause, intervals.groups[at // kinds].subject
            lost[key] = lost.get(key, np.zeros(len(bounds) - 1)) + own[:, at]
    return lost


def _phases(intervals: Intervals, bounds: Floats, lost: dict[_Cause, Floats]) -> Iterator[RunPhase]:
    is_work = np.array([group.doing in (Doing.WORK, Doing.SERIAL) for group in intervals.groups])
    is_work = is_work[intervals.group] & (intervals.kind == int(Kind.BUSY))
    work = _sums(intervals.begin_ns, intervals.end_ns, bounds, is_work.astype(np.int64), 2)[:, 1]
    for at, (begin, end) in enumerate(pairwise(bounds.tolist())):
        room = (end - begin) * max(len(intervals.lanes), 1)
        most = max(lost, key=lambda key: (lost[key][at], key[0].value, -key[1]), default=None)
        has_lost = most is not None and lost[most][at] > 0
        yield RunPhase(
            round(begin),
            round(end),
            float(work[at]) / room,
            most[0] if most is not None and has_lost else None,
            most[1] if most is not None and has_lost else NO_SUBJECT,
            float(lost[most][at]) / room if most is not None else 0.0,
        )

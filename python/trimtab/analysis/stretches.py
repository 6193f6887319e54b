"""What each lane of a process did over time, each wait cut where what it is charged to changes: what pictures of lanes show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis import compiled
from trimtab.analysis.blame_causes import cause_of, cause_of_itself
from trimtab.analysis.charge_classes import GROUP_BITS, WAIT, keys_of_waits
from trimtab.analysis.kept_intervals import KeptIntervals
from trimtab.analysis.lane_words import DOINGS, RESUMINGS, STATE_NAMES, LaneState
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause
from trimtab.traces import Trace
from trimtab.traces.columns import numbered, ordered
from trimtab.traces.intervals import Doing, Group, Intervals, Kind, intervals_of

Integers = NDArray[np.int64]
# More kinds than that nobody distinguishes; those with least time share one for each state.
MOST_CLASSES = 4000


@dataclass(frozen=True)
class LaneClass:
    """What stretches have in common: what the lane does where, and what that time is charged to (None: it works)."""

    state: LaneState
    words: str
    subject: int = NO_SUBJECT
    cause: BlameCause | None = None
    blamed: int = NO_SUBJECT


@dataclass(frozen=True)
class Stretches:
    """Stretches of all lanes, by lane and begin; those of a lane do not overlap. Times in nanoseconds since the process began.

    Attributes:
        lane, giver: by their place in `lanes`; the giver of a wait: NO_LANE: not known.
        kind: by its place in `classes`.
        first: of each lane its first stretch, and one behind the last.
        lanes: numbers of the lanes.
    """

    begin_ns: Integers
    end_ns: Integers
    lane: NDArray[np.int32]
    giver: NDArray[np.uint32]
    kind: NDArray[np.int32]
    first: Integers
    classes: tuple[LaneClass, ...]
    lanes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.begin_ns)

    @property
    def span_ns(self) -> int:
        """Until the last lane ends."""
        return int(self.end_ns.max(initial=1))


def stretches_of(trace: Trace, kept: KeptIntervals | None = None) -> Stretches | None:
    """None where not all events are there, or damaged records contradict each other; `kept`: intervals that are known."""
    intervals, charges = (kept.take(trace.id) if kept is not None else None) or (intervals_of(trace), None)
    if intervals is None:
        return None
    if charges is None:
        try:
            charges = compiled.charges(compiled.table_of(intervals), len(intervals.lanes))
        except compiled.CompiledError:
            return None
    return stretches_from(intervals, charges)


def stretches_from(intervals: Intervals, charges: compiled.Table) -> Stretches:
    """Busy time and the like as it is, waits as `charges` cut them."""
    others = np.flatnonzero(intervals.kind != int(Kind.WAITING))
    wait = charges["wait"].astype(np.int64)
    row = np.concatenate([others, wait])
    begin = np.concatenate([intervals.begin_ns[others], charges["begin_ns"]])
    end = np.concatenate([intervals.end_ns[others], charges["end_ns"]])
    numbers, own = numbered(
        np.concatenate([_keys_of_others(intervals, others), keys_of_waits(intervals, charges)])
    )
    classes, place = _classes(intervals.groups, numbers)
    kind = place[own].astype(np.int32)
    lane = intervals.lane[row]
    order = ordered(lane, begin)
    kind, classes = _most_important(kind[order], (end - begin)[order], classes)
    first = np.searchsorted(lane[order], np.arange(len(intervals.lanes) + 1))
    return Stretches(
        begin[order],
        end[order],
        lane[order],
        intervals.giver[row][order],
        kind,
        first,
        classes,
        intervals.lanes,
    )


def _keys_of_others(intervals: Intervals, rows: Integers) -> Integers:
    return intervals.group[rows].astype(np.int64) << (GROUP_BITS + 4) | intervals.kind[rows].astype(np.int64)


def _classes(groups: tuple[Group, ...], numbers: Integers) -> tuple[tuple[LaneClass, ...], NDArray[np.int32]]:
    """The different classes, and which one each key is of."""
    classes: dict[LaneClass, int] = {}
    place = [classes.setdefault(_class_of(groups, number), len(classes)) for number in numbers.tolist()]
    return tuple(classes), np.array(place, np.int32)


def _class_of(groups: tuple[Group, ...], key: int) -> LaneClass:
    group = groups[key >> (GROUP_BITS + 4) & (1 << GROUP_BITS) - 1]
    state, words = DOINGS[group.doing]
    kind = Kind(key & 3)
    if key & WAIT:
        end, culprit = key >> 2 & 3, groups[key >> 4 & (1 << GROUP_BITS) - 1]
        is_known = end == compiled.AT_INTERVAL
        blamed = culprit.subject if is_known else group.subject
        return LaneClass(state, words, group.subject, cause_of(group, end, culprit, kind), blamed)
    if kind is Kind.RESUMING:
        cause = cause_of_itself(group.doing, kind)
        words = RESUMINGS.get(group.doing, "could go on and has not done it yet in")
        return LaneClass(LaneState.ARRIVAL, words, group.subject, cause, group.subject)
    if kind is Kind.STOPPED or group.doing is Doing.RUNTIME:
        cause = cause_of_itself(group.doing, kind)
        return LaneClass(state, words, group.subject, cause, group.subject)
    return LaneClass(state, words, group.subject)


def _most_important(
    kind: NDArray[np.int32], length: Integers, classes: tuple[LaneClass, ...]
) -> tuple[NDArray[np.int32], tuple[LaneClass, ...]]:
    """At most MOST_CLASSES classes with most time; behind them one of each state that others share."""
    time = np.bincount(kind, weights=length, minlength=len(classes))
    order = np.argsort(-time, kind="stable")
    kept, rest = order[:MOST_CLASSES], order[MOST_CLASSES:]
    place = np.empty(len(classes), np.int32)
    place[kept] = np.arange(len(kept))
    for at in rest.tolist():
        place[at] = len(kept) + int(classes[at].state)
    return place[kind], (*(classes[at] for at in kept.tolist()), *OTHERS)


OTHERS = tuple(LaneClass(state, f"{name}, several kinds") for state, name in STATE_NAMES.items())

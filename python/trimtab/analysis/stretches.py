"""What each lane of a process did over time, each wait cut where what it is charged to changes: what pictures of lanes show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from trimtab.traces.intervals import (
    NO_LANE,
    Doing,
    Group,
    Intervals,
    Kind,
    intervals_of,
    intervals_of_job,
)

Integers = NDArray[np.int64]
# More kinds than that nobody distinguishes; those with least time share one for each state.
MOST_CLASSES = 4000


@dataclass(frozen=True)
class LaneClass:
    """What stretches have in common: what the lane does where, and what that time is charged to (None: it works).

    `process`, `blamed_process`: those that the numbers of the subject and of the blamed one are of, by place.
    """

    state: LaneState
    words: str
    subject: int = NO_SUBJECT
    cause: BlameCause | None = None
    blamed: int = NO_SUBJECT
    process: int = 0
    blamed_process: int = 0

    @property
    def subjects(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Process and number of the subject, and of the one that is blamed."""
        return (self.process, self.subject), (self.blamed_process, self.blamed)


@dataclass(frozen=True)
class Stretches:
    """Stretches of all lanes, by lane and begin; those of a lane do not overlap. Times in nanoseconds since the process began.

    Attributes:
        lane: by its place in `lanes`.
        giver: of a wait, by its place among the lanes of all processes of the job; NO_LANE: not known.
        kind: by its place in `classes`.
        first: of each lane its first stretch, and one behind the last.
        lanes: numbers of the lanes.
        first_lane: the place of the first one among the lanes of all processes.
    """

    begin_ns: Integers
    end_ns: Integers
    lane: NDArray[np.int32]
    giver: NDArray[np.uint32]
    kind: NDArray[np.int32]
    first: Integers
    classes: tuple[LaneClass, ...]
    lanes: tuple[int, ...]
    first_lane: int = 0

    def __len__(self) -> int:
        return len(self.begin_ns)

    @property
    def span_ns(self) -> int:
        """Until the last lane ends."""
        return int(self.end_ns.max(initial=1))


def stretches_of(trace: Trace, kept: KeptIntervals | None = None) -> Stretches | None:
    """None where not all events are there, or damaged records contradict each other; `kept`: intervals that are known."""
    return _stretches(*_known(trace, kept))


def _known(trace: Trace, kept: KeptIntervals | None) -> tuple[Intervals | None, compiled.Table | None]:
    """Intervals of a process, and the charges of its waits where a report has made them."""
    return (kept.take(trace.id) if kept is not None else None) or (intervals_of(trace), None)


def _stretches(intervals: Intervals | None, charges: compiled.Table | None = None) -> Stretches | None:
    if intervals is None:
        return None
    if charges is None:
        try:
            charges = compiled.charges(compiled.table_of(intervals), len(intervals.lanes))
        except compiled.CompiledError:
            return None
    return stretches_from(intervals, charges)


def stretches_of_job(traces: Sequence[Trace], kept: KeptIntervals | None = None) -> list[Stretches | None]:
    """Of several processes, where who waits for a message waits for its sender; None for each of which not all events are there.

    Where the records of all together contradict each other, each process is on its own, and other processes give nothing.

    Args:
        kept: intervals that are known.
    """
    all_known = [_known(trace, kept) for trace in traces]
    known = [(place, own) for place, (own, _) in enumerate(all_known) if own is not None]
    result: list[Stretches | None] = [None] * len(traces)
    if len(known) < 2:
        for place, own in known:
            stretches = _stretches(own, all_known[place][1])
            result[place] = None if stretches is None else _of_process(stretches, place)
        return result
    complete = [traces[place] for place, _ in known]
    whole = intervals_of_job(complete, [own for _, own in known], [place for place, _ in known])
    lane_counts = [len(own.lanes) for _, own in known]
    try:
        charges = compiled.charges(compiled.table_of(whole), len(whole.lanes))
    except compiled.CompiledError:
        return [_placed(_stretches(own), place) for place, (own, _) in enumerate(all_known)]
    together = stretches_from(whole, charges)
    lane = 0
    for (place, _), count in zip(known, lane_counts, strict=True):
        result[place] = _part(together, lane, count, round(traces[place].begin_ns))
        lane += count
    return result


def _placed(own: Stretches | None, place: int) -> Stretches | None:
    """A process that is on its own among others: nothing that it waits for is known."""
    return None if own is None else replace(_of_process(own, place), giver=np.full_like(own.giver, NO_LANE))


def _of_process(own: Stretches, place: int) -> Stretches:
    """With subjects of the process at `place`."""
    classes = tuple(replace(entry, process=place, blamed_process=place) for entry in own.classes)
    return replace(own, classes=classes)


def _part(whole: Stretches, lane: int, count: int, begin_ns: int) -> Stretches:
    """The stretches of some lanes, on their process's own clock, with the classes that they have."""
    rows = slice(int(whole.first[lane]), int(whole.first[lane + count]))
    used, kind = np.unique(whole.kind[rows], return_inverse=True)
    return Stretches(
        whole.begin_ns[rows] - begin_ns,
        whole.end_ns[rows] - begin_ns,
        (whole.lane[rows] - lane).astype(np.int32),
        whole.giver[rows],
        kind.astype(np.int32),
        whole.first[lane : lane + count + 1] - whole.first[lane],
        tuple(whole.classes[at] for at in used.tolist()),
        whole.lanes[lane : lane + count],
        lane,
    )


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
    classes, place = _classes(intervals, numbers)
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


def _classes(intervals: Intervals, numbers: Integers) -> tuple[tuple[LaneClass, ...], NDArray[np.int32]]:
    """The different classes, and which one each key is of."""
    classes: dict[LaneClass, int] = {}
    processes = intervals.process_of or (0,) * len(intervals.groups)
    place = [
        classes.setdefault(_class_of(intervals.groups, number, processes), len(classes))
        for number in numbers.tolist()
    ]
    return tuple(classes), np.array(place, np.int32)


def _class_of(groups: Sequence[Group], key: int, processes: Sequence[int]) -> LaneClass:
    own = key >> (GROUP_BITS + 4) & (1 << GROUP_BITS) - 1
    group, process = groups[own], processes[own]
    state, words = DOINGS[group.doing]
    kind = Kind(key & 3)
    if key & WAIT:
        return _class_of_wait(groups, key, processes)
    if kind is Kind.RESUMING:
        cause = cause_of_itself(group.doing, kind)
        words = RESUMINGS.get(group.doing, "could go on and has not done it yet in")
        return LaneClass(LaneState.ARRIVAL, words, group.subject, cause, group.subject, process, process)
    if kind is Kind.STOPPED or group.doing is Doing.RUNTIME:
        cause = cause_of_itself(group.doing, kind)
        return LaneClass(state, words, group.subject, cause, group.subject, process, process)
    return LaneClass(state, words, group.subject, process=process, blamed_process=process)


def _class_of_wait(groups: Sequence[Group], key: int, processes: Sequence[int]) -> LaneClass:
    own = key >> (GROUP_BITS + 4) & (1 << GROUP_BITS) - 1
    end, culprit = key >> 2 & 3, key >> 4 & (1 << GROUP_BITS) - 1
    group = groups[own]
    state, words = DOINGS[group.doing]
    cause = cause_of(group, end, groups[culprit], Kind(key & 3))
    blamed = culprit if end == compiled.AT_INTERVAL else own
    return LaneClass(
        state, words, group.subject, cause, groups[blamed].subject, processes[own], processes[blamed]
    )


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

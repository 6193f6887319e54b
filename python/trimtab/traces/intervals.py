"""What each lane of a process did from one moment to another, and whom it waited for: what the diagnosis reads.

Only of a process with all events. A lane computes, waits until another lane does something, resumes after that, or has no
CPU. The end of a wait is when its giver acted; what follows until the lane goes on is an interval of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import NO_SUBJECT, Lane
from trimtab.model.enumerations import EventKind, WaitCause, WaitKind, WorkerState
from trimtab.traces.slices import Role, Slices, lane_slices
from trimtab.traces.trace import Trace

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
NO_LANE = 0xFFFFFFFF


class Kind(IntEnum):
    """Of an interval, as in rooms/diagnosis."""

    BUSY = 0
    WAITING = 1
    RESUMING = 2
    STOPPED = 3


class Doing(IntEnum):
    """What an interval is about."""

    WORK = 0
    """A part of a region or a task."""
    SERIAL = 1
    """Outside of all regions, on a lane that forks them."""
    RUNTIME = 2
    """Forking, or a worker between two tasks."""
    JOIN = 3
    BARRIER = 4
    LOCK = 5
    TASKWAIT = 6
    FORK = 7
    """Waits for the next region."""
    DEPENDENCE = 8
    """A worker without a task, until one has what it needs."""
    SPAWN = 9
    """A worker without a task, until one is made."""
    NO_FURTHER_TASK = 10
    CAPPED = 11
    """A worker that the cap keeps from running tasks."""
    FAR_TASK = 12
    """A worker without a task, though there was one."""
    BLOCKED = 13
    """Off its CPU by its own will, in the middle of its work."""
    PREEMPTED = 14
    ARRIVAL = 15
    """From the fork until the part begins."""


class Pace(IntEnum):
    """How long a part of a region took, beside others."""

    USUAL = 0
    LONG_LANE = 1
    """This lane's parts are longer than the others', in the median."""
    STRAGGLER = 2
    """More than twice as long as this lane's parts of this region are in the median."""


_BLOCK = 1 << 16
# Of a straggler, and of a lane that is slower: times the median.
_STRAGGLER, _LONG_LANE = 2.0, 1.05
# So many instances are needed to say what is usual.
_LEAST_INSTANCES = 4
_WORKS = (Role.WORK, Role.TASK, Role.PART)
_WAITS = {
    WaitKind.JOIN: Doing.JOIN,
    WaitKind.BARRIER: Doing.BARRIER,
    WaitKind.REDUCTION: Doing.BARRIER,
    WaitKind.SINGLE: Doing.BARRIER,
    WaitKind.CRITICAL: Doing.LOCK,
    WaitKind.LOCK: Doing.LOCK,
    WaitKind.ORDERED: Doing.LOCK,
    WaitKind.TASKWAIT: Doing.TASKWAIT,
}


@dataclass(frozen=True)
class Group:
    """What intervals are summed by: what they are about, the region or kind of task, and the pace of that part."""

    doing: Doing
    subject: int = NO_SUBJECT
    pace: Pace = Pace.USUAL


@dataclass(frozen=True)
class Intervals:
    """All intervals of a process; times in nanoseconds since it began.

    Attributes:
        begin_ns, end_ns: shape (intervals,), as all of these.
        lane, giver: by their place in `lanes`; the giver of a wait: NO_LANE: not known.
        group: by its place in `groups`.
        kind: a `Kind`.
        lanes: numbers of the lanes that have intervals.
    """

    begin_ns: Integers
    end_ns: Integers
    lane: NDArray[np.int32]
    giver: NDArray[np.uint32]
    group: NDArray[np.int32]
    kind: NDArray[np.int8]
    groups: tuple[Group, ...]
    lanes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.begin_ns)


@dataclass(frozen=True)
class _Columns:
    """Pieces of lanes' time; `release` and `giver` are of waits: until when another is waited for, and whom.

    There may be tens of millions, so what is small takes few bytes.
    """

    low: Integers
    high: Integers
    lane: NDArray[np.int32]
    doing: NDArray[np.int8]
    subject: NDArray[np.uint32]
    pace: NDArray[np.int8]
    release: Integers
    giver: NDArray[np.uint32]

    def pick(self, chosen: Any) -> _Columns:
        return _Columns(*(column[chosen] for column in vars(self).values()))


_BUSY = (int(Doing.WORK), int(Doing.SERIAL), int(Doing.RUNTIME))


def _among(values: NDArray[Any], few: Sequence[int]) -> Booleans:
    """As numpy.isin, faster for few values."""
    found = np.zeros(len(values), np.bool_)
    for value in few:
        found |= values == value
    return found


def _columns(low: Integers, high: Integers, lane: int, doing: Any, **others: Any) -> _Columns:
    """Pieces of one lane; what is not given is what `others` mean by nothing: no giver, all of it waited."""

    def whole(value: Any, kind: Any) -> Any:
        return np.broadcast_to(np.asarray(value).astype(kind), low.shape).copy()

    return _Columns(
        low,
        high,
        whole(lane, np.int32),
        whole(doing, np.int8),
        whole(others.get("subject", NO_SUBJECT), np.uint32),
        whole(others.get("pace", Pace.USUAL), np.int8),
        whole(others.get("release", high), np.int64),
        whole(others.get("giver", NO_LANE), np.uint32),
    )


def _joined(parts: Sequence[_Columns]) -> _Columns:
    names = _Columns.__dataclass_fields__
    return _Columns(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def intervals_of(trace: Trace) -> Intervals | None:
    """None where the process has no events of regions or tasks, or not all of them."""
    process = trace.process
    is_whole = all(
        lane.events_written <= len(lane.events) and not lane.events_dropped for lane in process.lanes
    )
    if not is_whole:
        return None
    start = int(process.header["start_ticks"])
    built = [_LaneParts.of(lane, trace) for lane in process.lanes]
    used = [parts for parts in built if len(parts.works) or parts.is_worker or parts.forks]
    if not any(len(parts.works) for parts in used):
        return None
    known = _Known(
        _Teams.of(used), _Barriers.of(used), _Holds.of(used), _Gifts.of(used), _last_task_lane(used)
    )
    switches = process.switches
    pieces = [
        _without_cpu(
            _pieces(parts, at, known, trace.end_ticks - start),
            switches[switches["b"] == parts.lane.id],
            start,
        )
        for at, parts in enumerate(used)
    ]
    lanes = tuple(parts.lane.id for parts in used)
    # Of a long trace these take gigabytes.
    del built, used, known
    whole = _joined(pieces)
    del pieces
    return _finished(whole, lanes, process.ns_per_tick)


@dataclass(frozen=True)
class _LaneParts:
    """A lane's slices, and its time cut where the innermost of them changes. Times in ticks since the process began.

    Attributes:
        low, high: of each piece.
        inner: the slice that is innermost then, by the place of its begin; -1: none.
        owner: the innermost part of a region or a task then, as `inner`.
        works: begins of parts of regions and of tasks, by place.
        forks: it forks regions.
        start: when the process began, ticks.
    """

    lane: Lane
    slices: Slices
    low: Integers
    high: Integers
    inner: Integers
    owner: Integers
    works: Integers
    forks: bool
    start: int

    @property
    def is_worker(self) -> bool:
        """Of a task runtime."""
        return bool(self.lane.header["worker_of"])

    @property
    def is_main(self) -> bool:
        """The process's first thread."""
        return bool(self.lane.header["is_main"])

    def event(self, name: str, places: Integers) -> Integers:
        """A field of the events that slices come from."""
        return self.lane.events[name][self.slices.source[places]].astype(np.int64)

    def ends(self, begins: Integers) -> Integers:
        """When slices end."""
        return self.slices.ticks[self.slices.partner[begins]]

    @staticmethod
    def of(lane: Lane, trace: Trace) -> _LaneParts:
        start = int(trace.process.header["start_ticks"])
        slices = lane_slices(lane.events, start, trace.end_ticks, trace.process.ns_per_tick)
        changing = np.flatnonzero(slices.change)
        inner, parent = _innermost(slices.change[changing])
        owner = _owners(slices.role[changing], parent)
        ticks = slices.ticks[changing]
        begin_of = np.append(changing, -1)  # -1: none
        own_inner = begin_of[inner]
        own_owner = begin_of[np.where(inner >= 0, owner[inner], -1)]
        is_long = ticks[1:] > ticks[:-1] if len(ticks) else np.empty(0, np.bool_)
        works = changing[(slices.change[changing] == 1) & np.isin(slices.role[changing], _WORKS)]
        forks = bool((slices.role[changing] == Role.REGION).any())
        return _LaneParts(
            lane,
            slices,
            ticks[:-1][is_long],
            ticks[1:][is_long],
            own_inner[:-1][is_long],
            own_owner[:-1][is_long],
            works,
            forks,
            start,
        )


def _innermost(change: NDArray[np.int8]) -> tuple[Integers, Integers]:
    """After each change the begin that is innermost then, and of each begin the one around it; -1: none."""
    count = len(change)
    inner, parent = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    if not count:
        return inner, parent
    is_begin = change == 1
    depth = np.cumsum(change, dtype=np.int64)
    inner[is_begin] = np.flatnonzero(is_begin)
    outer = np.empty(0, np.int64)
    for level in range(1, int(depth.max()) + 1):
        begins = np.flatnonzero(is_begin & (depth == level))
        if level > 1:
            parent[begins] = outer[np.searchsorted(outer, begins) - 1]
        ends = np.flatnonzero(~is_begin & (depth == level))
        inner[ends] = begins[np.searchsorted(begins, ends) - 1]
        outer = begins
    return inner, parent


def _owners(role: NDArray[np.uint8], parent: Integers) -> Integers:
    """Of each begin the innermost part of a region or task: itself, or around it; -1: none."""
    owner = np.where(np.isin(role, _WORKS), np.arange(len(role)), -1)
    around = parent.copy()
    while True:
        missing = (owner < 0) & (around >= 0)
        if not missing.any():
            return owner
        outer = around[missing]
        outer_owner = owner[outer]
        owner[missing] = outer_owner
        around[missing] = np.where(outer_owner >= 0, -1, parent[outer])


@dataclass(frozen=True)
class _Teams:
    """Each lane's parts of regions, by lane and begin, with what is known of their teams.

    Attributes:
        begin, end: of the part.
        lane: by its place.
        fork: when the region was forked; -1: not known.
        forker: the lane that did; NO_LANE: not known.
        last: the lane whose part ended last.
        released: when that was.
    """

    lane: Integers
    begin: Integers
    end: Integers
    instance: Integers
    subject: Integers
    fork: Integers
    forker: Integers
    last: Integers
    released: Integers
    pace: Integers
    first: Integers

    def of_lane(self, lane: int) -> slice:
        """Its rows."""
        return slice(int(self.first[lane]), int(self.first[lane + 1]))

    @staticmethod
    def of(lanes: Sequence[_LaneParts]) -> _Teams:
        tables = [
            (
                np.full(len(begins), at, np.int64),
                parts.slices.ticks[begins],
                parts.ends(begins),
                parts.event("a", begins),
                parts.event("subject", begins),
                _waited(parts, begins),
            )
            for at, parts in enumerate(lanes)
            for begins in [parts.works[parts.slices.role[parts.works] == Role.WORK]]
        ]
        lane, begin, end, instance, subject, waited = (
            np.concatenate([table[column] for table in tables]) for column in range(6)
        )
        fork, forker = _forks(lanes, instance)
        last, released = _last_of(instance, lane, end)
        first = np.searchsorted(lane, np.arange(len(lanes) + 1))
        pace = _paces(lane, subject, np.maximum(end - begin - waited, 0))
        return _Teams(lane, begin, end, instance, subject, fork, forker, last, released, pace, first)


def _waited(parts: _LaneParts, begins: Integers) -> Integers:
    """How long parts of regions waited inside, as far as their ends are recorded."""
    ends = parts.slices.partner[begins]
    is_recorded = parts.event("kind", ends) == EventKind.WORK_END
    return np.where(is_recorded, parts.event("b", ends), 0)


def _forks(lanes: Sequence[_LaneParts], instance: Integers) -> tuple[Integers, Integers]:
    """When each instance was forked, and by which lane."""
    regions = [_begins_of(parts, Role.REGION) for parts in lanes]
    numbers = np.concatenate([parts.event("a", own) for parts, own in zip(lanes, regions, strict=True)])
    at = np.concatenate([parts.slices.ticks[own] for parts, own in zip(lanes, regions, strict=True)])
    by = np.repeat(np.arange(len(lanes)), [len(own) for own in regions])
    place = _lookup(numbers, instance)
    return _at(at, place, -1), _at(by, place, NO_LANE)


def _begins_of(parts: _LaneParts, role: Role) -> Integers:
    """The slices of a role, by the places of their begins."""
    return np.flatnonzero((parts.slices.change == 1) & (parts.slices.role == role))


def _at(values: Integers, places: Integers, otherwise: int) -> Integers:
    """The values at these places; `otherwise` at -1."""
    if not len(values):
        return np.full(len(places), otherwise, np.int64)
    chosen: Integers = np.where(places >= 0, values[places], otherwise)
    return chosen


def _lookup(numbers: Integers, wanted: Integers) -> Integers:
    """Where each wanted number (above 0) is among `numbers`; -1: nowhere."""
    if not len(numbers):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(numbers, kind="stable")
    at = np.minimum(np.searchsorted(numbers[order], wanted), len(numbers) - 1)
    found: Integers = np.where((numbers[order][at] == wanted) & (wanted > 0), order[at], -1)
    return found


def _last_of(instance: Integers, lane: Integers, at: Integers) -> tuple[Integers, Integers]:
    """For each row, of all rows with its number: the lane of the latest one (the first of equal ones), and when it was.

    Rows without a number, 0, are alone.
    """
    number = np.where(instance > 0, instance, -1 - np.arange(len(instance)))
    order = np.lexsort((-lane, at, number))
    ends = np.flatnonzero(np.diff(number[order], append=number[order][-1:] + 1)) if len(order) else order
    counts = np.diff(ends, prepend=-1)
    lanes, times = np.empty_like(lane), np.empty_like(at)
    lanes[order], times[order] = np.repeat(lane[order][ends], counts), np.repeat(at[order][ends], counts)
    return lanes, times


def _paces(lane: Integers, subject: Integers, length: Integers) -> Integers:
    """The pace of each part of a region."""
    pace = np.full(len(lane), int(Pace.USUAL), np.int64)
    for region in np.unique(subject).tolist():
        rows = np.flatnonzero(subject == region)
        own_lanes, place, counts = np.unique(lane[rows], return_inverse=True, return_counts=True)
        medians = np.array([np.median(length[rows[place == at]]) for at in range(len(own_lanes))])
        known = counts[place] >= _LEAST_INSTANCES
        typical = np.maximum(medians[place], 1.0)
        is_long = known & (medians[place] > _LONG_LANE * medians.mean()) & (len(own_lanes) > 1)
        pace[rows[is_long]] = int(Pace.LONG_LANE)
        pace[rows[known & (length[rows] > _STRAGGLER * typical)]] = int(Pace.STRAGGLER)
    return pace


@dataclass(frozen=True)
class _Barriers:
    """All waits at barriers of a process, by lane and event: who came last to each, and when."""

    lane: Integers
    source: Integers
    last: Integers
    release: Integers

    @staticmethod
    def of(lanes: Sequence[_LaneParts]) -> _Barriers:
        columns = [_barriers_of(parts, at) for at, parts in enumerate(lanes)]
        lane, source, instance, begin, number = (
            np.concatenate([column[at] for column in columns]) for at in range(5)
        )
        # The k-th barrier of an instance is one for all members.
        last, release = _last_of(np.where(instance > 0, instance << 24 | number, 0), lane, begin)
        return _Barriers(lane, source, last, release)


def _kinds_of(*wanted: Doing) -> list[int]:
    return [int(kind) for kind, doing in _WAITS.items() if doing in wanted]


def _barriers_of(parts: _LaneParts, at: int) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    """Lane, event, instance and begin of a lane's waits at barriers, and the how manieth of its instance each is."""
    begins = _begins_of(parts, Role.WAIT)
    begins = begins[np.isin(parts.event("arg", begins), _kinds_of(Doing.BARRIER))]
    instance = parts.event("b", begins)
    lane = np.full(len(begins), at, np.int64)
    return lane, parts.slices.source[begins], instance, parts.slices.ticks[begins], _ordinals(instance)


def _ordinals(numbers: Integers) -> Integers:
    """The how manieth of its number each is, from 0."""
    if not len(numbers):
        return numbers
    order = np.argsort(numbers, kind="stable")
    begins = np.flatnonzero(np.diff(numbers[order], prepend=numbers[order][0] - 1))
    result = np.empty(len(numbers), np.int64)
    result[order] = np.arange(len(numbers)) - np.repeat(begins, np.diff(begins, append=len(numbers)))
    return result


@dataclass(frozen=True)
class _Holds:
    """How long locks and critical sections were held, by subject and time; `begin` is when the lock was entered."""

    lane: Integers
    source: Integers
    subject: Integers
    begin: Integers
    end: Integers

    @staticmethod
    def of(lanes: Sequence[_LaneParts]) -> _Holds:
        tables = []
        for at, parts in enumerate(lanes):
            begins = _begins_of(parts, Role.LOCK)
            length = np.minimum(parts.lane.events["a"][parts.slices.source[begins]], np.uint64(1 << 62))
            end = parts.ends(begins)
            tables.append(
                (
                    np.full(len(begins), at, np.int64),
                    parts.slices.source[begins],
                    parts.event("subject", begins),
                    end - length.astype(np.int64),
                    end,
                )
            )
        columns = [np.concatenate([table[at] for table in tables]) for at in range(5)]
        order = np.lexsort((columns[3], columns[2]))
        return _Holds(*(column[order] for column in columns))

    def before(self, lane: int, source: Integers) -> tuple[Integers, Integers]:
        """Of entries of a lane, by event: who held the lock before, and until when; NO_LANE: it was free."""
        own = np.flatnonzero(self.lane == lane)
        row = _at(own, _lookup(self.source[own] + 1, source + 1), -1)
        earlier = np.where((row > 0) & (self.subject[row] == self.subject[row - 1]), row - 1, -1)
        holder = _at(self.lane, earlier, NO_LANE)
        return np.where(holder == lane, NO_LANE, holder), _at(self.end, earlier, -1)


@dataclass(frozen=True)
class _Gifts:
    """What made tasks ready, by task and time: it was created, its last input came, or another gave what it waited for."""

    task: Integers
    at: Integers
    lane: Integers
    doing: Integers

    @staticmethod
    def of(lanes: Sequence[_LaneParts]) -> _Gifts:
        tables = [table for at, parts in enumerate(lanes) for table in _gifts_of(parts, at)]
        columns = [np.concatenate([table[at] for table in tables]) for at in range(4)]
        order = np.lexsort((columns[1], columns[0]))
        return _Gifts(*(column[order] for column in columns))

    def latest(self, task: Integers, until: Integers) -> Integers:
        """The row of the latest gift to each task until then; -1: none is known."""
        if not len(self.task):
            return np.full(len(task), -1, np.int64)
        order = np.lexsort((np.arange(len(task)), until, task))
        keys = np.concatenate([self.task, task[order]])
        times = np.concatenate([self.at, until[order]])
        is_asked = np.concatenate([np.zeros(len(self.task), np.int64), np.ones(len(task), np.int64)])
        merged = np.lexsort((is_asked, times, keys))
        rows = np.where(is_asked[merged] == 0, merged, -1)
        latest = np.maximum.accumulate(np.where(rows >= 0, np.arange(len(rows)), -1))
        asked = np.flatnonzero(is_asked[merged] == 1)
        found = np.where(latest[asked] >= 0, rows[latest[asked]], -1)
        result = np.full(len(task), -1, np.int64)
        result[order[merged[asked] - len(self.task)]] = found
        is_own = (result >= 0) & (self.task[np.maximum(result, 0)] == task)
        return np.where(is_own, result, -1)


def _gifts_of(parts: _LaneParts, at: int) -> list[tuple[Integers, Integers, Integers, Integers]]:
    events = parts.lane.events
    start = np.uint64(parts.start)
    tables = []
    for kind, field, doing in (
        (EventKind.TASK_CREATED, "a", Doing.SPAWN),
        (EventKind.TASK_READY, "a", Doing.DEPENDENCE),
        (EventKind.EDGE, "b", Doing.DEPENDENCE),
    ):
        chosen = events["kind"] == kind
        if kind == EventKind.EDGE:
            chosen &= events["arg"] != WaitCause.OTHER
        own = events[chosen]
        count = len(own)
        ticks = (np.maximum(own["ticks"], start) - start).astype(np.int64)
        tables.append(
            (
                own[field].astype(np.int64),
                ticks,
                np.full(count, at, np.int64),
                np.full(count, int(doing), np.int64),
            )
        )
    return tables


def _last_task_lane(lanes: Sequence[_LaneParts]) -> int:
    """The worker that ended a task last; NO_LANE: none."""
    ends = [
        (int(parts.ends(tasks).max()), -at)
        for at, parts in enumerate(lanes)
        for tasks in [parts.works[parts.slices.role[parts.works] != Role.WORK]]
        if len(tasks)
    ]
    return -max(ends)[1] if ends else NO_LANE


@dataclass(frozen=True)
class _Known:
    """What is known of the process as a whole; `last_task`: the lane that ended a task last."""

    teams: _Teams
    barriers: _Barriers
    holds: _Holds
    gifts: _Gifts
    last_task: int


def _pieces(parts: _LaneParts, at: int, known: _Known, end: int) -> _Columns:
    made = [_inside(parts, at, known)]
    if parts.is_worker:
        made.append(_between_tasks(parts, at))
    elif len(parts.works) or parts.forks:
        made.append(_outside(parts, at, known.teams, end))
    return _joined(made)


def _inside(parts: _LaneParts, at: int, known: _Known) -> _Columns:
    """What lies in a slice."""
    is_in = parts.inner >= 0
    low, high, inner, owner = (column[is_in] for column in (parts.low, parts.high, parts.inner, parts.owner))
    role = parts.slices.role[inner]
    kind = parts.event("arg", inner)
    has_owner = owner >= 0
    # Of what lies in no part: its own subject.
    subject = parts.event("subject", np.where(has_owner, owner, inner))
    doing = np.where(has_owner, int(Doing.WORK), int(Doing.SERIAL))
    pace = _pace_of(parts, owner, at, known.teams)
    made = _columns(low, high, at, doing, subject=np.where(has_owner, subject, NO_SUBJECT), pace=pace)
    made.subject[role == Role.REGION] = subject[role == Role.REGION]
    _fork_and_join(made, np.flatnonzero(role == Role.REGION), inner, parts, at, known.teams)
    is_wait = role == Role.WAIT
    barriers = np.flatnonzero(is_wait & np.isin(kind, _kinds_of(Doing.BARRIER)))
    _at_barriers(made, barriers, parts.slices.source[inner[barriers]], at, known.barriers)
    _set_wait(made, np.flatnonzero(is_wait & np.isin(kind, _kinds_of(Doing.JOIN))), Doing.JOIN)
    _set_wait(made, np.flatnonzero(is_wait & np.isin(kind, _kinds_of(Doing.LOCK))), Doing.LOCK)
    locks = np.flatnonzero(role == Role.LOCK_WAIT)
    _set_wait(made, locks, Doing.LOCK, *known.holds.before(at, parts.slices.source[inner[locks]]))
    _set_wait(made, np.flatnonzero(is_wait & (kind == WaitKind.TASKWAIT)), Doing.TASKWAIT)
    _without_task(made, np.flatnonzero(role == Role.STATE), kind, parts, known)
    return made


def _pace_of(parts: _LaneParts, owner: Integers, at: int, teams: _Teams) -> Integers:
    """Of the parts of regions that pieces lie in; that of tasks is usual."""
    rows = teams.of_lane(at)
    if rows.start == rows.stop:
        return np.full(len(owner), int(Pace.USUAL), np.int64)
    slices, place = parts.slices, np.maximum(owner, 0)
    row = np.searchsorted(teams.begin[rows], slices.ticks[place], side="right") - 1 + rows.start
    is_part = (owner >= 0) & (slices.role[place] == Role.WORK) & (row >= rows.start)
    return np.where(is_part, teams.pace[np.maximum(row, 0)], int(Pace.USUAL))


def _set_wait(
    made: _Columns, chosen: Integers, doing: Doing, giver: Any = NO_LANE, release: Any = -1
) -> None:
    """Waits for a giver until it acts; of who is not known all of it is waited. The subject stays."""
    made.doing[chosen] = int(doing)
    made.giver[chosen] = giver
    made.release[chosen] = np.where(made.giver[chosen] == NO_LANE, made.high[chosen], release)


def _fork_and_join(
    made: _Columns, chosen: Integers, inner: Integers, parts: _LaneParts, at: int, teams: _Teams
) -> None:
    """What the forker does in a region outside of its own part: it forks, then it waits for the others."""
    rows = teams.of_lane(at)
    row = _lookup(teams.instance[rows], parts.event("a", inner[chosen]))
    row = np.where(row >= 0, row + rows.start, -1)
    is_joining = (row >= 0) & (made.low[chosen] >= _at(teams.end, row, 0))
    made.doing[chosen] = np.where(is_joining, int(Doing.JOIN), int(Doing.ARRIVAL))
    released = np.where(_at(teams.last, row, NO_LANE) == at, made.low[chosen], _at(teams.released, row, 0))
    made.release[chosen] = np.where(is_joining, released, made.low[chosen])
    made.giver[chosen] = np.where(is_joining, _at(teams.last, row, NO_LANE), NO_LANE)


def _at_barriers(made: _Columns, chosen: Integers, source: Integers, at: int, barriers: _Barriers) -> None:
    own = np.flatnonzero(barriers.lane == at)
    row = _at(own, _lookup(barriers.source[own] + 1, source + 1), -1)
    last = _at(barriers.last, row, NO_LANE)
    # Who came last waits for nobody.
    release = np.where(last == at, made.low[chosen], _at(barriers.release, row, 0))
    made.doing[chosen] = int(Doing.BARRIER)
    made.giver[chosen] = np.where(last == at, NO_LANE, last)
    made.release[chosen] = np.where(row >= 0, release, made.high[chosen])


def _without_task(
    made: _Columns, chosen: Integers, state: Integers, parts: _LaneParts, known: _Known
) -> None:
    """A worker looks for a task, or is parked, until it begins one: whoever made that one ready ended the wait."""
    tasks = parts.works[parts.slices.role[parts.works] != Role.WORK]
    begins = parts.slices.ticks[tasks]
    following = np.searchsorted(begins, made.high[chosen], side="left")
    has_next = following < len(tasks)
    place = np.minimum(following, max(len(tasks) - 1, 0))
    task = parts.event("a", tasks[place]) if len(tasks) else np.zeros(len(chosen), np.int64)
    gift = known.gifts.latest(np.where(has_next, task, -1), _at(begins, np.where(has_next, place, -1), -1))
    given_at = _at(known.gifts.at, gift, 0)
    is_early = (gift >= 0) & (given_at <= made.low[chosen])
    is_capped = state[chosen] == WorkerState.CAPPED
    doing = _at(known.gifts.doing, gift, int(Doing.DEPENDENCE))
    doing = np.where(has_next, np.where(is_early, int(Doing.FAR_TASK), doing), int(Doing.NO_FURTHER_TASK))
    giver = np.where(has_next, _at(known.gifts.lane, gift, NO_LANE), known.last_task)
    made.doing[chosen] = np.where(is_capped, int(Doing.CAPPED), doing)
    made.giver[chosen] = np.where(is_capped | is_early, NO_LANE, giver)
    made.release[chosen] = np.where(
        is_early & ~is_capped, made.low[chosen], np.where(has_next & (gift >= 0), given_at, made.high[chosen])
    )
    made.subject[chosen] = NO_SUBJECT


def _between_tasks(parts: _LaneParts, at: int) -> _Columns:
    """What a worker's runtime takes between two tasks."""
    between = parts.inner < 0
    return _columns(parts.low[between], parts.high[between], at, int(Doing.RUNTIME))


def _outside(parts: _LaneParts, at: int, teams: _Teams, end: int) -> _Columns:
    """What lies outside of all slices: a lane that forks works alone, others wait for the next region."""
    low, high = _gaps(parts, end)
    if parts.forks or parts.is_main:
        return _columns(low, high, at, int(Doing.SERIAL))
    rows = teams.of_lane(at)
    # A gap begins where a part ended, and ends where one begins.
    before = _lookup(teams.end[rows] + 1, low + 1)
    before = np.where(before >= 0, before + rows.start, -1)
    after = _lookup(teams.begin[rows] + 1, high + 1)
    after = np.where(after >= 0, after + rows.start, -1)
    released = np.clip(_at(teams.released, before, 0), low, high)
    forked = np.clip(_at(teams.fork, after, 0), released, high)
    forked = np.where(after >= 0, forked, high)
    join = _columns(
        low,
        released,
        at,
        int(Doing.JOIN),
        subject=_at(teams.subject, before, NO_SUBJECT),
        giver=_at(teams.last, before, NO_LANE),
    )
    idle = _columns(released, forked, at, int(Doing.FORK), giver=_forker(teams, after))
    arrival = _columns(
        forked, high, at, int(Doing.ARRIVAL), subject=_at(teams.subject, after, NO_SUBJECT), release=forked
    )
    both = _joined([join, idle, arrival])
    return both.pick(both.high > both.low)


def _forker(teams: _Teams, row: Integers) -> Integers:
    """Who forks the region that ends a gap; behind the last one, whoever forked most."""
    known = teams.forker[teams.forker != NO_LANE]
    usual = int(np.bincount(known).argmax()) if len(known) else NO_LANE
    return np.where(row >= 0, _at(teams.forker, row, NO_LANE), usual)


def _gaps(parts: _LaneParts, end: int) -> tuple[Integers, Integers]:
    """The times outside of all slices, of a lane that lives as long as its process."""
    between = parts.inner < 0
    low, high = parts.low[between], parts.high[between]
    ticks = parts.slices.ticks[parts.slices.change != 0]  # an instant ends nothing
    first, last = (int(ticks[0]), int(ticks[-1])) if len(ticks) else (end, end)
    if first > 0:
        low, high = np.append(low, 0), np.append(high, first)
    if last < end and len(ticks):
        low, high = np.append(low, last), np.append(high, end)
    return low, high


def _without_cpu(pieces: _Columns, switches: Any, start: int) -> _Columns:
    """The pieces of a lane's work cut where it had no CPU: it was preempted, or gave the CPU away."""
    low, high, preempted = _off_cpu(switches, start)
    is_touched = _touched(pieces, low, high) & _among(pieces.doing, _BUSY)
    if not is_touched.any():
        return pieces
    return _joined([pieces.pick(~is_touched), _cut(pieces.pick(is_touched), low, high, preempted)])


def _off_cpu(switches: Any, start: int) -> tuple[Integers, Integers, Booleans]:
    """When a lane had no CPU, and whether it was preempted."""
    switches = switches[np.argsort(switches["ticks"], kind="stable")]
    kind, ticks = switches["kind"], switches["ticks"].astype(np.int64) - start
    is_pair = (kind[:-1] == EventKind.SWITCH_OUT) & (kind[1:] == EventKind.SWITCH_IN)
    out = np.flatnonzero(is_pair)
    low, high = np.maximum(ticks[out], 0), np.maximum(ticks[out + 1], 0)
    # Of a damaged file: the times follow each other.
    low = np.maximum(low, np.concatenate([[0], np.maximum.accumulate(high)[:-1]])) if len(low) else low
    return low, np.maximum(high, low), switches["arg"][out] == 1


def _touched(pieces: _Columns, low: Integers, high: Integers) -> Booleans:
    """Which pieces overlap one of the times [low, high), which follow each other."""
    touched: Booleans = np.searchsorted(low, pieces.high, side="left") > np.searchsorted(
        high, pieces.low, side="right"
    )
    return touched


def _cut(pieces: _Columns, low: Integers, high: Integers, preempted: Booleans) -> _Columns:
    """Pieces that do not overlap, cut at the edges of times that do not overlap; what lies in these is off its CPU."""
    if not len(low) or not len(pieces.low):
        return pieces
    edges = np.sort(np.concatenate([pieces.low, pieces.high, low, high]))
    begins, ends = edges[:-1][edges[1:] > edges[:-1]], edges[1:][edges[1:] > edges[:-1]]
    order = np.argsort(pieces.low, kind="stable")
    piece = np.searchsorted(pieces.low[order], begins, side="right") - 1
    is_in = (piece >= 0) & (ends <= pieces.high[order][np.maximum(piece, 0)])
    chosen = pieces.pick(order[piece[is_in]])
    away = np.searchsorted(low, begins[is_in], side="right") - 1
    is_away = (away >= 0) & (ends[is_in] <= high[np.maximum(away, 0)])
    doing = np.where(preempted[np.maximum(away, 0)], int(Doing.PREEMPTED), int(Doing.BLOCKED))
    chosen.doing[is_away] = doing[is_away]
    return _Columns(
        begins[is_in],
        ends[is_in],
        chosen.lane,
        chosen.doing,
        chosen.subject,
        chosen.pace,
        ends[is_in],
        chosen.giver,
    )


def _finished(pieces: _Columns, lanes: tuple[int, ...], ns_per_tick: float) -> Intervals:
    """Waits end where their giver acted; the rest of a piece is resuming."""
    is_busy = _among(pieces.doing, _BUSY)
    is_stopped = pieces.doing == int(Doing.PREEMPTED)
    is_wait = ~is_busy & ~is_stopped
    release = np.where(is_wait, np.clip(pieces.release, pieces.low, pieces.high), pieces.high)
    kind = np.full(len(release), int(Kind.WAITING), np.int8)
    kind[is_busy], kind[is_stopped] = int(Kind.BUSY), int(Kind.STOPPED)
    group, groups = _groups(pieces)
    rest = np.flatnonzero(release < pieces.high)
    low, high = np.concatenate([pieces.low, release[rest]]), np.concatenate([release, pieces.high[rest]])
    kind = np.concatenate([kind, np.full(len(rest), int(Kind.RESUMING), np.int8)])
    taken = np.concatenate([np.arange(len(release)), rest])
    begin_ns, end_ns = (np.rint(ticks * ns_per_tick).astype(np.int64) for ticks in (low, high))
    chosen = np.flatnonzero(end_ns > begin_ns)
    taken, kind = taken[chosen], kind[chosen]
    giver = pieces.giver[taken]
    giver[kind != int(Kind.WAITING)] = NO_LANE
    return Intervals(
        begin_ns[chosen], end_ns[chosen], pieces.lane[taken], giver, group[taken], kind, groups, lanes
    )


def _groups(pieces: _Columns) -> tuple[NDArray[np.int32], tuple[Group, ...]]:
    key = pieces.subject.astype(np.int64) << 12 | pieces.doing.astype(np.int64) << 4 | pieces.pace
    keys = _few(key)
    return np.searchsorted(keys, key).astype(np.int32), tuple(
        Group(Doing(number >> 4 & 0xFF), number >> 12, Pace(number & 0xF)) for number in keys.tolist()
    )


def _few(values: Integers) -> Integers:
    """The different values, ascending, of which there are few: in blocks, so that little is sorted."""
    found = np.empty(0, np.int64)
    for begin in range(0, len(values), _BLOCK):
        block = values[begin : begin + _BLOCK]
        found = np.unique(np.concatenate([found, block[~np.isin(block, found)]]))
    return found

"""A lane's events as properly nested slices, whatever was lost: what viewers of traces want.

Spans (loop, wait, lock) are recorded when they end and say when they began, so their begins are put back in
between. Events that a ring overwrote leave ends without begins, a kill leaves begins without ends; both are
completed. All of it by whole arrays: a lane may have tens of millions of events.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Records
from trimtab.model.enumerations import EventKind, WaitCause, WorkerState
from trimtab.traces.columns import small

Integers = NDArray[np.int64]
# A lock that was free is entered in less; `contended` of metric lock counts waits from here on, too.
_LOCK_WAIT_NS = 1000
_DROPPED = 2
_BLOCK = 1 << 16  # items that are looked at one by one


class Role(IntEnum):
    """What a slice or instant shows."""

    REGION = 0
    WORK = 1
    TASK = 2
    SCOPE = 3
    LOOP = 4
    WAIT = 5
    CHUNK = 6
    LOCK = 7
    LOCK_WAIT = 8
    STATE = 9
    SINGLE = 10
    TASK_CREATED = 11
    TASK_READY = 12
    MARK = 13
    THREAD_BEGIN = 14
    THREAD_END = 15
    # A later part of a task, that it is suspended, and that it gives another what this waits for.
    PART = 16
    SUSPENDED = 17
    GIVES = 18
    SENDS = 19
    LEAVES = 20


# Of each kind of event: its role, and whether it opens (1) or closes (-1) a slice or is an instant (0). Spans close.
_KINDS: dict[int, tuple[Role, int]] = {
    EventKind.REGION_BEGIN: (Role.REGION, 1),
    EventKind.REGION_END: (Role.REGION, -1),
    EventKind.WORK_BEGIN: (Role.WORK, 1),
    EventKind.WORK_END: (Role.WORK, -1),
    EventKind.TASK_BEGIN: (Role.TASK, 1),
    EventKind.TASK_END: (Role.TASK, -1),
    EventKind.SCOPE_BEGIN: (Role.SCOPE, 1),
    EventKind.SCOPE_END: (Role.SCOPE, -1),
    EventKind.LOOP: (Role.LOOP, -1),
    EventKind.WAIT: (Role.WAIT, -1),
    EventKind.CHUNK: (Role.CHUNK, 1),
    EventKind.LOCK: (Role.LOCK, -1),
    EventKind.SINGLE: (Role.SINGLE, 0),
    EventKind.TASK_CREATED: (Role.TASK_CREATED, 0),
    EventKind.TASK_READY: (Role.TASK_READY, 0),
    EventKind.TASK_SUSPENDED: (Role.TASK, -1),
    EventKind.TASK_RESUMED: (Role.TASK, 1),
    EventKind.EDGE: (Role.GIVES, 0),
    EventKind.PARCEL_SENT: (Role.SENDS, 0),
    EventKind.PARCEL_LEFT: (Role.LEAVES, 0),
    EventKind.MARK: (Role.MARK, 0),
    EventKind.THREAD_BEGIN: (Role.THREAD_BEGIN, 0),
    EventKind.THREAD_END: (Role.THREAD_END, 0),
    EventKind.WORKER_STATE: (Role.STATE, 1),
}
_ROLE = np.zeros(1 << 16, np.uint8)
_CHANGE = np.full(1 << 16, _DROPPED, np.int8)
for _kind, (_role, _change) in _KINDS.items():
    _ROLE[_kind], _CHANGE[_kind] = _role, _change


@dataclass(frozen=True)
class Slices:
    """Begins (change 1), ends (-1) and instants (0) of a lane in order of time; every begin has its end.

    `ticks` count from the process's start, `source` is the event it comes from, `partner` the begin's end and
    the end's begin (-1 for instants). `is_cut`: slices that crossed are in pieces, several of one event.
    """

    ticks: Integers
    change: NDArray[np.int8]
    role: NDArray[np.uint8]
    source: NDArray[Any]
    partner: NDArray[Any]
    is_cut: bool

    def __len__(self) -> int:
        return len(self.ticks)


@dataclass
class _Items:
    ticks: Integers
    change: NDArray[np.int8]
    role: NDArray[np.uint8]
    source: Integers

    def pick(self, chosen: Any) -> _Items:
        return _Items(self.ticks[chosen], self.change[chosen], self.role[chosen], self.source[chosen])

    def __add__(self, other: _Items) -> _Items:
        return _Items(
            np.concatenate([self.ticks, other.ticks]),
            np.concatenate([self.change, other.change]),
            np.concatenate([self.role, other.role]),
            np.concatenate([self.source, other.source]),
        )


def ticks_since(ticks: NDArray[np.uint64], start: int, end: int) -> Integers:
    """Ticks since `start`, of what lies between it and `end`; what a damaged file has outside is moved there."""
    ticks_after_start = np.clip(ticks, np.uint64(start), np.uint64(end))
    ticks_after_start -= np.uint64(start)
    return ticks_after_start.view(np.int64)


def lane_slices(events: Records, start: int, end: int, ns_per_tick: float) -> Slices:
    """The slices of a lane of a process that lived from `start` to `end` (ticks)."""
    ticks, end = ticks_since(events["ticks"], start, end), end - start
    items = _in_order(events, ticks, end, int(_LOCK_WAIT_NS / ns_per_tick))
    items.ticks = np.maximum.accumulate(items.ticks) if len(items.ticks) else items.ticks
    whole = _completed(items, end)
    partner = _partners(whole.change)
    is_cut = not _is_matched(events, whole, partner)
    if is_cut:
        whole = _completed(_repaired(events, items), end)
        partner = _partners(whole.change)
    begins = np.flatnonzero((whole.change == 1) & (whole.role == Role.TASK))
    later_parts = begins[events["kind"][whole.source[begins]] == EventKind.TASK_RESUMED]
    whole.role[later_parts] = whole.role[partner[later_parts]] = int(Role.PART)
    count = max(len(whole.ticks), len(events))
    source = small(whole.source, count)
    return Slices(whole.ticks, whole.change, whole.role, source, small(partner, count), is_cut)


def _in_order(events: Records, ticks: Integers, end: int, long_wait: int) -> _Items:
    """Events in the order in which they were recorded, with the begins of spans and the ends of chunks put in."""
    kind, count = np.ascontiguousarray(events["kind"]), len(events)
    is_span = (kind == EventKind.LOOP) | (kind == EventKind.WAIT) | (kind == EventKind.LOCK)
    spans = np.flatnonzero(is_span)
    recorded = ticks.copy()
    recorded[spans] += np.minimum(events["a"][spans], np.uint64(1 << 62)).astype(np.int64)
    # When each was recorded. Running maximum: a wait's duration leaves out the tasks that ran in it.
    np.maximum.accumulate(recorded, out=recorded)
    np.minimum(recorded, end, out=recorded)
    parts = [
        *_span_begins(events, ticks, recorded, spans, long_wait),
        _chunk_ends(events, kind, recorded),
        _state_ends(events, kind, recorded),
        _suspensions(kind, recorded),
    ]
    place, time, order, change, role, source = (
        np.concatenate([part[at] for part in parts]) for at in range(6)
    )
    by_place = np.lexsort((order, time, place))
    # The k-th of those put in comes behind k others of them and `place` events; an event behind those before it.
    position = np.arange(len(by_place)) + place[by_place]
    own_places = np.arange(count) + np.cumsum(np.bincount(place, minlength=count + 1))[:count]
    total = count + len(by_place)
    items = _Items(
        np.empty(total, np.int64),
        np.empty(total, np.int8),
        np.empty(total, np.uint8),
        np.empty(total, np.int64),
    )
    # A worker at work shows by its tasks; an edge without a cause is of tasks and not of a moment.
    states, edges = np.flatnonzero(kind == EventKind.WORKER_STATE), np.flatnonzero(kind == EventKind.EDGE)
    own_change = _CHANGE[kind]
    own_change[states[events["arg"][states] <= WorkerState.RUNS]] = _DROPPED
    own_change[edges[events["arg"][edges] == WaitCause.OTHER]] = _DROPPED
    items.ticks[own_places], items.change[own_places] = recorded, own_change
    items.role[own_places], items.source[own_places] = _ROLE[kind], np.arange(count)
    items.ticks[position], items.change[position] = time[by_place], change[by_place]
    items.role[position], items.source[position] = role[by_place], source[by_place]
    is_shown = items.change != _DROPPED
    return items if is_shown.all() else items.pick(is_shown)


_Part = tuple[Integers, Integers, Integers, Integers, Integers, Integers]


def _span_begins(
    events: Records, ticks: Integers, recorded: Integers, spans: Integers, long_wait: int
) -> list[_Part]:
    """Place, time, order, change, role and source of the begins of spans, and of the waits for locks."""
    kind = events["kind"][spans]
    waited = np.where(
        kind == EventKind.LOCK, np.minimum(events["b"][spans], np.uint64(1 << 62)).astype(np.int64), 0
    )
    waited = np.where(waited >= max(long_wait, 1), waited, 0)
    begin = np.maximum(ticks[spans] - waited, 0)
    # Behind all that was recorded until then; of spans that begin together, the one that ends last comes first.
    place = np.minimum(np.searchsorted(recorded, begin, side="right"), spans)
    # A loop begins before the chunk that was taken at the same tick.
    loops = np.flatnonzero(kind == EventKind.LOOP)
    if len(loops):
        chunks_later = np.maximum.accumulate(2 * recorded + (events["kind"] == EventKind.CHUNK))
        earlier = np.searchsorted(chunks_later, 2 * begin[loops], side="right")
        place[loops] = np.minimum(place[loops], earlier)
    ones_of_spans = np.ones(len(spans), np.int64)
    begins = (place, begin, -2 * spans, ones_of_spans, _ROLE[kind].astype(np.int64), spans)
    locks = np.flatnonzero(waited > 0)
    source, begin_of_lock = spans[locks], ticks[spans[locks]]
    role = np.full(len(locks), int(Role.LOCK_WAIT))
    wait_begins = (place[locks], begin[locks], -2 * source + 1, ones_of_spans[locks], role, source)
    place_behind = np.minimum(np.searchsorted(recorded, begin_of_lock, side="right"), source)
    first = np.full(len(locks), -4 * (len(events) + 1))
    wait_ends = (place_behind, begin_of_lock, first, -ones_of_spans[locks], role, source)
    return [begins, wait_begins, wait_ends]


def _chunk_ends(events: Records, kind: NDArray[np.uint16], recorded: Integers) -> _Part:
    """A chunk lasts until the lane takes the next one of the loop, or leaves the loop."""
    related = np.flatnonzero((kind == EventKind.CHUNK) | (kind == EventKind.LOOP))
    subjects = events["subject"][related]
    order = np.argsort(subjects, kind="stable")
    current, following = related[order][:-1], related[order][1:]
    is_ended = (subjects[order][:-1] == subjects[order][1:]) & (kind[current] == EventKind.CHUNK)
    return _ends(Role.CHUNK, current[is_ended], following[is_ended], events, recorded)


def _state_ends(events: Records, kind: NDArray[np.uint16], recorded: Integers) -> _Part:
    """A worker is in a state until it tells of the next one."""
    states = np.flatnonzero(kind == EventKind.WORKER_STATE)
    is_shown = events["arg"][states[:-1]] > WorkerState.RUNS
    return _ends(Role.STATE, states[:-1][is_shown], states[1:][is_shown], events, recorded)


def _ends(role: Role, source: Integers, place: Integers, events: Records, recorded: Integers) -> _Part:
    """What `source` began ends with the event at `place`, before anything else of that moment."""
    count = len(source)
    return (
        place,
        recorded[place],
        np.full(count, -8 * (len(events) + 1)),
        np.full(count, -1),
        np.full(count, int(role)),
        source,
    )


def _suspensions(kind: NDArray[np.uint16], recorded: Integers) -> _Part:
    """An instant in each part that ends since the task was suspended."""
    place = np.flatnonzero(kind == EventKind.TASK_SUSPENDED)
    zeros = np.zeros(len(place), np.int64)
    return place, recorded[place], zeros, zeros, zeros + int(Role.SUSPENDED), place


def _completed(items: _Items, end: int) -> _Items:
    """With begins, at the first instant, of what ends without, and ends, at `end`, of what begins without."""
    depth = np.cumsum(items.change, dtype=np.int64)
    if not len(depth):
        return items
    least_depth = np.minimum(np.minimum.accumulate(depth), 0)
    is_new_least = np.diff(least_depth, prepend=0) < 0
    lost = np.flatnonzero(is_new_least)[::-1]
    if len(lost):
        begins = items.pick(lost)
        begins.ticks[:], begins.change[:] = items.ticks[0], 1
        items = begins + items
        depth = np.cumsum(items.change, dtype=np.int64)
    # Open are the begins whose depth is never left again.
    lowest_later = np.minimum.accumulate(depth[::-1])[::-1]
    is_open = (items.change == 1) & (lowest_later >= depth)
    still_open = np.flatnonzero(is_open)[::-1]
    if len(still_open):
        ends = items.pick(still_open)
        ends.ticks[:], ends.change[:] = max(end, int(items.ticks[-1])), -1
        items = items + ends
    return items


def _partners(change: NDArray[np.int8]) -> Integers:
    """Of each begin its end and the reverse, by depth; -1 for instants. Every one must have its partner."""
    partner = np.full(len(change), -1, np.int64)
    changing = np.flatnonzero(change)
    sense = change[changing]
    level = np.cumsum(sense, dtype=np.int64) + (sense < 0)
    # Sorting 16-bit numbers takes a fraction of the time, and nothing nests that deep.
    deepest = int(level.max(initial=0))
    order = np.argsort(level.astype(np.int16) if deepest < 1 << 15 else level, kind="stable")
    begins, ends = changing[order[0::2]], changing[order[1::2]]
    partner[begins], partner[ends] = ends, begins
    return partner


def _is_matched(events: Records, items: _Items, partner: Integers) -> bool:
    """Whether each end closes what its begin opened."""
    begins = np.flatnonzero(items.change == 1)
    return bool(_is_pair(events, items, begins, partner[begins]).all())


def _is_pair(events: Records, items: _Items, begins: Integers, ends: Integers) -> NDArray[np.bool_]:
    """Of each begin whether that end closes it."""
    role, opened, closed = items.role[begins], items.source[begins], items.source[ends]
    result: NDArray[np.bool_] = role == items.role[ends]
    is_span = role >= Role.LOOP
    result[is_span] &= opened[is_span] == closed[is_span]
    role, opened, closed = role[~is_span], opened[~is_span], closed[~is_span]
    result[~is_span] &= _identity(events, role, opened) == _identity(events, role, closed)
    return result


def _identity(events: Records, role: NDArray[np.uint8], source: Integers) -> NDArray[np.uint64]:
    """What begin and end have in common: instance or task, or the subject of what has neither."""
    number = events["a"][source]
    by_subject = (role == Role.SCOPE) | (number == 0)
    return np.where(by_subject, events["subject"][source] + np.uint64(1 << 63), number)


class _Repair:
    """Puts slices that cross in order, one by one: a task that went on elsewhere, locks released out of order.

    A slice that ends below others cuts them in two; an end without a begin is dropped. With a damaged file
    that could grow without bound, so at some length no more is cut: what lies above then ends as well.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._ticks, self._change, self._role, self._source = (array("q") for _ in range(4))
        self._stack: list[tuple[int, int, int]] = []

    def _add(self, at: int, change: int, role: int, source: int) -> None:
        self._ticks.append(at)
        self._change.append(change)
        self._role.append(role)
        self._source.append(source)

    def add(self, at: int, change: int, role: int, source: int, identity: int) -> None:
        """The next item in order of time; `identity` is common to a begin and its end."""
        if change >= 0:
            self._add(at, change, role, source)
            if change == 1:
                self._stack.append((role, identity, source))
            return
        place = next(
            (n for n in range(len(self._stack) - 1, -1, -1) if self._stack[n][:2] == (role, identity)), None
        )
        if place is None:
            return
        above_place = self._stack[place + 1 :]
        for open_slice in reversed(self._stack[place:]):
            self._add(at, -1, open_slice[0], open_slice[2])
        del self._stack[place:]
        if len(self._ticks) < self._longest:
            for open_slice in above_place:
                self._add(at, 1, open_slice[0], open_slice[2])
                self._stack.append(open_slice)

    @property
    def is_open(self) -> bool:
        """Whether a slice has not ended yet."""
        return bool(self._stack)

    def items(self) -> _Items:
        """What it came to."""
        ticks, change, role, source = (
            np.frombuffer(column, np.int64) if column else np.empty(0, np.int64)
            for column in (self._ticks, self._change, self._role, self._source)
        )
        return _Items(ticks.copy(), change.astype(np.int8), role.astype(np.uint8), source)


def _repaired(events: Records, items: _Items) -> _Items:
    """Only where slices cross are they gone through one by one: in long traces these are few."""
    bounds, crossing = _crossing(events, items)
    longest = 2 * len(items.ticks) + 1000
    pieces: list[_Items] = []
    at = length = 0
    for stretch in crossing.tolist():
        if stretch < at:
            continue
        pieces.append(items.pick(slice(bounds[at], bounds[stretch])))
        repair = _Repair(longest - length - len(pieces[-1].ticks))
        at, step = stretch, 1
        while at == stretch or (repair.is_open and at + 1 < len(bounds)):
            stop = min(at + step, len(bounds) - 1)
            _go_through(events, items, int(bounds[at]), int(bounds[stop]), repair)
            at, step = stop, 2 * step
        pieces.append(repair.items())
        length += sum(len(piece.ticks) for piece in pieces[-2:])
    pieces.append(items.pick(slice(bounds[at], None)))
    return reduce(_Items.__add__, pieces)


def _crossing(events: Records, items: _Items) -> tuple[Integers, Integers]:
    """Bounds of stretches from one moment without an open slice to the next, and which of these have slices that cross."""
    count = len(items.ticks)
    depth = np.cumsum(items.change, dtype=np.int64)
    if depth.min() < 0:
        return np.array([0, count]), np.zeros(1, np.int64)
    bounds = np.unique(np.concatenate([[0], np.flatnonzero(depth == 0) + 1, [count]]))
    whole = _completed(items, int(items.ticks[-1]))
    begins = np.flatnonzero(whole.change == 1)
    is_crossed = ~_is_pair(events, whole, begins, _partners(whole.change)[begins])
    # What is open at the end is no pair.
    unfinished = np.array([count - 1] if depth[-1] > 0 else [], np.int64)
    places = np.concatenate([begins[is_crossed], unfinished])
    return bounds, np.unique(np.searchsorted(bounds, places, side="right") - 1)


def _go_through(events: Records, items: _Items, low: int, high: int, repair: _Repair) -> None:
    for begin in range(low, high, _BLOCK):
        for item in _rows(events, items.pick(slice(begin, min(begin + _BLOCK, high)))):
            repair.add(*item)


def _rows(events: Records, part: _Items) -> Iterator[tuple[int, int, int, int, int]]:
    identity = np.where(
        part.role >= Role.LOOP, part.source.astype(np.uint64), _identity(events, part.role, part.source)
    )
    columns = (part.ticks, part.change, part.role, part.source, identity)
    return zip(*(column.tolist() for column in columns), strict=True)

"""The intervals of several processes on one axis of time: who waited for a message waited for its sender."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.traces.intervals.lookup import lookup
from trimtab.traces.intervals.model import NO_LANE, Doing, Group, Integers, Intervals, Kind
from trimtab.traces.intervals.parcels import Received, Sent, alone_by_rank, received_by, sent_by
from trimtab.traces.trace import Trace

_WAYS = (Doing.QUEUED, Doing.TRANSIT)


def intervals_of_job(traces: Sequence[Trace], own: Sequence[Intervals], places: Sequence[int]) -> Intervals:
    """All lanes of all processes, one process behind the other, and their groups likewise; `places`: what to call each process.

    A wait for a message lasts until its parcel was sent, for the lane that sent it; from then on its receiver resumes: as long as
    the parcel is in the queue of its sender, and then until the message is received.
    """
    own = [_with_ways(each) for each in own]
    first_lanes = np.cumsum([0, *(len(each.lanes) for each in own)])
    begins = [round(trace.begin_ns) for trace in traces]
    sent = [
        sent_by(trace, each.lanes, begin, int(first))
        for trace, each, begin, first in zip(traces, own, begins, first_lanes, strict=False)
    ]
    senders = {rank: sent[at] for rank, at in alone_by_rank(traces).items()}
    moved = []
    for at, (trace, each) in enumerate(zip(traces, own, strict=True)):
        shifted = _shifted(each, begins[at], int(first_lanes[at]), sum(len(one.groups) for one in own[:at]))
        moved.append(_for_senders(shifted, each, received_by(trace), senders))
    columns = ("begin_ns", "end_ns", "lane", "giver", "group", "kind")
    whole = {name: np.concatenate([getattr(each, name) for each in moved]) for name in columns}
    return Intervals(
        **whole,
        groups=tuple(group for each in own for group in each.groups),
        lanes=tuple(lane for each in own for lane in each.lanes),
        took_part=tuple(part for each in own for part in each.took_part),
        process_of=tuple(place for place, each in zip(places, own, strict=True) for _ in each.groups),
    )


def _with_ways(own: Intervals) -> Intervals:
    """With two further groups for each that waits for messages: of messages in queues, and on their way."""
    waits = [at for at, group in enumerate(own.groups) if group.doing is Doing.MESSAGE]
    further = tuple(replace(own.groups[at], doing=doing) for doing in _WAYS for at in waits)
    return replace(
        own,
        groups=own.groups + further,
        process_of=own.process_of + tuple(own.process_of[at] for at in waits) * len(_WAYS),
    )


def _way_of(groups: Sequence[Group], doing: Doing) -> Integers:
    """For each group that of messages in queues, or on their way, by place: itself, unless it waits for messages."""
    later = iter(at for at, group in enumerate(groups) if group.doing is doing)
    return np.array(
        [next(later) if group.doing is Doing.MESSAGE else at for at, group in enumerate(groups)], np.int64
    )


def _shifted(own: Intervals, begin_ns: int, first_lane: int, first_group: int) -> Intervals:
    giver = np.where(own.giver == NO_LANE, own.giver, own.giver + np.uint32(first_lane)).astype(np.uint32)
    return replace(
        own,
        begin_ns=own.begin_ns + begin_ns,
        end_ns=own.end_ns + begin_ns,
        lane=own.lane + np.int32(first_lane),
        giver=giver,
        group=own.group + np.int32(first_group),
    )


def _for_senders(moved: Intervals, own: Intervals, received: Received, senders: dict[int, Sent]) -> Intervals:
    is_message = np.array([group.doing is Doing.MESSAGE for group in own.groups] or [False])
    waits = (
        np.flatnonzero(is_message[own.group] & (own.kind == Kind.WAITING)) if len(own) else np.empty(0, int)
    )
    if not len(waits) or not len(received.at_ns):
        return moved
    waits = waits[np.lexsort((own.begin_ns[waits], own.lane[waits]))]
    # The last piece of a wait ends when the message was received.
    end_ns = _ends_of_runs(own, waits)
    row = np.minimum(np.searchsorted(received.at_ns, end_ns), len(received.at_ns) - 1)
    is_found = received.at_ns[row] == end_ns
    waits, row = waits[is_found], row[is_found]
    giver = moved.giver.copy()
    sent_at, left_at = np.full(len(waits), -1, np.int64), np.full(len(waits), -1, np.int64)
    for chosen, lanes, at_ns, left_ns in _of_each_sender(received, row, senders):
        giver[waits[chosen]], sent_at[chosen], left_at[chosen] = lanes, at_ns, left_ns
    is_known = sent_at >= 0
    return _cut(replace(moved, giver=giver), own, waits[is_known], (sent_at[is_known], left_at[is_known]))


def _ends_of_runs(own: Intervals, waits: Integers) -> Integers:
    """The end of the last of the pieces that follow each other without a gap, for each of these, which are in order."""
    begin, end, lane = own.begin_ns[waits], own.end_ns[waits], own.lane[waits]
    is_last = np.append((begin[1:] != end[:-1]) | (lane[1:] != lane[:-1]), True)
    lasts = np.flatnonzero(is_last)
    ends: Integers = end[lasts[np.searchsorted(lasts, np.arange(len(waits)))]]
    return ends


def _of_each_sender(
    received: Received, row: Integers, senders: dict[int, Sent]
) -> Iterator[tuple[Integers, Integers, Integers, Integers]]:
    """For each process that sent: which rows are of it, the lanes that sent them, when, and when they left their queues."""
    for rank, sent in senders.items():
        chosen = np.flatnonzero(received.rank[row] == rank)
        at = lookup(sent.number, received.number[row[chosen]])
        chosen, at = chosen[at >= 0], at[at >= 0]
        yield chosen, sent.lane[at], sent.at_ns[at], sent.left_ns[at]


def _cut(moved: Intervals, own: Intervals, waits: Integers, at: tuple[Integers, Integers]) -> Intervals:
    """Waits that end when their parcel was sent; then it is in a queue, and then on its way. `at`: when it was sent, and when it left."""
    begin, end = moved.begin_ns[waits], moved.end_ns[waits]
    # Clocks of hosts differ by a little.
    sent = np.clip(at[0], begin, end)
    left = np.clip(at[1], sent, end)
    giver = moved.giver[waits]
    parts = [_Part(begin, sent, moved.group[waits], giver, Kind.WAITING)]
    for doing, low, high in ((Doing.QUEUED, sent, left), (Doing.TRANSIT, left, end)):
        way = moved.group[waits] + (_way_of(own.groups, doing)[own.group[waits]] - own.group[waits])
        sender = giver if doing is Doing.QUEUED else np.full(len(waits), NO_LANE, np.uint32)
        parts.append(_Part(low, high, way.astype(np.int32), sender, Kind.RESUMING))
    lengths = [part.has_length for part in parts]
    others = np.ones(len(moved), np.bool_)
    others[waits] = False

    def with_parts(column: NDArray[Any], of_parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
        new = (values[has_length] for values, has_length in zip(of_parts, lengths, strict=True))
        return np.concatenate([column[others], *new])

    return replace(
        moved,
        begin_ns=with_parts(moved.begin_ns, (part.begin_ns for part in parts)),
        end_ns=with_parts(moved.end_ns, (part.end_ns for part in parts)),
        lane=with_parts(moved.lane, (moved.lane[waits] for _ in parts)),
        giver=with_parts(moved.giver, (part.giver for part in parts)),
        group=with_parts(moved.group, (part.group for part in parts)),
        kind=with_parts(moved.kind, (np.full(len(waits), int(part.kind), np.int8) for part in parts)),
    )


@dataclass(frozen=True)
class _Part:
    """One part of each of several waits; those without a length are not there."""

    begin_ns: Integers
    end_ns: Integers
    group: NDArray[np.int32]
    giver: NDArray[np.uint32]
    kind: Kind

    @property
    def has_length(self) -> NDArray[np.bool_]:
        """Whether the part has a length."""
        is_long: NDArray[np.bool_] = self.end_ns > self.begin_ns
        return is_long

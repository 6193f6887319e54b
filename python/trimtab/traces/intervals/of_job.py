"""The intervals of several processes on one axis of time: who waited for a message waited for its sender."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trimtab.model.enumerations import EventKind
from trimtab.traces.intervals.lookup import lookup
from trimtab.traces.intervals.model import NO_LANE, Doing, Integers, Intervals, Kind
from trimtab.traces.trace import Trace


@dataclass(frozen=True)
class _Sent:
    """The parcels that a process sent: number, when (nanoseconds of the job), and the lane by its place in the job."""

    number: Integers
    at_ns: Integers
    lane: Integers


@dataclass(frozen=True)
class _Received:
    """The parcels that a process received, by time (nanoseconds since the process began)."""

    at_ns: Integers
    number: Integers
    rank: Integers


def intervals_of_job(traces: Sequence[Trace], own: Sequence[Intervals], places: Sequence[int]) -> Intervals:
    """All lanes of all processes, one process behind the other, and their groups likewise; `places`: what to call each process.

    A wait for a message lasts until the message was sent, for the lane that sent it; from then on its receiver resumes.
    """
    first_lanes = np.cumsum([0, *(len(each.lanes) for each in own)])
    begins = [round(trace.begin_ns) for trace in traces]
    sent = [
        _sent_by(trace, each, begin, int(first))
        for trace, each, begin, first in zip(traces, own, begins, first_lanes, strict=False)
    ]
    senders = {rank: sent[at] for rank, at in _alone(traces).items()}
    moved = []
    for at, (trace, each) in enumerate(zip(traces, own, strict=True)):
        shifted = _shifted(each, begins[at], int(first_lanes[at]), sum(len(one.groups) for one in own[:at]))
        moved.append(_for_senders(shifted, each, _received_by(trace), begins[at], senders))
    columns = ("begin_ns", "end_ns", "lane", "giver", "group", "kind")
    whole = {name: np.concatenate([getattr(each, name) for each in moved]) for name in columns}
    return Intervals(
        **whole,
        groups=tuple(group for each in own for group in each.groups),
        lanes=tuple(lane for each in own for lane in each.lanes),
        took_part=tuple(part for each in own for part in each.took_part),
        process_of=tuple(place for place, each in zip(places, own, strict=True) for _ in each.groups),
    )


def _alone(traces: Sequence[Trace]) -> dict[int, int]:
    """By rank the place of its process; of ranks with several processes nothing is said."""
    ranks = [trace.rank for trace in traces]
    return {rank: ranks.index(rank) for rank in ranks if rank is not None and ranks.count(rank) == 1}


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


def _ns_of(trace: Trace, ticks: Integers) -> Integers:
    start = np.uint64(trace.process.header["start_ticks"])
    since = (np.maximum(ticks, start) - start).astype(np.int64)
    ns: Integers = np.rint(since * trace.process.ns_per_tick).astype(np.int64)
    return ns


def _sent_by(trace: Trace, own: Intervals, begin_ns: int, first_lane: int) -> _Sent:
    number, at_ns, lane = [], [], []
    for each in trace.process.lanes:
        events = each.events[each.events["kind"] == EventKind.PARCEL_SENT]
        number.append(events["a"].astype(np.int64))
        at_ns.append(_ns_of(trace, events["ticks"]) + begin_ns)
        place = first_lane + own.lanes.index(each.id) if each.id in own.lanes else NO_LANE
        lane.append(np.full(len(events), place, np.int64))
    return _Sent(*(np.concatenate([np.empty(0, np.int64), *column]) for column in (number, at_ns, lane)))


def _received_by(trace: Trace) -> _Received:
    events = [lane.events[lane.events["kind"] == EventKind.PARCEL_RECEIVED] for lane in trace.process.lanes]
    none = np.empty(0, np.int64)
    at_ns = np.concatenate([none, *(_ns_of(trace, each["ticks"]) for each in events)])
    number = np.concatenate([none, *(each["b"].astype(np.int64) for each in events)])
    rank = np.concatenate([none, *(each["arg"].astype(np.int64) for each in events)])
    order = np.lexsort((number, rank, at_ns))
    return _Received(at_ns[order], number[order], rank[order])


def _for_senders(
    moved: Intervals, own: Intervals, received: _Received, begin_ns: int, senders: dict[int, _Sent]
) -> Intervals:
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
    giver, sent_at = moved.giver.copy(), np.full(len(waits), -1, np.int64)
    for chosen, lanes, at_ns in _of_each_sender(received, row, senders):
        giver[waits[chosen]], sent_at[chosen] = lanes, at_ns
    return _cut(replace(moved, giver=giver), waits, sent_at)


def _ends_of_runs(own: Intervals, waits: Integers) -> Integers:
    """The end of the last of the pieces that follow each other without a gap, for each of these, which are in order."""
    begin, end, lane = own.begin_ns[waits], own.end_ns[waits], own.lane[waits]
    is_last = np.append((begin[1:] != end[:-1]) | (lane[1:] != lane[:-1]), True)
    lasts = np.flatnonzero(is_last)
    ends: Integers = end[lasts[np.searchsorted(lasts, np.arange(len(waits)))]]
    return ends


def _of_each_sender(
    received: _Received, row: Integers, senders: dict[int, _Sent]
) -> Iterator[tuple[Integers, Integers, Integers]]:
    """For each process that sent: which rows are of it, the lanes that sent them, and when."""
    for rank, sent in senders.items():
        chosen = np.flatnonzero(received.rank[row] == rank)
        at = lookup(sent.number, received.number[row[chosen]])
        chosen, at = chosen[at >= 0], at[at >= 0]
        yield chosen, sent.lane[at], sent.at_ns[at]


def _cut(moved: Intervals, waits: Integers, sent_at: Integers) -> Intervals:
    """Waits that end when their message was sent; the rest is the way of the message."""
    is_known = sent_at >= 0
    waits, sent_at = waits[is_known], sent_at[is_known]
    begin, end, kind = moved.begin_ns.copy(), moved.end_ns.copy(), moved.kind.copy()
    # Clocks of hosts differ by a little.
    cut = np.clip(sent_at, begin[waits], end[waits])
    is_late = cut == begin[waits]
    kind[waits[is_late]] = int(Kind.RESUMING)
    moved.giver[waits[is_late]] = NO_LANE
    both = np.flatnonzero((cut > begin[waits]) & (cut < end[waits]))
    rest_begin, rest_end = cut[both], end[waits[both]]
    end[waits[both]] = cut[both]
    rest = waits[both]
    return replace(
        moved,
        begin_ns=np.concatenate([begin, rest_begin]),
        end_ns=np.concatenate([end, rest_end]),
        lane=np.concatenate([moved.lane, moved.lane[rest]]),
        giver=np.concatenate([moved.giver, np.full(len(rest), NO_LANE, np.uint32)]),
        group=np.concatenate([moved.group, moved.group[rest]]),
        kind=np.concatenate([kind, np.full(len(rest), int(Kind.RESUMING), np.int8)]),
    )

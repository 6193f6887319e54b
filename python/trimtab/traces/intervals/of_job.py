"""The intervals of several processes on one axis of time: who waited for a message waited for its sender."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trimtab.traces.intervals.lookup import lookup
from trimtab.traces.intervals.model import NO_LANE, Doing, Group, Integers, Intervals, Kind
from trimtab.traces.intervals.parcels import Received, Sent, alone_by_rank, received_by, sent_by
from trimtab.traces.trace import Trace


def intervals_of_job(traces: Sequence[Trace], own: Sequence[Intervals], places: Sequence[int]) -> Intervals:
    """All lanes of all processes, one process behind the other, and their groups likewise; `places`: what to call each process.

    A wait for a message lasts until the message was sent, for the lane that sent it; from then on its receiver resumes.
    """
    own = [_with_transit(each) for each in own]
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


def _with_transit(own: Intervals) -> Intervals:
    """With a further group for each that waits for messages: of messages that are on their way."""
    waits = [at for at, group in enumerate(own.groups) if group.doing is Doing.MESSAGE]
    return replace(
        own,
        groups=own.groups + tuple(replace(own.groups[at], doing=Doing.TRANSIT) for at in waits),
        process_of=own.process_of + tuple(own.process_of[at] for at in waits),
    )


def _transit_of(groups: Sequence[Group]) -> Integers:
    """For each group the one of messages on their way, by place: itself, unless it waits for messages."""
    later = iter(at for at, group in enumerate(groups) if group.doing is Doing.TRANSIT)
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
    giver, sent_at = moved.giver.copy(), np.full(len(waits), -1, np.int64)
    for chosen, lanes, at_ns in _of_each_sender(received, row, senders):
        giver[waits[chosen]], sent_at[chosen] = lanes, at_ns
    transit = moved.group + (_transit_of(own.groups)[own.group] - own.group)
    return _cut(replace(moved, giver=giver), waits, sent_at, transit.astype(np.int32))


def _ends_of_runs(own: Intervals, waits: Integers) -> Integers:
    """The end of the last of the pieces that follow each other without a gap, for each of these, which are in order."""
    begin, end, lane = own.begin_ns[waits], own.end_ns[waits], own.lane[waits]
    is_last = np.append((begin[1:] != end[:-1]) | (lane[1:] != lane[:-1]), True)
    lasts = np.flatnonzero(is_last)
    ends: Integers = end[lasts[np.searchsorted(lasts, np.arange(len(waits)))]]
    return ends


def _of_each_sender(
    received: Received, row: Integers, senders: dict[int, Sent]
) -> Iterator[tuple[Integers, Integers, Integers]]:
    """For each process that sent: which rows are of it, the lanes that sent them, and when."""
    for rank, sent in senders.items():
        chosen = np.flatnonzero(received.rank[row] == rank)
        at = lookup(sent.number, received.number[row[chosen]])
        chosen, at = chosen[at >= 0], at[at >= 0]
        yield chosen, sent.lane[at], sent.at_ns[at]


def _cut(moved: Intervals, waits: Integers, sent_at: Integers, transit: NDArray[np.int32]) -> Intervals:
    """Waits that end when their message was sent; the rest is the way of the message, in the group `transit`."""
    is_known = sent_at >= 0
    waits, sent_at = waits[is_known], sent_at[is_known]
    begin, end, kind = moved.begin_ns.copy(), moved.end_ns.copy(), moved.kind.copy()
    group = moved.group.copy()
    # Clocks of hosts differ by a little.
    cut = np.clip(sent_at, begin[waits], end[waits])
    is_late = cut == begin[waits]
    kind[waits[is_late]] = int(Kind.RESUMING)
    group[waits[is_late]] = transit[waits[is_late]]
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
        group=np.concatenate([group, transit[rest]]),
        kind=np.concatenate([kind, np.full(len(rest), int(Kind.RESUMING), np.int8)]),
    )

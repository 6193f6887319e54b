"""The parcels that processes of a job sent to each other, as their traces have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.model.enumerations import EventKind
from trimtab.readers import layout
from trimtab.traces.intervals.lookup import among, lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Integers
from trimtab.traces.trace import Trace


@dataclass(frozen=True)
class Sent:
    """The parcels that a process sent: number, when (nanoseconds of the job), the lane by its place in the job, and to which rank.

    `left_ns`: when each left the queue of its sender; `at_ns` where that is not recorded. `leave_cause`: a LeaveCause; `message`: its
    number among those to that process; -1: not recorded.
    """

    number: Integers
    at_ns: Integers
    lane: Integers
    to: Integers
    left_ns: Integers
    leave_cause: Integers
    message: Integers


@dataclass(frozen=True)
class Received:
    """The parcels that a process received, by time (nanoseconds since the process began)."""

    at_ns: Integers
    number: Integers
    rank: Integers


def alone_by_rank(traces: Sequence[Trace]) -> dict[int, int]:
    """By rank the place of its process; of ranks with several processes nothing is said."""
    ranks = [trace.rank for trace in traces]
    return {rank: ranks.index(rank) for rank in ranks if rank is not None and ranks.count(rank) == 1}


def ns_of(trace: Trace, ticks: Integers) -> Integers:
    """Nanoseconds since the process began."""
    start = np.uint64(trace.process.header["start_ticks"])
    since = (np.maximum(ticks, start) - start).astype(np.int64)
    ns: Integers = np.rint(since * trace.process.ns_per_tick).astype(np.int64)
    return ns


def sent_by(trace: Trace, lanes: Sequence[int], begin_ns: int, first_lane: int = 0) -> Sent:
    """Of a process: `lanes`: their numbers, the first of which has the place `first_lane`; others are NO_LANE."""
    number, at_ns, places, receivers = [], [], [], []
    for lane in trace.process.lanes:
        events = lane.events[lane.events["kind"] == EventKind.PARCEL_SENT]
        number.append(events["a"].astype(np.int64))
        at_ns.append(ns_of(trace, events["ticks"]) + begin_ns)
        receivers.append(events["arg"].astype(np.int64))
        place = first_lane + lanes.index(lane.id) if lane.id in lanes else NO_LANE
        places.append(np.full(len(events), place, np.int64))
    none = np.empty(0, np.int64)
    numbers, at, place_of, rank = (
        np.concatenate([none, *column]) for column in (number, at_ns, places, receivers)
    )
    return Sent(numbers, at, place_of, rank, *_leaving(trace, numbers, at, begin_ns))


def _leaving(
    trace: Trace, number: Integers, at_ns: Integers, begin_ns: int
) -> tuple[Integers, Integers, Integers]:
    """When these parcels left their queues, why, and in which message: another lane may have sent it."""
    tables = [lane.events[lane.events["kind"] == EventKind.PARCEL_LEFT] for lane in trace.process.lanes]
    events = np.concatenate(tables) if tables else np.empty(0, layout.EVENT)
    row = lookup(events["a"].astype(np.int64), number)
    left_ns = np.maximum(values_at(ns_of(trace, events["ticks"]) + begin_ns, row, -1), at_ns)
    cause = values_at(events["arg"].astype(np.int64), row, -1)
    return left_ns, cause, values_at(events["b"].astype(np.int64), row, -1)


def received_by(trace: Trace) -> Received:
    """Those that became tasks, and those that let tasks go on."""
    kinds = (EventKind.PARCEL_RECEIVED, EventKind.ANSWER_RECEIVED)
    events = [lane.events[among(lane.events["kind"], kinds)] for lane in trace.process.lanes]
    none = np.empty(0, np.int64)
    at_ns = np.concatenate([none, *(ns_of(trace, sent["ticks"]) for sent in events)])
    number = np.concatenate([none, *(sent["b"].astype(np.int64) for sent in events)])
    rank = np.concatenate([none, *(sent["arg"].astype(np.int64) for sent in events)])
    order = np.lexsort((number, rank, at_ns))
    return Received(at_ns[order], number[order], rank[order])

"""The intervals of a process, from its trace."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimtab.traces.intervals.barriers import Barriers
from trimtab.traces.intervals.gifts import Gifts, last_task_lane
from trimtab.traces.intervals.holds import Holds
from trimtab.traces.intervals.inside import Known, inside
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import among
from trimtab.traces.intervals.model import NO_LANE, Doing, Group, Integers, Intervals, Kind, Pace
from trimtab.traces.intervals.off_cpu import Absences, without_cpu
from trimtab.traces.intervals.outside import between_tasks, outside
from trimtab.traces.intervals.pieces import BUSY, Pieces, joined
from trimtab.traces.intervals.task_paces import TaskTimes
from trimtab.traces.intervals.teams import Teams
from trimtab.traces.trace import Trace

_BLOCK = 1 << 16


def intervals_of(trace: Trace) -> Intervals | None:
    """None where the process has no events of regions or tasks, or not all of them."""
    process = trace.process
    is_whole = all(
        lane.events_written <= len(lane.events) and not lane.events_dropped for lane in process.lanes
    )
    if not is_whole:
        return None
    start = int(process.header["start_ticks"])
    built = [LaneParts.of(lane, trace) for lane in process.lanes]
    used = [parts for parts in built if len(parts.works) or parts.is_worker or parts.forks]
    if not any(len(parts.works) for parts in used):
        return None
    switches = process.switches
    absences = [Absences.of(switches[switches["b"] == parts.lane.id], start) for parts in used]
    gifts = Gifts.of(used)
    known = Known(
        Teams.of(used, absences),
        Barriers.of(used),
        Holds.of(used),
        gifts,
        TaskTimes.of(used, gifts, absences),
        last_task_lane(used),
    )
    pieces = [
        without_cpu(_pieces(parts, at, known, trace.end_ticks - start), absences[at])
        for at, parts in enumerate(used)
    ]
    lanes = tuple(parts.lane.id for parts in used)
    # Of a long trace these take gigabytes.
    del built, used, known, gifts
    whole = joined(pieces)
    del pieces
    return _finished(whole, lanes, process.ns_per_tick)


def _pieces(parts: LaneParts, at: int, known: Known, end: int) -> Pieces:
    made = [inside(parts, at, known)]
    if parts.is_worker:
        made.append(between_tasks(parts, at))
    elif len(parts.works) or parts.forks:
        made.append(outside(parts, at, known.teams, end))
    return joined(made)


def _finished(pieces: Pieces, lanes: tuple[int, ...], ns_per_tick: float) -> Intervals:
    """Waits end where their giver acted; the rest of a piece is resuming."""
    is_busy = among(pieces.doing, BUSY)
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


def _groups(pieces: Pieces) -> tuple[NDArray[np.int32], tuple[Group, ...]]:
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

"""The intervals of a process, from its trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Lane
from trimtab.threads import of_each
from trimtab.traces.columns import numbered
from trimtab.traces.intervals.awaited import Awaited
from trimtab.traces.intervals.barriers import Barriers
from trimtab.traces.intervals.gifts import Gifts, LastTask
from trimtab.traces.intervals.holds import Holds
from trimtab.traces.intervals.inside import Known, inside
from trimtab.traces.intervals.lane_parts import LaneParts, parts_of
from trimtab.traces.intervals.lookup import among
from trimtab.traces.intervals.model import NO_LANE, Doing, Group, Intervals, Kind, Pace
from trimtab.traces.intervals.moments import ends_of_tasks, progress_of_tasks
from trimtab.traces.intervals.mutexes import MutexWaits
from trimtab.traces.intervals.numbered import NumberedTasks
from trimtab.traces.intervals.off_cpu import Absences, without_cpu
from trimtab.traces.intervals.order import Turns
from trimtab.traces.intervals.outside import between_tasks, outside
from trimtab.traces.intervals.pieces import BUSY, Pieces, joined
from trimtab.traces.intervals.task_paces import TaskTimes
from trimtab.traces.intervals.teams import Teams
from trimtab.traces.intervals.threads import beside_workers, blocked, gives_tasks, running
from trimtab.traces.trace import Trace


@dataclass(frozen=True)
class LanePieces:
    """Pieces of each lane of a process, without what its events say besides.

    Attributes:
        lanes: shape (lanes,), as `pieces` and `took_part` (whether it ran parts of regions or tasks).
        has_switches: as of `Lanes`.
    """

    lanes: tuple[Lane, ...]
    pieces: tuple[Pieces, ...]
    took_part: tuple[bool, ...]
    ns_per_tick: float
    has_switches: bool

    def intervals(self) -> Intervals:
        """The pieces as intervals, in nanoseconds."""
        numbers = tuple(lane.id for lane in self.lanes)
        finished = _finished(joined(self.pieces), numbers, self.ns_per_tick)
        return replace(finished, took_part=self.took_part, process_of=(0,) * len(finished.groups))


@dataclass(frozen=True)
class Lanes:
    """The lanes of a process that take part, with what is known of them; `pieces` has an entry for each lane.

    `has_switches`: context switches are recorded.
    """

    parts: tuple[LaneParts, ...]
    teams: Teams
    gifts: Gifts
    holds: Holds
    pieces: tuple[Pieces, ...]
    ns_per_tick: float
    has_switches: bool = False

    def without_events(self) -> LanePieces:
        """Of a long trace the events and what is known of them take gigabytes, the pieces less."""
        return LanePieces(
            tuple(parts.lane for parts in self.parts),
            self.pieces,
            tuple(bool(len(parts.works)) for parts in self.parts),
            self.ns_per_tick,
            self.has_switches,
        )


def lanes_of(trace: Trace, built: Sequence[LaneParts] | None = None) -> Lanes | None:
    """None where the process has no events of regions or tasks, or not all of them; `built`: its lanes' parts, if they are known."""
    process = trace.process
    is_whole = all(
        lane.events_written <= len(lane.events) and not lane.events_dropped for lane in process.lanes
    )
    if not is_whole:
        return None
    start = int(process.header["start_ticks"])
    # Of equal times the first lane comes first, whatever the order of the files.
    built = sorted(parts_of(trace) if built is None else built, key=lambda parts: parts.lane.id)
    has_workers = any(parts.is_worker for parts in built)
    used = [parts for parts in built if _is_used(parts, has_workers)]
    if not any(len(parts.works) for parts in used):
        return None
    switches = process.switches
    absences = [Absences.of(switches[switches["b"] == parts.lane.id], start) for parts in used]
    known = _known(used, built, absences)
    tasks_run = running(used)

    def pieces_of(at: int) -> Pieces:
        parts, end = used[at], trace.end_ticks - start
        if _is_outside(parts):
            stretches = blocked(absences[at]) if absences[at].is_recorded else tasks_run
            lane_pieces = beside_workers(parts, at, known.ends, stretches, (0, end))
        else:
            lane_pieces = _pieces(parts, at, known, end)
        return without_cpu(lane_pieces, absences[at])

    pieces = of_each(pieces_of, range(len(used)), sum(len(parts.low) for parts in used))
    return Lanes(
        tuple(used),
        known.teams,
        known.gifts,
        known.holds,
        tuple(pieces),
        process.ns_per_tick,
        len(switches) > 0,
    )


def intervals_of(trace: Trace) -> Intervals | None:
    """As `lanes_of`."""
    lanes = lanes_of(trace)
    return intervals_of_lanes(lanes) if lanes is not None else None


def intervals_of_lanes(lanes: Lanes) -> Intervals:
    """The pieces as intervals, in nanoseconds."""
    return lanes.without_events().intervals()


def _is_used(parts: LaneParts, has_workers: bool) -> bool:
    if len(parts.works) or parts.is_worker or parts.forks:
        return True
    return has_workers and (parts.is_main or gives_tasks(parts))


def _is_outside(parts: LaneParts) -> bool:
    """A thread that is no worker and of no team."""
    return not (len(parts.works) or parts.is_worker or parts.forks)


def _known(used: Sequence[LaneParts], built: Sequence[LaneParts], absences: Sequence[Absences]) -> Known:
    outside = [
        at for at, parts in enumerate(used) if not parts.is_worker and (parts.is_main or gives_tasks(parts))
    ]
    first = min(outside, key=lambda at: (not used[at].is_main, at), default=NO_LANE)
    tasks = NumberedTasks.of(used)
    gifts = Gifts.of(used, [parts for parts in built if parts not in used], tasks)
    return Known(
        Teams.of(used, absences),
        Barriers.of(used),
        Holds.of(used),
        gifts,
        TaskTimes.of(used, gifts, absences),
        LastTask.of(used),
        progress_of_tasks(used),
        Turns.of(used),
        ends_of_tasks(used, True),
        Awaited.of(used, gifts, tasks),
        first,
        MutexWaits.of(used),
    )


def _pieces(parts: LaneParts, at: int, known: Known, end: int) -> Pieces:
    made = [known.mutexes.while_locked(inside(parts, at, known))]
    if parts.is_worker:
        made.append(between_tasks(parts, at, known.outsider, _first_gift(known), end))
    elif len(parts.works) or parts.forks:
        made.append(outside(parts, at, known.teams, end))
    return joined(made)


def _first_gift(known: Known) -> int:
    """When the thread outside of the task runtime made its first task."""
    gifts = known.gifts.at[known.gifts.lane == known.outsider]
    return int(gifts.min()) if len(gifts) else int(np.iinfo(np.int64).max)


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
    keys, place = numbered(key)
    return place.astype(np.int32), tuple(
        Group(Doing(number >> 4 & 0xFF), number >> 12, Pace(number & 0xF)) for number in keys.tolist()
    )

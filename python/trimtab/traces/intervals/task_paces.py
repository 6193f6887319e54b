"""How long tasks took beside others of their kind, and what kept them from starting earlier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.model.enumerations import EventKind
from trimtab.traces.columns import numbered
from trimtab.traces.intervals.gifts import BY_TASKS, Gifts
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import values_at
from trimtab.traces.intervals.model import Booleans, Doing, Integers, Pace
from trimtab.traces.intervals.moments import union
from trimtab.traces.intervals.off_cpu import Absences
from trimtab.traces.slices import Role

# Times the median of its kind, if there are so many of that kind.
_STRAGGLER, _LEAST_TASKS = 2.0, 4
# A task that was ready for a smaller part of its own length before it ran could not have ended much earlier.
_AT_ONCE = 0.1


@dataclass(frozen=True)
class TaskPaces:
    """Of a lane's tasks and parts of tasks, by the place of their begin: the pace, and when they made their last task (-1: none)."""

    place: Integers
    pace: Integers
    made: Integers

    def of_owners(self, owner: Integers) -> tuple[Integers, Integers]:
        """Pace and last task made of the parts that pieces lie in; usual and -1 where it is none of these."""
        row = _row_of(self.place, owner)
        return values_at(self.pace, row, int(Pace.USUAL)), values_at(self.made, row, -1)


@dataclass(frozen=True)
class TaskTimes:
    """What the tasks of all lanes tell together.

    Attributes:
        paces: of each lane.
        queued: times in which a task was ready while the lane that ran it later was busy: begins, and ends. They follow each other.
    """

    paces: tuple[TaskPaces, ...]
    queued: tuple[Integers, Integers]

    @staticmethod
    def of(lanes: Sequence[LaneParts], gifts: Gifts, absences: Sequence[Absences]) -> TaskTimes:
        parts = [_Parts.of(lane, gifts, away) for lane, away in zip(lanes, absences, strict=True)]
        medians = _medians(parts)
        last_ends = [
            int(lane.ends(own.place).max()) for lane, own in zip(lanes, parts, strict=True) if len(own.place)
        ]
        first_idle = min(last_ends, default=0)
        waits = [_waits_of(lane) for lane in lanes]
        idle = union(*(np.concatenate([own[side] for own in waits]) for side in (0, 1)))
        low = np.concatenate([own.ready[own.is_given] for own in parts])
        high = np.concatenate([own.before[own.is_given] for own in parts])
        return TaskTimes(
            tuple(
                TaskPaces(
                    own.place,
                    own.paces(medians, own.ready > first_idle if lane.is_worker else _is_in(idle, own.ready)),
                    own.made,
                )
                for lane, own in zip(lanes, parts, strict=True)
            ),
            union(low[high > low], high[high > low]),
        )


@dataclass(frozen=True)
class _Parts:
    """A lane's tasks and parts of tasks.

    Attributes:
        work: computing, without what ran on top of it; `off_cpu`: part of it without a CPU.
        ready: when it could have started, where `is_given`; `is_chained`: since other tasks gave it all that it needed.
        before: when the lane ended what it did before.
    """

    place: Integers
    subject: Integers
    work: Integers
    off_cpu: Integers
    ready: Integers
    is_given: Booleans
    is_chained: Booleans
    before: Integers
    made: Integers

    @staticmethod
    def of(lane: LaneParts, gifts: Gifts, absences: Absences) -> _Parts:
        place = lane.works[lane.slices.role[lane.works] != Role.WORK]
        begin, number = lane.slices.ticks[place], lane.event("a", place)
        is_busy = (lane.owner >= 0) & ~np.isin(lane.slices.role[lane.inner], (Role.STATE, Role.WAIT))
        low, high = lane.low[is_busy], lane.high[is_busy]
        row = _row_of(place, lane.owner[is_busy])
        away = absences.preempted_until(high) - absences.preempted_until(low)
        gift = gifts.latest(np.where(number > 0, number, -1), begin)
        return _Parts(
            place,
            lane.event("subject", place),
            _sums(row, high - low, len(place)),
            _sums(row, away, len(place)),
            values_at(gifts.at, gift, 0),
            np.isin(values_at(gifts.doing, gift, -1), (int(Doing.SPAWN), *BY_TASKS)),
            np.isin(values_at(gifts.doing, gift, -1), BY_TASKS),
            values_at(high, np.searchsorted(high, begin, side="right") - 1, 0),
            _last_made(lane, place),
        )

    def paces(self, medians: dict[int, float], has_idle_lane: Booleans) -> Integers:
        """Those that took long; and those that became ready when a lane had run out of tasks already."""
        pace = np.full(len(self.place), int(Pace.USUAL), np.int64)
        is_prompt = self.before - self.ready < _AT_ONCE * self.work
        pace[self.is_chained & is_prompt & has_idle_lane] = int(Pace.CHAINED)
        kinds, kind = numbered(self.subject)
        limit = np.array([_STRAGGLER * medians.get(number, np.inf) for number in kinds.tolist()])[kind]
        pace[self.work - self.off_cpu > limit] = int(Pace.STRAGGLER)
        pace[(self.work > limit) & (self.work - self.off_cpu <= limit)] = int(Pace.PREEMPTED)
        return pace


def _waits_of(lane: LaneParts) -> tuple[Integers, Integers]:
    """When a lane that is no worker could have run tasks: in its waits, and behind its part of a region."""
    role = lane.slices.role[lane.inner]
    is_idle = (lane.inner >= 0) & np.isin(role, (Role.WAIT, Role.REGION))
    if not (lane.forks or lane.is_main):
        is_idle |= lane.inner < 0
    is_idle &= not lane.is_worker
    return lane.low[is_idle], lane.high[is_idle]


def _is_in(times: tuple[Integers, Integers], moments: Integers) -> Booleans:
    """Whether each moment is in one of these times, or ends it."""
    place = np.searchsorted(times[0], moments) - 1
    return (place >= 0) & (moments <= values_at(times[1], place, -1))


def _medians(parts: Sequence[_Parts]) -> dict[int, float]:
    """What the tasks of a kind compute, in the median, ticks; only of kinds with some."""
    subject = np.concatenate([own.subject for own in parts])
    work = np.concatenate([own.work - own.off_cpu for own in parts])
    order = np.argsort(subject, kind="stable")
    kinds, first = np.unique(subject[order], return_index=True)
    return (
        {
            kind: float(np.median(own))
            for kind, own in zip(kinds.tolist(), np.split(work[order], first[1:]), strict=True)
            if len(own) >= _LEAST_TASKS
        }
        if len(subject)
        else {}
    )


def _row_of(place: Integers, wanted: Integers) -> Integers:
    """Where these are among places in ascending order; -1: nowhere."""
    if not len(place):
        return np.full(len(wanted), -1, np.int64)
    row = np.minimum(np.searchsorted(place, wanted), len(place) - 1)
    found: Integers = np.where(place[row] == wanted, row, -1)
    return found


def _sums(row: Integers, ticks: Integers, count: int) -> Integers:
    is_in = row >= 0
    return np.bincount(row[is_in], weights=ticks[is_in], minlength=count).astype(np.int64)


def _last_made(lane: LaneParts, place: Integers) -> Integers:
    """When each part made its last task: by the events of its lane that lie in it and name it."""
    created = lane.lane.events[np.flatnonzero(lane.kinds == EventKind.TASK_CREATED)]
    made = np.full(len(place), -1, np.int64)
    if not len(place) or not len(created):
        return made
    ticks = np.maximum(created["ticks"].astype(np.int64) - lane.start, 0)
    begin, number = lane.slices.ticks[place], lane.event("a", place)
    row = np.searchsorted(begin, ticks, side="right") - 1
    is_in = (row >= 0) & (number[row] == created["b"].astype(np.int64)) & (number[row] > 0)
    np.maximum.at(made, row[is_in], ticks[is_in])
    return made

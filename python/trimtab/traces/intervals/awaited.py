"""Tasks that lanes wait for which are no workers: who ended each, and the chain of tasks that gave each other what they needed.

Of OpenMP's tasks with identities. While a task runs its lane is waited for; before it was ready, the lane of the task that gave
it the last that it depends on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trimtab.model.enumerations import EventKind
from trimtab.traces.columns import Groups, ordered
from trimtab.traces.intervals.gifts import Gifts
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import among, lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Booleans, Doing, Integers
from trimtab.traces.intervals.numbered import NumberedTasks
from trimtab.traces.intervals.pieces import Pieces, joined
from trimtab.traces.slices import Role

NO_ROW = -1
# A chain that is longer is charged to what its end is, as seen from there.
_LONGEST = 256
# Waits of members of a team for each other.
_JOINT = (int(Doing.JOIN), int(Doing.BARRIER))


@dataclass(frozen=True)
class Ends:
    """Ends of tasks by key and time; a row of the table of tasks each."""

    key: Integers
    at: Integers
    row: Integers

    @staticmethod
    def of(key: Integers, at: Integers, row: Integers) -> Ends:
        order = ordered(key, at, row)
        return Ends(key[order], at[order], row[order])

    def latest(self, key: Integers, until: Integers) -> Integers:
        """The row of the one that ended last until then; NO_ROW: none."""
        return values_at(self.row, self._of_keys.latest(key, until), NO_ROW)

    @cached_property
    def _of_keys(self) -> Groups:
        return Groups.of(self.key, self.at)


@dataclass(frozen=True)
class Awaited:
    """Tasks with identities, of lanes that are no workers, by identity.

    Attributes:
        end, lane: when each ended, and where.
        given, giver: when it had all that it needed to begin, and the lane that gave the last of it; NO_LANE: not known.
        before: the task that gave it by ending; NO_ROW: it was ready when it was created, or that is not known.
        ends: by lane: which task ended on it at a moment.
        children: ends of tasks, by what created them (`scope_of`).
        begins: of each lane, when parts of tasks began on it, and which.
    """

    end: Integers
    lane: Integers
    given: Integers
    giver: Integers
    before: Integers
    ends: Ends
    children: Ends
    begins: tuple[tuple[Integers, Integers], ...]

    @staticmethod
    def of(lanes: Sequence[LaneParts], gifts: Gifts, tasks: NumberedTasks) -> Awaited:
        rows = np.arange(len(tasks.number))
        gift = gifts.latest(tasks.number, tasks.begin)
        given, giver = values_at(gifts.at, gift, -1), values_at(gifts.lane, gift, NO_LANE)
        ends = Ends.of(tasks.lane, tasks.end, rows)
        # Who ended at that moment on that lane.
        before = ends.latest(np.where(giver == NO_LANE, -1, giver), given)
        by_ending = (before >= 0) & (values_at(gifts.doing, gift, -1) == int(Doing.DEPENDENCE))
        before = np.where(by_ending & (values_at(tasks.end, before, -1) == given), before, NO_ROW)
        children = Ends.of(_creators(lanes, tasks.number), tasks.end, rows)
        return Awaited(tasks.end, tasks.lane, given, giver, before, ends, children, tasks.begins(len(lanes)))

    def begun_at(self, lane: int, ticks: Integers) -> Integers:
        """The tasks that began on the lane at these moments; NO_ROW: none."""
        begins, rows = self.begins[lane]
        if not len(begins):
            return np.full(len(ticks), NO_ROW, np.int64)
        place = np.minimum(np.searchsorted(begins, ticks), len(begins) - 1)
        return np.where(begins[place] == ticks, rows[place], NO_ROW)

    def is_given_by_task(self, row: Integers) -> Booleans:
        """Whether the end of another task was the last that each needed."""
        given: Booleans = values_at(self.before, row, NO_ROW) != NO_ROW
        return given

    def ended_at(self, lane: Integers, ticks: Integers) -> Integers:
        """The tasks that ended on lanes at these moments; NO_ROW: none."""
        row = self.ends.latest(np.where(lane == NO_LANE, -1, lane), ticks)
        return np.where(values_at(self.end, row, -1) == ticks, row, NO_ROW)

    def cut_behind_tasks(self, waits: Pieces) -> tuple[Pieces, Integers]:
        """Waits, and the tasks that end them; NO_ROW: none does.

        Who waits at a barrier for a lane that runs tasks first waits for these, as far as other tasks let them begin meanwhile.
        """
        giver = waits.giver.astype(np.int64)
        row = self.ends.latest(np.where(giver == NO_LANE, -1, giver), waits.release)
        end, given = values_at(self.end, row, -1), values_at(self.given, row, -1)
        is_last = end == waits.release
        is_before = among(waits.doing, _JOINT) & self.is_given_by_task(row)
        is_before &= (given > waits.low) & (end < waits.release)
        arrival = waits.pick(is_before)
        arrival.low[:] = end[is_before]
        waits.release[is_before] = waits.high[is_before] = end[is_before]
        rows = np.where(is_last | is_before, row, NO_ROW)
        return joined([waits, arrival]), np.append(rows, np.full(len(arrival.low), NO_ROW, np.int64))

    def cut(self, waits: Pieces, row: Integers) -> Pieces:
        """Waits for tasks, each cut where the tasks of the chain behind the one that it waits for last gave each other something.

        `row`: the task whose end the wait's release is; NO_ROW: what it was is not known.
        """
        finished: list[Pieces] = []
        is_open = waits.doing == int(Doing.TASK_CHAIN)
        usual = np.where(is_open, np.int8(Doing.BARRIER), waits.doing)
        for _ in range(_LONGEST):
            given = values_at(self.given, row, -1)
            giver = values_at(self.giver, row, NO_LANE)
            is_chained = (row >= 0) & (given > waits.low) & (given < waits.release) & (giver != NO_LANE)
            finished.append(waits.pick(~is_chained))
            waits, row, given, giver, usual = (
                waits.pick(is_chained),
                row[is_chained],
                given[is_chained],
                giver[is_chained],
                usual[is_chained],
            )
            if not len(row):
                break
            by_task = self.is_given_by_task(row)
            rest = waits.pick(np.arange(len(row)))
            rest.low[:] = given
            rest.doing[:] = awaited_doing(rest.doing, by_task)
            waits.doing[:] = awaited_doing(usual, by_task)
            finished.append(rest)
            waits.high[:] = waits.release[:] = given
            waits.giver[:] = giver
            row = values_at(self.before, row, NO_ROW)
        finished.append(waits)
        whole = joined(finished)
        # Nobody waits for itself: it went on when it could.
        own = whole.giver == whole.lane.astype(np.uint32)
        whole.release[own] = whole.low[own]
        whole.giver[own] = NO_LANE
        return whole


def awaited_doing(doing: Any, by_task: Booleans) -> Any:
    """Waits at barriers and joins that are for tasks which others let begin."""
    is_joint = among(doing, _JOINT)
    return np.where(is_joint & by_task, np.int8(Doing.TASK_CHAIN), doing)


def scope_of(parts: LaneParts, at: int, owner: Integers) -> Integers:
    """A number for what creates tasks: the task itself, or the part of a region (by the lane's place), by places of begins; 0: none."""
    place = np.maximum(owner, 0)
    if not len(parts.slices):
        return np.zeros(len(owner), np.int64)
    is_part = parts.slices.role[place] == Role.WORK
    number = np.where(is_part, _part_number(at, place), parts.event("a", place))
    return np.where(owner >= 0, number, 0)


def _part_number(at: int, place: Integers) -> Integers:
    return -(np.int64(at) << 40 | place) - 1


def _creators(lanes: Sequence[LaneParts], numbers: Integers) -> Integers:
    """What created each task, as `scope_of` numbers it; 0: not known."""
    creator = np.zeros(len(numbers), np.int64)
    for at, parts in enumerate(lanes):
        events = parts.lane.events[parts.lane.events["kind"] == EventKind.TASK_CREATED]
        if parts.is_worker or not len(events):
            continue
        row = lookup(numbers, events["a"].astype(np.int64))
        own = events["b"].astype(np.int64)
        ticks = np.maximum(events["ticks"].astype(np.int64) - parts.start, 0)
        number = np.where(own > 0, own, _part_at(parts, at, ticks))
        creator[row[row >= 0]] = number[row >= 0]
    return creator


def _part_at(parts: LaneParts, at: int, ticks: Integers) -> Integers:
    """The innermost part of a region that the lane was in; 0: none."""
    works = parts.works[parts.slices.role[parts.works] == Role.WORK]
    begins, ends = parts.slices.ticks[works], parts.ends(works)
    place = np.searchsorted(begins, ticks, side="right") - 1
    # Parts that had ended by then lay inside an outer one.
    around = _around(ends)
    while True:
        is_over: Booleans = (place >= 0) & (values_at(ends, place, 0) < ticks)
        if not is_over.any():
            break
        place = np.where(is_over, values_at(around, place, -1), place)
    return np.where(place >= 0, _part_number(at, values_at(works, place, 0)), 0)


def _around(ends: Integers) -> Integers:
    """Of slices in the order of their begins, properly nested, the latest earlier one that ends behind each; -1: none."""
    around = np.empty(len(ends), np.int64)
    still_open: list[int] = []
    for place, end in enumerate(ends.tolist()):
        while still_open and ends[still_open[-1]] < end:
            still_open.pop()
        around[place] = still_open[-1] if still_open else -1
        still_open.append(place)
    return around

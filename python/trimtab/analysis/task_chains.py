"""Phases of tasks, and which phase gave each one the last that it needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trimtab.traces.columns import Groups, ordered
from trimtab.traces.tasks import NO_TASK, Stays, TaskState, TaskTable

Integers = NDArray[np.int64]
NO_PHASE = -1


@dataclass(frozen=True)
class Phases:
    """Times in which a task ran without interruption, in order of task and time; a phase is known by its row.

    Attributes:
        task: its row in the table.
        ready_ns: when it could have begun.
        previous: the phase that gave it the last that it needed; NO_PHASE: none did, or code outside of all tasks.
        in_group: phases on lanes of the group, in order of begin.
        lane_begins: when lanes of the group became busy, ascending, and which.
        active_ns: of each task, all its phases.
    """

    table: TaskTable
    task: Integers
    begin_ns: Integers
    end_ns: Integers
    ready_ns: Integers
    lane: Integers
    previous: Integers
    in_group: Integers
    lane_begins: tuple[Integers, Integers]
    active_ns: Integers

    def first_from(self, ns: int) -> int:
        """The first phase that began at `ns` or later: on the lane that became busy then, or else on any."""
        begins, lanes = self.lane_begins
        at = int(np.searchsorted(begins, ns))
        begin_of_group = self._begins_in_group
        first = int(np.searchsorted(begin_of_group, ns))
        if first == len(self.in_group):
            return NO_PHASE
        if at < len(begins) and begins[at] == ns:
            own = self.in_group[first : first + 256]
            on_lane = own[self.lane[own] == lanes[at]]
            if len(on_lane):
                return int(on_lane[0])
        return int(self.in_group[first])

    def back(self, phase: int, begin_ns: int) -> Iterator[int]:
        """The chain of phases that waited for each other, up to the first one that began before `begin_ns`."""
        while phase != NO_PHASE:
            yield phase
            if self.begin_ns[phase] < begin_ns:
                return
            phase = int(self.previous[phase])

    def ahead_of(self, phase: int) -> int:
        """How many tasks could run when this one could, and started before it, later than then."""
        ready, begin = self.ready_ns[phase], self.begin_ns[phase]
        low, high = np.searchsorted(self._waiting.end_ns, [ready, begin], side="right")
        return int((self._waiting.begin_ns[low:high] <= ready).sum()) - 1

    def begun_between(self, begin_ns: int, end_ns: int) -> Integers:
        """Phases on lanes of the group that began from `begin_ns` on and before `end_ns`."""
        low, high = np.searchsorted(self._begins_in_group, [begin_ns, end_ns])
        chosen: Integers = self.in_group[low:high]
        return chosen

    def other_givers(self, phase: int, task: int) -> Integers:
        """Tasks that gave the task of `phase` what it depends on, without `task`."""
        gifts = self.table.gifts
        low, high = np.searchsorted(gifts.receiver, [self.task[phase], self.task[phase] + 1])
        chosen = gifts.giver[low:high][gifts.is_edge[low:high]]
        others: Integers = np.unique(chosen[(chosen != task) & (chosen != NO_TASK)])
        return others

    def of_kind(self, task: int) -> Integers:
        """Other tasks of the same kind that ran."""
        is_other = (self.table.subject == self.table.subject[task]) & (self.active_ns > 0)
        is_other[task] = False
        others: Integers = np.flatnonzero(is_other)
        return others

    @cached_property
    def _begins_in_group(self) -> Integers:
        return self.begin_ns[self.in_group]

    @cached_property
    def _waiting(self) -> Stays:
        stays = self.table.stays
        waiting = stays.pick(stays.state == TaskState.ELIGIBLE)
        return waiting.pick(np.argsort(waiting.end_ns, kind="stable"))


def phases_of(table: TaskTable, group: int) -> Phases:
    """Of all tasks; `group` says which lanes are looked at for the ends of idle regions."""
    stays, lanes = table.stays, table.lanes
    rows = np.flatnonzero(stays.state == TaskState.RUNNING)
    task, begin, end = stays.task[rows], stays.begin_ns[rows], stays.end_ns[rows]
    lane = stays.lane[rows].astype(np.int64)
    before = np.maximum(rows - 1, 0)
    was_eligible = (rows > 0) & (stays.task[before] == task) & (stays.state[before] == TaskState.ELIGIBLE)
    ready = np.where(was_eligible, stays.begin_ns[before], begin)
    members = np.flatnonzero(np.array(lanes.group) == group)
    in_group = np.flatnonzero(np.isin(lane, members))
    in_group = in_group[np.argsort(begin[in_group], kind="stable")]
    busy = np.flatnonzero(np.isin(lanes.lane, members))
    busy = busy[np.argsort(lanes.begin_ns[busy], kind="stable")]
    return Phases(
        table,
        task,
        begin,
        end,
        ready,
        lane,
        _previous(table, task, begin, end, lane),
        in_group,
        (lanes.begin_ns[busy], lanes.lane[busy]),
        np.bincount(task, (end - begin).astype(np.float64), len(table)).astype(np.int64),
    )


def _previous(table: TaskTable, task: Integers, begin: Integers, end: Integers, lane: Integers) -> Integers:
    """By the latest gift since the task's phase before; without one, the task that ran on top of it until then."""
    gifts = table.gifts
    count = len(task)
    given = gifts.of_receivers.latest(task, begin)
    place = np.maximum(given, 0)
    is_later = np.zeros(count, np.bool_)
    is_later[1:] = task[1:] == task[:-1]
    ended = np.where(is_later, np.concatenate([[0], end[:-1]]) if count else end, -1)
    moment = gifts.at_ns[place] if len(gifts) else np.zeros(count, np.int64)
    giver = gifts.giver[place] if len(gifts) else np.full(count, NO_TASK, np.int64)
    is_given = (given >= 0) & (moment >= ended)
    by_gift = Groups.of(task, begin).latest(np.where(is_given, giver, NO_TASK), moment)
    # A gift of the moment in which the giver's phase began is one of that phase, too; one of itself is none.
    by_gift = np.where(by_gift == np.arange(count), NO_PHASE, by_gift)
    return np.where(is_given, by_gift, np.where(is_later, _below(begin, end, lane), NO_PHASE))


def _below(begin: Integers, end: Integers, lane: Integers) -> Integers:
    """The phase on the same lane that ended in the moment in which each began; NO_PHASE: none."""
    order = ordered(lane, begin)
    result = np.full(len(begin), NO_PHASE, np.int64)
    is_next = (lane[order][1:] == lane[order][:-1]) & (end[order][:-1] == begin[order][1:])
    result[order[1:][is_next]] = order[:-1][is_next]
    return result

"""How the longest wait of each cause came about: from the lane that waits, over the lanes it waits for, to what is to blame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis import compiled
from trimtab.analysis.blame_causes import cause_of, cause_of_itself, is_of_lock
from trimtab.analysis.charge_classes import Classes, classes_of
from trimtab.model.enumerations import BlameCause
from trimtab.traces.intervals import NO_LANE, Doing, Group, Intervals, Kind, Pace

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
# A chain of more lanes nobody reads.
_LONGEST = 16
# Waits that are cut where the tasks that end them became ready.
_FOR_TASKS = (Doing.DEPENDENCE, Doing.TASK_CHAIN, Doing.TASKWAIT)


@dataclass(frozen=True)
class Link:
    """What one lane of a process did: a wait, or at the end of the chain what is to blame for it.

    Times in nanoseconds since the process began, or the job.
    """

    lane: int
    group: Group
    kind: Kind
    begin_ns: int
    end_ns: int
    process: int = 0


@dataclass(frozen=True)
class Chain:
    """The longest stretch of waiting that is charged to a cause and a subject.

    Attributes:
        subject: region or kind of task; NO_SUBJECT: none.
        process: that the subject is of, by place.
        begin_ns, end_ns: the part of the first wait that is charged so.
        links: the wait, the waits of those it waits for, and what the last one of these did.
        tasks: those that the lane waited for, in order of time; each became ready when the one before it ended. Empty if there are
            fewer than two.
    """

    cause: BlameCause
    subject: int
    begin_ns: int
    end_ns: int
    links: tuple[Link, ...]
    process: int = 0
    tasks: tuple[Link, ...] = ()

    def renumbered(self, places: Sequence[int]) -> Chain:
        """With other numbers of processes."""
        links, tasks = (
            tuple(replace(link, process=places[link.process]) for link in column)
            for column in (self.links, self.tasks)
        )
        return replace(self, links=links, tasks=tasks, process=places[self.process])


def chains_of(intervals: Intervals, charges: compiled.Table, order: NDArray[np.uint32]) -> tuple[Chain, ...]:
    """One for each cause and subject, longest first; `order`: of the intervals, by lane and begin."""
    longest: dict[tuple[BlameCause, int, int], int] = {}
    rows = order.astype(np.int64)
    first = np.append(0, np.cumsum(np.bincount(intervals.lane, minlength=len(intervals.lanes))))
    lanes = _Lanes(intervals, charges, rows, first)
    classes = classes_of(intervals, charges)
    length = _lengths(intervals, charges, rows, classes)

    def rank(at: int) -> tuple[bool, int, int, int]:
        """First those that take a core; of equally long ones the earliest, of these the one of the first lane."""
        wait = charges["wait"][at]
        takes_none = intervals.groups[intervals.group[wait]].doing is Doing.TASKS
        return (
            takes_none,
            -int(length[at]),
            int(charges["begin_ns"][at]),
            intervals.lanes[intervals.lane[wait]],
        )

    for at in _longest_of_classes(intervals, charges, length, classes).tolist():
        key = cause_of_charge(intervals, charges, at)
        if key not in longest or rank(at) < rank(longest[key]):
            longest[key] = at
    chains = [lanes.chain(key, charges[at]) for key, at in longest.items()]
    chains += lanes.ways_of_messages()
    return tuple(
        sorted(
            chains,
            key=lambda chain: (
                chain.begin_ns - chain.end_ns,
                chain.begin_ns,
                chain.cause.value,
                chain.subject,
            ),
        )
    )


def _is_doing(intervals: Intervals, wanted: tuple[Doing, ...]) -> Booleans:
    of_groups = np.array([group.doing in wanted for group in intervals.groups], np.bool_)
    chosen: Booleans = of_groups[intervals.group]
    return chosen


def _is_for_tasks(intervals: Intervals) -> Booleans:
    chosen: Booleans = (intervals.kind == Kind.WAITING) & _is_doing(intervals, _FOR_TASKS)
    return chosen


def _lengths(intervals: Intervals, charges: compiled.Table, order: Integers, classes: Classes) -> Integers:
    """Of each charge; of dependence chains that of the wait, with the waits of the lane for tasks right before and behind it."""
    length: Integers = charges["end_ns"] - charges["begin_ns"]
    place, first = classes
    waits = charges["wait"]
    is_chain = np.array(
        [cause_of_charge(intervals, charges, at)[0] is BlameCause.DEPENDENCE_CHAIN for at in first.tolist()],
        np.bool_,
    )
    # All waits of a class belong to one group.
    doings = [intervals.groups[group].doing for group in intervals.group[waits[first]].tolist()]
    is_last = is_chain & np.array([doing is Doing.NO_FURTHER_TASK for doing in doings], np.bool_)
    is_for_tasks = is_chain & np.array([doing in _FOR_TASKS for doing in doings], np.bool_)
    result = length
    if is_last.any():
        of_chains, rows = np.flatnonzero(is_chain[place]), np.flatnonzero(is_last[place])
        of_waits = np.bincount(waits[of_chains], length[of_chains], len(order)).astype(np.int64)
        result = length.copy()
        result[rows] = of_waits[waits[rows]]
    if is_for_tasks.any():
        rows = np.flatnonzero(is_for_tasks[place])
        result[rows] = _stretch_lengths(intervals, order, waits[rows])
    return result


def _stretch_lengths(intervals: Intervals, order: Integers, waits: NDArray[np.uint32]) -> Integers:
    """How long the stretches are that these waits for tasks are in: each with those of its lane right before and behind it."""
    is_wait, lane = _is_for_tasks(intervals)[order], intervals.lane[order]
    begin, end = intervals.begin_ns[order], intervals.end_ns[order]
    follows = np.zeros(len(order), np.bool_)
    follows[1:] = is_wait[1:] & is_wait[:-1] & (lane[1:] == lane[:-1]) & (begin[1:] == end[:-1])
    stretch = np.empty(len(order), np.int64)
    stretch[order] = np.cumsum(~follows) - 1
    starts = np.flatnonzero(~follows)
    behind = np.append(starts[1:], len(order)) - 1
    lengths: Integers = (end[behind] - begin[starts])[stretch[waits]]
    return lengths


def _longest_of_classes(
    intervals: Intervals, charges: compiled.Table, length: Integers, classes: Classes
) -> Integers:
    """The longest charge of each class. Of equally long charges, the earliest, then the first lane's. There are few classes."""
    place, first = classes
    longest = np.zeros(len(first), np.int64)
    np.maximum.at(longest, place, length)
    rows = np.flatnonzero(length == longest[place])
    lane = np.array(intervals.lanes)[intervals.lane[charges["wait"][rows]]]
    rows = rows[np.lexsort((lane, charges["begin_ns"][rows], place[rows]))]
    is_first = np.diff(place[rows], prepend=-1) > 0
    earliest: Integers = rows[is_first]
    return earliest


def cause_of_charge(intervals: Intervals, charges: compiled.Table, at: int) -> tuple[BlameCause, int, int]:
    """Cause, subject and process of one charge of a table of charges."""
    charge = charges[at]
    wait = intervals.groups[intervals.group[charge["wait"]]]
    waiting = intervals.process_of[intervals.group[charge["wait"]]]
    if charge["culprit"] == compiled.NO_INTERVAL:
        return cause_of(wait, int(charge["end"]), wait, Kind.WAITING), wait.subject, waiting
    culprit = intervals.groups[intervals.group[charge["culprit"]]]
    kind = Kind(int(intervals.kind[charge["culprit"]]))
    is_known = int(charge["end"]) == compiled.AT_INTERVAL
    cause = cause_of(wait, int(charge["end"]), culprit, kind)
    if not is_known or is_of_lock(wait, cause):
        return cause, wait.subject, waiting
    return cause, culprit.subject, intervals.process_of[intervals.group[charge["culprit"]]]


@dataclass(frozen=True)
class _Lanes:
    """Intervals by lane and time: `order`, and where each lane begins in it."""

    intervals: Intervals
    charges: compiled.Table
    order: Integers
    first: Integers

    def chain(self, key: tuple[BlameCause, int, int], charge: np.void) -> Chain:
        """The chain that begins with the wait of one charge."""
        cause, subject, process = key
        begin, end = int(charge["begin_ns"]), int(charge["end_ns"])
        tasks: tuple[Link, ...] = ()
        if cause is BlameCause.DEPENDENCE_CHAIN:
            tasks, (first, last) = self._tasks(int(charge["wait"]))
            if len(tasks) > 1:
                begin, end = first, last
        return Chain(cause, subject, begin, end, self.links(charge), process, tasks if len(tasks) > 1 else ())

    def ways_of_messages(self) -> list[Chain]:
        """Of each process the longest time that a message for it was in the queue of its sender, and on its way."""
        table, longest = self.intervals, dict[tuple[BlameCause, int], int]()
        ways = np.flatnonzero(_is_doing(table, (Doing.QUEUED, Doing.TRANSIT)) & (table.kind == Kind.RESUMING))
        length = (table.end_ns - table.begin_ns)[ways]
        for at in ways[np.lexsort((table.begin_ns[ways], -length))].tolist():
            group = table.group[at]
            cause = cause_of_itself(table.groups[group].doing, Kind.RESUMING)
            longest.setdefault((cause, table.process_of[group]), at)
        return [
            Chain(
                cause,
                table.groups[table.group[at]].subject,
                int(table.begin_ns[at]),
                int(table.end_ns[at]),
                self._links_from(at, (int(table.begin_ns[at]) + int(table.end_ns[at])) // 2),
                process,
            )
            for (cause, process), at in longest.items()
        ]

    def _tasks(self, wait: int) -> tuple[tuple[Link, ...], tuple[int, int]]:
        """Those that a wait was for, and the time that it was for them."""
        table = self.intervals
        if table.groups[table.group[wait]].doing is Doing.NO_FURTHER_TASK:
            return self._chained_tasks(wait)
        waits = self._waits_around(wait)
        return self._tasks_that_end(waits), (int(table.begin_ns[waits[0]]), int(table.end_ns[waits[-1]]))

    def _chained_tasks(self, wait: int) -> tuple[tuple[Link, ...], tuple[int, int]]:
        """Of a worker behind its last task: those that became ready meanwhile, one when the one before it had ended."""
        table, charges = self.intervals, self.charges[self.charges["wait"] == wait]
        charges = charges[
            (charges["end"] == compiled.AT_INTERVAL) & (charges["culprit"] != compiled.NO_INTERVAL)
        ]
        charges = charges[np.argsort(charges["begin_ns"], kind="stable")]
        tasks, chosen = list[Link](), list[np.void]()
        for charge in charges:
            link = self._link(int(charge["culprit"]))
            if link.kind is Kind.BUSY and link.group.pace is Pace.CHAINED:
                chosen.append(charge)
                # A task that lost its CPU has several parts, and ends with the last one.
                if not self._is_stopped(int(table.lane[charge["culprit"]]), link.end_ns):
                    tasks.append(link)
        if not chosen:
            return (), (0, 0)
        return tuple(tasks), (int(chosen[0]["begin_ns"]), int(chosen[-1]["end_ns"]))

    def _is_stopped(self, lane: int, moment_ns: int) -> bool:
        after = self._at(lane, moment_ns)
        table = self.intervals
        return after >= 0 and (
            table.kind[after] == Kind.STOPPED or table.groups[table.group[after]].doing is Doing.BLOCKED
        )

    def _waits_around(self, wait: int) -> list[int]:
        """A wait for tasks, and those of the same lane right before and behind it."""
        table = self.intervals
        lane = int(table.lane[wait])
        of_lane = self.order[self.first[lane] : self.first[lane + 1]]
        place = int(np.flatnonzero(of_lane == wait)[0])
        is_wait = _is_for_tasks(table)
        low = high = place
        while low > 0 and self._are_joined(of_lane[low - 1], of_lane[low], is_wait):
            low -= 1
        while high + 1 < len(of_lane) and self._are_joined(of_lane[high], of_lane[high + 1], is_wait):
            high += 1
        return [int(at) for at in of_lane[low : high + 1]]

    def _are_joined(self, earlier: int, later: int, is_wait: Booleans) -> bool:
        table = self.intervals
        return bool(is_wait[earlier] and is_wait[later] and table.end_ns[earlier] == table.begin_ns[later])

    def _tasks_that_end(self, waits: Sequence[int]) -> tuple[Link, ...]:
        """What each wait ended with: work on the lane that it was for."""
        table, tasks = self.intervals, list[Link]()
        for wait in waits:
            giver, end = int(table.giver[wait]), int(table.end_ns[wait])
            at = self._at(giver, end - 1) if giver != NO_LANE else -1
            if at >= 0 and table.kind[at] == Kind.BUSY and table.end_ns[at] == end:
                tasks.append(self._link(at))
        return tuple(tasks)

    def links(self, charge: np.void) -> tuple[Link, ...]:
        """From the wait to whatever it waits for at the middle of the charge."""
        return self._links_from(int(charge["wait"]), (int(charge["begin_ns"]) + int(charge["end_ns"])) // 2)

    def _links_from(self, at: int, middle: int) -> tuple[Link, ...]:
        """From what a lane did at a moment to what it waited for then; of a message in a queue, what its sender did."""
        seen, links = set[int](), list[Link]()
        while at >= 0 and len(links) < _LONGEST:
            links.append(self._link(at))
            seen.add(int(self.intervals.lane[at]))
            giver = int(self.intervals.giver[at])
            # What a message in a queue is to be blamed for is the queue: of its sender nothing but what it does.
            is_queued = len(links) == 1 and links[-1].group.doing is Doing.QUEUED
            has_giver = links[-1].kind is Kind.WAITING or is_queued
            if giver == NO_LANE or giver in seen or not has_giver:
                break
            at = self._at(giver, middle)
        return tuple(links)

    def _link(self, at: int) -> Link:
        table = self.intervals
        return Link(
            table.lanes[table.lane[at]],
            table.groups[table.group[at]],
            Kind(int(table.kind[at])),
            int(table.begin_ns[at]),
            int(table.end_ns[at]),
            table.process_of[table.group[at]],
        )

    def _at(self, lane: int, moment_ns: int) -> int:
        """The lane's interval that contains a moment; -1: none."""
        own = self.order[self.first[lane] : self.first[lane + 1]]
        place = int(np.searchsorted(self.intervals.begin_ns[own], moment_ns, side="right")) - 1
        if place < 0 or self.intervals.end_ns[own[place]] <= moment_ns:
            return -1
        return int(own[place])

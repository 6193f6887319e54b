"""How the longest wait of each cause came about: from the lane that waits, over the lanes it waits for, to what is to blame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis import compiled
from trimtab.analysis.blame_causes import cause_of
from trimtab.analysis.charge_classes import classes_of
from trimtab.model.enumerations import BlameCause
from trimtab.traces.columns import ordered
from trimtab.traces.intervals import NO_LANE, Group, Intervals, Kind

Integers = NDArray[np.int64]
# A chain of more lanes nobody reads.
_LONGEST = 16


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
    """

    cause: BlameCause
    subject: int
    begin_ns: int
    end_ns: int
    links: tuple[Link, ...]
    process: int = 0

    def renumbered(self, places: Sequence[int]) -> Chain:
        """With other numbers of processes."""
        links = tuple(replace(link, process=places[link.process]) for link in self.links)
        return replace(self, links=links, process=places[self.process])


def chains_of(intervals: Intervals, charges: compiled.Table) -> tuple[Chain, ...]:
    """One for each cause and subject, longest first."""
    longest: dict[tuple[BlameCause, int, int], int] = {}
    length = charges["end_ns"] - charges["begin_ns"]
    lane = _lane_numbers(intervals)

    def rank(at: int) -> tuple[int, int, int]:
        """Of equally long ones the earliest, of these the one of the first lane."""
        return -int(length[at]), int(charges["begin_ns"][at]), int(lane[charges["wait"][at]])

    for at in _longest_of_classes(intervals, charges, length).tolist():
        key = cause_of_charge(intervals, charges, at)
        if key not in longest or rank(at) < rank(longest[key]):
            longest[key] = at
    order = ordered(intervals.lane, intervals.begin_ns)
    first = np.searchsorted(intervals.lane[order], np.arange(len(intervals.lanes) + 1))
    lanes = _Lanes(intervals, order, first)
    made = [
        Chain(
            cause,
            subject,
            int(charges["begin_ns"][at]),
            int(charges["end_ns"][at]),
            lanes.links(charges[at]),
            process,
        )
        for (cause, subject, process), at in longest.items()
    ]
    return tuple(
        sorted(
            made,
            key=lambda chain: (
                chain.begin_ns - chain.end_ns,
                chain.begin_ns,
                chain.cause.value,
                chain.subject,
            ),
        )
    )


def _lane_numbers(intervals: Intervals) -> Integers:
    """Of each interval the number of its lane."""
    numbers: Integers = np.array(intervals.lanes, np.int64)[intervals.lane]
    return numbers


def _longest_of_classes(intervals: Intervals, charges: compiled.Table, length: Integers) -> Integers:
    """The longest charge of each class. Of equally long charges, the earliest, then the first lane's. There are few classes."""
    place, first = classes_of(intervals, charges)
    longest = np.zeros(len(first), np.int64)
    np.maximum.at(longest, place, length)
    rows = np.flatnonzero(length == longest[place])
    lane = _lane_numbers(intervals)[charges["wait"][rows]]
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
    if not is_known:
        return cause, wait.subject, waiting
    return cause, culprit.subject, intervals.process_of[intervals.group[charge["culprit"]]]


@dataclass(frozen=True)
class _Lanes:
    """Intervals by lane and time: `order`, and where each lane begins in it."""

    intervals: Intervals
    order: Integers
    first: Integers

    def links(self, charge: np.void) -> tuple[Link, ...]:
        """From the wait to whatever it waits for at the middle of the charge."""
        middle = (int(charge["begin_ns"]) + int(charge["end_ns"])) // 2
        at, seen = int(charge["wait"]), set[int]()
        links: list[Link] = []
        while at >= 0 and len(links) < _LONGEST:
            links.append(self._link(at))
            seen.add(int(self.intervals.lane[at]))
            giver = int(self.intervals.giver[at])
            if giver == NO_LANE or giver in seen or links[-1].kind is not Kind.WAITING:
                break
            at = self._at(giver, middle)
        return tuple(links)

    def _link(self, at: int) -> Link:
        own = self.intervals
        return Link(
            own.lanes[own.lane[at]],
            own.groups[own.group[at]],
            Kind(int(own.kind[at])),
            int(own.begin_ns[at]),
            int(own.end_ns[at]),
            own.process_of[own.group[at]],
        )

    def _at(self, lane: int, moment_ns: int) -> int:
        """The lane's interval that contains a moment; -1: none."""
        own = self.order[self.first[lane] : self.first[lane + 1]]
        place = int(np.searchsorted(self.intervals.begin_ns[own], moment_ns, side="right")) - 1
        if place < 0 or self.intervals.end_ns[own[place]] <= moment_ns:
            return -1
        return int(own[place])

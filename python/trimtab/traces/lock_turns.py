"""In which order the lanes of a process had each lock or critical section."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Process
from trimtab.model.enumerations import EventKind

Integers = NDArray[np.int64]
# Numbers of locks lie above those of subjects, in 32 bits.
_NUMBERED = 1 << 31
# What waited for less is taken to have found the lock free.
_SHORTEST_WAIT_NS = 1000


@dataclass(frozen=True)
class ByEntry:
    """A number for each entry of a lane, by the places of the entries' events."""

    _places: Integers
    _values: Integers

    def of(self, places: Integers) -> Integers:
        """Of the entries at `places`, all of which are entries."""
        values: Integers = self._values[np.searchsorted(self._places, places)]
        return values


@dataclass(frozen=True)
class Entries:
    """All entries of a process: by lock, and then in the order in which it was entered; times in ticks.

    `lock`: where it is recorded which lock it is, all places that use it have the same number; else the place is the lock.
    """

    lane: Integers
    place: Integers
    lock: Integers
    entered: Integers
    held: Integers
    waited: Integers
    turn: Integers

    def turns(self) -> dict[int, ByEntry]:
        """The turn of each entry, by lane."""
        return self._by_lane(self.turn)

    def locks(self) -> dict[int, ByEntry]:
        """The lock of each entry, by lane."""
        return self._by_lane(self.lock)

    def left(self) -> Integers:
        """When each lock was left: a release is recorded behind it, when the next one may have the lock already."""
        ends = self.entered + self.held
        if len(ends):
            is_same = self.lock[1:] == self.lock[:-1]
            ends[:-1] = np.where(is_same, np.minimum(ends[:-1], self.entered[1:]), ends[:-1])
        return ends

    def ticks_left(self) -> dict[int, ByEntry]:
        """The same, by lane."""
        return self._by_lane(self.left())

    def _by_lane(self, values: Integers) -> dict[int, ByEntry]:
        result = {}
        for lane in np.unique(self.lane).tolist():
            own = np.flatnonzero(self.lane == lane)
            own = own[np.argsort(self.place[own])]
            result[lane] = ByEntry(self.place[own], values[own])
        return result

    def handed_over(self, ns_per_tick: float) -> Integers:
        """The entries that another lane's release let in: each of them follows the one before it."""
        if not len(self.lane):
            return np.empty(0, np.int64)
        is_later = (self.lock[1:] == self.lock[:-1]) & (self.lane[1:] != self.lane[:-1])
        has_waited = self.waited[1:] * ns_per_tick >= _SHORTEST_WAIT_NS
        return np.flatnonzero(is_later & has_waited) + 1


def lock_entries(process: Process) -> Entries:
    """All entries of locks whose releases are recorded, too: an entry is one event, written at the release."""
    tables = [np.empty((6, 0), np.int64)]
    most = np.uint64(1 << 62)
    for lane in process.lanes:
        places = np.flatnonzero(lane.events["kind"] == EventKind.LOCK)
        events = lane.events[places]
        times = [np.minimum(events[name], most).astype(np.int64) for name in ("ticks", "a", "b")]
        number = events["arg"].astype(np.int64)
        lock = np.where(number > 0, _NUMBERED | number, events["subject"].astype(np.int64))
        tables.append(np.stack([np.full(len(places), lane.id), places, lock, *times]))
    table = np.concatenate(tables, axis=1)
    lane_ids, place, lock, entered, held, waited = table[:, np.lexsort((table[3], table[2]))]
    first = np.searchsorted(lock, lock, side="left")
    turn = np.arange(len(lock)) - first + 1
    return Entries(lane_ids, place, lock, entered, held, waited, turn)

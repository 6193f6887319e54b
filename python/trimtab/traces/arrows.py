"""Arrows between the parts of tasks: who made whom, who waited for whom, where a task went on, and who sent it from another process;
and from who had a lock to who waited for it.

A part of a task begins with its begin or when it is resumed. Arrows begin and end at events, each known by its lane
and its place in the lane's stream; viewers draw them from and to what these events show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import CAUSES, Process
from trimtab.model.enumerations import EventKind, WaitCause
from trimtab.readers.files import release_pages
from trimtab.traces.columns import Groups, ordered
from trimtab.traces.intervals.lookup import among
from trimtab.traces.lock_turns import Entries, lock_entries

Integers = NDArray[np.int64]
# Events looked at in one go.
_BLOCK = 1 << 18
# An event, and where it stands.
_PLACED = np.dtype(
    [("ticks", "<u8"), ("arg", "<u2"), ("a", "<u8"), ("b", "<u8"), ("lane", "<i8"), ("at", "<i8")]
)
Placed = NDArray[np.void]
_Numbered = tuple[Placed, NDArray[np.uint64]]
# Arrows between processes have numbers from here on, which are unique in the whole run; viewers read them as floats.
FIRST_PARCEL = 1 << 52


@dataclass(frozen=True)
class Flows:
    """Arrows at the events of one lane, by the events' places in it; numbers begin at 1."""

    _places: Integers
    _numbers: NDArray[np.uint64]

    @property
    def places(self) -> Integers:
        """The places of the events that arrows touch, one for each of `numbers`."""
        return self._places

    @property
    def numbers(self) -> NDArray[np.uint64]:
        """Of all of them."""
        return self._numbers

    @staticmethod
    def of(places: Integers, numbers: NDArray[np.uint64]) -> Flows:
        """`numbers[i]` touches the event at `places[i]`."""
        order = np.argsort(places, kind="stable")
        return Flows(places[order], numbers[order])

    def __add__(self, other: Flows) -> Flows:
        return Flows.of(
            np.concatenate([self._places, other._places]), np.concatenate([self._numbers, other._numbers])
        )

    def at(self, places: Integers) -> tuple[Integers, NDArray[np.uint64]]:
        """How many arrows touch each of `places`, and their numbers, one event after the other."""
        first = np.searchsorted(self._places, places, side="left")
        counts = np.searchsorted(self._places, places, side="right") - first
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        chosen = np.arange(total) - np.repeat(ends - counts - first, counts)
        return counts, self._numbers[chosen]


# What leaves and what enters, by lane.
Ends = tuple[dict[int, Flows], dict[int, Flows]]


@dataclass(frozen=True)
class Arrows:
    """By lane what leaves its events and what enters them; from number `first_going_on` on, a task goes on."""

    leaving: dict[int, Flows]
    entering: dict[int, Flows]
    count: int
    first_going_on: int

    def with_parcels(self, ends: Ends) -> Arrows:
        """These, and those of parcels, which `count` leaves out."""
        return replace(self, leaving=_merged(self.leaving, ends[0]), entering=_merged(self.entering, ends[1]))


def _merged(flows: dict[int, Flows], added: dict[int, Flows]) -> dict[int, Flows]:
    both = {lane: flows[lane] + added[lane] for lane in flows.keys() & added.keys()}
    return {**flows, **added, **both}


class EdgeKind(IntEnum):
    """What an edge says of its two ends, if it is no `WaitCause`: those below 1000 are what one task gave another."""

    DEPENDS = 0
    """The second task could not begin before the first one had ended."""
    CREATES = 1000
    MAKES_READY = 1001
    GOES_ON = 1002
    """A task that was suspended, or left for another one, is resumed."""
    LOCK = 1003
    """Who left a lock, and who waited for it and had it next."""
    PARCEL = 1004


_EDGE_NAMES = {int(kind): kind.name.lower().replace("_", " ") for kind in EdgeKind}


def edge_kind_name(kind: int) -> str:
    """As tables have it.

    >>> edge_kind_name(1), edge_kind_name(EdgeKind.GOES_ON)
    ('future', 'goes on')
    """
    return _EDGE_NAMES.get(kind) or CAUSES.get(kind, "other")


@dataclass(frozen=True)
class Edges:
    """From `froms[i]` to `tos[i]`, which are events, with an `EdgeKind` or `WaitCause`; those that go on come last."""

    kind: Integers
    froms: Placed
    tos: Placed


def edges_of(process: Process) -> Edges:
    """All edges in a process of which both ends are recorded."""
    pairs = list(pairs_of(process))
    froms, tos = (np.concatenate([pair[side] for pair in pairs]) for side in (1, 2))
    kind = np.concatenate([np.broadcast_to(np.int64(kind), len(froms)) for kind, froms, _ in pairs])
    return Edges(kind, froms, tos)


def pairs_of(process: Process) -> Iterator[tuple[int | Integers, Placed, Placed]]:
    """The same, a few kinds at a time, which takes less memory: kind (of all, or of each), and both ends."""
    parts = _Parts.of(process)
    edges, created = _placed(process, (EventKind.EDGE,)), _placed(process, (EventKind.TASK_CREATED,))
    # Whoever received a parcel has made its task, but the cause is the sender.
    received = _placed(process, (EventKind.PARCEL_RECEIVED,))["a"]
    yield EdgeKind.LOCK, *_handed_over(process)
    yield EdgeKind.DEPENDS, *_dependences(parts, edges[edges["arg"] == WaitCause.OTHER])
    edges = edges[edges["arg"] != WaitCause.OTHER]
    created = _without(created, received)
    yield EdgeKind.CREATES, *parts.led_to_by(created, parts.first(created["a"]))
    # What one task gave another leads from where it did to where the other went on.
    froms, tos = parts.led_to_by(edges, parts.next(edges["b"], edges["ticks"]))
    yield froms["arg"].astype(np.int64), froms, tos
    del edges, froms, tos
    # Who gave a task the last that it waited for leads to where it began.
    enabled = _enabled(_without(_placed(process, (EventKind.TASK_READY,)), received), created)
    del created
    yield EdgeKind.MAKES_READY, *parts.led_to_by(enabled, parts.next(enabled["a"], enabled["ticks"]))
    # A task of OpenMP's that begins again has not been suspended by anyone.
    yield EdgeKind.GOES_ON, *parts.going_on()


def _without(events: Placed, tasks: NDArray[np.uint64]) -> Placed:
    """Those that are about other tasks."""
    return events[~np.isin(events["a"], tasks)] if len(tasks) else events


def arrows_of(process: Process) -> Arrows:
    """All arrows of which both ends are recorded."""
    edges = edges_of(process)
    count = len(edges.kind)
    numbers = np.arange(1, count + 1, dtype=np.uint64)
    going_on = int(np.count_nonzero(edges.kind == EdgeKind.GOES_ON))
    leaving, entering = _by_lane(edges.froms, numbers), _by_lane(edges.tos, numbers)
    return Arrows(leaving, entering, count, count - going_on + 1)


def parcel_arrows(processes: Sequence[Process]) -> list[Ends]:
    """For each process, by lane, the arrows of parcels that leave and enter it.

    They lead from where a call was sent to where its task begins, and from where an answer was sent to where the task that it
    lets go on does so.

    Their numbers begin at `FIRST_PARCEL`. Localities are told apart by their ranks; of processes with the same rank nothing is said.
    """
    by_rank: dict[int, list[int]] = {}
    for at, process in enumerate(processes):
        if process.rank is not None:
            by_rank.setdefault(process.rank, []).append(at)
    senders = {rank: members[0] for rank, members in by_rank.items() if len(members) == 1}
    sent = {rank: _placed(processes[at], (EventKind.PARCEL_SENT,)) for rank, at in senders.items()}
    leaving: list[list[_Numbered]] = [[] for _ in processes]
    entering: list[list[_Numbered]] = [[] for _ in processes]
    first = FIRST_PARCEL
    for at in senders.values():
        received = _placed(processes[at], (EventKind.PARCEL_RECEIVED, EventKind.ANSWER_RECEIVED))
        if not len(received):
            continue
        parts = _Parts.of(processes[at])
        for rank in np.unique(received["arg"]).tolist():
            if rank not in sent:
                continue
            froms, tos = _parcels_between(sent[rank], received[received["arg"] == rank], parts)
            numbers = np.arange(first, first + len(froms), dtype=np.uint64)
            first += len(froms)
            leaving[senders[rank]].append((froms, numbers))
            entering[at].append((tos, numbers))
    return [
        (_joined(own_froms), _joined(own_tos)) for own_froms, own_tos in zip(leaving, entering, strict=True)
    ]


def _parcels_between(sent: Placed, received: Placed, parts: _Parts) -> tuple[Placed, Placed]:
    """Of parcels whose sending, and what their task did next, are recorded."""
    at, first_parts = _first(sent, received["b"]), parts.next(received["a"], received["ticks"])
    is_known = (at >= 0) & (first_parts >= 0)
    return sent[at[is_known]], parts.rows[first_parts[is_known]]


def _joined(numbered: Sequence[_Numbered]) -> dict[int, Flows]:
    if not numbered:
        return {}
    return _by_lane(
        np.concatenate([ends for ends, _ in numbered]), np.concatenate([own for _, own in numbered])
    )


def _placed(process: Process, kinds: tuple[int, ...]) -> Placed:
    """The events of these kinds, of all lanes."""
    placed_parts = [np.empty(0, _PLACED)]
    for lane in process.lanes:
        for low in range(0, len(lane.events), _BLOCK):
            block = lane.events[low : low + _BLOCK]
            at = np.flatnonzero(among(np.ascontiguousarray(block["kind"]), kinds))
            placed = np.empty(len(at), _PLACED)
            for name in ("ticks", "arg", "a", "b"):
                placed[name] = block[name][at]
            placed["lane"], placed["at"] = lane.id, at + low
            placed_parts.append(placed)
        release_pages(lane.events)
    return np.concatenate(placed_parts)


@dataclass(frozen=True)
class _Parts:
    """Parts of tasks, by task and time; a place among them: -1, where there is none."""

    rows: Placed
    groups: Groups

    @staticmethod
    def of(process: Process) -> _Parts:
        parts = _placed(process, (EventKind.TASK_BEGIN, EventKind.TASK_RESUMED))
        task, ticks = _signed(parts["a"]), _signed(parts["ticks"])
        order = ordered(task, ticks)
        order = order[task[order] != 0]  # a part without an identity is nobody's next one
        return _Parts(parts[order], Groups.of(task[order], ticks[order]))

    def first(self, tasks: NDArray[np.uint64]) -> Integers:
        """The place of each task's first part."""
        return self.groups.earliest(_signed(tasks), np.full(len(tasks), np.iinfo(np.int64).min))

    def last(self, tasks: NDArray[np.uint64]) -> Integers:
        """The place of each task's last part."""
        return self.groups.latest(_signed(tasks), np.full(len(tasks), np.iinfo(np.int64).max))

    def next(self, tasks: NDArray[np.uint64], ticks: NDArray[np.uint64]) -> Integers:
        """The place of each task's first part that begins at `ticks` or later."""
        return self.groups.earliest(_signed(tasks), _signed(ticks))

    def led_to_by(self, froms: Placed, to: Integers) -> tuple[Placed, Placed]:
        """Those events of which the part that they lead to is recorded, and these parts."""
        is_known = to >= 0
        if is_known.all():
            return froms, self.rows[to]
        return froms[is_known], self.rows[to[is_known]]

    def going_on(self) -> tuple[Placed, Placed]:
        """Each part but the last one of a task, and the one after it."""
        task = self.rows["a"]
        has_further = np.flatnonzero(task[1:] == task[:-1])
        return self.rows[has_further], self.rows[has_further + 1]


def _signed(numbers: Any) -> Integers:
    """Side by side in memory, as columns are sorted and looked up."""
    return np.ascontiguousarray(numbers).view(np.int64)


def _first(events: Placed, numbers: NDArray[np.uint64]) -> Integers:
    """The place of the first event about each of these numbers; -1: there is none."""
    number = _signed(events["a"])
    order = ordered(number, np.zeros(len(number), np.int64))
    groups = Groups.of(number[order], np.zeros(len(number), np.int64))
    at = groups.earliest(_signed(numbers), np.zeros(len(numbers), np.int64))
    return np.where(at >= 0, order[np.minimum(at, len(order) - 1)], -1) if len(order) else at


def _handed_over(process: Process) -> tuple[Placed, Placed]:
    """From who had a lock to who waited for it and had it next."""
    entries = lock_entries(process)
    for lane in process.lanes:
        release_pages(lane.events)
    to = entries.handed_over(process.ns_per_tick)
    return _entries_at(entries, to - 1, entries.left()), _entries_at(entries, to, entries.entered)


def _entries_at(entries: Entries, chosen: Integers, ticks: Integers) -> Placed:
    placed = np.zeros(len(chosen), _PLACED)
    placed["ticks"] = ticks[chosen]
    placed["lane"], placed["at"] = entries.lane[chosen], entries.place[chosen]
    return placed


def _enabled(ready: Placed, created: Placed) -> Placed:
    """Tasks that were made ready by another than their maker, whose arrow is there already."""
    ready = ready[ready["b"] != 0]
    at = _first(created, ready["a"])
    by_maker = at >= 0
    by_maker[by_maker] = created["b"][at[by_maker]] == ready["b"][by_maker]
    return ready[~by_maker]


def _dependences(parts: _Parts, edges: Placed) -> tuple[Placed, Placed]:
    """From the last part of the one to the first of the other, once however often it was told."""
    distinct_pairs = np.unique(np.stack([edges["a"], edges["b"]], axis=1), axis=0)
    before, after = parts.last(distinct_pairs[:, 0]), parts.first(distinct_pairs[:, 1])
    have_parts = (before >= 0) & (after >= 0)
    return parts.rows[before[have_parts]], parts.rows[after[have_parts]]


def _by_lane(ends: Placed, numbers: NDArray[np.uint64]) -> dict[int, Flows]:
    order = np.argsort(ends["lane"], kind="stable")
    lanes, first = np.unique(ends["lane"][order], return_index=True)
    groups = np.split(order, first[1:])
    return {
        int(lane): Flows.of(ends["at"][lane_places], numbers[lane_places])
        for lane, lane_places in zip(lanes, groups, strict=False)
    }

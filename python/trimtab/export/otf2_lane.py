"""The events of a lane for OTF2: Enter and Leave, and what else belongs to that moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.export.labels import CATEGORIES, FIGURES, figure_of, has_figures, name_keys, name_of
from trimtab.export.otf2_definitions import Definitions
from trimtab.export.source import Integers, View
from trimtab.model import Lane
from trimtab.model.enumerations import WaitKind
from trimtab.otf2 import numbers
from trimtab.otf2.calls import Calls
from trimtab.otf2.library import Library
from trimtab.traces.arrows import FIRST_PARCEL
from trimtab.traces.lock_turns import ByEntry
from trimtab.traces.slices import Role, Slices

# Items of a lane whose calls are listed in one go: some hundred bytes each.
_BLOCK = 1 << 16
# Order of the calls of one item: what comes before Enter or Leave, attributes last; then what comes behind it.
_CALLS = 16
_BEFORE, _ATTRIBUTE, _ITEM, _BEHIND, _LAST = 0, 4, 8, 9, 10

_ROLES: dict[Role, numbers.Role] = {
    Role.REGION: numbers.Role.PARALLEL,
    Role.WORK: numbers.Role.PARALLEL,
    Role.TASK: numbers.Role.TASK,
    Role.PART: numbers.Role.TASK,
    Role.SCOPE: numbers.Role.CODE,
    Role.LOOP: numbers.Role.LOOP,
    Role.CHUNK: numbers.Role.WORKSHARE,
    Role.LOCK: numbers.Role.CRITICAL,
    Role.LOCK_WAIT: numbers.Role.CODE,
    Role.STATE: numbers.Role.ARTIFICIAL,
}
_WAITS: dict[int, numbers.Role] = {
    WaitKind.JOIN: numbers.Role.IMPLICIT_BARRIER,
    WaitKind.TASKWAIT: numbers.Role.TASK_WAIT,
    WaitKind.ORDERED: numbers.Role.ORDERED,
    WaitKind.CRITICAL: numbers.Role.CRITICAL,
    WaitKind.LOCK: numbers.Role.CRITICAL,
    WaitKind.SINGLE: numbers.Role.SINGLE,
}
# Of OpenMP whatever the runtime is called; tasks and states may be of another runtime.
_BY_OPENMP = {Role.REGION, Role.WORK, Role.LOOP, Role.WAIT, Role.CHUNK, Role.LOCK, Role.LOCK_WAIT}
_OPENMP_RUNTIMES = ("libgomp", "libomp", "libiomp")


@dataclass(frozen=True)
class Teams:
    """The communicator of the threads of the process; and where messages go, if it has a rank."""

    threads: int
    messages: Messages | None


@dataclass(frozen=True)
class Messages:
    """Places of sender and receiver in the communicator `world`, by the parcel's number less `FIRST_PARCEL`."""

    world: int
    senders: Integers
    receivers: Integers


class LaneCalls:
    """What is to be called for a lane.

    Args:
        entries: of locks: in which turn each was, and which lock it was; None: there are none.
    """

    def __init__(self, view: View, lane: Lane, teams: Teams, entries: tuple[ByEntry, ByEntry] | None) -> None:
        self._view, self._lane, self._teams, self._entries = view, lane, teams, entries
        self._regions: dict[int, int] = {}
        self._task_begins: Integers = np.empty(0, np.int64)
        self._waited_locks: Integers = np.empty(0, np.int64)
        self.end_ns = 0
        """Of the last event."""

    def blocks(
        self, library: Library, writer: int, attributes: int, definitions: Definitions
    ) -> Iterator[tuple[Calls, int]]:
        """Calls, block by block, and how many events each block stands for."""
        slices = self._view.slices(self._lane)
        if self._lane.id in self._view.arrows.entering:
            # A slice that was cut in two stands for one task all the same.
            is_task = (slices.role == Role.TASK) | (slices.role == Role.PART)
            begins = np.flatnonzero((slices.change == 1) & is_task)
            self._task_begins = begins[np.unique(slices.source[begins], return_index=True)[1]]
        self._waited_locks = np.unique(slices.source[slices.role == Role.LOCK_WAIT])
        for low in range(0, len(slices), _BLOCK):
            high = min(low + _BLOCK, len(slices))
            block = _Block(self._view, self._lane, slices, low, high)
            calls = _BlockCalls(Calls(), library, writer, attributes, definitions, block)
            self._add(calls)
            self.end_ns = int(block.times[-1])
            yield calls.calls, (high - low) * len(self._lane.events) // len(slices)

    def _add(self, calls: _BlockCalls) -> None:
        block = calls.block
        begins, ends = np.flatnonzero(block.change == 1), np.flatnonzero(block.change == -1)
        opened = np.concatenate([begins + block.low, block.slices.partner[ends + block.low]])
        regions = self._regions_of(calls.definitions, block.slices, opened)
        has_attributes = calls.add_attributes(begins)
        for is_with, attributes in ((False, None), (True, calls.attributes)):
            chosen = np.flatnonzero(has_attributes == is_with)
            calls.add(_ITEM, begins[chosen], "Enter", regions[chosen], attributes=attributes)
        calls.add(_ITEM, ends, "Leave", regions[len(begins) :])
        calls.add_instants(np.flatnonzero(block.change == 0))
        self._add_teams(calls)
        if self._entries is not None:
            self._add_locks(calls, *self._entries)
        self._add_messages(calls)

    def _regions_of(self, definitions: Definitions, slices: Slices, chosen: Integers) -> Integers:
        keys, inverse = name_keys(slices, self._lane.events, chosen)
        for key in keys.tolist():
            if key not in self._regions:
                self._regions[key] = self._region(definitions, key)
        numbers_of_keys = np.array([self._regions[key] for key in keys.tolist()], np.int64)
        regions: Integers = numbers_of_keys[inverse]
        return regions

    def _region(self, definitions: Definitions, key: int) -> int:
        role, arg, subject = Role(key >> 48), (key >> 32) & 0xFFFF, key & 0xFFFFFFFF
        place = self._view.places[subject][1]
        wait = _WAITS.get(arg, numbers.Role.BARRIER)
        return definitions.region(
            name_of(key, self._view.places),
            wait if role == Role.WAIT else _ROLES[role],
            self._paradigm(role),
            (place.file, place.line),
            CATEGORIES[role],
        )

    def _paradigm(self, role: Role) -> numbers.Paradigm:
        if role in _BY_OPENMP:
            return numbers.Paradigm.OPENMP
        # Tasks do not say whose they are: those of a runtime with workers are not OpenMP's.
        process = self._view.process
        runtimes = [name for name, _ in process.runtimes.values()]
        is_of_workers = any(lane.header["worker_of"] for lane in process.lanes)
        is_openmp = role in (Role.TASK, Role.PART) and not is_of_workers
        is_openmp = is_openmp and any(name.startswith(_OPENMP_RUNTIMES) for name in runtimes)
        return numbers.Paradigm.OPENMP if is_openmp else numbers.Paradigm.USER

    def _add_teams(self, calls: _BlockCalls) -> None:
        openmp = int(numbers.Paradigm.OPENMP)
        forks, joins = calls.block.items(Role.REGION)
        # The number of threads is known at the end; requested is what a program without a wish gets.
        calls.add(_BEFORE, forks, "ThreadFork", openmp, 0)
        calls.add(_LAST, joins, "ThreadJoin", openmp)
        for roles, items, step in zip(
            ("Begin", "End"), calls.block.items(Role.WORK), (_BEFORE, _BEHIND), strict=True
        ):
            calls.add(step, items, f"ThreadTeam{roles}", self._teams.threads)

    def _add_locks(self, calls: _BlockCalls, turns: ByEntry, locks: ByEntry) -> None:
        """A lock is had from the end of the wait for it on, if there was one."""
        block = calls.block
        begins, ends = block.items(Role.LOCK)
        at_once = begins[~np.isin(block.source[begins], self._waited_locks)]
        for items, step, name in (
            (np.concatenate([at_once, block.items(Role.LOCK_WAIT)[1]]), _BEHIND, "Acquire"),
            (ends, _BEFORE, "Release"),
        ):
            source = block.source[items]
            openmp = int(numbers.Paradigm.OPENMP)
            calls.add(step, items, f"Thread{name}Lock", openmp, locks.of(source), turns.of(source))

    def _add_messages(self, calls: _BlockCalls) -> None:
        messages, block, arrows = self._teams.messages, calls.block, self._view.arrows
        if messages is None:
            return
        sends = np.flatnonzero((block.change == 0) & (block.role == Role.SENDS))
        begins = self._task_begins - block.low
        begins = begins[(begins >= 0) & (begins < len(block.change))]
        for items, name, flows, partners in (
            (sends, "MpiSend", arrows.leaving.get(self._lane.id), messages.receivers),
            (begins, "MpiRecv", arrows.entering.get(self._lane.id), messages.senders),
        ):
            if flows is not None:
                counts, arrow_numbers = flows.at(block.source[items])
                at, parcels = np.repeat(items, counts), arrow_numbers.astype(np.int64) - FIRST_PARCEL
                at, parcels = at[parcels >= 0], parcels[parcels >= 0]
                # A tag of its own for each: parcels may overtake each other, and readers pair messages in order.
                calls.add(_BEHIND, at, name, partners[parcels], messages.world, parcels & 0x7FFFFFFF, 0)


@dataclass(frozen=True)
class _Block:
    """Items `low` to `high` of a lane's slices; places of items count from `low`."""

    view: View
    lane: Lane
    slices: Slices
    low: int
    high: int

    @property
    def change(self) -> NDArray[np.int8]:
        """1: begin, -1: end, 0: instant."""
        return self.slices.change[self.low : self.high]

    @property
    def role(self) -> NDArray[np.uint8]:
        """What each shows."""
        return self.slices.role[self.low : self.high]

    @property
    def source(self) -> Integers:
        """The event that each comes from."""
        return self.slices.source[self.low : self.high]

    @property
    def times(self) -> Integers:
        """Nanoseconds since the run began."""
        return self.view.ns(self.slices.ticks[self.low : self.high])

    def items(self, role: Role) -> tuple[Integers, Integers]:
        """The begins and the ends of slices of a role."""
        of_role = self.role == role
        return np.flatnonzero(of_role & (self.change == 1)), np.flatnonzero(of_role & (self.change == -1))


@dataclass(frozen=True)
class _BlockCalls:
    """The calls of a block, which are of one writer."""

    calls: Calls
    library: Library
    writer: int
    attributes: int
    definitions: Definitions
    block: _Block

    def add(
        self,
        step: int,
        items: Integers,
        name: str,
        *arguments: NDArray[Any] | int,
        attributes: int | None = None,
    ) -> None:
        """One event for each of `items`; `step` says where among the calls of its item."""
        if len(items):
            where, time = items * _CALLS + step, self.block.times[items]
            self.calls.add(
                self.library, where, f"EvtWriter_{name}", self.writer, attributes, time, *arguments
            )

    def add_attributes(self, begins: Integers) -> NDArray[np.bool_]:
        """The figures of slices, as attributes of their Enter; returns which of `begins` have any."""
        block, events = self.block, self.block.lane.events
        has_any = np.zeros(len(begins), np.bool_)
        roles = block.role[begins]
        for role, figures in FIGURES.items():
            at = np.flatnonzero(roles == role)
            at = at[has_figures(events, role, block.source[begins[at]])]
            has_any[at] = True
            for nth, (name, field, is_signed) in enumerate(figures if len(at) else ()):
                values = self._figure(name, field, begins[at])
                kind = numbers.Type.INT64 if is_signed else numbers.Type.UINT64
                attribute = self.definitions.attribute(name, kind)
                function = f"AttributeList_Add{'Int64' if is_signed else 'Uint64'}"
                values = values.view(np.int64) if is_signed else values
                where = begins[at] * _CALLS + _ATTRIBUTE + nth
                self.calls.add(self.library, where, function, self.attributes, attribute, values)
        return has_any

    def _figure(self, name: str, field: str, items: Integers) -> Any:
        """As it is recorded, or in nanoseconds."""
        block = self.block
        source, ns_per_tick = block.source[items], block.view.process.ns_per_tick
        values = figure_of(block.lane.events, name, field, source, ns_per_tick)
        return np.ascontiguousarray(values)

    def add_instants(self, items: Integers) -> None:
        """Moments, as values of parameters: the task that it is about, or 0."""
        block = self.block
        keys, inverse = name_keys(block.slices, block.lane.events, items + block.low)
        names = [name_of(key, block.view.places) for key in keys.tolist()]
        parameters = np.array([self.definitions.parameter(name) for name in names], np.int64)[inverse]
        roles = block.role[items]
        values = np.zeros(len(items), np.uint64)
        for role, figures in FIGURES.items():
            at = np.flatnonzero(roles == role)
            # The second figure of what is given is who gets it.
            name, field, _ = figures[1 if role == Role.GIVES else 0]
            values[at] = self._figure(name, field, items[at])
        self.add(_ITEM, items, "ParameterUnsignedInt", parameters, values)

"""An OTF2 archive that is read: its definitions by number, and the events of each location as rows of numbers."""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.otf2 import numbers
from trimtab.otf2.library import I64, POINTER, TEXT, U8, U32, U64, Failure, Library

# What has more is damaged, or is no archive that a report could be made of.
MOST_DEFINITIONS = 20_000_000
_GO_ON, _STOP = 0, 1


class Kind(IntEnum):
    """What an event is; which numbers its row has besides is said behind it."""

    ENTER = 1  # region
    LEAVE = 2  # region
    FORK = 3
    JOIN = 4
    TEAM_BEGIN = 5
    TEAM_END = 6
    ACQUIRE = 7  # lock
    RELEASE = 8  # lock
    SEND = 9  # receiver, communicator, tag << 32 | bytes, at most 4 GB
    RECEIVE = 10  # sender, communicator, tag << 32 | bytes
    COLLECTIVE = 11  # communicator
    VALUE = 12  # metric, place of its member, bits of a float


Rows = NDArray[np.uint64]
WIDTH = 5
"""Numbers of a row: kind, time, and three that depend on the kind; 0 for those that it lacks."""


@dataclass(frozen=True)
class Region:
    """What is entered and left."""

    name: str
    role: int
    paradigm: int
    file: str
    line: int


@dataclass(frozen=True)
class Location:
    """A thread, or what records counters; `group` is its process."""

    name: str
    kind: int
    events: int
    group: int


@dataclass
class Archive:
    """All of it; texts are given by their numbers."""

    resolution: int = 0
    offset: int = 0
    length: int = 0
    real_ns: int = numbers.NO_UINT64
    texts: dict[int, str] = field(default_factory=dict)
    nodes: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Name, class, parent."""
    groups: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Of processes: name, node."""
    locations: dict[int, Location] = field(default_factory=dict)
    regions: dict[int, Region] = field(default_factory=dict)
    members: dict[int, tuple[int, int, list[int]]] = field(default_factory=dict)
    """Of groups: kind, paradigm, members."""
    comms: dict[int, int] = field(default_factory=dict)
    """Their groups."""
    metric_members: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Name, unit, mode."""
    metric_classes: dict[int, list[int]] = field(default_factory=dict)
    metric_instances: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Class, scope, number of what it is about."""
    events: dict[int, Rows] = field(default_factory=dict)
    definitions: int = 0

    def text(self, number: int) -> str:
        """Empty if there is none."""
        return self.texts.get(number, "")


def _definition_callbacks(into: Archive) -> dict[str, tuple[tuple[Any, ...], Callable[..., Any]]]:
    """For each kind of definition its arguments, and what is done with it."""

    def clock(resolution: int, offset: int, length: int, real_ns: int) -> None:
        into.resolution, into.offset, into.length, into.real_ns = resolution, offset, length, real_ns

    def location(number: int, name: int, kind: int, events: int, group: int) -> None:
        into.locations[number] = Location(into.text(name), kind, events, group)

    def region(number: int, name: int, *rest: int) -> None:
        _, _, role, paradigm, _, file, line, _ = rest
        into.regions[number] = Region(into.text(name), role, paradigm, into.text(file), line)

    def group(number: int, _: int, kind: int, paradigm: int, *rest: Any) -> None:
        _, count, members = rest
        into.members[number] = (kind, paradigm, members[:count])

    def metric_class(number: int, count: int, members: Any, *_: int) -> None:
        into.metric_classes[number] = members[:count]

    u32s, u64s = ctypes.POINTER(U32), ctypes.POINTER(U64)
    return {
        "ClockProperties": ((U64,) * 4, clock),
        "String": (
            (U32, TEXT),
            lambda number, text: into.texts.__setitem__(number, (text or b"").decode("utf-8", "replace")),
        ),
        "SystemTreeNode": ((U32,) * 4, lambda number, *rest: into.nodes.__setitem__(number, rest)),
        "LocationGroup": (
            (U32, U32, U8, U32, U32),
            lambda number, name, _, node, __: into.groups.__setitem__(number, (name, node)),
        ),
        "Location": ((U64, U32, U8, U64, U32), location),
        "Region": ((U32, U32, U32, U32, U8, U8, U32, U32, U32, U32), region),
        "Group": ((U32, U32, U8, U8, U32, U32, u64s), group),
        "Comm": (
            (U32,) * 5,
            lambda number, _, members, *__: into.comms.__setitem__(number, members),
        ),
        "MetricMember": (
            (U32, U32, U32, U8, U8, U8, U8, I64, U32),
            lambda number, name, *rest: into.metric_members.__setitem__(number, (name, rest[6], rest[2])),
        ),
        "MetricClass": ((U32, U8, u32s, U8, U8), metric_class),
        "MetricInstance": (
            (U32, U32, U64, U8, U64),
            lambda number, of_class, _, scope, about: into.metric_instances.__setitem__(
                number, (of_class, scope, about)
            ),
        ),
    }


def _event_callbacks(rows: array[int]) -> dict[str, tuple[tuple[Any, ...], Callable[..., Any]]]:
    """For each kind of event its arguments behind time and attributes, and what is done with it."""
    add = rows.extend

    def of_lock(kind: Kind) -> Callable[..., Any]:
        return lambda time, *rest: add((kind, time, rest[-2], 0, 0))

    def message(kind: Kind) -> Callable[..., Any]:
        return lambda time, other, comm, tag, size, *_: add(
            (kind, time, other, comm, tag << 32 | min(size, numbers.NO_UINT32))
        )

    def values(time: int, metric: int, count: int, kinds: Any, found: Any) -> None:
        for at in range(count):
            value = _value(int(kinds[at]), int(found[at]))
            add((Kind.VALUE, time, metric, at, struct.unpack("<Q", struct.pack("<d", value))[0]))

    def moment(kind: Kind) -> Callable[..., Any]:
        return lambda time, *_: add((kind, time, 0, 0, 0))

    four = (U32, U32, U32, U64)
    return {
        "Enter": ((U32,), lambda time, region: add((Kind.ENTER, time, region, 0, 0))),
        "Leave": ((U32,), lambda time, region: add((Kind.LEAVE, time, region, 0, 0))),
        "ThreadFork": ((U8, U32), moment(Kind.FORK)),
        "ThreadJoin": ((U8,), moment(Kind.JOIN)),
        "OmpFork": ((U32,), moment(Kind.FORK)),
        "OmpJoin": ((), moment(Kind.JOIN)),
        "ThreadTeamBegin": ((U32,), moment(Kind.TEAM_BEGIN)),
        "ThreadTeamEnd": ((U32,), moment(Kind.TEAM_END)),
        "ThreadAcquireLock": ((U8, U32, U32), of_lock(Kind.ACQUIRE)),
        "ThreadReleaseLock": ((U8, U32, U32), of_lock(Kind.RELEASE)),
        "OmpAcquireLock": ((U32, U32), of_lock(Kind.ACQUIRE)),
        "OmpReleaseLock": ((U32, U32), of_lock(Kind.RELEASE)),
        "MpiSend": (four, message(Kind.SEND)),
        "MpiIsend": ((*four, U64), message(Kind.SEND)),
        "MpiRecv": (four, message(Kind.RECEIVE)),
        "MpiIrecv": ((*four, U64), message(Kind.RECEIVE)),
        "MpiCollectiveEnd": (
            (U8, U32, U32, U64, U64),
            lambda time, _, comm, *__: add((Kind.COLLECTIVE, time, comm, 0, 0)),
        ),
        "Metric": ((U32, U8, ctypes.POINTER(U8), ctypes.POINTER(U64)), values),
    }


def _value(kind: int, bits: int) -> float:
    """A value of a metric as a float."""
    raw = struct.pack("<Q", bits)
    if kind == numbers.Type.DOUBLE:
        return float(struct.unpack("<d", raw)[0])
    if kind == numbers.Type.FLOAT:
        return float(struct.unpack("<f", raw[:4])[0])
    return float(struct.unpack("<q", raw)[0] if kind == numbers.Type.INT64 else bits)


def read(library: Library, anchor: Path) -> Archive:
    """All definitions and events of the archive with this file.

    Raises:
        Failure: it is none, or is damaged: says at which function of OTF2.
    """
    library.silence()
    reader = library.make("Reader_Open", bytes(anchor))
    try:
        library.call("Reader_SetSerialCollectiveCallbacks", reader)
        archive = Archive()
        _read_definitions(library, reader, archive)
        if not archive.resolution:
            raise Failure("the definitions lack the properties of the clock")
        _read_events(library, reader, archive)
        return archive
    finally:
        library.raw("Reader_Close")(reader)


def _read_definitions(library: Library, reader: int, archive: Archive) -> None:
    definitions = library.make("Reader_GetGlobalDefReader", reader)
    callbacks = library.make("GlobalDefReaderCallbacks_New")

    def count(function: Callable[..., Any]) -> Callable[..., int]:
        def counted(_: int, *arguments: Any) -> int:
            archive.definitions += 1
            function(*arguments)
            return _GO_ON if archive.definitions <= MOST_DEFINITIONS else _STOP

        return counted

    kept = []
    for name, (arguments, function) in _definition_callbacks(archive).items():
        kept.append(ctypes.CFUNCTYPE(ctypes.c_int, POINTER, *arguments)(count(function)))
        library.set_callback("GlobalDefReaderCallbacks", name, callbacks, kept[-1])
    library.call("Reader_RegisterGlobalDefCallbacks", reader, definitions, callbacks, None)
    result = ctypes.c_uint64()
    library.call("Reader_ReadAllGlobalDefinitions", reader, definitions, ctypes.addressof(result))
    library.call("Reader_CloseGlobalDefReader", reader, definitions)


def _read_events(library: Library, reader: int, archive: Archive) -> None:
    for number in archive.locations:
        library.call("Reader_SelectLocation", reader, number)
    # Archives whose definitions are all global may have no files of local ones.
    has_definitions = library.raw("Reader_OpenDefFiles")(reader) == 0
    library.call("Reader_OpenEvtFiles", reader)
    count = ctypes.c_uint64()
    for number, location in archive.locations.items():
        if has_definitions:
            definitions = library.raw("Reader_GetDefReader")(reader, number)
            if definitions:
                library.call("Reader_ReadAllLocalDefinitions", reader, definitions, ctypes.addressof(count))
                library.call("Reader_CloseDefReader", reader, definitions)
        archive.events[number] = _events_of(library, reader, number, location)
    if has_definitions:
        library.call("Reader_CloseDefFiles", reader)
    library.call("Reader_CloseEvtFiles", reader)


def _events_of(library: Library, reader: int, number: int, location: Location) -> Rows:
    if not location.events:
        return np.empty((0, WIDTH), np.uint64)
    events = library.make("Reader_GetEvtReader", reader, number)
    callbacks = library.make("EvtReaderCallbacks_New")
    rows = array("Q")

    def wrapped(function: Callable[..., Any]) -> Callable[..., int]:
        def called(_: int, time: int, __: int, ___: int, ____: int, *arguments: Any) -> int:
            function(time, *arguments)
            return _GO_ON

        return called

    kept = []
    head = (U64, U64, U64, POINTER, POINTER)
    for name, (arguments, function) in _event_callbacks(rows).items():
        kept.append(ctypes.CFUNCTYPE(ctypes.c_int, *head, *arguments)(wrapped(function)))
        library.set_callback("EvtReaderCallbacks", name, callbacks, kept[-1])
    library.call("Reader_RegisterEvtCallbacks", reader, events, callbacks, None)
    count = ctypes.c_uint64()
    library.call("Reader_ReadAllLocalEvents", reader, events, ctypes.addressof(count))
    library.call("Reader_CloseEvtReader", reader, events)
    if count.value != location.events:
        raise Failure(f"location {number}: expected {location.events} events, found {count.value}")
    return np.frombuffer(rows, np.uint64).reshape(-1, WIDTH) if rows else np.empty((0, WIDTH), np.uint64)

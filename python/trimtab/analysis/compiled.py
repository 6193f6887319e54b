"""The room `diagnosis`, which is compiled: who is to blame for waiting, the critical path, and replays with a change."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trimtab import paths
from trimtab.traces.columns import picked
from trimtab.traces.intervals import Intervals

# As rooms/diagnosis has them; its library checks the same sizes.
INTERVAL = np.dtype(
    {
        "names": ["begin_ns", "end_ns", "lane", "giver", "group", "kind"],
        "formats": ["<i8", "<i8", "<u4", "<u4", "<u4", "u1"],
        "offsets": [0, 8, 16, 20, 24, 28],
        "itemsize": 32,
    }
)
BLAME = np.dtype(
    {
        "names": ["wait_group", "culprit_group", "culprit_kind", "end", "ns", "charges"],
        "formats": ["<u4", "<u4", "u1", "u1", "<i8", "<u8"],
        "offsets": [0, 4, 8, 9, 16, 24],
        "itemsize": 32,
    }
)
CHARGE = np.dtype(
    {
        "names": ["wait", "culprit", "end", "begin_ns", "end_ns"],
        "formats": ["<u4", "<u4", "u1", "<i8", "<i8"],
        "offsets": [0, 4, 8, 16, 24],
        "itemsize": 32,
    }
)
PATH_PART = np.dtype([("interval", "<u4"), ("lane", "<u4"), ("begin_ns", "<i8"), ("end_ns", "<i8")])
STEP = np.dtype(
    [
        ("duration_ns", "<i8"),
        ("lead_ns", "<i8"),
        ("recorded_begin_ns", "<i8"),
        ("lane", "<u4"),
        ("pool", "<u4"),
    ]
)
LINK = np.dtype([("from_step", "<u4"), ("to_step", "<u4"), ("latency_ns", "<i8"), ("base", "u1")], align=True)
BEGUN = np.dtype(
    {"names": ["begin_ns", "lane"], "formats": ["<i8", "<u4"], "offsets": [0, 8], "itemsize": 16}
)
# `base` of a link: its latency counts from the end or the begin of the first step.
FROM_END, FROM_BEGIN = range(2)
NO_LANE = NO_INTERVAL = 0xFFFFFFFF
# `kind` of an interval.
BUSY, WAITING, RESUMING, STOPPED = range(4)
# `end` of a chain of waits.
AT_INTERVAL, UNKNOWN_GIVER, ABSENT_LANE, CIRCLE = range(4)


class _IntervalTable(ctypes.Structure):
    _fields_ = (("intervals", ctypes.c_void_p), ("count", ctypes.c_size_t), ("lanes", ctypes.c_uint32))


class _ChargeTable(ctypes.Structure):
    _fields_ = (
        ("intervals", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
        ("charges", ctypes.c_void_p),
        ("charge_count", ctypes.c_size_t),
    )


class _ChargeAndPathRoom(ctypes.Structure):
    _fields_ = (
        ("charges", ctypes.c_void_p),
        ("charge_room", ctypes.c_size_t),
        ("charge_count", ctypes.c_size_t),
        ("path", ctypes.c_void_p),
        ("path_room", ctypes.c_size_t),
        ("path_count", ctypes.c_size_t),
        ("order", ctypes.c_void_p),
    )


_STEP_COLUMNS = ("duration_ns", "lead_ns", "recorded_begin_ns", "lane", "pool")
_LINK_COLUMNS = ("from_step", "to_step", "latency_ns", "base")


class _StepTable(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_size_t),
        *((name, ctypes.c_void_p) for name in _STEP_COLUMNS),
        ("link_count", ctypes.c_size_t),
        *((name, ctypes.c_void_p) for name in _LINK_COLUMNS),
        ("lanes", ctypes.c_uint32),
        ("servers", ctypes.c_uint32),
        ("server_ends_ns", ctypes.c_void_p),
        ("server_pools", ctypes.c_void_p),
    )


class _TextRoom(ctypes.Structure):
    _fields_ = (("text", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


_FAILED = ctypes.c_size_t(-1).value
Table = NDArray[np.void]


class CompiledError(Exception):
    """Intervals that cannot be: says which, what was expected and what was found."""


def table_of(intervals: Intervals) -> Table:
    """As rooms/diagnosis takes them."""
    table = np.empty(len(intervals), INTERVAL)
    for name in INTERVAL.names or ():
        table[name] = getattr(intervals, name)
    return table


def blame(intervals: Table, lanes: int) -> Table:
    """Sums of waiting time by group of the wait and of what is charged: records of `BLAME`.

    Args:
        intervals: records of `INTERVAL`, in any order; those of a lane do not overlap, and each takes at least a nanosecond.
        lanes: how many there are.

    Raises:
        CompiledError: an interval overlaps another one of its lane, is empty, or is of a lane that there is not.
        OSError: the compiled library is not there.
    """
    return _call("trimtab_blame", intervals, lanes, BLAME)


def charges(intervals: Table, lanes: int) -> Table:
    """What each wait is charged to, and from when to when: records of `CHARGE`.

    Charges of a wait that follow each other and have culprits of the same group and kind are one. Arguments and errors as of `blame`.
    """
    return _call("trimtab_charges", intervals, lanes, CHARGE, _room_for(intervals)[0])


class Waits(NamedTuple):
    """As `charges` and `critical_path` have them, and the order of the intervals by lane and begin."""

    charges: Table
    path: Table
    order: NDArray[np.uint32]


def waits_of(intervals: Table, lanes: int) -> Waits:
    """Arguments and errors as of `blame`."""
    intervals = np.ascontiguousarray(intervals, INTERVAL)
    called = _library().trimtab_charges_and_path
    called.restype = ctypes.c_size_t
    table = _IntervalTable(intervals.ctypes.data, len(intervals), lanes)
    buffer, error = _error_room()
    rooms, order = _room_for(intervals), np.empty(len(intervals), np.uint32)
    while True:
        charges, path = np.empty(rooms[0], CHARGE), np.empty(rooms[1], PATH_PART)
        to = _ChargeAndPathRoom(
            charges.ctypes.data, len(charges), 0, path.ctypes.data, len(path), 0, order.ctypes.data
        )
        if called(ctypes.byref(table), ctypes.byref(to), ctypes.byref(error)) == _FAILED:
            raise CompiledError(buffer.value.decode())
        if to.charge_count <= len(charges) and to.path_count <= len(path):
            return Waits(charges[: to.charge_count], path[: to.path_count], order)
        rooms = max(to.charge_count, len(charges)), max(to.path_count, len(path))


def _room_for(intervals: Table) -> tuple[int, int]:
    """For charges and for parts of the path: both are computed once more if there is too little. Pages that stay empty take no memory."""
    return 2 * len(intervals) + 1024, len(intervals) + 1024


def blame_of_charges(intervals: Table, charges: Table) -> Table:
    """As `blame`, from the charges of all waits: its `charges` counts these.

    Raises:
        CompiledError: a charge is of an interval that there is not.
        OSError: the compiled library is not there.
    """
    intervals, charges = np.ascontiguousarray(intervals, INTERVAL), np.ascontiguousarray(charges, CHARGE)
    table = _ChargeTable(intervals.ctypes.data, len(intervals), charges.ctypes.data, len(charges))
    return _results("trimtab_blame_of_charges", table, BLAME)


def critical_path(intervals: Table, lanes: int) -> Table:
    """The chain of intervals that decided when the program ended, in the order of time: records of `PATH_PART`.

    Arguments and errors as of `blame`.
    """
    return _call("trimtab_critical_path", intervals, lanes, PATH_PART)


class StepColumns(NamedTuple):
    """The columns of a table of `STEP`."""

    duration_ns: NDArray[np.int64]
    lead_ns: NDArray[np.int64]
    recorded_begin_ns: NDArray[np.int64]
    lane: NDArray[np.uint32]
    pool: NDArray[np.uint32]

    @staticmethod
    def of(table: Table) -> StepColumns:
        """Of records of `STEP`."""
        return StepColumns(*(table[name] for name in _STEP_COLUMNS))


class LinkColumns(NamedTuple):
    """The columns of a table of `LINK`."""

    from_step: NDArray[np.uint32]
    to_step: NDArray[np.uint32]
    latency_ns: NDArray[np.int64]
    base: NDArray[np.uint8]

    @staticmethod
    def of(table: Table) -> LinkColumns:
        """Of records of `LINK`."""
        return LinkColumns(*(table[name] for name in _LINK_COLUMNS))

    def pick(self, chosen: Any) -> LinkColumns:
        return LinkColumns(*picked(self, chosen))


class Program(NamedTuple):
    """What is replayed.

    Attributes:
        steps: those of a lane in the order in which it does them.
        links: by the places of steps; faster if in order of the step that they come from, first those from its begin, and of
            their latency.
        lanes: how many there are.
        servers: so many of the last lanes take steps of a pool when they have done their own.
        server_ends_ns: from when on each of these begins none; None: they always do.
        server_pools: whose steps each of these takes, from 1; None: those of pool 1.
    """

    steps: StepColumns
    links: LinkColumns
    lanes: int
    servers: int
    server_ends_ns: NDArray[np.int64] | None = None
    server_pools: NDArray[np.uint32] | None = None


def replay(
    steps: Table,
    links: Table,
    lanes: int,
    servers: int,
    server_ends_ns: NDArray[np.int64] | None = None,
    server_pools: NDArray[np.uint32] | None = None,
) -> Table:
    """When each step begins, and on which lane, if the program runs again as `steps` and `links` say: records of `BEGUN`.

    Args:
        steps: records of `STEP`.
        links: records of `LINK`.
        lanes, servers, server_ends_ns, server_pools: as of `Program`.

    Raises:
        CompiledError: steps wait for each other, nobody serves the pool, or there is no such lane or step.
        OSError: the compiled library is not there.
    """
    columns = StepColumns.of(steps), LinkColumns.of(links)
    program = Program(*columns, lanes, servers, server_ends_ns, server_pools)
    return _replayed("trimtab_replay", program, BEGUN, len(steps))


class LinkMoments(NamedTuple):
    """Where in their steps links lead on, as rooms/diagnosis takes it (link_latency.hpp)."""

    piece: NDArray[np.int32]
    from_step: NDArray[np.uint32]
    within_ns: NDArray[np.int64]
    latency_ns: NDArray[np.int64]
    first_piece: NDArray[np.int64]
    recorded_ns: NDArray[np.int64]


_MOMENT_TYPES = (np.int32, np.uint32, *(np.int64,) * 4)


class _LinkMoments(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_size_t),
        *((name, ctypes.c_void_p) for name in (*LinkMoments._fields, "before_ns")),
    )


def latencies(links: LinkMoments, before_ns: NDArray[np.float64]) -> NDArray[np.int64]:
    """What passes from the begin or end of each link's step; `before_ns`: how long all pieces before each one are, and one behind the last."""
    columns = [np.ascontiguousarray(column, kind) for column, kind in zip(links, _MOMENT_TYPES, strict=True)]
    before_ns = np.ascontiguousarray(before_ns, np.float64)
    moments = _LinkMoments(
        len(links.piece), *(column.ctypes.data for column in columns), before_ns.ctypes.data
    )
    result = np.empty(len(links.piece), np.int64)
    called = _library().trimtab_link_latencies
    called.restype = None
    called(ctypes.byref(moments), ctypes.c_void_p(result.ctypes.data))
    return result


def replayed_end_ns(program: Program) -> int:
    """When the last step ends in such a replay; errors as of `replay`."""
    return int(_replayed("trimtab_replay_end", program, np.dtype(np.int64), 1)[0])


def _replayed(function: str, program: Program, result: np.dtype[Any], room: int) -> Table:
    steps = _contiguous(program.steps, STEP)
    links = _contiguous(program.links, LINK)
    servers, server_ends_ns, server_pools = program.servers, program.server_ends_ns, program.server_pools
    ends = None if server_ends_ns is None else np.ascontiguousarray(server_ends_ns, np.int64)
    if ends is not None and len(ends) != servers:
        raise CompiledError(f"server_ends_ns: expected {servers} ends, found {len(ends)}")
    pools = None if server_pools is None else np.ascontiguousarray(server_pools, np.uint32)
    if pools is not None and len(pools) != servers:
        raise CompiledError(f"server_pools: expected {servers} pools, found {len(pools)}")
    arguments = _StepTable(
        len(steps[0]),
        *(column.ctypes.data for column in steps),
        len(links[0]),
        *(column.ctypes.data for column in links),
        program.lanes,
        servers,
        None if ends is None else ends.ctypes.data,
        None if pools is None else pools.ctypes.data,
    )
    return _results(function, arguments, result, room)


def _contiguous(columns: Sequence[NDArray[Any]], record: np.dtype[Any]) -> list[NDArray[Any]]:
    """Side by side in memory, each of the record's type."""
    return [
        np.ascontiguousarray(column, record[name])
        for name, column in zip(record.names or (), columns, strict=True)
    ]


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(paths.diagnosis_library()))


def _call(function: str, intervals: Table, lanes: int, result: np.dtype[Any], room: int = 1024) -> Table:
    intervals = np.ascontiguousarray(intervals, INTERVAL)
    return _results(function, _IntervalTable(intervals.ctypes.data, len(intervals), lanes), result, room)


def _results(function: str, arguments: ctypes.Structure, result: np.dtype[Any], room: int = 1024) -> Table:
    """What a function of the library returns; it is called again where there are more than `room`."""
    called = getattr(_library(), function)
    called.restype = ctypes.c_size_t
    buffer, error = _error_room()
    while True:
        table = np.empty(max(room, 1), result)
        count = called(
            ctypes.byref(arguments),
            ctypes.c_void_p(table.ctypes.data),
            ctypes.c_size_t(room),
            ctypes.byref(error),
        )
        if count == _FAILED:
            raise CompiledError(buffer.value.decode())
        if count <= room:
            filled: Table = table[:count]
            return filled
        room = count


def _error_room() -> tuple[Any, _TextRoom]:
    """For the words of an error, and how it is passed; the first has to outlive the second."""
    buffer = ctypes.create_string_buffer(512)
    return buffer, _TextRoom(ctypes.addressof(buffer), len(buffer))

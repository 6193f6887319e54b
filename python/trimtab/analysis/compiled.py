"""The room `diagnosis`, which is compiled: who is to blame for waiting, the critical path, and replays with a change."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trimtab import paths
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
LINK = np.dtype(
    {
        "names": ["from_step", "to_step", "latency_ns", "base"],
        "formats": ["<u4", "<u4", "<i8", "<u4"],
        "offsets": [0, 4, 8, 16],
        "itemsize": 24,
    }
)
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


class _StepTable(ctypes.Structure):
    _fields_ = (
        ("steps", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
        ("links", ctypes.c_void_p),
        ("link_count", ctypes.c_size_t),
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
    # Computed once more if there is too little room; pages of it that stay empty take no memory.
    return _call("trimtab_charges", intervals, lanes, CHARGE, 2 * len(intervals) + 1024)


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
        steps: records of `STEP`; those of a lane in the order in which it does them.
        links: records of `LINK`, by the places of steps; faster if in order of the step that they come from, first those from
            its begin, and of their latency.
        lanes: how many there are.
        servers: so many of the last lanes take steps of a pool when they have done their own.
        server_ends_ns: from when on each of these begins none; None: they always do.
        server_pools: whose steps each of these takes, from 1; None: those of pool 1.

    Raises:
        CompiledError: steps wait for each other, nobody serves the pool, or there is no such lane or step.
        OSError: the compiled library is not there.
    """
    program = _Program(steps, links, lanes, servers, server_ends_ns, server_pools)
    return _replayed("trimtab_replay", program, BEGUN, len(steps))


def replayed_end_ns(
    steps: Table, links: Table, lanes: int, servers: int, server_pools: NDArray[np.uint32] | None = None
) -> int:
    """When the last step ends in such a replay; arguments and errors as of `replay`."""
    program = _Program(steps, links, lanes, servers, None, server_pools)
    return int(_replayed("trimtab_replay_end", program, np.dtype(np.int64), 1)[0])


class _Program(NamedTuple):
    """The arguments of `replay`."""

    steps: Table
    links: Table
    lanes: int
    servers: int
    server_ends_ns: NDArray[np.int64] | None
    server_pools: NDArray[np.uint32] | None


def _replayed(function: str, program: _Program, result: np.dtype[Any], room: int) -> Table:
    steps, links = np.ascontiguousarray(program.steps, STEP), np.ascontiguousarray(program.links, LINK)
    lanes, servers = program.lanes, program.servers
    server_ends_ns, server_pools = program.server_ends_ns, program.server_pools
    ends = None if server_ends_ns is None else np.ascontiguousarray(server_ends_ns, np.int64)
    if ends is not None and len(ends) != servers:
        raise CompiledError(f"server_ends_ns: expected {servers} ends, found {len(ends)}")
    pools = None if server_pools is None else np.ascontiguousarray(server_pools, np.uint32)
    if pools is not None and len(pools) != servers:
        raise CompiledError(f"server_pools: expected {servers} pools, found {len(pools)}")
    given = _StepTable(
        steps.ctypes.data,
        len(steps),
        links.ctypes.data,
        len(links),
        lanes,
        servers,
        None if ends is None else ends.ctypes.data,
        None if pools is None else pools.ctypes.data,
    )
    return _results(function, given, result, room)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(paths.diagnosis_library()))


def _call(function: str, intervals: Table, lanes: int, result: np.dtype[Any], room: int = 1024) -> Table:
    intervals = np.ascontiguousarray(intervals, INTERVAL)
    return _results(function, _IntervalTable(intervals.ctypes.data, len(intervals), lanes), result, room)


def _results(function: str, given: ctypes.Structure, result: np.dtype[Any], room: int = 1024) -> Table:
    """What a function of the library returns; it is called again where there are more than `room`."""
    called = getattr(_library(), function)
    called.restype = ctypes.c_size_t
    buffer = ctypes.create_string_buffer(512)
    error = _TextRoom(ctypes.addressof(buffer), len(buffer))
    while True:
        table = np.empty(max(room, 1), result)
        count = called(
            ctypes.byref(given),
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

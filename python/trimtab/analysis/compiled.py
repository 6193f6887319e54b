"""The room `diagnosis`, which is compiled: who is to blame for waiting, and the critical path."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab import paths

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
PATH_PART = np.dtype([("interval", "<u4"), ("lane", "<u4"), ("begin_ns", "<i8"), ("end_ns", "<i8")])
# What is replayed. `pool` is 0 for steps that any lane may take, NO_POOL for those that take no lane.
STEP = np.dtype(
    {
        "names": ["duration_ns", "lead_ns", "recorded_begin_ns", "pool"],
        "formats": ["<i8", "<i8", "<i8", "<u4"],
        "offsets": [0, 8, 16, 24],
        "itemsize": 32,
    }
)
LINK = np.dtype([("from", "<u4"), ("to", "<u4"), ("latency_ns", "<i8")])
LIFE = np.dtype([("begin_ns", "<i8"), ("end_ns", "<i8")])
NO_POOL = 0xFFFFFFFF
NO_LANE = NO_INTERVAL = 0xFFFFFFFF
# `kind` of an interval.
BUSY, WAITING, RESUMING, STOPPED = range(4)
# `end` of a chain of waits.
AT_INTERVAL, UNKNOWN_GIVER, ABSENT_LANE, CIRCLE = range(4)


class _IntervalTable(ctypes.Structure):
    _fields_ = (("intervals", ctypes.c_void_p), ("count", ctypes.c_size_t), ("lanes", ctypes.c_uint32))


class _PoolWork(ctypes.Structure):
    _fields_ = (
        ("steps", ctypes.c_void_p),
        ("step_count", ctypes.c_size_t),
        ("links", ctypes.c_void_p),
        ("link_count", ctypes.c_size_t),
        ("lanes", ctypes.c_void_p),
        ("lane_count", ctypes.c_size_t),
    )


class _TextRoom(ctypes.Structure):
    _fields_ = (("text", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


_FAILED = ctypes.c_size_t(-1).value
Table = NDArray[np.void]


class CompiledError(Exception):
    """Intervals that cannot be: says which, what was expected and what was found."""


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


def critical_path(intervals: Table, lanes: int) -> Table:
    """The chain of intervals that decided when the program ended, in the order of time: records of `PATH_PART`.

    Arguments and errors as of `blame`.
    """
    return _call("trimtab_critical_path", intervals, lanes, PATH_PART)


def replay_pool(steps: Table, links: Table, lanes: Table) -> NDArray[np.int64]:
    """When each step would begin, in nanoseconds.

    A step begins when all steps that are linked to it have ended, `latency_ns` later. Free lanes take the ready steps of pool
    0 in the order of `recorded_begin_ns`; a lane is there from `begin_ns` until `end_ns`.

    Args:
        steps: records of `STEP`.
        links: records of `LINK`.
        lanes: records of `LIFE`.

    Raises:
        CompiledError: some steps would never begin.
        OSError: the compiled library is not there.
    """
    called = _library().trimtab_replay_pool
    called.restype = ctypes.c_size_t
    kept = [
        np.ascontiguousarray(steps, STEP),
        np.ascontiguousarray(links, LINK),
        np.ascontiguousarray(lanes, LIFE),
    ]
    given = _PoolWork(*(value for table in kept for value in (table.ctypes.data, len(table))))
    begins = np.zeros(len(steps), np.int64)
    buffer = ctypes.create_string_buffer(512)
    error = _TextRoom(ctypes.addressof(buffer), len(buffer))
    room = ctypes.c_size_t(len(steps))
    count = called(ctypes.byref(given), ctypes.c_void_p(begins.ctypes.data), room, ctypes.byref(error))
    if count == _FAILED:
        raise CompiledError(buffer.value.decode())
    return begins


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(paths.diagnosis_library()))


def _call(function: str, intervals: Table, lanes: int, result: np.dtype[Any]) -> Table:
    called = getattr(_library(), function)
    called.restype = ctypes.c_size_t
    intervals = np.ascontiguousarray(intervals, INTERVAL)
    given = _IntervalTable(intervals.ctypes.data, len(intervals), lanes)
    buffer = ctypes.create_string_buffer(512)
    error = _TextRoom(ctypes.addressof(buffer), len(buffer))
    room = 1024
    while True:
        table = np.zeros(room, result)
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

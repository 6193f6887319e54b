"""What is done with long columns in compiled code (rooms/diagnosis, `columns`)."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab import paths

Integers = NDArray[np.int64]


class _Groups(ctypes.Structure):
    _fields_ = (
        ("time", ctypes.c_void_p),
        ("rows", ctypes.c_size_t),
        ("first", ctypes.c_void_p),
        ("groups", ctypes.c_size_t),
    )


class _Moments(ctypes.Structure):
    _fields_ = (("group", ctypes.c_void_p), ("moment", ctypes.c_void_p), ("count", ctypes.c_size_t))


class _Numbers(ctypes.Structure):
    _fields_ = (("kinds", ctypes.c_void_p), ("numbers", ctypes.c_void_p), ("count", ctypes.c_size_t))


_FAILED = ctypes.c_size_t(-1).value
# So many different values have a table that stays in the CPU's caches.
_FEW = 4096


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(paths.diagnosis_library()))
    library.trimtab_order.restype = ctypes.c_size_t
    library.trimtab_first_rows.restype = None
    library.trimtab_sums_before.restype = ctypes.c_size_t
    library.trimtab_largest_of_kinds.restype = ctypes.c_size_t
    library.trimtab_number_few.restype = ctypes.c_size_t
    return library


def order_of(keys: NDArray[np.uint64]) -> Integers:
    """The rows in the order of their keys; rows of equal keys stay as they are.

    Raises:
        OSError: the compiled library is not there.
    """
    keys = np.ascontiguousarray(keys, np.uint64)
    order = np.empty(len(keys), np.int64)
    if _library().trimtab_order(_at(keys), ctypes.c_size_t(len(keys)), _at(order)) == _FAILED:
        raise MemoryError
    return order


def first_rows(
    time: Integers, first: Integers, group: Integers, moment: Integers, is_behind: bool
) -> Integers:
    """Of each group the first row behind a moment, or at it; one behind its last row where there is none.

    Args:
        time: of rows in order of group and time.
        first: of each group its first row, and one behind the last.
        group: the group of each moment; below 0: none, and the row is one behind all.

    Raises:
        OSError: the compiled library is not there.
    """
    columns = [np.ascontiguousarray(column, np.int64) for column in (time, first, group, moment)]
    time, first, group, moment = columns
    rows = np.empty(len(group), np.int64)
    groups = _Groups(time.ctypes.data, len(time), first.ctypes.data, len(first) - 1)
    moments = _Moments(group.ctypes.data, moment.ctypes.data, len(group))
    _library().trimtab_first_rows(
        ctypes.byref(groups), ctypes.byref(moments), ctypes.c_uint32(is_behind), _at(rows)
    )
    return rows


def sums_before(points: Integers, moments: Integers) -> Integers:
    """Of each of these ascending moments, the sum of what lies between it and all points before it.

    Raises:
        OSError: the compiled library is not there.
    """
    points, moments = (np.ascontiguousarray(column, np.int64) for column in (points, moments))
    sums = np.empty(len(moments), np.int64)
    wanted = _Moments(None, moments.ctypes.data, len(moments))
    done = _library().trimtab_sums_before(
        ctypes.byref(wanted), _at(points), ctypes.c_size_t(len(points)), _at(sums)
    )
    if done == _FAILED:
        raise MemoryError
    return sums


def number_few(values: NDArray[Any]) -> tuple[Integers, Integers] | None:
    """The different values, ascending, and the place of each value among them; None: there are thousands.

    Raises:
        OSError: the compiled library is not there.
    """
    values = np.ascontiguousarray(values, np.int64)
    places, different = np.empty(len(values), np.int64), np.empty(_FEW, np.int64)
    count = _library().trimtab_number_few(
        _at(values), ctypes.c_size_t(len(values)), _at(places), _at(different), ctypes.c_size_t(_FEW)
    )
    return None if count == _FAILED else (different[:count], places)


def largest_of_kinds(kinds: NDArray[Any], numbers: Integers, most: int) -> Integers:
    """The rows with the `most` largest numbers of each kind, by kind; largest first, of equal ones the first rows.

    Raises:
        OSError: the compiled library is not there.
    """
    kinds, numbers = np.ascontiguousarray(kinds, np.int32), np.ascontiguousarray(numbers, np.int64)
    table = _Numbers(kinds.ctypes.data, numbers.ctypes.data, len(kinds))
    rows = np.empty(1024, np.int64)
    while True:
        count = _library().trimtab_largest_of_kinds(
            ctypes.byref(table), ctypes.c_size_t(most), _at(rows), ctypes.c_size_t(len(rows))
        )
        if count == _FAILED:
            raise MemoryError
        if count <= len(rows):
            return rows[:count]
        rows = np.empty(count, np.int64)


def _at(column: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(column.ctypes.data)

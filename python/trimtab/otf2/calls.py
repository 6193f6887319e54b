"""Calls of functions of OTF2 by the million, made by compiled code (rooms/diagnosis, `library/calls.cpp`)."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab import paths
from trimtab.otf2.library import Library

# As the compiled code has it.
_MOST_ARGUMENTS = 8
_Row = NDArray[np.uint64]


class _CallTable(ctypes.Structure):
    _fields_ = (
        ("functions", ctypes.c_void_p),
        ("function_of", ctypes.c_void_p),
        ("rows", ctypes.c_void_p),
        ("order", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
    )


class Calls:
    """Calls of functions of a writer in a given order: no Python step for each, and no pause to ask how each went."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._rows: list[_Row] = []
        self._places: list[NDArray[np.int64]] = []

    def add(
        self, library: Library, places: NDArray[np.int64], name: str, *arguments: NDArray[Any] | int | None
    ) -> None:
        """One call at each of `places`, in whose order all are made; an argument is an array, or the same in all calls."""
        types = library.argument_types(name)
        if len(arguments) != len(types) or len(types) > _MOST_ARGUMENTS:
            raise TypeError(f"OTF2_{name}: expected {len(types)} arguments, found {len(arguments)}")
        rows = np.zeros((len(places), _MOST_ARGUMENTS), np.uint64)
        for at, (kind, argument) in enumerate(zip(types, arguments, strict=True)):
            bits = 8 * ctypes.sizeof(kind)
            if isinstance(argument, np.ndarray):
                rows[:, at] = argument.astype(np.dtype(f"u{bits // 8}"))
            elif argument:
                rows[:, at] = argument & ((1 << bits) - 1)
        self._names.append(name)
        self._rows.append(rows)
        self._places.append(places)

    def run(self, library: Library) -> None:
        """Make all calls.

        Raises:
            Failure: of the first that failed; none after it is made.
        """
        if not self._rows:
            return
        order = np.argsort(np.concatenate(self._places), kind="stable")
        rows = np.concatenate(self._rows)
        function_of = np.repeat(np.arange(len(self._rows), dtype=np.uint32), [len(own) for own in self._rows])
        functions = np.array([library.address(name) for name in self._names], np.uint64)
        table = _CallTable(
            *(column.ctypes.data for column in (functions, function_of, rows, order)), len(order)
        )
        code = ctypes.c_int32()
        done = _compiled().trimtab_make_calls(ctypes.byref(table), ctypes.byref(code))
        if done < len(order):
            raise library.failure(self._names[int(function_of[order[done]])], code.value)


@cache
def _compiled() -> ctypes.CDLL:
    library = ctypes.CDLL(str(paths.diagnosis_library()))
    library.trimtab_make_calls.restype = ctypes.c_size_t
    return library

"""Long columns of numbers: their order, and the rows that others ask for. All in time that grows with the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.threads import of_each
from trimtab.traces.compiled_columns import first_rows, number_few, order_of

Integers = NDArray[np.int64]
# Of numbers that are so close to each other a table says where each is; of others they are searched.
_TABLE_ROWS_A_NUMBER, _LEAST_TABLE = 4, 1024


def small(places: Integers, count: int) -> NDArray[Any]:
    """Places below `count`, or -1, in four bytes each where that is enough: there may be tens of millions."""
    return places.astype(np.int32) if count < 1 << 31 else places


def picked(columns: Iterable[NDArray[Any]], chosen: Any) -> list[NDArray[Any]]:
    """These rows of several columns: by number, by a mask, or a slice."""
    columns = list(columns)
    if isinstance(chosen, slice):
        return [column[chosen] for column in columns]
    if chosen.dtype == np.bool_:
        chosen = np.flatnonzero(chosen)
    return of_each(lambda column: column.take(chosen), columns, len(chosen) * len(columns))


def joined_columns(tables: Sequence[Sequence[NDArray[Any]]]) -> list[NDArray[Any]]:
    """Each column of several tables behind each other."""
    rows = sum(len(column) for table in tables for column in table)
    return of_each(np.concatenate, list(zip(*tables, strict=True)), rows)


def different(values: NDArray[Any]) -> NDArray[Any]:
    """The different values, ascending: numpy.unique, which takes seconds for millions of integers."""
    if values.dtype.kind in "iu" and len(values):
        least = int(values.min())
        span = int(values.max()) - least + 1
        if span <= _TABLE_ROWS_A_NUMBER * len(values) + _LEAST_TABLE:
            wide = values if values.dtype == np.uint64 else values.astype(np.int64, copy=False)
            is_there = np.zeros(span, np.bool_)
            is_there[wide - wide.dtype.type(least)] = True
            return (np.flatnonzero(is_there).astype(wide.dtype) + wide.dtype.type(least)).astype(values.dtype)
    # Most consist of a few parts that are in order.
    ascending = np.sort(values, kind="stable")
    is_new = np.ones(len(ascending), np.bool_)
    is_new[1:] = ascending[1:] != ascending[:-1]
    return ascending[is_new]


def numbered(values: NDArray[Any]) -> tuple[NDArray[Any], Integers]:
    """The different values, ascending, and the place of each value among them."""
    if values.dtype.kind in "iu" and values.dtype != np.uint64 and (few := number_few(values)) is not None:
        return few[0].astype(values.dtype), few[1]
    numbers = different(values)
    return numbers, Places(numbers).of(values)


def ordered(major: NDArray[Any], minor: Integers, *further: NDArray[Any]) -> Integers:
    """The order by `major`, then `minor`, then the further columns; rows that are equal in all of them stay as they are."""
    if len(major) < 2:
        return np.arange(len(major))
    least, earliest = int(major.min()), int(minor.min())
    bits = (int(minor.max()) - earliest).bit_length()
    if (int(major.max()) - least).bit_length() + bits > 63:
        return np.lexsort((*further[::-1], minor, major))
    both = major.astype(np.int64) - least
    both <<= bits
    both |= minor - earliest
    order = order_of(both.view(np.uint64))
    if not further:
        return order
    both = both[order]
    follows = np.append(False, both[1:] == both[:-1])
    if not follows.any():
        return order
    rows = np.flatnonzero(follows | np.append(follows[1:], False))
    equal, group = order[rows], np.cumsum(~follows[rows])
    order[rows] = equal[np.lexsort((*(column[equal] for column in further[::-1]), group))]
    return order


@dataclass(frozen=True)
class Places:
    """Where numbers are among different ones, which are ascending."""

    numbers: Integers

    @cached_property
    def _table(self) -> Integers | None:
        """By the distance from the least number; None: they are too far from each other."""
        span = int(self.numbers[-1]) - int(self.numbers[0]) + 1
        if span > _TABLE_ROWS_A_NUMBER * len(self.numbers) + _LEAST_TABLE:
            return None
        table = np.full(span, -1, np.int64)
        table[self.numbers - self.numbers[0]] = np.arange(len(self.numbers))
        return table

    def of(self, wanted: Integers) -> Integers:
        """The place of each; -1: it is not there."""
        if not len(self.numbers):
            return np.full(len(wanted), -1, np.int64)
        if self._table is None:
            at = np.minimum(np.searchsorted(self.numbers, wanted), len(self.numbers) - 1)
            return np.where(self.numbers[at] == wanted, at, -1)
        is_between = (wanted >= self.numbers[0]) & (wanted <= self.numbers[-1])
        if is_between.all():
            found: Integers = self._table[wanted - self.numbers[0]]
            return found
        at = np.where(is_between, wanted, self.numbers[0]) - self.numbers[0]
        return np.where(is_between, self._table[at], -1)


@dataclass(frozen=True)
class Groups:
    """Rows in order of a number and a time, by number.

    Attributes:
        time: of each row.
        places: of the different numbers.
        first: of each number its first row, and one behind the last.
    """

    time: Integers
    places: Places
    first: Integers

    @staticmethod
    def of(number: Integers, time: Integers) -> Groups:
        """Of rows in that order."""
        is_first = np.ones(len(number), np.bool_)
        is_first[1:] = number[1:] != number[:-1]
        first = np.flatnonzero(is_first)
        return Groups(time, Places(number[first]), np.append(first, len(number)))

    def latest(self, wanted: Integers, until: Integers) -> Integers:
        """The latest row of each wanted number until then, the last of equal ones; -1: none."""
        group = self.places.of(wanted)
        behind = first_rows(self.time, self.first, group, until, is_behind=True)
        return np.where((group >= 0) & (behind > self.first[group]), behind - 1, -1)

    def earliest(self, wanted: Integers, since: Integers) -> Integers:
        """The earliest row of each wanted number from then on, the first of equal ones; -1: none."""
        group = self.places.of(wanted)
        row = first_rows(self.time, self.first, group, since, is_behind=False)
        return np.where((group >= 0) & (row < self.first[group + 1]), row, -1)

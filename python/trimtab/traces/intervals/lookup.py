"""Columns of numbers: where some are among others, and which of a group is last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.traces.intervals.model import Booleans, Integers


def among(values: NDArray[Any], few: Sequence[int]) -> Booleans:
    """As numpy.isin, faster for few values."""
    found = np.zeros(len(values), np.bool_)
    for value in few:
        found |= values == value
    return found


def values_at(values: NDArray[np.signedinteger[Any]], places: Integers, otherwise: int) -> Integers:
    """The values at these places; `otherwise` at -1."""
    if not len(values):
        return np.full(len(places), otherwise, np.int64)
    chosen: Integers = np.where(places >= 0, values[places], otherwise)
    return chosen


def lookup(numbers: Integers, wanted: Integers) -> Integers:
    """Where each wanted number (above 0) is among `numbers`; -1: nowhere."""
    if not len(numbers):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(numbers, kind="stable")
    at = np.minimum(np.searchsorted(numbers[order], wanted), len(numbers) - 1)
    found: Integers = np.where((numbers[order][at] == wanted) & (wanted > 0), order[at], -1)
    return found


def last_of(instance: Integers, lane: Integers, at: Integers) -> tuple[Integers, Integers]:
    """For each row, of all rows with its number: the lane of the latest one (the first of equal ones), and when it was.

    Rows without a number, 0, are alone.
    """
    number = np.where(instance > 0, instance, -1 - np.arange(len(instance)))
    order = np.lexsort((-lane, at, number))
    ends = np.flatnonzero(np.diff(number[order], append=number[order][-1:] + 1)) if len(order) else order
    counts = np.diff(ends, prepend=-1)
    lanes, times = np.empty_like(lane), np.empty_like(at)
    lanes[order], times[order] = np.repeat(lane[order][ends], counts), np.repeat(at[order][ends], counts)
    return lanes, times


def ordinals(numbers: Integers) -> Integers:
    """The how manieth of its number each is, from 0."""
    if not len(numbers):
        return numbers
    order = np.argsort(numbers, kind="stable")
    begins = np.flatnonzero(np.diff(numbers[order], prepend=numbers[order][0] - 1))
    result = np.empty(len(numbers), np.int64)
    result[order] = np.arange(len(numbers)) - np.repeat(begins, np.diff(begins, append=len(numbers)))
    return result

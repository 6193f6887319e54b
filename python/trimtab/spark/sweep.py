"""Step functions of time: how many tasks run, slots are there, tasks are pending."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


def counts(times: Integers, ups: ArrayLike, downs: ArrayLike, weights: ArrayLike = 1) -> Integers:
    """In each step between two of `times`: how many of [up, down) cover it. Both must be among `times`."""
    change = np.zeros(len(times), np.int64)
    np.add.at(change, np.searchsorted(times, ups), weights)
    np.subtract.at(change, np.searchsorted(times, downs), weights)
    covered: Integers = np.cumsum(change)[:-1]
    return covered


def integral(times: Integers, values: NDArray[np.float64] | Integers) -> Numbers:
    """At each of `times`: the sum of `values` x length of all steps before."""
    result = np.zeros(len(times))
    np.cumsum(values * np.diff(times), out=result[1:])
    return result


def between(times: Integers, whole: Numbers, begins: Integers, ends: Integers) -> Numbers:
    """The parts of an integral that lie in each [begin, end)."""
    difference: Numbers = np.interp(ends, times, whole) - np.interp(begins, times, whole)
    return difference


def medians_by(groups: Integers, values: Numbers | Integers, count: int) -> Numbers:
    """The median of the values of each group; 0 of one without any."""
    order = np.lexsort((values, groups))
    ordered, sizes = np.asarray(values, float)[order], np.bincount(groups, minlength=count)
    starts = np.cumsum(sizes) - sizes
    result = np.zeros(count)
    has_any = sizes > 0
    low, high = starts + (np.maximum(sizes, 1) - 1) // 2, starts + np.maximum(sizes, 1) // 2
    result[has_any] = (ordered[low[has_any]] + ordered[high[has_any]]) / 2
    return result

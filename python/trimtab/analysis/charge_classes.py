"""Charges of waiting in classes: by the group of the wait, the group and kind of the culprit, and how the chain ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis import compiled
from trimtab.traces.columns import numbered
from trimtab.traces.intervals import Intervals

Integers = NDArray[np.int64]
GROUP_BITS = 26
WAIT = 1 << 62


def keys_of_waits(intervals: Intervals, charges: compiled.Table) -> Integers:
    """The class of each charge as a number: WAIT, then from the highest bits group, culprit's group, end and culprit's kind."""
    has_culprit = charges["culprit"] != compiled.NO_INTERVAL
    culprit = np.where(has_culprit, charges["culprit"], 0)
    key: Integers = intervals.group[charges["wait"]].astype(np.int64) << (GROUP_BITS + 4)
    key |= np.where(has_culprit, intervals.group[culprit], 0).astype(np.int64) << 4
    key |= charges["end"].astype(np.int64) << 2
    key |= np.where(has_culprit, intervals.kind[culprit], 0)
    key |= WAIT
    return key


Classes = tuple[Integers, Integers]


def classes_of(intervals: Intervals, charges: compiled.Table) -> Classes:
    """The place of each charge's class, and the first charge of each class."""
    classes, place = numbered(keys_of_waits(intervals, charges))
    first = np.zeros(len(classes), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]  # the first one is written last
    return place, first

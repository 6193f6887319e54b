"""The latest of some rows until a time, for many at once."""

from __future__ import annotations

import numpy as np

from trimtab.traces.tasks.model import Integers


def latest_row(keys: Integers, times: Integers, asked_keys: Integers, asked_until: Integers) -> Integers:
    """For each asked key the row with that key that has the latest time until then, the last of equal ones; -1: none.

    Rows are in order of key and time.
    """
    if not len(keys) or not len(asked_keys):
        return np.full(len(asked_keys), -1, np.int64)
    is_asked = np.concatenate([np.zeros(len(keys), np.int8), np.ones(len(asked_keys), np.int8)])
    order = np.lexsort((is_asked, np.concatenate([times, asked_until]), np.concatenate([keys, asked_keys])))
    rows_until = np.cumsum(is_asked[order] == 0) - 1
    asked = np.flatnonzero(is_asked[order] == 1)
    result = np.empty(len(asked_keys), np.int64)
    result[order[asked] - len(keys)] = rows_until[asked]
    is_own = (result >= 0) & (keys[np.maximum(result, 0)] == asked_keys)
    return np.where(is_own, result, -1)


def rows_of(sorted_values: Integers, wanted: Integers) -> Integers:
    """Where each wanted value is among sorted ones; -1: nowhere."""
    if not len(sorted_values):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(sorted_values, wanted), len(sorted_values) - 1)
    found: Integers = np.where(sorted_values[at] == wanted, at, -1)
    return found

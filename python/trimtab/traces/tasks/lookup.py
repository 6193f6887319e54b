"""Where values are among sorted ones."""

from __future__ import annotations

import numpy as np

from trimtab.traces.tasks.model import Integers


def rows_of(sorted_values: Integers, wanted: Integers) -> Integers:
    """Where each wanted value is among sorted ones; -1: nowhere."""
    if not len(sorted_values):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(sorted_values, wanted), len(sorted_values) - 1)
    found: Integers = np.where(sorted_values[at] == wanted, at, -1)
    return found

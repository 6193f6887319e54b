"""The samples of counters."""

from __future__ import annotations

import numpy as np

from trimtab.model import Process, Records

# A program may count what is no number, and a file may be damaged; sums of what is larger could overflow.
_LARGEST = 1e300


def samples_of(process: Process, numbers: list[int]) -> Records:
    """The samples of these counters whose values are numbers."""
    samples = process.samples[np.isin(process.samples["counter"], numbers)]
    chosen: Records = samples[np.abs(samples["value"]) < _LARGEST]  # false of what is no number, too
    return chosen

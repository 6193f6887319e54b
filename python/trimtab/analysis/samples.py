"""The samples of counters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Process, Records
from trimtab.model.enumerations import CounterName

Floats = NDArray[np.float64]

# A program may count what is no number, and a file may be damaged; sums of what is larger could overflow.
_LARGEST = 1e300


def samples_of(process: Process, numbers: list[int]) -> Records:
    """The samples of these counters whose values are numbers."""
    if not numbers:
        return process.samples[:0]
    # One comparison at a time: they are few, and a process that is short has few samples.
    column = process.samples["counter"]
    wanted = column == numbers[0]
    for number in numbers[1:]:
        wanted |= column == number
    samples = process.samples[wanted]
    chosen: Records = samples[np.abs(samples["value"]) < _LARGEST]  # false of what is no number, too
    return chosen


def seconds_of(process: Process, ticks: Any) -> Floats:
    """Times of a process's clock, in seconds since the process began."""
    since_start = np.asarray(ticks, dtype=np.float64) - float(process.header["start_ticks"])
    seconds: Floats = since_start * process.tick_s
    return seconds


def over_time(process: Process, number: int | None) -> tuple[Floats, Floats]:
    """Times since the process began, in seconds and ascending, and the values of a counter then: 0 at the start.

    None: a counter that is not there stays 0.
    """
    samples = samples_of(process, [] if number is None else [number])
    samples = samples[np.argsort(samples["ticks"], kind="stable")]
    times = np.maximum(seconds_of(process, samples["ticks"]), 0.0)
    return np.concatenate([[0.0], times]), np.concatenate([[0.0], samples["value"]])


def last_value(process: Process, name: CounterName) -> float | None:
    """The last value of the process's own counter; None: it was not counted."""
    numbers = [number for number, counter in process.counters.items() if counter.name == name]
    samples = samples_of(process, numbers)
    return float(samples["value"][-1]) if len(samples) else None

"""When communication servers were saturated: from the samples of their counters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.samples import samples_of
from trimtab.model import Process

# A server that sends for this part of the time between two samples has no room for more.
_SATURATED = 0.9

Floats = NDArray[np.float64]


def saturated_times(process: Process, locality: int, servers: Iterable[int]) -> dict[int, float]:
    """For each server, the time in which it sent without a pause while senders were refused, in seconds.

    Between two samples it counts as a whole or not at all: the server was busy for 90 % of it, and at least one sender was
    refused, because the server's queue was full or as many messages as may wait in servers did.
    """
    numbers = {counter.name: number for number, counter in process.counters.items()}
    held = numbers.get(f"/servers{{locality#{locality}/total}}/count/held-for-flow")
    result = {}
    for server in servers:
        path = f"/servers{{locality#{locality}/server#{server}}}"
        times, busy = _over_time(process, numbers.get(f"{path}/time/busy"))
        refused = _values_at(process, held, times)
        refused += _values_at(process, numbers.get(f"{path}/count/full-queue"), times)
        lengths = np.diff(times)
        is_saturated = (np.diff(busy) >= _SATURATED * lengths) & (np.diff(refused) > 0)
        result[server] = float(lengths[is_saturated].sum())
    return result


def _over_time(process: Process, number: int | None) -> tuple[Floats, Floats]:
    """Times since the start of the process, in seconds and ascending, and the values of a counter then; 0 at the start."""
    times, values = np.zeros(1), np.zeros(1)
    if number is None:
        return times, values
    samples = samples_of(process, [number])
    since_start = samples["ticks"].astype(np.float64) - float(process.header["start_ticks"])
    order = np.argsort(since_start, kind="stable")
    own_times = np.maximum(since_start[order] * process.tick_s, 0.0)
    return np.concatenate([times, own_times]), np.concatenate([values, samples["value"][order]])


def _values_at(process: Process, number: int | None, times: Floats) -> Floats:
    """The values of a counter at these times: what is not written has not changed."""
    own_times, values = _over_time(process, number)
    chosen: Floats = values[np.searchsorted(own_times, times, side="right") - 1]
    return chosen

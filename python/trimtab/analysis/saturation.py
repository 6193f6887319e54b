"""When communication servers were saturated: from the samples of their counters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trimtab.analysis.samples import Floats, over_time
from trimtab.model import Process

# A server that sends for this part of the time between two samples has no room for more.
_SATURATED = 0.9


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
        times, busy = over_time(process, numbers.get(f"{path}/time/busy"))
        refused = _values_at(process, held, times)
        refused += _values_at(process, numbers.get(f"{path}/count/full-queue"), times)
        lengths = np.diff(times)
        is_saturated = (np.diff(busy) >= _SATURATED * lengths) & (np.diff(refused) > 0)
        result[server] = float(lengths[is_saturated].sum())
    return result


def _values_at(process: Process, number: int | None, times: Floats) -> Floats:
    """The values of a counter at these times: what is not written has not changed."""
    own_times, values = over_time(process, number)
    chosen: Floats = values[np.searchsorted(own_times, times, side="right") - 1]
    return chosen

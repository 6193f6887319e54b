"""A trace up to where its events are there: from the moment on at which a lane found no room for an event, nobody knows all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trimtab.model import Lane
from trimtab.traces.trace import Trace


def recorded_part(trace: Trace) -> Trace | None:
    """The trace until the first event that found no room, as if the process had been killed then; the trace itself where
    all events are there.

    None where nothing is left, and where rings have lost their first events.
    """
    lanes = trace.process.lanes
    if any(lane.events_written > len(lane.events) for lane in lanes):
        return None
    ends = [_end_ticks(lane) for lane in lanes if lane.events_dropped]
    if not ends:
        return trace
    end, start = min(ends), int(trace.process.header["start_ticks"])
    if not start < end <= trace.end_ticks:
        return None
    switches = trace.process.switches
    process = replace(
        trace.process,
        lanes=tuple(_until(lane, end) for lane in lanes),
        switches=switches[switches["ticks"] <= np.uint64(end)],
    )
    return replace(trace, process=process, end_ticks=end)


def _end_ticks(lane: Lane) -> int:
    """Of the last event before the first that found no room; 0: there is none."""
    return int(lane.events["ticks"][-1]) if len(lane.events) else 0


def _until(lane: Lane, end: int) -> Lane:
    events = lane.events[lane.events["ticks"] <= np.uint64(end)]
    return replace(lane, events=events, events_written=len(events), events_dropped=0)

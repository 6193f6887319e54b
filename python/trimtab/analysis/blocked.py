"""Where the first thread was blocked: inside its parallel regions, or outside of them.

The operating system counts how long a thread was neither running nor ready to run, but not where. Context switches and the
begin and end of regions have times, so that together they say it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimtab.model import METRICS, ROWS_UNTIMED, Lane, Process
from trimtab.model.enumerations import EventKind

_OUTERMOST = 1  # nesting level
_PREEMPTED = 1

Ticks = NDArray[np.int64]
_LATEST = int(np.iinfo(np.int64).max)


def blocked_share_outside(process: Process) -> float | None:
    """Of the time that the first thread was blocked, the share outside its regions, from 0 to 1.

    Measured over the part of the run that its events cover: all of a trace that is whole, else the last events.
    None where this cannot be told: no context switches were recorded, or it was not blocked, or regions were sampled, so
    that some have no events.
    """
    lane = next((main_lane for main_lane in process.lanes if main_lane.header["is_main"]), None)
    if lane is None or _has_untimed_regions(process):
        return None
    begins, ends = _regions(lane)
    out, switched_in = _blocked(process, lane.id)
    is_partial = lane.events_written > len(lane.events) and len(lane.events) > 0
    from_ticks = min(int(lane.events["ticks"][0]), _LATEST) if is_partial else 0
    out, switched_in = np.maximum(out, from_ticks), np.maximum(switched_in, from_ticks)
    total = float((switched_in - out).sum())
    if total <= 0:
        return None
    blocked_in_regions = float((_covered(begins, ends, switched_in) - _covered(begins, ends, out)).sum())
    return min(max(1.0 - blocked_in_regions / total, 0.0), 1.0)


def _has_untimed_regions(process: Process) -> bool:
    return any(
        ((lane.rows["what"] == METRICS["region"]) & (lane.rows["flags"] == ROWS_UNTIMED)).any()
        for lane in process.lanes
    )


def _regions(lane: Lane) -> tuple[Ticks, Ticks]:
    """Begins and ends of the outermost regions that the lane forked, in order of time; one that is open has no end yet."""
    events = lane.events
    chosen = events[
        np.isin(events["kind"], (EventKind.REGION_BEGIN, EventKind.REGION_END))
        & (events["arg"] == _OUTERMOST)
    ]
    is_begin = chosen["kind"] == EventKind.REGION_BEGIN
    # A ring that has wrapped may begin with an end.
    first = int(np.argmax(is_begin)) if is_begin.any() else len(chosen)
    begins = chosen["ticks"][first:][is_begin[first:]].astype(np.int64)
    ends = chosen["ticks"][first:][~is_begin[first:]].astype(np.int64)
    # A damaged file may have more ends than begins.
    ends = ends[: len(begins)]
    return begins, np.append(ends, np.full(len(begins) - len(ends), _LATEST))


def _blocked(process: Process, lane: int) -> tuple[Ticks, Ticks]:
    """When the lane's thread gave its CPU up although nobody took it, and when it had one again."""
    switches = process.switches
    lane_switches = switches[switches["b"] == lane]
    lane_switches = lane_switches[np.argsort(lane_switches["ticks"], kind="stable")]
    is_blocked = (lane_switches["kind"][:-1] == EventKind.SWITCH_OUT) & (
        lane_switches["arg"][:-1] != _PREEMPTED
    )
    at = np.flatnonzero(is_blocked & (lane_switches["kind"][1:] == EventKind.SWITCH_IN))
    ticks = lane_switches["ticks"].astype(np.int64)
    return ticks[at], ticks[at + 1]


def _covered(begins: Ticks, ends: Ticks, points: Ticks) -> Ticks:
    """How many ticks of the intervals lie before each point; the intervals do not overlap."""
    lengths = (
        np.concatenate([[0], np.cumsum(ends[:-1] - begins[:-1])]) if len(begins) else np.zeros(1, np.int64)
    )
    latest = np.searchsorted(begins, points, side="right") - 1
    if not len(begins):
        return np.zeros(len(points), np.int64)
    part = np.minimum(points, ends[latest]) - begins[latest]
    covered: Ticks = np.where(latest >= 0, lengths[latest] + part, 0)
    return covered

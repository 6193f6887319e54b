"""Regions that were under way when their process was killed, as profile rows.

A profile row is added to when a region is joined, so a region that never was would be missing; its events
tell how far it got. A ring may have overwritten the begin of the region: the lane's header has it then
(`summarized_events` of the lane's header in docs/reference/run-directory.md). Only outermost regions: what was
nested in one counts as work of its lane.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trimtab.model import METRICS, NO_SUBJECT, Lane, Process, Records
from trimtab.model.enumerations import EventKind
from trimtab.readers.layout import ROW

_BLOCK = 1 << 16


@dataclass(frozen=True)
class _Begin:
    """When an instance of a region began, or a lane's part of it."""

    ticks: int
    subject: int
    instance: int


@dataclass(frozen=True)
class _Part:
    """What a lane did in an instance that was never joined: from when, until when, and how much of that it waited."""

    begin: int
    end: int
    waited: int


def close_regions(process: Process, end_ticks: int) -> Process:
    """The process with rows and parallel time of the regions that were open at `end_ticks`."""
    if process.header["end_ticks"]:
        return process
    begun = [(lane, begin) for lane in process.lanes if (begin := _open_region(lane)) is not None]
    begun = [(lane, begin) for lane, begin in begun if begin.ticks < end_ticks]
    if not begun:
        return process
    extra = {lane.id: _rows(process, lane, begin, end_ticks) for lane, begin in begun}
    lanes = tuple(
        replace(lane, rows=np.concatenate([lane.rows, extra[lane.id]])) if lane.id in extra else lane
        for lane in process.lanes
    )
    earliest_begin = min(begin.ticks for _, begin in begun)
    ticks = int(process.header["parallel_ticks"]) + end_ticks - earliest_begin
    return replace(process, lanes=lanes, header={**process.header, "parallel_ticks": ticks})


def _open_region(lane: Lane) -> _Begin | None:
    """The outermost region that the lane had forked and not joined at its last event."""
    last = _last_of_outermost(lane.events)
    if last is not None:
        is_open = last["kind"] == EventKind.REGION_BEGIN
        return _Begin(int(last["ticks"]), int(last["subject"]), int(last["a"])) if is_open else None
    return _summarized(lane, "region")


def _last_of_outermost(events: Records) -> Any:
    """The last begin or end of an outermost region, or None."""
    for high in range(len(events), 0, -_BLOCK):
        block = events[max(high - _BLOCK, 0) : high]
        is_outermost = (block["arg"] == 1) & (
            (block["kind"] == EventKind.REGION_BEGIN) | (block["kind"] == EventKind.REGION_END)
        )
        outermost = np.flatnonzero(is_outermost)
        if len(outermost):
            return block[outermost[-1]]
    return None


def _summarized(lane: Lane, what_part: str) -> _Begin | None:
    """The begin of the region or the part that was open when the lane's ring was summarized."""
    head = lane.header
    if not head[f"{what_part}_ticks"]:
        return None
    return _Begin(head[f"{what_part}_ticks"], head[f"{what_part}_subject"], head[f"{what_part}_instance"])


def _rows(process: Process, forker: Lane, region: _Begin, end: int) -> Records:
    parts = {lane.id: part for lane in process.lanes if (part := _part_of(lane, region, end)) is not None}
    rows = np.zeros(len(parts) + 1, dtype=ROW)
    for row, (lane, part) in zip(rows[1:], parts.items(), strict=True):
        arrival = max(part.begin - region.ticks, 0)
        work_ticks = part.end - part.begin - part.waited
        _fill(row, "team", region.subject, lane, work_ticks, (end - part.end, arrival, part.waited, 0))
    work = rows["sum"][1:]
    mean = int(work.mean()) if len(work) else 0
    most_work = int(work.max()) if len(work) else 0
    x = (len(parts), len(parts), most_work, mean)
    _fill(rows[0], "region", region.subject, forker.id, end - region.ticks, x)
    return rows


def _part_of(lane: Lane, region: _Begin, end: int) -> _Part | None:
    """What the lane did in the region until `end`; None where it took no part, as far as is known."""
    kind = lane.events["kind"]
    part_events = lane.events[_is_part_of(lane.events, region)]
    starts, ends = (
        part_events[part_events["kind"] == EventKind.WORK_BEGIN],
        part_events[part_events["kind"] == EventKind.WORK_END],
    )
    later_waits, before = lane.events[kind == EventKind.WAIT], 0
    if len(starts):
        started = int(starts["ticks"][0])
    elif (part := _summarized_part(lane, region)) is not None:
        started, before = part.ticks, int(lane.header["part_wait"])
        recent = lane.events[len(lane.events) - _since_summary(lane) :]
        later_waits = recent[recent["kind"] == EventKind.WAIT]
    else:
        return None
    started = min(started, end)
    stopped = max(min(int(ends["ticks"][-1]), end), started) if len(ends) else end
    waits = int(later_waits["a"][later_waits["b"] == region.instance].sum(dtype=float))
    waited = int(ends["b"][-1]) if len(ends) else before + waits
    return _Part(started, stopped, min(waited, stopped - started))


def _is_part_of(events: Records, region: _Begin) -> Any:
    """Begins and ends of parts of the region. Those that tell no instance belong to the region in whose time they lie."""
    is_part = (events["kind"] == EventKind.WORK_BEGIN) | (events["kind"] == EventKind.WORK_END)
    is_in_time = (
        (events["a"] == 0) & (events["subject"] == region.subject) & (events["ticks"] >= region.ticks)
    )
    return is_part & ((events["a"] == region.instance) | is_in_time)


def _summarized_part(lane: Lane, region: _Begin) -> _Begin | None:
    part = _summarized(lane, "part")
    if part is None or part.instance == region.instance:
        return part
    is_in_time = not part.instance and part.subject == region.subject and part.ticks >= region.ticks
    return part if is_in_time else None


def _since_summary(lane: Lane) -> int:
    """Events that came after the summary in the lane's header."""
    return min(max(lane.events_written - int(lane.header["summarized_events"]), 0), len(lane.events))


def _fill(
    row: Any, metric: str, subject: int, about_lane: int, ticks: int, x: tuple[int, int, int, int]
) -> None:
    row["subject"], row["what"], row["about"], row["in_region"] = (
        subject,
        METRICS[metric],
        about_lane,
        NO_SUBJECT,
    )
    row["count"] = row["timed"] = 1
    row["sum"] = row["min"] = row["max"] = ticks
    row["x"] = x
    row["histogram"][min(ticks.bit_length(), 41)] = 1

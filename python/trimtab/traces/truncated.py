"""Regions that were under way when their process was killed, as profile rows.

A profile row is added to when a region is joined, so a region that never was would be missing; its events
tell how far it got. Only outermost regions: what was nested in one counts as work of its lane.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from trimtab.model import METRICS, NO_SUBJECT, Lane, Process, Records
from trimtab.model.enumerations import EventKind
from trimtab.readers.layout import ROW

_BLOCK = 1 << 16


def close_regions(process: Process, end_ticks: int) -> Process:
    """The process with rows and parallel time of the regions that were open at `end_ticks`."""
    if process.header["end_ticks"]:
        return process
    begun = [(lane, event) for lane in process.lanes if (event := _open_region(lane.events)) is not None]
    begun = [(lane, event) for lane, event in begun if int(event["ticks"]) < end_ticks]
    if not begun:
        return process
    extra = {lane.id: _rows(process, lane, event, end_ticks) for lane, event in begun}
    lanes = tuple(
        replace(lane, rows=np.concatenate([lane.rows, extra[lane.id]])) if lane.id in extra else lane
        for lane in process.lanes
    )
    since = min(int(event["ticks"]) for _, event in begun)
    ticks = int(process.header["parallel_ticks"]) + end_ticks - since
    return replace(process, lanes=lanes, header={**process.header, "parallel_ticks": ticks})


def _open_region(events: Records) -> Any:
    """The begin of the outermost region that is open at the end of `events`, or None."""
    for high in range(len(events), 0, -_BLOCK):
        block = events[max(high - _BLOCK, 0) : high]
        is_outermost = (block["arg"] == 1) & (
            (block["kind"] == EventKind.REGION_BEGIN) | (block["kind"] == EventKind.REGION_END)
        )
        found = np.flatnonzero(is_outermost)
        if len(found):
            last = block[found[-1]]
            return last if last["kind"] == EventKind.REGION_BEGIN else None
    return None


def _rows(process: Process, forker: Lane, begin: Any, end: int) -> Records:
    parts = []
    for lane in process.lanes:
        part = _team_row(lane, begin, end)
        if part is not None:
            parts.append(part)
    rows = np.zeros(len(parts) + 1, dtype=ROW)
    rows[1:] = parts
    work = rows["sum"][1:]
    wall = end - int(begin["ticks"])
    mean = int(work.mean()) if len(work) else 0
    most = int(work.max()) if len(work) else 0
    _fill(rows[0], "region", int(begin["subject"]), forker.id, wall, (len(parts), len(parts), most, mean))
    return rows


def _team_row(lane: Lane, begin: Any, end: int) -> Any:
    events = lane.events
    is_part = (events["kind"] == EventKind.WORK_BEGIN) | (events["kind"] == EventKind.WORK_END)
    # Parts that tell no instance belong to the region in whose time they lie.
    is_in_time = (
        (events["a"] == 0) & (events["subject"] == begin["subject"]) & (events["ticks"] >= begin["ticks"])
    )
    mine = events[is_part & ((events["a"] == begin["a"]) | is_in_time)]
    starts, ends = mine[mine["kind"] == EventKind.WORK_BEGIN], mine[mine["kind"] == EventKind.WORK_END]
    if not len(starts):
        return None
    started = min(int(starts["ticks"][0]), end)
    stopped = min(int(ends["ticks"][-1]), end) if len(ends) else end
    if len(ends):
        idle = int(ends["b"][-1])
    else:
        waits = events[(events["kind"] == EventKind.WAIT) & (events["b"] == begin["a"])]
        idle = int(waits["a"].sum())
    inside = max(stopped - started, 0)
    idle = min(idle, inside)
    row = np.zeros(1, dtype=ROW)[0]
    arrival = max(started - int(begin["ticks"]), 0)
    _fill(row, "team", int(begin["subject"]), lane.id, inside - idle, (end - stopped, arrival, idle, 0))
    return row


def _fill(row: Any, metric: str, subject: int, about: int, ticks: int, x: tuple[int, int, int, int]) -> None:
    row["subject"], row["what"], row["about"], row["in_region"] = subject, METRICS[metric], about, NO_SUBJECT
    row["count"] = row["timed"] = 1
    row["sum"] = row["min"] = row["max"] = ticks
    row["x"] = x
    row["histogram"][min(ticks.bit_length(), 41)] = 1

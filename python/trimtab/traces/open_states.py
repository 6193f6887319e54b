"""States that workers of task runtimes were in when their process ended or was killed, as complete profile rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trimtab.model import METRICS, Process, Records
from trimtab.model.enumerations import WorkerFields, WorkerState


def close_worker_states(process: Process, end_ticks: int) -> Process:
    """The process with the states that its workers were in at `end_ticks` accounted until then."""
    opened = {lane.id: _open_rows(lane.rows) for lane in process.lanes}
    if not any(len(opened_states) for opened_states in opened.values()):
        return process
    running = [
        int(lane.rows["x"][at, WorkerFields.SINCE])
        for lane in process.lanes
        for at in opened[lane.id]
        if lane.rows["flags"][at] == WorkerState.RUNS
    ]
    busy_since = min(running, default=end_ticks)
    lanes = []
    for lane in process.lanes:
        if len(opened[lane.id]):
            rows = np.array(lane.rows)
            for at in opened[lane.id]:
                _close(rows[at : at + 1], end_ticks, busy_since)
            lane = replace(lane, rows=rows)
        lanes.append(lane)
    head = process.header
    if running and head["parallel_since"] <= end_ticks:
        ticks = int(head["parallel_ticks"]) + end_ticks - int(head["parallel_since"])
        head = {**head, "parallel_ticks": ticks}
    return replace(process, lanes=tuple(lanes), header=head)


def _open_rows(rows: Records) -> list[int]:
    is_open = (rows["what"] == METRICS["worker"]) & (rows["x"][:, WorkerFields.SINCE] != 0)
    return [int(at) for at in np.flatnonzero(is_open)]


def _close(row: Records, end: int, busy_since: int) -> None:
    state_begin = int(row["x"][0, WorkerFields.SINCE])
    length = _ticks(end - state_begin)
    row["sum"] += np.uint64(length)
    row["count"] += np.uint64(1)
    is_running = row["flags"][0] == WorkerState.RUNS
    row["x"][0, WorkerFields.WHILE_BUSY] += np.uint64(
        length if is_running else _ticks(end - max(state_begin, busy_since))
    )
    row["x"][0, WorkerFields.SINCE] = 0


def _ticks(difference: int) -> int:
    """What a damaged file says must fit as well."""
    return min(max(difference, 0), 1 << 62)

"""What the workers of task runtimes did, and the tasks that they ran (docs/reference/metrics.md, "Workers")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import (
    CAUSES,
    METRICS,
    TASKS_COUNTED,
    TASKS_INCLUSIVE,
    WORKER_STATES,
    Lane,
    Process,
    Records,
)
from trimtab.model.enumerations import TaskFields, WaitCause, WorkerFields, WorkerState
from trimtab.model.report import TaskKind, WorkerSummary
from trimtab.readers.layout import ROW

# Label first, then place, of every subject.
Places = Mapping[int, Any]

_NO_ROWS: Records = np.empty(0, dtype=ROW)
# Fewer timed tasks than this say nothing of the others.
_LEAST_TIMED = 100
# To find a task that is there, with the change of state: a worker that looks for longer looks in vain.
_SEARCH_S = 2e-6


@dataclass(frozen=True)
class Worker:
    """A lane's time in each state, seconds; `*_busy` is the part of it while any worker ran tasks.

    Whether a worker that finds no task goes on looking or is parked is the runtime's choice: what it looked for longer than
    finding one takes is `looks_vain`, which is in `starved` and not in `looks_busy`.
    """

    lane: int
    runtime: str
    number: int
    runs: float
    looks: float
    looks_busy: float
    looks_vain: float
    idle: float
    starved: float
    capped: float
    capped_busy: float
    parks: int

    @property
    def life(self) -> float:
        """From its begin to its end."""
        return self.runs + self.looks + self.idle + self.capped


def workers_of(process: Process, places: Places | None = None) -> tuple[Worker, ...]:
    """All workers that the process had, by lane."""
    s = process.ns_per_tick * 1e-9
    workers = []
    for lane in process.lanes:
        rows = lane.rows[lane.rows["what"] == METRICS["worker"]]
        if not len(rows):
            continue
        total = {name: float(rows["sum"][rows["flags"] == n].sum()) * s for n, name in WORKER_STATES.items()}
        busy = {
            name: float(rows["x"][rows["flags"] == n, WorkerFields.WHILE_BUSY].sum()) * s
            for n, name in WORKER_STATES.items()
        }
        parked = np.isin(rows["flags"], (WorkerState.IDLE, WorkerState.CAPPED))
        runtime = int(rows["subject"][0])
        searches = int(rows["count"][rows["flags"] == WorkerState.LOOKS].sum())
        vain = max(busy["looks"] - searches * _SEARCH_S, 0.0)
        workers.append(
            Worker(
                lane=lane.id,
                runtime=places[runtime][0] if places is not None else "",
                number=int(lane.header["worker"]),
                runs=total["runs"],
                looks=total["looks"],
                looks_busy=busy["looks"] - vain,
                looks_vain=vain,
                idle=total["idle"],
                starved=busy["idle"] + vain,
                capped=total["capped"],
                capped_busy=busy["capped"],
                parks=int(rows["count"][parked].sum()),
            )
        )
    return tuple(workers)


def worker_table(process: Process, process_id: str, places: Places) -> list[WorkerSummary]:
    """One entry per worker, by runtime and number; times in seconds."""
    names = {lane.id: lane.name for lane in process.lanes}
    counts = {lane.id: _task_rows(lane.rows) for lane in process.lanes}
    return [
        WorkerSummary(
            process=process_id,
            lane=worker.lane,
            name=names[worker.lane],
            runtime=worker.runtime,
            worker=worker.number,
            work_s=worker.runs,
            looking_s=worker.looks - worker.looks_vain,
            starved_s=worker.starved,
            idle_s=worker.idle + worker.looks_vain - worker.starved,
            capped_s=worker.capped,
            parks=worker.parks,
            tasks=int(counts[worker.lane]["count"].sum()),
            created=int(counts[worker.lane]["x"][:, TaskFields.CREATED].sum()),
        )
        for worker in sorted(
            workers_of(process, places), key=lambda worker: (worker.runtime, worker.number, worker.lane)
        )
    ]


def ran_s(process: Process, lane: Lane, least_count: int) -> float:
    """How long a lane ran tasks of the kinds of which there were at least so many in all, seconds."""
    totals: dict[int, int] = {}
    for other_lane in process.lanes:
        for row in _task_rows(other_lane.rows):
            totals[int(row["subject"])] = totals.get(int(row["subject"]), 0) + int(row["count"])
    rows = _task_rows(lane.rows)
    is_frequent = np.array([totals[int(number)] >= least_count for number in rows["subject"]], bool)
    return float(_estimate(process, rows[is_frequent]).sum()) * process.ns_per_tick * 1e-9


def _task_rows(rows: Records) -> Records:
    chosen: Records = rows[rows["what"] == METRICS["task"]]
    return chosen


def _estimate(process: Process, rows: Records) -> NDArray[np.float64]:
    """Ticks of all tasks of each row, from those that were timed.

    The time of a clock read lies between two of them: of tasks of which a sample was timed, which may take less than
    that, it is taken off.
    """
    counted = (rows["flags"] & TASKS_COUNTED) != 0
    # A lane may have only later parts of tasks that others began: their time, and nothing to count.
    scaled = rows["sum"] * np.maximum(rows["count"] / np.maximum(rows["timed"], 1), 1.0)
    read = np.where(rows["timed"] > 0, float(process.header["clock_read_ns"]) / process.ns_per_tick, 0.0)
    alone = np.maximum(
        rows["x"][:, TaskFields.ESTIMATE].astype(float) - rows["count"].astype(float) * read, 0.0
    )
    ticks: NDArray[np.float64] = np.where(counted, alone, scaled)
    untimed = counted & (rows["timed"] == 0) & (rows["count"] > 0)
    for subject in np.unique(rows["subject"][untimed]):
        # A worker that only counted them: others, where they ended, have their times.
        is_of_subject = rows["subject"] == subject
        timed = float(rows["timed"][is_of_subject].sum(dtype=float))
        mean = (
            max(float(rows["sum"][is_of_subject].sum(dtype=float)) / timed - float(read.max()), 0.0)
            if timed
            else 0.0
        )
        ticks[is_of_subject & untimed] = mean * rows["count"][is_of_subject & untimed]
    return ticks


def task_table(process: Process, process_id: str, places: Places, keys: Mapping[int, str]) -> list[TaskKind]:
    """One entry per kind of task, most time first; times in seconds.

    Times are those on a CPU or ready for one: `suspended_s` is not in them. Where other tasks ran inside some of those that
    were timed, the times include these (`includes_inner`).
    """
    s = process.ns_per_tick * 1e-9
    rows = _task_rows(np.concatenate([lane.rows for lane in process.lanes]) if process.lanes else _NO_ROWS)
    waited = _suspended_s(process)
    task_kinds = []
    for number in sorted({int(n) for n in rows["subject"]}) if len(rows) else []:
        subject_rows = rows[rows["subject"] == number]
        count, timed = int(subject_rows["count"].sum()), int(subject_rows["timed"].sum())
        inclusive = ((subject_rows["flags"] & TASKS_INCLUSIVE) != 0) & (subject_rows["timed"] > 0)
        total = float(_estimate(process, subject_rows).sum()) * s
        task_kinds.append(
            TaskKind(
                key=keys[number],
                name=places[number][0],
                count=count,
                timed=timed,
                total_s=total if timed else None,
                mean_s=total / count if timed and count else None,
                longest_s=float(subject_rows["max"][subject_rows["timed"] > 0].max()) * s if timed else None,
                includes_inner=bool(inclusive.any()),
                created=int(subject_rows["x"][:, TaskFields.CREATED].sum()),
                suspended=int(subject_rows["x"][:, TaskFields.SUSPENSIONS].sum()),
                suspended_s=waited.get(number, 0.0),
                processes=(process_id,),
            )
        )
    return sorted(task_kinds, key=lambda task: -(task.total_s or 0.0))


def _suspended_s(process: Process) -> dict[int, float]:
    """For how long tasks of each kind were suspended, seconds."""
    by_number: dict[int, float] = {}
    for lane in process.lanes:
        for row in lane.rows[lane.rows["what"] == METRICS["suspended"]]:
            seconds = float(row["sum"]) * int(row["count"]) / max(int(row["timed"]), 1)
            number = int(row["subject"])
            by_number[number] = by_number.get(number, 0.0) + seconds * process.ns_per_tick * 1e-9
    return by_number


def suspensions(process: Process) -> dict[WaitCause, tuple[int, float]]:
    """Of each cause: how often tasks were suspended for it, and for how long, seconds."""
    by_cause: dict[WaitCause, tuple[int, float]] = {}
    for lane in process.lanes:
        for row in lane.rows[lane.rows["what"] == METRICS["suspended"]]:
            cause = WaitCause(row["flags"]) if row["flags"] in CAUSES else WaitCause.OTHER
            count, total = by_cause.get(cause, (0, 0.0))
            timed = max(int(row["timed"]), 1)
            seconds = float(row["sum"]) * int(row["count"]) / timed * process.ns_per_tick * 1e-9
            by_cause[cause] = (count + int(row["count"]), total + seconds)
    return by_cause


def beside_tasks_s(process: Process) -> float:
    """Of the time in which workers ran tasks, what the tasks themselves do not explain: their runtime's, seconds.

    Nothing where tasks ran inside those that were timed, or where some or too few were timed; else what lies beyond twice
    the standard error of the estimate.
    """
    rows = _task_rows(np.concatenate([lane.rows for lane in process.lanes]) if process.lanes else _NO_ROWS)
    if not len(rows) or (((rows["flags"] & TASKS_INCLUSIVE) != 0) & (rows["timed"] > 0)).any():
        return 0.0
    is_unknown = (rows["timed"] == 0) & (rows["count"] > 0)
    if is_unknown.any() or int(rows["timed"].sum()) < _LEAST_TIMED:
        return 0.0
    estimate = float(_estimate(process, rows).sum())
    # Of a timed task of bucket i, the square of 3/4 of its upper bound; less where all are in the same bucket.
    middle = 0.75 * 2.0 ** np.arange(rows["histogram"].shape[1])
    timed, sampled = rows["timed"].astype(float), rows["timed"] < rows["count"]
    mean = rows["sum"] / np.maximum(timed, 1)
    spread = (rows["histogram"] * (middle[None, :] - mean[:, None]) ** 2).sum(axis=1) / np.maximum(timed, 1)
    error = np.sqrt((spread * rows["count"].astype(float) ** 2 / np.maximum(timed, 1))[sampled].sum())
    runs = sum(worker.runs for worker in workers_of(process))
    return max(runs - (estimate + 2 * float(error)) * process.ns_per_tick * 1e-9, 0.0)

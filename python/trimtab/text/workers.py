"""What the workers of task runtimes did, in lines and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trimtab.model.enumerations import Cause
from trimtab.model.report import Report, TaskKind, WorkerSummary
from trimtab.text.names import short_name
from trimtab.text.units import percent, seconds

if TYPE_CHECKING:
    from rich.table import Table

_STATES = {
    "work_s": "work",
    "looking_s": "looking for tasks",
    "starved_s": "no task ready",
    "idle_s": "nobody at work",
    "capped_s": "held back by the cap",
}
_LEAST_SHARE = 0.005
_MOST_TASKS = 40


def workers_line(report: Report) -> str | None:
    """`2 workers: 71 % work, 9 % looking for tasks; 1000 tasks of 1.2 us: too small`; None without workers."""
    workers = report.workers
    if not workers:
        return None
    totals = {key: sum(float(getattr(worker, key)) for worker in workers) for key in _STATES}
    life = sum(totals.values()) or 1.0
    shares = [
        f"{percent(total / life)} {_STATES[key]}"
        for key, total in totals.items()
        if total >= _LEAST_SHARE * life
    ]
    count = sum(worker.tasks for worker in workers)
    line = f"{len(workers)} workers: {', '.join(shares)}"
    if not count:
        return line
    is_small = any(finding.cause is Cause.SMALL_TASKS for finding in report.findings)
    return f"{line}; {count} tasks of {seconds(totals['work_s'] / count)}" + (
        ": too small" if is_small else ""
    )


def task_lines(report: Report, limit: int) -> Iterator[str]:
    """One line for each of the first kinds of tasks."""
    for task_kind in [task for task in report.tasks if task.count][:limit]:
        inner = ", inner tasks included" if task_kind.includes_inner else ""
        times = "" if task_kind.mean_s is None else f", {seconds(task_kind.mean_s)} each{inner}"
        yield f"task {task_kind.name}: {task_kind.count}{times}"


def worker_table(workers: Sequence[WorkerSummary]) -> Table:
    """A row a worker."""
    from rich.markup import escape

    from trimtab.text.console import table

    has_processes = len({worker.process for worker in workers}) > 1
    process = ["process"] if has_processes else []
    rows = table("worker", *process, "tasks", "work", "looking", "no task", "idle", "parks")
    for worker in workers:
        times = map(seconds, (worker.work_s, worker.looking_s, worker.starved_s, worker.idle_s))
        process_cell = [escape(worker.process)] if has_processes else []
        rows.add_row(escape(worker.name), *process_cell, str(worker.tasks), *times, str(worker.parks))
    return rows


def task_table(tasks: Sequence[TaskKind]) -> Table:
    """A row a kind of task."""
    from rich.markup import escape

    from trimtab.text.console import table

    rows = table("task", "count", "each", "longest", "all", "made", "suspended")
    for task in tasks[:_MOST_TASKS]:
        times = (
            "" if value is None else seconds(value) for value in (task.mean_s, task.longest_s, task.total_s)
        )
        rows.add_row(
            escape(short_name(task.name)), str(task.count), *times, str(task.created), str(task.suspended)
        )
    return rows

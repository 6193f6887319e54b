"""Causes of lost core time in task runtimes (docs/reference/metrics.md, "Findings"); gains as in `findings`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trimtab.analysis.account import Account
from trimtab.analysis.findings import finding, serial_part
from trimtab.analysis.workers import Worker, beside_tasks_s, ran_s, suspensions
from trimtab.model import CAUSES, METRICS, Lane, Process
from trimtab.model.enumerations import Cause, TaskFields, WaitCause
from trimtab.model.report import Finding, TaskKind

# To make a task, queue it and find it, at the least: benchmarks of task runtimes in docs/performance/tasks.md.
_TASK_S = 50e-9
_SMALL_TASK_S = 10e-6
_GOOD_TASK_S = 20e-6
_LEAST_OVERHEAD = 0.05
_LEAST_TASKS = 100
_ONE_PRODUCER = 0.9
# Of the time in which tasks ran, one thread spends so much on making tasks if the others have to wait for it.
_PRODUCER_BUSY = 0.5
# Another worker gains nothing by taking tasks that are shorter: to hand one over takes about as long.
_SHARED_TASK_S = 1e-6
# So many tasks run at a time where each has to wait for the one before it.
_IN_A_ROW = 1.2
_LEAST_LOST = 0.1
_LONG_TASK = 0.1
_MANY_WAIT = 0.05
_NATURAL = (WaitCause.FUTURE, WaitCause.SLOT, WaitCause.CHILDREN, WaitCause.TIME, WaitCause.OTHER)
SUSPENDED_ACTIONS = {
    WaitCause.FUTURE: "ask for results later: continuations (then, dataflow) start when their inputs are there",
    WaitCause.MUTEX: "hold the mutex for less, or give each task data of its own and merge once",
    WaitCause.BARRIER: "wait for neighbours instead of for all: a future for each",
    WaitCause.CHANNEL: "give the channel more room, or make its slower side faster",
}


def task_findings(
    process: Process, account: Account, tasks: Sequence[TaskKind], workers: Sequence[Worker]
) -> list[Finding]:
    """All that apply to the workers of task runtimes, whatever their gain."""
    if not workers:
        return []
    small = too_small(process, tasks, workers, _lost_s(account) / _tasks_at_once(account, workers))
    causes = [
        *_one_producer(process, account, workers),
        *_long_task(account, tasks, workers),
        *_suspended(process, account, tasks, workers),
    ]
    if not small and not causes:
        causes = _chain(account, tasks, workers)
    # "Too few tasks ready" says only what happened: it is told for what none of the causes explains.
    explained = sum(float(cause_finding.gain_s) for cause_finding in causes)
    if _are_tiny(tasks, workers) and small:
        explained = float("inf")
    return [
        *small,
        *causes,
        *_starved(account, tasks, workers, explained),
        *_nobody_works(process, account),
        *_few_workers(account, workers),
        *_other_policy(process, account, workers),
    ]


def mean_task_s(tasks: Sequence[TaskKind], workers: Sequence[Worker]) -> float | None:
    """Time in which workers ran tasks by task, seconds; None without any."""
    count = sum(task.count for task in tasks)
    return sum(worker.runs for worker in workers) / count if count else None


def _lost_s(account: Account) -> float:
    """Core time that was lost since no task was ready while others ran: no more than there were CPUs for the parked workers."""
    return max(account.shares["starved"] * account.wall_s * account.cpus - account.remote_cores_s, 0.0)


def _tasks_at_once(account: Account, workers: Sequence[Worker]) -> float:
    """How many workers can run at a time."""
    return max(min(float(len(workers)), account.cpus), 1.0)


def _are_tiny(tasks: Sequence[TaskKind], workers: Sequence[Worker]) -> bool:
    mean = mean_task_s(tasks, workers)
    return mean is not None and mean <= _SHARED_TASK_S


def too_small(
    process: Process, tasks: Sequence[TaskKind], workers: Sequence[Worker], unshared_s: float
) -> list[Finding]:
    """gain = (looking for work + the runtime's share of running tasks) / workers.

    That share: a cost by task, at most what the tasks' own times leave of the time in which workers ran tasks, and at least what
    these times surely do not explain.
    `unshared_s`: what other workers could have taken off, were the tasks not too short to be shared; it counts if they are.
    """
    mean = mean_task_s(tasks, workers)
    if not mean or mean > _SMALL_TASK_S:
        return []
    count = sum(task.count for task in tasks)
    looking = sum(worker.looks_busy for worker in workers)
    runs = sum(worker.runs for worker in workers)
    left = runs - sum(task.total_s or 0.0 for task in tasks if not task.includes_inner)
    # Where times of tasks leave nothing for the runtime, they include what it does.
    most = left if left >= _LEAST_OVERHEAD * runs else runs
    handling = max(min(count * _TASK_S, most), beside_tasks_s(process))
    share = (looking + handling) / (runs + sum(worker.looks_busy for worker in workers))
    if share < _LEAST_OVERHEAD:
        return []
    return [
        finding(
            Cause.SMALL_TASKS,
            None,
            f"{count} tasks of {mean * 1e6:.2g} us; making, queueing and finding them takes about {share:.0%} "
            "of the workers' time",
            f"give each task {max(round(_GOOD_TASK_S / mean), 2)} times as much to do: larger partitions or "
            "chunks, or a size below which the rest is done in place",
            (looking + handling) / len(workers) + (unshared_s if _are_tiny(tasks, workers) else 0.0),
        )
    ]


def _starved(
    account: Account, tasks: Sequence[TaskKind], workers: Sequence[Worker], explained_s: float
) -> list[Finding]:
    """gain = core time without a ready task / workers at a time - the gains of causes that explain it."""
    starved = sum(worker.starved for worker in workers)
    lost = _lost_s(account)
    if len(workers) < 2 or lost <= 0:
        return []
    busy = sum(worker.runs for worker in workers) / account.parallel_s
    count = sum(task.count for task in tasks)
    if 0 < count < 8 * len(workers):
        action = f"divide the work into more tasks than the {count} it has: {8 * len(workers)} and more"
    else:
        action = (
            "let tasks wait for less (for their inputs, not for whole phases), start the longest first, "
            "or make more of them at a time"
        )
    return [
        finding(
            Cause.STARVATION,
            None,
            f"workers found no task for {starved:.3g} s while others ran some: "
            f"{busy:.2g} of {len(workers)} had one on average",
            action,
            max(lost / _tasks_at_once(account, workers) - explained_s, 0.0),
        )
    ]


def _one_producer(process: Process, account: Account, workers: Sequence[Worker]) -> list[Finding]:
    """gain = (looking for work + core time without a ready task) / workers at a time.

    Only while the producer is the limit: it is busy with making tasks for most of the time in which tasks run.
    """
    rows = [lane.rows[lane.rows["what"] == METRICS["task"]] for lane in process.lanes]
    created = np.array(
        [float(worker_rows["x"][:, TaskFields.CREATED].sum(dtype=float)) for worker_rows in rows]
    )
    lost = sum(worker.looks_busy for worker in workers) + _lost_s(account)
    life = sum(worker.life for worker in workers)
    if len(workers) < 2 or created.sum() < _LEAST_TASKS or lost < _LEAST_LOST * life:
        return []
    top_creator = int(np.argmax(created))
    if created[top_creator] < _ONE_PRODUCER * created.sum():
        return []
    lane = process.lanes[top_creator]
    making = _making_s(process, account, lane, workers)
    if making < _PRODUCER_BUSY * account.parallel_s:
        return []
    return [
        finding(
            Cause.ONE_PRODUCER,
            None,
            f"{created[top_creator] / created.sum():.0%} of {int(created.sum())} tasks were made by one thread "
            f"({lane.name}), which took it {making:.3g} s of the "
            f"{account.parallel_s:.3g} s in which tasks ran; workers looked for tasks, or had none, for {lost:.3g} s",
            "let tasks make tasks: divide the range in halves, or start one producer for each worker",
            lost / _tasks_at_once(account, workers),
        )
    ]


def _making_s(process: Process, account: Account, lane: Lane, workers: Sequence[Worker]) -> float:
    """What a lane was busy with besides running the tasks of which there are many, seconds."""
    runs = [worker.runs for worker in workers if worker.lane == lane.id]
    busy = sum(runs) if runs else float(lane.header["run_ns"]) * 1e-9
    return min(busy - ran_s(process, lane, _LEAST_TASKS), account.parallel_s)


def _chain(account: Account, tasks: Sequence[TaskKind], workers: Sequence[Worker]) -> list[Finding]:
    """gain = core time without a ready task / workers at a time."""
    count = sum(task.count for task in tasks)
    inside_s = sum((task.total_s or 0.0) for task in tasks if not task.includes_inner)
    lost = _lost_s(account)
    life = sum(worker.life for worker in workers)
    if len(workers) < 2 or count < 8 * len(workers) or lost < _LEAST_LOST * life:
        return []
    at_a_time = sum(worker.runs for worker in workers) / account.parallel_s if account.parallel_s > 0 else 0.0
    # Tasks fill the time, one after the other.
    if at_a_time > _IN_A_ROW or inside_s < account.parallel_s / 2:
        return []
    return [
        finding(
            Cause.TASK_CHAIN,
            None,
            f"{count} tasks ran one after another: {at_a_time:.2g} at a time on average, each ready only when "
            "the one before it had ended",
            "break the chain: let steps that do not need each other start from the same input (when_all, dataflow), or "
            "run several chains side by side",
            lost / _tasks_at_once(account, workers),
        )
    ]


def _long_task(account: Account, tasks: Sequence[TaskKind], workers: Sequence[Worker]) -> list[Finding]:
    """gain = min(core time without a ready task / workers at a time, longest task * (1 - 1 / workers))."""
    timed_tasks = [
        (task.longest_s, task) for task in tasks if task.longest_s is not None and not task.includes_inner
    ]
    lost = _lost_s(account)
    if not timed_tasks or len(workers) < 2 or lost <= 0:
        return []
    length, longest = max(timed_tasks, key=lambda pair: pair[0])
    if length < _LONG_TASK * account.parallel_s:
        return []
    return [
        finding(
            Cause.LONG_TASK,
            longest.name,
            f"one task took {length:.3g} s of the {account.parallel_s:.3g} s in which tasks ran "
            f"(the mean is {longest.mean_s:.2g} s)",
            "divide it, or start it before the others",
            min(lost / _tasks_at_once(account, workers), length * (1 - 1 / len(workers))),
        )
    ]


def _suspended(
    process: Process, account: Account, tasks: Sequence[TaskKind], workers: Sequence[Worker]
) -> list[Finding]:
    """gain = min(time suspended, core time without a ready task) / workers at a time."""
    suspended = suspensions(process)
    if not suspended or len(workers) < 2:
        return []
    cause = max(suspended, key=lambda cause_candidate: suspended[cause_candidate][1])
    count, total = suspended[cause]
    # Some task waits for the end of all others in every program: that says nothing.
    if cause in _NATURAL and count < _MANY_WAIT * sum(task.count for task in tasks):
        return []
    return [
        finding(
            Cause.SUSPENDED_TASKS,
            None,
            f"tasks were suspended {count} times for {total:.3g} s in all (waiting: {CAUSES[cause]}), "
            "while workers had nothing to run",
            SUSPENDED_ACTIONS.get(
                cause, "let fewer tasks wait at a time, or give the workers other ones meanwhile"
            ),
            min(total, _lost_s(account)) / _tasks_at_once(account, workers),
        )
    ]


def _nobody_works(process: Process, account: Account) -> list[Finding]:
    """What is not parallel: the time in which no worker ran a task."""
    has_regions = any((lane.rows["what"] == METRICS["region"]).any() for lane in process.lanes)
    if account.cpus <= 1 or has_regions:
        return []
    return [
        serial_part(
            account,
            "pass without a task at work, with one thread at most",
            "make tasks of what the program does between them (input, set-up, output), or overlap it with them",
        )
    ]


def _few_workers(account: Account, workers: Sequence[Worker]) -> list[Finding]:
    """gain = time in which tasks ran * (1 - workers / CPUs)."""
    if len(workers) + 0.5 > account.cpus:
        return []
    return [
        finding(
            Cause.FEW_WORKERS,
            None,
            f"{len(workers)} workers on {account.cpus:g} CPUs",
            "give the runtime as many workers as there are CPUs",
            account.parallel_s * (1 - len(workers) / account.cpus),
        )
    ]


def _other_policy(process: Process, account: Account, workers: Sequence[Worker]) -> list[Finding]:
    """What the steering of a runtime advises; gain at most: looking for work and core time without a ready task."""
    lost = sum(worker.looks_busy for worker in workers) + _lost_s(account)
    findings = []
    for key, value in process.facts.items():
        option, colon, reason = value.partition(": ")
        if key.startswith("advice for ") and colon:
            findings.append(
                finding(
                    Cause.SCHEDULING_POLICY,
                    key.removeprefix("advice for "),
                    reason,
                    f"try {option} and compare: the policy of a runtime cannot change while it runs",
                    lost / _tasks_at_once(account, workers),
                )
            )
    return findings

"""Where the time of all core slots went: parts of tasks, and idle time with its blame. The sums are exact.

docs/reference/spark.md has the formulas. Times in ms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.spark.application import Application, Tasks
from trimtab.spark.slots import Slots
from trimtab.spark.stragglers import Medians, Why, explanation, stage_medians, stragglers
from trimtab.spark.sweep import Integers, Numbers, between, counts, integral

# Parts of a task, then of idle slots; both are keys of `time` in reports.
PARTS: tuple[str, ...] = (
    "application",
    "deserialization",
    "serialization",
    "fetch_network",
    "fetch_disk",
    "spill",
    "gc",
)
PARTS += ("scheduler_delay", "failed", "unattributed")
IDLE = ("stage_barrier", "straggler", "skew", "few_partitions", "executor_start", "driver", "pending")
NO_STAGE = -1
_DIFFERENT_EXPLANATIONS = 2000


@dataclass(frozen=True)
class Attribution:
    """Everything that findings and tables are made from.

    Attributes:
        parts: of each task (rows), the time of each of PARTS (columns).
        idle_by_executor: rows are executors, columns are IDLE.
        idle_by_stage: rows are stages, the last row is of no stage.
        is_straggler: of each task, by its recorded times.
        why: what explains each straggler.
        spill_is_known: there was a rate to estimate it with.
    """

    parts: Numbers
    idle_by_executor: Numbers
    idle_by_stage: Numbers
    is_straggler: NDArray[np.bool_]
    why: dict[int, Why]
    medians: Medians
    spill_is_known: bool

    @property
    def total(self) -> dict[str, float]:
        """Of all slots, ms."""
        sums = [*self.parts.sum(axis=0), *self.idle_by_stage.sum(axis=0)]
        return dict(zip((*PARTS, *IDLE), map(float, sums), strict=True))


def attribute(application: Application, slots: Slots) -> Attribution:
    """The whole account."""
    tasks = application.tasks
    durations = tasks["end"] - tasks["begin"]
    medians = stage_medians(tasks, durations, len(application.stages))
    late = stragglers(tasks, tasks["begin"], tasks["end"], (slots.added, slots.end), medians.duration)
    longest = np.flatnonzero(late)[np.argsort(-(durations - medians.duration)[late])]
    why = {
        int(at): explanation(tasks, int(at), durations, medians) for at in longest[:_DIFFERENT_EXPLANATIONS]
    }
    spill_rate = _spill_ms_per_byte(tasks)
    by_executor, by_stage = _idle(application, slots, late, why)
    is_over = np.array([stage.completed is not None for stage in application.stages], bool)
    is_lost = tasks["is_failed"] | (tasks["is_running"] & is_over[tasks["stage"]])
    parts = _parts(tasks, slots.until - tasks["begin"], spill_rate or 0.0, is_lost)
    return Attribution(parts, by_executor, by_stage, late, why, medians, spill_rate is not None)


def _spill_ms_per_byte(tasks: Tasks) -> float | None:
    """What a byte takes that is written and read again: twice what writing shuffle files took in this application.

    The log has bytes of spills, but not their time.
    """
    written = int(tasks["written_bytes"].sum())
    return 2 * float(tasks["shuffle_write_ns"].sum()) * 1e-6 / written if written else None


def _parts(tasks: Tasks, occupied: Integers, spill_rate: float, is_lost: NDArray[np.bool_]) -> Numbers:
    """Of each task; every part takes what is left by those before it, so that they add up to the time on the slot.

    Lost are attempts that failed or were killed, and those whose end Spark did not wait for, because their stage was over.
    """
    left = occupied.astype(float)
    columns: dict[str, Numbers] = {name: np.zeros(len(tasks)) for name in PARTS}

    def take(name: str, wanted: Numbers | Integers, limit: Numbers) -> Numbers:
        taken = np.minimum(np.maximum(wanted, 0), limit)
        columns[name] += taken
        return limit - taken

    left = take("failed", np.where(is_lost, left, 0), left)
    left = take("unattributed", np.where(tasks["is_running"] | ~tasks["has_metrics"], left, 0), left)
    left = take("deserialization", tasks["deserialize"], left)
    left = take("serialization", tasks["serialize"], left)
    running = np.minimum(tasks["run"], left)
    left -= running
    columns["scheduler_delay"] += left
    running = take("gc", tasks["gc"], running)
    read = tasks["remote_bytes"] + tasks["local_bytes"]
    remote = np.divide(tasks["remote_bytes"], read, out=np.zeros(len(tasks)), where=read > 0)
    running = take("fetch_network", tasks["fetch_wait"] * remote, running)
    running = take("fetch_disk", tasks["fetch_wait"] * (1 - remote), running)
    running = take("serialization", tasks["shuffle_write_ns"] * 1e-6, running)
    running = take("spill", tasks["disk_spilled"] * spill_rate, running)
    columns["application"] += running
    return np.column_stack([columns[name] for name in PARTS])


def _idle(
    application: Application, slots: Slots, late: NDArray[np.bool_], why: dict[int, Why]
) -> tuple[Numbers, Numbers]:
    """Idle time by executor and by the stage that is to blame."""
    steps = _Steps(application, slots)
    weights, stage = steps.blame(late, why)
    by_stage = np.zeros((len(application.stages) + 1, len(IDLE)))
    lengths = np.diff(steps.times)
    for column in range(len(IDLE)):
        np.add.at(by_stage[:, column], stage, weights[:, column] * lengths)
    starting = slots.added - slots.begin
    by_stage[NO_STAGE, IDLE.index("executor_start")] += starting.sum()
    by_executor = np.zeros((len(application.executors), len(IDLE)))
    np.add.at(by_executor[:, IDLE.index("executor_start")], slots.executor, starting)
    owner, begins, ends = _gaps(application.tasks, slots)
    idle = np.maximum(steps.idle, 1)
    for column in range(len(IDLE)):
        share = np.where(steps.idle > 0, weights[:, column] / idle, 0.0)
        np.add.at(
            by_executor[:, column], owner, between(steps.times, integral(steps.times, share), begins, ends)
        )
    return by_executor, by_stage


def _gaps(tasks: Tasks, slots: Slots) -> tuple[Integers, Integers, Integers]:
    """Executor, begin and end of all times in which a slot that was there had no task."""
    before = slots.previous
    has_before = before >= 0
    begins = np.where(has_before, slots.until[before], slots.added[slots.slot])
    last_until = slots.added.copy()
    np.maximum.at(last_until, slots.slot, slots.until)
    owner = np.concatenate([slots.executor[slots.slot], slots.executor])
    starts, ends = np.concatenate([begins, last_until]), np.concatenate([tasks["begin"], slots.end])
    return owner, starts, np.maximum(ends, starts)


class _Steps:
    """The time of the application in steps in which nothing changes."""

    def __init__(self, application: Application, slots: Slots) -> None:
        tasks, end = application.tasks, application.end
        self._tasks = tasks
        stages = application.stages
        self._submitted = np.array([_known(stage.submitted, end) for stage in stages], np.int64)
        self._completed = np.array([_known(stage.completed, end) for stage in stages], np.int64)
        self._completed = np.maximum(self._submitted, self._completed)
        jobs = [(job.submitted, _known(job.completed, end)) for job in application.jobs]
        eligible = _eligible(tasks, self._submitted)
        self.times = np.unique(
            np.concatenate(
                [
                    *(tasks["begin"], slots.until, eligible, slots.added, slots.end),
                    *(self._submitted, self._completed, np.array(jobs, np.int64).reshape(-1), [0, end]),
                ]
            )
        )
        self._running = counts(self.times, tasks["begin"], slots.until)
        self._there = counts(self.times, slots.added, slots.end)
        self._pending = counts(self.times, eligible, tasks["begin"])
        sizes = np.array([stage.tasks for stage in stages], np.int64)
        self._active = counts(self.times, self._submitted, self._completed)
        self._active_tasks = counts(self.times, self._submitted, self._completed, sizes)
        job_ends = np.array([last for _, last in jobs], np.int64)
        self._releases = np.unique(np.concatenate([self._submitted, job_ends, [end]]))
        self.idle = self._there - self._running

    def blame(self, late: NDArray[np.bool_], why: dict[int, Why]) -> tuple[Numbers, Integers]:
        """In each step: idle slots by cause, and the stage that is to blame."""
        weights = np.zeros((len(self.idle), len(IDLE)))
        idle = np.maximum(self.idle, 0).astype(float)
        is_on = (self._active > 0) & (self._running + self._pending > 0)
        pending = np.where(is_on, np.minimum(idle, self._pending), 0)
        few = np.where(is_on, np.clip(self._there - self._active_tasks, 0, idle - pending), 0)
        barrier = np.where(is_on, idle - pending - few, 0)
        blamed = self._blamed_tasks()
        has_task = blamed >= 0
        is_skew = np.zeros(len(late) + 1, bool)
        is_skew[[at for at, reason in why.items() if reason is Why.DATA]] = True
        is_late = np.append(late, False)
        weights[:, IDLE.index("pending")] = pending
        weights[:, IDLE.index("few_partitions")] = few
        weights[:, IDLE.index("driver")] = idle - pending - few - barrier
        weights[:, IDLE.index("skew")] = np.where(is_skew[blamed], barrier, 0)
        weights[:, IDLE.index("straggler")] = np.where(is_late[blamed] & ~is_skew[blamed], barrier, 0)
        weights[:, IDLE.index("stage_barrier")] = np.where(is_late[blamed], 0, barrier)
        stage = np.append(self._tasks["stage"].astype(np.int64), NO_STAGE)[np.where(has_task, blamed, -1)]
        return weights, np.where(is_on, stage, NO_STAGE)

    def _blamed_tasks(self) -> Integers:
        """In each step: the task that ends last before something new can begin, or, if it is over, the next that ends."""
        if not len(self._tasks):
            return np.full(len(self.idle), -1, np.int64)
        order = np.argsort(self._tasks["end"], kind="stable")
        ends, now = self._tasks["end"][order], self.times[:-1]
        release = self._releases[
            np.searchsorted(self._releases, now, "right").clip(max=len(self._releases) - 1)
        ]
        last = np.searchsorted(ends, release, "right") - 1
        following = np.searchsorted(ends, now, "right")
        is_under_way = (last >= 0) & (ends[last] > now)
        place = np.where(is_under_way, last, np.minimum(following, len(ends) - 1))
        return np.asarray(order[place], np.int64)


def _known(time: int | None, other: int) -> int:
    return other if time is None else min(time, other)


def _eligible(tasks: Tasks, submitted: Integers) -> Integers:
    """From when on each attempt could have begun: its stage was submitted, or the attempt before it had ended.

    Nobody waits for a speculative attempt.
    """
    at = np.minimum(submitted[tasks["stage"]], tasks["begin"])
    order = np.lexsort((tasks["begin"], tasks["index"], tasks["stage"]))
    same = (tasks["stage"][order][1:] == tasks["stage"][order][:-1]) & (
        tasks["index"][order][1:] == tasks["index"][order][:-1]
    )
    later, earlier = order[1:][same], order[:-1][same]
    at[later] = np.minimum(tasks["end"][earlier], tasks["begin"][later])
    at[tasks["is_speculative"]] = tasks["begin"][tasks["is_speculative"]]
    return np.asarray(at, np.int64)

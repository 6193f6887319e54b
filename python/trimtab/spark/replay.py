"""The schedule of an application run again on paper, with other durations or other slots (rooms/diagnosis, replay).

Steps are tasks, which take a slot, and moments that take none: a job starts, a stage is submitted, a stage or job is complete.
What the driver needed between two moments stays as it was recorded. Free slots take tasks in their recorded order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis import compiled
from trimtab.spark.application import Application, Job
from trimtab.spark.slots import Integers, Slots

_NS = 1_000_000
# When a slot is there.
LIFE = np.dtype([("begin_ns", "<i8"), ("end_ns", "<i8")])
_FOREVER = np.iinfo(np.int64).max
# Completions are noted by other threads of the driver than ends of tasks.
_TOLERANCE_MS = 5


@dataclass(frozen=True)
class Replayed:
    """One replay; ms since the application started."""

    begin: Integers
    end: Integers
    total: float
    job_end: dict[int, float]


class _Graph:
    """Steps behind the tasks, and links."""

    def __init__(self, tasks: int) -> None:
        self.steps = tasks
        self.froms: list[int] = []
        self.tos: list[int] = []
        self.latencies: list[int] = []
        self.arrays: list[tuple[Integers, Integers, Integers]] = []

    def moment(self) -> int:
        self.steps += 1
        return self.steps - 1

    def connect(self, start: int, to: int, latency: int) -> None:
        self.froms.append(start)
        self.tos.append(to)
        self.latencies.append(max(latency, 0))

    def connect_all(self, froms: Integers, tos: Integers, latencies: Integers) -> None:
        self.arrays.append((froms, tos, np.maximum(latencies, 0)))

    def table(self) -> NDArray[np.void]:
        lists = [np.array(values, np.int64) for values in (self.froms, self.tos, self.latencies)]
        columns = [np.concatenate([lists[at], *(array[at] for array in self.arrays)]) for at in range(3)]
        table = np.zeros(len(columns[0]), compiled.LINK)
        for name, values in zip(("from_step", "to_step", "latency_ns"), columns, strict=True):
            table[name] = values
        table["latency_ns"] *= _NS
        return table


class Schedule:
    """What is replayed: of the whole application, or of some of its jobs.

    Example:
        `Schedule(application, slots).replay(durations).total`
    """

    def __init__(
        self, application: Application, slots: Slots, only_jobs: Iterable[int] | None = None
    ) -> None:
        self._application, self._slots = application, slots
        tasks = application.tasks
        jobs = None if only_jobs is None else set(only_jobs)
        self._stages = [
            at for at, stage in enumerate(application.stages) if jobs is None or stage.job in jobs
        ]
        is_chosen = np.zeros(len(application.stages), bool)
        is_chosen[self._stages] = True
        self.chosen: Integers = np.flatnonzero(is_chosen[tasks["stage"]])
        self._place = np.full(len(tasks), -1, np.int64)
        self._place[self.chosen] = np.arange(len(self.chosen))
        self._jobs = [job for job in application.jobs if jobs is None or job.id in jobs]
        self._graph = _Graph(len(self.chosen))
        self._origin = self._graph.moment()
        self._stage_start = {at: self._graph.moment() for at in self._stages}
        self._stage_end = {at: self._graph.moment() for at in self._stages}
        self._job_start = {job.id: self._graph.moment() for job in self._jobs}
        self._job_end = {job.id: self._graph.moment() for job in self._jobs}
        self._eligible = np.zeros(len(tasks), np.int64)
        self._make_links()
        self._links = self._graph.table()

    @property
    def recorded_durations(self) -> Integers:
        """Of all tasks of the application: time on their slots."""
        durations: Integers = self._slots.until - self._application.tasks["begin"]
        return durations

    @cached_property
    def lives(self) -> NDArray[np.void]:
        """When each slot was there; the last stay until all is done, whenever that is."""
        lives = np.zeros(len(self._slots.added), LIFE)
        lives["begin_ns"] = self._slots.added * _NS
        is_last = self._slots.end >= self._application.end
        lives["end_ns"] = np.where(is_last, _FOREVER, self._slots.end * _NS)
        return lives

    def replay(
        self, durations: Integers | NDArray[np.float64], lives: NDArray[np.void] | None = None
    ) -> Replayed:
        """`durations`: of all tasks of the application, ms.

        Raises:
            CompiledError: it comes to no end.
        """
        lives = self.lives if lives is None else lives
        steps = np.zeros(self._graph.steps + len(lives), compiled.STEP)
        steps["lane"] = compiled.NO_LANE
        count = len(self.chosen)
        given = np.asarray(durations)[self.chosen]
        lasting = np.maximum(given * _NS, 0).astype(np.int64)
        steps["pool"][:count] = 1
        steps["duration_ns"][:count] = lasting
        steps["lead_ns"][:count] = self._lead[self.chosen] * _NS
        steps["recorded_begin_ns"][:count] = self._application.tasks["begin"][self.chosen] * _NS
        # The first step of a slot lasts until it is there.
        steps["lane"][self._graph.steps :] = np.arange(len(lives))
        steps["duration_ns"][self._graph.steps :] = lives["begin_ns"]
        begins = self._begins(steps, lives["end_ns"])
        ends = begins + steps["duration_ns"]
        last = max((float(ends[step]) for step in self._job_end.values()), default=float(ends.max(initial=0)))
        return Replayed(
            begins[:count] // _NS,
            ends[:count] // _NS,
            last / _NS + self._tail,
            {job: float(ends[step]) / _NS for job, step in self._job_end.items()},
        )

    def _begins(self, steps: NDArray[np.void], slot_ends: Integers) -> Integers:
        """In nanoseconds."""
        slots = len(slot_ends)
        try:
            begun = compiled.replay(steps, self._links, slots, slots, slot_ends)
        except compiled.CompiledError:
            # Slots that went away are missing: better too many of them than no answer.
            begun = compiled.replay(steps, self._links, slots, slots)
        return np.asarray(begun["begin_ns"], np.int64)

    @cached_property
    def _lead(self) -> Integers:
        """From when a task could have begun, on its slot, until it did."""
        tasks, slots = self._application.tasks, self._slots
        before = slots.previous
        free = np.where(before >= 0, slots.until[before], slots.added[slots.slot])
        lead: Integers = np.maximum(tasks["begin"] - np.maximum(self._eligible, free), 0)
        return lead

    @cached_property
    def _tail(self) -> float:
        """From the end of the last job to that of the application."""
        ends = [job.completed if job.completed is not None else self._application.end for job in self._jobs]
        if not ends:
            return float(self._application.end - self._slots.until.max(initial=0))
        return float(self._application.end - max(ends))

    def _make_links(self) -> None:
        by_job: dict[int | None, list[int]] = {}
        for at in self._stages:
            by_job.setdefault(self._application.stages[at].job, []).append(at)
        for job in self._jobs:
            self._link_job_start(job)
            self._link_job_end(job, by_job.get(job.id, []))
        for job_id, stages in by_job.items():
            for at in stages:
                self._link_stage_start(at, job_id, stages)
        self._link_tasks()

    def _link_job_start(self, job: Job) -> None:
        ends = [(other.completed, other.id) for other in self._jobs if other.completed is not None]
        before = max((end for end in ends if end[0] <= job.submitted and end[1] < job.id), default=None)
        if before is None:
            self._graph.connect(self._origin, self._job_start[job.id], job.submitted)
        else:
            self._graph.connect(self._job_end[before[1]], self._job_start[job.id], job.submitted - before[0])

    def _link_job_end(self, job: Job, stages: list[int]) -> None:
        end = self._application.end if job.completed is None else job.completed
        moments = [(self._completed(at), at) for at in stages if self._completed(at) <= end + _TOLERANCE_MS]
        latest = max((moment for moment, _ in moments), default=job.submitted)
        self._graph.connect(
            self._job_start[job.id], self._job_end[job.id], 0 if moments else end - job.submitted
        )
        for _, at in moments:
            self._graph.connect(self._stage_end[at], self._job_end[job.id], end - latest)

    def _link_stage_start(self, at: int, job: int | None, stages: list[int]) -> None:
        """After its parents of the same job; a repeated attempt after whatever ended last before it."""
        stage, submitted = self._application.stages[at], self._submitted(at)
        parents = [
            other
            for other in stages
            if other != at
            and self._completed(other) <= submitted + _TOLERANCE_MS
            and (stage.attempt > 0 or self._application.stages[other].id in stage.parents)
        ]
        if not parents:
            start = self._job_start.get(job) if job is not None else None
            begin = next((entry.submitted for entry in self._jobs if entry.id == job), 0)
            self._graph.connect(
                self._origin if start is None else start, self._stage_start[at], submitted - begin
            )
            return
        latest = max(self._completed(other) for other in parents)
        for other in parents:
            self._graph.connect(self._stage_end[other], self._stage_start[at], submitted - latest)

    def _link_tasks(self) -> None:
        """A task after its stage's submission or the attempt before it; the stage's end after all that it waited for."""
        tasks, chosen = self._application.tasks, self.chosen
        stage = tasks["stage"]
        count = len(self._application.stages)
        starts, ends, submitted, completed = (np.zeros(count, np.int64) for _ in range(4))
        for at in self._stages:
            starts[at], ends[at] = self._stage_start[at], self._stage_end[at]
            submitted[at], completed[at] = self._submitted(at), self._completed(at)
        self._eligible = np.minimum(submitted[stage], tasks["begin"])
        order = chosen[np.lexsort((tasks["begin"][chosen], tasks["index"][chosen], stage[chosen]))]
        is_same = (stage[order][1:] == stage[order][:-1]) & (
            tasks["index"][order][1:] == tasks["index"][order][:-1]
        )
        later, earlier = order[1:][is_same], order[:-1][is_same]
        follows = tasks["end"][earlier] <= tasks["begin"][later] + _TOLERANCE_MS
        later, earlier = later[follows], earlier[follows]
        self._eligible[later] = np.minimum(tasks["end"][earlier], tasks["begin"][later])
        self._graph.connect_all(self._place[earlier], self._place[later], np.zeros(len(later), np.int64))
        first = np.setdiff1d(chosen, later)
        # A copy of a slow task is started while that one runs: as long after the submission as it was.
        waits = np.where(tasks["is_speculative"][first], tasks["begin"][first] - submitted[stage[first]], 0)
        self._eligible[first] = np.minimum(
            submitted[stage[first]] + np.maximum(waits, 0), tasks["begin"][first]
        )
        self._graph.connect_all(starts[stage[first]], self._place[first], waits)
        needed = chosen[self._slots.until[chosen] <= completed[stage[chosen]] + _TOLERANCE_MS]
        last = submitted.copy()
        np.maximum.at(last, stage[needed], self._slots.until[needed])
        self._graph.connect_all(self._place[needed], ends[stage[needed]], (completed - last)[stage[needed]])
        needed_count = np.bincount(stage[needed], minlength=count)
        for at in self._stages:
            latency = 0 if needed_count[at] else completed[at] - submitted[at]
            self._graph.connect(self._stage_start[at], self._stage_end[at], int(latency))

    def _submitted(self, at: int) -> int:
        time = self._application.stages[at].submitted
        return self._application.end if time is None else time

    def _completed(self, at: int) -> int:
        time = self._application.stages[at].completed
        return self._application.end if time is None else max(time, self._submitted(at))

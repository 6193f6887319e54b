"""What the application would take if something were different, by replay; first, what the replay makes of it unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from trimtab.spark.application import Application
from trimtab.spark.attribution import PARTS, Attribution
from trimtab.spark.replay import Replayed, Schedule
from trimtab.spark.slots import Integers, Slots
from trimtab.spark.stragglers import data_of, stragglers
from trimtab.spark.sweep import Numbers

# With a larger error nothing is claimed.
MOST_ERROR = 0.05
_MOST_ROUNDS = 50
_SKEW = 2.0
# Sensitivity: of the standard deviation of task times, as share of their mean.
_LEVELS = (0.25, 0.5, 1.0)
SEEDS = 200
# Steps that are replayed for it in all: some seconds.
_MOST_STEPS = 12_000_000


@dataclass(frozen=True)
class Change:
    """One what-if: what is changed, and what the application would then take, ms."""

    change: str
    total: float


class WhatIf:
    """Replays of one application."""

    def __init__(self, application: Application, slots: Slots, attribution: Attribution) -> None:
        self._application, self._slots, self._attribution = application, slots, attribution
        self._schedule = Schedule(application, slots)
        self.durations: Numbers = self._schedule.recorded_durations.astype(float)
        self.unchanged: Replayed = self._schedule.replay(self.durations)

    @property
    def error(self) -> float:
        """Of the unchanged replay, as share of the time from the first job to the end."""
        first = min((job.submitted for job in self._application.jobs), default=0)
        span = self._application.end - first
        return (self.unchanged.total - self._application.end) / span if span > 0 else 0.0

    @property
    def is_trusted(self) -> bool:
        """Whether its claims may be believed."""
        return abs(self.error) <= MOST_ERROR

    def gain(self, durations: Numbers, lives: NDArray[np.void] | None = None) -> float:
        """Of other durations or slots, against the unchanged replay, ms."""
        return self.unchanged.total - self._schedule.replay(durations, lives).total

    def without(self, *parts: str, share: float = 1.0) -> Numbers:
        """Durations without a share of some parts of the tasks."""
        columns = [PARTS.index(part) for part in parts]
        shortened: Numbers = self.durations - share * self._attribution.parts[:, columns].sum(axis=1)
        return shortened

    def without_stragglers(self, stage: int | None = None) -> Numbers:
        """Durations with the median of its stage for every straggler, repeated on the replayed schedule until none is left."""
        tasks, durations = self._application.tasks, self.durations.copy()
        medians = self._attribution.medians.duration
        is_asked = np.ones(len(tasks), bool) if stage is None else tasks["stage"] == stage
        late = self._attribution.is_straggler & is_asked
        for _ in range(_MOST_ROUNDS):
            if not late.any():
                break
            durations[late] = np.minimum(durations[late], medians[late])
            replayed = self._schedule.replay(durations)
            end = np.full(len(self._slots.end), int(replayed.total), np.int64)
            ends = np.maximum(np.minimum(self._slots.end, end), self._slots.added)
            late = stragglers(tasks, replayed.begin, replayed.end, (self._slots.added, ends), medians)
            late &= is_asked & (durations > medians)
        return durations

    def without_skew(self, stage: int | None = None) -> Numbers:
        """Durations with the mean of its stage for every task of a stage in which one has much more data and takes longer."""
        tasks, durations = self._application.tasks, self.durations.copy()
        skewed = self.skewed_tasks()
        good = ~tasks["is_failed"] & ~tasks["is_running"]
        for at in np.unique(tasks["stage"][skewed]).tolist():
            if stage is None or at == stage:
                chosen = good & (tasks["stage"] == at)
                durations[chosen] = durations[chosen].mean()
        return durations

    def skewed_tasks(self) -> Integers:
        """Tasks with more than twice their stage's median of data and of time."""
        tasks = self._application.tasks
        medians = self._attribution.medians
        data = data_of(tasks)
        return np.flatnonzero(
            ~tasks["is_failed"]
            & (data > _SKEW * np.maximum(medians.data, 1))
            & (self.durations > _SKEW * medians.duration)
            & (self.durations - medians.duration >= 20)
        )

    def more_executors(self, share: float) -> NDArray[np.void]:
        """Slots with copies of the first executors' slots, `share` as many."""
        count = max(1, round(share * len(self._application.executors)))
        copied = self._schedule.lives[np.isin(self._slots.executor, np.arange(count))]
        copied = copied.copy()
        copied["end_ns"] = np.iinfo(np.int64).max
        return np.concatenate([self._schedule.lives, copied])

    def fewer_executors(self) -> NDArray[np.void]:
        """Slots of the first half of the executors."""
        half = (len(self._application.executors) + 1) // 2
        return self._schedule.lives[self._slots.executor < half]

    def lasting_executors(self) -> NDArray[np.void]:
        """Slots of as many executors as there were at most at a time, those that came first; they stay until all is done."""
        places, first = np.unique(self._slots.executor, return_index=True)
        chosen = places[np.argsort(self._slots.added[first], kind="stable")][: self.most_executors]
        lasting = self._schedule.lives[np.isin(self._slots.executor, chosen)].copy()
        lasting["end_ns"] = np.iinfo(np.int64).max
        return lasting

    @cached_property
    def most_executors(self) -> int:
        """How many there were at most at a time."""
        _, first = np.unique(self._slots.executor, return_index=True)  # all slots of one have its life
        changes = [(int(time), 1) for time in self._slots.added[first]]
        changes += [(int(time), -1) for time in self._slots.end[first]]
        return max(accumulate(change for _, change in sorted(changes)), default=0)

    def changes(self) -> list[Change]:
        """All what-ifs, largest gain first; none where the replay cannot be trusted."""
        if not self.is_trusted or not len(self._application.tasks):
            return []
        executors = len(self._application.executors)
        tried: list[tuple[str, Numbers, NDArray[np.void] | None]] = [
            ("stragglers at the median of their stage", self.without_stragglers(), None),
            ("no skew", self.without_skew(), None),
            ("no garbage collection", self.without("gc"), None),
            ("shuffle twice as fast", self._faster_shuffle(0.5), None),
            ("shuffle takes no time", self._faster_shuffle(1.0), None),
            ("no spill", self.without("spill"), None),
        ]
        # More of those that Spark gives back would not be there, either, when a job begins.
        if self._application.has_dynamic_allocation:
            tried += [("executors stay until the end", self.durations, self.lasting_executors())]
        else:
            tried += [
                ("1 more executor", self.durations, self.more_executors(1 / max(executors, 1))),
                ("twice the executors", self.durations, self.more_executors(1.0)),
            ]
        made = [
            Change(name, self._application.end - self.gain(durations, lives))
            for name, durations, lives in tried
        ]
        return sorted(made, key=lambda change: change.total)

    def _faster_shuffle(self, share: float) -> Numbers:
        written = self._application.tasks["shuffle_write_ns"] * 1e-6
        serialization = self._attribution.parts[:, PARTS.index("serialization")]
        waits = self.durations - self.without("fetch_network", "fetch_disk")
        return self.durations - share * (waits + np.minimum(written, serialization))

    def sensitivities(self) -> dict[int, float]:
        """By stage: the slope of its job's replayed time against the standard deviation of the stage's task times.

        Task times are drawn from log-normal distributions with the stage's mean, and 25, 50 and 100 % of it as standard
        deviation; 0 % is the start. Each draw is scaled to the stage's work, so that only its variation counts. Stages with most core time first, as long as there is time for it.
        """
        if not self.is_trusted:
            return {}
        tasks = self._application.tasks
        count = len(self._application.stages)
        core_time = np.bincount(tasks["stage"], self.durations, minlength=count)
        schedules: dict[int, Schedule] = {}
        result, steps = {}, 0
        for at in np.argsort(-core_time).tolist():
            job = self._application.stages[at].job
            if job is None or core_time[at] <= 0:
                continue
            schedule = schedules.setdefault(job, Schedule(self._application, self._slots, [job]))
            steps += len(schedule.chosen) * (SEEDS * len(_LEVELS) + 1)
            if steps > _MOST_STEPS:
                break
            result[at] = self._sensitivity(schedule, at, job)
        return result

    def _sensitivity(self, schedule: Schedule, stage: int, job: int) -> float:
        tasks = self._application.tasks
        chosen = (tasks["stage"] == stage) & ~tasks["is_failed"]
        mean = float(self.durations[chosen].mean()) if chosen.any() else 0.0
        if mean <= 0:
            return 0.0
        durations = self.durations.copy()
        durations[chosen] = mean
        deviations, totals = [0.0], [schedule.replay(durations).job_end[job]]
        draws = np.random.default_rng(stage).standard_normal((SEEDS, int(chosen.sum())))
        for level in _LEVELS:
            factors = np.exp(np.sqrt(np.log1p(level**2)) * draws)
            factors /= factors.mean(axis=1, keepdims=True)
            ends = []
            for row in factors:
                durations[chosen] = mean * row
                ends.append(schedule.replay(durations).job_end[job])
            deviations.append(level * mean)
            totals.append(float(np.mean(ends)))
        return float(np.polyfit(deviations, totals, 1)[0])

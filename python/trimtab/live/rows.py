"""Profile rows of all lanes of a process as columns, and what they add up to so far.

Which rows there are changes seldom, their figures always: the first is worked out when a row is new, the second at each look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import (
    LockFields,
    Metric,
    RegionFlags,
    TaskFields,
    TaskFlags,
    TeamFields,
    WaitKind,
    WorkerFields,
    WorkerState,
)
from trimtab.readers import layout

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Words = NDArray[np.uint64]


def _word(field: str) -> int:
    return layout.offset_of(layout.ROW, field) // 8


_COUNT, _TIMED, _SUM, _X = (_word(field) for field in ("count", "timed", "sum", "x"))
_USED = _X + 4
_BARRIERS = (WaitKind.BARRIER, WaitKind.SINGLE, WaitKind.REDUCTION)
_LOCKS = (WaitKind.CRITICAL, WaitKind.ORDERED, WaitKind.LOCK)


@dataclass(frozen=True)
class Totals:
    """What the rows say up to now, in ticks; one figure a lane.

    Attributes:
        work: parts of outermost regions.
        join, arrival: waiting at their end, and before them.
        barrier, lock, tasks: waiting inside regions, by what for.
        runs, looks, parked, capped: of workers.
        state: the worker's present state; -1: it is no worker.
        has_rows: the lane was in a team.
        subject_ticks, subject_counts: by place in `Structure.subjects`; by_lane: ticks of each lane, a row a lane.
        held: how long the lane held locks.
    """

    work: Floats
    join: Floats
    arrival: Floats
    barrier: Floats
    lock: Floats
    tasks: Floats
    runs: Floats
    looks: Floats
    parked: Floats
    capped: Floats
    state: Whole
    has_rows: NDArray[np.bool_]
    subject_ticks: Floats
    subject_counts: Floats
    by_lane: Floats
    held: Floats

    @cached_property
    def times(self) -> Floats:
        """All that lanes do and wait for, shape (10, lanes): work, join, arrival, barrier, lock, tasks, runs, looks, parked, capped."""
        columns = (
            *(self.work, self.join, self.arrival, self.barrier, self.lock),
            *(self.tasks, self.runs, self.looks, self.parked, self.capped),
        )
        return np.stack(columns)


class Structure:
    """Which rows there are.

    Attributes:
        subjects: (metric, subject) of regions, tasks, scopes, loops and locks, in the order of the totals.
    """

    def __init__(self, tables: Sequence[Words], lanes: int) -> None:
        self._figures = [table[:, _COUNT:_USED] for table in tables]
        self._latest: tuple[Words, Totals] | None = None
        self._lanes = lanes
        rows = (
            np.concatenate([table[:, :_USED] for table in tables])
            if tables
            else np.zeros((0, _USED), np.uint64)
        )
        self._lane = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        first, second = rows[:, 0], rows[:, 1]
        self._subject = (first & 0xFFFFFFFF).astype(np.int64)
        self._what = ((first >> 32) & 0xFFFF).astype(np.int64)
        self._flags = (first >> 48).astype(np.int64)
        about = (second & 0xFFFFFFFF).astype(np.int64)
        self._in_region = (second >> 32).astype(np.int64)
        is_outer = self._in_region == NO_SUBJECT
        self._team = np.flatnonzero((self._what == Metric.TEAM) & is_outer & (about < lanes))
        self._about = about[self._team]
        self._waits = {
            name: np.flatnonzero((self._what == Metric.WAIT) & np.isin(self._flags, kinds))
            for name, kinds in (
                ("barrier", _BARRIERS),
                ("lock", _LOCKS),
                ("tasks", (WaitKind.TASKWAIT,)),
            )
        }
        self._workers = {
            state: np.flatnonzero((self._what == Metric.WORKER) & (self._flags == state))
            for state in (WorkerState.RUNS, WorkerState.LOOKS, WorkerState.IDLE, WorkerState.CAPPED)
        }
        self._has_workers = any(map(len, self._workers.values()))
        self._locks = np.flatnonzero(self._what == Metric.LOCK)
        self._number_subjects()
        self._pair_samples()

    def _number_subjects(self) -> None:
        shown = (Metric.REGION, Metric.TASK, Metric.SCOPE, Metric.LOOP, Metric.LOCK)
        self._shown = np.flatnonzero(np.isin(self._what, shown))
        keys = (self._what[self._shown] << 32) | self._subject[self._shown]
        unique, self._place = np.unique(keys, return_inverse=True)
        self.subjects = [(int(key) >> 32, int(key) & 0xFFFFFFFF) for key in unique]

    def _pair_samples(self) -> None:
        """Rows of timed instances stand for the untimed ones of their region, too."""
        regions: dict[tuple[int, int, int], list[int]] = {}
        for at in np.flatnonzero(self._what == Metric.REGION):
            key = (int(self._lane[at]), int(self._subject[at]), int(self._in_region[at]))
            regions.setdefault(key, []).append(int(at))
        self._pairs: list[tuple[int, int]] = []
        self._pair_of = np.full(len(self._what), -1)
        for (lane, subject, in_region), places in regions.items():
            sample = [at for at in places if self._flags[at] == RegionFlags.SAMPLE]
            untimed = [at for at in places if self._flags[at] == RegionFlags.UNTIMED]
            if not sample or not untimed:
                continue
            is_team = (self._what == Metric.TEAM) & (self._lane == lane) & (self._subject == subject)
            is_team &= (self._in_region == in_region) & (self._flags == RegionFlags.SAMPLE)
            self._pair_of[is_team] = len(self._pairs)
            self._pairs.append((sample[0], untimed[0]))
        self._sample = np.array([pair[0] for pair in self._pairs], np.int64)
        self._untimed = np.array([pair[1] for pair in self._pairs], np.int64)

    def totals(self, now: float) -> Totals:
        """The figures as they are now; `now` in ticks."""
        raw = np.concatenate(self._figures) if self._figures else np.zeros((0, _USED - _COUNT), np.uint64)
        # Of workers the time since their last row counts, too.
        if self._latest is not None and not self._has_workers and np.array_equal(raw, self._latest[0]):
            return self._latest[1]
        totals = self._totals(raw, now)
        self._latest = raw, totals
        return totals

    def _totals(self, raw: Words, now: float) -> Totals:
        rows = np.minimum(raw, np.uint64(1 << 62)).astype(np.float64)
        count, timed, ticks, x = (
            rows[:, 0],
            rows[:, _TIMED - _COUNT],
            rows[:, _SUM - _COUNT],
            rows[:, _X - _COUNT :],
        )
        whole = np.where((timed > 0) & (timed < count), ticks * count / np.maximum(timed, 1.0), ticks)
        factors = self._factors(whole)
        team = self._team
        team_factor = factors[team]

        def by_member(values: Floats) -> Floats:
            return _sums(self._about, values * team_factor, self._lanes)

        def by_lane(places: Whole, values: Floats) -> Floats:
            return _sums(self._lane[places], values[places], self._lanes)

        workers, state = self._worker_times(ticks, x, now)
        subject_ticks, subject_counts, lane_ticks = self._of_subjects(count, whole, x)
        barrier, lock, tasks = (by_lane(self._waits[name], whole) for name in ("barrier", "lock", "tasks"))
        runs, looks, parked, capped = workers
        return Totals(
            work=by_member(ticks[team]),
            join=by_member(x[team, TeamFields.JOIN_WAIT]),
            arrival=by_member(x[team, TeamFields.ARRIVAL]),
            barrier=barrier,
            # Critical regions and locks have rows of their own.
            lock=np.maximum(lock, by_lane(self._locks, whole)),
            tasks=tasks,
            runs=runs,
            looks=looks,
            parked=parked,
            capped=capped,
            state=state,
            has_rows=np.bincount(self._about, minlength=self._lanes) > 0,
            subject_ticks=subject_ticks,
            subject_counts=subject_counts,
            by_lane=lane_ticks,
            held=by_lane(self._locks, x[:, LockFields.HELD]),
        )

    def _factors(self, whole: Floats) -> Floats:
        factors = np.ones(len(whole))
        if self._pairs:
            sample = whole[self._sample]
            pair = np.where(sample > 0, 1.0 + whole[self._untimed] / np.maximum(sample, 1.0), 1.0)
            has_pair = self._pair_of >= 0
            factors[has_pair] = pair[self._pair_of[has_pair]]
        return factors

    def _worker_times(self, ticks: Floats, x: Floats, now: float) -> tuple[list[Floats], Whole]:
        state = np.full(self._lanes, -1)
        times = []
        for kind, places in self._workers.items():
            since = x[places, WorkerFields.SINCE]
            is_present = since > 0
            # A state that began after the look did has lasted for no time.
            total = ticks[places] + np.where(is_present, np.maximum(now - since, 0.0), 0.0)
            times.append(_sums(self._lane[places], total, self._lanes))
            state[self._lane[places[is_present]]] = kind
        return times, state

    def _of_subjects(self, count: Floats, whole: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        shown = self._shown
        ticks = whole[shown]
        is_counted = (self._what[shown] == Metric.TASK) & (self._flags[shown] & TaskFlags.COUNTED > 0)
        estimate = x[shown, TaskFields.ESTIMATE]
        ticks = np.where(is_counted & (estimate > 0), estimate, ticks)
        # Iterations of a loop are executed by all members: counts are of the lane that has most.
        size = len(self.subjects)
        totals = _sums(self._place, ticks, size)
        counts = _sums(self._place, count[shown], size)
        lanes = np.zeros((self._lanes, size))
        np.add.at(lanes, (self._lane[shown], self._place), ticks)
        return totals, counts, lanes


def _sums(places: Whole, values: Floats, size: int) -> Floats:
    """Sums of the values by place, as numbers with a fraction also where there are none."""
    return np.bincount(places, values, size).astype(np.float64)

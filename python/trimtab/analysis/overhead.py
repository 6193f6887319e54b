"""What the tool itself cost the program it watched (docs/reference/metrics.md, "Own cost")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.model import (
    METRICS,
    ROWS_UNTIMED,
    STATIC_INFERRED,
    STATIC_SCHEDULES,
    TASKS_COUNTED,
    TASKS_SAMPLED,
    Process,
    Records,
)
from trimtab.model.enumerations import LoopFields, RecordLevel, RegionFields, TeamFields

# What the hooks of one occurrence cost beside their clock reads, ns, between what one thread pays alone and what two pay
# that share cache lines: `./x bench`, tables "hooks" and "own-cost" (docs/performance/recording.md, "Its own cost"). Of a region it
# is each thread's: the team waits while one of it forks and joins.
COST_NS = {
    "region": 190.0,
    "loop": 90.0,
    "wait": 40.0,
    "lock": 55.0,
    "task": 60.0,
    "scope": 9.0,
    "single": 10.0,
    "worker": 35.0,
    "suspended": 55.0,
}
CHUNK_NS = 10.0
# More of a region with several threads, each one's: the lines that go to and fro between them.
SHARED_REGION_NS = 180.0
# Of an instance whose members were not timed, each thread's.
UNTIMED_REGION_NS = 60.0
COUNTED_REGION_NS = 30.0  # and where its fork and join were not timed either
UNTIMED_LOOP_NS = 30.0
UNTIMED_WAIT_NS = 15.0
# Of a task that was only counted (6 by the counting alone, 17 with what fork-join does for it), and of each of those
# that were timed beside its clock reads.
COUNTED_TASK_NS = 10.0
TIMED_TASK_NS = 15.0
# Of each of OpenMP's tasks of a kind of which a sample is timed.
SAMPLED_TASK_NS = 20.0
# Who waits for a lock waits for the hooks inside the section, too: this part of the wait, but at most so much an entry,
# of those that waited for so long.
LOCK_WAIT_PART = 0.5
LOCK_WAIT_MOST_NS = 300.0
CONTENDED_NS = 100.0
# What lanes that wait pay again while others go through hooks: no more than as much as those.
MOST_PAID_AGAIN = 1.0
# More in a trace than in the flight recorder: first use of the file's pages.
TRACED_EVENT_NS = 22.0
# What comes before the set-up measures itself and after it: the dynamic linker's work, first use of pages, unmapping.
LOADED_S = 0.5e-3

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OwnCost:
    """CPU time, seconds: on the program's lanes, while setting up, and on the sampler's own thread."""

    on_lanes_s: float
    setup_s: float
    sampler_s: float

    @property
    def beside_s(self) -> float:
        """What was not spent inside hooks."""
        return self.setup_s + self.sampler_s

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.on_lanes_s + self.beside_s


def own_cost(process: Process) -> OwnCost:
    """Occurrences * their cost + clock reads * their measured cost, set-up with loading, sampler CPU time.

    Hooks between which lanes wait for each other are paid again by who waits, as far as lanes do wait.
    """
    head = process.header
    read_ns = float(head["clock_read_ns"])
    repeated_s = _paid_again(process)
    on_lanes = 0.0
    for lane in process.lanes:
        costs = _Costs.of(lane.rows, read_ns, process.ns_per_tick)
        others = float(lane.header["clock_reads"]) * read_ns
        if head["level"] == RecordLevel.TRACE:
            others += lane.events_written * TRACED_EVENT_NS
        total = costs.alone + costs.among_waiting
        share = costs.among_waiting / total if total > 0 else 0.0
        on_lanes += total + others + repeated_s * (costs.among_waiting + share * others)
    setup_s = float(head["setup_ticks"]) * process.ns_per_tick * 1e-9
    return OwnCost(
        on_lanes * 1e-9,
        setup_s + LOADED_S if setup_s > 0 else 0.0,
        head["sampler_cpu_ns"] * 1e-9,
    )


def _paid_again(process: Process) -> float:
    """Time that lanes waited in regions for each that they worked; a lane that is alone waits for nobody."""
    members = set()
    work = waited = 0.0
    for lane in process.lanes:
        teams = lane.rows[lane.rows["what"] == METRICS["team"]]
        members.update(teams["about"].tolist())
        work += float(teams["sum"].sum(dtype=float))
        waited += float(
            teams["x"][:, TeamFields.JOIN_WAIT].sum(dtype=float)
            + teams["x"][:, TeamFields.INNER_WAIT].sum(dtype=float)
        )
    return min(waited / work, MOST_PAID_AGAIN) if work > 0 and len(members) > 1 else 0.0


@dataclass(frozen=True)
class _Costs:
    """What the profile rows of a lane stand for, ns: with what others pay for it in it, and without."""

    alone: float
    among_waiting: float

    @classmethod
    def of(cls, rows: Records, read_ns: float, ns_per_tick: float) -> _Costs:
        by_metric = {name: rows[rows["what"] == METRICS[name]] for name in COST_NS}
        alone = _regions_ns(by_metric["region"]) + _locks_ns(by_metric["lock"], ns_per_tick)
        alone += _scopes_ns(by_metric["scope"], read_ns)
        alone += sum(_count(by_metric[name]) * COST_NS[name] for name in ("worker", "suspended"))
        counted = by_metric["task"][(by_metric["task"]["flags"] & TASKS_COUNTED) != 0]
        is_sampled = (counted["flags"] & TASKS_SAMPLED) != 0
        by_count, sampled = counted[~is_sampled], counted[is_sampled]
        alone += (
            float(by_count["timed"].sum(dtype=float)) * TIMED_TASK_NS + _count(by_count) * COUNTED_TASK_NS
        )
        alone += (
            float(sampled["timed"].sum(dtype=float)) * COST_NS["task"] + _count(sampled) * SAMPLED_TASK_NS
        )
        event_cost_ns = sum(_count(by_metric[name]) * COST_NS[name] for name in ("single", "task"))
        event_cost_ns -= _count(counted) * COST_NS["task"]
        event_cost_ns += _loops_ns(by_metric["loop"]) + _waits_ns(by_metric["wait"])
        return cls(alone, event_cost_ns)


def _count(rows: Records) -> float:
    """Sums as floats: a damaged row must not overflow."""
    return float(rows["count"].sum(dtype=float))


def _regions_ns(rows: Records) -> float:
    members = rows["x"][:, RegionFields.THREADS].astype(float)
    is_untimed = rows["flags"] == ROWS_UNTIMED
    is_shared = (rows["x"][:, RegionFields.MOST_THREADS] > 1) & ~is_untimed
    counted = 1.0 - rows["timed"].astype(float) / np.maximum(rows["count"].astype(float), 1.0)
    region_ns = UNTIMED_REGION_NS + (COUNTED_REGION_NS - UNTIMED_REGION_NS) * counted
    total = float((members * region_ns)[is_untimed].sum())
    return (
        total
        + float(members[~is_untimed].sum()) * COST_NS["region"]
        + float(members[is_shared].sum()) * SHARED_REGION_NS
    )


def _loops_ns(rows: Records) -> float:
    count = rows["count"].astype(float)
    # Executions that nobody timed are of short regions (traces/sampling.py); nor are those timed that are only inferred.
    share = np.where(rows["flags"] == STATIC_INFERRED, 1.0, _timed_share(rows))
    # The blocks of a static loop are known at its start: nobody asks for them.
    chunks = np.where(
        np.isin(rows["flags"], STATIC_SCHEDULES), count, rows["x"][:, LoopFields.CHUNKS].astype(float)
    )
    event_cost_ns = float((share * (count * COST_NS["loop"] + chunks * CHUNK_NS)).sum())
    return event_cost_ns + float(((1.0 - share) * count).sum()) * UNTIMED_LOOP_NS


def _waits_ns(rows: Records) -> float:
    count, share = rows["count"].astype(float), _timed_share(rows)
    return float((share * count * COST_NS["wait"] + (1.0 - share) * count * UNTIMED_WAIT_NS).sum())


def _timed_share(rows: Records) -> Floats:
    count, timed = rows["count"].astype(float), rows["timed"].astype(float)
    return np.where(count <= timed, 1.0, timed / np.maximum(count, 1.0))


def _locks_ns(rows: Records, ns_per_tick: float) -> float:
    longest_of_bucket = 2.0 ** np.arange(rows["histogram"].shape[1]) * ns_per_tick
    contended = rows["histogram"][:, longest_of_bucket > 2 * CONTENDED_NS].sum(axis=1, dtype=float)
    waited_ns = rows["sum"].astype(float) * ns_per_tick
    lock_wait_ns = np.minimum(waited_ns * LOCK_WAIT_PART, contended * LOCK_WAIT_MOST_NS)
    return _count(rows) * COST_NS["lock"] + float(lock_wait_ns.sum())


def _scopes_ns(rows: Records, read_ns: float) -> float:
    """Not among the lane's clock reads: what is timed is read twice."""
    return _count(rows) * COST_NS["scope"] + float(rows["timed"].sum(dtype=float)) * 2 * read_ns

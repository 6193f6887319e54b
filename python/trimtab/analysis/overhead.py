"""What the tool itself cost the program it watched (docs/metrics.md, "Own cost")."""

from __future__ import annotations

from dataclasses import dataclass

from trimtab.model import METRICS, TASKS_COUNTED, Process, Records

# What the hooks of one occurrence cost beside their clock reads, ns, between what one thread pays alone and what two pay
# that share cache lines: `./x bench`, tables "hooks" and "own-cost" (docs/performance.md, "Its own cost"). Of a region it
# is each thread's: the team waits while one of it forks and joins.
COST_NS = {
    "region": 190.0,
    "loop": 60.0,
    "wait": 55.0,
    "lock": 55.0,
    "task": 60.0,
    "scope": 9.0,
    "single": 10.0,
    "worker": 35.0,
    "suspended": 55.0,
}
CHUNK_NS = 10.0
# Of a task that was only counted, and of each of those that were timed beside its clock reads.
COUNTED_TASK_NS = 4.5
TIMED_TASK_NS = 15.0
# More in a trace than in the flight recorder: first use of the file's pages.
TRACED_EVENT_NS = 22.0
_TRACE = 3


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
    """Occurrences * their cost + clock reads * their measured cost, set-up ticks, sampler CPU time."""
    head = process.header
    read_ns = float(head["clock_read_ns"])
    on_lanes = 0.0
    for lane in process.lanes:
        on_lanes += float(lane.header["clock_reads"]) * read_ns + _rows_ns(lane.rows, read_ns)
        if head["level"] == _TRACE:
            on_lanes += lane.events_written * TRACED_EVENT_NS
    return OwnCost(
        on_lanes * 1e-9,
        head["setup_ticks"] * process.ns_per_tick * 1e-9,
        head["sampler_cpu_ns"] * 1e-9,
    )


def _rows_ns(rows: Records, read_ns: float) -> float:
    """What the profile rows of a lane stand for."""
    total = 0.0
    for metric, each_ns in COST_NS.items():
        mine = rows[rows["what"] == METRICS[metric]]
        # Sums as floats: a damaged row must not overflow.
        occurrences = float(mine["count"].sum(dtype=float))
        if metric == "region":
            occurrences = float(mine["x"][:, 0].sum(dtype=float))
        elif metric == "loop":
            total += float(mine["x"][:, 1].sum(dtype=float)) * CHUNK_NS
        elif metric == "task":
            counted = mine[(mine["flags"] & TASKS_COUNTED) != 0]
            few = float(counted["count"].sum(dtype=float))
            occurrences -= few
            total += few * COUNTED_TASK_NS + float(counted["timed"].sum(dtype=float)) * TIMED_TASK_NS
        elif metric == "scope":
            # Not among the lane's clock reads: what is timed is read twice.
            total += float(mine["timed"].sum(dtype=float)) * 2 * read_ns
        total += occurrences * each_ns
    return total

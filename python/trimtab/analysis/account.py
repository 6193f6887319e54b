"""Where the available core time of a process went (docs/reference/metrics.md, "Shares")."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.blocked import blocked_share_outside
from trimtab.analysis.overhead import own_cost
from trimtab.analysis.plain_threads import share_without_thread
from trimtab.analysis.samples import last_value
from trimtab.analysis.workers import Worker, beside_tasks_s, workers_of
from trimtab.model import NO_SUBJECT, UNKNOWN, Process, Records
from trimtab.model.enumerations import SHARE_LABELS, CounterName, RegionFields, TeamFields
from trimtab.traces import rows_of

SHARES = tuple(SHARE_LABELS)
# Of the CPU time: less than this of other threads is the tool's, or of a thread that only waits.
_MANY_OTHERS = 0.05
# Runtimes whose threads give their CPU away while they spin, once there are more of them than CPUs.
_YIELDING = {"libomp", "libiomp5"}

Figures = NDArray[np.float64]


@dataclass(frozen=True)
class Account:
    """Shares of the available core time (they sum to 1), and the sums they come from, seconds."""

    shares: dict[str, float]
    wall_s: float
    cpus: float
    parallel_s: float
    run_delay_s: float
    spinning_s: float = 0.0
    lanes: float = 0.0
    """In regions at a time, in the mean while there is one: P / R of docs/reference/metrics.md."""
    blocked_outside_s: float = 0.0
    """Outside regions the first thread neither ran nor waited for a CPU."""
    others_s: float = 0.0
    """CPU time outside regions of threads that entered none; without regions, of all threads but the first."""
    remote_wait_s: float = 0.0
    """Of a process of a job: no worker ran a task, and the first thread slept: it waited for other processes."""
    remote_cores_s: float = 0.0
    """What of `starved` that is, core time."""


@dataclass(frozen=True)
class _Lanes:
    """Per lane, seconds: states in regions and of workers, and what schedstat says of the thread."""

    work: Figures
    waiting: Figures
    arrival: Figures
    looking: Figures
    starved: Figures
    run: Figures
    delay: Figures
    is_main: NDArray[np.bool_]
    is_worker: NDArray[np.bool_]
    blocked_share_outside: float | None = None
    """Of the first lane's blocked time, the share outside regions, where it was measured."""

    @property
    def inside(self) -> Figures:
        """All but what a parked worker lacks, which wants no CPU."""
        return self.work + self.waiting + self.arrival + self.looking


def run_delay_s(process: Process) -> float:
    """Time that the process's threads were runnable without a CPU, seconds (schedstat)."""
    if any(lane.is_thread for lane in process.lanes):
        return float(sum(lane.header["run_delay_ns"] for lane in process.lanes)) * 1e-9
    counters = CounterName.PROCESS_RUN_DELAY, CounterName.ENDED_THREADS_DELAY
    return sum(last_value(process, name) or 0.0 for name in counters)


def account(process: Process, wall_s: float) -> Account:
    """Divide wall_s * cpus among the shares; formula by formula in docs/reference/metrics.md."""
    cpus = float(process.header["cpus_available"])
    delay = run_delay_s(process)
    if wall_s <= 0:
        return Account({**dict.fromkeys(SHARES, 0.0), "unattributed": 1.0}, 0.0, cpus, 0.0, delay)
    regions = rows_of(process, "region")
    cost = own_cost(process)
    workers = workers_of(process)
    if not len(regions) and not workers:
        parts = _without_regions(process, wall_s, cpus, delay)
        _move(parts, cost.total_s, ("work", "serial"))
        others_s = other_threads_s(process) or 0.0
        return Account(_normalised(parts, cpus * wall_s), wall_s, cpus, 0.0, delay, others_s=others_s)

    lanes = _lanes_of(process, regions, rows_of(process, "team"))
    in_regions = float(lanes.inside.sum())
    lanes = _with_workers(process, lanes, workers, regions)
    lanes = replace(lanes, blocked_share_outside=blocked_share_outside(process))
    parallel = min(float(process.header["parallel_ticks"]) * process.ns_per_tick * 1e-9, wall_s)
    outside_s = wall_s - parallel
    inside_regions = lanes.inside
    # A lane's delay falls into its regions in proportion to the time it wanted a CPU there.
    wanted = np.maximum(lanes.run + lanes.delay, inside_regions)
    delay_inside = np.minimum(
        np.divide(lanes.delay * inside_regions, wanted, out=np.zeros_like(wanted), where=wanted > 0),
        inside_regions,
    )
    at_a_time = _lane_time(process, regions) / parallel if parallel > 0 else 0.0
    runtimes = {name for name, _ in process.runtimes.values()}
    gives_way = at_a_time > cpus and bool(runtimes) and runtimes <= _YIELDING
    used = _cpu_use_of(lanes, delay_inside, wall_s, outside_s, gives_way)
    parts = {
        "work": float(used.work.sum()),
        "barrier_wait": float(used.waiting.sum()),
        "arrival": float(used.arrival.sum()),
        "runtime": max(_lane_time(process, regions) - in_regions, 0.0) + float(used.looking.sum()),
    }
    off_cpu = {
        "barrier_wait": float(used.waiting_asleep.sum()),
        "arrival": float(used.arrival_asleep.sum()),
        "run_delay": float(delay_inside.sum()),
        "unattributed": float(used.work_asleep.sum()),
    }
    on_cpu, waited = _main_outside(process, lanes, delay_inside, wall_s, outside_s)
    if workers:
        running = float(lanes.work.sum())
        _move(parts, beside_tasks_s(process) * parts["work"] / running if running else 0.0, ("work",))
        parts["work"] += _beside_workers(lanes, on_cpu, parallel)
    _fit(parts, off_cpu, float(lanes.starved.sum()), cpus * parallel)
    parts["work"] += on_cpu
    parts["run_delay"] += waited
    idle_outside = max(cpus - 1.0, 0.0) * outside_s
    others_outside = 0.0 if workers else min(_without_lanes_s(process, lanes), idle_outside)
    parts["work"] += others_outside
    asleep_s = max(outside_s - on_cpu - waited, 0.0) if lanes.run.any() else 0.0
    # Of a job: while all workers of a process are parked and its first thread sleeps, others have to send something.
    waiting_cores = min(float(len(workers)), cpus) if _is_one_of_several(process) else 0.0
    parts["starved"] += waiting_cores * asleep_s
    parts["serial"] += idle_outside - others_outside - max(waiting_cores - 1.0, 0.0) * asleep_s
    _move(parts, cost.on_lanes_s, ("work",))
    _move(parts, cost.beside_s, ("serial", "barrier_wait"))
    others = ~lanes.is_main & ~lanes.is_worker
    spinning = float(np.maximum(lanes.run - (inside_regions - delay_inside), 0.0)[others].sum())
    return Account(
        _normalised(parts, cpus * wall_s),
        wall_s,
        cpus,
        parallel,
        delay,
        spinning,
        at_a_time,
        asleep_s if not workers else 0.0,
        others_outside,
        asleep_s if waiting_cores else 0.0,
        waiting_cores * asleep_s,
    )


def _is_one_of_several(process: Process) -> bool:
    """It has a rank in a job of several."""
    size = process.facts.get("size", "")
    return process.rank is not None and size.isdecimal() and int(size) > 1


def _without_lanes_s(process: Process, lanes: _Lanes) -> float:
    """CPU time of threads that entered no region; 0 where it is small, or where schedstat is missing."""
    used = float(process.header["user_ns"] + process.header["system_ns"]) * 1e-9
    others = used - float(lanes.run.sum())
    return others if lanes.run.any() and others > _MANY_OTHERS * used else 0.0


def other_threads_s(process: Process) -> float | None:
    """CPU time of all threads but the first; 0 where it is small, None where it is not known."""
    used = float(process.header["user_ns"] + process.header["system_ns"]) * 1e-9
    first = last_value(process, CounterName.FIRST_THREAD_TIME)
    if first is None:
        return None
    return used - first if used - first > _MANY_OTHERS * used else 0.0


def _lanes_of(process: Process, regions: Records, teams: Records) -> _Lanes:
    s = process.tick_s
    count = len(process.lanes)
    index = {lane.id: at for at, lane in enumerate(process.lanes)}
    work, waiting, arrival = np.zeros(count), np.zeros(count), np.zeros(count)
    forks = {(int(row["subject"]), int(row["about"])) for row in regions if row["in_region"] != NO_SUBJECT}
    for row in teams:
        at = index.get(int(row["about"]))
        if at is None:
            continue
        cost = float(row["sum"])
        waiting[at] += float(row["x"][TeamFields.JOIN_WAIT]) + float(row["x"][TeamFields.INNER_WAIT])
        arrival[at] += float(row["x"][TeamFields.ARRIVAL])
        if row["in_region"] != NO_SUBJECT and (int(row["subject"]), int(row["about"])) in forks:
            # Its work in the nested region is counted as work of the enclosing one already.
            waiting[at] += cost
        else:
            work[at] += cost
    for row in regions[regions["in_region"] != NO_SUBJECT]:
        at = index.get(int(row["about"]))
        if at is not None:
            # To the enclosing region the nested one is waiting as far as it is not work: now it is in detail.
            waiting[at] -= float(row["sum"])
    header = [lane.header for lane in process.lanes]
    return _Lanes(
        work * s,
        np.maximum(waiting, 0.0) * s,
        arrival * s,
        np.zeros(count),
        np.zeros(count),
        np.array([float(head["run_ns"]) for head in header]) * 1e-9,
        np.array([float(head["run_delay_ns"]) for head in header]) * 1e-9,
        np.array([bool(head["is_main"]) for head in header]),
        np.zeros(count, np.bool_),
    )


def _with_workers(process: Process, lanes: _Lanes, workers: tuple[Worker, ...], regions: Records) -> _Lanes:
    """What workers did beside regions: one that forks a region runs a task as long, which is not counted twice."""
    if not workers:
        return lanes
    index = {lane.id: at for at, lane in enumerate(process.lanes)}
    forked = regions[regions["in_region"] == NO_SUBJECT]
    work, looking, starved = lanes.work.copy(), lanes.looking.copy(), lanes.starved.copy()
    is_worker = lanes.is_worker.copy()
    for worker in workers:
        at = index[worker.lane]
        in_regions = float(forked["sum"][forked["about"] == worker.lane].sum()) * process.ns_per_tick * 1e-9
        work[at] += max(worker.runs - in_regions, 0.0)
        looking[at] += worker.looks_busy
        starved[at] += worker.starved
        is_worker[at] = True
    return replace(lanes, work=work, looking=looking, starved=starved, is_worker=is_worker)


def _beside_workers(lanes: _Lanes, main_outside: float, parallel: float) -> float:
    """CPU time of threads that are no workers while workers ran: what the first did outside came first."""
    alone = lanes.inside == 0.0
    others = np.minimum(lanes.run[alone & ~lanes.is_main & ~lanes.is_worker], parallel)
    main = np.minimum(np.maximum(lanes.run[alone & lanes.is_main] - main_outside, 0.0), parallel)
    return float(others.sum() + main.sum())


def _lane_time(process: Process, regions: Records) -> float:
    """Sum of threads * wall of outermost regions, and of (threads - 1) * wall of nested ones, seconds."""
    threads = regions["x"][:, RegionFields.THREADS] / np.maximum(regions["count"], 1)
    threads = threads - (regions["in_region"] != NO_SUBJECT)
    return float((np.maximum(threads, 0.0) * regions["sum"]).sum()) * process.ns_per_tick * 1e-9


@dataclass(frozen=True)
class _CpuUse:
    """Per lane, seconds in regions and as a worker: what of each state was spent on a CPU, and what asleep."""

    work: Figures
    looking: Figures
    waiting: Figures
    arrival: Figures
    work_asleep: Figures
    waiting_asleep: Figures
    arrival_asleep: Figures


def _cpu_use_of(
    lanes: _Lanes, delay_inside: Figures, wall_s: float, outside_s: float, gives_way: bool
) -> _CpuUse:
    """Divide what a lane had of CPUs in regions among its states.

    A lane that neither ran nor waited for a CPU slept: in waits first, then before it began its part. Its CPU time is
    spread evenly over its work and the waits in which it did not sleep; what is left goes to its arrival. Where who waits
    gives its CPU away to the others (`gives_way`) it is in waits and arrival, as far as they go, that it lacked one.
    Without schedstat it is taken to have been on a CPU all the time.
    """
    runnable = lanes.inside - delay_inside
    awake = np.where(lanes.is_main, runnable - _main_asleep(lanes, wall_s, outside_s), runnable)
    is_observed = lanes.run + lanes.delay > 0
    on_cpu = np.maximum(np.where(is_observed, np.minimum(lanes.run, awake), awake), 0.0)
    asleep = runnable - on_cpu
    waiting_asleep = np.minimum(lanes.waiting, asleep)
    arrival_asleep = np.minimum(lanes.arrival, asleep - waiting_asleep)
    spinning = lanes.waiting - waiting_asleep
    if gives_way:
        yielding = spinning + lanes.arrival - arrival_asleep
        delayed = np.divide(delay_inside, yielding, out=np.zeros_like(yielding), where=yielding > 0)
        spinning *= 1.0 - np.minimum(delayed, 1.0)
    running = lanes.work + lanes.looking + spinning
    rate = np.minimum(np.divide(on_cpu, running, out=np.ones_like(running), where=running > 0), 1.0)
    return _CpuUse(
        lanes.work * rate,
        lanes.looking * rate,
        spinning * rate,
        np.maximum(on_cpu - running * rate, 0.0),
        asleep - waiting_asleep - arrival_asleep,
        waiting_asleep,
        arrival_asleep,
    )


def _fit(parts: dict[str, float], off_cpu: dict[str, float], starved: float, room: float) -> None:
    """Make the lanes' states fill the cores' time in regions and tasks.

    What ran on a CPU comes first. Lanes that slept or waited for a CPU share what is left: with lanes to spare that is less
    than they lost, as their core was another's. So with what parked workers lacked; with cores to spare the rest is serial.
    """
    on_cpu = sum(parts.values())
    scale = min(1.0, room / on_cpu) if on_cpu > 0 else 1.0
    for name in parts:
        parts[name] *= scale
    left = max(room - on_cpu, 0.0)
    lost = sum(off_cpu.values())
    scale = min(1.0, left / lost) if lost > 0 else 1.0
    for name, seconds in off_cpu.items():
        parts[name] = parts.get(name, 0.0) + seconds * scale
    parts["starved"] = min(starved, max(left - lost, 0.0))
    parts["serial"] = max(left - lost - starved, 0.0)


def _main_asleep(lanes: _Lanes, wall_s: float, outside_s: float) -> Figures:
    """Seconds in regions in which the first lane neither ran nor waited for a CPU; of the others nothing is said here."""
    blocked = np.maximum(wall_s - lanes.run - lanes.delay, 0.0)
    if lanes.blocked_share_outside is not None:
        return np.minimum(blocked * (1.0 - lanes.blocked_share_outside), lanes.inside)
    # In waits of regions or outside, in proportion to their lengths.
    lengths = lanes.waiting + outside_s
    return np.divide(blocked * lanes.waiting, lengths, out=np.zeros_like(blocked), where=lengths > 0)


def _main_outside(
    process: Process, lanes: _Lanes, delay_inside: Figures, wall_s: float, outside_s: float
) -> tuple[float, float]:
    """Of the first lane outside regions: time on a CPU, and time waiting for one, seconds."""
    if outside_s <= 0:
        return 0.0, 0.0
    if not lanes.is_main.any() or not lanes.run.any():
        used = (process.header["user_ns"] + process.header["system_ns"]) * 1e-9
        on_cpu = used - float(np.maximum(lanes.run, lanes.inside - delay_inside).sum())
        return min(max(on_cpu, 0.0), outside_s), 0.0
    main = int(np.argmax(lanes.is_main))
    run, delay, inside_regions = float(lanes.run[main]), float(lanes.delay[main]), float(lanes.inside[main])
    asleep = float(_main_asleep(lanes, wall_s, outside_s)[main])
    on_cpu = run - max(inside_regions - float(delay_inside[main]) - asleep, 0.0)
    on_cpu = min(max(on_cpu, 0.0), outside_s)
    return on_cpu, min(max(delay - float(delay_inside[main]), 0.0), outside_s - on_cpu)


def _without_regions(process: Process, wall_s: float, cpus: float, delay: float) -> dict[str, float]:
    used = (process.header["user_ns"] + process.header["system_ns"]) * 1e-9
    capacity = cpus * wall_s
    parts = {"work": min(used, capacity), "run_delay": min(delay, max(capacity - used, 0.0))}
    # One thread at most at a time, as far as this can be told: the other cores were given nothing.
    others = other_threads_s(process)
    if others == 0.0 or (others is None and used <= wall_s * 1.05):
        parts["serial"] = max(cpus - 1.0, 0.0) * wall_s
    else:
        idle = max(capacity - parts["work"] - parts["run_delay"], 0.0)
        parts["serial"] = idle * share_without_thread(process)
    return parts


def _move(parts: dict[str, float], amount: float, sources: tuple[str, ...]) -> None:
    """Count up to `amount` seconds as runtime that the tool itself took from `sources`."""
    for name in sources:
        amount_taken = min(amount, parts.get(name, 0.0))
        parts[name] = parts.get(name, 0.0) - amount_taken
        parts["runtime"] = parts.get("runtime", 0.0) + amount_taken
        amount -= amount_taken


def _normalised(parts: dict[str, float], capacity: float) -> dict[str, float]:
    shares = {name: max(parts.get(name, 0.0), 0.0) / capacity for name in SHARES}
    total = sum(shares.values())
    if total > 1.0:
        return {name: value / total for name, value in shares.items()}
    shares["unattributed"] += 1.0 - total
    return shares


def value_or_none(value: int) -> int | None:
    """None for the format's "unknown"."""
    return None if value == UNKNOWN else int(value)

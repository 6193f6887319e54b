"""The account of a whole run: the core time of all its processes, each CPU counted once (docs/reference/metrics.md, "The whole job")."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from trimtab.analysis.account import SHARES
from trimtab.analysis.diagnosis import Diagnosis, diagnosis_of_job, renumbered
from trimtab.analysis.lives import Life, capacity_s, covered_s, groups_of, mean_beside, most_at_a_time
from trimtab.analysis.process_report import ProcessReport

# A process without regions, workers, tasks and scopes that used less CPU time than this takes no part: part of its own life, and of
# the CPU time of all processes.
_LEAST_OF_LIFE = 0.05
_LEAST_SHARE_OF_ALL = 0.01
# To start a process takes a few milliseconds of CPU time, most of a short shell's life.
_LEAST_CPU_S = 0.01
_ON_A_CPU = ("work", "runtime")
_IN_REGIONS = ("barrier_wait", "arrival")
# What is left of the CPUs is explained by these, in this order, and then not at all.
_IDLE = ("starved", "serial")

Seconds = dict[str, float]


@dataclass(frozen=True)
class Job:
    """The processes that take part, and their shares together.

    Attributes:
        parts: those processes, in the order of the run.
        lives: when and where each of them lived.
        shares: of `capacity_s`.
        capacity_s: core time that they had together.
        observed_s: time in which at least one of them lived.
        cpus: that they had together, on average over that time.
        threads: the most at a time.
        beside: for each part, the threads of all that lived beside it, its own included.
    """

    parts: tuple[ProcessReport, ...]
    lives: tuple[Life, ...]
    shares: dict[str, float]
    capacity_s: float
    observed_s: float
    cpus: float
    threads: int
    beside: tuple[float, ...]

    @property
    def only_part(self) -> ProcessReport | None:
        """The process that takes part, where it is the only one."""
        return self.parts[0] if len(self.parts) == 1 else None

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """What the lanes of all parts waited for, as far as all their events are there; None: of none."""
        traced = [at for at, part in enumerate(self.parts) if part.is_traced]
        if not traced:
            return None
        if len(self.parts) == 1:
            return self.parts[0].diagnosis
        diagnosis = diagnosis_of_job([self.parts[at].trace for at in traced], self.parts[0].kept)
        if diagnosis is None:
            return None
        return renumbered(diagnosis, traced)


def job_of(processes: Sequence[ProcessReport]) -> Job:
    """The account of those that did something; of all, if none did."""
    parts = taking_part(processes)
    lives = tuple(life_of(part) for part in parts)
    threads = [float(part.threads) for part in parts]
    if len(parts) == 1:
        (only_part,) = parts
        shares, observed, cpus = only_part.account.shares, only_part.account.wall_s, only_part.account.cpus
        return Job(parts, lives, shares, cpus * observed, observed, cpus, only_part.threads, tuple(threads))
    groups = groups_of(lives)
    rooms = [capacity_s([lives[at] for at in group]) for group in groups]
    capacity, observed = sum(rooms), covered_s(lives)
    seconds = [
        _seconds_of_group([parts[at] for at in group], [lives[at] for at in group], room)
        for group, room in zip(groups, rooms, strict=True)
    ]
    total = {name: sum(shares[name] for shares in seconds) for name in SHARES}
    return Job(
        parts,
        lives,
        _shares(total, capacity),
        capacity,
        observed,
        capacity / observed if observed > 0 else max(life.cpus for life in lives),
        _most_threads(lives, threads),
        tuple(_threads_beside(lives, threads)),
    )


def with_unseen(job: Job, unseen_s: float) -> Job:
    """CPU time of processes that left no record is work: CPUs that seemed to have nothing to do had it."""
    left = unseen_s / job.capacity_s if job.capacity_s > 0 else 0.0
    if left <= 0:
        return job
    shares = dict(job.shares)
    for name in ("unattributed", "serial"):
        moved = min(left, shares[name])
        shares[name] -= moved
        shares["work"] += moved
        left -= moved
    return replace(job, shares=shares)


def taking_part(processes: Sequence[ProcessReport]) -> tuple[ProcessReport, ...]:
    """Those that had regions or workers, or used some CPU time."""
    total = sum(process.cpu_s for process in processes)
    taking_part = tuple(process for process in processes if _takes_part(process, total))
    return taking_part or tuple(processes)


def without_launchers(processes: Sequence[ProcessReport]) -> list[ProcessReport]:
    """All but those that have only started the ranks of a job, such as `trimtab launch` and mpirun under `trimtab run`."""
    parents = {_place(process): (process.trace.host, _parent(process)) for process in processes}
    ancestors_of_ranks = set()
    for process in processes:
        parent = parents[_place(process)]
        while process.trace.rank is not None and parent in parents and parent not in ancestors_of_ranks:
            ancestors_of_ranks.add(parent)
            parent = parents[parent]
    return [process for process in processes if not _is_launcher(process, ancestors_of_ranks)]


def _is_launcher(
    process_report: ProcessReport, ancestors_of_ranks: Container[tuple[str | None, int]]
) -> bool:
    """A process without a part in the program that has started ranks, or is a copy of one that has."""
    if process_report.trace.rank is not None or _has_records(process_report):
        return False
    forked_from = int(process_report.process.header["forked_from"])
    return (
        _place(process_report) in ancestors_of_ranks
        or (process_report.trace.host, forked_from) in ancestors_of_ranks
    )


def _place(process_report: ProcessReport) -> tuple[str | None, int]:
    return process_report.trace.host, process_report.trace.pid


def _parent(process_report: ProcessReport) -> int:
    return int(process_report.process.header["ppid"])


def _has_records(process_report: ProcessReport) -> bool:
    return bool(
        process_report.regions or process_report.workers or process_report.tasks or process_report.scopes
    )


def _takes_part(process_report: ProcessReport, total_cpu_s: float) -> bool:
    if _has_records(process_report):
        return True
    least_cpu_s = max(
        _LEAST_OF_LIFE * process_report.trace.span.wall_s, _LEAST_SHARE_OF_ALL * total_cpu_s, _LEAST_CPU_S
    )
    return process_report.cpu_s >= least_cpu_s


def life_of(process_report: ProcessReport) -> Life:
    """When, where and on which CPUs a process lived."""
    trace = process_report.trace
    return Life(
        trace.host,
        trace.begin_s,
        trace.end_s,
        process_report.account.cpus,
        mask_of(trace.process.facts.get("cpus")),
        float(trace.process.header["cpus_quota"]),
    )


def mask_of(text: str | None) -> int | None:
    """A list of CPUs such as `0-3,8` as bits; None for what is none."""
    mask = 0
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        low, high = _cpu(first), _cpu(last or first)
        if low is None or high is None or high < low:
            return None
        mask |= (1 << high + 1) - (1 << low)
    return mask


# Linux can be built for this many.
_MOST_CPUS = 8192


def _cpu(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= 4
    return int(text) if is_number and int(text) < _MOST_CPUS else None


def _seconds_of_group(parts: Sequence[ProcessReport], lives: Sequence[Life], room: float) -> Seconds:
    """Core seconds by share of processes that lived beside each other; together they are `room`.

    Each process was accounted as if it had its CPUs alone. Where several had the same ones, what ran on a CPU comes first,
    then what waited in regions. A CPU that a process lacked and another of the job had is not lost: only the rest of the run
    delay counts. What is then left of the CPUs had no thread or worker of the job.
    """
    seconds_by_part = [_seconds(part) for part in parts]
    total = {name: sum(shares[name] for shares in seconds_by_part) for name in SHARES}
    if len(parts) == 1 or sum(total.values()) <= room:
        return {**total, "unattributed": room - sum(total[name] for name in SHARES if name != "unattributed")}
    taken_by_share: Seconds = {}
    left = _take_share(taken_by_share, total, _ON_A_CPU, room)
    left = _take_share(taken_by_share, total, _IN_REGIONS, left)
    foreign = sum(
        max(part_seconds["run_delay"] - taken_s, 0.0)
        for part_seconds, taken_s in zip(seconds_by_part, _taken_by_others_s(parts, lives), strict=True)
    )
    left = _take_share(taken_by_share, {"run_delay": foreign}, ("run_delay",), left)
    for name in _IDLE:
        left = _take_share(taken_by_share, total, (name,), left)
    return {**taken_by_share, "unattributed": left}


def _seconds(process_report: ProcessReport) -> Seconds:
    capacity = process_report.account.cpus * process_report.account.wall_s
    return {name: share * capacity for name, share in process_report.account.shares.items()}


def _take_share(remaining: Seconds, wanted: Seconds, names: tuple[str, ...], room: float) -> float:
    """Give `names` what they want as far as there is room, in proportion; returns the room that is left."""
    total = sum(wanted[name] for name in names)
    scale = min(1.0, room / total) if total > 0 else 0.0
    remaining.update((name, wanted[name] * scale) for name in names)
    return max(room - total, 0.0)


def _taken_by_others_s(parts: Sequence[ProcessReport], lives: Sequence[Life]) -> list[float]:
    """For each process, the CPU time of the others while it lived, as far as it was on CPUs that this one lacked.

    With CPUs enough for the threads of all, others take none. With more threads than CPUs, the part of the others' threads
    that there is no CPU left for runs in the place of this process's.
    """
    rates = [
        part.busy_s / life.length if life.length > 0 else 0.0 for part, life in zip(parts, lives, strict=True)
    ]
    threads = [float(part.threads) for part in parts]
    rates_beside = zip(mean_beside(lives, rates), mean_beside(lives, threads), strict=True)
    taken_list = []
    for part, life, rate, (busy, all_threads) in zip(parts, lives, rates, rates_beside, strict=True):
        others = all_threads - part.threads
        threads_too_many = min(max(all_threads - life.cpus, 0.0), others)
        crowding = threads_too_many / others if others > 0 else 0.0
        taken_list.append(crowding * max(busy - rate, 0.0) * life.length)
    return taken_list


def _shares(seconds: Seconds, capacity: float) -> dict[str, float]:
    if capacity <= 0:
        return {**dict.fromkeys(SHARES, 0.0), "unattributed": 1.0}
    # Lives of some nanoseconds, long after the first one, are rounded by more than their billionth part.
    whole = max(capacity, sum(max(seconds[name], 0.0) for name in SHARES if name != "unattributed"))
    shares = {name: max(seconds[name], 0.0) / whole for name in SHARES}
    rounding = 1.0 - sum(shares.values())
    return {**shares, "unattributed": max(shares["unattributed"] + rounding, 0.0)}


def _by_host(lives: Sequence[Life]) -> list[list[int]]:
    by_host: dict[str | None, list[int]] = {}
    for at, life in enumerate(lives):
        by_host.setdefault(life.host, []).append(at)
    return list(by_host.values())


def _most_threads(lives: Sequence[Life], threads: Sequence[float]) -> int:
    return sum(
        int(most_at_a_time([lives[at] for at in host_lives], [threads[at] for at in host_lives]))
        for host_lives in _by_host(lives)
    )


def _threads_beside(lives: Sequence[Life], threads: Sequence[float]) -> list[float]:
    crowded = list(threads)
    for host_lives in _by_host(lives):
        for at, life_at in zip(
            host_lives,
            mean_beside([lives[at] for at in host_lives], [threads[at] for at in host_lives]),
            strict=True,
        ):
            crowded[at] = life_at
    return crowded

"""What the operating system's scheduler cost the program, and who had the CPUs meanwhile (docs/guide/kernel.md).

Here the threads of one host are numbered from 0, and so are groups of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from trimtab.model import Records, Run, SchedulerRecording
from trimtab.model.enumerations import Cause, SchedulerChargeKind, SchedulerThreadFlags, SchedulerWait
from trimtab.model.report import (
    Delays,
    Finding,
    Kernel,
    LateWaker,
    Preemptor,
    ScheduledProgram,
    ScheduledThread,
)

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_NS = 1e-9
# Rows of a list; one more row has the sums of all others.
_MOST_ROWS = 50
_MOST_THREADS = 200
_NAMED_IN_EVIDENCE = 3
_LEAST_SHARE_IN_EVIDENCE = 0.05
_ABOUT_LOST_CPUS = (Cause.CPU_CONTENTION, Cause.OVERSUBSCRIPTION)


def kernel_of(run: Run) -> Kernel | None:
    """The sums over all hosts that were recorded; None: none was."""
    hosts = [_Host(recording, processes_on(run, recording)) for recording in run.schedulers]
    if not hosts:
        return None
    waiting = sum(float(host.waiting_ns[host.is_own].sum()) for host in hosts)
    headers = [host.recording.header for host in hosts]
    return Kernel(
        observed_s=sum(host.recording.length_ns for host in hosts) * _NS,
        cpus=sum(int(header["cpus"]) for header in headers),
        busy_s=sum(int(header["busy_ns"]) for header in headers) * _NS,
        idle_s=sum(int(header["idle_ns"]) for header in headers) * _NS,
        running_s=sum(float(host.own_sum("running_ns")) for host in hosts) * _NS,
        waiting_s=waiting * _NS,
        switches=int(
            sum(host.own_sum("voluntary_switches") + host.own_sum("involuntary_switches") for host in hosts)
        ),
        preemptors=_preemptors(hosts, waiting),
        idle_though_ready_s=sum(float(host.idle_ns[host.is_own].sum()) for host in hosts) * _NS,
        unknown_s=sum(float(host.unknown_ns[host.is_own].sum()) for host in hosts) * _NS,
        wakeup_latency=_delays_of_own(hosts, SchedulerWait.WOKEN),
        preemption=_delays_of_own(hosts, SchedulerWait.PREEMPTED),
        programs=_programs(hosts),
        threads=_threads(hosts),
        late_wakers=_late_wakers(hosts),
        events=sum(int(header["events"]) for header in headers),
        lost=sum(int(header["lost"]) for header in headers),
        inferred=sum(int(header["inferred"]) for header in headers),
        recorder_s=sum(int(header["recorder_cpu_ns"]) for header in headers) * _NS,
        complete=all(header["is_ended"] for header in headers),
    )


def with_preemptors(findings: Iterable[Finding], kernel: Kernel | None) -> tuple[Finding, ...]:
    """The findings; those about lost CPUs say who had them."""
    text = "" if kernel is None else who_had_the_cpus(kernel)
    if not text:
        return tuple(findings)
    return tuple(
        replace(finding, evidence=f"{finding.evidence}; {text}")
        if finding.cause in _ABOUT_LOST_CPUS
        else finding
        for finding in findings
    )


def who_had_the_cpus(kernel: Kernel) -> str:
    """`meanwhile their CPUs ran hog (process 12) for 93 % of the waiting time`; empty where nobody had much of it."""
    named = [
        f"{preemptor.name}{'' if preemptor.pid is None else f' (process {preemptor.pid})'} for {preemptor.share:.0%}"
        for preemptor in kernel.preemptors[:_NAMED_IN_EVIDENCE]
        if preemptor.share >= _LEAST_SHARE_IN_EVIDENCE
    ]
    return f"meanwhile their CPUs ran {', '.join(named)} of the waiting time" if named else ""


def thread_texts(raw: NDArray[Any]) -> tuple[list[str], Integers]:
    """The distinct texts of a NUL-terminated field, and for each record the number of its text."""
    distinct, inverse = np.unique(
        np.ascontiguousarray(raw).view(f"S{raw.dtype.itemsize}"), return_inverse=True
    )
    texts = [bytes(value).split(b"\0", 1)[0].decode("utf-8", "replace") for value in distinct.tolist()]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return list(numbers), np.array([numbers[text] for text in texts], np.int64)[inverse.reshape(-1)]


def own_threads(recording: SchedulerRecording, processes: Iterable[int]) -> Mask:
    """Which threads are the program's: descendants of what the launcher started, and those of the run's `processes`."""
    pids = recording.threads["pid"]
    is_watched = (recording.threads["flags"] & np.uint32(SchedulerThreadFlags.WATCHED)) != 0
    own: Mask = is_watched | ((pids != 0) & np.isin(pids, list(processes)))
    return own


def processes_on(run: Run, recording: SchedulerRecording) -> set[int]:
    """The numbers of the run's processes on the host of `recording`; processes may not name their host."""
    return {process.pid for process in run.processes if process.host in ("", recording.host)}


class _Host:
    """One recording: its threads by program and process, and what each has waited."""

    def __init__(self, recording: SchedulerRecording, processes: Iterable[int]) -> None:
        self.recording = recording
        self.threads = recording.threads
        self.is_own = own_threads(recording, processes)
        self.program_names, self.program = thread_texts(self.threads["program"])
        self.charges = recording.charges
        self.waiter = self.charges["waiter"].astype(np.int64) - 1
        self.other = self.charges["other"].astype(np.int64) - 1
        self._account()

    @property
    def name(self) -> str:
        return self.recording.host

    def _account(self) -> None:
        """Time waited by thread. What ran, idle and unknown time add up to it.

        Waits that go on when the records were written have charges already, but are not counted: then the time waited is the
        sum of its parts. What the parts do not explain, as where charges.tt is damaged, is unknown.
        """
        counted_ns = self.figures("woken_ns") + self.figures("preempted_ns")
        has_run = self.charges["kind"] != SchedulerChargeKind.WOKE
        charged_ns = self.sums(self.waiter[has_run], self.charges["ns"][has_run])
        self.idle_ns = self.figures("idle_though_ready_ns")
        parts_ns = charged_ns + self.idle_ns + self.figures("unknown_ns")
        self.waiting_ns = np.maximum(counted_ns, parts_ns)
        self.unknown_ns = self.waiting_ns - charged_ns - self.idle_ns

    def figures(self, field: str) -> Floats:
        """A field of all threads; sums of these are exact up to 2 to the 53th, 104 days in nanoseconds."""
        return self.threads[field].astype(np.float64)

    def own_sum(self, field: str) -> float:
        return float(self.figures(field)[self.is_own].sum())

    def sums(self, numbers: Integers, values: NDArray[Any]) -> Floats:
        """For each thread the sum of its `values`."""
        return _sums(numbers, values, len(self.threads))

    @cached_property
    def process(self) -> Integers:
        """For each thread the number of its process. Threads with the same pid and program are of one process."""
        keys = (self.threads["pid"].astype(np.int64) << 32) | self.program
        return _numbered(keys)

    @cached_property
    def program_and_owner(self) -> Integers:
        """For each thread the number of its program; threads of the observed program are apart from others of that name."""
        return _numbered(self.program * 2 + ~self.is_own)

    def histogram(self, group: Integers, kind: SchedulerWait) -> Histogram:
        """How long the waits of each group of threads were; threads of group -1 are in none."""
        delays = self.recording.delays
        delays = delays[delays["kind"] == kind]
        of_group = group[delays["thread"].astype(np.int64) - 1]
        return Histogram(of_group, delays["longest_ns"].astype(np.int64), delays["count"].astype(np.float64))

    def delays(self, group: Integers, kind: SchedulerWait) -> list[Delays]:
        """The waits of each group of threads."""
        prefix = "woken" if kind == SchedulerWait.WOKEN else "preempted"
        is_in = group >= 0
        groups = int(group.max(initial=-1)) + 1
        longest = np.zeros(groups)
        np.maximum.at(longest, group[is_in], self.figures(f"longest_{prefix}_ns")[is_in])
        counts = np.bincount(group[is_in], self.figures(f"{prefix}_waits")[is_in], groups)
        sums = np.bincount(group[is_in], self.figures(f"{prefix}_ns")[is_in], groups)
        histogram = self.histogram(group, kind)
        return [
            delays_of(
                int(counts[at]), float(sums[at]), float(longest[at]), histogram.percentiles(at, (0.5, 0.99))
            )
            for at in range(groups)
        ]


class Histogram:
    """Waits by group and length."""

    def __init__(self, group: Integers, longest_ns: Integers, count: Floats) -> None:
        order = np.lexsort((longest_ns, group))
        self._group, self._longest = group[order], longest_ns[order]
        self._up_to = np.cumsum(count[order])

    def percentiles(self, group: int, shares: Sequence[float]) -> list[float | None]:
        """By nearest rank, in nanoseconds: the shortest length that at least this share of the waits does not exceed."""
        low, high = np.searchsorted(self._group, [group, group + 1])
        before = self._up_to[low - 1] if low else 0.0
        total = (self._up_to[high - 1] - before) if high > low else 0.0
        if total <= 0:
            return [None] * len(shares)
        # Half a wait less: a rank is a whole number, which the product may miss by the last bit.
        ranks = [max(np.ceil(share * total - 1e-6), 1.0) for share in shares]
        places = [
            min(low + int(np.searchsorted(self._up_to[low:high] - before, rank - 0.5)), high - 1)
            for rank in ranks
        ]
        return [float(self._longest[place]) for place in places]


def delays_of(count: int, sum_ns: float, longest_ns: float, percentiles_ns: Sequence[float | None]) -> Delays:
    """The waits of one group."""
    p50, p99 = (
        None if value is None or not count else min(value, longest_ns) * _NS for value in percentiles_ns
    )
    return Delays(count, sum_ns * _NS, p50, p99, longest_ns * _NS if count else None)


def _delays_of_own(hosts: Sequence[_Host], kind: SchedulerWait) -> Delays:
    """The waits of the program's threads on all hosts."""
    prefix = "woken" if kind == SchedulerWait.WOKEN else "preempted"
    parts: list[Records] = []
    for host in hosts:
        delays = host.recording.delays
        is_own = host.is_own[delays["thread"].astype(np.int64) - 1]
        parts.append(delays[(delays["kind"] == kind) & is_own])
    together = np.concatenate(parts)
    histogram = Histogram(
        np.zeros(len(together), np.int64),
        together["longest_ns"].astype(np.int64),
        together["count"].astype(np.float64),
    )
    longest = max(float(host.figures(f"longest_{prefix}_ns")[host.is_own].max(initial=0.0)) for host in hosts)
    return delays_of(
        int(sum(host.own_sum(f"{prefix}_waits") for host in hosts)),
        sum(host.own_sum(f"{prefix}_ns") for host in hosts),
        longest,
        histogram.percentiles(0, (0.5, 0.99)),
    )


@dataclass(frozen=True)
class _Sums:
    """Charges by group: time, part of it after preemptions, waits; `first` is the first thread of a group."""

    ns: Floats
    preempted_ns: Floats
    count: Floats
    first: Integers


def _charges_of_own(host: _Host, group: Integers) -> _Sums:
    """What the program's threads waited while threads of each group ran."""
    kind = host.charges["kind"]
    chosen = np.flatnonzero((kind != SchedulerChargeKind.WOKE) & host.is_own[host.waiter])
    of_group = group[host.other[chosen]]
    groups = int(group.max(initial=-1)) + 1
    ns = host.charges["ns"][chosen].astype(np.float64)
    is_preempted = kind[chosen] == SchedulerChargeKind.RAN_AFTER_PREEMPTION
    return _Sums(
        _sums(of_group, ns, groups),
        _sums(of_group, ns * is_preempted, groups),
        _sums(of_group, host.charges["count"][chosen], groups),
        _first_of(group),
    )


def _numbered(keys: Integers) -> Integers:
    """For each key its place among the distinct keys."""
    numbers: Integers = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers


def _sums(group: Integers, values: NDArray[Any], groups: int) -> Floats:
    """For each group the sum of its `values`."""
    sums: Floats = np.bincount(group, values.astype(np.float64), groups).astype(np.float64)
    return sums


def _first_of(group: Integers) -> Integers:
    """The first thread of each group."""
    return np.unique(group, return_index=True)[1].astype(np.int64)


def _preemptors(hosts: Sequence[_Host], waiting_ns: float) -> tuple[Preemptor, ...]:
    rows: list[Preemptor] = []
    for host in hosts:
        sums = _charges_of_own(host, host.process)
        for at in np.flatnonzero(sums.ns).tolist():
            first = int(sums.first[at])
            rows.append(
                Preemptor(
                    name=host.program_names[host.program[first]],
                    pid=int(host.threads["pid"][first]) or None,
                    host=host.name,
                    is_own=bool(host.is_own[first]),
                    time_s=float(sums.ns[at]) * _NS,
                    share=float(sums.ns[at]) / waiting_ns,
                    count=int(sums.count[at]),
                    preempted_s=float(sums.preempted_ns[at]) * _NS,
                )
            )
    rows.sort(key=lambda row: (-row.time_s, row.host, row.name, row.pid or 0))
    rest = rows[_MOST_ROWS:]
    if not rest:
        return tuple(rows)
    others = Preemptor(
        name=_others(rest),
        pid=None,
        host="",
        is_own=False,
        time_s=sum(row.time_s for row in rest),
        share=sum(row.share for row in rest),
        count=sum(row.count for row in rest),
        preempted_s=sum(row.preempted_s for row in rest),
    )
    return (*rows[:_MOST_ROWS], others)


def _others(rest: Sequence[Any]) -> str:
    """Name of the row that stands for the rows of `rest`."""
    return f"{len(rest)} others" if len(rest) != 1 else "1 other"


def _programs(hosts: Sequence[_Host]) -> tuple[ScheduledProgram, ...]:
    rows = [row for host in hosts for row in _programs_on(host)]
    rows.sort(key=lambda row: (not row.is_own, -row.running_s, row.host, row.name))
    rest = rows[_MOST_ROWS:]
    if not rest:
        return tuple(rows)
    return (*rows[:_MOST_ROWS], _other_programs(rest))


def _programs_on(host: _Host) -> list[ScheduledProgram]:
    group = host.program_and_owner
    first = _first_of(group)
    groups = len(first)
    has_pid = np.unique(host.process, return_index=True)[1]
    processes = np.bincount(group[has_pid], minlength=groups)
    threads = np.bincount(group, minlength=groups)
    running, voluntary, involuntary, moves = (
        np.bincount(group, host.figures(field), groups)
        for field in ("running_ns", "voluntary_switches", "involuntary_switches", "moves")
    )
    waiting = np.bincount(group, host.waiting_ns, groups)
    woken, preempted = host.delays(group, SchedulerWait.WOKEN), host.delays(group, SchedulerWait.PREEMPTED)
    is_active = (running > 0) | (waiting > 0) | (voluntary + involuntary > 0)
    return [
        ScheduledProgram(
            name=host.program_names[host.program[first[at]]],
            host=host.name,
            is_own=bool(host.is_own[first[at]]),
            processes=int(processes[at]),
            threads=int(threads[at]),
            running_s=float(running[at]) * _NS,
            switches=int(voluntary[at] + involuntary[at]),
            voluntary=int(voluntary[at]),
            involuntary=int(involuntary[at]),
            migrations=int(moves[at]),
            waiting_s=float(waiting[at]) * _NS,
            wakeup_latency=woken[at],
            preemption=preempted[at],
        )
        for at in np.flatnonzero(is_active).tolist()
    ]


def _other_programs(rest: Sequence[ScheduledProgram]) -> ScheduledProgram:
    return ScheduledProgram(
        name=_others(rest),
        host="",
        is_own=False,
        processes=sum(row.processes for row in rest),
        threads=sum(row.threads for row in rest),
        running_s=sum(row.running_s for row in rest),
        switches=sum(row.switches for row in rest),
        voluntary=sum(row.voluntary for row in rest),
        involuntary=sum(row.involuntary for row in rest),
        migrations=sum(row.migrations for row in rest),
        waiting_s=sum(row.waiting_s for row in rest),
        wakeup_latency=_together([row.wakeup_latency for row in rest]),
        preemption=_together([row.preemption for row in rest]),
    )


def _together(delays: Sequence[Delays]) -> Delays:
    """Sums and the longest; percentiles of several rows are not known."""
    longest = [delay.max_s for delay in delays if delay.max_s is not None]
    return Delays(
        sum(delay.count for delay in delays),
        sum(delay.sum_s for delay in delays),
        None,
        None,
        max(longest, default=None),
    )


def _threads(hosts: Sequence[_Host]) -> tuple[ScheduledThread, ...]:
    """Of the program; those that neither ran nor waited say nothing."""
    places = [
        (float(host.waiting_ns[at]), float(host.threads["running_ns"][at]), number, int(at))
        for number, host in enumerate(hosts)
        for at in _longest_waiting(host)
    ]
    places.sort(key=lambda place: (-place[0], -place[1], place[2:]))
    chosen = places[:_MOST_THREADS]
    rows: dict[tuple[int, int], ScheduledThread] = {}
    for number, host in enumerate(hosts):
        numbers = [at for *_, of_host, at in chosen if of_host == number]
        rows |= {(number, at): row for at, row in zip(numbers, _thread_rows(host, numbers), strict=True)}
    return tuple(rows[number, at] for *_, number, at in chosen)


def _longest_waiting(host: _Host) -> Integers:
    """The program's threads that are to be shown, of this host alone."""
    own = np.flatnonzero(host.is_own & ((host.waiting_ns > 0) | (host.threads["running_ns"] > 0)))
    order = np.lexsort((-host.figures("running_ns")[own], -host.waiting_ns[own]))
    return own[order[:_MOST_THREADS]]


def _thread_rows(host: _Host, numbers: Sequence[int]) -> list[ScheduledThread]:
    group = np.full(len(host.threads), -1, np.int64)
    group[list(numbers)] = np.arange(len(numbers))
    woken, preempted = host.delays(group, SchedulerWait.WOKEN), host.delays(group, SchedulerWait.PREEMPTED)
    names, name = thread_texts(host.threads["name"][list(numbers)])
    return [
        ScheduledThread(
            name=names[name[at]],
            program=host.program_names[host.program[number]],
            host=host.name,
            pid=int(host.threads["pid"][number]) or None,
            tid=int(host.threads["tid"][number]) or None,
            running_s=float(host.threads["running_ns"][number]) * _NS,
            voluntary=int(host.threads["voluntary_switches"][number]),
            involuntary=int(host.threads["involuntary_switches"][number]),
            migrations=int(host.threads["moves"][number]),
            waiting_s=float(host.waiting_ns[number]) * _NS,
            wakeup_latency=woken[at],
            preemption=preempted[at],
            idle_though_ready_s=float(host.idle_ns[number]) * _NS,
        )
        for at, number in enumerate(numbers)
    ]


def _late_wakers(hosts: Sequence[_Host]) -> tuple[LateWaker, ...]:
    """By the name of the process that woke, and the name of the threads that were woken."""
    rows: list[LateWaker] = []
    for host in hosts:
        chosen = np.flatnonzero((host.charges["kind"] == SchedulerChargeKind.WOKE) & host.is_own[host.waiter])
        names, name = thread_texts(host.threads["name"])
        keys = host.program[host.other[chosen]] << 32 | name[host.waiter[chosen]]
        distinct, inverse = np.unique(keys, return_inverse=True)
        ns = np.bincount(inverse.reshape(-1), host.charges["ns"][chosen].astype(np.float64), len(distinct))
        counts = np.bincount(
            inverse.reshape(-1), host.charges["count"][chosen].astype(np.float64), len(distinct)
        )
        rows += [
            LateWaker(
                host.program_names[key >> 32],
                names[key & 0xFFFFFFFF],
                host.name,
                float(waited) * _NS,
                int(count),
            )
            for key, waited, count in zip(distinct.tolist(), ns, counts, strict=True)
        ]
    rows.sort(key=lambda row: (-row.time_s, row.host, row.name, row.woken))
    rest = rows[_MOST_ROWS:]
    if not rest:
        return tuple(rows)
    others = LateWaker(_others(rest), "", "", sum(row.time_s for row in rest), sum(row.count for row in rest))
    return (*rows[:_MOST_ROWS], others)

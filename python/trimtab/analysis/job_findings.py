"""Findings of a run with several processes: those of each process, put together, and those about the processes as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from trimtab.analysis.findings import finding
from trimtab.analysis.job import Job
from trimtab.analysis.lives import groups_of, longest_chain
from trimtab.analysis.process_report import ProcessReport
from trimtab.analysis.traffic import waited_since
from trimtab.counted import counted
from trimtab.model.enumerations import Cause
from trimtab.model.report import Finding

# As for one process: what gives back less is noise, and so is an imbalance below this ratio of most to mean.
_LEAST_GAIN_SHARE = 0.01
_IMBALANCE = 1.10
# Processes that begin together do so within this part of the longest one's life.
_BEGUN_TOGETHER = 0.1
# The others wait for a locality that itself waits less than this part of what they do.
_LATE = 0.5
_LEAST_LOCALITIES = 2
_OPERATIONS = ("barrier", "broadcast", "reduce")
_COLLECTIVE_WAIT = "/parcels/time/collective-wait"
# Remedies that would be wrong where other processes of the job use the CPUs.
_WANTS_THE_CPUS = (Cause.FEW_THREADS, Cause.FEW_WORKERS)


def job_findings(job: Job) -> list[Finding]:
    """All that apply, largest gain first; each names the processes that it is about in `processes`."""
    if len(job.parts) == 1:
        return [replace(finding, processes=(job.parts[0].id,)) for finding in job.parts[0].findings]
    findings = [
        *_of_processes(job),
        *_too_many_threads(job),
        *_other_programs(job),
        *uneven_processes(job, _IMBALANCE),
        *_late_localities(job),
    ]
    least_gain_s = _LEAST_GAIN_SHARE * job.observed_s
    return sorted(
        (finding for finding in findings if finding.gain_s >= least_gain_s),
        key=lambda finding: -finding.gain_s,
    )


def _of_processes(job: Job) -> Iterator[Finding]:
    """What holds processes by themselves: the same cause at the same place in several of them is one finding."""
    by_cause: dict[tuple[Cause, str | None], list[tuple[int, Finding]]] = {}
    for at, part in enumerate(job.parts):
        for entry in part.findings:
            if not _is_contradicted(entry.cause, part, job.beside[at]):
                by_cause.setdefault((entry.cause, entry.subject), []).append((at, entry))
    for members in by_cause.values():
        yield _together(job, members)


def _is_contradicted(cause: Cause, part: ProcessReport, beside_s: float) -> bool:
    """Whether the other processes of the job, which use the same CPUs, make a finding of one process alone untrue."""
    if cause in _WANTS_THE_CPUS:
        return beside_s + 0.5 > part.account.cpus and beside_s > part.threads
    return cause is Cause.CPU_CONTENTION and beside_s > part.account.cpus + 0.5


def _together(job: Job, members: list[tuple[int, Finding]]) -> Finding:
    """gain = the greatest sum of gains over processes that ran one after another: beside each other they do not add up."""
    members = sorted(members, key=lambda member: -member[1].gain_s)
    at, largest_finding = members[0]
    label = job.parts[at].label
    if len(members) > 1:
        label = f"in {len(members)} of {len(job.parts)} processes, most in {label}"
    gain = longest_chain(
        [job.lives[at] for at, _ in members], [member_finding.gain_s for _, member_finding in members]
    )
    return replace(
        largest_finding,
        evidence=f"{label}: {largest_finding.evidence}",
        gain_s=gain,
        gain_high_s=gain * largest_finding.gain_high_s / largest_finding.gain_s
        if largest_finding.gain_s > 0
        else gain,
        processes=tuple(job.parts[at].id for at, _ in members),
    )


def _crowded(job: Job) -> list[int]:
    """The processes whose CPUs have more threads than they can run only because of the other processes."""
    return [
        at
        for at, part in enumerate(job.parts)
        if job.beside[at] > part.account.cpus + 0.5 >= part.threads and job.beside[at] > part.threads + 0.5
    ]


def _too_many_threads(job: Job) -> Iterator[Finding]:
    """gain = (barrier wait + arrival) share of the job's time; what else they took from each other was not lost."""
    crowded = _crowded(job)
    if not crowded:
        return
    most_crowded = max(crowded, key=lambda at: job.beside[at])
    cpus = job.parts[most_crowded].account.cpus
    share = job.shares["barrier_wait"] + job.shares["arrival"]
    yield replace(
        finding(
            Cause.OVERSUBSCRIPTION,
            None,
            f"{counted(len(crowded), 'process')} at the same time with {job.beside[most_crowded]:.3g} threads together on average "
            f"share {counted(cpus, 'CPU')}: {share:.0%} of the core time went to barriers and arrival",
            "give each process fewer threads (OMP_NUM_THREADS = CPUs / processes), or run the processes one after another",
            share * job.observed_s,
        ),
        processes=tuple(job.parts[at].id for at in crowded),
    )


def _other_programs(job: Job) -> Iterator[Finding]:
    """gain = run delay share of the job's time: what the processes of the job do not explain."""
    crowded = _crowded(job)
    if not crowded:
        return
    delay = job.shares["run_delay"] * job.capacity_s
    yield replace(
        finding(
            Cause.CPU_CONTENTION,
            None,
            f"threads were ready to run but had no CPU for {delay:.3g} s more than the {counted(len(crowded), 'process')} "
            "took from each other",
            "run when the machine is free, or give this job CPUs of its own (taskset, cpuset)",
            job.shares["run_delay"] * job.observed_s,
        ),
        processes=tuple(job.parts[at].id for at in crowded),
    )


def uneven_processes(job: Job, least_ratio: float) -> Iterator[Finding]:
    """gain = (most work - mean work) / threads of processes of one program that ran beside each other.

    Args:
        least_ratio: of most to mean.
    """
    for group in groups_of(job.lives):
        by_place: dict[str, list[int]] = {}
        for at in group:
            by_place.setdefault(job.parts[at].trace.name, []).append(at)
        for members in by_place.values():
            together = _begun_together(job, members)
            if len(together) > 1:
                yield from _uneven(job, together, least_ratio)


def _begun_together(job: Job, members: Sequence[int]) -> list[int]:
    """Those that began when the longest of them did: a program that is started again and again is no team."""
    longest = max((job.lives[at] for at in members), key=lambda life: life.length)
    latest_begin = _BEGUN_TOGETHER * longest.length
    return [at for at in members if abs(job.lives[at].begin - longest.begin) <= latest_begin]


def _uneven(job: Job, members: Sequence[int], least_ratio: float) -> Iterator[Finding]:
    work = {at: _work_s(job.parts[at]) for at in members}
    most_working, least_working = max(members, key=lambda at: work[at]), min(members, key=lambda at: work[at])
    mean = sum(work.values()) / len(work)
    if mean <= 0 or work[most_working] < least_ratio * mean:
        return
    yield replace(
        finding(
            Cause.PROCESS_IMBALANCE,
            None,
            f"{job.parts[most_working].label} works {work[most_working] / mean:.2f} times as long as the mean of {len(members)} processes "
            f"({work[least_working]:.3g} s to {work[most_working]:.3g} s of work, divided by each one's threads)",
            "divide the work evenly among the processes, or give those with more work more threads",
            work[most_working] - mean,
        ),
        processes=tuple(job.parts[at].id for at in sorted(members, key=lambda at: -work[at])),
    )


def _late_localities(job: Job) -> Iterator[Finding]:
    """gain = mean wait of all localities in collective operations - that of the one for which the others wait."""
    # One that has never waited has written nothing.
    waits = {
        at: traffic.totals.get(_COLLECTIVE_WAIT, 0.0)
        for at, part in enumerate(job.parts)
        if (traffic := part.traffic) is not None
    }
    if len(waits) < _LEAST_LOCALITIES:
        return
    late = min(waits, key=lambda at: waits[at])
    others = [wait for at, wait in waits.items() if at != late]
    mean_of_others = sum(others) / len(others)
    if mean_of_others <= 0 or waits[late] > _LATE * mean_of_others:
        return
    yield replace(
        finding(
            Cause.LATE_LOCALITY,
            None,
            f"the other {counted(len(others), 'process')} waited {mean_of_others:.3g} s on average in collective operations"
            f"{_in_operations(job, [at for at in waits if at != late])}, {job.parts[late].label} only {waits[late]:.3g} s: the others "
            f"waited for it{_longest_and_since(job, waits, late)}",
            "give that locality less work, or let the others do something else until it comes (async and futures instead of "
            "a barrier)",
            sum(waits.values()) / len(waits) - waits[late],
        ),
        processes=(job.parts[late].id,),
    )


def _in_operations(job: Job, parts: Sequence[int]) -> str:
    """` (barrier 2 s, reduce 0.1 s)`: of those that waited, on average; nothing for runs that do not tell them apart."""
    waited = {
        operation: sum(
            traffic.totals.get(f"/parcels/time/{operation}-wait", 0.0)
            for at in parts
            if (traffic := job.parts[at].traffic) is not None
        )
        / len(parts)
        for operation in _OPERATIONS
    }
    texts = [f"{operation} {wait:.3g} s" for operation, wait in waited.items() if wait > 0]
    return f" ({', '.join(texts)})" if texts else ""


def _longest_and_since(job: Job, waits: Mapping[int, float], late: int) -> str:
    """Who waited longest, for how long, and when most of it began: `; rank 2 (app) longest, 3 s, most of it from 4 s on`."""
    longest = max((at for at in waits if at != late), key=lambda at: waits[at])
    part = job.parts[longest]
    origin = min(life.begin for life in job.lives)
    since = waited_since(part.process, _COLLECTIVE_WAIT)
    text = f"; {part.label} longest, {waits[longest]:.3g} s" if len(waits) > _LEAST_LOCALITIES else ""
    if since is None:
        return text
    return f"{text}; most of it from {job.lives[longest].begin - origin + since:.3g} s of the run on"


def _work_s(part: ProcessReport) -> float:
    """Its work if its threads shared it evenly: what the others wait for."""
    account = part.account
    return account.shares["work"] * account.cpus * account.wall_s / max(part.threads, 1)

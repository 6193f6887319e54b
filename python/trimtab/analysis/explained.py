"""Findings with the chain of waits behind them, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from trimtab.analysis.chains import Chain, Link
from trimtab.analysis.job import Job
from trimtab.analysis.lane_words import DOINGS, RESUMINGS
from trimtab.analysis.process_report import ProcessReport
from trimtab.analysis.task_findings import SUSPENDED_ACTIONS
from trimtab.counted import counted
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause, Cause, WaitCause
from trimtab.model.report import Finding, LongestWait
from trimtab.traces.intervals import Doing, Kind

# What waits are charged to where a finding's cause is at work.
_CAUSES = {
    Cause.IMBALANCE: (BlameCause.IMBALANCE, BlameCause.STRAGGLER, BlameCause.LAST_ARRIVAL),
    Cause.STRAGGLER: (BlameCause.STRAGGLER,),
    Cause.ORDERED: (BlameCause.DEPENDENCE_CHAIN,),
    Cause.LOCK_CONTENTION: (BlameCause.LOCK_HOLDER,),
    Cause.SERIAL_PART: (BlameCause.SERIAL_PART,),
    Cause.OVERSUBSCRIPTION: (BlameCause.PREEMPTION,),
    Cause.CPU_CONTENTION: (BlameCause.PREEMPTION,),
    Cause.THROTTLING: (BlameCause.PREEMPTION,),
    Cause.STARVATION: (BlameCause.DEPENDENCE_CHAIN, BlameCause.LAST_ARRIVAL, BlameCause.SPAWN_RATE),
    Cause.TASK_CHAIN: (BlameCause.DEPENDENCE_CHAIN,),
    Cause.ONE_PRODUCER: (BlameCause.SPAWN_RATE,),
    Cause.LATE_WAKE_UPS: (BlameCause.WAKEUP_LATENCY,),
    Cause.LONG_TASK: (BlameCause.STRAGGLER, BlameCause.LAST_ARRIVAL),
    Cause.SUSPENDED_TASKS: (BlameCause.DEPENDENCE_CHAIN, BlameCause.LOCK_HOLDER),
    Cause.LATE_LOCALITY: (BlameCause.DEPENDENCE_CHAIN,),
    Cause.PROCESS_IMBALANCE: (BlameCause.DEPENDENCE_CHAIN,),
    Cause.QUEUED_PARCELS: (BlameCause.QUEUED_MESSAGE,),
}
# Tasks of a chain that are named beside its two last ones.
_TASKS_IN_WORDS = 3
# Whose first process is the one that the others wait for.
_OF_A_PROCESS = (Cause.LATE_LOCALITY, Cause.PROCESS_IMBALANCE)


def with_chains(findings: Sequence[Finding], job: Job) -> list[Finding]:
    """Each with its chain, where all events are there."""
    diagnosis = job.diagnosis
    if diagnosis is None:
        return list(findings)
    return [_explained(finding, job, _longest(finding, job, diagnosis.chains)) for finding in findings]


def _explained(finding: Finding, job: Job, chain: Chain | None) -> Finding:
    if chain is None:
        return finding
    first = chain.links[0]
    process = job.parts[first.process]
    # Chains of several processes are on the clock of the job.
    origin_ns = 0 if job.only_part is not None else round(process.trace.begin_ns)
    begin_s, end_s = ((at - origin_ns) * 1e-9 for at in (chain.begin_ns, chain.end_ns))
    wait = LongestWait(process.id, first.lane, begin_s, end_s)
    return replace(finding, chain=tuple(_sentences(job, chain)), longest_wait=wait)


def _longest(finding: Finding, job: Job, chains: Sequence[Chain]) -> Chain | None:
    """The longest wait for this cause, at the finding's place if waits there are known."""
    wanted = _causes_behind(finding)
    fitting = [chain for chain in chains if chain.cause in wanted]
    here = [chain for chain in fitting if finding.subject in _names(job.parts[chain.process], chain)]
    if finding.cause in _OF_A_PROCESS:
        fitting = [chain for chain in fitting if job.parts[chain.process].id == finding.processes[0]]
    if finding.cause == Cause.TASK_CHAIN:
        here = [chain for chain in here if chain.tasks] or here
    if not (candidates := here or (fitting if finding.subject is None else [])):
        return None
    return min(candidates, key=lambda chain: (chain.begin_ns - chain.end_ns, chain.begin_ns))


def _causes_behind(finding: Finding) -> tuple[BlameCause, ...]:
    """Of the waits that a finding is about."""
    if finding.action == SUSPENDED_ACTIONS[WaitCause.MUTEX]:
        return (BlameCause.LOCK_HOLDER,)
    return _CAUSES.get(Cause(finding.cause), ())


def _name(process: ProcessReport, subject: int) -> str | None:
    return process.places[subject][0] if subject != NO_SUBJECT else None


def _names(process: ProcessReport, chain: Chain) -> tuple[str | None, ...]:
    """Of the place of a chain; of a lock also that of the region around it."""
    name = _name(process, chain.subject)
    subject = process.process.subjects.get(chain.subject)
    if chain.cause is not BlameCause.LOCK_HOLDER or subject is None or subject.parent is None:
        return (name,)
    return (name, _name(process, subject.parent))


def _sentences(job: Job, chain: Chain) -> list[str]:
    length, begin = _time(chain.end_ns - chain.begin_ns), _time(chain.begin_ns)
    first, *others = chain.links
    sentences = [f"{_lane(job, first)} {_words(job, first)}, for {length} from {begin} on"]
    if chain.tasks:
        return [*sentences, *_chained_tasks(job, chain)]
    for link in others:
        sentences.append(
            f"meanwhile {_lane(job, link)} {_words(job, link)}, for {_time(link.end_ns - link.begin_ns)}"
        )
    if first.group.doing is Doing.QUEUED and others:
        sentences[1] = sentences[1].replace("meanwhile", "the sender:", 1)
    if len(others) == 0 and first.group.doing is not Doing.TRANSIT:
        sentences.append("who ends that wait is not recorded")
    return sentences


def _chained_tasks(job: Job, chain: Chain) -> Iterator[str]:
    """From the task that ended the wait back to the one that ran when it began."""
    names = [
        f"{_name(job.parts[task.process], task.group.subject)} on {_lane(job, task)}" for task in chain.tasks
    ]
    ends = [_time(task.end_ns) for task in chain.tasks]
    yield f"it ends at {ends[-1]} with {names[-1]}, which became ready when {names[-2]} had ended, at {ends[-2]}"
    before = list(zip(names, ends, strict=True))[-3::-1]
    for name, end in before[:_TASKS_IN_WORDS]:
        yield f"that one became ready when {name} had ended, at {end}"
    if len(before) > _TASKS_IN_WORDS:
        yield f"before it {counted(len(before) - _TASKS_IN_WORDS, 'further task')} ran, each ready when the one before it had ended"
    state = "was running" if chain.tasks[0].begin_ns < chain.begin_ns else "was ready"
    yield f"{names[0]} {state} when the wait began, at {_time(chain.begin_ns)}"


def _lane(job: Job, link: Link) -> str:
    if job.only_part is not None:
        return f"lane {link.lane}"
    process = job.parts[link.process]
    rank = process.trace.rank
    return f"lane {link.lane} of {f'rank {rank}' if rank is not None else f'process {process.trace.pid}'}"


def _words(job: Job, link: Link) -> str:
    name = _name(job.parts[link.process], link.group.subject)
    words = DOINGS[link.group.doing][1]
    if link.kind is Kind.RESUMING:
        words = RESUMINGS.get(link.group.doing, "could go on and has not done it yet in")
    # Some phrases are whole without a place.
    return f"{words} {name}" if name is not None else words.removesuffix(" in").removesuffix(" of")


def _time(ns: int) -> str:
    return f"{ns * 1e-9:.3g} s" if ns >= 1_000_000_000 else f"{ns * 1e-6:.3g} ms"

"""Tasks that ran one after another while lanes had no ready task: a finding for each kind, also where other tasks ran beside them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from trimtab.analysis.changes import ChangeKind
from trimtab.analysis.diagnosis import Charge, Diagnosis
from trimtab.analysis.findings import finding
from trimtab.analysis.job import Job
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause, Cause
from trimtab.model.report import Finding

_LEAST_GAIN_SHARE = 0.01  # as for all findings
ACTION = (
    "break the chain: let each task depend only on the data that it needs, so that steps that do not need each other begin "
    "from the same input, or run several chains side by side; else begin the chain before the other tasks"
)


def chain_findings(job: Job, diagnosis: Diagnosis, wall_s: float) -> list[Finding]:
    """gain = time that lanes waited for the chain / lanes: they could share its tasks. A replay takes its place where there is one."""
    lanes = max(len(diagnosis.work_s), 1)
    findings = []
    for (process, subject), waited_s in _waits(diagnosis).items():
        if waited_s / lanes < _LEAST_GAIN_SHARE * wall_s:
            continue
        part = job.parts[process]
        chain = finding(
            Cause.TASK_CHAIN,
            part.places[subject][0],
            f"lanes had no ready task for {waited_s:.3g} s while tasks of this kind ran one after another, each ready only "
            "when another one had ended",
            ACTION,
            waited_s / lanes,
        )
        findings.append(replace(chain, processes=(part.id,)))
    return findings


def _waits(diagnosis: Diagnosis) -> dict[tuple[int, int], float]:
    """By process and kind of task: lane time that was lost to a chain of them."""
    sums: dict[tuple[int, int], float] = {}
    for charge in diagnosis.charges:
        if _is_chain(charge, diagnosis):
            key = (charge.process, charge.subject)
            sums[key] = sums.get(key, 0.0) + charge.seconds
    return sums


def _is_chain(charge: Charge, diagnosis: Diagnosis) -> bool:
    """Not waits for children, or for tasks of another kind."""
    if charge.cause is not BlameCause.DEPENDENCE_CHAIN or charge.subject == NO_SUBJECT:
        return False
    return charge.is_chained or _is_replayed(charge, diagnosis)


def _is_replayed(charge: Charge, diagnosis: Diagnosis) -> bool:
    """Whether tasks of that kind wait for each other, and the run would be shorter if they did not."""
    predictions = diagnosis.predictions
    if predictions is None or charge.share == "no_core":
        return False
    subjects = predictions.subjects
    return any(
        change.kind is ChangeKind.NO_CHAIN
        and change.saved_s >= _LEAST_GAIN_SHARE * diagnosis.span_s
        and (subjects[change.subject] if subjects else (0, change.subject))
        == (charge.process, charge.subject)
        for change in predictions.changes
    )


def besides_chains(findings: Sequence[Finding], job: Job) -> list[Finding]:
    """Without what chains explain of imbalance, since chance says which lane runs their tasks, and of too few ready tasks."""
    chains = [entry for entry in findings if entry.cause == Cause.TASK_CHAIN and entry.subject is not None]
    regions_s: dict[str, float] = {}
    for entry in chains:
        for region in _regions_around(job, entry):
            regions_s[region] = regions_s.get(region, 0.0) + entry.gain_s
    remaining = []
    for entry in findings:
        less_s = 0.0
        if entry.cause == Cause.IMBALANCE:
            less_s = regions_s.get(entry.subject or "", 0.0)
        if entry.cause == Cause.STARVATION:
            less_s = sum(chain.gain_s for chain in chains if set(chain.processes) & set(entry.processes))
        if less_s == 0.0:
            remaining.append(entry)
        elif entry.gain_s - less_s >= _LEAST_GAIN_SHARE * job.observed_s:
            remaining.append(_less(entry, less_s))
    return remaining


def _less(entry: Finding, less_s: float) -> Finding:
    return replace(
        entry,
        gain_s=entry.gain_s - less_s,
        gain_low_s=max(entry.gain_low_s - less_s, 0.0),
        gain_high_s=entry.gain_high_s - less_s,
    )


def _regions_around(job: Job, entry: Finding) -> set[str]:
    """The names of what the tasks of a finding are in."""
    names = set()
    for part in job.parts:
        subjects = part.process.subjects
        for number, subject in subjects.items() if part.id in entry.processes else ():
            if part.places[number][0] == entry.subject and subject.parent in subjects:
                names.add(part.places[subject.parent][0])
    return names

"""Gains of findings by replay, with their uncertainty, and the list of what would change the run's time."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from trimtab.analysis.blame import basis_of_replay
from trimtab.analysis.chain_findings import besides_chains, chain_findings
from trimtab.analysis.changes import ChangeKind, Prediction, Predictions
from trimtab.analysis.diagnosis import Diagnosis
from trimtab.analysis.findings import finding
from trimtab.analysis.job import Job
from trimtab.analysis.job_findings import uneven_processes
from trimtab.analysis.process_report import ProcessReport
from trimtab.analysis.task_findings import SUSPENDED_ACTIONS
from trimtab.counted import counted
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause, Cause, WaitCause
from trimtab.model.report import Finding, WhatIf

# Where the replay of the unchanged run is further off, it proves nothing.
_LARGEST_ERROR = 0.10
_LEAST_GAIN_SHARE = 0.01  # as for all findings
_CHANGES = {
    Cause.IMBALANCE: ChangeKind.BALANCED,
    Cause.STRAGGLER: ChangeKind.NO_STRAGGLERS,
    Cause.LOCK_CONTENTION: ChangeKind.NO_LOCK_WAITS,
    Cause.SERIAL_PART: ChangeKind.PARALLEL_SERIAL_PART,
    Cause.CPU_CONTENTION: ChangeKind.NO_PREEMPTION,
    Cause.FEW_WORKERS: ChangeKind.MORE_WORKERS,
    Cause.PROCESS_IMBALANCE: ChangeKind.SHARED_BY_PROCESSES,
    Cause.LATE_LOCALITY: ChangeKind.SHARED_BY_PROCESSES,
    Cause.LATE_WAKE_UPS: ChangeKind.NO_LATENCY,
    Cause.TASK_CHAIN: ChangeKind.NO_CHAIN,
    Cause.ONE_PRODUCER: ChangeKind.SHARED_MAKING,
    Cause.SUSPENDED_TASKS: ChangeKind.NO_LOCK_WAITS,
    Cause.QUEUED_PARCELS: ChangeKind.NO_MESSAGE_QUEUES,
}

# Changes that say more exactly what to do about a cause.
_ACTIONS = {
    Cause.IMBALANCE: (ChangeKind.DYNAMIC_SCHEDULE,),
    Cause.STRAGGLER: (ChangeKind.DYNAMIC_SCHEDULE, ChangeKind.SMALLER_GRAIN),
    Cause.LONG_TASK: (ChangeKind.SMALLER_GRAIN,),
}


def with_predictions(findings: Sequence[Finding], job: Job) -> list[Finding]:
    """Gains by replay where there is one, largest first; the others keep what their formula says, as the most they can be."""
    diagnosis = job.diagnosis
    if diagnosis is None or not _is_trusted(diagnosis):
        return list(findings)
    replayed = [*_stragglers(job, diagnosis), *_late_wake_ups(job, diagnosis)]
    if not any(entry.cause == Cause.TASK_CHAIN for entry in findings):
        replayed += chain_findings(job, diagnosis, _wall_s(job))
    if not any(entry.cause == Cause.QUEUED_PARCELS for entry in findings):
        replayed += _queued_messages(job, diagnosis)
    if not any(_CHANGES.get(Cause(entry.cause)) is ChangeKind.SHARED_BY_PROCESSES for entry in findings):
        replayed += _slightly_uneven_processes(job, diagnosis)
    predicted = [
        _with_replayed_action(_predicted(entry, job, diagnosis), job, diagnosis)
        for entry in [*findings, *replayed]
    ]
    return sorted(besides_chains(predicted, job), key=lambda entry: -entry.gain_s)


def _is_trusted(diagnosis: Diagnosis) -> bool:
    predictions = diagnosis.predictions
    return predictions is not None and abs(predictions.error) <= _LARGEST_ERROR


def _place(job: Job, predictions: Predictions, subject: int) -> tuple[ProcessReport, int] | None:
    """The process that a change's subject is of, and its number there; None: the change has none."""
    if subject == NO_SUBJECT:
        return None
    place, number = predictions.subjects[subject] if predictions.subjects else (0, subject)
    return job.parts[place], number


def _name(place: tuple[ProcessReport, int] | None) -> str | None:
    return place[0].places[place[1]][0] if place is not None else None


def _wall_s(job: Job) -> float:
    return job.only_part.account.wall_s if job.only_part is not None else job.observed_s


def _stragglers(job: Job, diagnosis: Diagnosis) -> list[Finding]:
    """gain = by replay with stragglers at their median, at most what all lanes could do while some waited; where most was waited."""
    waits = [
        charge
        for charge in diagnosis.charges
        if charge.cause is BlameCause.STRAGGLER and charge.share != "no_core"
    ]
    waited_s = sum(charge.seconds for charge in waits)
    # Long tasks that nobody waits for are work.
    saved_s = min(_saved_s(diagnosis, ChangeKind.NO_STRAGGLERS), len(diagnosis.work_s) * waited_s)
    if not waits or saved_s < _LEAST_GAIN_SHARE * _wall_s(job):
        return []
    most = waits[0]
    process = job.parts[most.process]
    made = finding(
        Cause.STRAGGLER,
        process.places[most.subject][0] if most.subject != NO_SUBJECT else None,
        f"other lanes waited {waited_s:.3g} s for parts or tasks that take more than twice the median of their kind",
        "divide the longest work, or begin it first; schedule(dynamic) or tasks let others take what is left",
        saved_s,
    )
    return [replace(made, processes=(process.id,))]


def _late_wake_ups(job: Job, diagnosis: Diagnosis) -> list[Finding]:
    """gain = by replay in which steps begin as soon as they can; at the place where most time is lost to it."""
    waits = [charge for charge in diagnosis.charges if charge.cause is BlameCause.WAKEUP_LATENCY]
    saved_s = _saved_s(diagnosis, ChangeKind.NO_LATENCY)
    if not waits or saved_s < _LEAST_GAIN_SHARE * _wall_s(job):
        return []
    late, subject = diagnosis.wake_ups, waits[0].subject
    process = job.parts[waits[0].process]
    is_region = subject != NO_SUBJECT
    action = (
        "let threads that wait spin for longer (OMP_WAIT_POLICY=active, GOMP_SPINCOUNT, KMP_BLOCKTIME) if each has a CPU, "
        "or wait less often: fewer barriers (nowait), fewer and longer regions"
        if is_region
        else "wait less often: larger tasks, and enough of them that workers do not fall asleep in between"
    )
    made = finding(
        Cause.LATE_WAKE_UPS,
        process.places[subject][0] if is_region else None,
        f"{late.count} times lanes could go on and did so {late.p50_s * 1e6:.3g} us later in the median "
        f"(99th percentile {late.p99_s * 1e6:.3g} us), {late.total_s:.3g} s in all",
        action,
        saved_s,
    )
    return [replace(made, processes=(process.id,))]


def _queued_messages(job: Job, diagnosis: Diagnosis) -> list[Finding]:
    """gain = by replay in which messages leave the queues of their senders at once."""
    waits = [charge for charge in diagnosis.charges if charge.cause is BlameCause.QUEUED_MESSAGE]
    saved_s = _saved_s(diagnosis, ChangeKind.NO_MESSAGE_QUEUES)
    if not waits or diagnosis.queues is None or saved_s < _LEAST_GAIN_SHARE * _wall_s(job):
        return []
    waited_s = sum(charge.seconds for charge in waits)
    places = sorted({charge.waiting for charge in waits})
    made = finding(
        Cause.QUEUED_PARCELS,
        None,
        f"workers had no task for {waited_s:.3g} s while messages for them waited in the queues of their senders: {diagnosis.queues}",
        diagnosis.queues.action,
        saved_s,
    )
    return [replace(made, processes=tuple(job.parts[place].id for place in places))]


def _slightly_uneven_processes(job: Job, diagnosis: Diagnosis) -> list[Finding]:
    """gain = by replay in which processes share the work: where all wait for one, a little more work of it is lost by all."""
    if _saved_s(diagnosis, ChangeKind.SHARED_BY_PROCESSES) < _LEAST_GAIN_SHARE * _wall_s(job):
        return []
    return list(uneven_processes(job, 1.0))


def _saved_s(diagnosis: Diagnosis, kind: ChangeKind) -> float:
    changes = diagnosis.predictions.changes if diagnosis.predictions is not None else ()
    return max((one.saved_s for one in changes if one.kind is kind), default=0.0)


def _predicted(entry: Finding, job: Job, diagnosis: Diagnosis) -> Finding:
    predictions = diagnosis.predictions
    change = _change_for(entry, job, predictions) if predictions is not None else None
    if predictions is None or change is None:
        return entry
    gain_s = max(change.saved_s, 0.0)
    if entry.cause is Cause.STRAGGLER:
        gain_s = min(gain_s, entry.gain_s)
    margin_s = abs(predictions.error) * diagnosis.span_s
    return replace(
        entry,
        gain_s=gain_s,
        gain_low_s=max(gain_s - margin_s - change.high_s, 0.0),
        gain_high_s=gain_s + margin_s + change.low_s,
    )


def _change_for(entry: Finding, job: Job, predictions: Predictions) -> Prediction | None:
    """What takes the cause away, at the finding's place; of a finding without a place, where it saves most."""
    kind = _CHANGES.get(Cause(entry.cause))
    if entry.cause is Cause.SUSPENDED_TASKS and entry.action != SUSPENDED_ACTIONS[WaitCause.MUTEX]:
        return None
    changes = [change for change in predictions.changes if change.kind is kind]
    if entry.cause is Cause.FEW_WORKERS:
        changes = _as_many_as_cpus(changes, entry, job)
    here = [
        change
        for change in changes
        if entry.subject is None
        or change.subject == NO_SUBJECT
        or _name(_place(job, predictions, change.subject)) == entry.subject
    ]
    return max(here, key=lambda change: change.saved_s, default=None)


def _as_many_as_cpus(changes: Sequence[Prediction], known: Finding, job: Job) -> list[Prediction]:
    """The most further workers that were tried and have CPUs; one at least."""
    parts = [part for part in job.parts if part.id in known.processes] or list(job.parts)
    free = max(int(part.account.cpus) - len(part.workers) for part in parts)
    counts = [change.count for change in changes if change.count <= max(free, 1)]
    return [change for change in changes if change.count == max(counts, default=0)]


def _with_replayed_action(entry: Finding, job: Job, diagnosis: Diagnosis) -> Finding:
    """With the schedule or the grain that saves most at that place, where a replay says that one saves something."""
    predictions, cause = diagnosis.predictions, Cause(entry.cause)
    if predictions is None or cause not in _ACTIONS or entry.subject is None:
        return entry
    chosen = [
        change
        for change in predictions.changes
        if change.kind in _ACTIONS[cause]
        and entry.subject in _names_around(_place(job, predictions, change.subject))
        and change.saved_s >= _LEAST_GAIN_SHARE * _wall_s(job)
    ]
    if not chosen:
        return entry
    best = max(chosen, key=lambda change: change.saved_s)
    name = _name(_place(job, predictions, best.subject))
    words = best.kind.value.format(subject=name, count=best.count)
    return replace(entry, action=f"{entry.action}; by replay: {words} saves {best.saved_s:.3g} s")


def _names_around(place: tuple[ProcessReport, int] | None) -> tuple[str, ...]:
    """The names of a subject and of what it is in."""
    if place is None:
        return ()
    process, number = place
    subjects, name = process.process.subjects, process.places[number][0]
    parent = subjects[number].parent if number in subjects else None
    return (name,) if parent is None or parent not in subjects else (name, process.places[parent][0])


def what_if_of(job: Job) -> tuple[WhatIf, ...]:
    """Of the processes that take part, together; shortest time first. Without changes where the replay is not trusted."""
    diagnosis = job.diagnosis
    if diagnosis is None or (predictions := diagnosis.predictions) is None:
        return ()
    wall_s = _wall_s(job)
    margin_s = abs(predictions.error) * wall_s
    unchanged = WhatIf(
        "nothing: the replay of this run",
        None,
        None,
        wall_s,
        max(wall_s - margin_s, 0.0),
        wall_s + margin_s,
        0.0,
        predictions.error,
        basis_of_replay(job),
    )
    if not _is_trusted(diagnosis):
        return (unchanged,)
    changes = [_what_if(change, job, unchanged, predictions) for change in predictions.changes]
    return unchanged, *sorted(changes, key=lambda entry: entry.predicted_s)


def _what_if(change: Prediction, job: Job, unchanged: WhatIf, predictions: Predictions) -> WhatIf:
    place = _place(job, predictions, change.subject)
    name = _name(place)
    workers = counted(change.count, "worker")
    predicted_s, margin_s = (
        unchanged.predicted_s - change.saved_s,
        abs(predictions.error) * unchanged.predicted_s,
    )
    return replace(
        unchanged,
        change=change.kind.value.format(
            subject=name,
            workers=workers if job.only_part is not None else f"in each process {workers}",
            count=change.count,
        ),
        subject=name,
        key=place[0].keys[place[1]] if place is not None else None,
        predicted_s=predicted_s,
        predicted_low_s=max(predicted_s - margin_s - change.low_s, 0.0),
        predicted_high_s=predicted_s + margin_s + change.high_s,
        gain_s=change.saved_s,
    )

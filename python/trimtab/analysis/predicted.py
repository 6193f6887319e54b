"""Gains of findings by replay, with their uncertainty, and the list of what would change the run's time."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from trimtab.analysis.changes import ChangeKind, Prediction, Predictions
from trimtab.analysis.diagnosis import Diagnosis
from trimtab.analysis.findings import finding
from trimtab.analysis.job import Job
from trimtab.analysis.process_report import ProcessReport
from trimtab.counted import counted
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause, Cause
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
    predicted = [
        _with_replayed_action(_predicted(known, job, diagnosis), job, diagnosis)
        for known in [*findings, *replayed]
    ]
    return sorted(predicted, key=lambda known: -known.gain_s)


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
    """gain = by replay with stragglers at their median; where most time was waited for them."""
    waits = [charge for charge in diagnosis.charges if charge.cause is BlameCause.STRAGGLER]
    saved_s = _saved_s(diagnosis, ChangeKind.NO_STRAGGLERS)
    if not waits or saved_s < _LEAST_GAIN_SHARE * _wall_s(job):
        return []
    most = waits[0]
    process = job.parts[most.process]
    waited_s = sum(charge.seconds for charge in waits)
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


def _saved_s(diagnosis: Diagnosis, kind: ChangeKind) -> float:
    changes = diagnosis.predictions.changes if diagnosis.predictions is not None else ()
    return max((one.saved_s for one in changes if one.kind is kind), default=0.0)


def _predicted(known: Finding, job: Job, diagnosis: Diagnosis) -> Finding:
    predictions = diagnosis.predictions
    kind = _CHANGES.get(Cause(known.cause))
    if predictions is None or kind is None:
        return known
    for change in predictions.changes:
        is_same_place = change.subject == NO_SUBJECT or (
            _name(_place(job, predictions, change.subject)) == known.subject
        )
        if change.kind is kind and is_same_place:
            gain_s = max(change.saved_s, 0.0)
            margin_s = abs(predictions.error) * diagnosis.span_s
            return replace(
                known, gain_s=gain_s, gain_low_s=max(gain_s - margin_s, 0.0), gain_high_s=gain_s + margin_s
            )
    return known


def _with_replayed_action(known: Finding, job: Job, diagnosis: Diagnosis) -> Finding:
    """With the schedule or the grain that saves most at that place, where a replay says that one saves something."""
    predictions, cause = diagnosis.predictions, Cause(known.cause)
    if predictions is None or cause not in _ACTIONS or known.subject is None:
        return known
    chosen = [
        change
        for change in predictions.changes
        if change.kind in _ACTIONS[cause]
        and known.subject in _names_around(_place(job, predictions, change.subject))
        and change.saved_s >= _LEAST_GAIN_SHARE * _wall_s(job)
    ]
    if not chosen:
        return known
    best = max(chosen, key=lambda change: change.saved_s)
    name = _name(_place(job, predictions, best.subject))
    words = best.kind.value.format(subject=name, count=best.count)
    return replace(known, action=f"{known.action}; by replay: {words} saves {best.saved_s:.3g} s")


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
    )
    if not _is_trusted(diagnosis):
        return (unchanged,)
    changes = [_what_if(change, job, wall_s, predictions) for change in predictions.changes]
    return unchanged, *sorted(changes, key=lambda entry: entry.predicted_s)


def _what_if(change: Prediction, job: Job, wall_s: float, predictions: Predictions) -> WhatIf:
    place = _place(job, predictions, change.subject)
    name = _name(place)
    workers = counted(change.count, "worker")
    predicted_s, margin_s = wall_s - change.saved_s, abs(predictions.error) * wall_s
    return WhatIf(
        change.kind.value.format(
            subject=name,
            workers=workers if job.only_part is not None else f"in each process {workers}",
            count=change.count,
        ),
        name,
        place[0].keys[place[1]] if place is not None else None,
        predicted_s,
        max(predicted_s - margin_s - change.low_s, 0.0),
        predicted_s + margin_s + change.high_s,
        change.saved_s,
        predictions.error,
    )

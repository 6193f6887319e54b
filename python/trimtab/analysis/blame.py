"""Who is to blame for all idle core time: one entry a cause and subject; their shares add up to the idle share exactly.

Each share of the core time that is not work is divided in the proportions that the events of the processes say. Where there are no
events, what the tables of regions know takes their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from trimtab.analysis.account import SHARES
from trimtab.analysis.diagnosis import Charge, Diagnosis, PathShare
from trimtab.analysis.job import Job
from trimtab.analysis.plain_threads import LOOKS, idle_waits
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause
from trimtab.model.report import Blamed, Kernel, Pop, Region, RunPhase
from trimtab.model.report import PathPart as ReportedPart
from trimtab.traces import Trace

_WORK = "work"
# What a share is charged to where nothing more is known.
_USUAL = {
    "barrier_wait": BlameCause.LAST_ARRIVAL,
    "arrival": BlameCause.WAKEUP_LATENCY,
    "starved": BlameCause.DEPENDENCE_CHAIN,
    "serial": BlameCause.SERIAL_PART,
    "run_delay": BlameCause.PREEMPTION,
    "runtime": BlameCause.RUNTIME,
    "unattributed": BlameCause.UNATTRIBUTED,
}
# Where the events explain no more than this of a share, they say nothing of it.
_LEAST_SECONDS = 1e-9
# A share of the core time this small is what rounding leaves.
_ROUNDING = 1e-12
EVENTS, PROFILE = "events", "profile"
# Of the critical path behind the first event that found no room.
_NO_ROOM = "events found no room: a larger --max-trace keeps more"
_Key = tuple[BlameCause, str | None, str | None]
# Of `unattributed` where there are no events of it.
_NO_EVENTS = (
    "not seen in events: CPUs without a thread of the program, or threads that were blocked or not observed"
)


@dataclass(frozen=True)
class _Part:
    """A part of one share of the core time; `weight`: how large it is, compared with the other parts."""

    cause: BlameCause
    key: str | None
    name: str | None
    basis: str
    weight: float
    reason: str | None = None

    @property
    def sum_key(self) -> _Key:
        """Parts that have the same are one entry."""
        return self.cause, self.key, self.reason


def blame_of(job: Job, kernel: Kernel | None) -> tuple[Blamed, ...]:
    """Most first."""
    sums: dict[_Key, Blamed] = {}
    for name in SHARES:
        share = job.shares[name]
        if name == _WORK or share <= 0:
            continue
        parts = _parts_of(job, name, kernel)
        total = sum(part.weight for part in parts)
        for part in parts:
            _add(sums, part, share * part.weight / total, job.capacity_s)
    return tuple(
        sorted(
            sums.values(), key=lambda each: (-each.share, each.cause, each.subject or "", each.reason or "")
        )
    )


def _add(sums: dict[_Key, Blamed], part: _Part, share: float, capacity_s: float) -> None:
    before = sums.get(part.sum_key)
    bases = {part.basis} if before is None else {*before.basis.split(", "), part.basis}
    total = share + (before.share if before is not None else 0.0)
    sums[part.sum_key] = Blamed(
        cause=part.cause,
        subject=part.name,
        key=part.key,
        lane_time_s=total * capacity_s,
        share=total,
        basis=", ".join(sorted(bases)),
        reason=part.reason,
    )


def _parts_of(job: Job, name: str, kernel: Kernel | None) -> list[_Part]:
    """The parts of one share: at least one, and their weights add up to more than 0."""
    if name == "run_delay" and kernel is not None and (preemptors := list(_preemptors(kernel))):
        return preemptors
    parts = [part for place in range(len(job.parts)) for part in _of_process(job, place, name)]
    if sum(part.weight for part in parts) > 0:
        return parts
    return [_usual(name)]


def _usual(name: str) -> _Part:
    """What a share is charged to where nothing more is known."""
    cause = _USUAL[name]
    return _Part(cause, None, None, PROFILE, 1.0, _NO_EVENTS if cause is BlameCause.UNATTRIBUTED else None)


def _preemptors(kernel: Kernel) -> Iterator[_Part]:
    for row in kernel.preemptors:
        if row.share > 0:
            yield _Part(BlameCause.PREEMPTION, f"program {row.name}", row.name, EVENTS, row.share)
    if kernel.idle_though_ready_s > 0 and kernel.waiting_s > 0:
        yield _Part(
            BlameCause.WAKEUP_LATENCY, None, None, EVENTS, kernel.idle_though_ready_s / kernel.waiting_s
        )


def _of_process(job: Job, place: int, name: str) -> Iterator[_Part]:
    """The parts of one process: their weights add up to this share of its core time, seconds."""
    process = job.parts[place]
    account = process.account
    seconds = account.shares[name] * account.cpus * account.wall_s
    if seconds <= 0:
        return
    parts = list(_serial(job, place, seconds)) if name == "serial" else list(_by_events(job, place, name))
    parts = parts or (list(_by_regions(process.regions)) if name == "barrier_wait" else [])
    parts = parts or (list(_by_looks(process.trace)) if name == "unattributed" else [])
    parts = parts or [_usual(name)]
    total = sum(part.weight for part in parts)
    least = _ROUNDING * account.cpus * account.wall_s
    for part in parts:
        if (own := part.weight * seconds / total) > least:
            yield replace(part, weight=own)


def _by_looks(trace: Trace) -> Iterator[_Part]:
    """Of a program without lanes, what its threads waited for."""
    for wait in idle_waits(trace.process):
        if wait.cause is BlameCause.UNATTRIBUTED:
            yield _Part(wait.cause, None, None, LOOKS, wait.seconds, wait.text)
        else:
            yield _Part(wait.cause, wait.text, wait.text, LOOKS, wait.seconds)


def _by_events(job: Job, place: int, name: str) -> Iterator[_Part]:
    diagnosis = job.diagnosis
    if diagnosis is None:
        return
    basis = _basis(job.parts[place].trace, diagnosis)
    for charge in diagnosis.charges:
        if charge.share == name and charge.waiting == place and charge.seconds > _LEAST_SECONDS:
            subject, key = _named(job, charge)
            yield _Part(charge.cause, key, subject, basis, charge.seconds, charge.reason)


def _basis(trace: Trace, diagnosis: Diagnosis) -> str:
    """Events, and what they do not say."""
    if diagnosis.unknown_s > 0:
        known = diagnosis.span_s / (diagnosis.span_s + diagnosis.unknown_s)
        return f"{EVENTS} of the first {known:.0%} of the time"
    return EVENTS if trace.span.is_complete else f"{EVENTS} until {trace.span.wall_s:.3g} s (no end recorded)"


def basis_of_replay(job: Job) -> str:
    """Of what rests on the events of all processes together: critical path and replays."""
    diagnosis = job.diagnosis
    if diagnosis is None:
        return EVENTS
    bases = [_basis(job.parts[place].trace, diagnosis) for place in diagnosis.places]
    lacking = [basis for basis in bases if basis != EVENTS]
    if len(set(lacking)) > 1:
        return f"{EVENTS} (no end recorded of {len(lacking)} processes)"
    return lacking[0] if lacking else EVENTS


def _named(job: Job, item: Charge | PathShare) -> tuple[str | None, str | None]:
    """The name and the key of the subject of a charge."""
    if item.subject == NO_SUBJECT:
        return None, None
    process = job.parts[item.process]
    return process.places[item.subject][0], process.keys[item.subject]


def _serial(job: Job, place: int, seconds: float) -> Iterator[_Part]:
    """Outside of regions one thread works; what is left lies inside, where there were fewer lanes than CPUs."""
    account = job.parts[place].account
    outside = max(account.cpus - 1.0, 0.0) * max(account.wall_s - account.parallel_s, 0.0)
    if 0 < outside < seconds:
        yield _Part(BlameCause.TOO_FEW_WORKERS, None, None, PROFILE, seconds - outside)
    if outside <= 0 and account.parallel_s > 0:
        yield _Part(BlameCause.TOO_FEW_WORKERS, None, None, PROFILE, seconds)
        return
    events = list(_by_events(job, place, "serial"))
    together = sum(part.weight for part in events)
    rest = min(outside, seconds) if outside > 0 else seconds
    if not events:
        yield _Part(BlameCause.SERIAL_PART, None, None, PROFILE, rest)
    for part in events:
        yield replace(part, weight=part.weight / together * rest)


def _by_regions(regions: Iterable[Region]) -> Iterator[_Part]:
    """Waiting in regions: for locks, as far as the slowest lanes explain it for these, the rest for whoever came last."""
    for region in regions:
        locks = min(region.lock_wait_s, region.wait_s)
        excess = max(region.critical_path_s - region.mean_work_s, 0.0) * region.threads
        imbalance = min(excess, region.wait_s - locks)
        for cause, weight in (
            (BlameCause.LOCK_HOLDER, locks),
            (BlameCause.IMBALANCE, imbalance),
            (BlameCause.LAST_ARRIVAL, region.wait_s - locks - imbalance),
        ):
            if weight > _LEAST_SECONDS:
                yield _Part(cause, region.key, region.name, PROFILE, weight)


def _whole(job: Job) -> Diagnosis | None:
    """Of a job of which all processes that take part have events."""
    diagnosis = job.diagnosis
    return diagnosis if diagnosis is not None and len(diagnosis.places) == len(job.parts) else None


def path_of(job: Job) -> tuple[ReportedPart, ...]:
    """The critical path, through all processes that take part; empty where not all events of all of them are there."""
    diagnosis = _whole(job)
    if diagnosis is None:
        return ()
    whole_s, basis = diagnosis.span_s + diagnosis.unknown_s, basis_of_replay(job)
    parts = [
        ReportedPart(
            cause=part.cause,
            subject=(named := _named(job, part))[0],
            key=named[1],
            time_s=part.seconds,
            share=part.seconds / whole_s,
            reason=part.reason,
            basis=basis,
        )
        for part in diagnosis.path
    ]
    if diagnosis.unknown_s > 0:
        share = diagnosis.unknown_s / whole_s
        lost = ReportedPart(BlameCause.UNATTRIBUTED, None, None, diagnosis.unknown_s, share, _NO_ROOM, basis)
        parts = sorted([*parts, lost], key=lambda part: -part.time_s)
    return tuple(parts)


def phases_of_job(job: Job) -> tuple[RunPhase, ...]:
    """Stretches of time in which the lanes do something else than before; of the only process that takes part."""
    process, diagnosis = job.only_part, job.diagnosis
    if process is None or diagnosis is None:
        return ()
    return tuple(
        RunPhase(
            begin_s=phase.begin_ns * 1e-9,
            end_s=phase.end_ns * 1e-9,
            work=phase.work,
            cause=phase.cause,
            subject=process.places[phase.subject][0] if phase.subject != NO_SUBJECT else None,
            key=process.keys[phase.subject] if phase.subject != NO_SUBJECT else None,
            lost=phase.lost,
        )
        for phase in diagnosis.phases
    )


def pop_of(job: Job) -> Pop | None:
    """Efficiencies as the POP project has them, of all lanes that ran parts of regions or tasks."""
    diagnosis = _whole(job)
    if diagnosis is None or diagnosis.unknown_s > 0 or not (most := max(diagnosis.work_s, default=0.0)):
        return None
    mean = sum(diagnosis.work_s) / len(diagnosis.work_s)
    busy = sum(part.seconds for part in diagnosis.path if part.cause in (None, BlameCause.SERIAL_PART))
    return Pop(
        lanes=len(diagnosis.work_s),
        parallel_efficiency=mean / diagnosis.span_s,
        load_balance=mean / most,
        serialization=most / busy if busy > 0 else None,
        scheduling=busy / diagnosis.span_s,
        communication=most / diagnosis.span_s if diagnosis.has_messages else None,
    )

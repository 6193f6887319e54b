"""What is not known behind a report's claims, in words that stand in each claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from trimtab.analysis.job import Job
from trimtab.model.report import Finding


def with_limits(findings: Sequence[Finding], job: Job) -> tuple[Finding, ...]:
    """Each with what its evidence lacks: ends of processes that were killed, and events that found no room."""
    limits = "".join(f"; {limit}" for limit in _limits_of(job))
    return tuple(replace(finding, evidence=finding.evidence + limits) for finding in findings)


def _limits_of(job: Job) -> Iterator[str]:
    without_end = [part.trace.span.wall_s for part in job.parts if not part.trace.span.is_complete]
    if len(without_end) == 1:
        yield f"no end is recorded (killed, or it still runs): what was open is counted until {without_end[0]:.3g} s"
    elif without_end:
        yield (
            f"of {len(without_end)} processes no end is recorded (killed, or they still run): what was open is "
            "counted until the last sign of them"
        )
    diagnosis = job.diagnosis
    if diagnosis is not None and diagnosis.unknown_s > 0:
        known_s = diagnosis.span_s
        yield f"later events than {known_s:.3g} s found no room: who waited for whom is not known for the other {diagnosis.unknown_s:.3g} s"

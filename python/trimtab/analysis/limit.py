"""What limits a program, in one line: for whoever has found nothing that makes it faster."""

from __future__ import annotations

from collections.abc import Iterator

from trimtab.analysis.other_threads import other_threads
from trimtab.analysis.plain_threads import LOOKS
from trimtab.analysis.thread_scaling import saturated_regions
from trimtab.model.report import Report

# Of the core time.
_BALANCED = 0.9
# Of the time of a thread: more is spent waiting for files or other processes.
_MUCH_BLOCKED = 0.2


def limit_of(report: Report, fewer: Report | None = None) -> str:
    """The largest finding, or what takes most of the core time; that all threads are at work is a limit, too.

    `fewer`: of a run with fewer threads. Work that takes less CPU time there waits for memory, or for what else cores share.
    """
    if fewer is not None and (shared := next(_slower_together(report, fewer), "")):
        return shared
    if report.efficiency is not None and report.efficiency >= _BALANCED:
        return (
            f"the work is balanced: {report.efficiency:.0%} of the core time is work, so only less work, or memory that is read "
            "less often, makes it faster"
        )
    if report.findings:
        finding = report.findings[0]
        subject = "" if finding.subject is None else f" in {finding.subject}"
        return f"{finding.cause}{subject}: {finding.evidence}"
    return _without_findings(report)


def _without_findings(report: Report) -> str:
    others = other_threads(report)
    if not report.regions and others:
        cpus = report.cpus_available or 1.0
        used = report.os.cpu_s / max(report.observed_s, 1e-12)
        text = (
            f"threads that are not OpenMP's: on average {used:.2g} of {cpus:g} CPUs were used; the first thread used "
            f"{others.first_s:.3g} s of {others.cpu_s:.3g} s CPU time"
        )
        return text + next(_longest_wait(report), "")
    if not report.regions and report.os.cpu_s < (1 - _MUCH_BLOCKED) * report.observed_s:
        delay = _share(report, "run_delay") * (report.capacity_s or 0.0)
        blocked = max(report.observed_s - report.os.cpu_s - delay, 0.0)
        if blocked >= _MUCH_BLOCKED * report.observed_s:
            return (
                f"serial input and output, or waits for other processes: its only thread waited {blocked:.3g} s of "
                f"{report.observed_s:.3g} s"
            )
    if not report.regions and report.efficiency is not None:
        return f"serial part: one thread was at work, {report.os.cpu_s:.3g} s of {report.observed_s:.3g} s"
    if report.blame:
        return f"{report.blame[0].cause} takes {report.blame[0].share:.0%} of the core time"
    return "not known: no parallel work was observed"


def _longest_wait(report: Report) -> Iterator[str]:
    """What the threads waited for while most CPUs were idle."""
    for blamed in report.blame:
        if blamed.basis == LOOKS and blamed.share >= 1 - _BALANCED:
            yield f"; {blamed.share:.0%} of the core time: {blamed.subject or blamed.reason}"


def _share(report: Report, name: str) -> float:
    return (report.time or {}).get(name, 0.0)


def _slower_together(report: Report, fewer: Report) -> Iterator[str]:
    """The longest region whose work takes more CPU time with more threads."""
    for saturation in saturated_regions(report, fewer):
        region, alone = saturation.region, saturation.alone
        yield (
            f"probably memory bandwidth in {region.name}: {region.threads:.0f} threads need {saturation.times:.2f} times the time for "
            f"the same work that {alone.threads:.0f} need ({region.work_s:.3g} s and {alone.work_s:.3g} s in all), so more threads "
            "hardly help; read memory less often (blocking, smaller types)"
        )

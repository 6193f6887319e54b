"""What limits a program, in one line: for whoever has found nothing that makes it faster."""

from __future__ import annotations

from trimtab.model.report import Report

# Of the core time.
_BALANCED = 0.9


def limit_of(report: Report) -> str:
    """The largest finding, or what takes most of the core time; that all threads are at work is a limit, too."""
    if report.efficiency is not None and report.efficiency >= _BALANCED:
        return (
            f"the work is balanced: {report.efficiency:.0%} of the core time is work, so only less work, or memory that is read "
            "less often, makes it faster"
        )
    if report.findings:
        finding = report.findings[0]
        subject = "" if finding.subject is None else f" in {finding.subject}"
        return f"{finding.cause}{subject}: {finding.evidence}"
    if report.blame:
        return f"{report.blame[0].cause} takes {report.blame[0].share:.0%} of the core time"
    return "not known: no parallel work was observed"

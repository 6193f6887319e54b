"""Findings in full: what happened, how it is known, what to do, and what that would bring."""

from __future__ import annotations

from collections.abc import Iterator

from rich.markup import escape

from trimtab.model.enumerations import Cause
from trimtab.model.report import Finding, Report
from trimtab.text.blame import what_if_lines
from trimtab.text.console import output, table
from trimtab.text.units import gain_words, percent, seconds

# What Trimtab does itself about a cause.
_OWN_ACTIONS = {
    Cause.IMBALANCE: "`trimtab tune -- PROGRAM` tries other schedules and chunks of this loop, where its schedule can be changed",
    Cause.SMALL_CHUNKS: "`trimtab tune -- PROGRAM` tries larger chunks",
    Cause.SMALL_REGIONS: "`trimtab tune -- PROGRAM` tries fewer threads for this region, with --threads",
    Cause.OVERSUBSCRIPTION: "`trimtab run --threads fit -- PROGRAM` gives teams as many threads as there are free CPUs",
    Cause.CPU_CONTENTION: "`trimtab run --threads fit -- PROGRAM` gives teams as many threads as there are free CPUs",
    Cause.WAIT_POLICY: "`trimtab tune -- PROGRAM` tries other times of spinning",
    Cause.LATE_WAKE_UPS: "`trimtab tune -- PROGRAM` tries other times of spinning, where threads wait in regions",
    Cause.SMALL_TASKS: "`trimtab tune -- PROGRAM` tries a larger grain, where the program has a knob for it",
    Cause.SCHEDULING_POLICY: "`trimtab tune -- PROGRAM` tries the other scheduling policies",
    Cause.TINY_MESSAGES: "leave the setting out: the adaptive rules are the default",
    Cause.QUEUED_PARCELS: "leave the setting out: the adaptive rules are the default",
}


def finding_list(report: Report) -> None:
    """All findings with their numbers."""
    console = output()
    if not report.findings:
        console.print("no finding would give back 1 % of the time or more")
        return
    rows = table("finding", "could save", "of the run", "number")
    for number, finding in enumerate(report.findings, 1):
        share = percent(finding.gain_s / report.observed_s) if report.observed_s else ""
        rows.add_row(escape(_heading(finding)), gain_words(finding), share, str(number))
    console.print(rows)
    for line in what_if_lines(report):
        console.print(escape(line))
    console.print("`trimtab explain RUN NUMBER` explains one of them")


def explanation(report: Report, at: int) -> None:
    """One finding: evidence, chain of waits, action, gain, and what Trimtab can do itself."""
    console, finding = output(), report.findings[at]
    console.print(f"[bold]{at + 1}. {escape(_heading(finding))}[/]")
    for line in _lines(report, finding):
        console.print(f"  {escape(line)}")


def _heading(finding: Finding) -> str:
    return f"{finding.cause} at {finding.subject}" if finding.subject else str(finding.cause)


def _lines(report: Report, finding: Finding) -> Iterator[str]:
    yield f"evidence: {finding.evidence}"
    if finding.chain:
        yield "the longest wait for it:"
        yield from (f"  {sentence}" for sentence in finding.chain)
    elif report.level != "trace":
        yield "who waited for whom: record the run with --trace"
    yield f"what to do: {finding.action}"
    known = "by replay" if finding.gain_low_s > 0 else "by a formula, as the most that it can be"
    share = f", {percent(finding.gain_s / report.observed_s)} of the run" if report.observed_s else ""
    yield f"what that saves: {gain_words(finding)} of {seconds(report.observed_s)}{share} ({known})"
    if (action := _OWN_ACTIONS.get(Cause(finding.cause))) is not None:
        yield f"Trimtab: {action}"

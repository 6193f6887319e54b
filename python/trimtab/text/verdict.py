"""The lines at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from trimtab.analysis.other_threads import other_threads
from trimtab.counted import counted
from trimtab.model import TUNING_OF
from trimtab.model.enumerations import Missing
from trimtab.model.report import Decision, Report, Steering
from trimtab.text.blame import blame_lines
from trimtab.text.counters import energy_lines
from trimtab.text.cpu_use import cpu_use_lines
from trimtab.text.decisions import decision_line, lasting, rejected, rejected_line, summary
from trimtab.text.idle_regions import idle_region_line
from trimtab.text.kernel import kernel_lines
from trimtab.text.lines import Bold, Lines
from trimtab.text.network import network_line
from trimtab.text.processes import process_lines, spread_text, taking_part
from trimtab.text.system import system_line
from trimtab.text.units import NAMES, ending, gain_words, percent, rounded, seconds
from trimtab.text.workers import task_lines, workers_line

_MOST_LEFT_OUT = 3
_MOST_PROCESSES = 4


def verdict(report: Report, directory: Path, stream: TextIO) -> None:
    """A few lines: efficiency, shares, worst regions, findings."""
    lines = Lines(stream)
    if report.exit.signal:
        lines.print(Bold("trimtab"), f": the program was {ending(report.exit)}")
    if report.efficiency is None or report.cpus_available is None or report.time is None:
        lines.print(Bold("trimtab"), f": {seconds(report.wall_s)}; {_why_no_regions(report)}")
        lines.print("  " + system_line(report))
        _kernel(report, lines)
        _steering(report, lines)
        _left_out(report, lines)
        lines.print(f"  run: {directory} (trimtab report RUN, --html FILE)")
        return
    lines.print(
        Bold("trimtab"),
        f": {percent(report.efficiency)} of {rounded(report.cpus_available)} CPUs' time over "
        f"{seconds(report.wall_s)} was work ({_quantities(report)})",
    )
    shares = [f"{NAMES[name]} {percent(share)}" for name, share in report.time.items() if share >= 0.0005]
    lines.print("  " + ", ".join(shares))
    for blame_line in blame_lines(report):
        lines.print("  " + blame_line)
    if idle_line := idle_region_line(report):
        lines.print("  " + idle_line)
    for process_line in process_lines(report, _MOST_PROCESSES):
        lines.print("  " + process_line)
    for region in report.regions[:3]:
        imbalance = f", imbalance {region.imbalance:.2f}" if region.imbalance else ""
        lines.print(
            f"  region {region.name}: {counted(region.calls, 'call')}, {seconds(region.wall_s)}, "
            f"waits {seconds(region.wait_s)}{imbalance}{spread_text(region)}"
        )
    line = workers_line(report)
    if line is not None:
        lines.print("  " + line)
        for task_line in task_lines(report, 3):
            lines.print("  " + task_line)
    for line_of_counts in (*energy_lines(report), *cpu_use_lines(report)):
        lines.print("  " + line_of_counts)
    if report.network is not None:
        lines.print("  " + network_line(report.network))
    _kernel(report, lines)
    _steering(report, lines)
    for finding in report.findings[:3]:
        subject = f" at {finding.subject}" if finding.subject else ""
        lines.print(
            "  ",
            Bold(finding.cause + subject),
            f" ({gain_words(finding)}): {finding.evidence}",
        )
        lines.print(f"    -> {finding.action}")
    if not report.regions and (reason := _why_no_regions(report)):
        lines.print(f"  no regions: {reason}")
    _left_out(report, lines)
    lines.print(
        f"  own cost {percent(report.overhead.share)}; run: {directory} (trimtab report RUN, --html FILE)"
    )


def _kernel(report: Report, lines: Lines) -> None:
    for kernel_line in kernel_lines(report):
        lines.print("  " + kernel_line)


def _quantities(report: Report) -> str:
    """`4 threads`, or `2 processes, 8 threads` where several take part."""
    processes = len(taking_part(report))
    threads = counted(report.threads or 0, "thread")
    if not report.regions and other_threads(report) is not None:
        threads = "several threads, none in a region"
    return threads if processes < 2 else f"{counted(processes, 'process')}, {threads}"


def _why_no_regions(report: Report) -> str:
    """The first reason: the launcher's come before what the library in the program makes of it."""
    return next(
        (unavailable.why for unavailable in report.unavailable if unavailable.kind is Missing.REGIONS), ""
    )


def _left_out(report: Report, lines: Lines) -> None:
    """Processes and ranks that could not be read, or are elsewhere; those killed in their first milliseconds are in the tables alone."""
    damaged = [unavailable for unavailable in report.unavailable if unavailable.kind is Missing.PROCESS]
    for unavailable in damaged[:_MOST_LEFT_OUT]:
        lines.print(f"  {unavailable.what} {unavailable.why}")
    if len(damaged) > _MOST_LEFT_OUT:
        lines.print(f"  and {len(damaged) - _MOST_LEFT_OUT} more processes or ranks")


def _steering(report: Report, lines: Lines) -> None:
    """What was changed, or that nothing was; and policies that had to be disabled."""
    steering = report.steering
    for started in steering.start_values if steering is not None else ():
        lines.print(f"  started with {started.name}={started.value}: {started.reason}")
    if steering is not None and (fit := steering.virtual_threads) is not None:
        lines.print(f"  virtual threads: {counted(fit, 'function')} fit for them")
        for missing in report.unavailable:
            if missing.kind is Missing.VIRTUAL_THREADS:
                lines.print(f"    not {missing.why}")
    if steering is not None and steering.mode == "known":
        lines.print(
            "  used the settings that earlier runs proved to help; --tune=off runs the program without them"
        )
    if report.decisions:
        lines.print(f"  steering: {summary(report.decisions)}")
        for decided in _latest(lasting(report.decisions))[-3:]:
            lines.print("    " + decision_line(decided))
        for undone in rejected(report.decisions)[-3:]:
            lines.print("    " + rejected_line(undone))
    elif steering is not None:
        lines.print("  steering: " + _reason_for_none(steering))
    for missing in [unavailable for unavailable in report.unavailable if unavailable.kind is Missing.TUNING][
        :3
    ]:
        remedy = f"; {missing.remedy}" if missing.remedy else ""
        lines.print(f"    not tuned: {missing.what.removeprefix(TUNING_OF)}: {missing.why}{remedy}")
    for missing in report.unavailable:
        if missing.kind is Missing.POLICY:
            lines.print(f"    {missing.what} was disabled: {missing.why}")


def _latest(decisions: Sequence[Decision]) -> list[Decision]:
    """Of each subject's knobs the last decision: what is turned every second would hide all others."""
    latest: dict[tuple[str, ...], Decision] = {}
    for decision in decisions:
        subject_and_knobs = (decision.subject, *(change.knob for change in decision.changes))
        latest.pop(subject_and_knobs, None)
        latest[subject_and_knobs] = decision
    return list(latest.values())


def _reason_for_none(steering: Steering) -> str:
    if steering.mode not in ("frozen", "known"):
        return "nothing was changed"
    known_count = steering.known_settings
    if known_count:
        return f"nothing was changed, although earlier runs found {counted(known_count, 'setting')} for its loops"
    if steering.start_values:
        return "no other settings are known"
    return "no settings are known for this program with these arguments; --tune searches for them"

"""Tables on standard output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.markup import escape

from trimtab.counted import counted
from trimtab.model.report import Region, Report, Spread
from trimtab.text.blame import blame_table, limit_lines, path_table, pop_lines, what_if_lines, what_if_table
from trimtab.text.console import Console, output, table
from trimtab.text.counters import energy_lines, use_table
from trimtab.text.cpu_use import cpu_use_table
from trimtab.text.decisions import decision_line, lasting, rejected, rejected_line, summary
from trimtab.text.idle_regions import idle_group_table, longest_idle_region_lines, task_time_table
from trimtab.text.kernel import kernel_lines, preemptor_table, program_table, thread_table, waker_table
from trimtab.text.names import short_name
from trimtab.text.network import flow_table, network_line, phase_table, server_table
from trimtab.text.processes import MOST_ROWS, grouped, process_table
from trimtab.text.system import system_line
from trimtab.text.units import NAMES, ending, gain_words, percent, rounded, seconds
from trimtab.text.workers import task_table, worker_table

_MOST_REGIONS = 40
_MOST_DECISIONS = 40
_MOST_SCOPES = 20
_Cell = Callable[[Region], str]
# Each with the width of terminal from which on there is room for it.
_REGION_COLUMNS: dict[str, tuple[int, _Cell]] = {
    "calls": (0, lambda region: str(region.calls)),
    "threads": (100, lambda region: str(region.threads)),
    "wall": (0, lambda region: seconds(region.wall_s)),
    "work": (70, lambda region: seconds(region.work_s)),
    "wait": (0, lambda region: seconds(region.wait_s)),
    "imbalance": (0, lambda region: f"{region.imbalance:.2f}" if region.imbalance else ""),
    "schedule": (100, lambda region: region.schedule or ""),
    "chunk": (120, lambda region: str(region.chunk or "")),
    "iterations": (120, lambda region: "" if region.iterations is None else str(region.iterations)),
}


# Where several processes have the same region.
_SPREAD_COLUMNS: dict[str, tuple[int, _Cell]] = {
    "processes": (0, lambda region: str(len(region.processes))),
    "wall of each": (160, lambda region: _range_text(region.spread.wall_s)),
    "work of each": (230, lambda region: _range_text(region.spread.work_s)),
    "wait of each": (260, lambda region: _range_text(region.spread.wait_s)),
}


def _range_text(spread: Spread) -> str:
    """Over the processes: least, median, most."""
    return " / ".join(map(seconds, (spread.least, spread.median, spread.most)))


def _is_spread(report: Report) -> bool:
    return any(len(region.processes) > 1 for region in report.regions)


def tables(report: Report, directory: Path) -> None:
    """The whole report as tables on standard output."""
    console = output()
    console.print(f"[bold]{escape(' '.join(report.command))}[/]  {escape(str(directory))}")
    ending_text = escape(ending(report.exit))
    console.print(f"{seconds(report.wall_s)}, {ending_text}{'' if report.complete else ' (incomplete)'}")
    for show in (
        _shares,
        _processes,
        _regions,
        _tasks,
        _scopes,
        _counters,
        _network,
        _kernel,
        _blame,
        _idle_regions,
        _findings,
        _decisions,
    ):
        show(report, console)
    console.print(system_line(report))
    for missing in report.unavailable:
        console.print(
            f"not available: {escape(missing.what)}: {escape(missing.why)}. {escape(missing.remedy)}"
        )
    tool_cost = report.overhead
    console.print(
        f"own cost {percent(tool_cost.share)} of core time; {tool_cost.events} events, {tool_cost.dropped} dropped"
    )


def _shares(report: Report, console: Console) -> None:
    if report.time is None or report.cpus_available is None or report.threads is None:
        return
    cpus = f"{rounded(report.cpus_available)} CPUs"
    rows = table("share of core time", "", title=f"{cpus}, {counted(report.threads, 'thread')}")
    for name, share in report.time.items():
        rows.add_row(NAMES[name], f"{share:.2%}")
    console.print(rows)


def _blame(report: Report, console: Console) -> None:
    for rows in (blame_table(report), path_table(report), what_if_table(report)):
        if rows is not None:
            console.print(rows)
    for line in (*pop_lines(report), *what_if_lines(report), *limit_lines(report)):
        console.print(line)


def _idle_regions(report: Report, console: Console) -> None:
    for rows in (task_time_table(report), idle_group_table(report)):
        if rows is not None:
            console.print(rows)
    for line in longest_idle_region_lines(report):
        console.print(escape(line))


def _processes(report: Report, console: Console) -> None:
    if len(report.processes) < 2:
        return
    console.print(process_table(report.processes))
    further = sum(len(row) for row in grouped(report.processes)[MOST_ROWS:])
    if further > 0:
        console.print(f"and {counted(further, 'more process')} (--json has all)")


def _regions(report: Report, console: Console) -> None:
    if not report.regions:
        return
    columns = _REGION_COLUMNS | (_SPREAD_COLUMNS if _is_spread(report) else {})
    shown = [(name, cell) for name, (least_width, cell) in columns.items() if console.width >= least_width]
    rows = table("region", *(name for name, _ in shown))
    for region in report.regions[:_MOST_REGIONS]:
        rows.add_row(escape(short_name(region.name)), *(cell(region) for _, cell in shown))
    console.print(rows)
    further = len(report.regions) - _MOST_REGIONS
    if further > 0:
        console.print(f"and {further} more regions (--json has all)")


def _scopes(report: Report, console: Console) -> None:
    """What the program, or the tool that recorded it, has named of itself."""
    if not report.scopes:
        return
    shown = sorted(report.scopes, key=lambda scope: -(scope.total_s or 0.0))
    scopes = table("scope", "count", "each", "all")
    for scope in shown[:_MOST_SCOPES]:
        times = ("" if time is None else seconds(time) for time in (scope.mean_s, scope.total_s))
        scopes.add_row(escape(short_name(scope.name)), str(scope.count), *times)
    console.print(scopes)
    if len(shown) > _MOST_SCOPES:
        console.print(f"and {len(shown) - _MOST_SCOPES} more scopes: --json has all")


def _tasks(report: Report, console: Console) -> None:
    if report.workers:
        console.print(worker_table(report.workers))
    if report.tasks:
        console.print(task_table(report.tasks))


def _counters(report: Report, console: Console) -> None:
    for line in energy_lines(report):
        console.print(escape(line))
    for rows in (cpu_use_table(report), use_table(report)):
        if rows is not None:
            console.print(rows)


def _network(report: Report, console: Console) -> None:
    if report.network is None:
        return
    console.print(flow_table(report.network))
    if any(phase.name is not None for phase in report.network.phases):
        console.print(phase_table(report.network))
    if report.network.servers:
        console.print(server_table(report.network))
    console.print(network_line(report.network))


def _kernel(report: Report, console: Console) -> None:
    kernel = report.kernel
    if kernel is not None:
        if kernel.preemptors:
            console.print(preemptor_table(kernel))
        console.print(program_table(kernel))
        if kernel.threads:
            console.print(thread_table(kernel))
        if kernel.late_wakers:
            console.print(waker_table(kernel))
    for line in kernel_lines(report):
        console.print(escape(line))


def _findings(report: Report, console: Console) -> None:
    for finding in report.findings:
        subject = f" at {finding.subject}" if finding.subject else ""
        console.print(f"[bold]{escape(finding.cause)}{escape(subject)}[/] ({gain_words(finding)})")
        console.print(f"  {escape(finding.evidence)}")
        console.print(f"  -> {escape(finding.action)}")


def _decisions(report: Report, console: Console) -> None:
    if not report.decisions:
        return
    console.print(f"[bold]steering[/]: {summary(report.decisions)} (--json has all)")
    for decision in lasting(report.decisions)[:_MOST_DECISIONS]:
        console.print("  " + escape(decision_line(decision)))
    for decision in rejected(report.decisions)[:_MOST_DECISIONS]:
        console.print("  " + escape(rejected_line(decision)))


def run_list(runs: list[dict[str, Any]]) -> None:
    """Recorded runs, one a row."""
    rows = table("run", "program", "wall", "ended")
    for run in runs:
        ended = run["signal"] or ("" if run["code"] is None else str(run["code"]))
        wall = seconds(run["wall_s"]) if run["wall_s"] is not None else "not ended"
        rows.add_row(escape(run["run"]), escape(str(run["program"])), wall, escape(ended))
    output().print(rows)

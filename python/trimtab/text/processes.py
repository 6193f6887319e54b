"""The processes of a run, in lines and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trimtab.counted import counted
from trimtab.model.report import ProcessSummary, Region, Report
from trimtab.text.units import percent, seconds

if TYPE_CHECKING:
    from rich.table import Table

_LONGEST_COMMAND = 60
MOST_ROWS = 40


def taking_part(report: Report) -> list[ProcessSummary]:
    """The processes that the shares are of, most CPU time first."""
    taking_part = [process for process in report.processes if process.takes_part]
    return sorted(taking_part, key=lambda process_summary: -process_summary.cpu_s)


def process_lines(report: Report, limit: int) -> Iterator[str]:
    """One line for each of the first processes; none where only one takes part."""
    parts = taking_part(report)
    if len(parts) < 2:
        return
    for part in parts[:limit]:
        yield (
            f"{process_name(part)}: {percent(part.efficiency or 0.0)} of {counted(part.cpus_available, 'CPU')} over "
            f"{seconds(part.wall_s)} was work ({counted(part.threads, 'thread')})"
        )
    if len(parts) > limit:
        yield f"and {counted(len(parts) - limit, 'more process')}"


def process_name(process_summary: ProcessSummary) -> str:
    """`process 1234 ./app -x`, or `rank 2 of 4 on node1 (process 1234) ./app -x`."""
    if not process_summary.pid:
        # An executor of Spark: its log has no process id.
        return process_summary.id
    number = f"process {process_summary.id if process_summary.image else process_summary.pid}"
    if process_summary.rank is not None:
        size_text = "" if process_summary.size is None else f" of {process_summary.size}"
        host_text = "" if process_summary.host is None else f" on {process_summary.host}"
        number = f"rank {process_summary.rank}{size_text}{host_text} ({number})"
    return f"{number} {command_of(process_summary)}".rstrip()


def command_of(process_summary: ProcessSummary) -> str:
    """Its arguments, cut off where they are long."""
    command = " ".join(process_summary.command)
    return command if len(command) <= _LONGEST_COMMAND else command[: _LONGEST_COMMAND - 1] + "…"


def spread_text(region: Region) -> str:
    """`, in 2 processes (wall 0.5 s to 0.7 s)`; nothing for a region of one process."""
    if len(region.processes) < 2:
        return ""
    wall = region.spread.wall_s
    return f", in {len(region.processes)} processes (wall {seconds(wall.least)} to {seconds(wall.most)} each)"


def process_table(processes: Sequence[ProcessSummary]) -> Table:
    """A row a process, most CPU time first; those that take no part in the shares have none.

    Where all are on one host, its name would say nothing.
    """
    from rich.markup import escape

    from trimtab.text.console import table

    has_rank = any(process.rank is not None for process in processes)
    has_host = len({process.host for process in processes}) > 1
    columns = [name for name, is_shown in (("host", has_host), ("rank", has_rank)) if is_shown]
    rows = table(
        "command", "process", *columns, "CPU time", "wall", "work", "threads", "regions", "calls", "ended"
    )
    for process_summary in sorted(processes, key=lambda process_summary: -process_summary.cpu_s)[:MOST_ROWS]:
        rows.add_row(
            escape(command_of(process_summary)),
            escape(process_summary.id),
            *(
                escape("" if (value := getattr(process_summary, name)) is None else str(value))
                for name in columns
            ),
            seconds(process_summary.cpu_s),
            seconds(process_summary.wall_s),
            "" if process_summary.efficiency is None else percent(process_summary.efficiency),
            *(str(getattr(process_summary, name)) for name in ("threads", "regions", "calls")),
            escape(process_summary.ended or "cut off"),
        )
    return rows

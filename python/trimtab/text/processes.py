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
LEAST_OF_GROUP = 4


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
    """A row a process, or a group of equal ones; most CPU time first.

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
    for group in grouped(processes)[:MOST_ROWS]:
        first = group[0]
        is_alone = len(group) == 1
        rows.add_row(
            escape(command_of(first)),
            escape(first.id) if is_alone else counted(len(group), "process"),
            *(escape("" if (value := getattr(first, name)) is None else str(value)) for name in columns),
            seconds(sum(process.cpu_s for process in group)),
            seconds(sum(process.wall_s for process in group)),
            "" if first.efficiency is None or not is_alone else percent(first.efficiency),
            *(str(getattr(first, name)) for name in ("threads", "regions", "calls")),
            escape(first.ended or "cut off"),
        )
    return rows


def grouped(processes: Sequence[ProcessSummary]) -> list[list[ProcessSummary]]:
    """Processes that a row shows together, most CPU time first.

    Those of one command that had one thread and no region, and ended alike, are one row where there are many of them:
    a script may start the same program a thousand times.
    """
    groups: dict[tuple[object, ...], list[ProcessSummary]] = {}
    for process in processes:
        is_plain = process.threads <= 1 and not process.regions and not process.calls and process.rank is None
        key = (tuple(process.command), process.host, process.ended) if is_plain else (process.id,)
        groups.setdefault(key, []).append(process)
    rows = [
        row
        for group in groups.values()
        for row in ([group] if len(group) >= LEAST_OF_GROUP else [[process] for process in group])
    ]
    return sorted(rows, key=lambda row: -sum(process.cpu_s for process in row))

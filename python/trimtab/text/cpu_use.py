"""How CPU time was used, in a line and as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec.structs import replace
from rich.markup import escape

from trimtab.analysis.cpu_use import ALL
from trimtab.counted import counted
from trimtab.model.report import CpuUse, Report
from trimtab.text.console import table
from trimtab.text.names import short_name
from trimtab.text.processes import LEAST_OF_GROUP
from trimtab.text.units import percent, seconds

if TYPE_CHECKING:
    from rich.table import Table

_MOST_ROWS = 12
# Share of the CPU time from which on the kernel's part is worth a line.
_LEAST_SHARE = 0.05


def cpu_use_lines(report: Report) -> Iterator[str]:
    """What of the CPU time of all processes was the kernel's, where it is much."""
    wholes = [use for use in report.cpu_use if use.name == ALL and use.key is None]
    cpu_s, kernel_s = sum(use.cpu_s for use in wholes), sum(use.kernel_s for use in wholes)
    if cpu_s <= 0 or kernel_s < _LEAST_SHARE * cpu_s:
        return
    faults_s, faults = sum(use.page_fault_s for use in wholes), sum(use.minor_faults for use in wholes)
    yield (
        f"of {seconds(cpu_s)} CPU time the kernel used {percent(kernel_s / cpu_s)}: "
        f"page faults {percent(faults_s / cpu_s)} ({faults:.3g} of them), system calls and others "
        f"{percent((kernel_s - faults_s) / cpu_s)}"
    )


def cpu_use_table(report: Report) -> Table | None:
    """A row for each region, and for each process or program; None: the kernel used hardly anything."""
    if not any(True for _ in cpu_use_lines(report)):
        return None
    is_alone = len({use.process for use in report.cpu_use}) < 2
    rows = table(
        *([] if is_alone else ["program", "process"]),
        *("where", "CPU time", "kernel", "page faults", "minor faults", "major faults"),
        title="CPU time, and what of it the kernel used",
    )
    for row in cpu_use_rows(report)[:_MOST_ROWS]:
        rows.add_row(*([] if is_alone else [escape(row.program), escape(row.process)]), *_cells(row.use))
    return rows


@dataclass(frozen=True)
class CpuUseRow:
    """A row of the table; `process`: its id, or how many there are."""

    program: str
    process: str
    use: CpuUse


def cpu_use_rows(report: Report) -> list[CpuUseRow]:
    """Most CPU time first; a process with regions keeps its rows together.

    Processes without regions that run the same program are one row where there are many of them: a script may start the
    same program a thousand times.
    """
    by_process: dict[str, list[CpuUse]] = {}
    for use in report.cpu_use:
        by_process.setdefault(use.process, []).append(use)
    programs = {process.id: _program(process.command) for process in report.processes}
    plain: dict[str, list[CpuUse]] = {}
    blocks: list[list[CpuUseRow]] = []
    for process, uses in by_process.items():
        program = programs.get(process, "")
        if len(uses) == 1:
            plain.setdefault(program, []).extend(uses)
        else:
            blocks.append([CpuUseRow(program, process, use) for use in uses])
    for program, uses in plain.items():
        if len(uses) >= LEAST_OF_GROUP:
            blocks.append([CpuUseRow(program, counted(len(uses), "process"), _together(uses))])
        else:
            blocks += [[CpuUseRow(program, use.process, use)] for use in uses]
    return [row for block in sorted(blocks, key=lambda block: -block[0].use.cpu_s) for row in block]


def _program(command: Sequence[str]) -> str:
    return PurePath(command[0]).name if command else ""


def _together(uses: Sequence[CpuUse]) -> CpuUse:
    sums = {
        name: sum(getattr(use, name) for use in uses)
        for name in ("cpu_s", "kernel_s", "page_fault_s", "minor_faults", "major_faults")
    }
    return replace(uses[0], error_s=math.hypot(*(use.error_s for use in uses)), **sums)


def _cells(use: CpuUse) -> list[str]:
    kernel = f"{seconds(use.kernel_s)} +- {seconds(use.error_s)}" if use.samples else seconds(use.kernel_s)
    faults = [f"{use.minor_faults:.3g}", f"{use.major_faults:.3g}"]
    return [escape(short_name(use.name)), seconds(use.cpu_s), kernel, seconds(use.page_fault_s), *faults]

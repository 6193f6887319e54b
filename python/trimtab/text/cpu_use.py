"""How CPU time was used, in a line and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape

from trimtab.analysis.cpu_use import ALL
from trimtab.model.report import CpuUse, Report
from trimtab.text.console import table
from trimtab.text.names import short_name
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
    """A row for each region, and for each process; None: the kernel used hardly anything."""
    if not any(True for _ in cpu_use_lines(report)):
        return None
    is_alone = len({use.process for use in report.cpu_use}) < 2
    rows = table(
        *([] if is_alone else ["process"]),
        *("where", "CPU time", "kernel", "page faults", "minor faults", "major faults"),
        title="CPU time, and what of it the kernel used",
    )
    for use in report.cpu_use[:_MOST_ROWS]:
        rows.add_row(*([] if is_alone else [escape(use.process)]), *_cells(use))
    return rows


def _cells(use: CpuUse) -> list[str]:
    kernel = f"{seconds(use.kernel_s)} +- {seconds(use.error_s)}" if use.samples else seconds(use.kernel_s)
    faults = [f"{use.minor_faults:.3g}", f"{use.major_faults:.3g}"]
    return [escape(short_name(use.name)), seconds(use.cpu_s), kernel, seconds(use.page_fault_s), *faults]

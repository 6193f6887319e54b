"""What the operating system's scheduler did, in lines and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trimtab.counted import counted
from trimtab.model.report import Delays, Kernel, Report, ScheduledProgram, ScheduledThread
from trimtab.text.units import percent, seconds

if TYPE_CHECKING:
    from rich.table import Table

_NAMED = 3
_MOST_ROWS = 40
# In what is said of a recording that was asked for and could not be made.
_OPTION = "--kernel"
# From this share of the core time on, run delay is worth another recording.
_LEAST_DELAY = 0.01


def kernel_lines(report: Report) -> Iterator[str]:
    """What the scheduler cost, and who ran meanwhile; without a recording one line on how to get it, where it would help."""
    kernel = report.kernel
    if kernel is None:
        yield from _without_recording(report)
        return
    cost = f", {percent(kernel.waiting_s / kernel.running_s)} of the running time" if kernel.running_s else ""
    yield (
        f"scheduler: ready to run without a CPU for {seconds(kernel.waiting_s)}{cost}: "
        f"after a wake-up {_delays(kernel.wakeup_latency)}; after a preemption {_delays(kernel.preemption)}"
    )
    named = [f"{name} {percent(share)}" for name, share in _leading(kernel)]
    if kernel.idle_though_ready_s >= 0.005 * kernel.waiting_s > 0:
        named.append(f"the CPU was idle {percent(kernel.idle_though_ready_s / kernel.waiting_s)}")
    if kernel.unknown_s >= 0.005 * kernel.waiting_s > 0:
        named.append(f"not known {percent(kernel.unknown_s / kernel.waiting_s)}")
    if named:
        yield f"  ran meanwhile: {', '.join(named)}"
    yield from _incomplete(kernel)


def _incomplete(kernel: Kernel) -> Iterator[str]:
    if kernel.lost:
        yield f"  {counted(kernel.lost, 'event')} were lost: figures of the scheduler are too low"
    if not kernel.complete:
        yield "  the recording of the scheduler did not end in order: its last moments may be missing"


def _without_recording(report: Report) -> Iterator[str]:
    if any(_OPTION in missing.what for missing in report.unavailable):
        return
    delay_s, core_s = report.os.run_delay_s, report.capacity_s
    if delay_s is not None and core_s and delay_s >= _LEAST_DELAY * core_s:
        yield (
            f"threads were ready to run but had no CPU for {seconds(delay_s)} in all: trimtab run {_OPTION} shows who had the CPUs "
            "(as root, or with CAP_PERFMON and a readable tracefs)"
        )


def _delays(delays: Delays) -> str:
    """`p50 10 us, p99 2 ms, max 5 ms`."""
    parts = [
        f"{name} {seconds(value)}"
        for name, value in (("p50", delays.p50_s), ("p99", delays.p99_s), ("max", delays.max_s))
        if value is not None
    ]
    return ", ".join(parts) or "none"


def _leading(kernel: Kernel) -> list[tuple[str, float]]:
    """The first preemptors with their shares; the program's own processes are one of them."""
    own_share = sum(row.share for row in kernel.preemptors if row.is_own)
    rows = [
        (row.name if row.pid is None else f"{row.name} (process {row.pid})", row.share)
        for row in kernel.preemptors
        if not row.is_own
    ]
    if own_share > 0:
        rows.append(("the program itself", own_share))
    return sorted(rows, key=lambda row: -row[1])[:_NAMED]


def preemptor_table(kernel: Kernel) -> Table:
    """A row for each process that ran while threads of the program waited for its CPU."""
    from rich.markup import escape

    from trimtab.text.console import table

    has_hosts = len({row.host for row in kernel.preemptors if row.host}) > 1
    rows = table(
        "ran meanwhile", "process", *_host_column(has_hosts), "time", "share", "after a preemption", "waits"
    )
    for row in kernel.preemptors[:_MOST_ROWS]:
        rows.add_row(
            escape(row.name) + (" (own)" if row.is_own else ""),
            "" if row.pid is None else str(row.pid),
            *([escape(row.host)] if has_hosts else []),
            seconds(row.time_s),
            percent(row.share),
            seconds(row.preempted_s),
            str(row.count),
        )
    return rows


def program_table(kernel: Kernel) -> Table:
    """A row for each program that ran; those of the observed program first."""
    from rich.markup import escape

    from trimtab.text.console import table

    has_hosts = len({row.host for row in kernel.programs if row.host}) > 1
    rows = table("program", *_host_column(has_hosts), "threads", *_FIGURES)
    for row in kernel.programs[:_MOST_ROWS]:
        rows.add_row(
            escape(row.name) + (" (own)" if row.is_own else ""),
            *([escape(row.host)] if has_hosts else []),
            str(row.threads),
            *_figures(row),
        )
    return rows


def thread_table(kernel: Kernel) -> Table:
    """A row for each thread of the program, most time waited first."""
    from rich.markup import escape

    from trimtab.text.console import table

    has_hosts = len({row.host for row in kernel.threads}) > 1
    rows = table("thread", "number", *_host_column(has_hosts), *_FIGURES)
    for row in kernel.threads[:_MOST_ROWS]:
        rows.add_row(
            escape(row.name),
            "" if row.tid is None else str(row.tid),
            *([escape(row.host)] if has_hosts else []),
            *_figures(row),
        )
    return rows


def waker_table(kernel: Kernel) -> Table:
    """A row for each program that woke threads which then waited for a CPU."""
    from rich.markup import escape

    from trimtab.text.console import table

    rows = table("woke late", "threads", "waited", "wake-ups")
    for row in kernel.late_wakers[:_MOST_ROWS]:
        rows.add_row(escape(row.name), escape(row.woken), seconds(row.time_s), str(row.count))
    return rows


_FIGURES = (
    *("running", "waiting", "voluntary", "involuntary", "moves"),
    *("wake-up p50", "wake-up p99", "wake-up max", "preempted max"),
)


def _host_column(has_hosts: bool) -> list[str]:
    """Where all are on one host, its name would say nothing."""
    return ["host"] if has_hosts else []


def _figures(row: ScheduledProgram | ScheduledThread) -> list[str]:
    """The cells below `_FIGURES`."""
    latency = row.wakeup_latency
    return [
        seconds(row.running_s),
        seconds(row.waiting_s),
        *(str(count) for count in (row.voluntary, row.involuntary, row.migrations)),
        *(
            _seconds_or_none(value)
            for value in (latency.p50_s, latency.p99_s, latency.max_s, row.preemption.max_s)
        ),
    ]


def _seconds_or_none(value: float | None) -> str:
    return "" if value is None else seconds(value)

"""CPU time of threads that entered no parallel region, as a report has it."""

from __future__ import annotations

from dataclasses import dataclass

from trimtab.model.enumerations import CounterName
from trimtab.model.report import Report

# Of the CPU time.
_FEW = 0.05


@dataclass(frozen=True)
class OtherThreads:
    """Of the processes that take part, seconds: CPU time of their first threads, and of all."""

    first_s: float
    cpu_s: float


def other_threads(report: Report) -> OtherThreads | None:
    """None: there are none, or it is not known."""
    first = {
        counter.process: counter.values[-1]
        for counter in report.counters
        if counter.name == CounterName.FIRST_THREAD_TIME and counter.values
    }
    parts = [process for process in report.processes if process.takes_part and process.id in first]
    cpu_s, first_s = sum(process.cpu_s for process in parts), sum(first[process.id] for process in parts)
    return OtherThreads(first_s, cpu_s) if cpu_s - first_s > _FEW * cpu_s else None

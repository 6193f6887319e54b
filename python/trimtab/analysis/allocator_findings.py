"""Findings about the allocator: threads that wait for each other in malloc and free."""

from __future__ import annotations

from msgspec.structs import replace

from trimtab.analysis.cpu_use import page_cost
from trimtab.analysis.findings import finding
from trimtab.analysis.samples import last_value
from trimtab.glibc import as_variable
from trimtab.model import Process
from trimtab.model.enumerations import Cause, CounterName
from trimtab.model.report import Finding

# Blocks of each size that a thread keeps for itself, beyond the 7 of the C library: at most 17 MB a thread.
LARGER_CACHES = {"glibc.malloc.tcache_count": "512"}
"""Tunable of the C library with which threads lock arenas more rarely."""


def allocator_findings(process: Process, cpu_s: float) -> list[Finding]:
    """gain = (waits for arenas + the kernel's time for them) / threads that waited, at least two: one waits for another.

    Of the waits, what the holders' own waits for a CPU explain does not count: the share that run delay has of run time and run
    delay. The kernel's time for waits is its time without page faults, at most as long as these waits, or the part of it in which
    arenas were contended. What a contended lock costs in the program's own time is not known: the gain may be larger.

    Args:
        cpu_s: CPU time of the process.
    """
    waits = last_value(process, CounterName.ARENA_WAITS)
    threads = int(last_value(process, CounterName.ARENA_WAITERS) or 0)
    arenas = int(last_value(process, CounterName.ARENAS) or 0)
    if not waits or threads < 1 or arenas < 1:
        return []
    threads = max(threads, 2)
    delay_s = last_value(process, CounterName.PROCESS_RUN_DELAY) or 0.0
    avoidable_s = waits * cpu_s / (cpu_s + delay_s) if cpu_s > 0 else waits
    kernel = last_value(process, CounterName.KERNEL_TIME) or 0.0
    cost = page_cost(process)
    faults = last_value(process, CounterName.MINOR_PAGE_FAULTS) or 0.0
    rest = max(kernel - (faults * cost.fault_s if cost is not None else 0.0), 0.0)
    contended = last_value(process, CounterName.CONTENDED_KERNEL_TIME) or 0.0
    of_contended = rest * min(contended / kernel, 1.0) if kernel > 0 else 0.0
    delayed = (
        f" ({waits - avoidable_s:.3g} s of it because who had the lock had no CPU)"
        if avoidable_s < 0.95 * waits
        else ""
    )
    least_s = (avoidable_s + max(min(rest, avoidable_s), of_contended)) / threads
    entry = finding(
        Cause.ALLOCATOR_CONTENTION,
        None,
        f"{threads} threads waited {waits:.3g} s for each other in malloc and free{delayed}, which had {arenas} "
        f"{'arena' if arenas == 1 else 'arenas'}; the kernel used {kernel:.3g} s of CPU time; "
        "what the lock cost in the program's own time is not known and comes on top",
        _action(threads, arenas),
        least_s,
    )
    return [replace(entry, gain_low_s=least_s, gain_high_s=(avoidable_s + rest) / threads)]


def _action(threads: int, arenas: int) -> str:
    if arenas < threads:
        return (
            f"let each of {threads} threads have an arena: unset MALLOC_ARENA_MAX, or glibc.malloc.arena_max and M_ARENA_MAX, "
            "or allocate less often"
        )
    return (
        "free blocks in the thread that allocated them, or use them again; "
        f"GLIBC_TUNABLES={as_variable(LARGER_CACHES)} lets threads keep more small blocks; other allocators: trimtab tune "
        "--try-allocators"
    )

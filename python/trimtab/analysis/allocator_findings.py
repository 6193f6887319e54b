"""Findings about the allocator: threads that wait for each other in malloc and free."""

from __future__ import annotations

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


def allocator_findings(process: Process) -> list[Finding]:
    """gain = (waits for arenas + the kernel's time for them) / threads that waited.

    The kernel's time for waits is its time without page faults, at most as long as the waits themselves.
    """
    waits = last_value(process, CounterName.ARENA_WAITS)
    threads = int(last_value(process, CounterName.ARENA_WAITERS) or 0)
    arenas = int(last_value(process, CounterName.ARENAS) or 0)
    if not waits or threads < 2 or arenas < 1:
        return []
    kernel = last_value(process, CounterName.KERNEL_TIME) or 0.0
    cost = page_cost(process)
    faults = last_value(process, CounterName.MINOR_PAGE_FAULTS) or 0.0
    rest = max(kernel - (faults * cost.fault_s if cost is not None else 0.0), 0.0)
    return [
        finding(
            Cause.ALLOCATOR_CONTENTION,
            None,
            f"{threads} threads waited {waits:.3g} s for each other in malloc and free, which had {arenas} "
            f"{'arena' if arenas == 1 else 'arenas'}; the kernel used {kernel:.3g} s of CPU time",
            _action(threads, arenas),
            (waits + min(rest, waits)) / threads,
        )
    ]


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

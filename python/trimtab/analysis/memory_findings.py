"""Findings about memory: pages that are given back and taken again, and small pages where huge ones fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from trimtab.analysis.cpu_use import ALL, PageCost, page_cost
from trimtab.analysis.findings import finding
from trimtab.analysis.samples import last_value
from trimtab.glibc import as_variable
from trimtab.model import Process
from trimtab.model.enumerations import Cause, CounterName
from trimtab.model.report import CpuUse, Finding, Region

# A page may be faulted in again for other reasons (copies after a fork, memory that was mapped to be read): fewer do not count.
_LEAST_AGAIN = 0.5
# Huge pages are worth a try from this much memory on, where less than this share of it has them.
_LEAST_BYTES = 64e6
_MOST_HUGE = 0.2
# Of the faults of small pages, what is left with huge ones: the memory is cleared all the same.
_CLEARING = 0.2
# Memory on one node: at least so much of the pages, and of all accesses those that are remote if threads use them evenly.
_MOST_ON_ONE_NODE = 0.8
_LEAST_REMOTE = 0.2
KEEP_MEMORY = {
    "glibc.malloc.mmap_threshold": "1073741824",
    "glibc.malloc.trim_threshold": "2147483648",
}
"""Tunables of the C library with which `free` keeps what it has, in a process that asks for less than 1 GiB at a time."""
HUGE_PAGES = {"glibc.malloc.hugetlb": "1"}
"""With it `malloc` asks for transparent huge pages."""


def memory_findings(process: Process, uses: Sequence[CpuUse], regions: Sequence[Region]) -> list[Finding]:
    """All that apply to one process.

    Args:
        uses: of the process (`cpu_use_of`).
        regions: of the process.
    """
    cost, peak = page_cost(process), last_value(process, CounterName.PEAK_MEMORY)
    page_bytes = float(process.facts.get("page bytes") or 0)
    if not uses or cost is None or not peak or page_bytes <= 0:
        return []
    threads = {region.key: max(region.threads, 1) for region in regions}
    again = max(uses[0].minor_faults - peak / page_bytes, 0.0)
    return [
        *_returned(uses, threads, cost, again),
        *_small_pages(process, uses, threads, cost, peak, again),
    ]


def node_findings(process: Process, regions: Sequence[Region]) -> list[Finding]:
    """Pages on the node of the thread that wrote them first. gain = at most what regions would save if all they did were remote accesses.

    How much of a region's time is accesses to memory is not known, so the gain lies between 0 and that; the report says the middle.
    """
    fullest = last_value(process, CounterName.FULLEST_NODE)
    remote = last_value(process, CounterName.REMOTE_PAGES)
    distance = last_value(process, CounterName.NODE_DISTANCE)
    if not fullest or not remote or not distance or distance <= 1:
        return []
    if fullest < _MOST_ON_ONE_NODE or remote < _LEAST_REMOTE:
        return []
    work_s = sum(region.work_s / max(region.threads, 1) for region in regions if not region.nested)
    most_s = work_s * remote * (1 - 1 / distance)
    entry = finding(
        Cause.REMOTE_MEMORY,
        None,
        f"{fullest:.0%} of the pages lie on one node of memory, and {remote:.0%} of them on another node than the thread that uses "
        f"them, if threads use all alike; the firmware gives that node {distance:.2g} times the distance of a thread's own",
        "write arrays first in a parallel loop with the schedule of the loops that use them, and bind threads (OMP_PROC_BIND=true); or "
        "take pages from all nodes in turn: numactl --interleave=all, which `trimtab tune` tries",
        most_s / 2,
    )
    return [replace(entry, gain_high_s=most_s)]


def _returned(
    uses: Sequence[CpuUse], threads: dict[str, int], cost: PageCost, again: float
) -> Iterator[Finding]:
    """gain = faults beyond the peak: in regions shared by their threads, outside by one; and giving the pages back, by one."""
    faults = uses[0].minor_faults
    if faults <= 0 or again < _LEAST_AGAIN * faults:
        return
    fault_s = again / faults * _wall_of_faults(uses, threads, cost)
    # At most what the kernel used in all.
    gain = min(fault_s + again * cost.release_s, uses[0].kernel_s)
    yield finding(
        Cause.RETURNED_MEMORY,
        None,
        f"{faults:.3g} page faults, {again:.3g} of them more than the process ever had pages: memory was given back and taken "
        f"again; the kernel used {uses[0].kernel_s:.3g} s of {uses[0].cpu_s:.3g} s CPU time",
        f"let the allocator keep its memory: GLIBC_TUNABLES={as_variable(KEEP_MEMORY)}, or allocate once outside the loop",
        gain,
    )


def _small_pages(
    process: Process,
    uses: Sequence[CpuUse],
    threads: dict[str, int],
    cost: PageCost,
    peak: float,
    again: float,
) -> Iterator[Finding]:
    """gain = what the first faults of the pages took, less the clearing of the memory; what better use of the TLB brings is unknown."""
    huge, faults = last_value(process, CounterName.HUGE_PAGES), uses[0].minor_faults
    if huge is None or peak < _LEAST_BYTES or huge > _MOST_HUGE * peak or faults <= 0:
        return
    first = max(faults - again, 0.0) / faults
    yield finding(
        Cause.SMALL_PAGES,
        None,
        f"{huge / 1e6:.3g} MB of {peak / 1e6:.3g} MB lie in huge pages; {faults - again:.3g} pages were faulted in by small ones",
        f"ask for huge pages: GLIBC_TUNABLES={as_variable(HUGE_PAGES)}, if the machine offers them by madvise",
        first * (1 - _CLEARING) * _wall_of_faults(uses, threads, cost),
    )


def _wall_of_faults(uses: Sequence[CpuUse], threads: dict[str, int], cost: PageCost) -> float:
    """Wall time of all page faults, seconds: those of a region happen on its threads at the same time."""
    parts = [use for use in uses if use.name != ALL or use.key is not None] or list(uses)
    return sum(
        min(use.minor_faults * cost.fault_s, use.kernel_s + use.error_s) / threads.get(use.key or "", 1)
        for use in parts
    )

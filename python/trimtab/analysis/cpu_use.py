"""How CPU time was used: in the program's own instructions or by the kernel, in all, by region, and outside of regions.

The kernel's count of a whole process is exact in sum. Of regions some parts were asked, about one in a millisecond on each
lane: what they used stands for all parts of the region (docs/reference/metrics.md, "CPU use").
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from trimtab.analysis.keys import Keys
from trimtab.analysis.samples import last_value
from trimtab.model import Process
from trimtab.model.enumerations import CounterName, CpuUseFields
from trimtab.model.report import CpuUse, Region
from trimtab.traces import rows_of

# The kernel says program or kernel by what its clock finds at each tick, with the usual clock of 250 Hz.
_USUAL_TICK_S = 0.004
# Of a normal distribution, for 95 %.
_Z = 1.96
ALL, OUTSIDE = "all", "outside"


@dataclass(frozen=True)
class PageCost:
    """What one page costs one thread, seconds."""

    fault_s: float
    release_s: float


def page_cost(process: Process) -> PageCost | None:
    """As the library measured it when it started."""
    fault = last_value(process, CounterName.PAGE_FAULT_COST)
    release = last_value(process, CounterName.PAGE_RELEASE_COST)
    return None if fault is None or release is None else PageCost(fault, release)


def cpu_use_of(
    process: Process, process_id: str, cpu_s: float, regions: Iterable[Region], keys: Keys
) -> list[CpuUse]:
    """All of the process, then its regions by kernel time, then what lies outside; empty: nothing was counted.

    Args:
        cpu_s: CPU time of the process.
        regions: of this process.
    """
    kernel = last_value(process, CounterName.KERNEL_TIME)
    if kernel is None:
        return []
    cost = page_cost(process)
    fault_s = cost.fault_s if cost is not None else 0.0
    minor = last_value(process, CounterName.MINOR_PAGE_FAULTS) or 0.0
    major = last_value(process, CounterName.MAJOR_PAGE_FAULTS) or 0.0
    whole = CpuUse(
        process=process_id,
        key=None,
        name=ALL,
        cpu_s=max(cpu_s, kernel),
        kernel_s=kernel,
        page_fault_s=min(minor * fault_s, kernel),
        error_s=_error(kernel, max(cpu_s, kernel), max(cpu_s, kernel)),
        minor_faults=minor,
        major_faults=major,
        samples=0,
    )
    inside = sorted(_by_region(process, process_id, regions, keys, fault_s), key=lambda use: -use.kernel_s)
    return [whole, *inside, *_outside(whole, inside)] if inside else [whole]


def _by_region(
    process: Process, process_id: str, regions: Iterable[Region], keys: Keys, fault_s: float
) -> Iterable[CpuUse]:
    known = {region.key: region for region in regions}
    rows = rows_of(process, "cpu_use")
    for subject in sorted({int(number) for number in rows["subject"]}) if len(rows) else []:
        region = known.get(keys[subject])
        of_region = rows[rows["subject"] == subject]
        asked_s = float(of_region["sum"].sum()) * process.tick_s
        if region is None or asked_s <= 0:
            continue
        used = of_region["x"].sum(axis=0)
        program_s = float(used[CpuUseFields.PROGRAM_TIME]) * 1e-9
        kernel_s = float(used[CpuUseFields.KERNEL_TIME]) * 1e-9
        minor, major = float(used[CpuUseFields.MINOR_FAULTS]), float(used[CpuUseFields.MAJOR_FAULTS])
        # A part waits, too: what was asked stands for all time in parts, not for the CPU time alone.
        times = (region.work_s + sum(region.waits.values()) + region.lock_wait_s) / asked_s
        yield CpuUse(
            process=process_id,
            key=region.key,
            name=region.name,
            cpu_s=(program_s + kernel_s) * times,
            kernel_s=kernel_s * times,
            page_fault_s=min(minor * fault_s, kernel_s) * times,
            error_s=_error(kernel_s, program_s + kernel_s, asked_s) * times,
            minor_faults=minor * times,
            major_faults=major * times,
            samples=int(of_region["count"].sum()),
        )


def _outside(whole: CpuUse, inside: Iterable[CpuUse]) -> Iterable[CpuUse]:
    """What is left of all; nothing where the regions' estimates leave nothing."""
    regions = list(inside)

    def rest(of_all: float, of_regions: Iterable[float]) -> float:
        return max(of_all - sum(of_regions), 0.0)

    cpu_s = rest(whole.cpu_s, (use.cpu_s for use in regions))
    kernel_s = min(rest(whole.kernel_s, (use.kernel_s for use in regions)), cpu_s)
    if cpu_s > 0:
        yield CpuUse(
            process=whole.process,
            key=None,
            name=OUTSIDE,
            cpu_s=cpu_s,
            kernel_s=kernel_s,
            page_fault_s=min(rest(whole.page_fault_s, (use.page_fault_s for use in regions)), kernel_s),
            error_s=math.hypot(whole.error_s, *(use.error_s for use in regions)),
            minor_faults=rest(whole.minor_faults, (use.minor_faults for use in regions)),
            major_faults=rest(whole.major_faults, (use.major_faults for use in regions)),
            samples=sum(use.samples for use in regions),
        )


def _error(kernel_s: float, cpu_s: float, seen_s: float) -> float:
    """Of a share that is known from ticks: as of a proportion among so many (Wilson's centre, normal width)."""
    if cpu_s <= 0:
        return 0.0
    ticks = max(min(seen_s, cpu_s) / _USUAL_TICK_S, 1.0)
    share = (kernel_s / cpu_s * ticks + 2) / (ticks + 4)
    return _Z * math.sqrt(share * (1 - share) / ticks) * cpu_s

"""Regions in which threads wait for what cores share: the same work with fewer threads, in another run, says so.

Without counters of the processor nothing in one run tells a thread that computes from one that waits for memory. But work that
takes more CPU time with more threads waits for something that they share: the bandwidth of memory, or a cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trimtab.model.report import Region, Report

# The work of a region takes so many times more CPU time with all threads than with fewer.
_SHARED = 1.25
# Of the run's time: shorter regions say little.
_LEAST_REGION = 0.2
# Of the run's time.
_LEAST_GAIN_SHARE = 0.01


@dataclass(frozen=True)
class Saturation:
    """A region whose work takes longer with more threads.

    Attributes:
        region, alone: with all threads, and with fewer.
        times: CPU time of its work with all threads, over that with fewer.
    """

    region: Region
    alone: Region
    times: float


def saturated_regions(report: Report, fewer: Report) -> Iterator[Saturation]:
    """Those whose work takes more CPU time with more threads, longest first. `fewer`: of a run with fewer threads."""
    before = {region.key: region for region in fewer.regions}
    delay = (report.time or {}).get("run_delay", 0.0)
    for region in sorted(report.regions, key=lambda candidate: -candidate.wall_s):
        alone = before.get(region.key)
        if alone is None or region.wall_s < _LEAST_REGION * report.observed_s:
            continue
        # Work is wall time of lanes: what they lacked a CPU for says nothing about memory.
        if alone.calls != region.calls or alone.threads >= region.threads or alone.work_s <= 0:
            continue
        times = region.work_s / alone.work_s
        if times >= _SHARED and times * (1 - delay) >= _SHARED:
            yield Saturation(region, alone, times)


def gain_of_fewer_threads(report: Report, fewer: Report) -> float:
    """What the run with fewer threads saves, seconds: of all regions, also those that take longer with fewer threads.

    gain = sum over the regions of both runs of (wall - wall with fewer threads); 0 if a region is in one of them alone, or is
    not entered as often.
    """
    before = {region.key: region for region in fewer.regions if not region.nested}
    regions = [region for region in report.regions if not region.nested]
    if {region.key for region in regions} != before.keys():
        return 0.0
    if any(region.calls != before[region.key].calls for region in regions):
        return 0.0
    return sum(region.wall_s - before[region.key].wall_s for region in regions)


def reason_for_fewer_threads(report: Report, fewer: Report) -> str:
    """Why the number of threads of `fewer` is worth a proof; empty: it is not."""
    saturation = next(saturated_regions(report, fewer), None)
    gain_s = gain_of_fewer_threads(report, fewer)
    if saturation is None or gain_s < _LEAST_GAIN_SHARE * report.observed_s:
        return ""
    region, alone = saturation.region, saturation.alone
    return (
        f"too many threads for the memory's bandwidth: in {region.name} {region.threads:.0f} threads took {region.wall_s:.3g} s, and "
        f"{alone.threads:.0f} threads {alone.wall_s:.3g} s, for the same work; with the other regions {gain_s:.3g} s less in all"
    )

"""Idle regions of a real program of the task runtime: its tasks sleep, so eight workers need no eight CPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trimtab.analysis.report import build
from trimtab.model.report import Report
from trimtab.readers import open_run

Workload = Callable[[str], Path]
Run = Callable[..., Any]
STEPS = 12


def report_of(run: Run, workload: Workload, *arguments: str) -> Report:
    watched = run(
        workload("reductions"), "--trimtab:workers=8", *arguments, options=("--trace", "--tune=off")
    )
    return build(open_run(watched.directory))


@pytest.mark.alone
@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ((), "true dependence"),
        (("--long-part-ms", "40"), "straggler"),
        (("--parts", "9"), "not enough workers"),
    ],
    ids=["dependence", "straggler", "workers"],
)
def test_each_reduction_is_an_idle_region(
    run: Run, workload: Workload, options: tuple[str, ...], verdict: str
) -> None:
    report = report_of(run, workload, *options)
    regions = report.idle_regions
    # A worker that has no CPU for long joins two of them.
    assert STEPS / 2 <= len(regions) <= STEPS
    ((most, count),) = Counter(region.verdict.value for region in regions).most_common(1)
    assert most == verdict and count > len(regions) / 2
    own = [region for region in regions if region.verdict.value == verdict]
    assert {region.breaking for region in own} == {"reduction"}
    ((initiating, _),) = Counter(region.initiating for region in own).most_common(1)
    # The ninth part begins at the moment at which the others end: sometimes before the region, sometimes within it.
    assert initiating == "part" or (initiating == "reduction" and "--parts" in options)
    by_name = {times.name: times for times in report.task_times}
    assert by_name["reduction"].count == STEPS
    assert by_name["reduction"].active_s >= STEPS * 0.006
    assert by_name["part"].ineligible_s > by_name["part"].eligible_s

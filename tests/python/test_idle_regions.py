"""Idle regions of task graphs on wide machines, with known truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scheduled_graph import MS, Graph, conjugate_gradient, process_of, stencil, trace_of
from synthetic import event, write_run
from trimtab.analysis.eligibility import StepFunction
from trimtab.analysis.idle_regions import IdleRegion, idle_regions_of, widest_group, workers_in
from trimtab.analysis.occupancy import Occupancy, dips_of, occupancy_of
from trimtab.analysis.report import build
from trimtab.model.enumerations import EventKind, IdleVerdict, WorkerState
from trimtab.readers import open_run
from trimtab.text.tables import tables
from trimtab.traces.tasks import NO_TASK, TaskTable, task_table_of

WORKERS = 64


def table_of(folder: Path, graph: Graph, workers: int = WORKERS) -> TaskTable:
    trace, _ = trace_of(folder, graph, workers)
    table = task_table_of(trace)
    assert table is not None
    return table


def regions_of(table: TaskTable, period_ns: int | None = None) -> tuple[IdleRegion, ...]:
    return idle_regions_of(table, widest_group(table), period_ns)


def kind(table: TaskTable, task: int) -> int:
    return int(table.subject[task])


def test_one_region_for_each_reduction(tmp_path: Path) -> None:
    """As published for conjugate gradients: 80 reductions, 80 idle regions, each with the true dependence named."""
    table = table_of(tmp_path, conjugate_gradient(80, WORKERS))
    regions = regions_of(table)
    assert len(regions) == 80
    product, reduction = 2, 3
    for region in regions:
        assert region.verdict is IdleVerdict.DEPENDENCE
        assert (kind(table, region.breaking), kind(table, region.initiating)) == (reduction, product)
        assert [kind(table, task) for task in region.chain] == [product, reduction, product]
        # The parts end 1 us after each other, then all but one wait for the reduction.
        waits_for_parts = sum(range(WORKERS)) * 1000
        assert region.lost_ns == waits_for_parts + (WORKERS - 1) * 2 * MS
        assert region.end_ns - region.begin_ns == (WORKERS - 1) * 1000 + 2 * MS


def test_sampled_as_published(tmp_path: Path) -> None:
    table = table_of(tmp_path, conjugate_gradient(80, WORKERS))
    exact, sampled = regions_of(table), regions_of(table, MS // 4)
    assert len(sampled) == 80
    for region, other in zip(exact, sampled, strict=True):
        assert abs(region.begin_ns - other.begin_ns) <= MS // 4
        assert abs(region.end_ns - other.end_ns) <= MS // 4
        assert (region.verdict, region.breaking) == (other.verdict, other.breaking)
        assert region.initiating == other.initiating


def test_a_straggler_is_longer_than_the_others_that_were_waited_for(tmp_path: Path) -> None:
    table = table_of(tmp_path, conjugate_gradient(10, WORKERS, slow=25 * MS))
    regions = regions_of(table)
    assert len(regions) == 10
    for step, region in enumerate(regions):
        assert region.verdict is IdleVerdict.STRAGGLER
        assert table.id[region.initiating] == step * (WORKERS + 1) + 1, "the slow part of that step"


def test_more_workers_would_have_helped(tmp_path: Path) -> None:
    """One part more than workers: it waits for a free worker, and all others then wait for it."""
    table = table_of(tmp_path, conjugate_gradient(10, WORKERS, tasks=WORKERS + 1))
    regions = regions_of(table)
    assert len(regions) == 10
    for region in regions:
        assert region.verdict is IdleVerdict.NOT_ENOUGH_WORKERS
        assert region.more_workers == 1
        assert region.earlier_ns == pytest.approx(10 * MS, rel=0.01)


def test_a_task_that_waits_for_one_worker_while_others_are_free(tmp_path: Path) -> None:
    graph = Graph()
    first = [graph.task("long", 10 * MS, worker=0)]
    first += [graph.task("short", 2 * MS) for _ in range(WORKERS - 1)]
    # Only worker 0 may run it, and all others have nothing to do.
    bound = graph.task("bound", 5 * MS, first[1:2], worker=0)
    reduction = graph.task("reduction", MS, [*first, bound])
    for _ in range(WORKERS):
        graph.task("last", 5 * MS, [reduction])
    table = table_of(tmp_path, graph)
    (region,) = regions_of(table)
    assert region.verdict is IdleVerdict.BAD_DISTRIBUTION
    names = [graph.kinds[kind(table, task) - 2] for task in region.chain]
    assert names == ["last", "reduction", "bound", "short"]
    assert (table.id[region.delayed], region.earlier_ns) == (bound, 8 * MS)


def test_workers_of_other_processes_were_free(tmp_path: Path) -> None:
    """The same region as `not enough workers`, but another process had nothing to do meanwhile."""
    table = table_of(tmp_path, conjugate_gradient(3, WORKERS, tasks=WORKERS + 1))
    free = StepFunction(np.array([0, table.end_of_trace_ns]), np.array([5, 0]))
    regions = idle_regions_of(table, widest_group(table), elsewhere=free)
    assert {region.verdict for region in regions} == {IdleVerdict.BAD_DISTRIBUTION}


def test_a_stencil_has_none(tmp_path: Path) -> None:
    """Its workers wait for neighbours only: there are always many at work."""
    assert regions_of(table_of(tmp_path, stencil(20, WORKERS))) == ()


def test_work_from_outside_of_tasks(tmp_path: Path) -> None:
    """Between two rounds nothing is recorded that made the second one ready."""
    process, _ = process_of(conjugate_gradient(0, WORKERS), WORKERS)
    for worker, lane in enumerate(process.lanes):
        begin, number = 30 * MS, 1000 + worker
        lane.events += [
            event(begin, EventKind.WORKER_STATE, 1, worker, arg=WorkerState.RUNS),
            event(begin, EventKind.TASK_CREATED, 2, number),
            event(begin, EventKind.TASK_BEGIN, 2, number),
            event(begin + MS, EventKind.TASK_END, 2, number),
        ]
    process.wall = 0.05
    run = open_run(write_run(tmp_path / "run", process))
    (region,) = build(run).idle_regions
    assert region.verdict is IdleVerdict.OUTSIDE
    assert (region.breaking, region.initiating) == (None, None)


def test_few_workers_are_said_to_be_few(tmp_path: Path) -> None:
    process, _ = process_of(conjugate_gradient(4, 3), 3)
    report = build(open_run(write_run(tmp_path / "run", process)))
    assert report.idle_regions == ()
    assert report.no_idle_regions is not None and report.no_idle_regions.startswith("3 workers")


def test_the_report_groups_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = conjugate_gradient(120, 8)
    process, _ = process_of(graph, 8)
    run = open_run(write_run(tmp_path / "run", process))
    report = build(run)
    (group,) = report.idle_region_groups
    assert (group.count, group.verdict) == (120, IdleVerdict.DEPENDENCE)
    assert (group.breaking, group.initiating) == ("reduction", "product")
    assert len(report.idle_regions) == 100
    assert sum(region.lane_time_s for region in report.idle_regions) < group.lane_time_s
    assert report.idle_regions[0].chain == ("product", "reduction", "product")
    assert [(times.name, times.count) for times in report.task_times] == [
        ("product", 121 * 8),
        ("reduction", 120),
    ]
    tables(report, tmp_path)
    printed = " ".join(capsys.readouterr().out.split())
    assert "product <- reduction <- product (running when it began)" in printed


def brute_force(busy: list[int], lanes: int) -> list[tuple[int, int]]:
    """Regions of a count at the moments 0, 1, 2, ..., by the words of the definition."""
    regions, begin, is_low = [], None, False
    was_full = False
    for moment, count in enumerate(busy):
        if count >= lanes:
            if begin is not None and is_low:
                regions.append((begin, moment))
            begin, is_low, was_full = None, False, True
            continue
        if begin is None and was_full:
            begin = moment
        is_low = is_low or (begin is not None and count <= 1)
    return regions


@pytest.mark.parametrize("seed", range(30))
def test_dips_of_random_counts(seed: int) -> None:
    generator = np.random.default_rng(seed)
    lanes = int(generator.integers(2, 6))
    busy = generator.integers(0, lanes + 1, int(generator.integers(0, 60)))
    moments = np.arange(len(busy), dtype=np.int64)
    dips = dips_of(Occupancy(moments, busy, np.full(len(busy), lanes)))
    item = list(zip(dips.begin_ns.tolist(), dips.end_ns.tolist(), strict=True))
    assert item == brute_force(busy.tolist(), lanes)
    for begin, end, lost in zip(dips.begin_ns, dips.end_ns, dips.lost_ns, strict=True):
        assert lost == sum(lanes - busy[begin:end])


def test_short_gaps_between_tasks_are_not_idle(tmp_path: Path) -> None:
    graph = Graph()
    for _ in range(3):
        for _ in range(8):
            graph.task("t", MS)
    table = table_of(tmp_path, graph, 8)
    occupancy = occupancy_of(table.lanes, widest_group(table))
    assert occupancy.busy.tolist() == [8, 0]
    assert workers_in(table, widest_group(table)) == 8
    assert NO_TASK == -1

"""How CPU time was used: by the program or the kernel, where, and what findings about memory follow from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reports import build, typed
from synthetic import LaneFile, ProcessFiles, S, counter, fact, fields, row, subject, team_of, write_run
from trimtab.model.enumerations import CounterName, CpuUseFields, Metric
from trimtab.readers import open_run
from trimtab.text.cpu_use import cpu_use_rows, cpu_use_table

REGION = 1
COUNTERS = (
    CounterName.KERNEL_TIME,
    CounterName.MINOR_PAGE_FAULTS,
    CounterName.MAJOR_PAGE_FAULTS,
    CounterName.PEAK_MEMORY,
    CounterName.HUGE_PAGES,
    CounterName.PAGE_FAULT_COST,
    CounterName.PAGE_RELEASE_COST,
    CounterName.ARENA_WAITS,
    CounterName.MEMORY_MAP_WAITS,
    CounterName.ARENA_WAITERS,
    CounterName.CONTENDED_KERNEL_TIME,
    CounterName.ARENAS,
    CounterName.FULLEST_NODE,
    CounterName.REMOTE_PAGES,
    CounterName.NODE_DISTANCE,
    CounterName.PROCESS_RUN_DELAY,
)
MIB = 1 << 20


def asked(seconds: float, kernel_s: float, faults: int, count: int = 100) -> bytes:
    """What a lane's sampled parts of the region used."""
    return row(
        REGION,
        Metric.CPU_USE,
        int(seconds * S),
        count=count,
        x=fields(
            {
                CpuUseFields.PROGRAM_TIME: int((seconds - kernel_s) * S),
                CpuUseFields.KERNEL_TIME: int(kernel_s * S),
                CpuUseFields.MINOR_FAULTS: faults,
            }
        ),
    )


def run_of(
    folder: Path, samples: dict[str, float], *, use: list[list[bytes]] | None = None
) -> dict[str, Any]:
    """A run of 10 s: a region of 8 s with two lanes that work all the time, 2 s before it. `use`: rows by lane."""
    rows = use or [[], []]
    lanes = [
        LaneFile([*team_of(REGION, 8.0, [8.0, 8.0]), *rows[0]], run_s=10.0),
        LaneFile(rows[1], run_s=8.0),
    ]
    names = [counter(number, name, "1") for number, name in enumerate(COUNTERS, 1)]
    process = ProcessFiles(
        lanes,
        [subject(REGION, name="compute"), *names, fact("page bytes", "4096")],
        [(10.0, number, samples[name]) for number, name in enumerate(COUNTERS, 1) if name in samples],
        parallel=8.0,
        cpus=2.0,
        user=18.0,
    )
    return build(open_run(write_run(folder / "run", process)))


RETURNED = {
    CounterName.KERNEL_TIME: 4.0,
    CounterName.MINOR_PAGE_FAULTS: 2_000_000.0,
    CounterName.PEAK_MEMORY: 100.0 * MIB,
    CounterName.PAGE_FAULT_COST: 1e-6,
    CounterName.PAGE_RELEASE_COST: 0.25e-6,
}


def findings_of(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {finding["cause"]: finding for finding in report["findings"]}


def test_sampled_parts_stand_for_all_parts_of_their_region(tmp_path: Path) -> None:
    # A quarter of the time in parts was asked: a fifth of that was the kernel's.
    report = run_of(tmp_path, RETURNED, use=[[asked(2.0, 0.5, 250_000)], [asked(2.0, 0.3, 150_000)]])
    whole, region, outside = report["cpu_use"]
    assert (whole["name"], whole["cpu_s"], whole["kernel_s"], whole["samples"]) == ("all", 18.0, 4.0, 0)
    assert whole["page_fault_s"] == pytest.approx(2.0)
    assert (region["name"], region["samples"]) == ("compute", 200)
    assert region["cpu_s"] == pytest.approx(16.0) and region["kernel_s"] == pytest.approx(3.2)
    assert region["minor_faults"] == pytest.approx(1_600_000)
    assert region["page_fault_s"] == pytest.approx(1.6)
    # 1000 ticks of 4 ms were seen: two standard deviations of a share of 0.2 are 0.025 of 16 s.
    assert region["error_s"] == pytest.approx(0.4, rel=0.05)
    assert outside["name"] == "outside"
    assert outside["kernel_s"] == pytest.approx(0.8) and outside["minor_faults"] == pytest.approx(400_000)


def test_memory_that_is_given_back_and_taken_again(tmp_path: Path) -> None:
    report = run_of(tmp_path, RETURNED, use=[[asked(2.0, 0.5, 250_000)], [asked(2.0, 0.3, 150_000)]])
    finding = findings_of(report)["memory given back and taken again"]
    again = 2_000_000 - 100 * MIB / 4096
    # The region's faults on two threads at the same time, the others one after another, and all pages given back by one.
    gain = again / 2e6 * (1.6 / 2 + 0.4) + again * 0.25e-6
    assert finding["gain_s"] == pytest.approx(gain)
    assert "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1073741824" in finding["action"]


def test_without_regions_all_faults_are_one_after_another(tmp_path: Path) -> None:
    report = run_of(tmp_path, RETURNED)
    assert [use["name"] for use in report["cpu_use"]] == ["all"]
    again = 2_000_000 - 100 * MIB / 4096
    assert findings_of(report)["memory given back and taken again"]["gain_s"] == pytest.approx(
        again * 1.25e-6
    )


def test_more_than_the_kernel_used_cannot_be_saved(tmp_path: Path) -> None:
    report = run_of(tmp_path, {**RETURNED, CounterName.KERNEL_TIME: 0.5})
    assert findings_of(report)["memory given back and taken again"]["gain_s"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "changed",
    [
        {CounterName.PEAK_MEMORY: 2_000_000 * 4096.0},  # each page once
        {CounterName.MINOR_PAGE_FAULTS: 0.0},
        {CounterName.PAGE_FAULT_COST: None},  # it was not measured
        {CounterName.PEAK_MEMORY: None},
        {CounterName.KERNEL_TIME: 0.01},  # not worth a word
    ],
)
def test_no_finding_without_evidence(tmp_path: Path, changed: dict[str, float | None]) -> None:
    samples = {name: value for name, value in {**RETURNED, **changed}.items() if value is not None}
    assert "memory given back and taken again" not in findings_of(run_of(tmp_path, samples))


FRESH = {
    **RETURNED,
    CounterName.MINOR_PAGE_FAULTS: 1_000_000.0,
    CounterName.PEAK_MEMORY: 1_000_000 * 4096.0,
    CounterName.HUGE_PAGES: 0.0,
}


def test_small_pages_where_huge_ones_fit(tmp_path: Path) -> None:
    finding = findings_of(run_of(tmp_path, FRESH))["small pages"]
    assert finding["gain_s"] == pytest.approx(1_000_000 * 1e-6 * 0.8)
    assert "glibc.malloc.hugetlb=1" in finding["action"]


@pytest.mark.parametrize(
    "changed",
    [{CounterName.HUGE_PAGES: 2e9}, {CounterName.HUGE_PAGES: None}, {CounterName.PEAK_MEMORY: 10.0 * MIB}],
)
def test_memory_that_is_small_or_huge_already(tmp_path: Path, changed: dict[str, float | None]) -> None:
    samples = {name: value for name, value in {**FRESH, **changed}.items() if value is not None}
    assert "small pages" not in findings_of(run_of(tmp_path, samples))


def test_nothing_is_said_where_nothing_was_counted(tmp_path: Path) -> None:
    report = run_of(tmp_path, {})
    assert report["cpu_use"] == [] and "small pages" not in findings_of(report)


WAITED = {
    CounterName.KERNEL_TIME: 1.0,
    CounterName.ARENA_WAITS: 6.0,
    CounterName.ARENA_WAITERS: 2.0,
    CounterName.ARENAS: 1.0,
}


def test_threads_that_wait_for_each_other_in_malloc(tmp_path: Path) -> None:
    finding = findings_of(run_of(tmp_path, WAITED))["allocator contention"]
    assert finding["gain_s"] == pytest.approx((6.0 + 1.0) / 2)
    assert "2 threads waited 6 s for each other in malloc and free, which had 1 arena;" in finding["evidence"]
    assert "MALLOC_ARENA_MAX" in finding["action"]


def test_with_enough_arenas_the_advice_is_another(tmp_path: Path) -> None:
    finding = findings_of(run_of(tmp_path, {**WAITED, CounterName.ARENAS: 4.0}))["allocator contention"]
    assert (
        "glibc.malloc.tcache_count=512" in finding["action"] and "MALLOC_ARENA_MAX" not in finding["action"]
    )


def test_the_kernels_time_counts_as_far_as_waits_explain_it(tmp_path: Path) -> None:
    """Page faults are no waits, and whoever waits little has not made the kernel busy."""
    faults = {
        CounterName.KERNEL_TIME: 4.0,
        CounterName.MINOR_PAGE_FAULTS: 3_500_000.0,
        CounterName.PEAK_MEMORY: 20_000.0 * MIB,
        CounterName.PAGE_FAULT_COST: 1e-6,
        CounterName.PAGE_RELEASE_COST: 0.0,
    }
    gain = findings_of(run_of(tmp_path / "a", {**WAITED, **faults}))["allocator contention"]["gain_s"]
    assert gain == pytest.approx((6.0 + 0.5) / 2)
    little = {**WAITED, CounterName.KERNEL_TIME: 4.0, CounterName.ARENA_WAITS: 0.5}
    gain = findings_of(run_of(tmp_path / "b", little))["allocator contention"]["gain_s"]
    assert gain == pytest.approx((0.5 + 0.5) / 2)
    contended = {**little, CounterName.CONTENDED_KERNEL_TIME: 3.0, CounterName.ARENA_WAITERS: 1.0}
    finding = findings_of(run_of(tmp_path / "c", contended))["allocator contention"]
    assert finding["gain_s"] == finding["gain_low_s"] == pytest.approx((0.5 + 3.0) / 2)
    assert finding["gain_high_s"] == pytest.approx((0.5 + 4.0) / 2)


@pytest.mark.parametrize(
    "other",
    [{CounterName.ARENA_WAITS: 0.0}, {CounterName.ARENA_WAITERS: 0.0}, {CounterName.ARENA_WAITS: 0.01}],
)
def test_without_waits_malloc_is_no_finding(tmp_path: Path, other: dict[str, float]) -> None:
    assert "allocator contention" not in findings_of(
        run_of(tmp_path, {**WAITED, CounterName.KERNEL_TIME: 0.0, **other})
    )


ON_ONE_NODE = {
    CounterName.KERNEL_TIME: 0.1,
    CounterName.PEAK_MEMORY: 1000.0 * MIB,
    CounterName.FULLEST_NODE: 0.98,
    CounterName.REMOTE_PAGES: 0.5,
    CounterName.NODE_DISTANCE: 2.0,
}


def test_pages_on_the_node_of_one_thread(tmp_path: Path) -> None:
    finding = findings_of(run_of(tmp_path, ON_ONE_NODE))["memory on one node"]
    # 8 s of work on each thread, half of the pages remote, each access to them twice as long: between nothing and 2 s.
    assert finding["gain_low_s"] == 0.0 and finding["gain_high_s"] == pytest.approx(8.0 * 0.5 * 0.5)
    assert finding["gain_s"] == pytest.approx(1.0)
    assert "numactl --interleave=all" in finding["action"]


@pytest.mark.parametrize(
    "other",
    [
        {CounterName.FULLEST_NODE: 0.5},
        {CounterName.REMOTE_PAGES: 0.0},
        {CounterName.NODE_DISTANCE: 1.0},
        {CounterName.NODE_DISTANCE: 0.0},
    ],
)
def test_pages_that_lie_well_are_no_finding(tmp_path: Path, other: dict[str, float]) -> None:
    assert "memory on one node" not in findings_of(run_of(tmp_path, {**ON_ONE_NODE, **other}))


def test_waits_for_a_holder_without_a_cpu_are_not_mallocs(tmp_path: Path) -> None:
    """18 s of CPU time and 6 s without a CPU: a quarter of the waits is explained by that."""
    crowded = {**WAITED, CounterName.PROCESS_RUN_DELAY: 6.0, CounterName.KERNEL_TIME: 0.0}
    finding = findings_of(run_of(tmp_path, crowded))["allocator contention"]
    assert finding["gain_s"] == pytest.approx(6.0 * 0.75 / 2)
    assert "(1.5 s of it because who had the lock had no CPU)" in finding["evidence"]


def test_many_processes_of_one_program_are_one_row() -> None:
    """A script starts the same program again and again, with other arguments each time; a process with regions stays alone."""
    commands = {"1": "sed", "2": "/bin/sed", "3": "sed", "4": "sed", "5": "sed", "6": "cat"}
    uses = [
        {
            "process": number,
            "name": "all",
            "cpu_s": 0.5,
            "kernel_s": 0.4,
            "error_s": 0.1,
            "minor_faults": 10.0,
        }
        for number in ("1", "2", "3", "4")
    ]
    uses += [{"process": "5", "name": name, "cpu_s": 3.0} for name in ("all", "compute")]
    uses += [{"process": "6", "name": "all", "cpu_s": 1.0}]
    processes = [{"id": number, "command": [name, number]} for number, name in commands.items()]
    report = typed({"cpu_use": uses, "processes": processes})
    rows = cpu_use_rows(report)
    assert [(row.program, row.process, row.use.name) for row in rows] == [
        ("sed", "5", "all"),
        ("sed", "5", "compute"),
        ("sed", "4 processes", "all"),
        ("cat", "6", "all"),
    ]
    together = rows[2].use
    assert (together.cpu_s, together.kernel_s, together.minor_faults) == (2.0, 1.6, 40.0)
    assert together.error_s == pytest.approx(0.2)
    shown = cpu_use_table(report)
    assert shown is not None and shown.row_count == len(rows)

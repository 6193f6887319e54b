"""What a program could be started with: what a run must have shown, and what of the user's stands against it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from reports import typed
from trimtab.machine_files import Machine
from trimtab.model.report import Report
from trimtab.tuning.allocator_starts import installed_allocators
from trimtab.tuning.node_starts import nodes_with_memory
from trimtab.tuning.start_situation import WIDE, Situation
from trimtab.tuning.start_sources import SOURCES, most_starts, proposed_starts, works_in_children

QUIET = {"run_delay": 0.0, "barrier_wait": 0.0, "runtime": 0.0, "arrival": 0.0, "work": 1.0}
CACHE = """2 libs found in cache `/etc/ld.so.cache'
\tlibtcmalloc_minimal.so.4 (libc6,x86-64) => /lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4
\tlibjemalloc.so.2 (libc6,x86-64) => /lib/x86_64-linux-gnu/libjemalloc.so.2
\tlibjemalloc.so.2 (libc6) => /lib/i386-linux-gnu/libjemalloc.so.2
\tlibc.so.6 (libc6,x86-64) => /lib/x86_64-linux-gnu/libc.so.6
"""


def report(threads: int = 2, runtime: str = "libgomp", **fields: Any) -> Report:
    """Of a run of 10 s with one region, and nothing to say about it."""
    standard = {
        "time": QUIET | fields.pop("shares", {}),
        "threads": threads,
        "observed_s": 10.0,
        "regions": [{"runtime": runtime}],
    }
    return typed(standard | fields)


def found(cause: str, evidence: str = "seen") -> dict[str, Any]:
    return {"cause": cause, "evidence": evidence}


def blamed(cause: str, share: float) -> dict[str, Any]:
    return {"cause": cause, "share": share}


def python_process(begin_s: float, wall_s: float = 1.0, **fields: Any) -> dict[str, Any]:
    return {"command": ["/usr/bin/python3.11", "fit.py"], "begin_s": begin_s, "wall_s": wall_s, **fields}


def tried(
    observed: Report, environment: Mapping[str, str] | None = None, *, cpus: float = 2, **fields: Any
) -> list[str]:
    machine = fields.pop("machine", Machine(Path("/nonexistent")))
    situation = Situation(observed, environment or {}, cpus, machine, **fields)
    return [start.text for start in proposed_starts(situation)]


def test_nothing_is_tried_without_evidence() -> None:
    assert tried(report()) == []
    assert tried(report(), loader_cache=CACHE, may_preload=True) == []


@pytest.mark.parametrize(
    ("runtime", "short"), [("libgomp", "GOMP_SPINCOUNT=1000"), ("libomp", "KMP_BLOCKTIME=1")]
)
def test_how_threads_wait(runtime: str, short: str) -> None:
    crowded = report(runtime=runtime, shares={"run_delay": 0.2})
    assert tried(crowded) == ["OMP_WAIT_POLICY=passive", short, "OMP_NUM_THREADS=1"]
    spinning = report(runtime=runtime, findings=[found("wait policy")])
    assert tried(spinning) == ["OMP_WAIT_POLICY=passive", short]
    sleepy = report(runtime=runtime, blame=[blamed("wake-up latency", 0.05)])
    assert tried(sleepy) == ["OMP_WAIT_POLICY=active"]
    assert tried(report(findings=[found("regions too small")])) == ["OMP_WAIT_POLICY=active"]
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY"):
        assert tried(sleepy, {name: "1"}) == []


def test_how_many_threads() -> None:
    assert tried(report(threads=4), cpus=2) == ["OMP_NUM_THREADS=2"]
    few = report(threads=1, findings=[found("fewer threads than CPUs")])
    # A library that leaves one CPU free, and one that asks for half of what it is offered, then have two threads.
    assert tried(few, cpus=2) == ["OMP_NUM_THREADS=3", "OMP_NUM_THREADS=4"]
    assert tried(few, cpus=8) == ["OMP_NUM_THREADS=15", "OMP_NUM_THREADS=32"]
    assert tried(report(threads=6, findings=[found("fewer threads than CPUs")]), cpus=8) == [
        "OMP_NUM_THREADS=10"
    ]
    assert tried(few, {"OMP_THREAD_LIMIT": "1"}, cpus=2) == []
    waiting = report(threads=8, shares={"barrier_wait": 0.5})
    assert tried(waiting, cpus=8) == ["OMP_NUM_THREADS=4", "OMP_NUM_THREADS=1"]


def test_where_threads_run() -> None:
    moving = report(os={"migrations": 1000})
    assert tried(moving) == ["OMP_PROC_BIND=true OMP_PLACES=threads"]
    assert tried(moving, cpus=8) == [
        "OMP_PROC_BIND=spread OMP_PLACES=cores",
        "OMP_PROC_BIND=close OMP_PLACES=cores",
    ]
    for name in ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"):
        assert tried(moving, {name: "false"}) == []
    assert tried(report(os={"migrations": 100})) == [], "five times a second is what the kernel does anyway"
    assert tried(report(threads=1, os={"migrations": 1000})) == []
    two = report(os={"migrations": 1000}, processes=[{"takes_part": True}, {"takes_part": True}])
    assert tried(two) == [], "both would bind their threads to the same CPUs"


def test_threads_of_pythons_libraries() -> None:
    processes = [python_process(0.0), python_process(0.1), python_process(5.0)]
    crowded = report(regions=[], workers=[{}], processes=processes, shares={"run_delay": 0.2})
    assert tried(crowded, cpus=8) == [
        "OPENBLAS_NUM_THREADS=4 MKL_NUM_THREADS=4 OMP_NUM_THREADS=4",
        "OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 OMP_NUM_THREADS=1",
    ]
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS"):
        assert tried(crowded, {name: "2"}, cpus=8) == []
    others = [{**process, "command": ["/usr/bin/pythonic"]} for process in processes]
    assert tried(report(regions=[], workers=[{}], processes=others, shares={"run_delay": 0.2}), cpus=8) == []


def test_threads_of_a_library_that_nobody_sees() -> None:
    used = report(regions=[], workers=[{}], processes=[python_process(0.0)], os={"cpu_s": 19.0})
    assert tried(used, cpus=2) == ["OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1"]
    alone = report(regions=[], workers=[{}], processes=[python_process(0.0)], os={"cpu_s": 9.0})
    assert tried(alone, cpus=2) == []


def test_allocators_need_consent_and_evidence() -> None:
    returned = report(findings=[found("memory given back and taken again")])
    allocators = [
        "LD_PRELOAD=/lib/x86_64-linux-gnu/libjemalloc.so.2",
        "LD_PRELOAD=/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4",
    ]

    def preloaded(observed: Report, environment: Mapping[str, str] | None = None, **fields: Any) -> list[str]:
        starts = tried(observed, environment, loader_cache=CACHE, **fields)
        return [text for text in starts if text.startswith("LD_PRELOAD")]

    assert preloaded(returned, may_preload=True) == allocators
    assert preloaded(returned) == [], "the user has not agreed"
    assert preloaded(returned, is_wide=True) == []
    assert preloaded(returned, {"LD_PRELOAD": "libmine.so"}, may_preload=True) == []
    assert preloaded(report(), may_preload=True) == []
    assert preloaded(report(), may_preload=True, is_wide=True) == allocators
    used = {"key": None, "cpu_s": 10.0, "page_fault_s": 0.5, "kernel_s": 0.6}
    assert preloaded(report(cpu_use=[used]), may_preload=True) == allocators
    kernel = {"key": None, "cpu_s": 10.0, "page_fault_s": 0.0, "kernel_s": 1.5}
    assert preloaded(report(cpu_use=[kernel]), may_preload=True) == allocators
    assert installed_allocators("") == []


@pytest.mark.parametrize(("nodes", "count"), [("0", 1), ("0-1", 2), ("0,2-3", 3), ("", 0)])
def test_memory_of_several_nodes(tmp_path: Path, nodes: str, count: int) -> None:
    folder = tmp_path / "sys/devices/system/node"
    folder.mkdir(parents=True)
    (folder / "has_memory").write_text(f"{nodes}\n")
    machine = Machine(tmp_path)
    assert nodes_with_memory(machine) == count
    large = report(os={"max_rss_kb": 1_000_000})
    expected = ["TRIMTAB_INTERLEAVE=1"] if count > 1 else []
    assert tried(large, machine=machine) == expected
    assert tried(large, {"TRIMTAB_INTERLEAVE": "0"}, machine=machine) == []
    assert tried(report(os={"max_rss_kb": 1_000}), machine=machine) == []


def test_wide_tries_all_that_the_user_leaves_open() -> None:
    observed = report(threads=8, processes=[python_process(0.0, takes_part=True)])
    situation = Situation(
        observed, {}, 8, Machine(Path("/nonexistent")), is_wide=True, may_preload=True, loader_cache=CACHE
    )
    starts = proposed_starts(situation)
    assert {name for start in starts for name in start.environment} == {
        *("GLIBC_TUNABLES", "LD_PRELOAD", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OMP_NUM_THREADS"),
        *("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES"),
    }
    assert WIDE in {start.reason for start in starts}
    assert len(starts) <= most_starts(may_preload=True)


def test_no_source_proposes_more_than_it_says() -> None:
    everything = report(
        threads=16,
        processes=[python_process(0.0), python_process(0.0)],
        findings=[found("memory given back and taken again"), found("fewer threads than CPUs")],
        schedulers=[
            {
                "key": f"runtime {i}",
                "now": "local",
                "advised": None,
                "others": [f"policy {k}" for k in range(9)],
            }
            for i in range(3)
        ],
        shares={"run_delay": 0.3, "barrier_wait": 0.4, "runtime": 0.2},
        os={"migrations": 100_000, "max_rss_kb": 1_000_000},
    )
    for cpus in (1.0, 2.5, 8.0, 64.0):
        situation = Situation(
            everything, {}, cpus, Machine(Path("/")), is_wide=True, may_preload=True, loader_cache=CACHE
        )
        assert len(proposed_starts(situation)) <= most_starts(may_preload=True)
        longer = [len(source.propose(situation)) > source.most for source in SOURCES]
        assert sum(longer) <= 1, "only scheduling policies may be cut off"


def test_work_in_programs_that_the_first_one_starts() -> None:
    shell = {"pid": 10, "begin_s": 0.0, "takes_part": False, "forked_from": None}
    app = {"pid": 11, "begin_s": 0.1, "takes_part": True, "forked_from": None}
    assert works_in_children(typed({"processes": [shell, app]}))
    assert not works_in_children(typed({"processes": [{**shell, "takes_part": True}, app]}))
    assert not works_in_children(typed({"processes": [shell, {**app, "forked_from": 10}]})), (
        "the same program"
    )
    replaced = {**app, "pid": 10, "image": 1}
    assert not works_in_children(typed({"processes": [shell, replaced]}))
    assert not works_in_children(typed({}))


def region(threads: float, wall_s: float) -> dict[str, Any]:
    return {
        "key": "a",
        "name": "triad",
        "runtime": "libgomp",
        "calls": 10,
        "threads": threads,
        "wall_s": wall_s,
        "work_s": threads * wall_s,
    }


def test_too_many_threads_for_the_memorys_bandwidth() -> None:
    many = report(threads=8, regions=[region(8, 8.0)])
    few = report(threads=4, regions=[region(4, 6.0)])
    assert tried(many, cpus=8) == []
    assert tried(many, cpus=8, fewer=few) == ["OMP_NUM_THREADS=4"]
    assert tried(many, {"OMP_NUM_THREADS": "8"}, cpus=8, fewer=few) == []
    assert tried(many, cpus=8, fewer=report(threads=4, regions=[region(4, 8.0)])) == []


@pytest.fixture
def large_machine(tmp_path: Path) -> Machine:
    """Two nodes of memory, and huge pages for who asks."""
    for file, text in {
        "sys/devices/system/node/has_memory": "0-1\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text(text)
    return Machine(tmp_path)


# What there is to be tried, and the variables of the user that stand against it.
MALLOC = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_")
THREADS = ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "KMP_ALL_THREADS", "KMP_DEVICE_THREAD_LIMIT")
WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY")
PLACES = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_HW_SUBSET")
CONTRADICTED_BY = {
    "glibc.malloc.mmap_threshold": MALLOC,
    "glibc.malloc.tcache_count": MALLOC,
    "glibc.malloc.hugetlb": MALLOC,
    "OMP_WAIT_POLICY=passive": WAITING,
    "OMP_WAIT_POLICY=active": WAITING,
    "GOMP_SPINCOUNT": WAITING,
    "OMP_NUM_THREADS": THREADS,
    "OMP_PROC_BIND": PLACES,
    "LD_PRELOAD": ("LD_PRELOAD",),
    "TRIMTAB_INTERLEAVE": ("TRIMTAB_INTERLEAVE",),
}
EVERY_VARIABLE = sorted({name for names in CONTRADICTED_BY.values() for name in names})


@pytest.mark.parametrize("users", ["", *EVERY_VARIABLE])
@pytest.mark.parametrize("runtime", ["libgomp", "libomp"])
def test_each_setting_against_each_variable_of_the_user(
    large_machine: Machine, users: str, runtime: str
) -> None:
    """Whatever the user has set, that and its like are left, and all others are tried."""
    observed = report(threads=2, runtime=runtime, os={"max_rss_kb": 500_000})
    environment = {users: "1"} if users else {}
    texts = tried(
        observed,
        environment,
        machine=large_machine,
        is_wide=True,
        may_preload=True,
        loader_cache=CACHE,
        cpus=2,
    )
    for setting, names in CONTRADICTED_BY.items():
        name = setting if runtime == "libgomp" or setting != "GOMP_SPINCOUNT" else "KMP_BLOCKTIME"
        assert any(name in text for text in texts) == (users not in names), (setting, texts)


@pytest.mark.parametrize(
    "tunable", ["glibc.malloc.mmap_threshold", "glibc.malloc.tcache_count", "glibc.malloc.hugetlb"]
)
def test_each_tunable_of_the_user_is_left_and_the_others_are_tried(
    large_machine: Machine, tunable: str
) -> None:
    observed = report(os={"max_rss_kb": 500_000})
    texts = tried(observed, {"GLIBC_TUNABLES": f"{tunable}=1"}, machine=large_machine, is_wide=True)
    tunables = [text for text in texts if text.startswith("GLIBC_TUNABLES=")]
    others = {"glibc.malloc.trim_threshold", "glibc.malloc.tcache_count", "glibc.malloc.hugetlb"} - {tunable}
    assert not any(tunable in text for text in tunables)
    assert all(any(other in text for text in tunables) for other in others)


def test_memory_on_one_node_is_the_reason_for_all_nodes(large_machine: Machine) -> None:
    observed = report(os={"max_rss_kb": 500_000}, findings=[found("memory on one node", "98% on one")])
    situation = Situation(observed, {}, 2, large_machine)
    (start,) = [entry for entry in proposed_starts(situation) if "TRIMTAB_INTERLEAVE" in entry.environment]
    assert start.reason == "98% on one"

"""One small program per construct, built by gcc, g++ and gfortran: what is recorded is what was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from probe_run import UNKNOWN, Recorded, check_teams, record
from trimtab.model.enumerations import EventKind, Metric

LEVELS = ("-O0", "-O2")


def _c(body: str, before: str = "") -> str:
    return f"#include <omp.h>\n#include <stdio.h>\nint a[1000];\n{before}\nint main(void) {{\n{body}\nreturn 0; }}\n"


LOOPS = {
    # clause: (schedule, chunk, chunks or None where the runtime decides)
    "dynamic": ("dynamic", 1, 1000),
    "dynamic, 7": ("dynamic", 7, 143),
    "monotonic: dynamic, 7": ("dynamic", 7, 143),
    "nonmonotonic: dynamic, 7": ("dynamic", 7, 143),
    "guided": ("guided", 1, None),
    "guided, 16": ("guided", 16, None),
    "nonmonotonic: guided, 16": ("guided", 16, None),
    "runtime": ("runtime", 0, None),
    "monotonic: runtime": ("runtime", 0, None),
}


@pytest.mark.parametrize("optimize", LEVELS)
@pytest.mark.parametrize("clause", LOOPS)
@pytest.mark.parametrize("form", ["combined", "inside", "downward", "unsigned"])
def test_loop(tmp_path: Path, optimize: str, clause: str, form: str) -> None:
    """Loops that ask the runtime for their chunks, in a region of their own or within one."""
    schedule, chunk, chunks = LOOPS[clause]
    head = {
        "combined": f"#pragma omp parallel for schedule({clause})\nfor (int i = 0; i < 1000; i++) a[i]++;",
        "inside": f"#pragma omp parallel\n#pragma omp for schedule({clause})\n"
        "for (int i = 0; i < 2000; i += 2) a[i / 2]++;",
        "downward": f"#pragma omp parallel for schedule({clause})\nfor (int i = 999; i >= 0; i--) a[i]++;",
        "unsigned": f"#pragma omp parallel for schedule({clause})\n"
        "for (unsigned long long i = 0; i < 1000; i++) a[i]++;",
    }[form]
    seen_values = record(tmp_path, "gcc", _c(head), (optimize, "-fopenmp"))
    region = seen_values.only("region")
    assert (region.count, region.threads, region.most_threads) == (1, 4, 4)
    loop = seen_values.only("loop")
    assert (loop.schedule, loop.count, loop.iterations, loop.chunk_size, loop.trip_count) == (
        schedule,
        4,
        1000,
        chunk,
        1000,
    )
    if chunks is not None:
        assert loop.chunks == chunks
    else:
        assert 4 <= loop.chunks <= 1000


@pytest.mark.parametrize("optimize", LEVELS)
@pytest.mark.parametrize("schedule", ["static", "static, 5"])
def test_static_loop_is_inferred(tmp_path: Path, optimize: str, schedule: str) -> None:
    """GCC inlines static loops: that there was one is known, its iterations are not."""
    body = f"for (int r = 0; r < 3; r++)\n#pragma omp parallel for schedule({schedule})\n"
    seen_values = record(
        tmp_path, "gcc", _c(body + "for (int i = 0; i < 1000; i++) a[i]++;"), (optimize, "-fopenmp")
    )
    assert seen_values.only("region").count == 3
    loop = seen_values.only("loop")
    assert (loop.schedule, loop.count, loop.trip_count) == ("static (inferred)", 12, UNKNOWN)


@pytest.mark.parametrize("optimize", LEVELS)
@pytest.mark.parametrize("schedule", ["static, 3", "dynamic, 3", "guided, 3", "runtime"])
@pytest.mark.parametrize("number", ["int", "unsigned long long"])
def test_ordered(tmp_path: Path, optimize: str, schedule: str, number: str) -> None:
    """Ordered loops are known whole, and each iteration waits for its turn once."""
    body = f"""int sum = 0;
#pragma omp parallel for ordered schedule({schedule})
for ({number} i = 0; i < 100; i++) {{
#pragma omp ordered
sum = sum * 3 + (int)i;
}}
printf("%d\\n", sum);"""
    seen_values = record(tmp_path, "gcc", _c(body), (optimize, "-fopenmp"), OMP_SCHEDULE="dynamic,3")
    loop = seen_values.only("loop")
    assert (loop.schedule, loop.iterations, loop.trip_count) == (schedule.split(",")[0], 100, 100)
    assert seen_values.only("wait", "ordered").count == 100


@pytest.mark.parametrize("optimize", LEVELS)
@pytest.mark.parametrize("schedule", ["static", "dynamic", "runtime"])
@pytest.mark.parametrize("number", ["int", "unsigned long long"])
def test_doacross(tmp_path: Path, optimize: str, schedule: str, number: str) -> None:
    """ordered(2): outer iterations are counted, and every sink is one wait."""
    body = f"""static unsigned b[20][20];
#pragma omp parallel for ordered(2) schedule({schedule})
for ({number} i = 1; i < 20; i++) for ({number} j = 1; j < 20; j++) {{
#pragma omp ordered depend(sink: i - 1, j)
b[i][j] = b[i - 1][j] + 1;
#pragma omp ordered depend(source)
}}
printf("%u\\n", b[19][19]);"""
    seen_values = record(tmp_path, "gcc", _c(body), (optimize, "-fopenmp"))
    loop = seen_values.only("loop")
    assert (loop.schedule, loop.iterations, loop.trip_count) == (schedule, 19, 19)
    assert seen_values.only("wait", "ordered").count == 18 * 19


@pytest.mark.parametrize("optimize", LEVELS)
@pytest.mark.parametrize("combined", ["parallel sections", "sections"])
def test_sections(tmp_path: Path, optimize: str, combined: str) -> None:
    """Each section is an iteration."""
    sections = "".join(f"\n#pragma omp section\na[{i}]++;" for i in range(5))
    before = "" if combined.startswith("parallel") else "#pragma omp parallel\n"
    seen_values = record(
        tmp_path, "gcc", _c(f"{before}#pragma omp {combined}\n{{{sections}\n}}"), (optimize, "-fopenmp")
    )
    loop = seen_values.only("loop")
    assert (loop.schedule, loop.iterations, loop.chunks, loop.trip_count) == ("sections", 5, 5, 5)


@pytest.mark.parametrize("optimize", LEVELS)
def test_synchronisation(tmp_path: Path, optimize: str) -> None:
    """Barriers, criticals with and without a name, single, copyprivate and locks, each counted where it stands."""
    body = """omp_lock_t lock; omp_init_lock(&lock);
#pragma omp parallel
{ int mine = 0;
for (volatile int r = 0; r < 5; r++) {
#pragma omp barrier
}
#pragma omp critical
a[0]++;
#pragma omp critical(named)
{ a[1]++; a[2]++; }
#pragma omp single nowait
a[3]++;
#pragma omp single copyprivate(mine)
mine = 7;
omp_set_lock(&lock); a[4] += mine; omp_unset_lock(&lock);
a[5 + omp_get_thread_num()]++;
}
printf("%d %d %d %d %d\\n", a[0], a[1], a[2], a[3], a[4]);"""
    seen_values = record(tmp_path, "gcc", _c(body), (optimize, "-fopenmp"))
    assert [row.count for row in seen_values.rows("lock", "critical")] == [4, 4]
    assert [(row.count, row.executed) for row in seen_values.rows("single")] == [(4, 1), (4, 1)]
    assert 20 in [row.count for row in seen_values.rows("wait", "barrier")]
    assert seen_values.only("wait", "lock").count == 4


@pytest.mark.parametrize("optimize", LEVELS)
def test_tasks(tmp_path: Path, optimize: str) -> None:
    """Created and executed tasks agree; tasks that run in barriers are work of the region, not waiting."""
    body = """#pragma omp parallel
#pragma omp single
for (int t = 0; t < 40; t++) {
#pragma omp task firstprivate(t)
for (int k = 0; k < 200000; k++) __asm__ volatile("" ::: "memory");
}
#pragma omp parallel
#pragma omp single
{
#pragma omp taskgroup
for (int t = 0; t < 8; t++)
#pragma omp task
a[t]++;
#pragma omp taskloop num_tasks(10)
for (int i = 0; i < 100; i++) a[i]++;
#pragma omp task
a[999]++;
#pragma omp taskwait
}"""
    seen_values = record(tmp_path, "gcc", _c(body), (optimize, "-fopenmp"))
    tasks = seen_values.rows("task")
    assert sorted(row.count for row in tasks) == [1, 8, 10, 40]
    assert all(row.created in (row.count, 0) for row in tasks)
    first = seen_values.rows("team")[0]
    heavy = max(tasks, key=lambda row: row.ticks)
    assert first.ticks >= 0.9 * heavy.ticks
    region = seen_values.rows("region")[0]
    assert first.ticks + first.join_wait + first.arrival + first.inner_wait == pytest.approx(
        4 * region.ticks, rel=0.05
    )


def test_waits_inside_late_tasks_are_not_work(tmp_path: Path) -> None:
    """A tree of tasks whose parents wait: lane time is work plus waits, and nothing is counted twice."""
    before = """static long fib(int n) { long x, y; if (n < 2) return n;
if (n < 12) return fib(n - 1) + fib(n - 2);
#pragma omp task shared(x)
x = fib(n - 1);
#pragma omp task shared(y)
y = fib(n - 2);
#pragma omp taskwait
return x + y; }"""
    body = """long r = 0;
#pragma omp parallel
#pragma omp single nowait
r = fib(27);
printf("%ld\\n", r);"""
    seen_values = record(tmp_path, "gcc", _c(body, before))
    region, team = seen_values.only("region"), seen_values.only("team")
    assert team.ticks + team.join_wait + team.arrival + team.inner_wait == pytest.approx(
        4 * region.ticks, rel=0.02
    )
    assert sum(row.count for row in seen_values.rows("task")) == sum(
        row.created for row in seen_values.rows("task")
    )


def test_task_reductions(tmp_path: Path) -> None:
    """Regions and loops with task reductions reach the runtime through entry points of their own."""
    body = """long sum = 0, other = 0;
#pragma omp parallel reduction(task, +: sum)
#pragma omp single
for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+: sum)
sum += i;
}
#pragma omp parallel
#pragma omp for schedule(dynamic, 4) reduction(task, +: other)
for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+: other)
other += i;
}
printf("%ld %ld\\n", sum, other);"""
    seen_values = record(tmp_path, "gcc", _c(body))
    assert seen_values.output == "4950 4950\n"
    assert [row.threads for row in seen_values.rows("region")] == [4, 4]
    # Combining the threads' values asks for their number, too, which looks like an inlined loop.
    (loop,) = [row for row in seen_values.rows("loop") if row.schedule != "static (inferred)"]
    assert (loop.schedule, loop.iterations, loop.chunk_size, loop.trip_count) == ("dynamic", 100, 4, 100)
    # Of each kind some are timed and the rest is counted: rows of their own.
    counts: dict[int, int] = {}
    for lane in seen_values.process.lanes:
        for row in lane.rows[lane.rows["what"] == Metric.TASK]:
            counts[int(row["subject"])] = counts.get(int(row["subject"]), 0) + int(row["count"])
    assert list(counts.values()) == [100, 100]


def test_a_scan_is_one_inlined_loop(tmp_path: Path) -> None:
    """GCC starts it with a range of its own, which is none of the loop's."""
    body = """int sum = 0, prefix[1000];
#pragma omp parallel for reduction(inscan, +: sum)
for (int i = 0; i < 1000; i++) {
sum += i;
#pragma omp scan inclusive(sum)
prefix[i] = sum;
}
printf("%d\\n", prefix[999]);"""
    seen_values = record(tmp_path, "gcc", _c(body))
    assert seen_values.output == "499500\n"
    assert seen_values.only("loop").schedule == "static (inferred)"


def test_orphaned_loop(tmp_path: Path) -> None:
    """A loop in a function that regions call belongs to the region that called it."""
    before = "__attribute__((noinline)) void work(void) {\n#pragma omp for schedule(dynamic, 5)\n"
    before += "for (int i = 0; i < 50; i++) a[i]++;\n}"
    body = "#pragma omp parallel\nwork();\n#pragma omp parallel num_threads(2)\nwork();"
    seen_values = record(tmp_path, "gcc", _c(body, before))
    assert (seen_values.only("loop").iterations, seen_values.only("loop").chunks) == (100, 20)
    assert [row.threads for row in seen_values.rows("region")] == [4, 2]
    regions = {
        int(r["in_region"])
        for lane in seen_values.process.lanes
        for r in lane.rows[lane.rows["what"] == Metric.LOOP]
    }
    assert len(regions) == 2


def test_nested_and_changing_teams(tmp_path: Path) -> None:
    """Nested regions, a changing thread count, several host threads, more threads than CPUs, serialized ones."""
    check_teams(tmp_path, "g++")


def test_entry_points_before_gcc_4_9(tmp_path: Path) -> None:
    """Old binaries run the outlined function themselves, between a start and an end."""
    before = """void GOMP_parallel_start(void (*)(void *), void *, unsigned); void GOMP_parallel_end(void);
void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
_Bool GOMP_loop_dynamic_next(long *, long *); void GOMP_loop_end_nowait(void);
static void region(void *data) { __atomic_fetch_add((int *)data, 1, __ATOMIC_RELAXED); }
static void loop(void *data) { long i, last;
while (GOMP_loop_dynamic_next(&i, &last)) for (; i < last; i++) __atomic_fetch_add((int *)data, 1, __ATOMIC_RELAXED);
GOMP_loop_end_nowait(); }"""
    body = """int n = 0, m = 0;
for (int r = 0; r < 3; r++) { GOMP_parallel_start(region, &n, 0); region(&n); GOMP_parallel_end(); }
GOMP_parallel_loop_dynamic_start(loop, &m, 2, 0, 100, 1, 10); loop(&m); GOMP_parallel_end();
printf("%d %d\\n", n, m);"""
    seen_values = record(tmp_path, "gcc", _c(body, before))
    assert seen_values.output == "12 100\n"
    assert [(row.count, row.threads) for row in seen_values.rows("region")] == [(3, 12), (1, 2)]
    row = seen_values.only("loop")
    assert (row.schedule, row.iterations, row.chunks, row.chunk_size, row.trip_count) == (
        "dynamic",
        100,
        10,
        10,
        100,
    )


def test_fork_inside_a_region(tmp_path: Path) -> None:
    """A child that leaves the region by itself writes nothing of its parent's."""
    body = """#pragma omp parallel
if (omp_get_thread_num() == 1) {
pid_t child = fork(); if (child == 0) return_of_child();
int status; waitpid(child, &status, 0); a[0] = WEXITSTATUS(status); }
printf("%d\\n", a[0]);"""
    before = """#include <sys/wait.h>
#include <unistd.h>
static void return_of_child(void) { _exit(3); }"""
    seen_values = record(tmp_path, "gcc", _c(body, before))
    assert seen_values.output == "3\n"
    assert seen_values.only("region").threads == 4
    work = [
        e
        for lane in seen_values.process.lanes
        for e in lane.events[lane.events["kind"] == EventKind.WORK_END]
    ]
    assert len(work) == 4


@pytest.mark.parametrize("optimize", LEVELS)
def test_fortran(tmp_path: Path, optimize: str) -> None:
    """gfortran's regions, its dynamic loops and its criticals."""
    source = """program p
integer :: i, s
s = 0
!$omp parallel do schedule(dynamic, 3) reduction(+: s)
do i = 1, 100
s = s + i
end do
!$omp end parallel do
!$omp parallel
!$omp critical
s = s + 1
!$omp end critical
!$omp end parallel
print *, s
end program
"""
    seen_values = record(tmp_path, "gfortran", source, (optimize, "-fopenmp"), suffix=".f90")
    assert [row.threads for row in seen_values.rows("region")] == [4, 4]
    loop = seen_values.only("loop")
    assert (loop.schedule, loop.iterations, loop.chunks, loop.chunk_size, loop.trip_count) == (
        "dynamic",
        100,
        34,
        3,
        100,
    )
    assert seen_values.only("lock", "critical").count == 4


@pytest.mark.parametrize("optimize", LEVELS)
def test_locks_of_fortran(tmp_path: Path, optimize: str) -> None:
    """Fortran calls the locks by names of its own: simple and nestable ones, set and tried."""
    source = """program p
use omp_lib
integer(omp_lock_kind) :: simple
integer(omp_nest_lock_kind) :: nestable
integer :: i, s, t
s = 0
t = 0
call omp_init_lock(simple)
call omp_init_nest_lock(nestable)
!$omp parallel do
do i = 1, 100
call omp_set_lock(simple)
s = s + 1
call omp_unset_lock(simple)
call omp_set_nest_lock(nestable)
call omp_set_nest_lock(nestable)
t = t + 1
call omp_unset_nest_lock(nestable)
call omp_unset_nest_lock(nestable)
if (omp_test_lock(simple)) call omp_unset_lock(simple)
end do
if (s /= 100 .or. t /= 100) stop 1
end program
"""
    seen_values = record(tmp_path, "gfortran", source, (optimize, "-fopenmp"), suffix=".f90", level="trace")
    assert sum(row.count for row in seen_values.rows("wait", "lock")) == 300
    assert 200 <= _lock_entries(seen_values) <= 300  # those that were only tried need not have been free


def test_a_lock_that_another_thread_leaves(tmp_path: Path) -> None:
    """What the thread that took it does with the lock afterwards is recorded as ever."""
    body = """omp_lock_t lock; omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
{
if (omp_get_thread_num() == 0) omp_set_lock(&lock);
#pragma omp barrier
if (omp_get_thread_num() == 1) omp_unset_lock(&lock);
#pragma omp barrier
if (omp_get_thread_num() == 0) { omp_set_lock(&lock); omp_unset_lock(&lock); }
}"""
    assert _lock_entries(record(tmp_path, "gcc", _c(body), level="trace")) == 1


def _lock_entries(seen_values: Recorded) -> int:
    return sum(
        int(np.count_nonzero(lane.events["kind"] == EventKind.LOCK)) for lane in seen_values.process.lanes
    )


def test_chunks_in_a_trace(tmp_path: Path) -> None:
    """A trace has every chunk with its first iteration, also those of negative numbers."""
    body = "#pragma omp parallel for schedule(dynamic, 10)\nfor (int i = -50; i < 50; i++) a[i + 50]++;"
    seen_values = record(tmp_path, "gcc", _c(body), level="trace")
    chunks = [
        e for lane in seen_values.process.lanes for e in lane.events[lane.events["kind"] == EventKind.CHUNK]
    ]
    firsts = sorted(int(e["b"].astype("int64")) for e in chunks)
    assert firsts == list(range(-50, 50, 10))
    assert all(int(e["a"]) == 10 for e in chunks)

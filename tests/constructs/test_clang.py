"""Small programs built by clang: what is recorded is what was written. Several constructs share a program."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from probe_run import Recorded, build, check_teams, record
from trimtab.model.enumerations import EventKind, Metric

# TRIMTAB_CLANG=clang-16: the same of another version.
COMPILER = os.environ.get("TRIMTAB_CLANG", "clang-19")
LIBOMP = Path("/usr/lib/llvm-19/lib/libomp.so.5")
LEVELS = ("-O0", "-O2")

Program = Callable[[str, str], Recorded]


def _c(body: str, before: str = "") -> str:
    return f"#include <omp.h>\n#include <stdio.h>\nint a[1000];\nvolatile int is_created;\n{before}\nint main(void) {{\n{body}\nreturn 0; }}\n"


@dataclass(frozen=True)
class Loop:
    """A loop as written, and what must be known of it. None: the runtime decides."""

    directive: str
    head: str
    schedule: str
    chunk: int
    chunks: int | None
    trip: int = 1000


UP = "for (int i = 0; i < 1000; i++) a[i]++;"
DOWN = "for (int i = 999; i >= 0; i--) a[i]++;"
STRIDE = "for (int i = 0; i < 2000; i += 2) a[i / 2]++;"
LONG = "for (long i = -500; i < 500; i++) a[i + 500]++;"
UNSIGNED = "for (unsigned i = 0; i < 1000; i++) a[i]++;"
ULL = "for (unsigned long long i = 0; i < 1000; i++) a[i]++;"
FEW = "for (int i = 0; i < 3; i++) a[i]++;"
SQUARE = "for (int i = 0; i < 20; i++) for (int j = 0; j < 50; j++) a[50 * i + j]++;"
ORDERED = "for (int i = 0; i < 100; i++) {\n#pragma omp ordered\na[i]++;\n}"
SECTIONS = "{\n" + "".join(f"#pragma omp section\na[{i}]++;\n" for i in range(5)) + "}"

LOOPS = (
    Loop("parallel for", UP, "static", 0, 4),
    Loop("parallel for schedule(static)", DOWN, "static", 0, 4),
    Loop("parallel for schedule(static, 7)", UP, "static", 7, 143),
    Loop("parallel for schedule(static, 7)", DOWN, "static", 7, 143),
    Loop("parallel for schedule(static, 1)", LONG, "static", 1, 1000),
    Loop("parallel for schedule(static, 300)", UNSIGNED, "static", 300, 4),
    Loop("parallel for schedule(static, 400)", STRIDE, "static", 400, 3),
    Loop("parallel for schedule(static)", ULL, "static", 0, 4),
    Loop("parallel for schedule(static, 9)", ULL, "static", 9, 112),
    Loop("parallel for", FEW, "static", 0, 3, 3),
    Loop("parallel for simd schedule(simd: static, 8)", UP, "static", 8, 4),
    Loop("parallel for collapse(2) schedule(dynamic, 10)", SQUARE, "dynamic", 10, 100),
    Loop("parallel for schedule(dynamic, 7)", UP, "dynamic", 7, 143),
    Loop("parallel for schedule(dynamic, 7)", DOWN, "dynamic", 7, 143),
    Loop("parallel for schedule(dynamic, 7)", LONG, "dynamic", 7, 143),
    Loop("parallel for schedule(dynamic, 7)", UNSIGNED, "dynamic", 7, 143),
    Loop("parallel for schedule(dynamic, 7)", ULL, "dynamic", 7, 143),
    Loop("parallel for schedule(dynamic)", STRIDE, "dynamic", 1, 1000),
    Loop("parallel for schedule(monotonic: dynamic, 7)", UP, "dynamic", 7, 143),
    Loop("parallel for schedule(nonmonotonic: dynamic, 7)", UP, "dynamic", 7, 143),
    Loop("parallel for schedule(guided)", UP, "guided", 1, None),
    Loop("parallel for schedule(guided, 16)", ULL, "guided", 16, None),
    Loop("parallel for schedule(runtime)", UP, "runtime", 0, None),
    Loop("parallel for schedule(auto)", UP, "auto", 0, None),
    Loop("parallel\n#pragma omp for schedule(static, 5)", UP, "static", 5, 200),
    Loop("parallel\n#pragma omp for schedule(dynamic, 5) nowait", UP, "dynamic", 5, 200),
    Loop("parallel for ordered schedule(static, 3)", ORDERED, "static", 3, 34, 100),
    Loop("parallel for ordered schedule(dynamic, 3)", ORDERED, "dynamic", 3, 34, 100),
    Loop("parallel for ordered schedule(guided, 3)", ORDERED, "guided", 3, None, 100),
    Loop("parallel sections", SECTIONS, "sections", 0, None, 5),
    Loop("parallel\n#pragma omp sections", SECTIONS, "sections", 0, None, 5),
    Loop("parallel num_threads(1)\n#pragma omp for schedule(dynamic, 5)", UP, "dynamic", 5, None),
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """program(SOURCE, FLAGS): what it recorded; built and run once for all tests of the module."""

    @cache
    def run(source: str, flags: str) -> Recorded:
        return record(tmp_path_factory.mktemp("clang"), COMPILER, source, (*flags.split(), "-fopenmp"))

    return run


@pytest.mark.parametrize("optimize", LEVELS)
@pytest.mark.parametrize("number", range(len(LOOPS)))
def test_loop(program: Program, optimize: str, number: int) -> None:
    """Each loop in a region of its own; subjects are numbered by first sight, which is as written."""
    seen_values = program(
        _c("\n".join(f"#pragma omp {loop.directive}\n{loop.head}" for loop in LOOPS)), optimize
    )
    regions, loops = seen_values.rows("region"), seen_values.rows("loop")
    assert len(regions) == len(loops) == len(LOOPS)
    expected, region, row = LOOPS[number], regions[number], loops[number]
    threads = 1 if "num_threads(1)" in expected.directive else 4
    assert (region.count, region.threads, region.most_threads) == (1, threads, threads)
    result = (row.schedule, row.count, row.iterations, row.chunk_size, row.trip_count)
    assert result == (expected.schedule, threads, expected.trip, expected.chunk, expected.trip)
    if expected.chunks is not None:
        assert row.chunks == expected.chunks
    else:
        assert 1 <= row.chunks <= expected.trip


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_static_chunks_add_up(tmp_path: Path, threads: int) -> None:
    """However the blocks fall to the threads, each is counted once; one thread has the loop as one block."""
    body = "\n".join(f"#pragma omp parallel for schedule(static, 7)\n{head}" for head in (UP, DOWN, ULL))
    seen_values = record(tmp_path, COMPILER, _c(body), threads=threads)
    expected = (1000, 1 if threads == 1 else 143, 7, 1000)
    loops = seen_values.rows("loop")
    assert [(row.iterations, row.chunks, row.chunk_size, row.trip_count) for row in loops] == [expected] * 3


@pytest.mark.parametrize("optimize", LEVELS)
def test_order_between_iterations(program: Program, optimize: str) -> None:
    """Each iteration of an ordered loop waits once, each of a doacross loop for whatever it depends on."""
    body = """static unsigned b[20][20];
#pragma omp parallel for ordered schedule(static, 1)
for (int i = 0; i < 50; i++) {
#pragma omp ordered
a[i]++;
}
#pragma omp parallel for ordered(2) schedule(dynamic)
for (int i = 1; i < 20; i++) for (int j = 1; j < 20; j++) {
#pragma omp ordered depend(sink: i - 1, j)
b[i][j] = b[i - 1][j] + 1;
#pragma omp ordered depend(source)
}
printf("%u\\n", b[19][19]);"""
    seen_values = program(_c(body), optimize)
    assert [row.count for row in seen_values.rows("wait", "ordered")] == [50, 19 * 19]
    assert [row.iterations for row in seen_values.rows("loop")] == [50, 19]


@pytest.mark.parametrize("optimize", LEVELS)
def test_synchronisation(program: Program, optimize: str) -> None:
    """Barriers, criticals, singles and locks, each counted where it stands; masked and atomic wait for nothing."""
    body = """omp_lock_t lock; omp_init_lock(&lock);
#pragma omp parallel
{ int mine = 0;
for (volatile int r = 0; r < 5; r++) {
#pragma omp barrier
}
#pragma omp critical
a[0]++;
#pragma omp critical(named) hint(omp_sync_hint_contended)
{ a[1]++; a[2]++; }
#pragma omp single nowait
a[3]++;
#pragma omp single copyprivate(mine)
mine = 7;
omp_set_lock(&lock); a[4] += mine; omp_unset_lock(&lock);
#pragma omp masked
a[5]++;
#pragma omp atomic
a[6]++;
}
printf("%d %d %d %d %d %d %d\\n", a[0], a[1], a[2], a[3], a[4], a[5], a[6]);"""
    seen_values = program(_c(body), optimize)
    assert seen_values.output == "4 4 4 1 28 1 4\n"
    assert [row.count for row in seen_values.rows("lock", "critical")] == [4, 4]
    assert [(row.count, row.executed) for row in seen_values.rows("single")] == [(4, 1), (4, 1)]
    assert sum(row.count for row in seen_values.rows("wait", "barrier")) == 20
    assert seen_values.only("wait", "single").count == 4
    assert seen_values.only("wait", "lock").count == 4


@pytest.mark.parametrize("optimize", LEVELS)
def test_reductions(program: Program, optimize: str) -> None:
    """Threads wait for each other once in a reduction; the form without nowait ends in a barrier."""
    body = """double s = 0, t = 0, u[5] = {0};
#pragma omp parallel
{
#pragma omp for reduction(+: s)
for (int i = 0; i < 1000; i++) s += i;
#pragma omp for reduction(+: t) nowait
for (int i = 0; i < 1000; i++) t += i;
}
#pragma omp parallel for reduction(+: u)
for (int i = 0; i < 1000; i++) u[i % 5] += i;
printf("%g %g %g\\n", s, t, u[0]);"""
    seen_values = program(_c(body), optimize)
    waits = seen_values.rows("wait", "barrier")
    assert [row.count for row in waits if row.wait == "reduction"] == [4, 4, 4]
    assert len([row for row in waits if row.wait == "barrier"]) >= 1


@pytest.mark.parametrize("optimize", LEVELS)
def test_cancelled_loop(tmp_path: Path, optimize: str) -> None:
    """A region that can be cancelled has barriers of its own kind; a loop that is left early is closed."""
    body = """#pragma omp parallel
{
#pragma omp for schedule(dynamic, 10)
for (int i = 0; i < 1000; i++) {
#pragma omp cancel for if(i == 500)
a[i] = 1;
#pragma omp cancellation point for
}
#pragma omp barrier
}"""
    source = _c(body)
    seen_values = record(tmp_path, COMPILER, source, (optimize, "-fopenmp"), OMP_CANCELLATION="true")
    loop = seen_values.only("loop")
    assert (loop.schedule, loop.count, loop.chunk_size, loop.trip_count) == ("dynamic", 4, 10, 1000)
    assert {row.count for row in seen_values.rows("wait", "barrier")} == {4}
    assert seen_values.only("region").threads == 4


TASKS = """#pragma omp parallel
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
for (int t = 0; t < 6; t++)
#pragma omp task if(t > 2)
a[10 + t]++;
#pragma omp task untied
{ a[20]++;
#pragma omp taskyield
a[20]++;
#pragma omp taskyield
a[20]++; }
#pragma omp taskwait
#pragma omp taskloop num_tasks(10)
for (int i = 0; i < 100; i++) a[100 + i]++;
#pragma omp taskloop nogroup grainsize(10)
for (int i = 0; i < 200; i++) a[200 + i]++;
#pragma omp task final(1)
{
#pragma omp task
a[21]++;
}
}
printf("%d %d %d %d\\n", a[0], a[15], a[20], a[21]);"""


@pytest.mark.parametrize("optimize", LEVELS)
def test_tasks(program: Program, optimize: str) -> None:
    """Created and executed tasks agree, also those that the program runs itself; untied ones count once."""
    seen_values = program(_c(TASKS), optimize)
    assert seen_values.output == "1 1 3 1\n"
    tasks = seen_values.rows("task")
    assert sorted(row.count for row in tasks) == [1, 1, 1, 6, 8, 10, 20, 40]
    # The pieces of a taskloop are the runtime's, and who makes them is not known.
    assert sorted(row.created for row in tasks) == [0, 0, 1, 1, 1, 6, 8, 40]
    first, region = seen_values.rows("team")[0], seen_values.rows("region")[0]
    heavy = max(tasks, key=lambda row: row.ticks)
    assert first.ticks >= 0.9 * heavy.ticks
    assert first.ticks + first.join_wait + first.arrival + first.inner_wait == pytest.approx(
        4 * region.ticks, rel=0.05
    )
    # taskgroup, taskwait, the first taskloop.
    assert sum(row.count for row in seen_values.rows("wait", "taskwait")) == 3


# The second thread is in the first task until all are created: none can be done before the others are known.
CHAIN = """#pragma omp parallel num_threads(2)
#pragma omp single
{ int x = 0, y = 0;
#pragma omp task depend(out: x)
while (!is_created);
#pragma omp task depend(in: x) depend(out: y)
a[1]++;
#pragma omp task depend(in: x)
a[2]++;
#pragma omp task depend(inout: y)
a[3]++;
#pragma omp task
a[4]++;
is_created = 1;
#pragma omp taskwait depend(in: y)
#pragma omp taskwait
}
printf("%d\\n", a[1] + a[2] + a[3] + a[4]);"""
CHAIN_EDGES = [(0, 1), (0, 2), (1, 3)]


def _events(seen_values: Recorded, kind: str) -> list[tuple[int, int, int]]:
    """(subject, a, b) of all events of that kind."""
    events = [
        e
        for lane in seen_values.process.lanes
        for e in lane.events[lane.events["kind"] == EventKind[kind.upper()]]
    ]
    return sorted((int(e["subject"]), int(e["a"]), int(e["b"])) for e in events)


def _check_chain(seen_values: Recorded) -> None:
    created = _events(seen_values, "task_created")
    identities = [task for _, task, _ in created]
    assert len(set(identities)) == 5 and 0 not in identities
    assert [(s, t) for s, t, _ in _events(seen_values, "task_begin")] == [(s, t) for s, t, _ in created]
    assert [(s, t) for s, t, _ in _events(seen_values, "task_end")] == [(s, t) for s, t, _ in created]
    # Subjects are numbered by first sight, which is as written.
    edges = [(identities.index(a), identities.index(b)) for _, a, b in _events(seen_values, "edge")]
    assert sorted(edges) == CHAIN_EDGES
    assert [(row.count, row.created) for row in seen_values.rows("task")] == [(1, 1)] * 5
    assert "task identities and dependences" not in {entry.what for entry in seen_values.process.unavailable}


@pytest.mark.parametrize("optimize", LEVELS)
def test_dependences_in_a_trace(tmp_path: Path, optimize: str) -> None:
    """OMPT tells each task's identity and what it had to wait for; nothing is counted twice."""
    seen_values = record(tmp_path, COMPILER, _c(CHAIN), (optimize, "-fopenmp"), level="trace")
    _check_chain(seen_values)
    assert sum(row.count for row in seen_values.rows("wait", "taskwait")) == 2


@pytest.mark.parametrize("compiler", [COMPILER, "gcc"])
def test_tasks_in_a_trace(tmp_path: Path, compiler: str) -> None:
    """Every execution has the identity that its creation had, and knows who created it; also under GCC's code."""
    libomp_variables: dict[str, Any] = {"LD_PRELOAD": str(LIBOMP)} if compiler == "gcc" else {}
    seen_values = record(tmp_path, compiler, _c(TASKS), level="trace", **libomp_variables)
    created = {task: (subject, parent) for subject, task, parent in _events(seen_values, "task_created")}
    begun = _events(seen_values, "task_begin")
    assert len(created) == 40 + 8 + 6 + 1 + 10 + 20 + 2
    assert {(task, subject) for subject, task, _ in begun} == {(t, s) for t, (s, _) in created.items()}
    assert begun == _events(seen_values, "task_end")
    assert Counter(parent != 0 for _, parent in created.values()) == {False: 86, True: 1}
    parts = Counter(task for _, task, _ in begun)
    assert sorted(parts.values())[:-1] == [1] * 86
    # clang's untied tasks begin anew after each point at which they may give up their thread.
    assert max(parts.values()) >= 3 if compiler == COMPILER else max(parts.values()) == 1
    assert sorted(row.count for row in seen_values.rows("task")) == [1, 1, 1, 6, 8, 10, 20, 40]


# The thread that gives the task back is held there until the creator has done the rest of it.
GIVEN_BACK_BEFORE = """#include <dlfcn.h>
#include <unistd.h>
static int creator;
static volatile int is_done;
int __kmpc_omp_task(void *where, int thread, void *task) {
static int (*real)(void *, int, void *);
if (!real) real = (int (*)(void *, int, void *))dlsym(RTLD_NEXT, "__kmpc_omp_task");
const int result = real(where, thread, task);
if (omp_get_thread_num() != creator) { while (!is_done) {} usleep(50000); }
return result; }
"""
GIVEN_BACK = """#pragma omp parallel num_threads(2)
#pragma omp single
{ creator = omp_get_thread_num();
#pragma omp task untied
{ while (omp_get_thread_num() == creator) {
#pragma omp taskyield
}
while (omp_get_thread_num() != creator) {
#pragma omp taskyield
}
is_done = 1; }
#pragma omp taskwait
#pragma omp taskloop num_tasks(10)
for (int i = 0; i < 10; i++) a[i]++;
}"""


def _recorded_unless_stuck(folder: Path, tries: int = 3) -> Any:
    (folder / str(tries)).mkdir()
    source = _c(GIVEN_BACK, GIVEN_BACK_BEFORE)
    flags = ("-O2", "-fopenmp", "-D_GNU_SOURCE")
    try:
        return record(folder / str(tries), COMPILER, source, flags, level="trace")
    except subprocess.TimeoutExpired:
        if tries == 1:
            raise
        return _recorded_unless_stuck(folder, tries - 1)


# Its two threads wait for each other. LLVM's creator, in its taskwait, does not take the task back in one run of some fifty.
@pytest.mark.alone
def test_after_an_untied_task_that_another_thread_ends(tmp_path: Path) -> None:
    """libomp does not tell that a thread has left such a task: what the thread makes next is not that task's."""
    seen_values = _recorded_unless_stuck(tmp_path)
    created = {task: subject for subject, task, _ in _events(seen_values, "task_created")}
    begun = {task: subject for subject, task, _ in _events(seen_values, "task_begin")}
    assert len(created) == 11 and created == begun


@pytest.mark.parametrize("compiler", [COMPILER, "gcc"])
def test_pieces_of_a_large_taskloop(tmp_path: Path, compiler: str) -> None:
    """libomp divides the making of many pieces between threads, by tasks of its own: all are known for what they are."""
    libomp_variables: dict[str, Any] = {"LD_PRELOAD": str(LIBOMP)} if compiler == "gcc" else {}
    body = """#pragma omp parallel
#pragma omp single
{
#pragma omp taskloop num_tasks(600)
for (int i = 0; i < 1000; i++) a[i]++;
#pragma omp taskloop num_tasks(2)
for (int i = 0; i < 2; i++) {
#pragma omp taskloop num_tasks(400)
for (int j = 0; j < 400; j++) a[400 * i + j]++;
}
}"""
    seen_values = record(tmp_path, compiler, _c(body), level="trace", **libomp_variables)
    assert [row.count for row in seen_values.rows("task")] == [600, 2, 800]
    created = {task: subject for subject, task, _ in _events(seen_values, "task_created")}
    begun = [(subject, task) for subject, task, _ in _events(seen_values, "task_begin")]
    assert len(begun) == len(set(begun)) == 1402
    assert all(created[task] == subject for subject, task in begun)


TOOL = """#include <stdio.h>
struct result { int (*initialize)(void *, int, void *); void (*finalize)(void *); long data; };
static int initialize(void *lookup, int device, void *tool) { puts("other tool"); return 1; }
static void finalize(void *tool) {}
struct result *ompt_start_tool(unsigned version, const char *runtime) {
static struct result ours = {initialize, finalize, 0}; return &ours; }
"""
ONE_TASK = "#pragma omp parallel\n#pragma omp single\n#pragma omp task\na[0]++;"


@pytest.mark.parametrize("level", ["profile", "trace"])
@pytest.mark.parametrize("way", ["OMP_TOOL", "OMP_TOOL_LIBRARIES", "LD_PRELOAD", "in the program"])
def test_another_tool_comes_first(tmp_path: Path, way: str, level: str) -> None:
    """A runtime takes one tool: what the user has chosen gets it, and a trace says what it lacks."""
    tool = build(tmp_path / "tool.so", "gcc", TOOL, "-shared", "-fPIC")
    before = TOOL if way == "in the program" else ""
    environment: dict[str, Any] = {} if before else {way: "disabled" if way == "OMP_TOOL" else str(tool)}
    flags = ("-O2", "-fopenmp", *(["-rdynamic"] if before else []))
    seen_values = record(tmp_path, COMPILER, _c(ONE_TASK, before), flags, level=level, **environment)
    assert seen_values.output == ("" if way == "OMP_TOOL" else "other tool\n")
    lacking = [
        entry.why
        for entry in seen_values.process.unavailable
        if entry.what == "task identities and dependences"
    ]
    assert len(lacking) == (level == "trace")
    assert (seen_values.only("task").count, seen_values.only("task").created) == (1, 1)


def test_runtime_that_starts_before_the_recording(tmp_path: Path) -> None:
    """A region in a library's constructor: what comes later is recorded, and a trace says what it lacks and why."""
    library = """int b[10];
__attribute__((constructor)) static void early(void) {
#pragma omp parallel
#pragma omp single
#pragma omp task
b[0]++; }
int of_other(void) { return b[0]; }
"""
    build(tmp_path / "libother.so", COMPILER, library, "-O2", "-fopenmp", "-shared", "-fPIC")
    flags = ("-O2", "-fopenmp", "-L", str(tmp_path), "-lother")
    source = _c(f'{ONE_TASK}\nprintf("%d\\n", of_other());', "int of_other(void);")
    seen_values = record(tmp_path, COMPILER, source, flags, level="trace", LD_LIBRARY_PATH=str(tmp_path))
    assert (seen_values.only("region").count, seen_values.only("task").count) == (1, 1)
    (lacking,) = [entry for entry in seen_values.process.unavailable if "task identities" in entry.what]
    assert "constructor" in lacking.why


def test_a_taskloop_of_many_pieces_has_no_identities_on_libgomp(tmp_path: Path) -> None:
    """All of their data would lie on the stack at once, for us alone. A trace says so, and what to do."""
    body = """#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
for (int i = 0; i < 1000; i++) a[i]++;"""
    seen_values = record(tmp_path, "gcc", _c(body), level="trace")
    (lacking,) = [entry for entry in seen_values.process.unavailable if "task identities" in entry.what]
    assert "libgomp" in lacking.why and "libomp" in lacking.remedy


@pytest.mark.parametrize("optimize", LEVELS)
def test_teams(tmp_path: Path, optimize: str) -> None:
    """A league is a region of its teams' first threads, and each team's region is nested in it."""
    body = """#pragma omp teams num_teams(2) thread_limit(3)
#pragma omp distribute parallel for num_threads(3)
for (int i = 0; i < 600; i++) a[i]++;
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2) dist_schedule(static, 50) schedule(dynamic, 5)
for (int i = 0; i < 200; i++) a[i]++;
#pragma omp teams num_teams(3)
#pragma omp distribute dist_schedule(static, 10)
for (int i = 0; i < 100; i++) a[i]++;
printf("%d %d %d\\n", a[0], a[150], a[599]);"""
    flags = (optimize, "-fopenmp")
    # The runtime's own limit goes by the machine's CPUs.
    seen_values = record(tmp_path, COMPILER, _c(body), flags, KMP_TEAMS_THREAD_LIMIT="16")
    assert seen_values.output == "3 2 1\n"
    # Subjects are numbered by first sight: a league before the regions of its teams.
    assert [(row.count, row.threads, row.most_threads) for row in seen_values.rows("region")] == [
        (1, 2, 2),
        (2, 6, 3),
        (1, 2, 2),
        (4, 8, 2),
        (1, 3, 3),
    ]
    loops = seen_values.rows("loop")
    distributed = [
        (row.iterations, row.chunks, row.chunk_size) for row in loops if row.schedule == "distribute"
    ]
    assert distributed == [(600, 2, 0), (200, 4, 50), (100, 10, 10)]
    shared = [(row.schedule, row.iterations, row.chunk_size) for row in loops if row.schedule != "distribute"]
    assert shared == [("static", 600, 0), ("dynamic", 200, 5)]


@pytest.mark.parametrize("way", ["usual", "irbuilder"])
def test_nested_and_changing_teams(tmp_path: Path, way: str) -> None:
    """Nested regions, a changing thread count, several host threads, more threads than CPUs, serialized ones.

    With LLVM's newer code generator the runtime decides about `if`, through an entry point of its own.
    """
    flags = ["-Xclang", "-fopenmp-enable-irbuilder"] if way == "irbuilder" else []
    check_teams(tmp_path, "clang++-19", *flags)
    if way == "irbuilder":
        assert b"__kmpc_fork_call_if" in (tmp_path / "program").read_bytes()


@pytest.mark.parametrize("optimize", LEVELS)
@pytest.mark.parametrize("count", [1, 4, 5, 16, 17, 64, 65, 200])
def test_captured_variables(tmp_path: Path, optimize: str, count: int) -> None:
    """However many variables a region captures, it gets all of them."""
    declared = "".join(f"double v{i} = {i};" for i in range(count))
    stored = "".join(f"w[{i}] = v{i};" for i in range(count))
    added = "".join(f"v{i} += 1;" for i in range(count))
    body = f"""{declared}
#pragma omp parallel num_threads(2)
{{
#pragma omp critical
{{ {stored} {added} }}
}}
double s = 0; for (int i = 0; i < {count}; i++) s += w[i];
printf("%g\\n", s);"""
    seen_values = record(tmp_path, COMPILER, _c(body, "double w[256];"), (optimize, "-fopenmp"))
    assert float(seen_values.output) == sum(range(count)) + count
    assert seen_values.only("region").threads == 2


OLDER = [name for name in (f"clang-{version}" for version in range(14, 19)) if shutil.which(name)]


@pytest.mark.skipif(not OLDER, reason="no clang before 19 is installed")
@pytest.mark.parametrize("optimize", LEVELS)
@pytest.mark.parametrize("compiler", OLDER)
def test_older_compilers(tmp_path: Path, program: Program, compiler: str, optimize: str) -> None:
    """What clang 14 to 18 make of the same program is recorded as what clang 19 makes of it."""
    source = _c("\n".join(f"#pragma omp {loop.directive}\n{loop.head}" for loop in LOOPS) + "\n" + TASKS)
    # They are installed without a runtime of their own.
    runtime = ("-L", str(LIBOMP.parent), "-idirafter", str(LIBOMP.parent / "clang/19/include"))
    old = record(tmp_path, compiler, source, (optimize, "-fopenmp", *runtime))
    new = program(source, optimize)
    for metric, fields in COUNTS.items():
        assert _counts(old, metric, fields) == _counts(new, metric, fields), metric


# The fields of rows that are no times.
COUNTS: dict[str, tuple[str, ...]] = {
    "region": ("threads", "most_threads"),
    "loop": ("iterations", "chunks", "chunk_size", "trip_count"),
    "task": ("created",),
    "wait": (),
    "single": ("executed",),
}


BY_RUNTIME = ("chunks", "chunk_size", "trip_count")


def _counts(
    seen_values: Recorded, metric: str, fields: tuple[str, ...]
) -> list[tuple[str, int, int, list[int]]]:
    """What of the rows is the same in every run, as far as the runtime does not decide."""
    by_runtime = {"guided", "runtime", "auto"} if metric == "loop" else set()
    return [
        (row.kind, row.flags, row.count, [row.fields[name] for name in fields if name not in left_out])
        for row in seen_values.rows(metric)
        for left_out in [BY_RUNTIME if row.schedule in by_runtime else ()]
    ]


def test_orphaned_loop(program: Program) -> None:
    """A loop in a function that regions call belongs to the region that called it."""
    before = "__attribute__((noinline)) void work(void) {\n#pragma omp for schedule(dynamic, 5)\n"
    before += "for (int i = 0; i < 50; i++) a[i]++;\n}"
    body = "#pragma omp parallel\nwork();\n#pragma omp parallel num_threads(2)\nwork();"
    seen_values = program(_c(body, before), "-O2")
    assert (seen_values.only("loop").iterations, seen_values.only("loop").chunks) == (100, 20)
    assert [row.threads for row in seen_values.rows("region")] == [4, 2]
    regions = {
        int(r["in_region"])
        for lane in seen_values.process.lanes
        for r in lane.rows[lane.rows["what"] == Metric.LOOP]
    }
    assert len(regions) == 2


def test_places_that_the_compiler_tells(program: Program) -> None:
    """With -g every construct comes with its file, function and line."""
    body = f"#pragma omp parallel for schedule(dynamic)\n{UP}\n#pragma omp task\na[0]++;"
    seen_values = program(_c(body), "-O2 -g")
    reported = {
        (s.kind, s.function, s.line)
        for s in seen_values.process.subjects.values()
        if s.file.endswith("program.c")
    }
    assert {("region", "main", 7), ("loop", "main", 7)} <= reported


GCC_PROGRAM = """#pragma omp parallel for schedule(dynamic, 7)
for (int i = 0; i < 1000; i++) a[i]++;
#pragma omp parallel for schedule(guided, 16)
for (int i = 0; i < 1000; i++) a[i]++;
#pragma omp parallel
{
#pragma omp barrier
#pragma omp critical
a[0]++;
#pragma omp single
a[1]++;
}
"""


@pytest.mark.parametrize("level", ["profile", "trace"])
def test_gcc_program_on_llvm_runtime(tmp_path: Path, level: str) -> None:
    """LLVM's runtime has GCC's entry points: nothing is lost or counted twice, and a trace has identities."""
    seen_values = record(tmp_path, "gcc", _c(GCC_PROGRAM + CHAIN), level=level, LD_PRELOAD=str(LIBOMP))
    assert [name for name, _ in seen_values.process.runtimes.values()] == ["libomp"]
    regions = [(row.count, row.threads) for row in seen_values.rows("region")]
    assert regions == [(1, 4), (1, 4), (1, 4), (1, 2)]
    loops = [
        (row.schedule, row.iterations, row.chunk_size, row.trip_count) for row in seen_values.rows("loop")
    ]
    assert loops == [("dynamic", 1000, 7, 1000), ("guided", 1000, 16, 1000)]
    assert seen_values.only("lock", "critical").count == 4
    assert [row.executed for row in seen_values.rows("single")] == [1, 1]
    if level == "trace":
        _check_chain(seen_values)
    assert [(row.count, row.created) for row in seen_values.rows("task")] == [(1, 1)] * 5


@pytest.fixture(scope="module")
def intel() -> Path:
    """The folder of libiomp5 as PyPI's intel-openmp installs it."""
    try:
        files = importlib.metadata.files("intel-openmp") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("intel-openmp is not installed: pip install '.[test]'")
    (library,) = [file for file in files if file.name == "libiomp5.so"]
    return Path(str(library.locate())).resolve().parent


@pytest.mark.parametrize("level", ["profile", "trace"])
def test_intel_runtime(tmp_path: Path, intel: Path, level: str) -> None:
    """clang's programs run on Intel's runtime; it tells identities as LLVM's does."""
    flags = ("-O2", "-fopenmp=libiomp5", "-L", str(intel))
    seen_values = record(
        tmp_path, COMPILER, _c(GCC_PROGRAM + CHAIN), flags, level=level, LD_LIBRARY_PATH=str(intel)
    )
    assert [name for name, _ in seen_values.process.runtimes.values()] == ["libiomp5"]
    assert [(row.count, row.threads) for row in seen_values.rows("region")] == [
        (1, 4),
        (1, 4),
        (1, 4),
        (1, 2),
    ]
    loops = [
        (row.schedule, row.iterations, row.chunk_size, row.trip_count) for row in seen_values.rows("loop")
    ]
    assert loops == [("dynamic", 1000, 7, 1000), ("guided", 1000, 16, 1000)]
    assert seen_values.only("lock", "critical").count == 4
    if level == "trace":
        _check_chain(seen_values)


OTHER = """#include <omp.h>
int b[100];
int of_other(void) { int threads = 0;
for (int r = 0; r < 3; r++)
#pragma omp parallel for schedule(dynamic, 10)
for (int i = 0; i < 100; i++) { b[i]++; if (i == 0) threads = omp_get_num_threads(); }
return 100 * b[99] + threads; }
"""
# compilers of the program and of its library, whether libomp is preloaded: the runtimes that the linker gives them
BOUND = {
    ("gcc", "clang-19", False): ["libgomp", "libomp"],
    ("clang-19", "gcc", False): ["libomp"],
    ("gcc", "gcc", True): ["libomp"],
    ("gcc", "clang-19", True): ["libomp"],
}


def _dynamic_loops(seen_values: Recorded) -> list[tuple[int, int]]:
    # To ask for the number of threads is, in GCC's code, what a static loop looks like.
    return [(row.iterations, row.chunk_size) for row in seen_values.rows("loop") if row.schedule == "dynamic"]


@pytest.mark.parametrize(("program", "library", "is_preloaded"), BOUND)
def test_runtimes_stay_as_they_are_bound(
    tmp_path: Path, program: str, library: str, is_preloaded: bool
) -> None:
    """Every object keeps the runtime that it has without us, which need not be its compiler's; all are told of."""
    build(tmp_path / "libother.so", library, OTHER, "-O2", "-fopenmp", "-shared", "-fPIC")
    body = f'#pragma omp parallel for schedule(dynamic, 7)\n{UP}\nprintf("%d\\n", of_other());'
    flags = ("-O2", "-fopenmp", "-L", str(tmp_path), "-lother")
    libomp_variables: dict[str, Any] = {"LD_PRELOAD": str(LIBOMP)} if is_preloaded else {}
    seen_values = record(
        tmp_path,
        program,
        _c(body, "int of_other(void);"),
        flags,
        LD_LIBRARY_PATH=str(tmp_path),
        **libomp_variables,
    )
    assert seen_values.output == "304\n"
    runtimes = sorted(name for name, _ in seen_values.process.runtimes.values())
    assert runtimes == BOUND[program, library, is_preloaded]
    assert [(row.count, row.threads) for row in seen_values.rows("region")] == [(1, 4), (3, 12)]
    assert _dynamic_loops(seen_values) == [(1000, 7), (300, 10)]


def test_two_compilers_in_one_object(tmp_path: Path) -> None:
    """Code of both compilers linked into one program: each half reaches its own runtime."""
    build(tmp_path / "other.o", "clang-19", OTHER, "-O2", "-fopenmp", "-c")
    body = f'#pragma omp parallel for schedule(dynamic, 7)\n{UP}\nprintf("%d\\n", of_other());'
    # The first of the two libraries that has a function is asked for it, then and now.
    flags = ("-O2", "-fopenmp", str(tmp_path / "other.o"), "-lgomp", str(LIBOMP))
    seen_values = record(tmp_path, "gcc", _c(body, "int of_other(void);"), flags)
    assert sorted(name for name, _ in seen_values.process.runtimes.values()) == ["libgomp", "libomp"]
    assert [(row.count, row.threads) for row in seen_values.rows("region")] == [(1, 4), (3, 12)]
    assert _dynamic_loops(seen_values) == [(1000, 7), (300, 10)]

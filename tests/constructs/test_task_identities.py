"""OpenMP's explicit tasks in traces, with the runtimes of gcc and clang: identities, dependences, and who is blamed for waits."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from probe_run import Recorded, record
from trimtab.analysis.diagnosis import diagnosis_of
from trimtab.model.enumerations import EventKind
from trimtab.readers import open_run
from trimtab.traces import traces_of
from trimtab.traces.intervals import Doing, Kind, intervals_of

COMPILERS = ("gcc", "clang-19")
HEAD = """#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <stdio.h>
#include <string.h>
int a[1000];
static void work(double seconds) { for (double begin = omp_get_wtime(); omp_get_wtime() - begin < seconds;); }
static int fib(int n) {
  int x, y;
  if (n < 2) return n;
#pragma omp task shared(x)
  x = fib(n - 1);
#pragma omp task shared(y) if(n > 4)
  y = fib(n - 2);
#pragma omp taskwait
  return x + y;
}
"""


def c(body: str) -> str:
    return f"{HEAD}int main(void) {{\n{body}\nreturn 0; }}\n"


SINGLE = "#pragma omp parallel\n#pragma omp single\n"
# Program, and what it prints whoever runs its tasks.
PROGRAMS = {
    "nested": (
        SINGLE + 'printf("%d\\n", fib(12));',
        "144",
    ),
    "chain": (
        SINGLE
        + """{ int x = 0, y = 0;
#pragma omp task depend(out: x) shared(x)
{ work(0.002); x = 1; }
#pragma omp task depend(in: x) depend(out: y) shared(x, y)
y = x + 1;
#pragma omp task depend(inout: y) shared(y)
y *= 10;
#pragma omp taskwait depend(in: y)
#pragma omp taskwait
printf("%d\\n", y); }""",
        "20",
    ),
    "sets": (
        SINGLE
        + """{ int x = 0, y = 0; omp_depend_t d;
#pragma omp depobj(d) depend(inout: x)
for (int i = 0; i < 5; i++) {
#pragma omp task depend(mutexinoutset: x) shared(x)
x += i; }
#pragma omp task depend(depobj: d) shared(x)
x *= 2;
#pragma omp task depend(in: x) depend(out: y) shared(x, y) if(0)
y = x;
#pragma omp taskwait
printf("%d\\n", y); }""",
        "20",
    ),
    "in a loop": (
        """#pragma omp parallel for schedule(dynamic)
for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(i)
a[i] = i; }
int sum = 0; for (int i = 0; i < 100; i++) sum += a[i];
printf("%d\\n", sum);""",
        "4950",
    ),
    "nested teams": (
        """omp_set_max_active_levels(2); int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
for (int t = 0; t < 4; t++) {
#pragma omp task shared(sum)
#pragma omp parallel num_threads(2) shared(sum)
#pragma omp single
{ int x = 0;
#pragma omp task depend(out: x) shared(x)
x = 1;
#pragma omp task depend(in: x) shared(x, sum)
#pragma omp atomic
sum += x;
#pragma omp taskwait
} }
printf("%d\\n", sum);""",
        "4",
    ),
    "cancel": (
        SINGLE
        + """{ int ran = 0;
#pragma omp taskgroup
for (int i = 0; i < 50; i++) {
#pragma omp task shared(ran) firstprivate(i)
{ if (i == 3) {
#pragma omp cancel taskgroup
}
#pragma omp atomic
ran++; } }
printf("%d\\n", ran > 0 && ran <= 50); }""",
        "1",
    ),
    "detach": (
        SINGLE
        + """{ omp_event_handle_t event; int x = 0, sum = 0;
#pragma omp task detach(event) depend(out: x) shared(x)
{ x = 5; omp_fulfill_event(event); }
#pragma omp task depend(in: x) shared(x, sum)
sum = x + 1;
#pragma omp taskwait
printf("%d\\n", sum); }""",
        "6",
    ),
    "taskloop": (
        SINGLE
        + """{ long sum = 0, last = 0;
#pragma omp taskloop nogroup grainsize(10) firstprivate(sum)
for (int i = 0; i < 100; i++) a[i] = i;
#pragma omp taskwait
#pragma omp taskloop reduction(+: sum) num_tasks(7) lastprivate(last)
for (long i = 0; i < 100; i++) { sum += a[i]; last = i; }
#pragma omp taskloop reduction(+: sum)
for (unsigned long long i = 1; i <= 100; i += 3) sum += i;
printf("%ld %ld\\n", sum, last); }""",
        "6667 99",
    ),
    "many pieces": (
        SINGLE
        + """{
#pragma omp taskloop grainsize(1)
for (int i = 0; i < 1000; i++) a[i] = i;
printf("%d\\n", a[999]); }""",
        "999",
    ),
    "reductions": (
        SINGLE
        + """{ int sum = 0;
#pragma omp taskgroup task_reduction(+: sum)
for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+: sum) firstprivate(i) priority(i)
sum += i; }
printf("%d\\n", sum); }""",
        "190",
    ),
    "data": (
        """struct { _Alignas(64) char bytes[200]; } big; memset(&big, 7, sizeof big); char huge[40000]; memset(huge, 1, sizeof huge);
int sum = 0;
#ifdef __clang__  // which refuses arrays of variable length here
enum { count = 300 };
#else
int count = 300;
#endif
char any[count]; memset(any, 2, sizeof any);
#pragma omp parallel
#pragma omp single
for (int i = 0; i < 8; i++) {
#pragma omp task firstprivate(big) shared(sum) untied
if ((unsigned long)&big % 64 == 0)
#pragma omp atomic
sum += big.bytes[199];
#pragma omp task firstprivate(any, huge) shared(sum) final(i > 3) mergeable
#pragma omp atomic
sum += any[count - 1] + huge[39999]; }
printf("%d\\n", sum);""",
        "80",
    ),
}
# Tasks, of which each has an identity, with both runtimes and two threads; edges whoever was first.
EDGES = {"chain": [(0, 1), (1, 2)]}


def environment(threads: int) -> dict[str, str]:
    return {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "passive",
        "OMP_CANCELLATION": "true",
    }


def program_of(folder: Path, compiler: str, source: str) -> Path:
    (folder / "tasks.c").write_text(source, encoding="utf-8")
    program = folder / "tasks"
    subprocess.run([compiler, "-O1", "-g", "-fopenmp", folder / "tasks.c", "-o", program], check=True)
    return program


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_right_and_all_idle_time_is_charged(
    tmp_path: Path, trimtab: str, name: str, compiler: str, threads: int
) -> None:
    body, answer = PROGRAMS[name]
    program = program_of(tmp_path, compiler, c(body))
    folder = tmp_path / "run"
    done = subprocess.run(
        [trimtab, "run", "-q", "--trace", "-o", folder, "--", program],
        env=environment(threads),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, answer), done.stderr
    shown = subprocess.run([trimtab, "report", folder, "--json"], capture_output=True, text=True, check=True)
    report = json.loads(shown.stdout)
    assert sum(row["share"] for row in report["blame"]) == pytest.approx(1 - report["efficiency"], abs=1e-3)
    assert sum(part["share"] for part in report["critical_path"]) == pytest.approx(1.0, abs=1e-3)
    trace = traces_of(open_run(folder))[0]
    diagnosis = diagnosis_of(trace)
    assert diagnosis is not None
    begun = [event for event in _events(trace, EventKind.TASK_BEGIN) if event[0] != 0]
    created = Counter(task for task, _ in _events(trace, EventKind.TASK_CREATED))
    assert all(created[task] <= 1 for task, _ in begun)


def _events(trace: object, kind: EventKind) -> list[tuple[int, int]]:
    lanes = trace.process.lanes  # type: ignore[attr-defined]
    events = [
        (int(e["ticks"]), int(e["a"]), int(e["b"]))
        for lane in lanes
        for e in lane.events[lane.events["kind"] == kind]
    ]
    return [(a, b) for _, a, b in sorted(events)]


# The second thread is in the first task until all are created.
CHAIN = """int is_created = 0;
#pragma omp parallel num_threads(2) shared(is_created)
#pragma omp single
{ int x = 0, y = 0;
#pragma omp task depend(out: x) shared(is_created)
for (int ready = 0; !ready;) {
#pragma omp atomic read
ready = is_created;
}
#pragma omp task depend(in: x) depend(out: y)
a[1]++;
#pragma omp task depend(in: x)
a[2]++;
#pragma omp task depend(inout: y)
a[3]++;
#pragma omp task
a[4]++;
#pragma omp atomic write
is_created = 1;
#pragma omp taskwait
}
printf("%d\\n", a[1] + a[2] + a[3] + a[4]);"""


def _of_kind(seen: Recorded, kind: EventKind) -> list[tuple[int, int, int]]:
    lanes = seen.process.lanes
    found = [e for lane in lanes for e in lane.events[lane.events["kind"] == kind]]
    return [
        (int(e["a"]), int(e["b"]), int(e["subject"])) for e in sorted(found, key=lambda e: int(e["ticks"]))
    ]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_trace_has_identities_and_dependences(tmp_path: Path, compiler: str) -> None:
    seen = record(tmp_path, compiler, c(CHAIN), ("-O2", "-fopenmp"), level="trace")
    created = [task for task, _, _ in _of_kind(seen, EventKind.TASK_CREATED)]
    assert len(set(created)) == 5 and 0 not in created
    assert sorted(task for task, _, _ in _of_kind(seen, EventKind.TASK_BEGIN)) == sorted(created)
    assert sorted(task for task, _, _ in _of_kind(seen, EventKind.TASK_END)) == sorted(created)
    edges = sorted((created.index(a), created.index(b)) for a, b, _ in _of_kind(seen, EventKind.EDGE))
    assert edges == [(0, 1), (0, 2), (1, 3)]
    assert "task identities and dependences" not in {entry.what for entry in seen.process.unavailable}


def test_children_know_their_creator_and_pieces_of_a_taskloop_are_tasks(tmp_path: Path) -> None:
    body = """#pragma omp parallel num_threads(2)
#pragma omp single
{
#pragma omp task
{
#pragma omp task
a[0]++;
#pragma omp taskwait
}
#pragma omp taskloop num_tasks(10)
for (int i = 0; i < 100; i++) a[i]++; }"""
    seen = record(tmp_path, "gcc", c(body), ("-O2", "-fopenmp"), level="trace")
    creators = {task: creator for task, creator, _ in _of_kind(seen, EventKind.TASK_CREATED)}
    assert len(creators) == 12
    assert Counter(creator != 0 for creator in creators.values()) == {False: 11, True: 1}
    assert {task for task, _, _ in _of_kind(seen, EventKind.TASK_BEGIN)} == set(creators)


# A (200 ms) -> B (50 ms); the thread that waits for both may run neither.
STRAGGLER = """int x = 0, has_begun = 0;
#pragma omp parallel num_threads(2) shared(x, has_begun)
#pragma omp single
{
#pragma omp task depend(out: x) shared(x, has_begun)
{
#pragma omp atomic write
has_begun = 1;
work(0.2); x = 1; }
for (int begun = 0; !begun;) {
#pragma omp atomic read
begun = has_begun;
}
#pragma omp task depend(in: x) shared(x)
{ work(0.05); x++; }
#pragma omp taskwait
}
printf("%d\\n", x);"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_taskwait_is_charged_to_the_task_that_it_waits_for(
    tmp_path: Path, trimtab: str, compiler: str
) -> None:
    program = program_of(tmp_path, compiler, c(STRAGGLER))
    folder = tmp_path / "run"
    command = [trimtab, "run", "-q", "--trace", "-o", folder, "--", program]
    subprocess.run(command, env=environment(2), capture_output=True, check=True)
    (trace,) = traces_of(open_run(folder))
    (first, _), (second, _) = _events(trace, EventKind.TASK_CREATED)
    intervals = intervals_of(trace)
    assert intervals is not None
    is_taskwait = [group.doing is Doing.TASKWAIT for group in intervals.groups]
    waits = [
        (int(intervals.lane[i]), int(intervals.giver[i]), int(intervals.end_ns[i] - intervals.begin_ns[i]))
        for i in range(len(intervals))
        if is_taskwait[intervals.group[i]] and intervals.kind[i] == Kind.WAITING
    ]
    runs = {task: lane for lane, task in _lanes_of_tasks(trace, intervals.lanes)}
    lane, giver, length = max(waits, key=lambda row: row[2])
    assert giver == runs[first] and lane != giver
    assert length > 100_000_000
    assert [(a, b) for a, b in _events(trace, EventKind.EDGE)] == [(first, second)]


def _lanes_of_tasks(trace: object, numbers: tuple[int, ...]) -> list[tuple[int, int]]:
    lanes = trace.process.lanes  # type: ignore[attr-defined]
    return [
        (numbers.index(lane.id), int(event["a"]))
        for lane in lanes
        for event in lane.events[lane.events["kind"] == EventKind.TASK_BEGIN]
    ]

"""Exports of real programs: what a viewer shows is what was written."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chrome_traces import chrome_events

Run = Callable[..., Any]
Compiled = Callable[..., Path]

CHAIN = """
#include <omp.h>
#include <unistd.h>
int main(void) {
  int a = 0, b = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : a)
    usleep(200);
#pragma omp task depend(in : a) depend(inout : b)
    usleep(200);
  }
}
"""
LOOPS = """
#include <unistd.h>
volatile int sink;
int main(void) {
  for (int call = 0; call < 5; call++)
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic, 4)
    for (int i = 0; i < 40; i++) usleep(50);
#pragma omp critical
    { usleep(2000); sink++; }
#pragma omp barrier
  }
}
"""


def chrome(trimtab: str, run: Path) -> list[dict[str, Any]]:
    path = run.with_suffix(".json")
    subprocess.run([trimtab, "export", str(run), "--to", "chrome", "-o", str(path)], check=True)
    return chrome_events(path)


def nesting_of(events: list[dict[str, Any]]) -> None:
    """Slices of a thread lie in each other or apart."""
    tracks: dict[Any, list[tuple[int, int]]] = {}
    for event in events:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            tracks.setdefault((event["pid"], event["tid"]), []).append(
                (begin, begin + round(event["dur"] * 1000))
            )
    for slices in tracks.values():
        ends: list[int] = []
        for begin, end in sorted(slices, key=lambda one_slice: (one_slice[0], -one_slice[1])):
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or end <= ends[-1]
            ends.append(end)


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_regions_loops_chunks_and_locks(run: Run, compiled: Compiled, trimtab: str, compiler: str) -> None:
    watched = run(compiled(LOOPS, compiler), options=("--trace",))
    assert watched.done.returncode == 0
    events = chrome(trimtab, watched.directory)
    nesting_of(events)
    count = Counter(event["cat"] for event in events if event["ph"] == "X")
    assert (count["region"], count["work"], count["loop"], count["chunk"]) == (5, 10, 10, 50)
    assert count["lock"] == 10
    # Whoever comes second waits for the other's 2 ms, unless the system held it back for as long.
    assert any(event["name"].startswith("wait: critical") for event in events)
    iterations = [event["args"]["iterations"] for event in events if event.get("cat") == "chunk"]
    assert sum(iterations) == 200 and set(iterations) == {4}
    # A chunk lasts as long as its iterations sleep, and is not an instant.
    assert all(event["dur"] >= 4 * 50 for event in events if event.get("cat") == "chunk")


def test_dependences_are_arrows(run: Run, compiled: Compiled, trimtab: str) -> None:
    watched = run(compiled(CHAIN, "clang-19"), options=("--trace",))
    assert watched.done.returncode == 0
    events = chrome(trimtab, watched.directory)
    nesting_of(events)
    tasks = {
        event["args"]["task"]: event for event in events if event["ph"] == "X" and event["cat"] == "task"
    }
    assert len(tasks) == 20
    created = [event["args"]["task"] for event in events if event["ph"] == "i" and event["cat"] == "task"]
    assert sorted(created) == sorted(tasks)
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) > 20
    for number, start in starts.items():
        assert start["ts"] <= ends[number]["ts"], "an arrow that points back in time"


def test_a_killed_run(run: Run, compiled: Compiled, trimtab: str) -> None:
    source = CHAIN.replace("usleep(200);\n  }", "usleep(200);\n    if (i == 9) kill(getpid(), SIGKILL);\n  }")
    source = source.replace("#include <omp.h>", "#include <signal.h>")
    watched = run(compiled(source, "gcc"), options=("--trace",))
    assert watched.done.returncode == -9
    events = chrome(trimtab, watched.directory)
    nesting_of(events)
    (region,) = [event for event in events if event.get("cat") == "region"]
    assert all(
        event["ts"] + event["dur"] <= region["ts"] + region["dur"] + 0.001
        for event in events
        if event["ph"] == "X"
    )


def test_all_processes_have_a_name_of_their_own(run: Run, compiled: Compiled, trimtab: str) -> None:
    program = compiled(LOOPS)
    watched = run("sh", "-c", f"{program}; exec {program}", options=("--trace",))
    events = chrome(trimtab, watched.directory)
    nesting_of(events)
    named = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    at_work = {event["pid"] for event in events if event.get("cat") == "region"}
    assert len(at_work) == 2 and all(str(program) in named[pid] for pid in at_work)


MANY = """
volatile int sink;
int main(void) {
  for (int call = 0; call < 20000; call++)
#pragma omp parallel num_threads(2)
    sink = call;
}
"""


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "cut off: only the last"),
        (("--trace", "--max-trace", "500K"), "found no room"),
        # On a busy machine events can come faster than room is made for them.
        pytest.param(
            ("--trace", "--max-trace", "500K", "--keep", "last"),
            "cut off: only the last",
            marks=pytest.mark.alone,
        ),
        pytest.param(("--trace",), None, marks=pytest.mark.alone),
    ],
)
def test_what_is_missing_is_told(
    run: Run, compiled: Compiled, trimtab: str, tmp_path: Path, options: tuple[str, ...], told: str | None
) -> None:
    watched = run(compiled(MANY), options=options)
    assert watched.done.returncode == 0
    path = tmp_path / "trace"
    command = [trimtab, "export", str(watched.directory), "--to", "perfetto", "-o", str(path)]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ("cut off" in completed.stderr) == (told is not None) and (told or "") in completed.stderr
    nesting_of(chrome(trimtab, watched.directory))

"""Of a program that is steered, quick tasks inside others are only counted: none is lost, and neither is what waits."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Compiled = Callable[..., Path]

COMPILERS = ("gcc", "clang-19")
DEPTH = 15
TASKS = 2 ** (DEPTH + 1) - 2
REPEATED = 3

TREE = r"""
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
static atomic_long leaves;
static void tree(int depth) {
  if (depth == 0) {
    leaves++;
    return;
  }
#pragma omp task if (depth > CUT)
  tree(depth - 1);
#pragma omp task if (depth > CUT)
  tree(depth - 1);
#pragma omp taskwait
}
"""

MANY = (
    TREE
    + r"""
int main(void) {
  for (int i = 0; i < REPEATED; ++i)
#pragma omp parallel
#pragma omp single
    tree(DEPTH);
  printf("%ld\n", leaves);
}
"""
)

# The long one is run by a third thread, whoever runs the second task; that one waits for it after it has run many.
WAITING = (
    TREE
    + r"""
static atomic_int is_long_one_begun;
int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp task
  {
    tree(DEPTH);
#pragma omp task
    {
#pragma omp task
      {
        is_long_one_begun = 1;
        struct timespec left = {0, 400000000};
        while (nanosleep(&left, &left) != 0) {
        }
      }
      while (!is_long_one_begun) sched_yield();
      tree(DEPTH - 4);
#pragma omp taskwait
    }
#pragma omp taskwait
  }
  printf("%ld\n", leaves);
}
"""
)


def _source(text: str, cut: int, repeated: int = REPEATED) -> str:
    return f"#define CUT {cut}\n#define DEPTH {DEPTH}\n#define REPEATED {repeated}\n{text}"


def _watched(run: Run, program: Path, tmp_path: Path, threads: int, tune: str) -> Any:
    history = ("--history", str(tmp_path / "history.sqlite")) if tune == "--tune" else ()
    done = run(program, options=(tune, *history), env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    assert done.done.returncode == 0, done.done.stderr
    return done


@pytest.mark.parametrize("cut", [0, 6])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_all_are_counted_and_some_are_timed(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str, threads: int, cut: int
) -> None:
    program = compiled(_source(MANY, cut), compiler)
    for tune in ("--tune=off", "--tune"):
        watched = _watched(run, program, tmp_path, threads, tune)
        assert watched.done.stdout == f"{REPEATED * 2**DEPTH}\n"
        tasks = watched.report()["tasks"]
        assert sum(each["count"] for each in tasks) == REPEATED * TASKS
        assert sum(each["created"] for each in tasks) == REPEATED * TASKS
        timed = sum(each["timed"] for each in tasks)
        if tune == "--tune=off":
            assert timed == REPEATED * TASKS
        elif threads == 1:  # a machine that is busy may let none be quick where they wait for each other
            assert 512 <= timed < REPEATED * TASKS


# A thread that has lost its CPU in the midst of them seems to wait.
@pytest.mark.alone
@pytest.mark.parametrize("compiler", COMPILERS)
def test_their_time_is_that_of_the_tasks_around_them(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str
) -> None:
    watched = _watched(run, compiled(_source(MANY, 0, 20 * REPEATED), compiler), tmp_path, 1, "--tune")
    report = watched.report()
    region = report["regions"][0]
    total = sum(each["total_s"] for each in report["tasks"])
    assert 0.5 * region["wall_s"] < total < 1.1 * region["wall_s"]
    # One thread waits for nobody: all that its waits took was tasks.
    assert region["waits"].get("taskwait", 0.0) < 0.3 * region["wall_s"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_wait_among_them_is_told(run: Run, compiled: Compiled, tmp_path: Path, compiler: str) -> None:
    watched = _watched(run, compiled(_source(WAITING, 0), compiler), tmp_path, 3, "--tune")
    assert watched.report()["regions"][0]["waits"]["taskwait"] > 0.2

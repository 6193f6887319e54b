"""Tasks may run inside each other by the thousand: recording leaves the stack to them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Compiled = Callable[..., Path]

DEPTH = 4000
# GCC's runtime runs a task in place where its `if` is false, LLVM's also where the team has one thread.
CLAUSES = {"gcc": "if (0)", "clang-19": ""}
# One task in 32 is timed, and needs 150 bytes more.
MOST_MORE = 32

SOURCE = """
#include <stdint.h>
#include <stdio.h>
static uintptr_t first, last;
__attribute__((noinline)) static void descend(int depth) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (depth == DEPTH / 2) first = here;
  last = here;
  if (depth == 0) return;
#pragma omp task CLAUSE
  descend(depth - 1);
#pragma omp taskwait
}
int main(void) {
#pragma omp parallel num_threads(1)
  descend(DEPTH);
  printf("%d\\n", (int)((first - last) / (DEPTH / 2)));
}
"""


@pytest.mark.parametrize("tune", ["--tune=off", "--tune"])
@pytest.mark.parametrize("compiler", CLAUSES)
def test_a_task_inside_another_takes_no_more_of_the_stack(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str, tune: str
) -> None:
    source = SOURCE.replace("CLAUSE", CLAUSES[compiler]).replace("DEPTH", str(DEPTH))
    program = compiled(source, compiler, "-O1")
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    bare = int(subprocess.run([program], capture_output=True, text=True, env=environment, check=True).stdout)
    watched = run(program, options=(tune, "--history", str(tmp_path / "h.sqlite")), env=environment)
    assert watched.done.returncode == 0, watched.done.stderr
    assert sum(task["count"] for task in watched.report()["tasks"]) == DEPTH
    assert bare <= int(watched.done.stdout) <= bare + MOST_MORE

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
# That the kind is quick is known when some of its tasks have ended.
QUICK = 1000
# GCC's runtime runs a task in place where its `if` is false, LLVM's also where the team has one thread.
CLAUSES = {"gcc": "if (0)", "clang-19": ""}
# Of one that is timed. Kinds of quick tasks are timed in a sample only, unless the machine is so busy that they take long.
MOST_MORE = 200

SOURCE = """
#include <stdint.h>
#include <stdio.h>
static uintptr_t outer;
static int least = 1 << 30, most;
__attribute__((noinline)) static void descend(int depth) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (depth + 1 < DEPTH) {
    int took = (int)(outer - here);
    if (took < least) least = took;
    if (took > most) most = took;
  }
  outer = here;
  if (depth == 0) return;
#pragma omp task CLAUSE
  descend(depth - 1);
#pragma omp taskwait
}
int main(void) {
#pragma omp parallel num_threads(1)
  {
    for (int i = 0; i < QUICK; ++i) descend(1);
    least = 1 << 30;
    most = 0;
    descend(DEPTH);
  }
  printf("%d %d\\n", least, most);
}
"""


@pytest.mark.parametrize("tune", ["--tune=off", "--tune"])
@pytest.mark.parametrize("compiler", CLAUSES)
def test_a_task_inside_another_takes_no_more_of_the_stack(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str, tune: str
) -> None:
    source = (
        SOURCE.replace("CLAUSE", CLAUSES[compiler]).replace("DEPTH", str(DEPTH)).replace("QUICK", str(QUICK))
    )
    program = compiled(source, compiler, "-O1")
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    bare = subprocess.run([program], capture_output=True, text=True, env=environment, check=True).stdout
    usual, _ = map(int, bare.split())
    options = ("--tune", "--history", str(tmp_path / "h.sqlite")) if tune == "--tune" else (tune,)
    watched = run(program, options=options, env=environment)
    assert watched.done.returncode == 0, watched.done.stderr
    assert sum(task["count"] for task in watched.report()["tasks"]) == QUICK + DEPTH
    smallest, limit = map(int, watched.done.stdout.split())
    assert smallest == usual
    assert limit <= usual + MOST_MORE

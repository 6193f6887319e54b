"""A frozen run is started as the tuned one before it was, whatever has changed since; the user's own variables stay."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Compiled = Callable[..., Path]

SOURCE = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const char* const spin = getenv("GOMP_SPINCOUNT");
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += i;
  printf("%d threads, %s, %ld\n", omp_get_max_threads(), spin == NULL ? "-" : spin, sum);
  return 0;
}
"""
CPUS = len(os.sched_getaffinity(0))


def environment(**overrides: str) -> dict[str, str]:
    left_open = {
        name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_", "GOMP_"))
    }
    return {**left_open, **overrides}


@pytest.fixture
def half_a_cpu() -> Iterator[Callable[[], None]]:
    """Joins a control group that has so much."""
    second, first = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/cpu")
    folder = (first if first.is_dir() else second) / f"trimtab-test-{os.getpid()}"
    with contextlib.ExitStack() as undo:
        try:
            folder.mkdir()
            undo.callback(folder.rmdir)
            if first.is_dir():
                (folder / "cpu.cfs_quota_us").write_text("50000")
            else:
                (folder / "cpu.max").write_text("50000 100000")
        except OSError as error:
            pytest.skip(f"no control group with a quota: {error.strerror}")
        yield lambda: (folder / "cgroup.procs").write_text(str(os.getpid())) and None


@pytest.mark.skipif(CPUS < 2, reason="with one CPU there is one thread anyway")
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_threads_for_a_quota(
    run: Run, compiled: Compiled, tmp_path: Path, half_a_cpu: Callable[[], None], compiler: str
) -> None:
    def threads(mode: str, **overrides: str) -> str:
        options = (mode, "--history", str(tmp_path / "history.sqlite"))
        watched = run(
            compiled(SOURCE, compiler), options=options, env=environment(**overrides), preexec_fn=half_a_cpu
        )
        assert watched.done.returncode == 0, watched.done.stderr
        count, _, answer = str(watched.done.stdout).strip().split(", ")
        assert answer == "499500"
        return count

    assert threads("--frozen") == f"{CPUS} threads", "nothing is known"
    assert threads("--tune") == "1 threads"
    assert threads("--frozen") == "1 threads"
    assert threads("--frozen", OMP_NUM_THREADS="2") == "2 threads", "the user's"
    assert threads("--frozen") == "1 threads", "the same each time"

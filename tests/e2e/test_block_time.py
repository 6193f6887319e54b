"""The block time of LLVM's runtime, turned while the program runs: never over what the user or the program has set."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Compiled = Callable[..., Path]

# Prints every block time that it had.
SOURCE = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int kmp_get_blocktime(void);
void kmp_set_blocktime(int);
int main(int argc, char** argv) {
  const double begin = omp_get_wtime();
  int before = -1, changes = 0;
  long sum = 0, rounds = 0;
  if (argc > 1) kmp_set_blocktime(atoi(argv[1]));
  while (omp_get_wtime() < begin + (argc > 1 ? 1 : 60) && (changes < 4 || argc > 1)) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; ++i) sum += i;
    ++rounds;
    const int now = kmp_get_blocktime();
    if (now == before) continue;
    before = now;
    ++changes;
    printf("%d\n", now);
    if (argc > 1 && rounds == 1) kmp_set_blocktime(atoi(argv[1]) + 1);
  }
  return sum != rounds * 499500;
}
"""


def environment(**overrides: str) -> dict[str, str]:
    waiting = ("KMP_BLOCKTIME", "KMP_LIBRARY", "OMP_WAIT_POLICY")
    return {**{k: v for k, v in os.environ.items() if k not in waiting}, "OMP_NUM_THREADS": "2", **overrides}


@pytest.fixture
def program(compiled: Compiled) -> Path:
    return compiled(SOURCE, "clang-19")


def turned(watched: Any) -> set[str]:
    changes = [change for decision in watched.report()["decisions"] for change in decision["changes"]]
    return {change["to"] for change in changes if change["knob"] == "blocktime"}


def test_it_takes_effect_with_the_next_fork(run: Run, program: Path, tmp_path: Path) -> None:
    history = ("--history", str(tmp_path / "history.sqlite"))
    watched = run(program, options=("--tune=shuffle", *history), env=environment())
    assert watched.done.returncode == 0, watched.done.stderr
    seen_values = watched.done.stdout.split()
    assert seen_values[0] == "200" and len(set(seen_values)) > 1, seen_values
    assert set(seen_values[1:]) <= turned(watched) <= {"0", "1", "10", "200"}


def test_what_the_user_sets_stands(run: Run, program: Path, tmp_path: Path) -> None:
    history = ("--history", str(tmp_path / "history.sqlite"))
    watched = run(program, "5", options=("--tune=shuffle", *history), env=environment(KMP_BLOCKTIME="7"))
    assert watched.done.stdout.split() == ["5", "6"], watched.done.stderr
    assert turned(watched) == set()


def test_what_the_program_sets_stands(run: Run, program: Path, tmp_path: Path) -> None:
    history = ("--history", str(tmp_path / "history.sqlite"))
    watched = run(program, "5", options=("--tune=shuffle", *history), env=environment())
    assert watched.done.returncode == 0
    assert watched.done.stdout.split() == ["5", "6"], watched.done.stderr

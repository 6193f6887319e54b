"""Threads that wait for each other in malloc: seen where they share an arena, and not where each has one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import long_enough
from trimtab.analysis.samples import last_value
from trimtab.model.enumerations import CounterName
from trimtab.readers import open_run

Run = Callable[..., Any]
Compiled = Callable[..., Path]

SOURCE = (Path(__file__).parent / "arena_contention.c").read_text(encoding="utf-8")
THREADS = 4
ONE_ARENA = [{"GLIBC_TUNABLES": "glibc.malloc.arena_max=1"}, {"MALLOC_ARENA_MAX": "1"}]


def waits_of(run: Run, program: Path, rounds: str, **variables: str) -> tuple[float, float, float]:
    """Seconds that threads waited for arenas, how many threads did, and how many arenas there were."""
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if name not in ("GLIBC_TUNABLES", "MALLOC_ARENA_MAX")
        },
        "OMP_NUM_THREADS": str(THREADS),
        **variables,
    }
    watched = run(program, rounds, options=("--tune=off",), env=environment)
    assert watched.done.returncode == 0 and watched.done.stdout == "right\n", watched.done
    (process,) = open_run(watched.directory).processes
    names = (CounterName.ARENA_WAITS, CounterName.ARENA_WAITERS, CounterName.ARENAS)
    waits, threads, arenas = (last_value(process, name) or 0.0 for name in names)
    return waits, threads, arenas


@pytest.mark.parametrize("variables", ONE_ARENA)
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_threads_with_one_arena_wait_for_each_other(
    run: Run, compiled: Compiled, compiler: str, variables: dict[str, str]
) -> None:
    program = compiled(SOURCE, compiler)
    waits, threads, arenas = long_enough(
        400_000, lambda rounds: waits_of(run, program, rounds, **variables), lambda seen: seen[1] >= 2
    )
    assert waits > 0 and 2 <= threads <= THREADS and arenas == 1


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_threads_with_an_arena_each_do_not(run: Run, compiled: Compiled, compiler: str) -> None:
    waits, threads, _ = waits_of(run, compiled(SOURCE, compiler), "400000")
    assert (waits, threads) == (0.0, 0.0)

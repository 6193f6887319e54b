"""`trimtab run --tune` says why it cannot change a pattern's loops, and says nothing where it can."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pattern_programs import build, patterns_of

Run = Callable[..., Any]

REASONS = {
    "serialized": "it ran with one thread",
    "nested": "it is nested, and only loops of outermost regions are changed",
    "taskloop": "it has no worksharing loop",
    "sections": "sections are handed out one at a time already",
    "doacross": "its iterations wait for each other in order",
    "static_block": "GCC inlines static loops, so the runtime is not asked for their iterations;"
    " try --virtual-threads, or write schedule(runtime) in the source",
}
TUNED_BY_CLANG = "static_block"


@pytest.fixture(scope="module", params=["clang++-19", "g++"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    compiler = str(request.param)
    rows = [row for row in patterns_of(compiler) if row.name in REASONS]
    return compiler, build(tmp_path_factory.mktemp("without-knob"), compiler, rows)


@pytest.mark.parametrize("name", REASONS)
def test_the_reason_is_printed(run: Run, built: tuple[str, Path], tmp_path: Path, name: str) -> None:
    compiler, program = built
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    options = ("--tune", "--history", str(tmp_path / "history.sqlite"))
    watched = run(program, "light-first", "60", name, options=options, env=environment)
    assert watched.done.stdout == f"{name} right\n", watched.done.stderr
    reported = [line.strip() for line in watched.done.stderr.splitlines() if "not tuned: " in line]
    if name == TUNED_BY_CLANG and compiler.startswith("clang"):
        assert reported == []
        return
    assert any(line.endswith(f"({name}): {REASONS[name]}") for line in reported), watched.done.stderr
    assert all(line.startswith(f"not tuned: {program.name}.cpp:") for line in reported)

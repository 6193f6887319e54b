"""The library in a program takes nothing from the program's heap: its blocks lie where they do without Trimtab."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Compiled = Callable[..., Path]

FOLDER = Path(__file__).parent
SOURCE = (FOLDER / "heap_of_program.c").read_text(encoding="utf-8")
WAYS = [(), ("--trace",), ("--tune",), ("--tune=shuffle", "--virtual-threads"), ("--no-follow",)]


@pytest.fixture(params=["gcc", "clang-19"])
def program(request: pytest.FixtureRequest, compiled: Compiled) -> Path:
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param}")
    return compiled(SOURCE, request.param, "-O2")


@pytest.fixture(scope="session")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("counting") / "liballocations.so"
    source = str(FOLDER / "allocations.c")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", source, "-o", str(out)], check=True)
    return out


def with_own_history(options: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    is_tuned = any(option.startswith("--tune") for option in options)
    return (*options, "--history", str(folder / "h.sqlite")) if is_tuned else options


@pytest.mark.parametrize("options", WAYS, ids=" ".join)
def test_blocks_lie_where_they_do_without_trimtab(
    run: Run, program: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    bare = subprocess.run([program, "1"], capture_output=True, text=True, env=environment, check=True)
    watched = run(program, "1", options=with_own_history(options, tmp_path), env=environment)
    assert watched.done.returncode == 0, watched.done.stderr
    assert len(bare.stdout.splitlines()) == 41
    assert watched.done.stdout.splitlines()[:40] == bare.stdout.splitlines()[:40]


@pytest.mark.parametrize("options", WAYS, ids=" ".join)
def test_the_library_calls_malloc_only_to_start_its_threads(
    run: Run, program: Path, counting: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    reported = tmp_path / "allocations"
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "2",
        "LD_PRELOAD": str(counting),
        "ALLOCATIONS": str(reported),
    }
    watched = run(program, "300", options=with_own_history(options, tmp_path), env=environment)
    assert watched.done.returncode == 0, watched.done.stderr
    assert watched.report()["regions"], "it was watched"
    calls = Counter(reported.read_text(encoding="utf-8").splitlines())
    assert calls[program.name] > 40, "the program's own are seen"
    own_value = {name: count for name, count in calls.items() if name.startswith("libtrimtab")}
    # What the command analyses the run with.
    own_value.pop("libtrimtab_diagnosis.so", None)
    # The C library's table for each of its threads, and for the second thread of the team, which passes a hook.
    assert own_value.pop("libtrimtab_preload.so thread", 0) <= 3
    assert own_value == {}


def test_the_library_has_no_malloc_for_the_program(trimtab: str) -> None:
    """Its own one is hidden: only hooks are exported."""
    folder = Path(
        subprocess.run([trimtab, "--cmake-dir"], capture_output=True, text=True, check=True).stdout.strip()
    )
    (library,) = {entry.resolve() for entry in folder.parents[1].rglob("libtrimtab_preload.so")}
    symbols = subprocess.run(["nm", "-D", str(library)], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    assert "GOMP_parallel" in names
    assert (
        names & {"malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "_Znwm"} == set()
    )

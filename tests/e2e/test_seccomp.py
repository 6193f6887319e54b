"""A program that installs a filter of system calls (seccomp) is not ended by calls of ours."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Compiled = Callable[..., Path]
SOURCE = Path(__file__).parent / "seccomp.c"
AFTER = 400


@pytest.fixture(autouse=True, scope="module")
def threads_that_wait_sleep() -> Iterator[None]:
    """Those that spin take a CPU from each other where the tests share the machine, for a slice of the scheduler's at a time."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("OMP_WAIT_POLICY", "passive")
        yield


def _needs_seccomp(program: Path) -> None:
    if subprocess.run([program, "syscall", "0", "0"], check=False, capture_output=True).returncode == 4:
        pytest.skip("this kernel lets no program install a filter")


@pytest.mark.parametrize("how", ["prctl", "syscall"])
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("options", [(), ("--trace",), ("--tune",)], ids=["profile", "trace", "tune"])
def test_a_filter_ends_no_program(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str, how: str, options: tuple[str, ...]
) -> None:
    program = compiled(SOURCE.read_text(), compiler)
    _needs_seccomp(program)
    if options == ("--tune",):
        options = ("--tune", "--history", str(tmp_path / "history"))
    watched = run(program, how, 100, AFTER, options=options)
    assert (watched.done.returncode, watched.done.stdout) == (0, "done\n"), watched.done.stderr
    report = watched.report()
    (region,) = report["regions"]
    assert region["calls"] == 100 + AFTER, "recording goes on in memory that is mapped"
    whys = {entry["what"]: entry["why"] for entry in report["unavailable"]}
    assert "seccomp" in whys["figures over time after the filter"]


@pytest.mark.parametrize("how", ["prctl", "syscall"])
def test_a_filter_before_the_first_region_ends_no_program(run: Run, compiled: Compiled, how: str) -> None:
    program = compiled(SOURCE.read_text())
    _needs_seccomp(program)
    watched = run(program, how, 0, AFTER)
    assert (watched.done.returncode, watched.done.stdout) == (0, "done\n"), watched.done.stderr
    whats = {entry["what"] for entry in watched.report()["unavailable"]}
    assert "threads and programs started after the filter" in whats


@pytest.mark.parametrize("how", ["refused", "asked"])
def test_without_a_filter_everything_goes_on(run: Run, compiled: Compiled, how: str) -> None:
    # Long enough that the sampler thread, which may have ended and been made anew, comes by.
    report = run(compiled(SOURCE.read_text()), how, 100, 20000).report()
    (region,) = report["regions"]
    assert region["calls"] == 20100
    over_time = {counter["name"]: counter for counter in report["counters"]}
    assert over_time["run delay"]["count" if "count" in over_time["run delay"] else "values"]

"""One run of a program at one level: bare, attached and idle, profile, trace."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.analysis.overhead import own_cost
from trimtab.launcher import Options, launch
from trimtab.readers import open_run

LEVELS = ("bare", "idle", "profile", "trace")
PROMISED = ("bare", "profile", "trace")


class BenchError(Exception):
    """A program did not do what it is timed for."""


class TooLongError(BenchError):
    """It had not ended by then."""


@dataclass(frozen=True)
class Outcome:
    """How a run went. Wall time is from just before the program's start until its end was seen."""

    wall_s: float
    cpu_s: float
    output: str
    own_s: float = 0.0  # what the tool says that it cost, CPU seconds
    hooks: int = 0
    clock_reads: int = 0
    clock_read_ns: float = 0.0
    events: int = 0
    dropped: int = 0


def make(root: Path, folder: str, out: Path) -> None:
    """Build the programs in `folder` of the project."""
    subprocess.run(["make", "-s", "-C", str(root / folder), f"OUT={out}"], check=True)


def finished(command: list[str], timeout_s: float, **overrides: Any) -> str:
    """What a command prints that ends with code 0 within that time; `overrides` is what subprocess.run takes."""
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, **overrides)
    except subprocess.TimeoutExpired as error:
        raise TooLongError(
            f"{' '.join(command)}: expected an end within {timeout_s} s, found none"
        ) from error
    if completed.returncode != 0:
        raise BenchError(
            f"{' '.join(command)}: expected exit code 0, found {completed.returncode}: {completed.stderr.strip()}"
        )
    return str(completed.stdout)


def clean_environment() -> None:
    """What the user's shell says about OpenMP or Trimtab must not decide what is measured."""
    for name in list(os.environ):
        if name.startswith(("OMP_", "GOMP_", "KMP_", "TRIMTAB_")) or name == "LD_PRELOAD":
            del os.environ[name]


def run(
    argv: list[str],
    level: str,
    threads: int,
    scratch: Path,
    keep: Path | None = None,
    *,
    is_bound: bool = False,
) -> Outcome:
    """Run argv to its end. `keep`: where its run directory is to stay. `is_bound`: its threads, to CPUs."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    if is_bound:
        os.environ["OMP_PROC_BIND"] = "true"
    else:
        os.environ.pop("OMP_PROC_BIND", None)
    directory = keep or scratch / "run"
    with tempfile.TemporaryFile(dir=scratch) as capture, _standard_output(capture.fileno()):
        outcome = _bare(argv) if level == "bare" else _attached(argv, level, directory)
        capture.seek(0)
        output = capture.read().decode(errors="replace")
    if keep is None:
        shutil.rmtree(directory, ignore_errors=True)
    return Outcome(**{**vars(outcome), "output": output})


@contextlib.contextmanager
def _standard_output(to: int) -> Iterator[None]:
    """The programs inherit it; nothing of ours is printed meanwhile."""
    saved = os.dup(1)
    os.dup2(to, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def _bare(argv: list[str]) -> Outcome:
    program = shutil.which(argv[0])
    if program is None:
        raise BenchError(f"{argv[0]}: no such program")
    began = time.monotonic_ns()
    child = os.posix_spawn(program, argv, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    _, status, usage = os.wait4(child, 0)
    ended = time.monotonic_ns()
    if status != 0:
        raise BenchError(f"{' '.join(argv)}: expected exit code 0, found wait status {status}")
    return Outcome((ended - began) * 1e-9, usage.ru_utime + usage.ru_stime, "")


def _attached(argv: list[str], level: str, directory: Path) -> Outcome:
    completed = launch(argv, Options(directory, level))
    if completed.code != 0 or completed.directory is None:
        raise BenchError(
            f"{' '.join(argv)}: expected exit code 0, found {completed.code} ({completed.why or completed.signal})"
        )
    recorded = open_run(directory)
    ended = recorded.info["ended"]
    usage = ended["rusage"]
    wall_s, cpu_s = ended["wall_s"], usage["user_s"] + usage["system_s"]
    if not recorded.processes:
        raise BenchError(f"{directory}: expected a process, found none: the library was not loaded")
    process = recorded.processes[0]
    return Outcome(
        wall_s,
        cpu_s,
        "",
        own_cost(process).total_s,
        sum(lane.header["hooks"] for lane in process.lanes),
        sum(lane.header["clock_reads"] for lane in process.lanes),
        float(process.header["clock_read_ns"]),
        sum(lane.events_written for lane in process.lanes),
        sum(lane.events_dropped + lane.rows_dropped for lane in process.lanes),
    )

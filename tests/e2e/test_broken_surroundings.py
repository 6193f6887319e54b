"""Every command on every run that may be there: a result, or an error that says what is wrong. Killed programs,
files that are cut or missing."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

SEED = random.randrange(1 << 30) if "TRIMTAB_FUZZ" in os.environ else 20261128
KILLS = max(2, int(os.environ.get("TRIMTAB_FUZZ", "0")) // 100)
TIMEOUT_S = 120
WORK = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
volatile double sink;
int main(int n, char** v) {
for (int r = 0; r < atoi(v[1]); r++) {
#pragma omp parallel for schedule(static)
for (int i = 0; i < 20000; i++) for (int k = 0; k < i / 500; k++) sink = sin(i);
}
return 0; }
"""
# Every export; a picture of the graph of tasks is refused where there are none.
FORMATS = ("perfetto", "chrome", "otf2", "dot", "csv", "parquet", "task-graph")


def called(
    trimtab: str, *arguments: str | bytes | Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A command that has ended in time, without a traceback, with code 0 or an error of ours."""
    completed = subprocess.run(
        [trimtab, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        timeout=TIMEOUT_S,
        check=False,
    )
    output = completed.stderr.decode(errors="backslashreplace")
    assert "Traceback" not in output, output
    assert completed.returncode in (0, 2), (arguments, completed.returncode, output)
    if completed.returncode == 2:
        assert output.splitlines()[-1].startswith(("trimtab: ", "Error: ")), output
    return subprocess.CompletedProcess(
        completed.args, completed.returncode, completed.stdout.decode(errors="backslashreplace"), output
    )


def all_commands(
    trimtab: str, run: Path, scratch: Path, environment: Mapping[str, str] | None = None
) -> set[str]:
    """Every command on a run; the words of those that gave a result."""
    scratch.mkdir(exist_ok=True)
    commands: list[tuple[str | Path, ...]] = [
        ("report", run),
        ("report", run, "--json"),
        ("report", run, "--html", scratch / "page.html"),
        ("explain", run),
        ("explain", run, "1"),
        ("prove", run, "999"),
        ("top", run, "--once"),
        ("spark", run),
        ("compare", run, run),
        ("compare", run, run, "--html", scratch / "both.html"),
        *(("export", run, "--to", to, "-o", scratch / f"x-{to}") for to in FORMATS),
    ]
    done = {
        str(command[0])
        for command in commands
        if called(trimtab, *command, environment=environment).returncode == 0
    }
    if served(trimtab, run, environment):
        done.add("view")
    shutil.rmtree(scratch)
    return done


def served(trimtab: str, run: Path, environment: Mapping[str, str] | None = None) -> bool:
    """Whether `view` says where the page is; it ends at a signal."""
    with subprocess.Popen(
        [trimtab, "view", run, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment,
    ) as server:
        assert server.stdout is not None and server.stderr is not None
        address = server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        errors = server.stderr.read()
        server.wait(TIMEOUT_S)
    assert b"Traceback" not in errors, errors.decode(errors="backslashreplace")
    return b"http://" in address


def recorded(
    trimtab: str,
    run: Path,
    command: list[str | Path],
    *options: str,
    environment: Mapping[str, str] | None = None,
) -> Path:
    watched = [trimtab, "run", "-q", "--trace", "--tune=off", *options, "-o", run, "--", *command]
    completed = subprocess.run(
        watched, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False
    )
    assert completed.returncode == 0, completed.stderr
    return run


@pytest.fixture(scope="module")
def programs(
    workload: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "work.c").write_text(WORK)
    subprocess.run(
        ["gcc", "-g", "-O1", "-fopenmp", folder / "work.c", "-o", folder / "work", "-lm"], check=True
    )
    return {
        "regions": [str(folder / "work"), "40"],
        "tasks": [str(workload("reductions")), "--trimtab:workers=4", "--updates", "4", "--steps", "4"],
    }


def killed(trimtab: str, run: Path, command: list[str], after_s: float) -> Path:
    """Its launcher lives on, and says that a signal ended the program."""
    watched = [trimtab, "run", "-q", "--trace", "--tune=off", "-o", run, "--", *command]
    # A program that calls itself by another signal's default action would be known by its shell.
    with subprocess.Popen(
        watched, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as launcher:
        give_up = time.monotonic() + 30
        while not (children := child_processes(launcher.pid, command[0])) and time.monotonic() < give_up:
            time.sleep(0.001)
        until = time.monotonic() + after_s
        while time.monotonic() < until:
            pass
        for child in children:
            os.kill(child, signal.SIGKILL)
        launcher.wait(TIMEOUT_S)
    return run


def child_processes(parent: int, program: str) -> list[int]:
    """Those that have become the program."""
    pids = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(pid) for pid in pids if _is_program(pid, program)]


def _is_program(pid: str, program: str) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/exe") == os.path.realpath(program)
    except OSError:
        return False


LONG = {"regions": ["100000"], "tasks": ["--trimtab:workers=4", "--updates", "4", "--steps", "2000"]}


@pytest.mark.parametrize("kind", ["regions", "tasks"])
def test_killed_programs(trimtab: str, programs: dict[str, list[str]], tmp_path: Path, kind: str) -> None:
    chance = random.Random(f"{SEED} {kind}")
    marked = 0
    for kill in range(KILLS):
        after_s = chance.uniform(0, 0.05) if kill % 2 == 0 else chance.uniform(0.2, 0.5)
        run = killed(trimtab, tmp_path / f"run-{kill}", [programs[kind][0], *LONG[kind]], after_s)
        done = all_commands(trimtab, run, tmp_path / "out")
        assert {"report", "explain", "compare"} <= done, f"seed {SEED}, kill {kill} after {after_s} s: {done}"
        report: dict[str, Any] = json.loads(called(trimtab, "report", run, "--json").stdout)
        assert report["exit"]["signal"] == "SIGKILL" and not report["complete"]
        rows = [*report["critical_path"], *report["what_if"]]
        marked += len(rows)
        assert all("no end recorded" in row["basis"] for row in rows), f"seed {SEED}, kill {kill}"
    assert marked, "each run was killed before it had anything to show"


@pytest.mark.parametrize("kind", ["regions", "tasks"])
def test_cut_and_missing_files(
    trimtab: str, programs: dict[str, list[str]], tmp_path: Path, kind: str
) -> None:
    chance = random.Random(f"{SEED} cut {kind}")
    whole = recorded(trimtab, tmp_path / "whole", [*programs[kind]])
    files = sorted(path.relative_to(whole) for path in whole.glob("*/*") if path.stat().st_size)
    assert files
    for name in chance.sample(files, min(3, len(files))):
        for is_there in (True, False):
            run = tmp_path / "cut"
            shutil.copytree(whole, run)
            if is_there:
                os.truncate(run / name, chance.randrange((run / name).stat().st_size))
            else:
                (run / name).unlink()
            done = all_commands(trimtab, run, tmp_path / "out")
            assert "report" in done, f"seed {SEED}: {name}, {'cut' if is_there else 'absent'}"
            shutil.rmtree(run)

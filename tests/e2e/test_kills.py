"""Killed at any instant, a program leaves a run that can be read, and the report says what of it is left out.

Most of the kills are in the first milliseconds, while the library makes its files. TRIMTAB_FUZZ=10000 makes so many kills, others
each time.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reports import build, typed
from trimtab.launcher.launch import Options, _environment
from trimtab.paths import preload_library
from trimtab.readers import open_run
from trimtab.readers.listed import pages_of
from trimtab.text.tables import tables
from trimtab.text.verdict import verdict

Compiled = Callable[..., Path]

KILLS = int(os.environ.get("TRIMTAB_FUZZ", "500"))
SEED = random.randrange(1 << 30) if "TRIMTAB_FUZZ" in os.environ else 20261125

# Regions, and children that are forked, that have regions, and that execute the program again.
WORK = """
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile double sink;
static void work(int rounds) { for (int r = 0; r < rounds; r++) {
#pragma omp parallel for schedule(dynamic,4) num_threads(2)
for (int i = 0; i < 200; i++) sink = sin(i);
} }
int main(int n, char** v) {
alarm(60);
if (n > 1) work(1);
for (int i = 0; ; i++) {
if (i % 2 == 0) work(3);
pid_t child = fork();
if (child == 0) { work(2); if (i % 3 == 0) execl(v[0], v[0], "again", (char*)0); _exit(0); }
if (n > 1 || i > 3) { work(1000000); }
if (i % 3 != 0) waitpid(child, 0, 0);
} }
"""


class Killer:
    """Starts programs, and kills each with all that it started."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder = folder
        self._chance = chance
        self._count = 0

    def killed(self, program: Path, delay: Callable[[Path], None]) -> Path:
        """The run of `program`, killed after `delay`, which is given the run directory."""
        self._count += 1
        run = self._folder / f"run-{self._count}"
        run.mkdir()
        options = Options(run, self._chance.choice(["profile", "profile", "trace"]), max_trace_bytes=1 << 24)
        pid = os.posix_spawn(
            program, [str(program)], _environment(options, (preload_library(),)), setpgroup=0
        )
        try:
            delay(run)
            # The program alone, or its children at the same instant.
            if self._chance.random() < 0.3:
                os.kill(pid, signal.SIGKILL)
        finally:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        info = {"format": 1, "program": program.name, "argv": [str(program)], "ended": {"signal": "SIGKILL"}}
        (run / "run.json").write_text(json.dumps(info))
        return run


def problems_of(path: Path) -> list[str]:
    """What is wrong with how a run reads; nothing is expected."""
    run = open_run(path)
    report = build(run)
    json.dumps(report, allow_nan=False)
    verdict(typed(report), path, io.StringIO())
    tables(typed(report), path)
    result = []
    read = {process.directory.name for process in run.processes}
    named = {entry.what.removeprefix("process ") for entry in run.left_out}
    other_place = _processes_there(path)
    if read | named != other_place or read & named or len(read) < len(run.processes):
        result.append(f"read {read}, left out {named}, there {other_place}")
    # What was killed is incomplete, not damaged.
    result += [entry.why for entry in run.left_out if "before its files were complete" not in entry.why]
    result += [
        m.why for process in run.processes for m in process.unavailable if m.why.startswith("left out: ")
    ]
    shown = {entry["what"] for entry in report["unavailable"]}
    result += [
        f"{entry.what} is not named in the report" for entry in run.left_out if entry.what not in shown
    ]
    if report["time"] is not None and sum(report["time"].values()) != pytest.approx(1.0):
        result.append(f"the shares of time are {report['time']}")
    return result


def _processes_there(run: Path) -> set[str]:
    """The folders of processes, and the names that readers give those in lists."""
    there = {entry.name for entry in run.iterdir() if re.fullmatch(r".+-\d+-\d+", entry.name)}
    # A page has the next number that no complete folder has; who died as it moved, after its folder was complete, is in both.
    whole = {name for name in there if _is_whole(run / name)}
    begins = {(run / name / "process.tt").read_bytes()[120:128] for name in whole}
    for page in (page for of_host in run.glob("*.processes") for page in pages_of(of_host)):
        if page.data[120:128] not in begins:
            names = (f"{page.host}-{page.pid}-{image}" for image in range(1000))
            name = next(name for name in names if name not in whole)
            whole.add(name)
            there.add(name)
    return there


def _is_whole(folder: Path) -> bool:
    files = [folder / name for name in ("process.tt", "names.tt")]
    return all(file.exists() and file.read_bytes()[:1] == b"T" for file in files)


def _busy_wait(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def _has_begun(run: Path) -> bool:
    """Whether the library has made a process's directory."""
    with os.scandir(run) as entries:
        return next(entries, None) is not None


def _delay(chance: random.Random) -> Callable[[Path], None]:
    kind = chance.random()
    if kind < 0.7:
        # From when the library makes its directory: its files take about a millisecond, the first lanes come then.
        after = chance.uniform(0, 0.001) if kind < 0.5 else chance.uniform(0, 0.004)

        def soon(run: Path) -> None:
            give_up = time.perf_counter() + 30
            while not _has_begun(run) and time.perf_counter() < give_up:
                pass
            _busy_wait(after)

        return soon
    if kind < 0.9:
        return lambda _: _busy_wait(chance.uniform(0, 0.01))
    return lambda _: time.sleep(chance.uniform(0, 0.08))


@pytest.mark.timeout(max(900, KILLS))
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_killed_at_random_instants(
    compiled: Compiled, tmp_path: Path, compiler: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(f"{SEED} {compiler}")
    program = compiled(WORK, compiler)
    killer = Killer(tmp_path, chance)
    bad: list[Any] = []
    left_out = empty = 0
    for kill in range(KILLS // 2):
        run = killer.killed(program, _delay(chance))
        try:
            problems = problems_of(run)
        except Exception as error:
            problems = [f"{type(error).__name__}: {error}"]
        if problems:
            bad.append((kill, problems))
        else:
            recorded = open_run(run)
            is_listed = any(any(pages_of(of_host)) for of_host in run.glob("*.processes"))
            left_out += bool(recorded.left_out) or is_listed
            empty += not recorded.processes
            for path in sorted(run.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
    capsys.readouterr()  # the tables
    assert not bad, f"seed {SEED}: {len(bad)} of {KILLS // 2} kills, the first ones {bad[:5]}"
    # Some of the kills have come before a process had all of its files: others would test nothing.
    assert left_out > KILLS // 100, (left_out, empty)

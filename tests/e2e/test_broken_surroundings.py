"""Every command on every run that may be there: a result, or an error that says what is wrong. Killed programs, many threads,
names that are no UTF-8, disks without room, folders that cannot be written."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from trimtab.cli.main import main as command_group

Compiled = Callable[..., Path]

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
READER = """
#include <stdio.h>
int main(void) { int count = 0;
#pragma omp parallel num_threads(16)
for (volatile int i = 0; i < 3000000; i++) {}
while (getchar() != EOF) count++;
return count == 0; }
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


def inside(*arguments: str | Path) -> int:
    """The same in this process, which takes a tenth of the time."""
    completed = CliRunner().invoke(command_group, [str(argument) for argument in arguments])
    if completed.exception is not None and not isinstance(completed.exception, SystemExit):
        raise AssertionError(f"{arguments}: {completed.output}") from completed.exception
    assert completed.exit_code in (0, 2), (arguments, completed.exit_code, completed.output)
    if completed.exit_code == 2:
        assert completed.output.splitlines()[-1].startswith(("trimtab: ", "Error: ")), completed.output
    return completed.exit_code


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
    call = (
        inside
        if environment is None
        else lambda *command: called(trimtab, *command, environment=environment).returncode
    )
    done = {str(command[0]) for command in commands if call(*command) == 0}
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


EVERYTHING = {"report", "explain", "compare", "export", "view"}


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
    for name in chance.sample(files, 2):
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


@pytest.mark.parametrize("kind", ["regions", "tasks"])
@pytest.mark.parametrize(
    "options", [("--keep", "last", "--max-trace", "64k"), ("--max-trace", "8k")], ids=["ring", "dropped"]
)
def test_bounded_traces(
    trimtab: str, programs: dict[str, list[str]], tmp_path: Path, kind: str, options: tuple[str, ...]
) -> None:
    run = recorded(trimtab, tmp_path / "run", [*programs[kind]], *options)
    assert all_commands(trimtab, run, tmp_path / "out") >= EVERYTHING


@pytest.mark.parametrize("kind", ["regions", "tasks"])
def test_64_threads(trimtab: str, programs: dict[str, list[str]], tmp_path: Path, kind: str) -> None:
    command = [entry.replace("workers=4", "workers=64") for entry in programs[kind]]
    environment = {**os.environ, "OMP_NUM_THREADS": "64", "OMP_WAIT_POLICY": "passive"}
    run = recorded(trimtab, tmp_path / "run", [*command], environment=environment)
    assert all_commands(trimtab, run, tmp_path / "out") >= EVERYTHING


@pytest.mark.parametrize("home", [None, "/proc/nowhere"])
def test_without_a_home(
    trimtab: str, programs: dict[str, list[str]], tmp_path: Path, home: str | None
) -> None:
    bare = {
        name: value
        for name, value in os.environ.items()
        if name not in ("HOME", "TMPDIR") and not name.startswith("XDG_")
    }
    environment = bare if home is None else {**bare, "HOME": home}
    run = recorded(trimtab, tmp_path / "run", [*programs["regions"]], environment=environment)
    assert all_commands(trimtab, run, tmp_path / "out", environment) >= EVERYTHING


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a folder once more")
def test_a_run_folder_that_is_read_only(trimtab: str, programs: dict[str, list[str]], tmp_path: Path) -> None:
    run = recorded(trimtab, tmp_path / "run", [*programs["tasks"]])
    bind = ["mount", "--bind", run, run]
    if subprocess.run(bind, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", run], check=True)
        assert all_commands(trimtab, run, tmp_path / "out") >= EVERYTHING
    finally:
        subprocess.run(["umount", run], check=True)


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_names_that_are_no_text(
    trimtab: str, programs: dict[str, list[str]], tmp_path: Path, locale: str
) -> None:
    folder = tmp_path / os.fsdecode(b"a\xff\xe9b")
    folder.mkdir()
    program = folder / os.fsdecode(b"pr\xffg")
    shutil.copy(programs["tasks"][0], program)
    # The program ignores what its shell gets as further arguments.
    command = [
        "sh",
        "-c",
        '"$0" --trimtab:workers=4 --updates 8 --steps 4',
        str(program),
        os.fsdecode(b"\xfe"),
    ]
    environment = {**os.environ, "LC_ALL": locale}
    run = recorded(trimtab, folder / "run", [*command], environment=environment)
    assert all_commands(trimtab, run, folder / "out", environment) >= EVERYTHING
    direct = recorded(trimtab, folder / "direct", [program, *programs["tasks"][1:]], environment=environment)
    findings = json.loads(called(trimtab, "explain", direct, "--json").stdout)
    for number, finding in enumerate(findings, 1):
        if finding["cause"] == "order of tasks":
            proved = called(trimtab, "prove", direct, str(number), environment=environment)
            assert proved.returncode == 0, proved.stderr


@pytest.fixture
def full_disk(small_file_system: Callable[[str], Path]) -> Iterator[Path]:
    mount = small_file_system("64k")
    (mount / "filling").write_bytes(b"x" * 60_000)
    yield mount


def test_no_room_for_what_is_written(
    trimtab: str, programs: dict[str, list[str]], tmp_path: Path, full_disk: Path
) -> None:
    run = recorded(trimtab, tmp_path / "run", [*programs["tasks"]])
    for command in (
        ("report", run, "--html", full_disk / "page.html"),
        ("compare", run, run, "--html", full_disk / "both.html"),
        *(("export", run, "--to", to, "-o", full_disk / f"x-{to}") for to in FORMATS),
    ):
        completed = called(trimtab, *command)
        assert completed.returncode == 2 and str(full_disk) in completed.stderr, (command, completed.stderr)
    assert not [path for path in full_disk.iterdir() if path.is_file() and path.name != "filling"]
    # The page is in memory.
    assert served(trimtab, run, {**os.environ, "TMPDIR": str(full_disk)})


def test_a_proof_that_finds_no_room(
    trimtab: str, compiled: Compiled, tmp_path: Path, full_disk: Path
) -> None:
    run = recorded(
        trimtab, tmp_path / "run", [compiled(WORK), "40"], environment={**os.environ, "OMP_NUM_THREADS": "32"}
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    proved = called(
        trimtab,
        "prove",
        run,
        "more threads than CPUs",
        environment={**environment, "TMPDIR": str(full_disk)},
    )
    assert proved.returncode in (0, 2)


def test_a_program_that_reads(trimtab: str, compiled: Compiled, tmp_path: Path) -> None:
    program, text = compiled(READER), tmp_path / "text"
    text.write_text("some")
    watched = [trimtab, "run", "-q", "--trace", "--tune=off", "-o", tmp_path / "run", "--", program]
    subprocess.run(watched, input=b"some", check=True)
    proof = ("prove", tmp_path / "run", "more threads than CPUs")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    refused = called(trimtab, *proof, environment=environment)
    assert refused.returncode == 2 and "had a pipe as standard input" in refused.stderr
    assert "give it --input FILE" in refused.stderr.splitlines()[-1]
    proved = called(trimtab, *proof, "--input", text, environment=environment)
    assert proved.returncode == 0, proved.stderr
    assert "standard input" not in proved.stderr

"""Every command in every surrounding: many threads, odd names, killed and empty runs, full and read-only places, output that
nobody reads. Each succeeds or ends with one line that says why; nothing half-written is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from conftest import finished

WORK = """
#include <math.h>
#include <stdlib.h>
volatile double sink;
int main(int n, char** v) {
for (int r = 0; r < atoi(v[1]); r++) {
#pragma omp parallel for schedule(static)
for (int i = 0; i < 20000; i++) for (int k = 0; k < i / 500; k++) sink = sin(i);
}
if (n > 2) abort();
return 0; }
"""
# Bytes that are no UTF-8.
SCOPE = b"sum_\xff\xe9"
NAMED = rb"""
#include <trimtab.h>
volatile double sink;
int main(void) {
uint32_t region = trimtab_subject_at("REGION", "/no\xff/file.c", 3);
for (int r = 0; r < 20; r++) { trimtab_begin(region);
#pragma omp parallel for
for (int i = 0; i < 20000; i++) sink = i;
trimtab_end(region); }
return 0; }
"""
PROGRAM_NAME = b"work_\xff\xe9"
RUNS = ("regions", "threads", "names", "aborted", "empty")
FORMATS = ("csv", "parquet", "otf2", "perfetto", "chrome", "dot")
READING: dict[str, Callable[[Path, Path], list[str | Path]]] = {
    "report": lambda run, out: ["report", run],
    "report-json": lambda run, out: ["report", run, "--json"],
    "report-html": lambda run, out: ["report", run, "--html", out / "page.html"],
    "explain": lambda run, out: ["explain", run],
    "prove": lambda run, out: ["prove", run, "999"],
    "compare": lambda run, out: ["compare", run, run],
    "compare-html": lambda run, out: ["compare", run, run, "--html", out / "both.html"],
    "view": lambda run, out: ["view", run, "--no-browser"],
    "top": lambda run, out: ["top", run, "--once", "--interval", "0.1"],
    "spark": lambda run, out: ["spark", run],
    **{
        f"export-{to}": lambda run, out, to=to: ["export", run, "--to", to, "-o", out / f"trace-{to}"]
        for to in FORMATS
    },
}
WRITING = ("report-html", "compare-html", *(f"export-{to}" for to in FORMATS))
# These succeed on every run that ended by itself, whatever it was.
SURE = ("report", "report-json", "report-html", "explain", "compare", "export-csv", "export-perfetto")


def called(
    command: list[str | bytes | Path],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    stdout: int | None = subprocess.PIPE,
) -> subprocess.CompletedProcess[bytes]:
    """A command that ended in time; `view` gets SIGTERM after its first line, or ends before it."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=folder,
        start_new_session=True,
    ) as process:
        first = b""
        if "view" in command and process.stdout is not None:
            first = process.stdout.readline()
            process.terminate()
        out, errors = process.communicate(timeout=300)
    return subprocess.CompletedProcess(command, process.returncode, first + (out or b""), errors)


def sound(completed: subprocess.CompletedProcess[bytes]) -> int:
    """The exit code of a success or of an error that is one line of ours."""
    errors = completed.stderr.decode(errors="backslashreplace")
    for word in ("Traceback", "Exception ignored", "Error in sys.excepthook"):
        assert word not in errors, (completed.args, errors)
    assert completed.returncode in (0, 2), (completed.args, completed.returncode, errors)
    if completed.returncode == 2:
        last = errors.splitlines()[-1]
        assert re.match(r"(trimtab|Error): .{20}", last), (completed.args, errors)
        assert "None" not in last, last
    return completed.returncode


def left_in(folder: Path) -> list[str]:
    """All files and folders below one."""
    return sorted(str(entry.relative_to(folder)) for entry in folder.rglob("*"))


def nothing_half_written(folder: Path, code: int) -> None:
    left = left_in(folder)
    assert not any(".trimtab-" in name or name.endswith((".part", ".old")) for name in left), left
    if code != 0:
        assert left == [], left


def programs(folder: Path, trimtab: str) -> dict[str, list[str | bytes | Path]]:
    """The program of each run."""
    (folder / "work.c").write_text(WORK)
    (folder / "named.c").write_bytes(NAMED.replace(b"REGION", SCOPE))
    include = subprocess.run([trimtab, "--include-dir"], capture_output=True, text=True, check=True).stdout
    build = ["gcc", "-g", "-O1", "-fopenmp", "-I", include.strip()]
    subprocess.run([*build, folder / "work.c", "-o", folder / "work", "-lm"], check=True)
    odd = os.fsencode(folder) + b"/" + PROGRAM_NAME
    subprocess.run([*build, folder / "named.c", "-o", odd], check=True)
    return {
        "regions": [folder / "work", "20"],
        "threads": ["env", "OMP_NUM_THREADS=64", folder / "work", "3"],
        "names": [odd],
        "aborted": [folder / "work", "20", "abort"],
        "empty": ["sleep", "0.01"],
    }


class Runs:
    """A recorded run of each program."""

    def __init__(self, trimtab: str, folder: Path) -> None:
        self.programs = programs(folder, trimtab)
        self.folder = folder
        for name, program in self.programs.items():
            record = [trimtab, "run", "-q", "--trace", "--tune=off", "-o", folder / name, "--", *program]
            code = finished(record, text=False).returncode
            assert code == (-signal.SIGABRT if name == "aborted" else 0), (name, code)

    def __getitem__(self, name: str) -> Path:
        return self.folder / name


@pytest.fixture(scope="module")
def runs(trimtab: str, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(trimtab, tmp_path_factory.mktemp("matrix"))


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Callable[[Path], Path]]:
    """read_only(FOLDER): the same folder where nobody may write, root neither. Skips where that cannot be mounted."""
    mounts: list[Path] = []

    def mounted(folder: Path) -> Path:
        mount = tmp_path / f"read-only-{len(mounts)}"
        mount.mkdir()
        for options in (["--bind", str(folder), str(mount)], ["-o", "remount,bind,ro", str(mount)]):
            if subprocess.run(["mount", *options], check=False, capture_output=True).returncode != 0:
                pytest.skip("mounting is not allowed here")
            mounts.append(mount)
        return mount

    yield mounted
    for mount in dict.fromkeys(mounts):
        subprocess.run(["umount", str(mount)], check=True)


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("name", RUNS)
def test_every_command_on_every_run(
    trimtab: str, runs: Runs, tmp_path: Path, name: str, command: str
) -> None:
    completed = called([trimtab, *READING[command](runs[name], tmp_path)])
    code = sound(completed)
    nothing_half_written(tmp_path, code)
    if command in SURE or command == "view":
        assert code == 0, completed.stderr
    if command in WRITING and code == 0:
        assert left_in(tmp_path)


@pytest.mark.parametrize("command", READING)
def test_names_are_shown_in_every_locale(trimtab: str, runs: Runs, tmp_path: Path, command: str) -> None:
    """Of a terminal that shows ASCII only, where Python changes nothing about that."""
    plain = {
        **os.environ,
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii",
    }
    code = sound(called([trimtab, *READING[command](runs["names"], tmp_path)], plain))
    nothing_half_written(tmp_path, code)
    if command in SURE:
        assert code == 0


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize("room", [0, 4])
def test_a_full_disk(
    trimtab: str, runs: Runs, small_file_system: Callable[[str], Path], command: str, room: int
) -> None:
    """`room`: kilobytes that are left, too few for what is written."""
    mount = small_file_system("64k")
    filling = mount / "filling"
    with filling.open("wb", buffering=0) as stream, pytest.raises(OSError):
        while True:
            stream.write(b"x" * 4096)
    os.truncate(filling, filling.stat().st_size - room * 1024)
    if room and command == "export-dot":
        pytest.skip("a graph without tasks fits in")
    completed = called([trimtab, *READING[command](runs["regions"], mount)])
    assert sound(completed) == 2
    filling.unlink()
    nothing_half_written(mount, 2)
    assert b"No space left" in completed.stderr.splitlines()[-1], completed.stderr
    assert os.fsencode(mount) in completed.stderr.splitlines()[-1], completed.stderr


@pytest.mark.parametrize("command", READING)
def test_a_run_that_nobody_may_write_in(
    trimtab: str, runs: Runs, read_only: Callable[[Path], Path], tmp_path: Path, command: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    code = sound(called([trimtab, *READING[command](read_only(runs.folder) / "regions", out)]))
    nothing_half_written(out, code)
    assert code == 0 or command in ("prove", "spark", "top", "export-dot")


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("home", ["missing", "read-only", "unset"])
def test_homes(
    trimtab: str, runs: Runs, read_only: Callable[[Path], Path], tmp_path: Path, home: str, command: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    code = sound(called([trimtab, *READING[command](runs["regions"], out)], home_of(home, read_only, out)))
    nothing_half_written(out, code)
    assert code == 0 or command in ("prove", "spark", "top", "export-dot")


def home_of(home: str, read_only: Callable[[Path], Path], folder: Path) -> dict[str, str]:
    """An environment with such a home, and no place of its own for the history."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("XDG_") and name != "HOME"
    }
    if home == "missing":
        environment["HOME"] = "/nonexistent/home"
    elif home == "read-only":
        environment["HOME"] = str(read_only(folder))
    return environment


@pytest.mark.parametrize("closed", [">&-", ">/dev/full", "> >(exit 0)", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize("command", [name for name in READING if name != "view"])
def test_nobody_reads_the_output(trimtab: str, runs: Runs, tmp_path: Path, command: str, closed: str) -> None:
    arguments = [str(argument) for argument in READING[command](runs["regions"], tmp_path)]
    script = f'"$0" "$@" {closed}'
    completed = called(["bash", "-c", script, trimtab, *arguments])
    errors = completed.stderr.decode()
    for word in ("Traceback", "Exception ignored", "sys.excepthook"):
        assert word not in errors, (arguments, errors)
    assert "None" not in errors, (arguments, errors)
    # 1: the output is lost, which a script may want to know.
    assert completed.returncode in (0, 1, 2), (arguments, completed.returncode, errors)
    nothing_half_written(tmp_path, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_view_in_the_background_of_a_script(trimtab: str, runs: Runs, number: int) -> None:
    """Shells start such programs with SIGINT ignored."""
    script = 'trap "" INT; exec "$0" view "$1" --no-browser'
    with subprocess.Popen(
        ["bash", "-c", script, trimtab, runs["regions"]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as server:
        assert server.stdout is not None
        assert b"http://" in server.stdout.readline()
        server.send_signal(number)
        try:
            _, errors = server.communicate(timeout=60)
        finally:
            server.kill()
    assert server.returncode == 0, errors
    assert b"Traceback" not in errors


RECORDING = {
    "run": ["run", "--trace"],
    "run-tune": ["run", "--tune"],
    "run-html": ["run", "--html", "page.html"],
    "tune": ["tune", "--runs", "1", "--pairs", "5"],
}


@pytest.mark.parametrize("command", RECORDING)
@pytest.mark.parametrize("name", RUNS)
def test_every_program_is_run(trimtab: str, runs: Runs, tmp_path: Path, name: str, command: str) -> None:
    completed = called([trimtab, *RECORDING[command], "--", *runs.programs[name]], folder=tmp_path)
    if name == "aborted":
        if command != "tune":
            assert completed.returncode == -signal.SIGABRT
            return
        assert completed.returncode == 2
    assert sound(completed) == (2 if name == "aborted" else 0), completed.stderr
    assert not any(".trimtab-" in entry for entry in left_in(tmp_path))


@pytest.mark.parametrize("command", RECORDING)
@pytest.mark.parametrize("place", ["full", "read-only", "missing-home", "read-only-home", "unset-home"])
def test_programs_are_run_in_any_place(
    trimtab: str,
    runs: Runs,
    small_file_system: Callable[[str], Path],
    read_only: Callable[[Path], Path],
    tmp_path: Path,
    place: str,
    command: str,
) -> None:
    """The program runs and its exit code is ours; what cannot be kept is told in a line."""
    folder = tmp_path / "here"
    folder.mkdir()
    environment = dict(os.environ)
    if place == "full":
        folder = small_file_system("8k")
        (folder / "filling").write_bytes(b"x" * 4096)
    elif place == "read-only":
        folder = read_only(folder)
    else:
        environment = home_of(place.removesuffix("-home"), read_only, tmp_path)
    completed = called([trimtab, *RECORDING[command], "--", *runs.programs["regions"]], environment, folder)
    code = sound(completed)
    assert code == 0 or command == "tune", completed.stderr
    if place in ("full", "read-only"):
        assert b"trimtab: " in completed.stderr
    assert not any(".part" in entry for entry in left_in(folder))

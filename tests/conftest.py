"""Shared by all tests: the command, the workloads, little programs compiled on the spot."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from reports import checked
from trimtab.launcher.job import RANK_VARIABLES

# Cases made up by hypothesis are the same at every run; TRIMTAB_FUZZ=10000 looks at others.
settings.register_profile("same", derandomize=not os.environ.get("TRIMTAB_FUZZ"))
settings.load_profile("same")

# Tests send signals to programs that they start, which inherit what is ignored: in the background of a shell these are.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Nor are the programs of tests ranks of a job in which the tests are run.
for _variables in RANK_VARIABLES:
    os.environ.pop(_variables.rank, None)

# pytest-xdist tells its processes the width of a terminal that they do not have.
os.environ.pop("COLUMNS", None)

# Of `./x ci`: tests that have not begun by then (seconds since 1970) are left out, which the end of the output says.
_LAST_BEGIN = float(os.environ.get("TRIMTAB_TESTS_UNTIL", "inf"))
_LEFT_OUT = "the time for tests was over"


def pytest_runtest_setup() -> None:
    if time.time() > _LAST_BEGIN:
        pytest.skip(_LEFT_OUT)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(_LEFT_OUT in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(
            f"LEFT OUT for time: {count} tests. This machine is slow; ./x test runs them all."
        )


WORKLOADS = Path(os.environ.get("TRIMTAB_WORKLOADS", Path(__file__).parent.parent / "build/workloads"))


@pytest.fixture
def spark_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors of local-cluster write into the home of Spark: one of the test's own, not into the installed packages."""
    from benchmarks.spark_home import linked_home

    monkeypatch.setenv("SPARK_HOME", str(linked_home(tmp_path)))


@pytest.fixture(scope="session")
def trimtab() -> str:
    result = os.environ.get("TRIMTAB") or shutil.which("trimtab")
    assert result, "the command trimtab is not on PATH: ./x test sets it up"
    return result


class Watched:
    """One run under trimtab: the finished process and its report."""

    def __init__(self, command: str, completed: subprocess.CompletedProcess[str], directory: Path) -> None:
        self.command, self.done, self.directory = command, completed, directory

    def report(self) -> dict[str, Any]:
        out = subprocess.run(
            [self.command, "report", str(self.directory), "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert out.returncode == 0, out.stderr
        return checked(json.loads(out.stdout))

    def decisions_but_moves(self) -> list[dict[str, Any]]:
        """Of threads to other CPUs: those are by who else uses them, and this machine may be loaded."""
        return [decision for decision in self.report()["decisions"] if decision["policy"] != "placement"]


Run = Callable[..., Watched]


def finished(
    command: list[str], timeout: float = 300, input: str | None = None, **overrides: Any
) -> subprocess.CompletedProcess[str]:
    """Run to the end; what takes too long is killed with all that it started, so that it disturbs no other test."""
    if input is not None:
        overrides["stdin"] = subprocess.PIPE
    overrides = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **overrides}
    with subprocess.Popen(command, start_new_session=True, **overrides) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.fixture
def run(trimtab: str, tmp_path: Path) -> Run:
    """run(PROGRAM, ARGS..., options=[...]): under trimtab, in a fresh run directory."""
    count = 0

    def go(*program: str | Path, options: tuple[str, ...] = (), **overrides: Any) -> Watched:
        nonlocal count
        count += 1
        directory = tmp_path / f"run-{count}"
        command = [trimtab, "run", "-o", str(directory), *options, "--", *map(str, program)]
        return Watched(trimtab, finished(command, **overrides), directory)

    return go


def long_enough(first: float, proceed: Callable[[str], Any], is_enough: Callable[[Any], bool]) -> Any:
    """What go(SECONDS), or go(ROUNDS), gives; of more of them where the machine let the program do too little to tell."""
    for overrides in (1, 4, 16):
        result = proceed(f"{first * overrides:g}")
        if is_enough(result):
            break
    return result


@pytest.fixture(scope="session", autouse=True)
def nothing_known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the user's own history knows is none of the tests'."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


def remember(
    history: Path,
    program: Path,
    arguments: Sequence[str],
    subject: str,
    settings: dict[str, str],
    input_class: str | None = None,
) -> None:
    """As if an earlier run with these arguments had found that."""
    from trimtab.history import Entry, History
    from trimtab.tuning.single_run import key_of

    key = key_of(program, arguments, input_class)
    History(history).remember(
        [Entry(key, subject, "a subject", str(program), settings, "tuner", "test", 0.3, 0.1, 9, 1.0, "run")]
    )


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """compiled(SOURCE, compiler="gcc", flags=...): a program with OpenMP, built once per session."""
    folder = tmp_path_factory.mktemp("programs")
    built: dict[tuple[str, ...], Path] = {}

    def build(source: str, compiler: str = "gcc", *flags: str, suffix: str = ".c") -> Path:
        key = (source, compiler, *flags)
        if key not in built:
            name = folder / f"program{len(built)}"
            name.with_suffix(suffix).write_text(source)
            subprocess.run(
                [
                    compiler,
                    "-g",
                    "-O2",
                    "-fopenmp",
                    str(name.with_suffix(suffix)),
                    "-o",
                    str(name),
                    "-lm",
                    *flags,
                ],
                check=True,
            )
            built[key] = name
        return built[key]

    return build


@pytest.fixture(scope="session")
def with_task_runtime(trimtab: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Compiles a C++ program against the installed task runtime."""

    def build(source: Path) -> Path:
        requested = subprocess.run([trimtab, "--cmake-dir"], capture_output=True, text=True, check=True)
        native = Path(requested.stdout.strip()).parent
        libraries = [
            native / "lib" / f"libtrimtab_{entry}.a"
            for entry in ("tasks", "observe", "base", "boost_context")
        ]
        built = tmp_path_factory.mktemp(source.stem) / source.stem
        command = ["g++", "-std=c++20", "-O2", "-g1", "-I", native / "include", source, *libraries]
        subprocess.run([*map(str, command), "-pthread", "-ldl", "-o", str(built)], check=True, timeout=300)
        return built

    return build


@pytest.fixture(scope="session")
def workload() -> Callable[[str], Path]:
    def find(name: str) -> Path:
        path = WORKLOADS / name
        assert path.exists(), f"{path} is not built: ./x build"
        return path

    return find


@pytest.fixture
def small_file_system(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """small_file_system("200k"): a folder with room for so much. Skips where it cannot be mounted."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    mount = tmp_path / "small"

    def mounted(size: str) -> Path:
        mount.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(mount)]
        if subprocess.run(command, check=False, capture_output=True).returncode != 0:
            pytest.skip("mounting is not allowed here")
        return mount

    yield mounted
    if os.path.ismount(mount):
        subprocess.run(["umount", str(mount)], check=True)

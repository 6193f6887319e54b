"""Whatever of ours fails before the program starts, the program runs as if trimtab were not there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trimtab.bare import users_environment
from trimtab.launcher import default_directory
from trimtab.launcher.inspect_library import library_problem
from trimtab.launcher.run_name import new_name
from trimtab.paths import preload_library

Run = Callable[..., Any]
NOBODY = 65534
# Says what it was given, byte by byte, and ends with a code of its own.
ECHO = ["sh", "-c", 'printf "%s|" "$0" "$@"; exit 7']


def started(
    command: list[str | bytes], folder: Path, environment: dict[str, str] | None = None, **overrides: Any
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment or dict(os.environ),
        capture_output=True,
        check=False,
        **overrides,
    )


def test_a_home_that_may_not_be_entered(trimtab: str, tmp_path: Path) -> None:
    """As `sudo -u` and setpriv leave it: it is no reason not to record, either."""
    if os.geteuid() == 0:
        pytest.skip("root enters every folder; see the next test")
    home = tmp_path / "home"
    home.mkdir(mode=0)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")} | {"HOME": str(home)}
    completed = started([trimtab, "run", "--", *ECHO, "a"], tmp_path, environment)
    assert (completed.returncode, completed.stdout) == (7, b"a|"), completed.stderr


def refuse(item_name: str) -> str:
    """A program in Python that is the command, but for `what`."""
    return f"import sys\nfrom trimtab.cli import main\n{item_name}\nsys.argv[0] = 'trimtab'\nmain()\n"


FAILURES = {
    "the history": "import trimtab.history, trimtab.tuning.single_run\n"
    "def refuse(*_): raise PermissionError(13, 'Permission denied', '/home/other/.local')\n"
    "trimtab.history.default_path = trimtab.tuning.single_run.default_path = refuse",
    "the machine": "import trimtab.machine\ndef refuse(): raise ValueError('no /proc')\ntrimtab.machine.describe = refuse",
    "memory": "l = __import__('importlib').import_module('trimtab.launcher.launch')\ndef refuse(*_): raise MemoryError\nl._environment = refuse",
    "perf events": "l = __import__('importlib').import_module('trimtab.launcher.launch')\ndef refuse(): raise RuntimeError('two\\nlines')\nl.perf_events_kept_ready = refuse",
    "an import": "sys.modules['trimtab.launcher'] = None",
    "the folder of runs": "import trimtab.launcher as l\ndef refuse(_): raise OSError(28, 'No space left on device')\nl.default_directory = refuse",
}


@pytest.mark.parametrize("what", FAILURES.values(), ids=FAILURES)
def test_whatever_fails_the_program_runs(tmp_path: Path, what: str) -> None:
    command = [sys.executable, "-c", refuse(what), "run", "--", *ECHO, b"\xff\xfe", "b"]
    completed = started(command, tmp_path)
    assert (completed.returncode, completed.stdout) == (7, b"\xff\xfe|b|"), completed.stderr
    reported = completed.stderr.decode().splitlines()
    assert len(reported) == 1 and reported[0].startswith("trimtab: not recorded: "), reported


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGPIPE])
def test_its_signals_are_its_own(tmp_path: Path, number: int) -> None:
    command = [
        sys.executable,
        "-c",
        refuse(FAILURES["memory"]),
        "run",
        "--",
        "sh",
        "-c",
        f"kill -{int(number)} $$",
    ]
    assert started(command, tmp_path).returncode == -number


def test_what_cannot_be_started_says_so_all_the_same(tmp_path: Path) -> None:
    completed = started(
        [sys.executable, "-c", refuse(FAILURES["memory"]), "run", "--", "no-such-program"], tmp_path
    )
    assert completed.returncode == 127 and completed.stderr.endswith(
        b"trimtab: no-such-program: no such program\n"
    )


HISTORIES = {
    "none": None,
    "no database": b"nonsense" * 1000,
    "an empty file": b"",
    "cut off": b"SQLite format 3\0" + bytes(100),
}


@pytest.mark.parametrize("content", HISTORIES.values(), ids=HISTORIES)
@pytest.mark.parametrize("options", [(), ("--tune",)], ids=["plain", "tune"])
def test_arguments_that_are_no_text(
    trimtab: str, tmp_path: Path, content: bytes | None, options: tuple[str, ...]
) -> None:
    """Once a history exists the arguments are looked up there, which ended in UnicodeEncodeError."""
    (tmp_path / "trimtab").mkdir()
    if content is not None:
        (tmp_path / "trimtab" / "history.sqlite").write_bytes(content)
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    completed = started([trimtab, "run", *options, "--", *ECHO, b"\xff\xfe", "b"], tmp_path, environment)
    assert (completed.returncode, completed.stdout) == (7, b"\xff\xfe|b|"), completed.stderr
    assert b"Traceback" not in completed.stderr and b"UnicodeEncodeError" not in completed.stderr


def test_arguments_that_are_no_text_and_a_history_that_knows_something(trimtab: str, tmp_path: Path) -> None:
    from conftest import remember

    program = Path(shutil.which("sh") or "sh")
    arguments = [*ECHO[1:], os.fsdecode(b"\xff")]
    remember(tmp_path / "history", program, arguments, "start", {"OMP_NUM_THREADS": "3"})
    completed = started([trimtab, "run", "--history", "history", "--", "sh", *arguments], tmp_path)
    assert (completed.returncode, completed.stdout) == (7, b"\xff|"), completed.stderr
    assert b"started with OMP_NUM_THREADS=3" in completed.stderr


def test_a_program_whose_name_is_no_text(trimtab: str, tmp_path: Path) -> None:
    program = os.fsencode(tmp_path) + b"/caf\xe9"
    Path(os.fsdecode(program)).write_text("#!/bin/sh\necho on\nexit 7\n")
    os.chmod(program, 0o755)
    completed = started([trimtab, "run", "--", program], tmp_path)
    assert (completed.returncode, completed.stdout) == (7, b"on\n"), completed.stderr
    assert b"Traceback" not in completed.stderr and b"not recorded" not in completed.stderr
    listed = started([trimtab, "list", "--json"], tmp_path)
    assert len(json.loads(listed.stdout)) == 1


def test_the_environment_is_the_users(trimtab: str, tmp_path: Path) -> None:
    """In the locale C Python sets a variable for its children."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    bare = started(["env"], tmp_path, environment)
    for options in (("--no-follow",), ("--level=off",)):
        completed = started([trimtab, "run", "-q", *options, "--", "env"], tmp_path, environment)
        own_figures = [
            line
            for line in completed.stdout.splitlines()
            if not line.startswith((b"TRIMTAB_", b"LD_PRELOAD="))
        ]
        assert own_figures == bare.stdout.splitlines(), options


def test_a_variable_that_the_user_has_set_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    initial = tmp_path / "environ"
    initial.write_bytes(b"A=1\0LC_CTYPE=C.UTF-8\0")
    assert users_environment(initial)["LC_CTYPE"] == "C.UTF-8"
    initial.write_bytes(b"A=1\0")
    assert "LC_CTYPE" not in users_environment(initial)
    assert users_environment(tmp_path / "no proc")["LC_CTYPE"] == "C.UTF-8"


@pytest.mark.parametrize("make", ["mkdir", "touch", "ln -s nowhere"])
def test_an_output_that_exists_is_refused_before_the_run(trimtab: str, tmp_path: Path, make: str) -> None:
    subprocess.run([*make.split(), "there"], cwd=tmp_path, check=True)
    completed = started([trimtab, "run", "-o", "there", "--", "touch", "has-run"], tmp_path)
    assert completed.returncode == 2 and not (tmp_path / "has-run").exists()
    assert completed.stderr == b"trimtab: -o there: exists already; expected the name of a new directory\n"


def test_names_of_runs_are_unique(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In containers every program is process 1; hosts may share a folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    names = {default_directory("./app").name for _ in range(1000)}
    assert len(names) == 1000
    assert all(name.startswith("app-") and os.uname().nodename.partition(".")[0] in name for name in names)
    assert len(os.fsencode(new_name("x" * 300 + os.fsdecode(b"\xff\n/..")))) < 255
    assert new_name("/bin/..").startswith("_-")


def test_runs_at_the_same_instant_are_all_recorded(trimtab: str, tmp_path: Path) -> None:
    running = [
        subprocess.Popen([trimtab, "run", "-q", "--", "true"], cwd=tmp_path, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    assert [entry.wait(120) for entry in running] == [0] * 4
    assert len(list((tmp_path / "trimtab-runs").glob("*/run.json"))) == 4


@pytest.mark.parametrize("damage", ["empty", "cut off", "text"])
def test_a_library_that_cannot_be_loaded(tmp_path: Path, damage: str) -> None:
    whole = preload_library().read_bytes()
    library = tmp_path / "libtrimtab_preload.so"
    assert library_problem(library) == f"{library} is missing: install trimtab anew"
    library.write_bytes(whole)
    assert library_problem(library) == ""
    library.write_bytes(
        {"empty": b"", "cut off": whole[: len(whole) // 2], "text": b"nonsense" * 100}[damage]
    )
    assert "install trimtab anew" in library_problem(library)
    broken = f"l = __import__('importlib').import_module('trimtab.launcher.launch')\nfrom pathlib import Path\nl.preload_library = lambda: Path({str(library)!r})"
    completed = started([sys.executable, "-c", refuse(broken), "run", "--", *ECHO, "a"], tmp_path)
    assert (completed.returncode, completed.stdout) == (7, b"a|")
    assert (
        completed.stderr.count(b"\n") == 1
        and b"not recorded" in completed.stderr
        and b"ld.so" not in completed.stderr
    )


def test_an_error_after_the_program_is_no_error_of_the_programs(tmp_path: Path) -> None:
    broken = "import trimtab.analysis.report\ndef refuse(*_): raise KeyError('x')\ntrimtab.analysis.report.build = refuse"
    completed = started([sys.executable, "-c", refuse(broken), "run", "-o", "r", "--", *ECHO, "a"], tmp_path)
    assert (completed.returncode, completed.stdout) == (7, b"a|")
    assert completed.stderr.startswith(b"trimtab: no verdict: KeyError: 'x'; trimtab report ")
    exits = "import os, trimtab.analysis\ndef end(*_): os._exit(1)\ntrimtab.analysis.build = end"
    completed = started([sys.executable, "-c", refuse(exits), "run", "-o", "s", "--", *ECHO, "a"], tmp_path)
    assert (completed.returncode, completed.stdout) == (7, b"a|"), (
        "a library that ends its process ends not ours"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_as_another_user_with_the_home_of_root(trimtab: str, tmp_path: Path) -> None:
    for path in (tmp_path, *tmp_path.parents):
        if path != Path("/") and path.stat().st_uid == 0:
            path.chmod(path.stat().st_mode | 0o755)
    work = tmp_path / "work"
    work.mkdir()
    os.chown(work, NOBODY, NOBODY)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")} | {"HOME": str(home)}
    as_nobody: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        if started([sys.executable, "-c", "import trimtab"], work, environment, **as_nobody).returncode != 0:
            pytest.skip("another user cannot read this installation")
    except PermissionError:
        pytest.skip("another user cannot start this installation")
    completed = started([trimtab, "run", "--", *ECHO, "a"], work, environment, **as_nobody)
    assert (completed.returncode, completed.stdout) == (7, b"a|"), completed.stderr
    assert b"Traceback" not in completed.stderr and b"not recorded" not in completed.stderr
    assert len(list((work / "trimtab-runs").iterdir())) == 1

"""What earlier runs found: kept, found again under the same key only, and never in the way of a run."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pwd
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner, Result
from reports import typed
from trimtab.cli import main
from trimtab.history import (
    Entry,
    History,
    HistoryError,
    Key,
    build_of,
    default_path,
    entries_of,
    input_class_of,
    machine_of,
    settings_text,
)
from trimtab.launcher import default_directory
from trimtab.symbols import Binary

KEY = Key("abc123", "2", "-n\x0010", "Processor, 2 CPUs")
ENTRY = Entry(
    KEY,
    "app+0x40",
    "mandel.c:48",
    "/opt/app",
    {"schedule": "dynamic", "chunk": "64"},
    "tuner",
    "the slowest lane has 1.90 times the mean work",
    0.22,
    0.03,
    9,
    1_700_000_000.0,
    "trimtab-runs/app-1",
)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "deep" / "history.sqlite")


def test_what_was_remembered_is_recalled(history: History) -> None:
    assert history.recall(KEY) == []
    assert not history.path.exists(), "asking makes no file"
    other = replace(ENTRY, subject="app+0x80", gain=None, spread=None, pairs=0)
    history.remember([ENTRY, other])
    assert [replace(entry, id=0, method=None) for entry in history.recall(KEY)] == [ENTRY, other]


@pytest.mark.parametrize("part", ["build", "cpus", "input_class", "machine"])
def test_another_key_knows_nothing(history: History, part: str) -> None:
    history.remember([ENTRY])
    assert history.recall(replace(KEY, **{part: "other"})) == []


def test_what_was_found_last_counts(history: History) -> None:
    history.remember([ENTRY])
    history.remember([replace(ENTRY, settings={"schedule": "guided"}, at=ENTRY.at + 1)])
    (result,) = history.recall(KEY)
    assert result.settings == {"schedule": "guided"}


def test_forgetting(history: History) -> None:
    assert history.forget() == 0
    history.remember([ENTRY, replace(ENTRY, subject="b"), replace(ENTRY, subject="c")])
    first = history.entries()[0].id
    assert history.forget([first, 999]) == 1
    assert len(history.entries()) == 2
    assert history.forget() == 2
    assert history.entries() == []


def make_first_version(path: Path) -> None:
    """As versions before the measuring method was written down left it."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(
            "ALTER TABLE settings RENAME TO new; CREATE TABLE settings (id INTEGER PRIMARY KEY, "
            "build TEXT NOT NULL, subject TEXT NOT NULL, cpus TEXT NOT NULL, input TEXT NOT NULL, machine TEXT NOT NULL, "
            "name TEXT NOT NULL, program TEXT NOT NULL, knobs TEXT NOT NULL, policy TEXT NOT NULL, reason TEXT NOT NULL, "
            "gain REAL, spread REAL, pairs INTEGER NOT NULL, at REAL NOT NULL, run TEXT NOT NULL, "
            "UNIQUE (build, subject, cpus, input, machine)); INSERT INTO settings SELECT id, build, subject, cpus, input, "
            "machine, name, program, knobs, policy, reason, gain, spread, pairs, at, run FROM new; DROP TABLE new; "
            "PRAGMA user_version = 1"
        )


def test_loops_that_were_measured_in_another_way_are_not_used_and_not_lost(history: History) -> None:
    """Until version 2 a loop's time ended where its first thread left a reduction."""
    region = replace(ENTRY, subject="app/threads", settings={"threads": "2"})
    start = replace(ENTRY, subject="start", settings={"OMP_WAIT_POLICY": "passive"})
    other_loop = replace(
        ENTRY, subject="app+0x99", settings={"partition": "weighted", "partition.costs": "even"}
    )
    history.remember([ENTRY, other_loop, region, start])
    make_first_version(history.path)
    for _ in range(2):  # of the first version, and then of today's
        assert {entry.subject for entry in history.recall(KEY)} == {"app/threads", "start"}
        assert {entry.subject for entry in history.outdated(KEY)} == {"app+0x40", "app+0x99"}
        assert len(history.entries()) == 4
        history.remember([region])
    listed = " ".join(command("list", "--history", str(history.path)).output.split())
    assert listed.count("not used") == 2
    assert "app+0x40" not in command("export", "--to", "settings", "--history", str(history.path)).output
    # Found anew, it is used; what the older version found stays until it is forgotten.
    anew = replace(ENTRY, settings={"chunk": "8"})
    history.remember([anew])
    assert {"chunk": "8"} in [entry.settings for entry in history.recall(KEY)]
    assert {entry.subject for entry in history.outdated(KEY)} == {"app+0x99"}
    assert len(history.entries()) == 5
    history.remember([anew])
    assert len(history.entries()) == 5


def make_corrupted(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + b"x" * 5000)


def make_text(path: Path) -> None:
    path.write_text("no database at all, but long enough to be one" * 20)


def make_cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3000])


def make_newer(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 3")


def make_anothers(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE settings (id)")


def make_nonsense(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE settings SET knobs = '[1]'")


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (make_corrupted, "not a database|malformed"),
        (make_text, "expected a history of trimtab, found what is not a database"),
        (make_cut_off, "malformed|disk I/O"),
        (make_newer, "expected version 2 of the history, found 3"),
        (make_anothers, "found another database"),
        (make_nonsense, "expected texts by knob"),
        (make_folder, "expected a file, found a folder"),
    ],
)
def test_damage_is_one_error_with_the_files_name(history: History, damage: Any, told: str) -> None:
    history.remember([replace(ENTRY, subject=f"app+{n}") for n in range(100)])
    damage(history.path)
    with pytest.raises(HistoryError, match=told) as error:
        history.entries()
    assert str(history.path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_place_that_may_not_be_looked_into_is_told(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "stat", refuse)
    for act in (history.entries, history.forget, history.check_writable):
        with pytest.raises(HistoryError, match=r"history\.sqlite: Permission denied"):
            act()


def test_whether_it_could_be_written_is_known_before(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.check_writable()
    assert not history.path.parent.exists(), "to look changes nothing"
    with monkeypatch.context() as denied:
        denied.setattr(os, "access", lambda *_: False)
        with pytest.raises(HistoryError, match="cannot be written"):
            history.check_writable()
    with pytest.raises(HistoryError, match="/proc/version is not a folder"):
        History(Path("/proc/version/of/history.sqlite")).check_writable()
    history.remember([ENTRY])
    history.check_writable()
    assert len(history.entries()) == 1
    make_newer(history.path)
    with pytest.raises(HistoryError, match="expected version 2 of the history, found 3"):
        history.check_writable()


def test_a_history_that_another_has_locked_is_told_soon(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.remember([ENTRY])
    monkeypatch.setattr("trimtab.history.store._PATIENCE_S", 0.01)
    other = sqlite3.connect(history.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for act in (
        history.entries,
        lambda: history.remember([ENTRY]),
        history.forget,
        history.check_writable,
    ):
        with pytest.raises(HistoryError, match="locked by another process"):
            act()
    other.execute("ROLLBACK")
    other.close()
    assert len(history.entries()) == 1


def test_an_empty_file_is_an_empty_history(history: History) -> None:
    history.path.parent.mkdir()
    history.path.touch()
    assert history.entries() == []
    history.remember([ENTRY])
    assert len(history.entries()) == 1


def test_many_that_remember_at_once_lose_nothing(history: History) -> None:
    failed: list[HistoryError] = []

    def remember(number: int) -> None:
        try:
            for at in range(5):
                History(history.path).remember([replace(ENTRY, subject=f"{number}-{at}")])
        except HistoryError as error:
            failed.append(error)

    threads = [threading.Thread(target=remember, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # One that had to wait too long says so; none is lost in silence.
    assert len(history.entries()) >= 20 - 5 * len(failed)


def test_build_id_is_that_of_the_notes_wherever_they_are_cut_off(tmp_path: Path) -> None:
    program = tmp_path / "program"
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "-Wl,--build-id=0x0123456789abcdef01", source, "-o", program], check=True)
    with contextlib.closing(Binary(program)) as binary:
        assert build_of(program) == binary.build_id() == "0123456789abcdef01"
    content = program.read_bytes()
    end = content.index(bytes.fromhex("0123456789abcdef01")) + 9
    for length in (*range(0, 0x400, 3), end - 1, end):
        program.write_bytes(content[:length])
        assert build_of(program).startswith("sha256:") == (length < end), length
    subprocess.run(["gcc", "-Wl,--build-id=none", source, "-o", program], check=True)
    assert build_of(program).startswith("sha256:")


def test_keys(tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text("print()")
    first = build_of(script)
    assert first.startswith("sha256:")
    script.write_text("print(1)")
    assert build_of(script) != first
    assert build_of(tmp_path / "none") == ""
    assert len(build_of(Path(sys.executable))) >= 16
    (tmp_path / "broken").write_bytes(b"\x7fELF nothing more")
    assert build_of(tmp_path / "broken").startswith("sha256:")
    assert input_class_of(["-n", "10"]) != input_class_of(["-n", "11"])
    assert input_class_of(["-n", "10"], "small") == "small"
    assert machine_of({"model": "M", "cpus_online": 4}) == "M, 4 CPUs"
    assert machine_of({}) == "unknown, ? CPUs"


def test_settings_as_the_library_reads_them() -> None:
    other = replace(ENTRY, subject="a b/ü", settings={"kind": ""})
    assert settings_text([ENTRY, other, replace(ENTRY, settings={})]) == (
        "trimtab-settings 1\napp+0x40 chunk=64 schedule=dynamic\na%20b/%C3%BC kind=%\n"
    )


def decision(number: int, outcome: str, to: str, key: str = "app+0x40") -> dict[str, Any]:
    return {
        "process": "later",
        "number": number,
        "time_s": float(number),
        "subject": "mandel.c:48",
        "key": key,
        "notes": {"partition.costs": "even"} if key == "third" else {},
        "changes": [{"knob": "threads", "from": "4", "to": to}],
        "outcome": outcome,
        "policy": "tuner",
        "reason": "run delay",
        "evidence": {},
        "gain": 0.2,
        "uncertainty": 0.01,
        "pairs": 7,
    }


def test_what_was_accepted_last_is_learnt() -> None:
    report = {
        "program": "/opt/app",
        "started_real_ns": 10**9,
        "processes": [
            {"id": "first", "started_real_ns": 10**9},
            {"id": "later", "started_real_ns": 5 * 10**9},
        ],
        "decisions": [
            decision(1, "trial", "3"),
            decision(2, "kept", "3"),
            decision(3, "trial", "1"),
            decision(4, "undone", "3"),
            decision(5, "trial", "2", "other"),
            decision(6, "undone", "4", "other"),
            decision(7, "set", "2", "third"),
        ],
    }
    result = entries_of(typed(report), KEY, "run")
    assert [(entry.subject, entry.settings) for entry in result] == [
        ("app+0x40", {"threads": "3"}),
        ("third", {"threads": "2", "partition.costs": "even"}),
    ]
    assert result[0].at == pytest.approx(5.0 + 2.0), "since its process began, which began after the run"


def command(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["history", *arguments])


def test_the_command(history: History) -> None:
    file = ("--history", str(history.path))
    assert "no settings in" in command("list", *file).output
    history.remember([ENTRY, replace(ENTRY, subject="b", name="loop.c:7", program="/opt/other", gain=None)])
    listed = command("list", *file).output
    assert "mandel.c:48" in listed
    assert "22.0 % ± 3.0 %" in listed
    assert "loop.c:7" in listed
    assert "loop.c:7" not in command("list", "app", *file).output
    (entry,) = json.loads(command("list", "app", "--json", *file).output)
    assert entry["settings"] == ENTRY.settings
    assert entry["build"] == "abc123"
    shown = command("show", str(entry["id"]), *file).output
    for part in ("mandel.c:48", "chunk=64", "schedule=dynamic", "-n 10", "0.22", "tuner"):
        assert part in shown
    assert len(json.loads(command("export", *file).output)) == 2
    assert json.loads(command("export", "no such program", *file).output) == []
    exported = command("export", "--to", "settings", *file).output
    assert exported.startswith("trimtab-settings 1\n")
    assert exported.count("\n") == 3
    assert command("forget", str(entry["id"]), *file).exit_code == 0
    assert len(history.entries()) == 1
    assert command("forget", "--all", *file).exit_code == 0
    assert history.entries() == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("show", "7"), "no entry 7"),
        (("forget",), "give ids of entries, or --all"),
        (("forget", "--all", "3"), "give ids of entries, or --all"),
        (("forget", "7"), "removed 0 of 1"),
    ],
)
def test_the_command_says_what_it_cannot_do(history: History, arguments: tuple[str, ...], told: str) -> None:
    history.remember([ENTRY])
    result = command(*arguments, "--history", str(history.path))
    assert result.exit_code == 2
    assert told in result.output
    assert len(history.entries()) == 1


def test_the_command_tells_of_damage(history: History) -> None:
    history.remember([ENTRY])
    make_newer(history.path)
    result = command("list", "--history", str(history.path))
    assert result.exit_code == 2
    assert "expected version 2" in result.output
    assert result.output.count("\n") == 1


def test_the_place_of_the_history(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "trimtab" / "history.sqlite"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert default_path() == Path("/home/me/.local/share/trimtab/history.sqlite")


def test_a_user_without_a_home_has_places_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A container's number that has no entry."""

    def unknown(number: int) -> NoReturn:
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    assert default_path() == Path("/.local/share/trimtab/history.sqlite")
    assert default_directory("app").parent == tmp_path / "trimtab-runs"

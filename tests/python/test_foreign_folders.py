"""What somebody else has put in a folder: nothing of the user is written through it, killed by it, or computed for it."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from synthetic import LaneFile, ProcessFiles, subject, team_of, write_run
from trimtab.cli.main import list_runs, report
from trimtab.experiments.load import load
from trimtab.experiments.results import Results, _start_of
from trimtab.experiments.spec import ExperimentError
from trimtab.history import History, HistoryError
from trimtab.launcher import default_directory
from trimtab.launcher.run_folder import RunFolder
from trimtab.symbols import Symbols
from trimtab.whole_files import ensure_private_folder, write_whole


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the user that nothing here may change."""
    path = tmp_path / "precious"
    path.write_text("precious")
    return path


def look_up(run: Path) -> None:
    """As a report that has found a place does."""
    with Symbols(run) as symbols:
        symbols._known["/bin/app||40|0"] = ["solve", "app.c", 3]
        symbols._is_new = True


def as_another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is this user's belongs to somebody else from now on."""
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)


def test_a_cache_is_written_through_no_link(tmp_path: Path, precious: Path) -> None:
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    for name in ("symbols.json", ".symbols.json.part", f".symbols.json.{os.getpid()}.part"):
        (run / name).symlink_to(precious)
    look_up(run)
    assert precious.read_text() == "precious"
    assert not (run / "symbols.json").is_symlink()
    assert "app.c" in (run / "symbols.json").read_text()
    assert stat.S_IMODE((run / "symbols.json").stat().st_mode) == 0o600


def test_no_cache_goes_into_a_run_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    as_another_user(monkeypatch)
    look_up(run)
    assert not list(run.iterdir())


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_no_cache_goes_into_a_run_in_which_others_may_write(tmp_path: Path, mode: int) -> None:
    run = tmp_path / "run"
    run.mkdir()
    run.chmod(mode)
    look_up(run)
    assert not list(run.iterdir())


def test_a_file_is_written_through_no_link(tmp_path: Path, precious: Path) -> None:
    for name in (".out.part", f".out.{os.getpid()}.part", "out"):
        (tmp_path / name).symlink_to(precious)
    write_whole(tmp_path / "out", b"content")
    assert precious.read_text() == "precious"
    assert (tmp_path / "out").read_bytes() == b"content"
    assert not (tmp_path / "out").is_symlink()


def test_a_run_is_written_where_it_began(tmp_path: Path, precious: Path) -> None:
    folder = RunFolder(tmp_path / "above" / "run")
    folder.write("settings.txt", "a")
    (tmp_path / "above" / "run").rename(tmp_path / "moved")
    (tmp_path / "above" / "run").symlink_to(tmp_path)
    (tmp_path / "run.json").write_text("of another run")
    folder.write_info({"format": 1, "argv": ["\udc80"]})
    folder.close()
    assert (tmp_path / "run.json").read_text() == "of another run"
    assert json.loads((tmp_path / "moved" / "run.json").read_text()) == {"format": 1, "argv": ["\udc80"]}
    for path, mode in (("above", 0o700), ("moved", 0o700), ("moved/run.json", 0o600)):
        assert stat.S_IMODE((tmp_path / path).stat().st_mode) == mode, path


def test_a_run_directory_that_is_there_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nothing")
    for name in (".", "link"):
        with pytest.raises(FileExistsError):
            RunFolder(tmp_path / name)


def foreign(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.mkdir()
    result = os.fstat

    def of_another(opened: int) -> os.stat_result:
        description = result(opened)
        is_it = (description.st_dev, description.st_ino) == (path.stat().st_dev, path.stat().st_ino)
        return (
            os.stat_result((*description[:4], description.st_uid + 1, *description[5:]))
            if is_it
            else description
        )

    monkeypatch.setattr(os, "fstat", of_another)


def of_the_group(path: Path, _: pytest.MonkeyPatch) -> None:
    path.mkdir()
    path.chmod(0o775)


def of_everybody(path: Path, _: pytest.MonkeyPatch) -> None:
    path.mkdir()
    path.chmod(0o777)


@pytest.mark.parametrize("make", [foreign, of_the_group, of_everybody])
def test_only_folders_of_this_user_alone_are_used_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path, pytest.MonkeyPatch], None]
) -> None:
    folder, state, temporary = tmp_path / "here", tmp_path / "state", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.setenv("TMPDIR", str(temporary))
    assert default_directory("app").parent == folder / "trimtab-runs"
    assert stat.S_IMODE((folder / "trimtab-runs").stat().st_mode) == 0o700
    (folder / "trimtab-runs").rmdir()
    make(folder / "trimtab-runs", monkeypatch)
    assert default_directory("app").parent == state / "trimtab"
    (state / "trimtab").chmod(0o757)
    assert default_directory("app").parent == temporary / f"trimtab-{os.getuid()}"


def test_a_link_of_somebody_else_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could lead into any folder of this user."""
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("mine")
    ensure_private_folder(tmp_path / "link")
    result = os.lstat

    def of_another(path: Path) -> os.stat_result:
        description = result(path)
        return os.stat_result((*description[:4], description.st_uid + 1, *description[5:]))

    monkeypatch.setattr(os, "lstat", of_another)
    with pytest.raises(PermissionError, match="link of another user"):
        ensure_private_folder(tmp_path / "link")


EXPERIMENT = 'name = "a"\ncommand = ["true", "{n}"]\n[factors]\nn = [1]\n'


@pytest.mark.parametrize("mode", [0o600, 0o666])
def test_a_lock_that_others_can_write_kills_nobody(tmp_path: Path, mode: int) -> None:
    (tmp_path / "a.toml").write_text(EXPERIMENT)
    folder = tmp_path / "sweep"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True
    ) as program:
        left = {"sweep": 1, "program": program.pid, "since": _start_of(program.pid)}
        (folder / ".lock").write_text(json.dumps(left))
        (folder / ".lock").chmod(mode)
        with Results(folder, load(tmp_path / "a.toml")):
            pass
        if mode == 0o600:
            assert program.wait() != 0, "one that this user's sweep has left is ended"
        else:
            program.communicate(b"go on\n")
            assert program.returncode == 0


@pytest.mark.parametrize("name", [".lock", "results.jsonl", "experiment.json"])
def test_a_sweep_writes_through_no_link_and_waits_at_no_pipe(
    tmp_path: Path, precious: Path, name: str
) -> None:
    (tmp_path / "a.toml").write_text(EXPERIMENT)
    experiment = load(tmp_path / "a.toml")
    for number, put in enumerate((lambda path: path.symlink_to(precious), os.mkfifo)):
        folder = tmp_path / f"sweep-{number}"
        with Results(folder, experiment):
            pass
        (folder / name).unlink()
        put(folder / name)
        with pytest.raises((OSError, ExperimentError)) as error:
            Results(folder, experiment)
        assert name in str(error.value)
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("kind", ["pipe", "device", "text"])
def test_a_history_that_is_none(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "history.sqlite"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.write_text("x" * 5000)
    with pytest.raises(HistoryError, match=r"history\.sqlite: expected"):
        History(path).entries()


def test_a_history_computes_nothing_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n AS id FROM c"
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE VIEW settings AS {endless}")
        database.execute("PRAGMA application_id = 1414679892")
        database.execute("PRAGMA user_version = 2")
    with pytest.raises(HistoryError, match="found another database"):
        History(path).entries()


def test_a_history_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite"
    History(path).remember([])
    assert History(path).entries() == []
    monkeypatch.setattr("trimtab.history.store._STEPS", 5)
    monkeypatch.setattr("trimtab.history.store._MOST_STEPS", 5)
    with pytest.raises(HistoryError, match="takes too long"):
        History(path).entries()


def test_a_new_history_is_the_users_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "trimtab" / "history.sqlite"
    History(path).remember([])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_one_bad_run_hides_no_other(tmp_path: Path) -> None:
    good = ProcessFiles([LaneFile(team_of(1, 1.0, [1.0]))], [subject(1)], parallel=1.0)
    write_run(tmp_path / "good", good)
    bad = {
        "deep": "[" * 100_000,
        "number": '{"format": 1, "started_real_ns": "x"}',
        "huge": '{"format": 1, "started_real_ns": 1e999}',
        "list": '{"format": 1, "ended": []}',
        "text": '{"format": 1, "ended": {"wall_s": "long"}}',
    }
    for name, text in bad.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "run.json")
    (tmp_path / "zero").mkdir()
    (tmp_path / "zero" / "run.json").symlink_to("/dev/zero")
    completed = CliRunner().invoke(list_runs, [str(tmp_path)])
    assert completed.exit_code == 0, completed.output
    assert str(tmp_path / "good") in completed.output
    for name in (*bad, "pipe", "zero"):
        assert f"{name}/run.json: " in completed.output


HOSTILE = "a\x1b[2J\u202eb\u200b\x9b\x07[bold]\nc"
ESCAPED = r"a\x1b[2J\u202eb\u200b\x9b\x07[bold]\nc"


def test_names_move_no_cursor(tmp_path: Path) -> None:
    lanes = [LaneFile(team_of(1, 4.0, [3.0, 2.0]), run_s=3.0), LaneFile(run_s=2.0)]
    named = ProcessFiles(lanes, [subject(1, name=HOSTILE)], parallel=4.0)
    ended = {"mono_ns": 15_000_000_000, "code": None, "signal": HOSTILE, "wall_s": 10.0}
    info = {"program": HOSTILE, "argv": [HOSTILE, "\udcff"], "ended": ended}
    run = write_run(tmp_path / HOSTILE, named, info=info)
    for command, argument in ((report, run), (list_runs, tmp_path), (report, tmp_path / HOSTILE / HOSTILE)):
        completed = CliRunner().invoke(command, [str(argument)])
        assert completed.exit_code == (2 if argument.name == argument.parent.name else 0), completed.output
        assert all(entry == "\n" or entry.isprintable() for entry in completed.output)
        assert ESCAPED in completed.output.replace("\\\\", "\\")
    completed = CliRunner().invoke(report, [str(run), "--json"])
    assert json.loads(completed.stdout)["regions"][0]["name"] == HOSTILE, "for machines, as it is"

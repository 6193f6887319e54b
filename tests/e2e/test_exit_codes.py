"""Exit codes are those of docs/guide/where-it-runs.md, for every command."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "where-it-runs.md"


def ended(trimtab: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([trimtab, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("run", "-q", "--", "sh", "-c", "exit 3"), 3),
        (("run", "-q", "--", "no-such-program"), 127),
        (("run", "-q", "--", "/"), 126),
        (("run", "--no-such-option", "--", "true"), 2),
        (("run", "-q", "--", "sh", "-c", "kill -TERM $$"), -signal.SIGTERM),
        (("check", "--runs", "1", "--", "true"), 0),
        (("check", "--runs", "1", "--", "no-such-program"), 2),
        (("tune", "--", "no-such-program"), 127),
        (("tune", "--runs", "1", "--", "false"), 2),
        (("sweep", "no-such-file.toml"), 2),
        (("replay", "no-such-run"), 2),
        (("report", "no-such-run"), 2),
        (("export", "no-such-run", "--to", "csv"), 2),
        (("compare", "no-such-run", "no-such-run"), 2),
        (("history", "show", "1", "--history", "no-such-file"), 2),
        (("counters", "no-such-counter"), 2),
        (("list",), 0),
    ],
)
def test_exit_code(trimtab: str, tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    completed = ended(trimtab, tmp_path, *arguments)
    assert completed.returncode == code, completed.stderr
    assert "Traceback" not in completed.stderr
    if code == 2:
        assert completed.stderr.strip(), "an error says what is wrong"


def test_a_rank_of_mpi_has_a_run_of_its_own(trimtab: str, tmp_path: Path) -> None:
    """As under mpirun: several launchers start in one folder at the same instant."""
    ranks = [
        subprocess.Popen([trimtab, "run", "-q", "--", "sh", "-c", f"exit {rank}"], cwd=tmp_path)
        for rank in range(4)
    ]
    assert [rank.wait(timeout=120) for rank in ranks] == [0, 1, 2, 3]
    assert len(os.listdir(tmp_path / "trimtab-runs")) == 4


def test_every_command_is_on_the_page(trimtab: str) -> None:
    shown = subprocess.run([trimtab, "--help"], capture_output=True, text=True, check=True).stdout
    commands = [line.split()[0] for line in shown.split("Commands:")[1].splitlines() if line.strip()]
    page = PAGE.read_text(encoding="utf-8")
    special = {"run", "check", "replay", "doctor", "sweep", "tune"}
    assert special <= set(commands) and all(f"`trimtab {entry}`" in page for entry in special)

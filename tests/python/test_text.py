"""What commands write: whole into pipes, folded on narrow terminals, progress only where it helps."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

import pytest
from synthetic import LaneFile, ProcessFiles, subject, team_of, write_run
from trimtab.text import progress as module
from trimtab.text.progress import progress

NAME = "a_rather_long_function_name_of_a_library.cpp:12345 (namespace::function)"
COMMAND = [sys.executable, "-c", "from trimtab.cli import main; main()"]


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """The width is the terminal's, not that of whoever runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    lanes = [LaneFile(team_of(1, 4.0, [3.0, 2.0]), run_s=3.0), LaneFile(run_s=2.0)]
    return write_run(tmp_path / "run", ProcessFiles(lanes, [subject(1, name=NAME)], parallel=4.0))


def on_a_terminal(width: int, *arguments: str, **variables: str) -> str:
    """The output of a command on a terminal of that width."""
    front, back = pty.openpty()
    ioctl(back, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=back, stderr=back, env={**os.environ, "TERM": "xterm", **variables}
    )
    os.close(back)
    text = b""
    while True:
        try:
            part = os.read(front, 1 << 16)
        except OSError:  # the last writer closed its side
            break
        text += part
    os.close(front)
    assert process.wait() == 0, text
    return text.decode()


def into_a_pipe(*arguments: str) -> str:
    # The environment is given: readline, which pytest loads, leaves a COLUMNS that only children see.
    completed = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=True, env={**os.environ}
    )
    return completed.stdout


def test_names_are_whole_in_a_pipe(run: Path) -> None:
    text = into_a_pipe("report", str(run))
    assert NAME in text and "iterations" in text and "\x1b" not in text
    assert str(run) in into_a_pipe("list", str(run.parent))


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_terminal_shows_all_of_a_name_and_no_line_is_too_wide(run: Path, width: int) -> None:
    # On a slow machine there is a bar of progress as well.
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", on_a_terminal(width, "report", str(run)))
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    head = next(line for line in lines if "region" in line)
    assert "calls" in head and "wait" in head
    assert ("iterations" in head) == (width == 200)
    of_regions = lines[: next(at for at, line in enumerate(lines) if "who is to" in line)]
    cells = "".join(line.split("│")[1].strip() for line in of_regions if line.count("│") > 4)
    assert NAME.replace(" ", "") == cells.replace(" ", "")


def test_colours_only_where_they_are_wanted() -> None:
    colour = re.compile(r"\x1b\[[39]\d")
    assert colour.search(on_a_terminal(80, "doctor"))
    assert not colour.search(on_a_terminal(80, "doctor", NO_COLOR="1"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_and_gone_afterwards() -> None:
    terminal = Terminal()
    bar = module._Bar("exporting", 200, terminal)
    bar.advance(50)
    bar.show()
    bar.advance(100)
    bar.close()
    text = terminal.getvalue()
    assert "trimtab: exporting" in text and "75%" in text
    assert text.endswith("\x1b[2K") or "\x1b[2K" in text.rsplit("75%", 1)[1]


def test_progress_that_was_quick_draws_nothing() -> None:
    terminal = Terminal()
    with progress("exporting", 10, stream=terminal, patience_s=3600) as advance:
        advance(10)
    bar = module._Bar("exporting", 10, terminal)
    bar.close()
    bar.show()  # its timer came too late
    assert terminal.getvalue() == ""


def test_progress_without_a_terminal_draws_nothing() -> None:
    stream = io.StringIO()
    with progress("exporting", 10, stream=stream, patience_s=0) as advance:
        advance(5)
    assert stream.getvalue() == ""


def test_progress_ends_with_an_error() -> None:
    with pytest.raises(ValueError, match="x"), progress("reading", stream=Terminal(), patience_s=3600):
        raise ValueError("x")


def test_tables_and_json_say_the_same(run: Path) -> None:
    reported = json.loads(into_a_pipe("report", str(run), "--json"))
    text = into_a_pipe("report", str(run))
    (region,) = reported["regions"]
    row = next(line for line in text.splitlines() if NAME in line)
    cells = [cell.strip() for cell in row.split("│")[1:-1]]
    assert cells[:3] == [region["name"], str(region["calls"]), str(region["threads"])]
    assert cells[3] == f"{region['wall_s']:.3g} s" and cells[6] == f"{region['imbalance']:.2f}"
    for share in reported["time"].values():
        assert f"{share:.2%}" in text
    for finding in reported["findings"]:
        assert finding["evidence"] in text and finding["action"] in text

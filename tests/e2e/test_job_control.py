"""A shell with job control, at a terminal of its own, sees the program through us as it would see it alone."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


class Terminal:
    """An interactive shell: what is typed, and what it answered so far."""

    def __init__(self, folder: Path) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(PS1="READY> ", TERM="dumb")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self._seen = ""

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def expect(self, pattern: str, seconds: float = 120) -> str:
        """What matches, taken out of the answers with all before it."""
        deadline = time.monotonic() + seconds
        while (result := re.search(pattern, self._seen)) is None:
            assert time.monotonic() < deadline, f"no {pattern!r} in {self._seen!r}"
            if select.select([self._fd], [], [], 0.1)[0]:
                self._seen += os.read(self._fd, 65536).decode(errors="replace")
        self._seen = self._seen[result.end() :]
        return result[0]

    def close(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._fd)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    # One that starts no others: a shell that is stopped while a child of its vfork has yet to exec stays waiting.
    (tmp_path / "program.sh").write_text("echo pid $$ here; exec sleep 600\n")
    created = Terminal(tmp_path)
    created.expect("READY> ")
    yield created
    created.close()


def _start(terminal: Terminal, trimtab: str, tmp_path: Path) -> int:
    terminal.type(f"{trimtab} run -q -o r -- sh program.sh\n")
    return int(terminal.expect(r"pid \d+ here").split()[1])


def _until(pid: int, is_stopped: bool) -> None:
    deadline = time.monotonic() + 120
    while (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T") != is_stopped:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_stop_go_on_and_interrupt(terminal: Terminal, trimtab: str, tmp_path: Path) -> None:
    pid = _start(terminal, trimtab, tmp_path)
    for _ in range(3):
        terminal.type("\x1a")
        terminal.expect("Stopped")
        terminal.expect("READY> ")
        _until(pid, is_stopped=True)
        terminal.type("fg\n")
        terminal.expect("program.sh")  # the shell repeats the command
        _until(pid, is_stopped=False)
    terminal.type("\x03")
    terminal.expect("READY> ")
    terminal.type("echo code $?\n")
    assert terminal.expect(r"code \d+") == f"code {128 + signal.SIGINT}"


def test_in_the_background(terminal: Terminal, trimtab: str, tmp_path: Path) -> None:
    pid = _start(terminal, trimtab, tmp_path)
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.type("bg\n")
    terminal.expect("READY> ")
    terminal.type("kill -TERM %1; wait %1; echo code $?\n")
    assert terminal.expect(r"code \d+") == f"code {128 + signal.SIGTERM}"
    assert not Path(f"/proc/{pid}").exists()

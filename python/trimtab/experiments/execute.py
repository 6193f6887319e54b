"""One run of a program: in a session of its own, so that a timeout ends all that it started."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Figures and answers come at the end of what a program prints.
_MOST_OUTPUT = 16 << 20
_MOST_ERRORS = 1 << 16
_STDERR_LINES = 10
# The kernel's two figures of the same memory differ a little.
_MARGIN = 1.05


@dataclass(frozen=True)
class Outcome:
    """How a run went; the CPU time is of the program and of all its children that it waited for."""

    code: int | None
    signal: str | None
    is_timed_out: bool
    wall_s: float
    user_s: float
    system_s: float
    max_rss_kb: float | None
    output: str
    errors: tuple[str, ...]


class Running:
    """A started program. The lock keeps a timeout from killing a group whose number another has by now."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._lock = threading.Lock()
        self._is_over = False
        self.is_timed_out = False

    @property
    def pid(self) -> int:
        """Also its session and process group."""
        return self._process.pid

    def kill(self) -> None:
        """The program and all of its group that is left."""
        with self._lock:
            if not self._is_over:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)

    def time_out(self) -> None:
        """What the timer calls."""
        self.is_timed_out = True
        self.kill()

    def wait(self) -> tuple[int, float, tuple[float, float, float | None]]:
        """Its code (negative: a signal), the time when it was over, and CPU seconds and peak memory."""
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        ended = time.monotonic()
        # What it left behind would disturb the next run; its number is its own until the wait below.
        self.kill()
        with self._lock:
            self._is_over = True
        _, status, usage = os.wait4(self.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        peak = peak_kb(usage.ru_maxrss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return self._process.returncode, ended, (usage.ru_utime, usage.ru_stime, peak)


def execute(
    argv: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    timeout_s: float | None,
    started: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Run argv to its end, or for `timeout_s`; `started` is told its process number.

    Raises:
        OSError: it cannot be started.
        KeyboardInterrupt: as always; the program is killed then.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.monotonic()
        running = Running(
            subprocess.Popen(
                argv,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        )
        timer = threading.Timer(timeout_s, running.time_out) if timeout_s is not None else None
        try:
            if timer is not None:
                timer.start()
            started(running.pid)
            code, ended, usage = running.wait()
        except BaseException:
            running.kill()
            running.wait()
            raise
        finally:
            if timer is not None:
                timer.cancel()
        return Outcome(
            code if code >= 0 else None,
            signal_name(-code) if code < 0 else None,
            running.is_timed_out and code == -signal.SIGKILL,
            ended - began,
            *usage,
            _end_of(output, _MOST_OUTPUT),
            tuple(_end_of(errors, _MOST_ERRORS).splitlines()[-_STDERR_LINES:]),
        )


def peak_kb(told_kb: float, own_kb: float) -> float | None:
    """A program's peak memory; None where it needs less than we do.

    The kernel counts what a process had before it became the program, and that is our own memory.
    """
    return told_kb if told_kb > own_kb * _MARGIN else None


def signal_name(number: int) -> str:
    """As people call it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _end_of(stream: IO[bytes], most: int) -> str:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - most, 0))
    return stream.read().decode("utf-8", "replace")

"""A program that somebody here started: in a session of its own, so that all that it starts can be ended."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.programs import signal_name, started

# The kernel's two figures of the same memory differ a little.
_MARGIN = 1.05
# The folder of the program could hold a `trimtab` of its own: Python is not to look there.
_COMMAND = "import sys; sys.path[0] or sys.path.pop(0); sys.argv[0] = 'trimtab'; from trimtab.cli import main; main()"


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


@dataclass(frozen=True)
class Ended:
    """How a program ended; the CPU time is of it and of all its children that it waited for."""

    code: int | None
    signal: str | None
    is_timed_out: bool
    wall_s: float
    user_s: float
    system_s: float
    max_rss_kb: float | None


def run_to_end(
    argv: Sequence[str],
    timeout_s: float | None = None,
    started: Callable[[int], None] = lambda _: None,
    **options: Any,
) -> Ended:
    """Run argv to its end, or for `timeout_s`; `started` is told its process number, `options` is what Popen takes.

    Raises:
        OSError: it cannot be started.
        KeyboardInterrupt: as always; the program is killed then.
    """
    began = time.monotonic()
    running = timer = None
    try:
        with signals_held_back():
            running = Running(_start(argv, options))
        if timeout_s is not None:
            timer = threading.Timer(timeout_s, running.time_out)
            timer.start()
        started(running.pid)
        code, ended, usage = running.wait()
    except BaseException:
        if running is not None:
            running.kill()
            running.wait()
        raise
    finally:
        if timer is not None:
            timer.cancel()
    return Ended(
        code if code >= 0 else None,
        signal_name(-code) if code < 0 else None,
        running.is_timed_out and code == -signal.SIGKILL,
        ended - began,
        *usage,
    )


def _start(argv: Sequence[str], options: dict[str, Any]) -> subprocess.Popen[bytes]:
    def start(_: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(arguments, start_new_session=True, **options)

    return started(start, shutil.which(argv[0]) or argv[0], argv)


@contextmanager
def signals_held_back() -> Iterator[None]:
    """A handler that raises does so after the block: in it, a program would be started that nobody knows of."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before = {
        signal_number: signal.getsignal(signal_number)
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    before = {signal_number: handler for signal_number, handler in before.items() if callable(handler)}
    for signal_number in before:
        signal.signal(signal_number, lambda number, _: held.append(number))
    try:
        yield
    finally:
        for signal_number, handler in before.items():
            signal.signal(signal_number, handler)
        for number in held:
            signal.raise_signal(number)


def peak_kb(told_kb: float, own_kb: float) -> float | None:
    """A program's peak memory; None where it needs less than we do.

    The kernel counts what a process had before it became the program, and that is our own memory.
    """
    return told_kb if told_kb > own_kb * _MARGIN else None


def recording_command(directory: Path, options: Sequence[str], argv: Sequence[str]) -> list[str]:
    """`trimtab run`, this very one, of argv with its run in `directory`, without a verdict."""
    return [sys.executable, "-c", _COMMAND, "run", *options, "-q", "-o", str(directory), "--", *argv]

"""One process of a job: how it is started, and how it has ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from trimtab.programs import not_started, signal_name, started

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Surroundings:
    """What a locality is started with.

    Attributes:
        descriptors: inherited, besides input and output.
        is_piped: the launcher reads its output.
        signal_mask: signals that are blocked when it begins.
    """

    environment: dict[str, str]
    descriptors: tuple[int, ...]
    is_piped: bool
    signal_mask: Collection[int]


class LocalityProcess:
    """A started process, in a session and a process group of its own, whose number is the process's.

    Args:
        rank: only number 0 has the launcher's standard input.
        program: its file.
        argv: its arguments; the first is its name.

    Raises:
        NotStarted: the kernel cannot run that file.
    """

    def __init__(self, rank: int, program: str, argv: Sequence[str], surroundings: Surroundings) -> None:
        self.rank = rank
        # Looked up here: between fork and exec nothing may be imported or loaded.
        prctl, launcher = ctypes.CDLL(None).prctl, os.getpid()

        def prepare() -> None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != launcher:  # it has died before the kernel knew
                os._exit(1)
            signal.pthread_sigmask(signal.SIG_SETMASK, surroundings.signal_mask)

        def start(file: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
            output = subprocess.PIPE if surroundings.is_piped else None
            return subprocess.Popen(
                arguments,
                executable=file,
                env=surroundings.environment,
                stdin=None if rank == 0 else subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=surroundings.descriptors,
                start_new_session=True,
                preexec_fn=prepare,
            )

        try:
            self.process = started(start, program, argv)
        except OSError as error:
            raise not_started(program, error) from error

    @property
    def pid(self) -> int:
        """Its number, also of its process group."""
        return self.process.pid

    def code(self) -> int | None:
        """How it has ended, negative: by that signal; None: it runs. Until `release`, no other process or group has its number."""
        end = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if end is None:
            return None
        return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status

    def release(self) -> None:
        """Waits for its end."""
        self.process.wait()

    def send(self, number: int) -> None:
        """A signal to it and to what it has started."""
        # Set-uid programs are another user's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def end_in_words(code: int) -> str:
    """How a process has ended.

    >>> end_in_words(-9), end_in_words(3)
    ('was ended by SIGKILL', 'ended with exit status 3')
    """
    return f"was ended by {signal_name(-code)}" if code < 0 else f"ended with exit status {code}"

"""Whether a signal was sent to us alone, or to our whole process group and with that to the program as well."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterator

# Of a process that has nothing to do but to answer; on a crowded machine it may have to wait for a CPU.
_PATIENCE_S = 20.0


class GroupWitness:
    """A process of ours in our process group. What is sent to the group is pending there; what is sent to us alone is not.

    It blocks all signals, holds no file of the program's, and ends when this process does.
    """

    def __init__(self) -> None:
        """Start it.

        Raises:
            OSError: there is no room for another process.
        """
        questions, self._questions = os.pipe()
        self._answers, answers = os.pipe()
        self._is_lost = False
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._pid = os.fork()
            if self._pid == 0:
                _answer_all(questions, answers)
        except OSError:
            self._close_ours()
            raise
        finally:
            # Only in this process: the witness never comes here.
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(questions)
            os.close(answers)

    def has_received(self, number: int) -> bool:
        """Whether this signal was sent to the group since the last question. False where the witness is gone or stopped."""
        if self._is_lost:
            return False
        with contextlib.suppress(OSError):
            os.write(self._questions, bytes([number]))
            if select.select([self._answers], [], [], _PATIENCE_S)[0]:
                return os.read(self._answers, 1) == b"\1"
        # An answer that comes later would be taken for that to another question.
        self._is_lost = True
        return False

    def close(self) -> None:
        """End it."""
        self._close_ours()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _close_ours(self) -> None:
        os.close(self._questions)
        os.close(self._answers)


@contextlib.contextmanager
def group_witness() -> Iterator[GroupWitness | None]:
    """A witness while this is open; None where there can be none."""
    try:
        witness = GroupWitness()
    except OSError:
        yield None
        return
    try:
        yield witness
    finally:
        witness.close()


def _answer_all(questions: int, answers: int) -> None:
    """The life of the witness: one byte in, the number of a signal; one byte out, whether it was pending."""
    try:
        first, second = sorted((questions, answers))
        os.closerange(0, first)
        os.closerange(first + 1, second)
        os.closerange(second + 1, os.sysconf("SC_OPEN_MAX"))
        while question := os.read(questions, 1):
            # That one alone: others that are pending will be asked about.
            was_pending = signal.sigtimedwait([question[0]], 0) is not None
            os.write(answers, b"\1" if was_pending else b"\0")
    finally:
        os._exit(0)

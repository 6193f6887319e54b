"""A process that ends what a job has started, if the launcher itself is killed.

The kernel ends the localities themselves then (PR_SET_PDEATHSIG), but not what they have started: a locality may be a shell that
waits for the program. So each locality has a process group of its own, and the guardian knows all these groups.
"""

from __future__ import annotations

import contextlib
import os
import signal
from types import TracebackType


class Guardian:
    """Use it in a `with` block: in its order, it ends without doing anything."""

    def __init__(self) -> None:
        reads, self._writes = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._writes)
            _guard(reads)
        os.close(reads)

    def __enter__(self) -> Guardian:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._say("end")
        os.close(self._writes)
        os.waitpid(self._pid, 0)

    def watch(self, group: int) -> None:
        """This process group is the job's from now on."""
        self._say(f"+{group}")

    def forget(self, group: int) -> None:
        """Its number may be another group's from now on."""
        self._say(f"-{group}")

    def _say(self, line: str) -> None:
        # A guardian that somebody has killed is no reason to end the job.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._writes, f"{line}\n".encode())


def _guard(reads: int) -> None:
    """What the guardian does, to the end of its process."""
    try:
        # Who ends the launcher's group or session must not end the guardian as well; nor may it keep the output open.
        os.setsid()
        with open(os.devnull, "r+b") as nothing:
            for standard in (0, 1, 2):
                os.dup2(nothing.fileno(), standard)
        groups: set[int] = set()
        with os.fdopen(reads, encoding="ascii") as lines:
            for line in lines:
                if line == "end\n":
                    os._exit(0)
                (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
        for group in groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
    finally:
        os._exit(0)

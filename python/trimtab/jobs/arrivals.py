"""Who waits for the others of its job, and who has joined them: localities report it to the launcher at their start.

Without this, a locality that ends in order before it has joined would let the others wait until their patience is over.
"""

from __future__ import annotations

import socket
from types import TracebackType


class Arrivals:
    """Use it in a `with` block."""

    def __init__(self) -> None:
        self._reads, self._writes = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._reads.setblocking(False)
        self._waiting: set[int] = set()
        self._joined: set[int] = set()

    def __enter__(self) -> Arrivals:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reads.close()
        self._writes.close()

    @property
    def descriptor(self) -> int:
        """What localities inherit and report to."""
        return self._writes.fileno()

    @property
    def variables(self) -> dict[str, str]:
        """What localities are told."""
        return {"TRIMTAB_JOB_ARRIVALS": str(self.descriptor)}

    def waiting(self) -> set[int]:
        """Numbers of those that wait for the others now."""
        self._look()
        return self._waiting - self._joined

    def has_come(self, rank: int) -> bool:
        """Whether that locality has waited for the others, or more."""
        self._look()
        return rank in self._waiting

    def _look(self) -> None:
        while True:
            try:
                words = self._reads.recv(64).split()
            except BlockingIOError:
                return
            # Programs of the user have the socket, too: what is no report is not regarded.
            if len(words) == 2 and words[1].isdigit():
                known = {b"waits": self._waiting, b"joined": self._joined}.get(words[0])
                if known is not None:
                    known.add(int(words[1]))

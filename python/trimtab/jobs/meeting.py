"""Where the localities of a job meet: a memory file, or a socket. Neither leaves anything behind, whoever is killed."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_SECRET_BYTES = 16


@dataclass(frozen=True)
class Meeting:
    """What localities are told, as variables of the job's table of options.

    Attributes:
        variables: of all localities.
        listener: the socket that locality 0 takes over.
    """

    variables: dict[str, str]
    listener: socket.socket | None = None

    def variables_of(self, rank: int) -> dict[str, str]:
        """Of one locality."""
        if self.listener is None or rank != 0:
            return self.variables
        return {**self.variables, "TRIMTAB_JOB_SOCKET": str(self.listener.fileno())}

    def descriptors_of(self, rank: int) -> tuple[int, ...]:
        """What one locality inherits."""
        return () if self.listener is None or rank != 0 else (self.listener.fileno(),)

    def all_started(self) -> None:
        """From now on the socket is locality 0's alone: where that ends, nobody waits for an answer in vain."""
        if self.listener is not None:
            self.listener.close()


@contextmanager
def opened_meeting(transport: str) -> Iterator[Meeting]:
    """A place for one job, by `shm` or `tcp`. After the block only the localities have it.

    Raises:
        OSError: there is no memory file or no socket to be had.
    """
    member = {"TRIMTAB_JOB_TRANSPORT": transport, "TRIMTAB_JOB_SECRET": secrets.token_hex(_SECRET_BYTES)}
    if transport == "shm":
        # It vanishes with the last process that has it open or mapped.
        with os.fdopen(os.memfd_create("trimtab-job"), "rb") as memory:
            yield Meeting({**member, "TRIMTAB_JOB_PATH": f"/proc/{os.getpid()}/fd/{memory.fileno()}"})
        return
    with socket.socket() as listener:
        # Bound here, so that no other process can take the port before locality 0 listens.
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address, port = listener.getsockname()
        yield Meeting({**member, "TRIMTAB_JOB_MEETING": f"{address}:{port}"}, listener)

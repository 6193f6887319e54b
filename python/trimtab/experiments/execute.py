"""One run of a program: in a session of its own, so that a timeout ends all that it started."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from trimtab.running import Ended, run_to_end

# Figures and answers come at the end of what a program prints.
_MOST_OUTPUT = 16 << 20
_MOST_ERRORS = 1 << 16
_STDERR_LINES = 10


@dataclass(frozen=True)
class Outcome(Ended):
    """How a run went, the end of what it printed, and the last lines of its errors."""

    output: str
    errors: tuple[str, ...]


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
        ended = run_to_end(
            argv,
            timeout_s,
            started,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        return Outcome(
            **vars(ended),
            output=_end_of(output, _MOST_OUTPUT),
            errors=tuple(_end_of(errors, _MOST_ERRORS).splitlines()[-_STDERR_LINES:]),
        )


def _end_of(stream: IO[bytes], limit: int) -> str:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - limit, 0))
    return stream.read().decode("utf-8", "replace")

"""A program as its user names it: its file, what starts it, why it cannot be started, and what ended it."""

from __future__ import annotations

import errno
import shutil
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

# A shell looks as far for a zero, which no text has.
_HEAD_BYTES = 256


def find_program(name: str) -> str:
    """Its file, where a shell would find it.

    Raises:
        FileNotFoundError, PermissionError: there is none, or it may not be run.
    """
    found = shutil.which(name)
    if found is not None:
        return found
    if "/" in name and Path(name).exists():
        raise PermissionError(f"{name}: not an executable file")
    raise FileNotFoundError(f"{name}: no such program")


def through_shell(program: str, argv: Sequence[str], error: OSError) -> list[str] | None:
    """What to start where the kernel said `error` to `program`: a text that names no interpreter is for the shell, as everywhere."""
    if error.errno != errno.ENOEXEC or b"\0" in _head(program):
        return None
    return ["/bin/sh", program, *argv[1:]]


def started(start: Callable[[str, Sequence[str]], T], program: str, argv: Sequence[str]) -> T:
    """What `start` makes of a file and arguments; where the kernel cannot run the file, of the shell that can."""
    try:
        return start(program, argv)
    except OSError as error:
        script = through_shell(program, argv, error)
        if script is None:
            raise
        return start(script[0], script)


def not_started(program: str, error: OSError) -> OSError:
    """What the user is told of a program that is there, and that the kernel did not start for `error`."""
    if error.errno == errno.ENOENT:
        head = _head(program)
        named = head[2:].split(b"\n")[0].split()
        by = (
            f"the interpreter {named[0].decode(errors='replace')}"
            if head[:2] == b"#!" and named
            else "its loader"
        )
        return FileNotFoundError(f"{program}: {by} is missing")
    if error.errno == errno.ENOEXEC:
        return PermissionError(f"{program}: expected a program for this machine or a script, found neither")
    return PermissionError(f"{program}: {error.strerror}")


def signal_name(number: int) -> str:
    """A signal as people call it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _head(program: str) -> bytes:
    try:
        with Path(program).open("rb") as stream:
            return stream.read(_HEAD_BYTES)
    except OSError:
        return b""

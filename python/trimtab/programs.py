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


class NotStarted(OSError):
    """The program was not started, for a reason that it would have without us, too; `code` is what a shell ends with then."""

    code: int


class NoSuchProgram(NotStarted, FileNotFoundError):
    """There is no such program, or none of what it needs to start."""

    code = 127


class NotExecutable(NotStarted, PermissionError):
    """It may not be run, or this machine cannot run it."""

    code = 126


def find_program(name: str) -> str:
    """Its file, where a shell would find it.

    Raises:
        NotStarted: there is none, or it may not be run.
    """
    path = shutil.which(name)
    if path is not None:
        return path
    if "/" in name:
        try:
            Path(name).stat()
        except PermissionError as error:
            raise NotExecutable(f"{name}: {error.strerror}") from error
        except OSError:
            pass
        else:
            raise NotExecutable(f"{name}: not an executable file")
    raise NoSuchProgram(f"{name}: no such program")


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


def not_started(program: str, error: OSError) -> NotStarted:
    """What the user is told of a program that is there, and that the kernel did not start for `error`."""
    if error.errno == errno.ENOENT:
        head = _head(program)
        named = head[2:].split(b"\n")[0].split()
        reason = (
            f"the interpreter {named[0].decode(errors='replace')}"
            if head[:2] == b"#!" and named
            else "its loader"
        )
        return NoSuchProgram(f"{program}: {reason} is missing")
    if error.errno == errno.ENOEXEC:
        return NotExecutable(f"{program}: expected a program for this machine or a script, found neither")
    return NotExecutable(f"{program}: {error.strerror}")


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

"""The program without us: this process becomes the program, where something of ours fails before it starts.

Imported before anything can fail, so it needs next to nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from trimtab.programs import find_program, not_started, started

# Python ignores these for itself; the program starts with what a shell would give it.
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_CHANGED_BY_PYTHON = "LC_CTYPE"
_LONGEST_REASON = 200


class NotPrepared(Exception):
    """The program was not started, since something of ours failed before; the message says what."""


def reason_of(error: BaseException) -> str:
    """What a user is told of an error that is none of the program's: one line."""
    if isinstance(error, NotPrepared):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    message = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return message if len(message) <= _LONGEST_REASON else message[:_LONGEST_REASON] + "..."


def run_bare(argv: Sequence[str]) -> NoReturn:
    """Become the program, as if it had been started without trimtab.

    Raises:
        NotStarted: there is no such program, or it may not be run.
    """
    program = find_program(argv[0])
    environment = users_environment()
    for number in IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)

    def become(file: str, arguments: Sequence[str]) -> NoReturn:
        os.execve(file, list(arguments), environment)

    try:
        started(become, program, argv)
    except OSError as error:
        raise not_started(program, error) from error
    raise AssertionError("execve returned")


def users_environment(initial: Path = Path("/proc/self/environ")) -> dict[str, str]:
    """The environment as this process was started with it: in the locale C, Python adds a variable for its children."""
    environment = dict(os.environ)
    if _CHANGED_BY_PYTHON not in environment:
        return environment
    try:
        names = {word.partition(b"=")[0] for word in initial.read_bytes().split(b"\0")}
    except OSError:
        return environment
    if _CHANGED_BY_PYTHON.encode() not in names:
        del environment[_CHANGED_BY_PYTHON]
    return environment

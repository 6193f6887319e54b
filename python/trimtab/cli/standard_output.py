"""Standard output of the command, where it is closed, full, read by nobody, or shows ASCII only."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

_NAME = "standard output"
_ERRORS = "trimtab-plain"
# Of letters that our own texts have; all others become escapes.
_PLAIN = {
    "\u00a0": " ",
    "\u00b1": "+-",
    "\u00b5": "u",
    "\u00d7": "x",
    "\u2013": "-",
    "\u2026": "...",
    "\u202f": " ",
    "\u2192": "->",
}


class _Output(io.TextIOWrapper):
    """Its errors name it, as those of files do."""

    def write(self, text: str, /) -> int:
        with _named():
            return super().write(text)

    def flush(self) -> None:
        with _named():
            super().flush()


@contextlib.contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, _NAME) from None


@contextlib.contextmanager
def standard_output() -> Iterator[None]:
    """What is printed within it appears in every locale; where it cannot be written, SystemExit follows one line that says so.

    Where nobody reads on (a broken pipe), it ends without a word, as other commands do.
    """
    codecs.register_error(_ERRORS, plain)
    stream = sys.stdout
    if not (type(stream) is io.TextIOWrapper and stream is sys.__stdout__):
        # Closed, or somebody's own.
        yield
        return
    sys.stdout = _Output(
        stream.detach(), stream.encoding, _errors_of(stream), line_buffering=stream.line_buffering
    )
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename != _NAME:
            raise
        _discard()
        if isinstance(error, BrokenPipeError):
            sys.exit(1)
        from trimtab.cli.common import fail

        fail(f"{_NAME}: {error.strerror}")


def _errors_of(stream: io.TextIOWrapper) -> str:
    """Names that are no UTF-8 reach a file as they are where the locale says so."""
    return _ERRORS if stream.encoding.lower().replace("-", "") != "utf8" else stream.errors or "strict"


def _discard() -> None:
    """What is still held goes nowhere: the interpreter writes it when it ends."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def plain(error: UnicodeError) -> tuple[str, int]:
    r"""What is shown of characters that the output's encoding does not have.

    >>> plain(UnicodeEncodeError("ascii", "1.5 µs", 4, 5, ""))
    ('u', 5)
    >>> plain(UnicodeEncodeError("ascii", "größer", 2, 4, ""))
    ('\\xf6\\xdf', 4)
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters: Any = error.object[error.start : error.end]
    return "".join(_PLAIN.get(letter, ascii(letter)[1:-1]) for letter in letters), error.end

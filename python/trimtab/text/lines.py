"""Lines of text with bold parts. The verdict uses this and not rich: importing rich takes longer than printing a verdict."""

from __future__ import annotations

import os
from typing import TextIO

from trimtab.escapes import printable


class Bold(str):
    """Text that a terminal shows in bold."""


class Lines:
    """Writes to `stream`; bold only where that is a terminal that can show it, and NO_COLOR is not set.

    Texts of others are shown as they are: no escape sequence, change of direction or line break in them is obeyed.

    Example:
        >>> import sys
        >>> Lines(sys.stdout).print(Bold("trimtab"), ": done\\x1b[2J")
        trimtab: done\\x1b[2J
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "", "dumb")
        self._has_bold = stream.isatty() and not plain

    def print(self, *parts: str) -> None:
        """One line."""
        self._stream.write("".join(map(self._shown, parts)) + "\n")

    def _shown(self, part: str) -> str:
        text = printable(part)
        return f"\x1b[1m{text}\x1b[0m" if self._has_bold and isinstance(part, Bold) and text else text

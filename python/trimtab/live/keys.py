"""Keys of a terminal, one at a time and without waiting for a line."""

from __future__ import annotations

import contextlib
import os
import re
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

# What a terminal sends for keys that are no letters.
_NAMES = {
    b"\x1b[A": "up",
    b"\x1b[B": "down",
    b"\x1bOA": "up",
    b"\x1bOB": "down",
    b"\x1b[5~": "page up",
    b"\x1b[6~": "page down",
    b"\x7f": "backspace",
    b"\x08": "backspace",
    b"\r": "enter",
    b"\n": "enter",
    b"\x1b": "escape",
}


# What is pressed quickly, or pasted, comes together.
_KEY = re.compile(rb"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Z]|[\xc2-\xf4][\x80-\xbf]+|.", re.DOTALL)


def split(pressed: bytes) -> list[str]:
    """The keys of what a terminal has sent; those that mean nothing are left out.

    >>> split(b"q\\x1b[A\\x1b[99~\\r")
    ['q', 'up', 'enter']
    """
    found = []
    for key in _KEY.findall(pressed):
        text = _NAMES.get(key) or key.decode("utf-8", "ignore")
        if text and text.isprintable():
            found.append(text)
    return found


class Keys:
    """Keys of standard input."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting: list[str] = []
        self.is_closed = False

    def wait(self, seconds: float) -> str | None:
        """The next key; None: none within this time."""
        if not self._waiting:
            ready, _, _ = select.select([self._descriptor], [], [], max(seconds, 0.0))
            if not ready:
                return None
            try:
                pressed = os.read(self._descriptor, 4096)
            except OSError:
                pressed = b""
            self.is_closed = not pressed
            self._waiting = split(pressed)
        return self._waiting.pop(0) if self._waiting else None


@contextmanager
def keys() -> Iterator[Keys]:
    """The keys of the terminal, which is as it was afterwards."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield Keys(descriptor)
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

"""Keys of a terminal, one at a time and without waiting for a line."""

from __future__ import annotations

import contextlib
import os
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


class Keys:
    """Keys of standard input."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.is_closed = False

    def wait(self, seconds: float) -> str | None:
        """The next key; None: none within this time. A window that was resized ends the wait, too."""
        try:
            ready, _, _ = select.select([self._descriptor], [], [], max(seconds, 0.0))
        except InterruptedError:
            return None
        if not ready:
            return None
        try:
            pressed = os.read(self._descriptor, 16)
        except OSError:
            pressed = b""
        if not pressed:
            self.is_closed = True
            return None
        if pressed in _NAMES:
            return _NAMES[pressed]
        text = pressed.decode("utf-8", "ignore")
        return text if text.isprintable() and text else None


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

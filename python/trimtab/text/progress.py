"""Progress of what takes long: on standard error, on a terminal only, and not before a second has passed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

_PATIENCE_S = 1.0


class Advance(Protocol):
    """Adds to what is done; may tell what comes next, and a total that has changed."""

    def __call__(self, amount: int, activity: str | None = None, total: int | None = None, /) -> None: ...


@contextmanager
def progress(
    activity: str, total: int | None = None, *, stream: TextIO | None = None, patience_s: float = _PATIENCE_S
) -> Iterator[Advance]:
    """A bar with the word `activity` while the block runs, gone afterwards.

    What is yielded adds to the part of `total` that is done; without a total the bar only moves. The bar is
    drawn by a thread of its own, so that work that never reports shows one, too.
    """
    to = stream if stream is not None else sys.stderr
    if to is None or not to.isatty():  # closed: None
        yield lambda amount, activity=None, total=None, /: None
        return
    bar = _Bar(activity, total, to)
    timer = threading.Timer(patience_s, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.advance
    finally:
        timer.cancel()
        bar.close()


class _Bar:
    """Made by the thread that works, shown by the timer's: the lock keeps one from showing what is closed."""

    def __init__(self, activity: str, total: int | None, stream: TextIO) -> None:
        self._what, self._total, self._stream = activity, total, stream
        self._lock = threading.Lock()
        self._done = 0
        self._is_closed = False
        self._drawn: Any = None

    def show(self) -> None:
        # Imported here: what is quick never needs it.
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        from trimtab.text.console import Console

        with self._lock:
            if self._is_closed:
                return
            percent = [TaskProgressColumn()] if self._total is not None else []
            self._drawn = Progress(
                TextColumn("trimtab: {task.description}"),
                BarColumn(),
                *percent,
                TimeElapsedColumn(),
                console=Console(file=self._stream),
                transient=True,
            )
            self._drawn.add_task(self._what, total=self._total, completed=self._done)
            self._drawn.start()

    def advance(self, amount: int, activity: str | None = None, total: int | None = None, /) -> None:
        with self._lock:
            self._done += amount
            self._what = self._what if activity is None else activity
            self._total = self._total if total is None else total
            if self._drawn is not None:
                self._drawn.update(0, completed=self._done, total=self._total, description=self._what)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._drawn is not None:
                self._drawn.stop()

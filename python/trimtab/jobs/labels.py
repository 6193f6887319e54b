"""Output of localities, each line behind the number of its locality."""

from __future__ import annotations

import os
import threading
from typing import IO

# How long output may still come when a locality has ended: another process may keep its pipe open.
_PATIENCE_S = 2.0


class Labels:
    """Threads that copy lines. Make it after the last process was started: a process must not be forked beside threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def copy(self, rank: int, source: IO[bytes], target: int) -> None:
        """From now on each line of source goes to the descriptor `target`, in one piece."""
        thread = threading.Thread(
            target=self._copy, args=(f"[{rank}] ".encode(), source, target), daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def finish(self) -> None:
        """Returns when everything was copied."""
        for thread in self._threads:
            thread.join(_PATIENCE_S)

    def _copy(self, label: bytes, source: IO[bytes], target: int) -> None:
        for line in source:
            text = label + line + (b"" if line.endswith(b"\n") else b"\n")
            with self._lock:
                try:
                    while text:
                        text = text[os.write(target, text) :]
                except OSError:
                    # Nobody reads any more; the locality is to see no closed pipe for our sake.
                    continue

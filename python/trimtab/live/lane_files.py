"""The files of all lanes of a process, looked at together: there may be hundreds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from trimtab.live.mapped import HEADER_WORDS, LiveFile, Words
from trimtab.live.tails import LENGTH, Tail, Tails, tails_of
from trimtab.readers import layout

_CAPACITY, _WRITTEN = (layout.offset_of(layout.FILE_HEADER, name) // 8 for name in ("capacity", "written"))
_FILE_WORDS = layout.FILE_HEADER.itemsize // 8


class LaneFiles:
    """Events and profile of each lane.

    Attributes:
        headers: first pages of the lanes' events, as 64-bit words, a row a lane, as they are now.
        profiles: the same of their profiles, the first header only.
        tails: what each lane is in.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._events: list[LiveFile] = []
        self._profiles: list[LiveFile] = []
        self._sizes: list[int] = []
        self._size_of: list[Callable[[], int]] = []
        self._views: tuple[list[Words], list[Words]] = [], []
        self.headers: Words = np.zeros((0, HEADER_WORDS), np.uint64)
        self.profiles: Words = np.zeros((0, _FILE_WORDS), np.uint64)
        self.tails = Tails([])
        self._read: Words = np.zeros(0, np.uint64)

    def __len__(self) -> int:
        return len(self._events)

    def find(self, count: int) -> None:
        """Open what is there of the first `count` lanes.

        Raises:
            RunError: a file is damaged.
        """
        first = len(self)
        while len(self) < count:
            stem = self._folder / f"lane-{len(self):04}"
            events = LiveFile(stem.with_suffix(".events"), "events")
            profile = LiveFile(stem.with_suffix(".profile"), "profile")
            if not (events.look() and profile.look()):
                break  # it is being made
            self._events.append(events)
            self._profiles.append(profile)
        if len(self) > first:
            self.tails = Tails([*self.tails.rows, *(Tail() for _ in range(len(self) - first))])
            self._read = np.append(self._read, np.zeros(len(self) - first, np.uint64))
            self._views = [], []

    def look(self) -> None:
        """Take in what the headers say now.

        Raises:
            RunError: a file is damaged, or shorter than before.
        """
        # Touching a page that was cut off would end this process.
        if not self._views[0] or [size() for size in self._size_of] != self._sizes:
            self._look_at_each()
        self._take_headers()

    def read_tails(self) -> None:
        """Look at the newest events of lanes that have any since the last time."""
        written = self.headers[:, _WRITTEN]
        changed = np.flatnonzero(written != self._read).tolist()
        if not changed:
            return
        for lane, count in zip(changed, written[changed].tolist(), strict=True):
            self._events[lane].written = count  # their sizes and capacities were checked by this look
        rows = list(self.tails.rows)
        newest = [self._events[lane].newest(LENGTH) for lane in changed]
        for lane, tail in zip(changed, tails_of(newest, [rows[lane] for lane in changed]), strict=True):
            rows[lane] = tail
        self.tails = Tails(rows)
        self._read = written

    @property
    def rows_written(self) -> bytes:
        """How many rows each profile has: changes where a row is new."""
        return self.profiles[:, _WRITTEN].tobytes()

    def tables(self) -> list[Words]:
        """The rows of each profile that there are, as 64-bit words; views of what the program writes."""
        return [
            file.words(int(count))
            for file, count in zip(self._profiles, self.profiles[:, _WRITTEN], strict=True)
        ]

    def _look_at_each(self) -> None:
        for file in (*self._events, *self._profiles):
            file.look()
        self._size_of = [file.size_of_mapped for file in (*self._events, *self._profiles)]
        self._sizes = [size() for size in self._size_of]
        self._views = (
            [file.header for file in self._events],
            [file.header[:_FILE_WORDS] for file in self._profiles],
        )

    def _take_headers(self) -> None:
        before = self.headers[:, _CAPACITY], self.profiles[:, _CAPACITY]
        self.headers, self.profiles = (
            np.concatenate(views).reshape(-1, words) if views else np.zeros((0, words), np.uint64)
            for views, words in zip(self._views, (HEADER_WORDS, _FILE_WORDS), strict=True)
        )
        # A file of the same size has room for as many records as before: what announces more is damaged.
        is_as_before = np.array_equal(self.headers[:, _CAPACITY], before[0])
        is_as_before = is_as_before and np.array_equal(self.profiles[:, _CAPACITY], before[1])
        if not is_as_before or (self.profiles[:, _WRITTEN] > self.profiles[:, _CAPACITY]).any():
            for file in (*self._events, *self._profiles):
                file.look()

"""A process in its run's list of processes while it runs: the files that its folder would have, read from its page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.files import FileKind, open_regular
from trimtab.live.mapped import LiveFile
from trimtab.model import RunError
from trimtab.model.enumerations import ProcessState
from trimtab.readers import layout
from trimtab.readers.listed import ListedPage, pages_of, process_lists
from trimtab.readers.run import process_folders

_FILE = FileKind("a list of processes", 16 << 30, RunError)


class ListedFile(LiveFile):
    """process.tt or names.tt of a process that has no folder: read at each look, since a list may be cut off."""

    def __init__(self, page: ListedPage, kind: str) -> None:
        super().__init__(page.path, kind)
        self._page = page
        self._data = b""

    def look(self) -> bool:
        """Read the page; False: the process has a folder by now."""
        try:
            with open_regular(self.path, _FILE) as stream:
                data = os.pread(stream.fileno(), layout.HEADER_BYTES, self._page.number * layout.HEADER_BYTES)
        except OSError as error:
            raise RunError(f"{self.path}: {error.strerror}") from error
        if len(data) < layout.HEADER_BYTES:
            raise RunError(f"{self.path}: expected {self._page.place}: it was cut off")
        if data[: len(layout.MAGIC)] == bytes(len(layout.MAGIC)):
            return False
        process, names = ListedPage(self.path, self._page.host, self._page.number, data).files()
        file = process if self._kind == "process" else names
        self._data = bytes(file.data)
        self.capacity = int(file.header["capacity"])
        self.written, self.dropped = int(file.header["written"]), int(file.header["dropped"])
        return True

    def content(self, begin: int, end: int) -> bytes:
        """Bytes behind the header."""
        return self._data[layout.HEADER_BYTES + begin : layout.HEADER_BYTES + end]

    def second_header(self, dtype: np.dtype[np.void]) -> Any:
        """The process's header, as it was at the last look."""
        return np.frombuffer(self._data, dtype, 1, layout.FILE_HEADER.itemsize)[0]


def running_pages(folder: Path) -> dict[Path, ListedPage]:
    """Pages in the folder of a run or of a rank whose processes have not said that they ended, by the folder that each would make."""
    taken = {entry.name for entry in process_folders(folder)}
    pages: dict[Path, ListedPage] = {}
    for path in process_lists(folder):
        try:
            listed = list(pages_of(path))
        except RunError:
            continue
        for page in listed:
            if _is_running(page):
                pages[folder / _next_name(f"{page.host}-{page.pid}", taken)] = page
    return pages


def _is_running(page: ListedPage) -> bool:
    header = np.frombuffer(page.data, layout.PROCESS_HEADER, 1, layout.FILE_HEADER.itemsize)[0]
    return bool(header["state"] == ProcessState.RUNNING)


def _next_name(stem: str, taken: set[str]) -> str:
    image = 0
    while f"{stem}-{image}" in taken:
        image += 1
    return f"{stem}-{image}"

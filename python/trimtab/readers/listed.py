"""Pages of HOST.processes: processes that were too short to need a folder of their own.

A page is what the process's process.tt would be, with the records of its names.tt behind the header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trimtab.files import FileKind, read_bytes
from trimtab.model import RunError
from trimtab.readers import layout
from trimtab.readers.files import File, as_dict, byte_of, check_header

_LIST = re.compile(r"([\w.+-]{1,64})\.processes", re.ASCII)
_FILE = FileKind("a list of processes", 16 << 30, RunError)
_NAMES_BEGIN = layout.FILE_HEADER.itemsize + layout.PROCESS_HEADER.itemsize
_PID_AT = layout.FILE_HEADER.itemsize + layout.offset_of(layout.PROCESS_HEADER, "pid")


@dataclass(frozen=True)
class ListedPage:
    """A page whose process has no folder.

    Attributes:
        path: of the list.
        host: as the list's name has it.
        number: of the page in the list, from 0.
        data: its bytes.
    """

    path: Path
    host: str
    number: int
    data: bytes

    @property
    def place(self) -> str:
        """The page as messages call it."""
        return f"page {self.number} of {self.path.name}"

    @property
    def pid(self) -> int:
        """As the process sees itself."""
        return int.from_bytes(self.data[_PID_AT : _PID_AT + 4], "little")

    def files(self) -> tuple[File, File]:
        """What its process.tt and its names.tt would be.

        Raises:
            RunError: it is damaged.
        """
        where = self.path.with_name(f"{self.path.name}:{self.number}")
        header = as_dict(np.frombuffer(self.data, dtype=layout.FILE_HEADER, count=1)[0])
        check_header(where, "process", self.data, header)
        written, room = int(header["written"]), len(self.data) - _NAMES_BEGIN
        if written > room:
            raise RunError(
                f"{where}: {byte_of('written')}: expected at most {room} bytes of names, found {written} announced"
            )
        names = bytes(layout.HEADER_BYTES) + self.data[_NAMES_BEGIN : _NAMES_BEGIN + written]
        names_header = {**header, "capacity": written}
        return (
            File(where, len(self.data), header, np.frombuffer(self.data, dtype=np.uint8)),
            File(where, len(names), names_header, np.frombuffer(names, dtype=np.uint8)),
        )


def process_lists(folder: Path) -> list[Path]:
    """The lists in the folder of a run or of a rank."""
    return sorted(entry for entry in folder.iterdir() if _LIST.fullmatch(entry.name))


def pages_of(path: Path) -> Iterator[ListedPage]:
    """The pages of a list whose processes have no folder. Part of a page at the end, which a full disk has left, is none.

    Raises:
        RunError: it is no list.
    """
    match = _LIST.fullmatch(path.name)
    host = match[1] if match else ""
    content = read_bytes(path, _FILE)
    for number in range(len(content) // layout.HEADER_BYTES):
        page = content[number * layout.HEADER_BYTES : (number + 1) * layout.HEADER_BYTES]
        # It has a folder by now.
        if page[: len(layout.MAGIC)] != bytes(len(layout.MAGIC)):
            yield ListedPage(path, host, number, page)

"""A file of a run directory that its program still writes: mapped, and read in parts.

The header is read anew at each look; nothing beyond the file's size is touched, which is asked for before each look.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.files import is_missing, open_regular
from trimtab.model import Records, RunError
from trimtab.readers import layout
from trimtab.readers.files import RUN_FILES

Words = NDArray[np.uint64]

_COUNTS = struct.Struct("<QQQ")  # capacity, written, dropped
_COUNTS_AT = layout.offset_of(layout.FILE_HEADER, "capacity")
_HEAD = struct.Struct("<8sIIII")  # magic, version, header_size, kind, record_bytes
# Their sizes are asked of the open file, which takes a fraction of the time: a process has two of them for each lane, and the
# process's own files say whether the folder is still there.
_OF_LANES = ("events", "profile")
# Both headers of any file but process.tt, whose command nobody needs at each look.
HEADER_WORDS = (layout.FILE_HEADER.itemsize + layout.LANE_HEADER.itemsize) // 8


class LiveFile:
    """A mapped file of `kind`.

    Attributes:
        header: both headers as 64-bit words, as they are now.
        written: records (of names: bytes) at the last `look`.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        self._name = os.fspath(path)
        self._kind = kind
        self._map: mmap.mmap | None = None
        self.is_missing = False  # at the last look
        self._ring: Records | None = None  # all records of the mapping, for `newest`
        self._size = 0
        self._record_bytes = 1
        self.header: Words = np.zeros(0, np.uint64)
        self.capacity = self.written = self.dropped = 0

    @property
    def is_open(self) -> bool:
        """Whether it was found, and complete."""
        return self._map is not None

    def look(self) -> bool:
        """Take in what the header says now; False: there is no such file, or it is not complete yet.

        Raises:
            RunError: it is damaged, or shorter than before.
        """
        if self._map is None and not self._open():
            return False
        assert self._map is not None
        # Touching a page that was cut off would end this process.
        size = self._map.size() if self._kind in _OF_LANES else self._size_by_name()
        if size < self._size:
            raise RunError(f"{self.path}: expected at least {self._size} bytes, found {size}: it was cut off")
        capacity, written, self.dropped = _COUNTS.unpack_from(self._map, _COUNTS_AT)
        needed = layout.HEADER_BYTES + capacity * self._record_bytes
        if needed > size:
            raise RunError(
                f"{self.path}: room for {capacity} records announced, expected a file of {needed} bytes, "
                f"found {size}: it was cut off"
            )
        if written > capacity and self._kind != "events":
            raise RunError(f"{self.path}: expected at most {capacity} records, found {written} announced")
        if needed > self._size:
            self._remap()
        self.capacity, self.written = capacity, written
        return True

    @property
    def size_of_mapped(self) -> Callable[[], int]:
        """Says the size of a file that was found, in bytes, until it is mapped anew."""
        return self._mapped().size

    def _size_by_name(self) -> int:
        try:
            return os.stat(self._name, follow_symlinks=False).st_size
        except OSError as error:
            raise RunError(f"{self.path}: {error.strerror}: it was moved or removed") from error

    def records(self, begin: int, end: int) -> Records:
        """Records of these numbers, of a file that is no ring; a view of what the program writes."""
        return self._view(begin, end - begin)

    def newest(self, count: int) -> Records:
        """The last complete records, at most `count`, oldest first; a view of what the program writes, or a copy. The one that may
        be written now is not among them."""
        capacity, written = self.capacity, self.written
        kept = written if written <= capacity else capacity - 1
        count = min(count, kept)
        if count <= 0:
            return np.zeros(0, layout.RECORDS[self._kind])
        if self._ring is None or len(self._ring) != capacity:
            self._ring = self._view(0, capacity)
        end = written % capacity or capacity
        if count <= end:
            return self._ring[end - count : end]
        return np.concatenate([self._ring[capacity - (count - end) :], self._ring[:end]])

    def words(self, count: int) -> Words:
        """The first records as rows of 64-bit words; a view."""
        width = self._record_bytes // 8
        data = np.frombuffer(self._mapped(), np.uint64, count * width, layout.HEADER_BYTES)
        return data.reshape(count, width)

    def content(self, begin: int, end: int) -> bytes:
        """Bytes behind the header."""
        return self._mapped()[layout.HEADER_BYTES + begin : layout.HEADER_BYTES + end]

    def second_header(self, dtype: np.dtype[np.void]) -> Any:
        """The kind-specific header, as it is now."""
        return np.frombuffer(self._mapped(), dtype, 1, layout.FILE_HEADER.itemsize)[0]

    def _view(self, begin: int, count: int) -> Records:
        dtype = layout.RECORDS[self._kind]
        view: Records = np.frombuffer(
            self._mapped(), dtype, count, layout.HEADER_BYTES + begin * dtype.itemsize
        )
        return view

    def _mapped(self) -> mmap.mmap:
        assert self._map is not None
        return self._map

    def _open(self) -> bool:
        self.is_missing = False
        try:
            with open_regular(self.path, RUN_FILES[self._kind]) as stream:
                page = stream.read(layout.HEADER_BYTES)
                if page[: len(layout.MAGIC)] in (b"", bytes(len(layout.MAGIC))):
                    return False  # the magic is written last
                self._check(page)
                self._size = os.fstat(stream.fileno()).st_size
                self._map = mmap.mmap(stream.fileno(), self._size, access=mmap.ACCESS_READ)
        except RunError as error:
            self.is_missing = is_missing(error)
            if self.is_missing:
                return False
            raise
        except (OSError, ValueError) as error:
            raise RunError(f"{self.path}: {error}") from error
        self.header = np.frombuffer(self._map, np.uint64, HEADER_WORDS)
        return True

    def _check(self, page: bytes) -> None:
        if len(page) < layout.HEADER_BYTES:
            raise RunError(
                f"{self.path}: expected a header of {layout.HEADER_BYTES} bytes, found {len(page)}"
            )
        magic, version, header_size, kind, record_bytes = _HEAD.unpack_from(page)
        expected = layout.RECORDS[self._kind].itemsize if self._kind in layout.RECORDS else record_bytes
        found = (magic, version, header_size, layout.KINDS.get(kind), record_bytes)
        if found != (layout.MAGIC, layout.VERSION, layout.HEADER_BYTES, self._kind, expected):
            raise RunError(
                f"{self.path}: expected a file of {self._kind} of format version {layout.VERSION} with records of "
                f"{expected} bytes, found {layout.KINDS.get(kind, f'kind {kind}')}, version {version}, {record_bytes} bytes"
            )
        self._record_bytes = max(record_bytes, 1)

    def _remap(self) -> None:
        # Views of the old mapping keep it alive as long as they need it.
        self._map = self._ring = None
        if not self._open():
            raise RunError(f"{self.path}: it was removed while it was read")

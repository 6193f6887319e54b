"""An OTF2 archive that is written."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trimtab.otf2 import numbers
from trimtab.otf2.library import POINTER, U8, U64, Library

NAME = "traces"
"""What Score-P calls archives."""
ANCHOR = f"{NAME}.otf2"
"""The file that tools open."""
_CHUNK_OF_EVENTS, _CHUNK_OF_DEFINITIONS = 1 << 20, 4 << 20
LARGEST_WRITE = _CHUNK_OF_DEFINITIONS
_BEFORE_FLUSH = ctypes.CFUNCTYPE(U8, POINTER, U8, U64, POINTER, ctypes.c_bool)


class _FlushCallbacks(ctypes.Structure):
    _fields_ = (("before", _BEFORE_FLUSH), ("after", POINTER))


class Archive:
    """Events first, location by location, then the definitions."""

    def __init__(self, library: Library, folder: Path) -> None:
        self.library = library
        library.silence()
        name, where = NAME.encode(), bytes(folder)
        self._handle = library.make(
            "Archive_Open",
            where,
            name,
            numbers.FileMode.WRITE,
            _CHUNK_OF_EVENTS,
            _CHUNK_OF_DEFINITIONS,
            numbers.POSIX_FILES,
            numbers.UNCOMPRESSED,
        )
        self._flush = _FlushCallbacks(_BEFORE_FLUSH(lambda *_: numbers.FLUSH), None)
        library.call("Archive_SetFlushCallbacks", self._handle, ctypes.addressof(self._flush), None)
        library.call("Archive_SetSerialCollectiveCallbacks", self._handle)
        library.call("Archive_SetCreator", self._handle, b"trimtab")
        library.call("Archive_OpenEvtFiles", self._handle)
        self._locations: list[int] = []

    @contextmanager
    def events(self, location: int) -> Iterator[tuple[int, Callable[[], int]]]:
        """The writer of a location's events, and how many it has written."""
        writer = self.library.make("Archive_GetEvtWriter", self._handle, location)
        self._locations.append(location)

        def count() -> int:
            result = ctypes.c_uint64()
            self.library.call("EvtWriter_GetNumberOfEvents", writer, ctypes.addressof(result))
            return result.value

        yield writer, count
        self.library.call("Archive_CloseEvtWriter", self._handle, writer)

    def close(self, write_definitions: Callable[[int], None]) -> None:
        """Write the definitions, with the writer that is given to the function, and end the archive."""
        call = self.library.call
        call("Archive_CloseEvtFiles", self._handle)
        call("Archive_OpenDefFiles", self._handle)
        # Readers expect a file of definitions for each location, although all definitions are the same for all.
        for location in self._locations:
            writer = self.library.make("Archive_GetDefWriter", self._handle, location)
            call("Archive_CloseDefWriter", self._handle, writer)
        call("Archive_CloseDefFiles", self._handle)
        writer = self.library.make("Archive_GetGlobalDefWriter", self._handle)
        write_definitions(writer)
        call("Archive_CloseGlobalDefWriter", self._handle, writer)
        self.discard()

    def discard(self) -> None:
        """Free what it has; nothing once it is closed."""
        handle, self._handle = self._handle, 0
        if handle:
            self.library.call("Archive_Close", handle)

"""One file of a run directory: header checked, records mapped, nothing believed beyond the file's size."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from trimtab.files import FileKind, check_is_stored, is_missing, open_regular
from trimtab.model import Records, RunError
from trimtab.readers import layout

# Files that hold less are read whole, others mapped.
_READ_WHOLE = 256 * 1024
SCHEDULER_RECORDS = {
    "scheduler_threads": layout.SCHEDULER_THREAD,
    "scheduler_charges": layout.SCHEDULER_CHARGE,
    "scheduler_delays": layout.SCHEDULER_DELAY,
    "scheduler_events": layout.SCHEDULER_EVENT,
}
# run.json has the program's arguments, which the system bounds by a few megabytes.
RUN_INFO = FileKind("a description of a run (run.json)", 16 << 20, RunError)
# The recorder reserves at most 1 GiB for each of them, but for events, whose bound is the user's (--max-trace).
_UNBOUNDED = ("events", "scheduler_events")
RUN_FILES = {
    kind: FileKind(f"a file of {kind}", (256 << 30) if kind in _UNBOUNDED else (2 << 30), RunError)
    for kind in layout.KINDS.values()
}
_RECORDS = {**layout.RECORDS, **SCHEDULER_RECORDS}


@dataclass(frozen=True)
class File:
    """A checked file: its header, and its bytes (mapped)."""

    path: Path
    size: int
    header: dict[str, Any]
    data: np.ndarray[Any, np.dtype[np.uint8]]


def as_dict(record: Any) -> dict[str, Any]:
    """The fields of a numpy record as Python values; texts as bytes. All at once: a run may have very many headers."""
    return dict(zip(record.dtype.names, record.item(), strict=True))


def byte_of(field: str) -> str:
    """Where a field of the first header is, for messages."""
    return f"byte {layout.offset_of(layout.FILE_HEADER, field)}"


def open_file(path: Path, kind: str) -> File:
    """Map `path` and check that it is a file of `kind`.

    Raises:
        RunError: the file cannot be read or its header is not what it should be.
    """
    try:
        with open_regular(path, RUN_FILES[kind]) as stream:
            return _checked(path, kind, stream, stream.read(layout.HEADER_BYTES))
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from error


def open_finished(path: Path, kind: str) -> File | None:
    """The same; None for a file that is not there, or whose header was not complete when its writer died.

    Raises:
        RunError: see `open_file`.
    """
    try:
        with open_regular(path, RUN_FILES[kind]) as stream:
            page = stream.read(layout.HEADER_BYTES)
            # The magic is written last.
            is_finished = page[: len(layout.MAGIC)] not in (b"", bytes(len(layout.MAGIC)))
            return _checked(path, kind, stream, page) if is_finished else None
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from error
    except RunError as error:
        if is_missing(error):
            return None
        raise


def _checked(path: Path, kind: str, stream: BinaryIO, page: bytes) -> File:
    """The header first, then the size: a file that is being written may grow in between, not shrink."""
    file_status = os.fstat(stream.fileno())
    if len(page) < layout.HEADER_BYTES:
        raise RunError(f"{path}: expected a header of {layout.HEADER_BYTES} bytes, found {len(page)}")
    header = as_dict(np.frombuffer(page, dtype=layout.FILE_HEADER, count=1)[0])
    used = layout.HEADER_BYTES + int(header["written"]) * max(int(header["record_bytes"]), 1)
    check_is_stored(path, file_status, min(used, file_status.st_size), RUN_FILES[kind])
    check_header(path, kind, page, header)
    return File(path, file_status.st_size, header, _contents(stream, page, file_status.st_size, used))


def check_header(path: Path, kind: str, page: bytes, header: dict[str, Any]) -> None:
    """Refuse what is no header of a file of `kind`.

    Raises:
        RunError: it is none.
    """
    magic = page[: len(layout.MAGIC)]
    if magic != layout.MAGIC:
        raise RunError(f"{path}: {byte_of('magic')}: expected {layout.MAGIC!r}, found {magic!r}")
    if header["version"] != layout.VERSION:
        raise RunError(
            f"{path}: {byte_of('version')}: format version {header['version']}, this trimtab reads {layout.VERSION}"
        )
    if header["header_size"] != layout.HEADER_BYTES:
        raise RunError(
            f"{path}: {byte_of('header_size')}: expected a header of {layout.HEADER_BYTES}, found {header['header_size']}"
        )
    kind_found = layout.KINDS.get(header["kind"], f"kind {header['kind']}")
    if kind_found != kind:
        raise RunError(f"{path}: {byte_of('kind')}: expected a file of {kind}, found {kind_found}")


def _contents(stream: BinaryIO, page: bytes, size: int, used: int) -> Any:
    """All bytes; short ones read rather than mapped, since a run may have very many processes."""
    if size <= layout.HEADER_BYTES:
        return np.frombuffer(page, dtype=np.uint8)
    if used <= min(_READ_WHOLE, size):
        return np.frombuffer(page + stream.read(used - layout.HEADER_BYTES), dtype=np.uint8)
    return np.memmap(stream, dtype=np.uint8, mode="r", shape=(size,))


def release_pages(records: Any) -> None:
    """Pages of a mapped file no longer count as this process's memory; they are mapped again where records are looked at once more.

    Of records that are in no file, nothing happens.
    """
    mapped = getattr(records, "_mmap", None)
    if mapped is not None and not records.flags.writeable:
        mapped.madvise(mmap.MADV_DONTNEED)


def second_header(file: File, dtype: np.dtype[np.void]) -> dict[str, Any]:
    """The kind-specific header behind the file header."""
    begin = layout.FILE_HEADER.itemsize
    return as_dict(np.frombuffer(file.data[begin : begin + dtype.itemsize], dtype=dtype)[0])


def text(raw: Any) -> str:
    """A NUL-terminated field."""
    return bytes(raw).split(b"\0", 1)[0].decode("utf-8", "replace")


def records(file: File, kind: str) -> Records:
    """The complete records, oldest first. A ring that wrapped loses the one that was being overwritten."""
    dtype = _RECORDS[kind]
    if file.header["record_bytes"] != dtype.itemsize:
        raise RunError(
            f"{file.path}: {byte_of('record_bytes')}: expected records of {dtype.itemsize} bytes, "
            f"found {file.header['record_bytes']}"
        )
    capacity, written = int(file.header["capacity"]), int(file.header["written"])
    if layout.HEADER_BYTES + capacity * dtype.itemsize > file.size:
        raise RunError(
            f"{file.path}: {byte_of('capacity')}: room for {capacity} records announced, expected a file of "
            f"{layout.HEADER_BYTES + capacity * dtype.itemsize} bytes, found {file.size}: it was cut off"
        )
    if written > capacity and kind != "events":
        raise RunError(
            f"{file.path}: {byte_of('written')}: expected at most {capacity} records, found {written} announced"
        )
    count = min(written, capacity)
    body = file.data[layout.HEADER_BYTES : layout.HEADER_BYTES + count * dtype.itemsize]
    whole_records: Records = body.view(dtype)
    if written <= capacity or capacity == 0:
        return whole_records
    oldest = written % capacity
    # The slot of the oldest record may have been half overwritten when the process died.
    return np.concatenate([whole_records[oldest + 1 : capacity], whole_records[:oldest]])

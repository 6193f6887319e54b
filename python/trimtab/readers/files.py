"""One file of a run directory: header checked, records mapped, nothing believed beyond the file's size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.model import Records, RunError
from trimtab.readers import layout


@dataclass(frozen=True)
class File:
    """A checked file: its header, and its bytes (mapped)."""

    path: Path
    header: dict[str, Any]
    data: np.ndarray[Any, np.dtype[np.uint8]]


def as_dict(record: Any) -> dict[str, Any]:
    """The fields of a numpy record as Python values."""
    return {
        name: record[name].item() if record[name].ndim == 0 else record[name] for name in record.dtype.names
    }


def open_file(path: Path, kind: str) -> File:
    """Map `path` and check that it is a file of `kind`.

    Raises:
        RunError: the file cannot be read or its header is not what it should be.
    """
    try:
        size = path.stat().st_size
        if size < layout.HEADER_BYTES:
            raise RunError(f"{path}: {size} bytes, expected a header of at least {layout.HEADER_BYTES}")
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from error
    header = as_dict(np.frombuffer(data[: layout.FILE_HEADER.itemsize], dtype=layout.FILE_HEADER)[0])
    magic = bytes(data[:8])
    if magic != layout.MAGIC:
        raise RunError(f"{path}: byte 0: expected {layout.MAGIC!r}, found {magic!r}")
    if header["version"] != layout.VERSION:
        raise RunError(
            f"{path}: byte 8: format version {header['version']}, this trimtab reads {layout.VERSION}"
        )
    if header["header_size"] != layout.HEADER_BYTES:
        raise RunError(
            f"{path}: byte 12: expected a header of {layout.HEADER_BYTES}, found {header['header_size']}"
        )
    found = layout.KINDS.get(header["kind"], f"kind {header['kind']}")
    if found != kind:
        raise RunError(f"{path}: byte 16: expected a file of {kind}, found {found}")
    return File(path, header, data)


def second_header(file: File, dtype: np.dtype[np.void]) -> dict[str, Any]:
    """The kind-specific header behind the file header."""
    return as_dict(np.frombuffer(file.data[64 : 64 + dtype.itemsize], dtype=dtype)[0])


def text(raw: Any) -> str:
    """A NUL-terminated field."""
    return bytes(raw).split(b"\0", 1)[0].decode("utf-8", "replace")


def records(file: File, kind: str) -> Records:
    """The complete records, oldest first. A ring that wrapped loses the one that was being overwritten."""
    dtype = layout.RECORDS[kind]
    if file.header["record_bytes"] != dtype.itemsize:
        raise RunError(
            f"{file.path}: byte 20: expected records of {dtype.itemsize} bytes, "
            f"found {file.header['record_bytes']}"
        )
    room = (len(file.data) - layout.HEADER_BYTES) // dtype.itemsize
    body = file.data[layout.HEADER_BYTES : layout.HEADER_BYTES + room * dtype.itemsize]
    every: Records = body.view(dtype)
    capacity = min(int(file.header["capacity"]), room)
    written = int(file.header["written"])
    if written <= capacity:
        return every[:written]
    if capacity == 0:
        return every[:0]
    oldest = written % capacity
    # The slot of the oldest record may have been half overwritten when the process died.
    return np.concatenate([every[oldest + 1 : capacity], every[:oldest]])

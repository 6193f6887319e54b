"""Protobuf's wire format, as much of it as Perfetto's traces need, for single messages and for whole arrays.

Not with the protobuf library: it takes microseconds for each of millions of packets, which here are rows of an
array of bytes. Numbers in rows are padded to a fixed width (the format lets a number have leading zeros).
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def varint(value: int, width: int = 0) -> bytes:
    """A number, at least `width` bytes long."""
    encoded = bytearray()
    while value > 0x7F or len(encoded) + 1 < width:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number(field: int, value: int, width: int = 0) -> bytes:
    """A field of kind varint."""
    return varint(field << 3) + varint(value, width)


def fixed64(field: int, value: int) -> bytes:
    """A field of eight bytes."""
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def message(field: int, *parts: bytes) -> bytes:
    """A field that is a message or a string, from its parts."""
    body = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


def text(field: int, value: str) -> bytes:
    """A field that is a string; what is no Unicode is replaced."""
    return message(field, value.encode("utf-8", "replace"))


def padded(values: NDArray[Any], width: int) -> Bytes:
    """Each value as a varint of `width` bytes, one a row."""
    rest = values.astype(np.int64).view(np.uint64)
    encoded = np.empty((len(rest), width), np.uint8)
    for at in range(width):
        encoded[:, at] = (rest & np.uint64(0x7F)).astype(np.uint8) | np.uint8(0x80 if at + 1 < width else 0)
        rest = rest >> np.uint64(7)
    return encoded


def little_endian(values: NDArray[np.uint64] | NDArray[np.float64]) -> Bytes:
    """Each value as its eight bytes, one a row."""
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), 8)

"""Whether the library that is to be loaded into the program can be loaded: the loader's own message would go to its stderr."""

from __future__ import annotations

import struct
from pathlib import Path

_HEADER_BYTES = 64


def library_problem(library: Path) -> str:
    """What is wrong with it, and what to do; empty where nothing is."""
    try:
        with library.open("rb") as stream:
            head = stream.read(_HEADER_BYTES)
            size = stream.seek(0, 2)
    except FileNotFoundError:
        return f"{library} is missing: install trimtab anew"
    except OSError as error:
        return f"{library}: {error.strerror}: install trimtab where this user can read it"
    if len(head) < _HEADER_BYTES or head[:5] != b"\x7fELF\x02":
        return f"{library}: expected a 64-bit shared library, found something else: install trimtab anew"
    (table,), (entry_bytes, entries) = struct.unpack_from("<Q", head, 40), struct.unpack_from("<HH", head, 58)
    if table + entry_bytes * entries > size:
        return (
            f"{library}: expected {table + entry_bytes * entries} bytes, found {size}: install trimtab anew"
        )
    return ""

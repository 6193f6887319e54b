"""How this process gets memory from the system."""

from __future__ import annotations

import ctypes

# Of glibc's mallopt, and of madvise.
_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX, _MADV_HUGEPAGE = -1, -4, -8, 14
_NEVER = -1
_PAGE_BYTES = 4096
# Address space for arrays; what is not used takes no memory.
_RESERVED_BYTES = 2 << 30


def prepare_for_long_arrays() -> None:
    """Arrays get huge pages, and memory that is freed serves the next ones.

    Otherwise the system clears each page of each array anew, which takes much of the time of a report of millions of events.
    Where the C library is not glibc, nothing changes.
    """
    library = ctypes.CDLL(None)
    mallopt = getattr(library, "mallopt", None)
    if mallopt is None:
        return
    mallopt(_M_MMAP_MAX, 0)
    mallopt(_M_TRIM_THRESHOLD, _NEVER)
    mallopt(_M_ARENA_MAX, 1)  # threads have none of their own, whose pages would be small
    library.malloc.restype = ctypes.c_void_p
    room = library.malloc(ctypes.c_size_t(_RESERVED_BYTES))
    if not room:  # a limit of address space
        return
    first = -(-room // _PAGE_BYTES) * _PAGE_BYTES
    length = _RESERVED_BYTES - 2 * _PAGE_BYTES
    library.madvise(ctypes.c_void_p(first), ctypes.c_size_t(length), _MADV_HUGEPAGE)
    library.free(ctypes.c_void_p(room))

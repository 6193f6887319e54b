"""The first perf event of the machine, so that the program's own does not have to be it."""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator

# include/uapi/linux/perf_event.h and the kernel's tables of system calls.
_SYSTEM_CALL = {"x86_64": 298, "aarch64": 241}
_SOFTWARE, _DUMMY = 1, 9
_EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 5, 1 << 6
_CLOSE_ON_EXEC = 1 << 3
_ATTRIBUTES = struct.Struct("<IIQQQQQIIQ")  # perf_event_attr as of its first version


@contextlib.contextmanager
def perf_events_kept_ready() -> Iterator[None]:
    """Hold an event of our own that counts nothing. Where that is not allowed, neither is the program's.

    The kernel looks at perf events in its context switches only while there is one, and whoever opens the first waits for
    all CPUs to take note: 8 to 15 ms, which would be the program's, in its first parallel region.
    """
    event = _open_event()
    try:
        yield
    finally:
        if event is not None:
            os.close(event)


def _open_event() -> int | None:
    number = _SYSTEM_CALL.get(os.uname().machine)
    if number is None:
        return None
    import ctypes  # not needed by whoever only reads runs

    attributes = _ATTRIBUTES.pack(
        _SOFTWARE, _ATTRIBUTES.size, _DUMMY, 0, 0, 0, _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR, 0, 0, 0
    )
    call = ctypes.CDLL(None).syscall
    call.restype = ctypes.c_long
    this_thread, any_cpu, no_group = (ctypes.c_long(constant) for constant in (0, -1, -1))
    event = int(
        call(ctypes.c_long(number), attributes, this_thread, any_cpu, no_group, ctypes.c_long(_CLOSE_ON_EXEC))
    )
    return event if event >= 0 else None

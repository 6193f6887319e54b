"""What can be told of a program before it starts: why its regions may not be seen."""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path


def no_regions(reason: str, remedy: str) -> dict[str, str]:
    """Why nothing of OpenMP can be recorded, as run.json has it."""
    # Only now: it is rare, and the program waits to be started.
    from trimtab.model.enumerations import Missing

    return {"what": "OpenMP regions", "why": reason, "remedy": remedy, "kind": str(Missing.REGIONS)}


def _is_secure(status: os.stat_result) -> bool:
    """Would run as another user or group than we are."""
    other_user = status.st_mode & stat.S_ISUID and status.st_uid != os.getuid()
    other_group = status.st_mode & stat.S_ISGID and status.st_gid != os.getgid()
    return bool(other_user or other_group)


def inspect(program: Path) -> list[dict[str, str]]:
    """Reasons why regions of `program` cannot be seen; empty for programs that can be watched, and for scripts."""
    try:
        status = program.stat()
        with program.open("rb") as stream:
            head = stream.read(64)
            segments = b""
            if head[:5] == b"\x7fELF\x02":
                at, size, count = (
                    struct.unpack_from("<Q", head, 32)[0],
                    *struct.unpack_from("<HH", head, 54),
                )
                stream.seek(at)
                segments = stream.read(size * count)
    except (OSError, struct.error):
        return []
    if _is_secure(status):
        return [
            no_regions(
                f"{program} is setuid or setgid: the loader ignores LD_PRELOAD",
                "run a copy without the bit",
            )
        ]
    if head[:5] == b"\x7fELF\x01":
        return [no_regions(f"{program} is a 32-bit program", "build it for 64 bits")]
    if not segments:
        return []
    types = [struct.unpack_from("<I", segments, at)[0] for at in range(0, len(segments) - 3, 56)]
    if 3 not in types:  # PT_INTERP
        return [
            no_regions(
                f"{program} is statically linked: no library can be loaded into it",
                "link it dynamically (without -static)",
            )
        ]
    return []

"""run.json: what the launcher wrote, checked as far as others rely on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trimtab.model import RunError

_NUMBER = (int, float)
# Place in run.json, types it may have, whether it may be missing or null.
_EXPECTED: tuple[tuple[tuple[str, ...], tuple[type, ...]], ...] = (
    (("program",), (str,)),
    (("argv",), (list,)),
    (("level",), (str,)),
    (("started_real_ns",), _NUMBER),
    (("machine",), (dict,)),
    (("unavailable",), (list,)),
    (("ended",), (dict,)),
    (("ended", "mono_ns"), _NUMBER),
    (("ended", "code"), (int,)),
    (("ended", "signal"), (str,)),
    (("ended", "wall_s"), _NUMBER),
    (("ended", "rusage"), (dict,)),
    *((("ended", "rusage", name), _NUMBER) for name in ("user_s", "system_s", "voluntary", "involuntary")),
)


def check_info(path: Path, info: Any) -> None:
    """Every key may be missing or null; one that is there has its type.

    Raises:
        RunError: it has not.
    """
    if not isinstance(info, dict) or info.get("format") != 1:
        found = info.get("format") if isinstance(info, dict) else type(info).__name__
        raise RunError(f"{path}: expected format 1, found {found}")
    for place, types in _EXPECTED:
        value: Any = info
        for key in place:
            value = value.get(key) if value is not None else None
        if value is not None and (not isinstance(value, types) or isinstance(value, bool)):
            expected = " or ".join(each.__name__ for each in types)
            raise RunError(f"{path}: {'.'.join(place)}: expected {expected}, found {type(value).__name__}")
    for at, each in enumerate(info.get("unavailable") or []):
        if not isinstance(each, dict) or not all(
            isinstance(each.get(k), str) for k in ("what", "why", "remedy")
        ):
            raise RunError(f"{path}: unavailable.{at}: expected the strings what, why and remedy")

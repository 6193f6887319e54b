"""run.json: what the launcher wrote, checked as far as others rely on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from trimtab.model import RunError

_NUMBER = (int, float)
# Place in run.json and types it may have; it may be missing or null.
_EXPECTED: tuple[tuple[tuple[str, ...], tuple[type, ...]], ...] = (
    (("trimtab",), (str,)),
    (("program",), (str,)),
    (("argv",), (list,)),
    (("level",), (str,)),
    (("started_real_ns",), _NUMBER),
    (("machine",), (dict,)),
    (("machine", "cpus_quota"), _NUMBER),
    (("unavailable",), (list,)),
    (("ended",), (dict,)),
    (("ended", "mono_ns"), _NUMBER),
    (("ended", "code"), (int,)),
    (("ended", "signal"), (str,)),
    (("ended", "real_ns"), _NUMBER),
    (("ended", "wall_s"), _NUMBER),
    (("ended", "rusage"), (dict,)),
    *(
        (("ended", "rusage", name), _NUMBER)
        for name in ("user_s", "system_s", "voluntary", "involuntary", "max_rss_kb")
    ),
    (("job",), (dict,)),
    (("job", "launcher"), (str,)),
    (("job", "id"), (str,)),
    (("job", "size"), (int,)),
    (("rank",), (int,)),
    (("steering",), (dict,)),
    (("steering", "mode"), (str,)),
    (("steering", "known_settings"), (int,)),
    (("steering", "virtual_threads"), (int,)),
    (("steering", "threads"), (str,)),
    (("steering", "start_values"), (list,)),
)
# Nanoseconds of 292 years: what is not less is no time, and no count.
_LARGEST_NUMBER = 1 << 63


def check_info(path: Path, info: Any) -> None:
    """Every key may be missing or null; one that is there has its type.

    Raises:
        RunError: it has not.
    """
    if not isinstance(info, dict) or isinstance(info.get("format"), bool) or info.get("format") != 1:
        format_found = info.get("format") if isinstance(info, dict) else type(info).__name__
        raise RunError(f"{path}: expected format 1, found {str(format_found)[:40]}")
    for place, types in _EXPECTED:
        value: Any = info
        for key in place:
            value = value.get(key) if value is not None else None
        if value is not None and (not isinstance(value, types) or isinstance(value, bool)):
            expected = " or ".join(expected_type.__name__ for expected_type in types)
            raise RunError(f"{path}: {'.'.join(place)}: expected {expected}, found {type(value).__name__}")
        if isinstance(value, _NUMBER) and not -_LARGEST_NUMBER < value < _LARGEST_NUMBER:
            raise RunError(f"{path}: {'.'.join(place)}: expected a number of 64 bits, found a larger one")
    _check_each(path, info, "argv", "a string", lambda element: isinstance(element, str))
    _check_each(
        path, info, "unavailable", "the strings what, why and remedy", _has_strings("what", "why", "remedy")
    )
    _check_each(
        path,
        info.get("steering") or {},
        "start_values",
        "the strings name, value and reason",
        _has_strings("name", "value", "reason"),
    )


def _check_each(path: Path, holder: Any, key: str, expected: str, is_right: Callable[[Any], bool]) -> None:
    for at, element in enumerate(holder.get(key) or []):
        if not is_right(element):
            raise RunError(f"{path}: {key}.{at}: expected {expected}")


def _has_strings(*keys: str) -> Callable[[Any], bool]:
    return lambda element: (
        isinstance(element, dict) and all(isinstance(element.get(key), str) for key in keys)
    )

"""Where the event logs are: a file, the folder of a rolling log, or a folder of several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trimtab.model import RunError
from trimtab.spark.codecs import Damaged, chunks

_ROLLED = re.compile(r"events_(\d{1,9})_.*", re.DOTALL)
_BEGIN = re.compile(rb'\s*\{\s*"Event"\s*:')
_FIRST_BYTES = 65536
_MOST_LOGS = 10_000


@dataclass(frozen=True)
class Log:
    """The log of one application.

    Attributes:
        path: what the user would call it.
        files: in the order of time.
        is_compacted: Spark has replaced its oldest files by a shorter one.
    """

    path: Path
    files: tuple[Path, ...]
    is_compacted: bool = False

    @property
    def bytes_on_disk(self) -> int:
        """Of all files."""
        return sum(file.stat().st_size for file in self.files)


def logs_at(path: Path) -> list[Log]:
    """The logs that `path` is or holds, by name.

    Raises:
        RunError: there is nothing, or no log.
    """
    if not path.is_dir():
        return [Log(path, (path,))]
    if (rolling := _rolling(path)) is not None:
        return [rolling]
    logs = list(_logs_in(path))
    if not logs:
        raise RunError(f"{path}: expected event logs of Spark, found none")
    return logs


def is_event_log(path: Path) -> bool:
    """Whether `path` is an event log, or a folder with some, rather than a run directory."""
    if path.is_dir():
        return not (path / "run.json").exists() and (
            _rolling(path) is not None or any(True for _ in _logs_in(path))
        )
    return path.is_file() and begins_as_log(path)


def begins_as_log(path: Path) -> bool:
    """Whether the first line of a file is an event; of one that cannot be opened or unpacked no."""
    head = b""
    try:
        for chunk in chunks(path):
            head += chunk
            if len(head) >= _FIRST_BYTES or b"\n" in head:
                break
    except RunError as error:
        # A log whose library is missing is one; the reader says what to install.
        return "is compressed with" in str(error)
    except Damaged:
        return False
    return _BEGIN.match(head) is not None


def _rolling(folder: Path) -> Log | None:
    """The files `events_N_ID` by N, from the last that a compaction made on."""
    found = sorted(
        (int(match[1]), not entry.name.endswith(".compact"), entry)
        for entry in folder.iterdir()
        if (match := _ROLLED.fullmatch(entry.name)) and entry.is_file()
    )
    if not found:
        return None
    compacted = [number for number, is_plain, _ in found if not is_plain]
    kept = [
        entry
        for number, is_plain, entry in found
        if not compacted or number > compacted[-1] or (number == compacted[-1] and not is_plain)
    ]
    return Log(folder, tuple(kept), bool(compacted))


def _logs_in(folder: Path) -> Iterator[Log]:
    for entry in sorted(folder.iterdir())[:_MOST_LOGS]:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            rolling = _rolling(entry)
            if rolling is not None:
                yield rolling
        elif entry.is_file() and begins_as_log(entry):
            yield Log(entry, (entry,))

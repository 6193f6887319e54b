"""The one place where files are opened that somebody else may have written, or may have put something else in place of.

A run directory can be a colleague's, or come from a download: a name in it may lead to a pipe, a device, a link, or a file
without end. Nothing here waits for a writer, follows a link (unless the user named the path), or reads without a bound.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
# Files are trusted to be as large as they say up to here; larger ones must have blocks on the disk.
_TRUSTED_BYTES = 64 << 20
# File systems that compress store a record in fewer bytes than it has, but not in so few.
_MOST_COMPRESSION = 64


@dataclass(frozen=True)
class FileKind:
    """What a file is expected to be.

    Attributes:
        what: as messages call it, with its article.
        most_bytes: a longer file is refused.
        error: what is raised, with a message that names the file, what was expected and what was found.
        follows_links: the user named the path, so that a link is what the user wants.
    """

    what: str
    most_bytes: int
    error: type[Exception]
    follows_links: bool = False


def open_regular(path: Path, kind: FileKind) -> BinaryIO:
    """A stream of the bytes of `path`, which is a regular file of at most `kind.most_bytes`; never waits.

    Raises:
        kind.error: it is none. Where there is nothing of that name, `is_missing` says so.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        opened = os.open(path, flags | (0 if kind.follows_links else os.O_NOFOLLOW))
    except (OSError, ValueError) as error:
        # ELOOP: the last part of the path is a link. ValueError: there is a NUL in it.
        is_link = isinstance(error, OSError) and error.errno == errno.ELOOP and not kind.follows_links
        reason = "found a symbolic link" if is_link else _message(error)
        raise kind.error(f"{path}: expected {kind.what}: {reason}") from error
    try:
        _check(path, os.fstat(opened), kind)
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise


def read_bytes(path: Path, kind: FileKind) -> bytes:
    """All of `path`.

    Raises:
        kind.error: see `open_regular`; or it could not be read, or it grew beyond the bound meanwhile.
    """
    with open_regular(path, kind) as stream:
        try:
            content = stream.read(os.fstat(stream.fileno()).st_size + 1)
            while len(content) <= kind.most_bytes and (chunk := stream.read(1 << 16)):
                content += chunk
        except OSError as error:
            raise kind.error(f"{path}: expected {kind.what}: {_message(error)}") from error
    if len(content) > kind.most_bytes:
        _refuse_size(path, kind, len(content))
    return content


def read_text(path: Path, kind: FileKind) -> str:
    """All of `path`, which is UTF-8.

    Raises:
        kind.error: see `read_bytes`; or it is not UTF-8.
    """
    content = read_bytes(path, kind)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise kind.error(f"{path}: byte {error.start}: expected UTF-8, found {error.reason}") from error


def read_json(path: Path, kind: FileKind) -> Any:
    """What the JSON in `path` says. Only numbers that JSON has, and no key twice in an object.

    Raises:
        kind.error: see `read_text`; or it is not JSON.
    """
    text = read_text(path, kind)
    try:
        return json.loads(
            text, parse_float=_finite, parse_constant=_refuse_constant, object_pairs_hook=_object
        )
    except (ValueError, RecursionError) as error:
        raise kind.error(f"{path}: not JSON: {error}") from error


def is_missing(error: BaseException) -> bool:
    """Whether what was raised here means that there is nothing of that name."""
    return isinstance(error.__cause__, FileNotFoundError | NotADirectoryError)


def check_is_stored(path: Path, status: os.stat_result, used_bytes: int, kind: FileKind) -> None:
    """Refuse a file that says it has far more bytes than are on the disk: reading it would only fill the memory.

    Raises:
        kind.error: it does.
    """
    stored = status.st_blocks * 512
    if used_bytes > _TRUSTED_BYTES and stored * _MOST_COMPRESSION < used_bytes:
        raise kind.error(
            f"{path}: expected {kind.what}: found {used_bytes} bytes announced, but only {stored} on the disk"
        )


def _check(path: Path, status: os.stat_result, kind: FileKind) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind_name = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "something else")
        raise kind.error(f"{path}: expected {kind.what}, found {kind_name}")
    if status.st_size > kind.most_bytes:
        _refuse_size(path, kind, status.st_size)


def _refuse_size(path: Path, kind: FileKind, size: int) -> NoReturn:
    raise kind.error(f"{path}: expected {kind.what} of at most {kind.most_bytes} bytes, found {size} or more")


def _message(error: OSError | ValueError) -> str:
    """What the system says of it."""
    return str(getattr(error, "strerror", None) or error)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"{text[:40]} is no number of 64 bits")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    seen_keys: set[str] = set()
    for key, _ in pairs:
        if key in seen_keys:
            raise ValueError(f"the key {key!r} is there twice in one object")
        seen_keys.add(key)
    return result

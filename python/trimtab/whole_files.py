"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

_BUFFER = 1 << 20


@contextmanager
def whole_files(paths: list[Path]) -> Iterator[list[IO[bytes]]]:
    """Streams to write to; the files take their names when all are complete, and none exists on an error."""
    parts = [path.with_name(f".{path.name}.{os.getpid()}.part") for path in paths]
    try:
        with ExitStack() as stack:
            opened: list[IO[bytes]] = []
            for part, path in zip(parts, paths, strict=True):
                with _told_of(path):
                    opened.append(stack.enter_context(part.open("wb", buffering=_BUFFER)))
            yield opened
        for part, path in zip(parts, paths, strict=True):
            with _told_of(path):
                part.replace(path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> Path:
    """One such file of these bytes; returns `path`."""
    with _told_of(path), whole_files([path]) as (stream,):
        stream.write(content)
    return path


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """Errors name the file that was asked for."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None

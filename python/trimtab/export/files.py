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
            yield [stack.enter_context(_opened(part, path)) for part, path in zip(parts, paths, strict=True)]
        for part, path in zip(parts, paths, strict=True):
            part.replace(path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def _opened(part: Path, path: Path) -> IO[bytes]:
    try:
        return part.open("wb", buffering=_BUFFER)
    except OSError as error:  # of the file that was asked for
        raise OSError(error.errno, error.strerror, str(path)) from None

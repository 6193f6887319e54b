"""The files that a program writes: the same before every run, and as they were when all is done."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType


@dataclass(frozen=True)
class Pattern:
    """Which files: a path, a folder (all below it) or a pattern; kind f32 or f64 if they are arrays of numbers."""

    path: str
    kind: str | None = None


@dataclass(frozen=True)
class Written:
    """A file as a run left it, in a place where no other run finds it."""

    path: Path
    kind: str | None


class Outputs:
    """Hands each run the named files as they were at first, and takes away what it leaves.

    A context: at its end the files are as they were at its beginning, also where they were not there. What is
    below `folder`, which is the check's own, is none of them.
    """

    def __init__(self, patterns: Sequence[Pattern], folder: Path) -> None:
        self._patterns, self._own = patterns, os.path.realpath(folder)
        self._folder = folder / "before"
        self._folders = set(self._folders_now())
        self._originals: dict[str, Path] = {}
        self._unseen = {pattern.path for pattern in patterns}

    def __enter__(self) -> Outputs:
        for number, name in enumerate(self._files_now(self._patterns)):
            kept = self._folder / str(number)
            self._folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, kept)
            self._originals[name] = kept
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in self._files_now(self._patterns):
            if name not in self._originals:
                os.unlink(name)
        self._reset()

    @property
    def unseen(self) -> list[str]:
        """Patterns that no run has written anything of."""
        return sorted(self._unseen)

    def collect(self, target: Path) -> dict[str, Written]:
        """What the run that is over has left, by name; for the next one all is as at first."""
        self._unseen -= {pattern.path for pattern in self._patterns if self._files_now([pattern])}
        written_files = {}
        # Links first: what they lead to may be among what is moved away.
        for name, kind in sorted(
            self._files_now(self._patterns).items(), key=lambda entry: not os.path.islink(entry[0])
        ):
            kept = target / Path(
                *("__" if part == ".." else part for part in Path(name).parts if part != "/")
            )
            kept.parent.mkdir(parents=True, exist_ok=True)
            if name in self._originals:
                shutil.copyfile(name, kept)
            elif os.path.islink(name):
                shutil.copyfile(name, kept)
                os.unlink(name)
            else:
                shutil.move(name, kept)
            written_files[name] = Written(kept, kind)
        self._reset()
        return dict(sorted(written_files.items()))

    def _reset(self) -> None:
        for name, kept in self._originals.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(kept, name)
        for folder in sorted(self._folders_now(), key=len, reverse=True):
            if folder not in self._folders:
                with contextlib.suppress(OSError):  # it has files that nobody named
                    os.rmdir(folder)

    def _folders_now(self) -> Iterator[str]:
        """Folders that the patterns name, and those on the way to what they name."""
        for pattern in self._patterns:
            for path in _matches(pattern.path):
                yield from (folder for folder, _, _ in self._walk(path))
            parent = os.path.dirname(pattern.path)
            while parent and parent != os.path.dirname(parent):
                yield from (path for path in _matches(parent) if os.path.isdir(path))
                parent = os.path.dirname(parent)

    def _files_now(self, patterns: Sequence[Pattern]) -> dict[str, str | None]:
        """Names of what the patterns name, and what kind they are."""
        kinds: dict[str, str | None] = {}
        for pattern in patterns:
            for path in _matches(pattern.path):
                below_pattern = (
                    os.path.join(folder, name) for folder, _, names in self._walk(path) for name in names
                )
                for name in map(os.path.normpath, (path, *below_pattern)):
                    if os.path.isfile(name):
                        kinds[name] = pattern.kind or kinds.get(name)
        return kinds

    def _walk(self, path: str) -> Iterator[tuple[str, list[str], list[str]]]:
        for folder, folders, names in os.walk(path):
            folders[:] = [
                subfolder
                for subfolder in folders
                if os.path.realpath(os.path.join(folder, subfolder)) != self._own
            ]
            yield folder, folders, names


def _matches(path: str) -> Iterable[str]:
    """A name that is there means itself, whatever characters are in it."""
    return [path] if os.path.lexists(path) else glob.glob(path, recursive=True)

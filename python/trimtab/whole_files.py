"""Files that are written whole or not at all, and folders that are this user's alone.

What is written gets a random name that nobody else can have put there (O_EXCL), in a folder that is held open: nobody can
put a link, or another folder, in its place between two steps.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

_BUFFER = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OF_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@contextmanager
def whole_files(paths: list[Path]) -> Iterator[list[IO[bytes]]]:
    """Streams to write to; the files take their names when all are complete, and none exists on an error."""
    with ExitStack() as stack:
        parts: list[_Part] = []
        for path in paths:
            with _errors_of(path):
                folder = stack.enter_context(open_folder(path.parent))
                parts.append(stack.enter_context(_new_part(folder, path.name, 0o666)))
        yield [part.stream for part in parts]
        for part, path in zip(parts, paths, strict=True):
            with _errors_of(path):
                part.stream.close()
        for part, path in zip(parts, paths, strict=True):
            with _errors_of(path):
                part.take_name()


@contextmanager
def folder_to_fill(path: Path) -> Iterator[None]:
    """The folder `path`, and the missing ones above it; on an error those that this made are removed again.

    Raises:
        OSError: it cannot be made.
    """
    missing = [folder for folder in (path, *path.parents) if not os.path.lexists(folder)]
    try:
        with _errors_of(path):
            path.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def whole_folder(path: Path, known_by: str) -> Iterator[Path]:
    """A new folder to fill, which takes the name `path` when it is complete; nothing is left of it on an error.

    A folder that has that name already is replaced if it is empty or has a file `known_by` in it: anything else is not ours.

    Raises:
        OSError: it cannot be made, or there is something else.
    """
    if os.path.lexists(path):
        is_ours = path.is_dir() and not path.is_symlink()
        names = os.listdir(path) if is_ours else []
        if not is_ours or (names and known_by not in names):
            raise FileExistsError(errno.EEXIST, f"is there, and has no {known_by} to replace", str(path))
    part = path.absolute().parent / f".trimtab-{os.urandom(8).hex()}.part"
    with _errors_of(path):
        os.mkdir(part)
    try:
        yield part
        old = part.with_suffix(".old")
        with _errors_of(path):
            if os.path.lexists(path):
                os.rename(path, old)
            os.rename(part, path)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_whole(path: Path, content: bytes) -> Path:
    """One such file of these bytes; returns `path`."""
    with _errors_of(path), whole_files([path]) as (stream,):
        stream.write(content)
    return path


def write_in(folder: int, name: str, content: bytes) -> None:
    """The file `name` in an open folder, whole or not at all, readable by this user only.

    Raises:
        OSError: it cannot be written.
    """
    with _new_part(folder, name, 0o600) as part:
        part.stream.write(content)
        part.stream.close()
        part.take_name()


def write_private(folder: Path, name: str, content: bytes) -> None:
    """The same, if `folder` is this user's, and nobody else may write in it.

    Raises:
        PermissionError: it is not.
        OSError: the file cannot be written.
    """
    with _errors_of(folder / name), open_private_folder(folder) as opened:
        write_in(opened, name, content)


def open_new(folder: int, name: str) -> IO[bytes]:
    """A stream into the file `name` in an open folder, where it was not there before; readable by this user only.

    Raises:
        OSError: it cannot be made.
    """
    return os.fdopen(os.open(name, _NEW_FILE, 0o600, dir_fd=folder), "wb")


def open_kept(path: Path, flags: int) -> int:
    """A descriptor of a file that stays from run to run; made if it is not there, for this user. Never waits, follows no link.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    opened = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(errno.EINVAL, "expected a regular file", str(path))
    return opened


@contextmanager
def open_folder(path: Path) -> Iterator[int]:
    """A descriptor of the folder `path`."""
    opened = os.open(path, _FOLDER)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def open_private_folder(path: Path) -> Iterator[int]:
    """A descriptor of the folder `path`, which is this user's, and in which nobody else may write.

    Raises:
        PermissionError: it is not.
    """
    with open_folder(path) as opened:
        if why := why_not_private(os.fstat(opened)):
            raise PermissionError(errno.EPERM, why, str(path))
        yield opened


def why_not_private(about: os.stat_result) -> str:
    """Why a file or folder is not this user's alone; "": it is.

    >>> why_not_private(os.stat("/tmp")) != ""
    True
    """
    if about.st_uid != os.geteuid():
        return f"belongs to another user (user id {about.st_uid})"
    return "others may write in it" if about.st_mode & _OF_OTHERS else ""


def make_private_folder(path: Path) -> None:
    """Make the folder `path`, which must not be there yet, and the missing ones above it; only this user may enter them.

    Raises:
        OSError: it is there, or cannot be made.
    """
    if not path.parent.exists():
        with contextlib.suppress(FileExistsError):  # made by another process meanwhile
            make_private_folder(path.parent)
    os.mkdir(path, 0o700)


def ensure_private_folder(path: Path) -> None:
    """Make the folder `path` unless it is there, see above; it is this user's, and nobody else may write in it.

    A link to it must be this user's as well: somebody else's could lead into any folder of this user.

    Raises:
        PermissionError: it is another user's, or others may write in it.
        OSError: it cannot be made.
    """
    with contextlib.suppress(FileExistsError):
        make_private_folder(path)
    about = os.lstat(path)
    if stat.S_ISLNK(about.st_mode) and about.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "is a link of another user", str(path))
    with open_private_folder(path):
        pass


def make_folder_in(folder: int, name: str) -> int:
    """Make the folder `name` in an open folder, where nothing has that name, for this user only; a descriptor of it.

    Raises:
        OSError: it is there, or cannot be made.
    """
    os.mkdir(name, 0o700, dir_fd=folder)
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)


def open_own_folder(path: Path) -> int:
    """A descriptor of the folder `path`, which is no link, is this user's, and in which nobody else may write.

    Raises:
        PermissionError: it is not.
        OSError: it cannot be opened.
    """
    opened = os.open(path, _FOLDER | os.O_NOFOLLOW)
    if why := why_not_private(os.fstat(opened)):
        os.close(opened)
        raise PermissionError(errno.EPERM, why, str(path))
    return opened


def hold_lock(folder: int, name: str) -> int | None:
    """A new file `name` in an open folder, locked until its descriptor is closed or this process dies; None: no locks there."""
    own_name = f".trimtab-{os.urandom(8).hex()}.part"
    opened = None
    try:
        opened = os.open(own_name, _NEW_FILE, 0o600, dir_fd=folder)
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Nobody sees it before it is locked.
        os.rename(own_name, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        if opened is not None:
            os.close(opened)
            with contextlib.suppress(OSError):
                os.unlink(own_name, dir_fd=folder)
        return None
    return opened


def is_locked(path: Path) -> bool:
    """Whether who made this lock still holds it. True also where nobody can tell: it is not there, or locks do not work."""
    try:
        opened = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(opened)
    return False


class _Part:
    """A file that has not got its name yet."""

    def __init__(self, folder: int, own_name: str, name: str, stream: IO[bytes]) -> None:
        self._folder, self._own_name, self._name = folder, own_name, name
        self.stream = stream

    def take_name(self) -> None:
        os.replace(self._own_name, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def discard(self) -> None:
        """Nothing, once it has taken its name."""
        with contextlib.suppress(OSError):
            self.stream.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._own_name, dir_fd=self._folder)


@contextmanager
def _new_part(folder: int, name: str, mode: int) -> Iterator[_Part]:
    own_name = f".trimtab-{os.urandom(8).hex()}.part"
    opened = os.open(own_name, _NEW_FILE, mode, dir_fd=folder)
    part = _Part(folder, own_name, name, os.fdopen(opened, "wb", buffering=_BUFFER))
    try:
        yield part
    finally:
        part.discard()


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Errors name the file that was asked for."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None

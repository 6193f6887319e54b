"""Which runs go on here: observed processes of this user on this host, found by their environment."""

from __future__ import annotations

import contextlib
import os
import select
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trimtab.model import RunError
from trimtab.model.enumerations import ProcessState
from trimtab.readers.layout import PROCESS_HEADER
from trimtab.readers.listed import ListedPage
from trimtab.readers.ranks import rank_folders
from trimtab.readers.run import process_folders, read_info

_VARIABLE = b"TRIMTAB_RUN="
_PROC = Path("/proc")


@dataclass(frozen=True)
class Target:
    """A run that goes on, and its processes that do."""

    directory: Path
    pids: tuple[int, ...]
    command: str


def running(proc: Path = _PROC) -> list[Target]:
    """Runs with a process of this user, newest last; a run that cannot be read is left out."""
    by_run: dict[Path, list[int]] = {}
    for pid in _own_processes(proc):
        directory = run_of(pid, proc)
        if directory is not None and _is_watched(directory, pid):
            by_run.setdefault(directory, []).append(pid)
    # The launchers of a job's ranks have the same directory; a folder of a rank is part of its run.
    return [
        Target(directory, tuple(sorted(pids)), _command(min(pids), proc))
        for directory, pids in sorted(by_run.items(), key=lambda pair: max(pair[1]))
    ]


def run_of(pid: int, proc: Path = _PROC) -> Path | None:
    """The run that a process is recorded into, as its environment was at its start."""
    try:
        environment = (proc / str(pid) / "environ").read_bytes()
    except OSError:
        return None
    for variable in environment.split(b"\0"):
        if variable.startswith(_VARIABLE) and len(variable) > len(_VARIABLE):
            directory = Path(os.fsdecode(variable[len(_VARIABLE) :]))
            return directory.parent if directory.name.startswith("rank-") else directory
    return None


def runs_of(pid: int, proc: Path = _PROC) -> list[Target]:
    """Runs of the process, or of processes that it has started, such as a launcher has."""
    return [
        target
        for target in running(proc)
        if any(number == pid or pid in _ancestors(number, proc) for number in target.pids)
    ]


def folders_of(run: Path) -> list[Path]:
    """The folders of all processes of a run.

    Raises:
        RunError: it is no run.
    """
    if not run.is_dir():
        raise RunError(f"{run}: no such run directory")
    info = read_info(run)
    try:
        ranks = rank_folders(run).values() if info.get("job") is not None else ()
        return [folder for place in (run, *ranks) for folder in process_folders(place)]
    except OSError as error:
        raise RunError(f"{error.filename or run}: {error.strerror}") from error


def pages_of_run(run: Path) -> dict[Path, ListedPage]:
    """The pages of processes that may run and have no folder, by the folder that each would make.

    Raises:
        RunError: it is no run.
    """
    from trimtab.live.listed import running_pages

    info = read_info(run)
    try:
        ranks = rank_folders(run).values() if info.get("job") is not None else ()
        return {folder: page for place in (run, *ranks) for folder, page in running_pages(place).items()}
    except OSError as error:
        raise RunError(f"{error.filename or run}: {error.strerror}") from error


def is_alive(pid: int, start: str | None = None, proc: Path = _PROC) -> bool:
    """Whether there is such a process that is no zombie.

    Args:
        start: when it began, in clock ticks since the boot, as the fact `process start` has it; None: not known.
    """
    try:
        fields = (proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False
    is_same = start is None or len(fields) < 20 or fields[19].decode() == start
    return is_same and fields[:1] not in ([b"Z"], [b"X"])


class Life:
    """Whether a process goes on; asked at each look.

    Args:
        pid, start: as of `is_alive`.
    """

    def __init__(self, pid: int, start: str | None) -> None:
        self._pid, self._start = pid, start
        self._ended: select.poll | None = None
        # A process with many threads takes long to be described in /proc; its descriptor only says that it has ended.
        with contextlib.suppress(OSError):
            self._descriptor = os.pidfd_open(pid)
            weakref.finalize(self, os.close, self._descriptor)
            # It is of another process only if that had taken the number before.
            if is_alive(pid, start):
                self._ended = select.poll()
                self._ended.register(self._descriptor, select.POLLIN)

    def is_running(self) -> bool:
        """Not, if it has ended or was killed, whether or not anybody has waited for it."""
        if self._ended is None:
            return is_alive(self._pid, self._start)
        return not self._ended.poll(0)


def _own_processes(proc: Path) -> Iterator[int]:
    own = os.geteuid()
    for entry in os.scandir(proc):
        try:
            if entry.name.isdecimal() and entry.stat(follow_symlinks=False).st_uid == own:
                yield int(entry.name)
        except OSError:
            continue


def _is_watched(run: Path, pid: int) -> bool:
    """Whether it has a folder there, or a page, in which it is running: with --no-follow children have none."""
    from trimtab.live.mapped import LiveFile

    try:
        folders = [folder for folder in folders_of(run) if folder.name.rsplit("-", 2)[-2] == str(pid)]
        for folder in folders:
            file = LiveFile(folder / "process.tt", "process")
            if file.look() and file.second_header(PROCESS_HEADER)["state"] == ProcessState.RUNNING:
                return True
        return any(page.pid == pid for page in pages_of_run(run).values())
    except RunError:
        return False
    return False


def _command(pid: int, proc: Path) -> str:
    try:
        return (
            (proc / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        )
    except OSError:
        return ""


def _ancestors(pid: int, proc: Path) -> Iterator[int]:
    for _ in range(64):
        try:
            pid = int((proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            return
        if pid <= 1:
            return
        yield pid

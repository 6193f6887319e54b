"""The run directory that the ranks of a job share. Each rank has a folder `rank-N` of its own in it, and writes into no other.

Whoever comes first makes the directory, complete, under a name that nobody knows, and renames it: so the others find it whole, or
not at all. A rank takes its place by making its folder, which succeeds once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from trimtab.files import FileKind, read_json, read_text
from trimtab.launcher.job import Job
from trimtab.launcher.run_folder import RunFolder, below_runs
from trimtab.launcher.run_name import job_name
from trimtab.whole_files import hold_lock, is_locked, open_new, open_own_folder

# run.json has the program's arguments, which the system bounds by a few megabytes.
_RUN_INFO = FileKind("a description of a run (run.json)", 16 << 20, ValueError)
_SETTINGS_FILE = FileKind("settings of a run", 64 << 20, ValueError)
_LOCK = "launcher.lock"
_REPORTED = "reported"
_RANK = re.compile(r"rank-(\d{1,10})")
# Ranks start within this time of each other, or it is not waited for them at the end of a run that was shorter.
_START_S = 5.0
_POLL_S = 0.05
# A run that began longer ago, and in which nothing runs, is of an earlier job with the same identity.
_LONGEST_START_S = 600.0
_ATTEMPTS = 100
_MOST_RUNS = 10_000
_NAME_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)


class RankState(Enum):
    """Of a rank's launcher, as the others see it."""

    ABSENT = "has not come"
    RUNNING = "runs"
    ENDED = "has written how its program ended"
    KILLED = "is gone without"


def rank_folder(rank: int) -> str:
    """The name of a rank's folder."""
    return f"rank-{rank}"


def is_open_to(path: Path, job: Job) -> bool:
    """Whether there is nothing at `path`, or a run of this job in which this rank has no place yet."""
    try:
        with _joined(path, job):
            return True
    except FileNotFoundError:
        return not os.path.lexists(path)
    except OSError:
        return False


@contextlib.contextmanager
def _joined(path: Path, job: Job) -> Iterator[int]:
    """A descriptor of the run of this job at `path`.

    Raises:
        FileExistsError: it is something else, or has this rank already.
        FileNotFoundError: there is nothing.
        OSError: it cannot be opened.
    """
    try:
        opened = open_own_folder(path)
    except (NotADirectoryError, PermissionError) as error:
        raise FileExistsError(errno.EEXIST, "exists already", str(path)) from error
    try:
        if not _is_run_of(opened, job):
            raise FileExistsError(errno.EEXIST, "exists already", str(path))
        yield opened
    finally:
        os.close(opened)


def _is_run_of(folder: int, job: Job) -> bool:
    inside_path = _path_inside(folder)
    job_info = _info_in(inside_path)
    described = job_info.get("job")
    if not isinstance(described, dict) or described.get("id") != job.id or described.get("size") != job.size:
        return False
    if os.path.lexists(inside_path / rank_folder(job.rank)):
        return False
    began = job_info.get("started_real_ns")
    is_new = isinstance(began, int) and abs(time.time() - began * 1e-9) < _LONGEST_START_S
    return is_new or any(state_of(inside_path / name) is RankState.RUNNING for name in _ranks_in(folder))


def _path_inside(folder: int) -> Path:
    """The open folder, whatever has its name now."""
    return Path(f"/proc/self/fd/{folder}")


def _ranks_in(folder: int) -> list[str]:
    return [name for name in os.listdir(folder) if _RANK.fullmatch(name)]


def _info_in(folder: Path) -> dict[str, Any]:
    """What run.json in it says; nothing where it cannot be read."""
    with contextlib.suppress(ValueError):
        info = read_json(folder / "run.json", _RUN_INFO)
        return info if isinstance(info, dict) else {}
    return {}


def state_of(folder: Path) -> RankState:
    """Of the rank with this folder."""
    if not os.path.lexists(folder):
        return RankState.ABSENT
    # The lock first: a launcher that ends in between has written its end before it gave up the lock.
    is_running = is_locked(folder / _LOCK)
    if _info_in(folder).get("ended") is not None:
        return RankState.ENDED
    return RankState.RUNNING if is_running else RankState.KILLED


@dataclass
class JobFolder:
    """The run of a job, held open, with this rank's place in it. Close it when this launcher has nothing more to say.

    Attributes:
        path: of the run.
        info: what its run.json says, of the rank that came first.
        rank: the folder of this rank.
    """

    path: Path
    job: Job
    info: Mapping[str, Any]
    rank: RunFolder
    _folder: int
    _lock: int | None

    @property
    def rank_path(self) -> Path:
        """Of this rank's folder."""
        return self.path / rank_folder(self.job.rank)

    def text_of(self, name: str) -> str | None:
        """A file that the rank that came first has written; None: there is none."""
        with contextlib.suppress(ValueError):
            return read_text(_path_inside(self._folder) / name, _SETTINGS_FILE)
        return None

    def close(self) -> None:
        """From now on the others take this launcher for ended."""
        os.close(self._folder)
        if self._lock is not None:
            os.close(self._lock)

    def leave(self) -> None:
        """There was no run of this rank, and none at all if no other has come."""
        self._give_up_place()
        with contextlib.suppress(OSError):
            self._remove_if_empty()

    def _give_up_place(self) -> None:
        shutil.rmtree(_path_inside(self._folder) / rank_folder(self.job.rank), ignore_errors=True)

    def _remove_if_empty(self) -> None:
        if _ranks_in(self._folder):
            return
        # Others find it whole or not at all here, too.
        temporary = self.path.parent / f".trimtab-{os.urandom(8).hex()}.part"
        os.rename(self.path, temporary)
        if _ranks_in(self._folder):
            # Of a rank that came in between.
            os.rename(temporary, self.path)
        else:
            shutil.rmtree(temporary, ignore_errors=True)

    def is_at_path(self) -> bool:
        """Whether the run has its name still: the only rank that it had may have given up meanwhile."""
        try:
            return os.path.samestat(os.fstat(self._folder), os.lstat(self.path))
        except OSError:
            return False

    def is_reporter(self, sleep: Callable[[float], None] = time.sleep) -> bool:
        """Whether this launcher is to report on the run: it ended last. At most one does.

        Those that have not come are waited for only while a job usually starts.
        """
        while True:
            states = self._others()
            if RankState.RUNNING in states:
                return False
            is_complete = RankState.ABSENT not in states and self.job.size is not None
            if is_complete or self._age_s() > _START_S:
                return self._claim_report()
            sleep(_POLL_S)

    def _others(self) -> set[RankState]:
        """The states of all other ranks; of some only, where one is known to run."""
        own_rank, size = self.job.rank, self.job.size
        if size is None:
            names = [name for name in _ranks_in(self._folder) if name != rank_folder(own_rank)]
        else:
            # Each begins with the next: while most run, none has to look at many.
            names = [rank_folder((own_rank + step) % size) for step in range(1, size)]
        states = set()
        for name in names:
            states.add(state_of(_path_inside(self._folder) / name))
            if RankState.RUNNING in states:
                break
        return states

    def _age_s(self) -> float:
        began = self.info.get("started_real_ns")
        return time.time() - began * 1e-9 if isinstance(began, int) else _START_S + 1

    def _claim_report(self) -> bool:
        try:
            open_new(self._folder, _REPORTED).close()
        except FileExistsError:
            return False
        except OSError:
            # A full disk: told twice is better than not at all.
            return True
        return True


def directory_of_job(job: Job) -> Path:
    """Where the ranks of a job leave their run if the user names no directory: below the user's folder for runs.

    A run that has this rank already is of an earlier program of the same job, or of an earlier job of the same identity.
    """
    first = below_runs(job_name(job.id))
    for number in range(1, _MOST_RUNS):
        path = first if number == 1 else first.with_name(f"{first.name}-{number}")
        if is_open_to(path, job):
            return path
    return first


def enter_job(path: Path, job: Job, info: dict[str, Any], files: Mapping[str, str]) -> JobFolder:
    """This rank's place in the run of its job at `path`, which is made if there is none.

    Args:
        path: of the run.
        job: this rank's.
        info, files: run.json and more of the run, if this rank comes first.

    Raises:
        FileExistsError: there is something else, or this rank has a place already.
        OSError: it cannot be made, or written.
    """
    described = {"launcher": job.launcher, "id": job.id, "size": job.size}
    for _ in range(_ATTEMPTS):
        if not os.path.lexists(path):
            _make_run(path, {**info, "job": described}, files)
        with contextlib.suppress(FileNotFoundError):
            entered = _take_place(path, job)
            if entered.is_at_path():
                return entered
            entered._give_up_place()
            entered.close()
    raise FileNotFoundError(errno.ENOENT, "other ranks made it and removed it again", str(path))


def _take_place(path: Path, job: Job) -> JobFolder:
    """Make this rank's folder in the run of the job at `path`; errors as of `_joined`."""
    with _joined(path, job) as folder:
        held = os.dup(folder)
    try:
        rank = RunFolder(Path(rank_folder(job.rank)), held)
    except BaseException:
        os.close(held)
        raise
    lock = hold_lock(rank.descriptor, _LOCK)
    return JobFolder(path, job, _info_in(_path_inside(held)), rank, held, lock)


def _make_run(path: Path, info: dict[str, Any], files: Mapping[str, str]) -> None:
    """The run, unless another rank has made it meanwhile."""
    own_name = path.parent / f".trimtab-{os.urandom(8).hex()}.part"
    folder = RunFolder(own_name)
    try:
        for name, text in files.items():
            folder.write(name, text)
        folder.write_info(info)
        os.rename(own_name, path)
    except OSError as error:
        shutil.rmtree(own_name, ignore_errors=True)
        if error.errno not in _NAME_TAKEN:
            raise
    finally:
        folder.close()

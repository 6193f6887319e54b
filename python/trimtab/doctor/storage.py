"""What opening, reading and writing small files costs in folders of this machine: measured now, in a folder of its own in each."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trimtab.machine_files import Machine

_FILES = 400
_FILE_BYTES = 4096
# Of a folder and a kind of call: slow file systems give fewer samples, and never keep the user waiting.
_PATIENCE_S = 3.0
# Opens from which on the pool of shuffle files is used, too (spark.trimtab.pooledShuffle.minimumOpenMicroseconds).
SLOW_OPEN_US = 50.0
# A folder is worth moving to if its opens take at most this share.
_WORTH_MOVING = 0.5
_MEMORY_TYPES = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Latency:
    """Microseconds of a call: median and 99th percentile of so many calls."""

    p50_us: float
    p99_us: float
    samples: int


@dataclass(frozen=True)
class FolderStorage:
    """What was measured in a folder; `problem` says why nothing was.

    Attributes:
        source: why this folder was looked at.
        file_system: its type, as mount calls it.
        free_bytes: that this user may still write there.
        open: of a file that exists.
        read: of 4 KiB that are not in memory any more, unless the file system itself is in memory.
        write: of 4 KiB, until the kernel has taken them; not until they are on the disk.
    """

    folder: str
    source: str
    file_system: str = ""
    is_in_memory: bool = False
    free_bytes: int = 0
    open: Latency | None = None
    read: Latency | None = None
    write: Latency | None = None
    problem: str = ""


@dataclass(frozen=True)
class Advice:
    """What to change for a folder whose opens are slow, or why nothing."""

    folder: str
    action: str
    reason: str


@dataclass(frozen=True)
class Storage:
    """All folders, the memory that is available, and what follows for directories of shuffles."""

    folders: list[FolderStorage]
    available_memory_bytes: int
    advice: list[Advice]

    def as_json(self) -> dict[str, Any]:
        """As `trimtab doctor --storage --json` has it."""
        return asdict(self)


def measure_storage(folders: Sequence[tuple[Path, str]], machine: Machine | None = None) -> Storage:
    """Measures each folder once; leaves nothing in it.

    Args:
        folders: and why they are looked at.
        machine: where /proc is read.
    """
    system = machine or Machine()
    sources: dict[Path, str] = {}
    for path, source in folders:
        sources.setdefault(path.absolute(), source)
    measured = [_measure(path, source, _type_of(path, system)) for path, source in sources.items()]
    memory = _available_memory(system)
    return Storage(measured, memory, storage_advice(measured, memory))


def storage_advice(folders: Sequence[FolderStorage], available_memory: int) -> list[Advice]:
    """Where directories of shuffles would be better, for each folder on a disk or network whose opens are slow."""
    memory = min(
        (folder for folder in folders if folder.is_in_memory and folder.open),
        key=lambda folder: _open_us(folder),
        default=None,
    )
    advice = []
    for folder in folders:
        if folder.open is None or folder.is_in_memory:
            continue
        if folder.open.p50_us < SLOW_OPEN_US:
            reason = (
                f"an open takes {folder.open.p50_us:.0f} us there; it is slow from {SLOW_OPEN_US:.0f} us on"
            )
            advice.append(Advice(folder.folder, "leave shuffle directories there", reason))
            continue
        advice.append(_of_slow(folder, memory, available_memory))
    return advice


def _of_slow(folder: FolderStorage, memory: FolderStorage | None, available_memory: int) -> Advice:
    slow = f"an open takes {_open_us(folder):.0f} us there"
    if memory is not None and _open_us(memory) <= _WORTH_MOVING * _open_us(folder):
        # What is in memory must leave as much to the program as it takes.
        room = min(memory.free_bytes, available_memory // 2)
        action = (
            f"spark.local.dir={memory.folder} for jobs that write less than {room / 2**30:.1f} GiB of shuffles here;"
            f" else a file system in one file for each node (a loop device), or trimtab run --spark-pooled"
        )
        return Advice(folder.folder, action, f"{slow}, {_open_us(memory):.0f} us in memory")
    action = "a file system in one file for each node (a loop device), or trimtab run --spark-pooled"
    return Advice(folder.folder, action, f"{slow}, and no folder in memory is faster")


def _open_us(folder: FolderStorage) -> float:
    return folder.open.p50_us if folder.open else float("inf")


def _measure(path: Path, source: str, file_system: str) -> FolderStorage:
    is_in_memory = file_system in _MEMORY_TYPES
    try:
        status = os.statvfs(path)
        free = status.f_bavail * status.f_frsize
        with _own_folder(path) as own:
            calls = _Calls(own)
            write, opens, read = calls.writes(), calls.opens(), calls.reads()
    except OSError as error:
        return FolderStorage(
            str(path), source, file_system, is_in_memory, problem=error.strerror or str(error)
        )
    return FolderStorage(str(path), source, file_system, is_in_memory, free, opens, read, write)


@contextlib.contextmanager
def _own_folder(path: Path) -> Iterator[Path]:
    """A folder that is removed at the end, also if a signal ends the command."""
    own = Path(tempfile.mkdtemp(prefix=".trimtab-storage-", dir=path))
    try:
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


class _Calls:
    """Calls on files of a folder, timed alone: what prepares them is not counted."""

    def __init__(self, folder: Path) -> None:
        self._names = [str(folder / f"{number:03d}") for number in range(_FILES)]
        self._bytes = os.urandom(_FILE_BYTES)

    def writes(self) -> Latency:
        """Also makes the files; only those are used later."""

        def write(name: str) -> float:
            with _opened(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
                seconds = _seconds(lambda: os.pwrite(file, self._bytes, 0))
                os.fsync(file)
            return seconds

        return self._latency(write)

    def opens(self) -> Latency:
        def open_once(name: str) -> float:
            start = time.perf_counter()
            file = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
            seconds = time.perf_counter() - start
            os.close(file)
            return seconds

        return self._latency(open_once)

    def reads(self) -> Latency:
        def read(name: str) -> float:
            with _opened(name, os.O_RDONLY) as file:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                return _seconds(lambda: os.pread(file, _FILE_BYTES, 0))

        return self._latency(read)

    def _latency(self, call: Callable[[str], float]) -> Latency:
        deadline = time.monotonic() + _PATIENCE_S
        seconds: list[float] = []
        for name in self._names:
            seconds.append(call(name))
            if time.monotonic() > deadline and len(seconds) > 1:
                break
        self._names = self._names[: len(seconds)]
        return latency_of(seconds)


def latency_of(seconds: Sequence[float]) -> Latency:
    """Percentiles of at least two samples.

    >>> latency_of([1e-6, 2e-6, 3e-6])
    Latency(p50_us=2.0, p99_us=3.0, samples=3)
    """
    microseconds = sorted(value * 1e6 for value in seconds)
    p99 = microseconds[min(len(microseconds) - 1, int(0.99 * len(microseconds)))]
    return Latency(round(statistics.median(microseconds), 2), round(p99, 2), len(microseconds))


@contextlib.contextmanager
def _opened(name: str, flags: int) -> Iterator[int]:
    file = os.open(name, flags | os.O_CLOEXEC, stat.S_IRUSR | stat.S_IWUSR)
    try:
        yield file
    finally:
        os.close(file)


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _type_of(path: Path, machine: Machine) -> str:
    """Of the mount with the longest path above the folder; the last one where there are several of it."""
    target = os.path.realpath(path)
    longest, kind = -1, ""
    for line in (machine.read("/proc/self/mountinfo") or "").splitlines():
        fields, sign, rest = line.partition(" - ")
        words = fields.split()
        if not sign or len(words) < 5 or not rest:
            continue
        mount = words[4].replace("\\040", " ")
        is_above = target == mount or target.startswith(mount.rstrip("/") + "/")
        if is_above and len(mount) >= longest:
            longest, kind = len(mount), rest.split()[0]
    return kind


def _available_memory(machine: Machine) -> int:
    for line in (machine.read("/proc/meminfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) << 10
    return 0

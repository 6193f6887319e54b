"""Jobs that go on until somebody ends them, and what is left of their processes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

# After the end of one, the others have two seconds, and then two more.
LONGEST_END_S = 5.0


class RunningJob:
    """A job that goes on until somebody ends it."""

    def __init__(self, command: list[str]) -> None:
        self.launcher = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def wait_for(self, size: int, name: str, is_ready: Callable[[int], bool]) -> list[int]:
        """The process numbers of the program `name`, by rank, as soon as there are `size` and they are ready."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            assert self.launcher.poll() is None, self.launcher.communicate()
            pids = [pid for pid in descendants_of(self.launcher.pid) if name_of(pid) == name]
            ranks = {rank: pid for pid in pids if (rank := rank_of(pid)) is not None}
            if len(ranks) == size and all(map(is_ready, ranks.values())):
                return [ranks[rank] for rank in sorted(ranks)]
            time.sleep(0.01)
        raise AssertionError(f"expected {size} processes {name}")

    def end(self) -> tuple[int, str]:
        """Exit status and messages, soon."""
        _, err = self.launcher.communicate(timeout=LONGEST_END_S)
        return self.launcher.returncode, err


def descendants_of(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = path.read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from descendants_of(child)


def name_of(pid: int) -> str:
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name
    except OSError:
        return ""


def rank_of(pid: int) -> int | None:
    """None: the process is about to become the program, and has no environment for a moment."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    ranks = (int(word.split(b"=")[1]) for word in words if word.startswith(b"TRIMTAB_JOB_RANK="))
    return next(ranks, None)


def has_joined(pid: int) -> bool:
    """All others have come: only then the process that advances messages has its thread."""
    try:
        return any(path.read_text() == "parcels\n" for path in Path(f"/proc/{pid}/task").glob("*/comm"))
    except OSError:
        return False


def is_over(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_until_over(pids: list[int]) -> None:
    deadline = time.monotonic() + LONGEST_END_S
    while not all(map(is_over, pids)):
        assert time.monotonic() < deadline, [pid for pid in pids if not is_over(pid)]
        time.sleep(0.01)


def shared_files_of(pids: list[int]) -> list[Path]:
    """What they map of /dev/shm and the like. Nobody else's files: other tests make some at the same time."""
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    return [Path(line.split(maxsplit=5)[5]) for line in lines if " rw-s " in line and "/" in line]

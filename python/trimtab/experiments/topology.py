"""The CPUs that a program may use, and how they belong together: cores, sockets, fast and slow ones."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_CPUS = "sys/devices/system/cpu"
# The kernel lists the slow cores of Intel's hybrid processors here.
_SLOW = "sys/devices/cpu_atom/cpus"


@dataclass(frozen=True)
class Cpu:
    """A hardware thread. `thread` counts those of a core from 0 on; `capacity` is larger for faster ones."""

    number: int
    socket: int = 0
    core: int = 0
    thread: int = 0
    capacity: int = 1024


def topology(root: Path = Path("/"), allowed: Collection[int] | None = None) -> tuple[Cpu, ...]:
    """The CPUs of `allowed` (default: what this process may use: in a container, its cpuset), by number.

    Where /sys does not describe them, each counts as a core of its own in one socket.
    """
    numbers = sorted(os.sched_getaffinity(0) if allowed is None else allowed)
    slow = cpu_list(_text(root / _SLOW))
    seen: dict[tuple[int, int], int] = {}
    cpus = []
    for number in numbers:
        folder = root / _CPUS / f"cpu{number}"
        socket = _number(folder / "topology/physical_package_id", 0)
        core = _number(folder / "topology/core_id", number)
        thread = seen.get((socket, core), 0)
        seen[socket, core] = thread + 1
        capacity = _number(folder / "cpu_capacity", 512 if number in slow else 1024)
        cpus.append(Cpu(number, socket, core, thread, capacity))
    return tuple(cpus)


def cpu_list(text: str) -> frozenset[int]:
    """A list of CPUs as the kernel writes it.

    Example:
        >>> sorted(cpu_list("0-2,7"))
        [0, 1, 2, 7]
    """
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit():
            numbers |= set(range(int(first), int(last or first) + 1))
    return frozenset(numbers)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path, otherwise: int) -> int:
    text = _text(path)
    # -1: the kernel does not know it.
    return int(text) if text.isdigit() else otherwise

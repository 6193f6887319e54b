"""What the benchmarks ran on, and how much of it others used meanwhile."""

from __future__ import annotations

import os
import platform
import subprocess
import time

from trimtab import machine

# Long enough for /proc/stat, which counts in hundredths of a second.
_PROBE_S = 0.5


def describe() -> dict[str, object]:
    """CPU, cores, kernel, compilers."""
    known_values = machine.describe()
    return {
        "cpu": known_values["model"] or platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "virtual": "hypervisor" in machine.processor("flags").split(),
        "memory_gb": round(known_values["memory_bytes"] / 1e9, 1),
        "kernel": known_values["kernel"],
        "gcc": _first_line(["gcc", "--version"]),
        "clang": _first_line(["clang-19", "--version"]),
        "python": platform.python_version(),
        "commit": _first_line(["git", "rev-parse", "--short", "HEAD"]),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _first_line(command: list[str]) -> str:
    try:
        completed = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "not available"
    return completed.stdout.splitlines()[0] if completed.stdout else "not available"


class Watch:
    """Other programs' share of the CPUs, and the hypervisor's, since the start or the last `again`."""

    def __init__(self) -> None:
        self._begin = machine.reading()

    def again(self) -> None:
        """Count from now on."""
        self._begin = machine.reading()

    def others(self) -> float | None:
        """Share of the machine's CPU time that was not ours; None where /proc/stat cannot be read."""
        disturbance = machine.between(self._begin, machine.reading())
        return None if disturbance is None else disturbance.both


class Patience:
    """Seconds that may go into waiting for a quiet machine; what one case leaves is there for the next."""

    def __init__(self, each_case_s: float, quiet: float) -> None:
        self._each_case_s = each_case_s
        self._quiet = quiet
        self._left_s = 0.0

    def next_case(self) -> None:
        """A case begins."""
        self._left_s += self._each_case_s

    def bears(self, others: float | None, took_s: float) -> bool:
        """Whether a round that took so long is to be run again for what others did meanwhile; waits for quiet then."""
        if others is None or others <= self._quiet or self._left_s <= 0:
            return False
        self._left_s -= took_s
        while self._left_s > 0:
            watch = Watch()
            time.sleep(_PROBE_S)
            self._left_s -= _PROBE_S
            if (watch.others() or 0.0) <= self._quiet:
                break
        return True

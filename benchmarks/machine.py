"""What the benchmarks ran on, and how much of it others used meanwhile."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

# Long enough for /proc/stat, which counts in hundredths of a second.
_PROBE_S = 0.5


def describe() -> dict[str, object]:
    """CPU, cores, kernel, compilers."""
    return {
        "cpu": _field("/proc/cpuinfo", "model name") or platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "virtual": "hypervisor" in (_field("/proc/cpuinfo", "flags") or "").split(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "kernel": platform.release(),
        "gcc": _first_line(["gcc", "--version"]),
        "clang": _first_line(["clang-19", "--version"]),
        "python": platform.python_version(),
        "commit": _first_line(["git", "rev-parse", "--short", "HEAD"]),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _field(path: str, name: str) -> str | None:
    try:
        for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
    except OSError:
        pass
    return None


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "not available"
    return done.stdout.splitlines()[0] if done.stdout else "not available"


@dataclass(frozen=True)
class _Reading:
    at: float
    busy_s: float
    stolen_s: float
    own_s: float


class Watch:
    """Other programs' share of the CPUs, and the hypervisor's, since the start or the last `again`."""

    def __init__(self) -> None:
        self._begin = _read()

    def again(self) -> None:
        """Count from now on."""
        self._begin = _read()

    def others(self) -> float | None:
        """Share of the machine's CPU time that was not ours; None where /proc/stat cannot be read."""
        now = _read()
        if now is None or self._begin is None:
            return None
        all_s = (now.at - self._begin.at) * (os.cpu_count() or 1)
        theirs = (now.busy_s - self._begin.busy_s) - (now.own_s - self._begin.own_s)
        return (
            min(max((theirs + now.stolen_s - self._begin.stolen_s) / all_s, 0.0), 1.0) if all_s > 0 else 0.0
        )


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


def _read() -> _Reading | None:
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    except OSError:
        return None
    tick = 1.0 / os.sysconf("SC_CLK_TCK")
    user, nice, system, _, _, irq, softirq, steal = (int(each) * tick for each in fields[:8])
    mine = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return _Reading(
        time.monotonic(),
        user + nice + system + irq + softirq,
        steal,
        sum(each.ru_utime + each.ru_stime for each in mine),
    )

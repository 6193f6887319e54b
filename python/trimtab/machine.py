"""The machine: what it is, and what it did beside a run: other programs' use of its CPUs, and what its host took."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# /proc/stat counts in hundredths of a second, each CPU on its own: what is less than this is not told apart from nothing.
_LEAST_S = 0.03


@dataclass(frozen=True)
class Disturbance:
    """CPU seconds over a span that were not ours: of other programs, and of the host (steal)."""

    span_s: float
    cpus: int
    others_s: float
    stolen_s: float

    @property
    def others(self) -> float:
        """Other programs' share of the machine's CPU time."""
        return self._share(self.others_s)

    @property
    def steal(self) -> float:
        """The host's share."""
        return self._share(self.stolen_s)

    def _share(self, seconds: float) -> float:
        # Of a short span the kernel's ticks can be more than there is.
        return min(seconds / (self.span_s * self.cpus), 1.0) if self.span_s > 0 else 0.0

    @property
    def both(self) -> float:
        """The share of both together."""
        return self._share(self.others_s + self.stolen_s)

    def is_above(self, share: float) -> bool:
        """Whether both together are more than `share` of the CPU time, and enough to be measured."""
        return self.both > share and self.others_s + self.stolen_s > _LEAST_S


@dataclass(frozen=True)
class Reading:
    """Totals at a moment; what our own children used counts once they were waited for."""

    at: float
    busy_s: float
    stolen_s: float
    own_s: float
    cpus: int


@dataclass(frozen=True)
class CpuTimes:
    """CPU seconds since the system's start, of one CPU or of all."""

    busy_s: float  # of threads of any priority, and of interrupts
    nice_s: float  # of that, of threads of a low one
    stolen_s: float


def cpu_times(root: Path = Path("/proc")) -> dict[str, CpuTimes]:
    """Of all together ("cpu") and of each ("cpu0" ..), as the kernel counts, in ticks; empty where it does not tell."""
    tick = 1.0 / os.sysconf("SC_CLK_TCK")
    times: dict[str, CpuTimes] = {}
    try:
        for line in (root / "stat").read_text(encoding="ascii").splitlines():
            name, *fields = line.split()
            if name.startswith("cpu"):
                user, nice, system, _, _, irq, softirq, steal = (int(field) * tick for field in fields[:8])
                times[name] = CpuTimes(user + nice + system + irq + softirq, nice, steal)
    except (OSError, ValueError):
        return {}
    return times


def reading(root: Path = Path("/proc")) -> Reading | None:
    """The totals now; None where the kernel does not tell."""
    times = cpu_times(root)
    if "cpu" not in times:
        return None
    usages = [resource.getrusage(target) for target in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Reading(
        time.monotonic(),
        times["cpu"].busy_s,
        times["cpu"].stolen_s,
        sum(usage.ru_utime + usage.ru_stime for usage in usages),
        len(times) - 1,
    )


def between(before: Reading | None, after: Reading | None) -> Disturbance | None:
    """What others used from one reading to the next; None where one is missing."""
    if before is None or after is None:
        return None
    others_s = (after.busy_s - before.busy_s) - (after.own_s - before.own_s)
    return Disturbance(
        after.at - before.at,
        max(after.cpus, 1),
        max(others_s, 0.0),
        max(after.stolen_s - before.stolen_s, 0.0),
    )


def processor(field: str, root: Path = Path("/proc")) -> str:
    """What /proc/cpuinfo says of the first processor; empty where it does not."""
    try:
        for line in (root / "cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == field:
                return value.strip()
    except OSError:
        pass
    return ""


def describe() -> dict[str, Any]:
    """What every record of a machine has; the model is empty where the kernel does not tell it."""
    system = os.uname()
    return {
        "hostname": system.nodename,
        "model": processor("model name"),
        "kernel": system.release,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }

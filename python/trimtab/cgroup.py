"""The CPU quota of this process's control group, of version 1 or 2, as rooms/base finds it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from trimtab.machine_files import Machine


@dataclass(frozen=True)
class Quota:
    """The least quota of the own group and its ancestors; `cpus` None: none is set."""

    cpus: float | None
    version: int
    directory: str
    periods: int | None = None
    throttled: int | None = None


def available_cpus() -> float:
    """The CPUs that a program may use: those of its mask, or its quota where that is less."""
    allowed = float(len(os.sched_getaffinity(0)))
    quota = quota_of_cpus()
    return allowed if quota is None else min(allowed, quota)


def quota_of_cpus() -> float | None:
    """CPUs that the own group may use; None: all."""
    quota = find_quota(Machine())
    return None if quota is None else quota.cpus


def find_quota(machine: Machine) -> Quota | None:
    """None where no group of processes with a CPU controller can be seen."""
    quotas = [quota for version in (1, 2) if (quota := _smallest(machine, version)) is not None]
    # With both mounted the controller is in one of them: the one that limits, or version 1.
    return min(quotas, key=lambda quota: (quota.cpus is None, quota.cpus or 0.0), default=None)


def _smallest(machine: Machine, version: int) -> Quota | None:
    place = _locate(machine, version)
    if place is None:
        return None
    top, directory = place
    smallest = Quota(None, version, directory)
    while True:
        cpus = _quota_of(machine, directory, version)
        if cpus is not None and (smallest.cpus is None or cpus < smallest.cpus):
            smallest = Quota(cpus, version, directory, *_throttling(machine, directory))
        if directory == top or "/" not in directory:
            return smallest
        directory = directory.rsplit("/", 1)[0]


def _locate(machine: Machine, version: int) -> tuple[str, str] | None:
    """Where the hierarchy is mounted, and the own group's directory in it."""
    mount = _mount(machine, version)
    own_path = _own_group(machine, version)
    if mount is None or own_path is None:
        return None
    shown_from, at = mount
    # A container sees its own group as the top.
    if shown_from != "/" and (own_path == shown_from or own_path.startswith(shown_from + "/")):
        own_path = own_path[len(shown_from) :]
    directory = at + ("" if own_path in ("", "/") else own_path)
    return (at, directory) if machine.path(directory).is_dir() else (at, at)


def _mount(machine: Machine, version: int) -> tuple[str, str] | None:
    for line in (machine.read("/proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        fields, rest = before.split(), after.split()
        if len(fields) < 5 or len(rest) < 3:
            continue
        if version == 2 and rest[0] == "cgroup2":
            return fields[3], fields[4]
        if version == 1 and rest[0] == "cgroup" and "cpu" in rest[2].split(","):
            return fields[3], fields[4]
    return None


def _own_group(machine: Machine, version: int) -> str | None:
    for line in (machine.read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if (version == 2 and controllers == "") or (version == 1 and "cpu" in controllers.split(",")):
            return path
    return None


def _quota_of(machine: Machine, directory: str, version: int) -> float | None:
    if version == 2:
        text = machine.read(f"{directory}/cpu.max") or ""
    else:
        quota, period = (machine.read(f"{directory}/cpu.cfs_{name}_us") or "" for name in ("quota", "period"))
        text = f"{quota} {period}"
    try:
        limit, period_us = (float(part) for part in text.split())
    except ValueError:  # `max 100000`, or nothing
        return None
    return limit / period_us if limit > 0 and period_us > 0 else None


def _throttling(machine: Machine, directory: str) -> tuple[int | None, int | None]:
    words = (machine.read(f"{directory}/cpu.stat") or "").split()
    figures = dict(zip(words[0::2], words[1::2], strict=False))

    def number(name: str) -> int | None:
        return int(figures[name]) if figures.get(name, "").isdigit() else None

    return number("nr_periods"), number("nr_throttled")

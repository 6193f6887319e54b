"""The processors: how many the program may use, how they differ, and the clock."""

from __future__ import annotations

import re
from collections import Counter

from trimtab.cgroup import find_quota
from trimtab.doctor.check import Check
from trimtab.machine_files import Machine

_CONTAINER_GROUPS = r"docker|kubepods|containerd|libpod|lxc"


def checks(machine: Machine) -> list[Check]:
    """All of them."""
    return [
        cpus(machine),
        quota(machine),
        smt(machine),
        cores(machine),
        numa(machine),
        clock(machine),
        place(machine),
    ]


def count_of(ranges: str) -> int:
    """How many CPUs a list like `0-3,8` has."""
    total = 0
    for part in ranges.split(","):
        if match := re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part):
            total += int(match[2] or match[1]) - int(match[1]) + 1
    return total


def cpus(machine: Machine) -> Check:
    """Online, and allowed to this process."""
    online = count_of(machine.read("/sys/devices/system/cpu/online") or "")
    allowed = machine.affinity if machine.affinity is not None else online
    if not online:
        return Check("CPUs", "info", f"{allowed} may be used; /sys does not tell how many there are")
    if allowed < online:
        return Check(
            "CPUs",
            "info",
            f"{allowed} of {online} may be used (affinity mask)",
            "reports count the others as not there",
            "taskset, or the batch system's request, sets the mask",
        )
    return Check("CPUs", "ok", f"{online} online, all may be used")


def quota(machine: Machine) -> Check:
    """The control group's limit of CPU time."""
    subject_name = "CPU quota"
    quota = find_quota(machine)
    if quota is None:
        return Check(
            subject_name,
            "lacks",
            "no cgroup file system with a CPU controller is mounted",
            "a quota, if there is one, is not seen: CPUs are counted that the program may not use",
            "mount it at /sys/fs/cgroup",
        )
    if quota.cpus is None:
        return Check(subject_name, "ok", f"none (cgroup version {quota.version})")
    throttled = ""
    if quota.throttled is not None and quota.periods:
        throttled = f"; so far throttled in {quota.throttled:,} of {quota.periods:,} periods"
    online = machine.affinity or count_of(machine.read("/sys/devices/system/cpu/online") or "") or 1
    text = f"{quota.cpus:g} CPUs by {quota.directory} (cgroup version {quota.version}){throttled}"
    if quota.cpus >= online:
        return Check(subject_name, "info", text)
    return Check(
        subject_name,
        "info",
        text,
        f"a runtime that starts {online} threads has them stopped when {quota.cpus:g} CPUs' time is spent",
        f"OMP_NUM_THREADS={max(int(quota.cpus), 1)}, or raise the quota",
    )


def smt(machine: Machine) -> Check:
    """Hardware threads that share a core."""
    siblings = machine.glob("/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list")
    most_siblings = max((count_of(machine.read(name) or "") for name in siblings), default=0)
    if most_siblings == 0:
        return Check("hardware threads", "info", "/sys does not tell")
    if most_siblings == 1:
        return Check("hardware threads", "ok", "one a core")
    return Check(
        "hardware threads",
        "info",
        f"{most_siblings} a core: lanes on the same core slow each other down, which looks like work",
        "a program bound by arithmetic gains little from more threads than cores",
        "compare with OMP_PLACES=cores OMP_NUM_THREADS=<number of cores>",
    )


def cores(machine: Machine) -> Check:
    """Whether cores are of different speed."""
    kinds: Counter[str] = Counter()
    for name in ("cpu_core", "cpu_atom", "cpu_lowpower"):
        if text := machine.read(f"/sys/devices/{name}/cpus"):
            kinds[{"cpu_core": "fast", "cpu_atom": "efficient"}.get(name, "low-power")] = count_of(text)
    if not kinds:
        for name in machine.glob("/sys/devices/system/cpu/cpu[0-9]*/cpu_capacity"):
            kinds[f"of capacity {machine.read(name)}"] += 1
    if len(kinds) < 2:
        return Check("kinds of cores", "ok", "one")
    models = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return Check(
        "kinds of cores",
        "info",
        models,
        "with schedule(static) the fast ones wait for the others at the end of every loop",
        "schedule(dynamic) or guided; or bind to one kind with taskset or OMP_PLACES",
    )


def numa(machine: Machine) -> Check:
    """Memory nodes."""
    nodes = [
        name
        for name in machine.glob("/sys/devices/system/node/node[0-9]*")
        if machine.read(f"{name}/cpulist")
    ]
    if len(nodes) < 2:
        return Check("memory nodes", "ok", "one")
    return Check(
        "memory nodes",
        "info",
        f"{len(nodes)} with CPUs",
        "memory that one thread first wrote is slow for lanes of other nodes",
        "first touch in a parallel loop with the schedule of the later ones; OMP_PROC_BIND=spread",
    )


def clock(machine: Machine) -> Check:
    """What stamps the events."""
    info = machine.read("/proc/cpuinfo") or ""
    folder = "/sys/devices/system/clocksource/clocksource0"
    available = (machine.read(f"{folder}/available_clocksource") or "").split()
    if "arch_sys_counter" in available:
        return Check("clock", "ok", "the system counter of ARM")
    flags = set((re.search(r"^flags\s*:(.*)$", info, re.MULTILINE) or ["", ""])[1].split())
    remedy = (
        "see the kernel's log for why it gave the time stamp counter up; virtual machines: give them invtsc"
    )
    if {"constant_tsc", "nonstop_tsc"} <= flags and "tsc" in available:
        return Check("clock", "ok", "invariant time stamp counter, about 10 ns a reading")
    current = machine.read(f"{folder}/current_clocksource") or "unknown"
    reason = (
        "the kernel does not trust the time stamp counter"
        if "tsc" not in available
        else "it is not invariant"
    )
    speed = "about 25 ns" if current in ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page") else "up to 1 us"
    return Check(
        "clock",
        "lacks",
        f"CLOCK_MONOTONIC on {current}: {reason}",
        f"{speed} a reading: Trimtab's own cost grows, and so does that of a program that asks for the time",
        remedy,
    )


def place(machine: Machine) -> Check:
    """Container and virtual machine: others may share what the report takes for the program's own."""
    checks = []
    groups = (machine.read("/proc/1/cgroup") or "") + (machine.read("/proc/self/cgroup") or "")
    signs = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container", "/run/secrets/kubernetes.io")
    if re.search(_CONTAINER_GROUPS, groups) or any(machine.path(sign).exists() for sign in signs):
        checks.append("container")
    if re.search(r"^flags\s*:.*\bhypervisor\b", machine.read("/proc/cpuinfo") or "", re.MULTILINE):
        checks.append("virtual machine")
    if not checks:
        return Check("surroundings", "ok", "bare machine")
    return Check(
        "surroundings",
        "info",
        " in a ".join(checks),
        "others use the same processors, unseen from here; reports have the counter `cpu stolen`",
        "repeat measurements, and compare with `trimtab compare`",
    )

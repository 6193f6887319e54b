"""The kernel's sources of figures: which of them this user may read here."""

from __future__ import annotations

from trimtab.doctor.check import Check
from trimtab.machine_files import Machine


def checks(machine: Machine) -> list[Check]:
    """All of them."""
    return [
        run_delay(machine),
        context_switches(machine),
        hardware_counters(machine),
        migrations(machine),
        pressure(machine),
        energy(machine),
    ]


def run_delay(machine: Machine) -> Check:
    """Time on a CPU and in the queue for one, of each thread."""
    text = machine.read("/proc/self/schedstat")
    if text is not None and len(text.split()) == 3:
        return Check("run delay", "ok", "/proc/self/schedstat")
    return Check(
        "run delay",
        "lacks",
        "/proc/self/schedstat cannot be read",
        "time that lanes wait for a CPU counts as work or waiting",
        "mount /proc, on a kernel with CONFIG_SCHED_INFO",
    )


def context_switches(machine: Machine) -> Check:
    """Preemptions and their CPUs, from perf_event_open without privilege."""
    subject_name = "context switches"
    costs = "no preemptions, and not which CPU a lane ran on"
    text = machine.read("/proc/sys/kernel/perf_event_paranoid")
    if text is None:
        return Check(
            subject_name,
            "lacks",
            "the kernel has no perf events",
            costs,
            "use a kernel with CONFIG_PERF_EVENTS",
        )
    try:
        level = int(text)
    except ValueError:
        return Check(
            subject_name,
            "lacks",
            f"kernel.perf_event_paranoid: expected a number, found {text!r}",
            costs,
            "set it to 2",
        )
    if level <= 2:
        return Check(subject_name, "ok", f"kernel.perf_event_paranoid is {level}")
    return Check(
        subject_name,
        "lacks",
        f"kernel.perf_event_paranoid is {level}: only root may see them",
        costs,
        "sudo sysctl kernel.perf_event_paranoid=2",
    )


def hardware_counters(machine: Machine) -> Check:
    """Cycles, instructions, cache misses."""
    subject_name = "hardware counters"
    units = [
        name.rsplit("/", 1)[1]
        for pattern in ("cpu", "cpu_core", "cpu_atom", "armv*_pmuv3*", "armv*_cortex*")
        for name in machine.glob(f"/sys/bus/event_source/devices/{pattern}")
    ]
    if units:
        return Check(subject_name, "ok", f"{', '.join(units)}; recorded with --with +hwcounters")
    return Check(
        subject_name,
        "lacks",
        "the kernel knows no counting unit of the processor",
        "no cycles, instructions and cache misses (--with +hwcounters)",
        "run on the bare machine, or give the virtual machine the unit (QEMU: -cpu host,pmu=on)",
    )


def migrations(machine: Machine) -> Check:
    """Changes of CPU."""
    if machine.read("/proc/self/sched") is not None:
        return Check("migrations", "ok", "/proc/self/sched")
    return Check(
        "migrations",
        "lacks",
        "there is no /proc/self/sched",
        "not how often lanes changed their CPU",
        "use a kernel with CONFIG_SCHED_DEBUG",
    )


def pressure(machine: Machine) -> Check:
    """Pressure stall information."""
    if machine.read("/proc/pressure/cpu") is not None:
        return Check("pressure", "ok", "/proc/pressure")
    is_disabled = machine.path("/proc/pressure/cpu").exists()
    return Check(
        "pressure",
        "lacks",
        "/proc/pressure is switched off" if is_disabled else "the kernel has no /proc/pressure",
        "not how long work was held up for CPU, memory or I/O",
        "boot with psi=1" if is_disabled else "use a kernel with CONFIG_PSI, from 4.20 on",
    )


def energy(machine: Machine) -> Check:
    """Power meters of packages and memory."""
    meters = machine.glob("/sys/class/powercap/intel-rapl:*/energy_uj")
    costs = "no energy in reports"
    if not meters:
        return Check(
            "energy",
            "lacks",
            "there is no power meter in /sys/class/powercap",
            costs,
            "run on the bare machine, with the module intel_rapl_msr",
        )
    if any(machine.is_refused(meter) for meter in meters):
        return Check(
            "energy",
            "lacks",
            "only root may read /sys/class/powercap/*/energy_uj",
            costs,
            "sudo chmod a+r /sys/class/powercap/*/energy_uj",
        )
    names = [machine.read(f"{meter.rsplit('/', 1)[0]}/name") or "?" for meter in meters]
    return Check("energy", "ok", ", ".join(names))

"""Figures that a run directory tells of a run, by names that begin with `observed_`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trimtab.analysis import build
from trimtab.experiments.output import Figures
from trimtab.experiments.spec import OBSERVED, Observe
from trimtab.model import RunError
from trimtab.model.report import CounterSeries, Kernel
from trimtab.model.report_json import as_json
from trimtab.readers import open_run
from trimtab.running import recording_command

# How the sources of counters begin that count the machine, or a control group, and not one process.
_OF_THE_MACHINE = ("/proc/stat", "/proc/meminfo", "/proc/pressure", "/sys/", "cpu.stat")


def command(observe_options: Observe, directory: Path, argv: Sequence[str]) -> list[str]:
    """What runs argv under observation, with its run in `directory`."""
    # A measurement is of the program as it is written, whatever the user's history knows of it.
    options = ["--tune=off", *(["--trace"] if observe_options.is_trace else [])]
    options += ["--kernel"] if observe_options.has_kernel else []
    if observe_options.probes is not None:
        options += ["--with", observe_options.probes]
    return recording_command(directory, options, argv)


def figures_of(directory: Path, needs_kernel: bool = False) -> Figures:
    """Times, shares, what the operating system did, counters (totals at the end; of levels, the mean).

    Raises:
        RunError: there is no run in it, or `needs_kernel` and the run has no events of the scheduler.
    """
    recorded = open_run(directory)
    ended = recorded.info.get("ended")
    if not ended:
        raise RunError(f"{directory / 'run.json'}: key 'ended': expected how the run ended, found nothing")
    report = build(recorded)
    usage = ended["rusage"]
    figures: Figures = {
        "wall_s": (ended["wall_s"], "s"),
        "user_s": (usage["user_s"], "s"),
        "system_s": (usage["system_s"], "s"),
    }
    _add(figures, "efficiency", report.efficiency)
    _add(figures, "own_share", report.overhead.share)
    for name, share in (report.time or {}).items():
        _add(figures, f"share_{name}", share)
    for name, value in as_json(report.os).items():
        if name == "max_rss_kb":  # the sweep measures it itself
            continue
        _add(figures, name, value, "s" if name.endswith("_s") else "")
    if needs_kernel and report.kernel is None:
        raise RunError(
            f"{directory}: expected events of the operating system's scheduler, found none: `kernel = true` needs root, or "
            "CAP_PERFMON and a tracefs that this user can read"
        )
    _add_kernel(figures, report.kernel)
    _add(figures, "regions", sum(region.calls for region in report.regions))
    for series in _by_name(report.counters).values():
        name = re.sub(r"[^A-Za-z0-9]+", "_", series[0].name).strip("_")
        _add(figures, f"counter_{name}", _value_of(series), series[0].unit)
    return figures


def _add_kernel(figures: Figures, kernel: Kernel | None) -> None:
    """Parallel cost, cost of switching and switches: of the program (`kernel_...`), and of everything (`kernel_all_...`)."""
    if kernel is None:
        return
    _add(figures, "kernel_running_s", kernel.running_s, "s")
    _add(figures, "kernel_waiting_s", kernel.waiting_s, "s")
    _add(figures, "kernel_switches", kernel.switches)
    _add(figures, "kernel_all_waiting_s", sum(program.waiting_s for program in kernel.programs), "s")
    _add(figures, "kernel_all_switches", sum(program.switches for program in kernel.programs))
    _add(figures, "kernel_lost", kernel.lost)


def _by_name(counters: Sequence[CounterSeries]) -> dict[str, list[CounterSeries]]:
    by_name: dict[str, list[CounterSeries]] = {}
    for counter in counters:
        by_name.setdefault(counter.name, []).append(counter)
    return by_name


def _value_of(series: Sequence[CounterSeries]) -> float:
    """Of one counter in all processes: of totals the sum, of levels the mean.

    Totals of the whole machine are seen by each process: of those that of the process which saw most.
    """
    levels = [value for one_series in series for value in one_series.values]
    if not series[0].is_cumulative:
        return float(sum(levels)) / len(levels)
    totals = [float(one_series.values[-1]) for one_series in series]
    return max(totals) if series[0].source.startswith(_OF_THE_MACHINE) else sum(totals)


def _add(figures: Figures, name: str, value: Any, unit: str = "") -> None:
    """What is not available stays out: it is not zero."""
    if value is not None:
        figures[OBSERVED + name] = (float(value), unit)

"""Results of the study of ARCS as tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.arcs import OFFLINE, ONE, ONLINE, TUNER, WRITTEN, PowerModel
from benchmarks.spread import ratios, spread
from benchmarks.tables import Results, machine, markdown

_LEVELS_W = (55, 70, 85, 100, 115)


def programs(results: Results) -> str:
    """Whole runs: each way, as a ratio of the program as written in the same round."""
    rows = [
        [
            case["title"],
            f"{median(case['wall_s'][WRITTEN]):.3f}",
            *(
                _interval(ratios(case["wall_s"][level], case["wall_s"][WRITTEN]))
                for level in (ONE, OFFLINE, ONLINE, TUNER)
            ),
        ]
        for case in results["cases"]
    ]
    return markdown(["program", "as written, s", ONE, OFFLINE, ONLINE, TUNER], rows)


def _interval(values: Sequence[float]) -> str:
    found = spread(values)
    return f"{found.median:.2f} ({found.low:.2f} to {found.high:.2f})"


def regions(results: Results) -> str:
    """Each region: its best setting, its time, and how much of it threads wait at its end, before and after."""
    rows = [
        [
            region["name"],
            ", ".join(f"{knob} {value}" for knob, value in region["best"].items()) or "as written",
            *(f"{1e6 * region['call_s'][level]:.4g}" for level in (WRITTEN, OFFLINE, TUNER)),
            *(f"{1e6 * region['wait_s'][level]:.4g}" for level in (WRITTEN, OFFLINE, TUNER)),
        ]
        for case in results["cases"]
        for region in case["regions"]
    ]
    times = [f"{what}, {level}" for what in ("us", "wait, us") for level in (WRITTEN, OFFLINE, TUNER)]
    return markdown(["region", "best of ARCS-offline", *times], rows)


def power(results: Results) -> str:
    """By the model of power levels: with how many threads a call, as written, takes less time, and with how many less energy."""
    model, cpus = PowerModel(), _cpus(results)
    rows = []
    for case in results["cases"]:
        for region in case["regions"]:
            cells = []
            for level in _LEVELS_W:
                one = model.energy_j(level, 1, region["call_s"][ONE])
                every = model.energy_j(level, cpus, region["call_s"][WRITTEN])
                cells.append(f"{_fewer(one[0], every[0], cpus)}, {_fewer(one[1], every[1], cpus)}")
            rows.append([region["name"], *cells])
    return markdown(["region", *(f"{level} W" for level in _LEVELS_W)], rows)


def energies(results: Results) -> str:
    """By the model: time and energy of all regions, as written and with the best settings, by power level."""
    model, cpus = PowerModel(), _cpus(results)
    rows = []
    for case in results["cases"]:
        for level in _LEVELS_W:
            written = _total(case, WRITTEN, model, level, cpus)
            best = _total(case, OFFLINE, model, level, cpus)
            rows.append(
                [
                    case["title"],
                    str(level),
                    f"{written[0]:.3f}",
                    f"{written[1]:.1f}",
                    f"{best[0] / written[0]:.2f}",
                    f"{best[1] / written[1]:.2f}",
                ]
            )
    return markdown(
        ["program", "W", "time as written, s", "energy, J", "best / written: time", "energy"], rows
    )


def _total(
    case: dict[str, Any], level: str, model: PowerModel, level_w: float, cpus: int
) -> tuple[float, float]:
    both = [
        model.energy_j(level_w, _threads(region, level, cpus), region["call_s"][level] * region["calls"])
        for region in case["regions"]
    ]
    return sum(seconds for seconds, _ in both), sum(joules for _, joules in both)


def _threads(region: dict[str, Any], level: str, cpus: int) -> int:
    return int(region["best"].get("threads", cpus)) if level == OFFLINE else cpus


def _fewer(one: float, every: float, cpus: int) -> str:
    return "1" if one < every else str(cpus)


def _cpus(results: Results) -> int:
    return int(results["machine"].get("cpus", os.cpu_count() or 1))


def arcs_run(results: Results) -> str:
    """How it was run."""
    return f"{machine(results)}\n- {len(results['cases'][0]['wall_s'][WRITTEN])} rounds"


ARCS_BLOCKS = {
    "arcs-run": arcs_run,
    "arcs-programs": programs,
    "arcs-regions": regions,
    "arcs-power": power,
    "arcs-energy": energies,
}

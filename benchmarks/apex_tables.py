"""Results of the study of APEX as published, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.apex import CPU_W, IDLE_W, WORD
from benchmarks.tables import Results, machine, markdown

# Of the policy, seconds: docs/guide/tasks-tuning.md.
_PERIOD_S = 0.3


def apex_run(results: Results) -> str:
    """How it was run."""
    rounds = len(results["cases"][0]["runs"])
    return f"{machine(results)}\n- {rounds} rounds"


def limits(results: Results) -> str:
    """Where the cap settles, and how soon."""
    rows = []
    for case in results["cases"]:
        best = best_cap(case["watts"], case["cpus"], case["runs"][0]["caps"][0][1])
        settled = [settled_after(run["caps"], best) for run in case["runs"]]
        rows.append(
            [
                str(case["watts"]),
                str(best),
                " / ".join(str(run["caps"][-1][1]) for run in case["runs"]),
                " / ".join("never" if at is None else f"{at / _PERIOD_S:.0f}" for at in settled),
                f"{median(first_power(run) for run in case['runs']):.1f}",
                f"{median(last_power(run) for run in case['runs']):.1f}",
            ]
        )
    return markdown(
        [
            "limit, W",
            "best cap",
            "cap at the end, by round",
            "periods until it stays",
            "W at first",
            "W in the last half",
        ],
        rows,
    )


def best_cap(watts: float, cpus: int, workers: int) -> int:
    """As many workers as the model of power has room for; all, if that is as many as there are CPUs."""
    room = int((watts - IDLE_W) // CPU_W)
    return workers if room >= cpus else max(1, room)


def settled_after(caps: Sequence[Sequence[float]], best: int) -> float | None:
    """Seconds until the cap stays within one worker of `best`; None: it does not."""
    outside = [at for at, (_, cap) in enumerate(caps) if abs(cap - best) > 1]
    if not outside:
        return 0.0
    after = outside[-1] + 1
    return caps[after][0] if after < len(caps) else None


def first_power(run: dict[str, Any]) -> float:
    """Watts in the first step."""
    return float(run["power"][0][1])


def last_power(run: dict[str, Any]) -> float:
    """Watts in the last half of the run, the mean."""
    later: list[float] = [watts for at, watts in run["power"] if at >= run["seconds"] / 2]
    return sum(later) / len(later)


def apex_figures(_: Results) -> str:
    """Concurrency with the cap, and power with the limit."""
    return (
        f"![Workers and their cap over time](figures/{WORD}-workers.png)\n\n"
        f"![Power and its limit over time](figures/{WORD}-power.png)"
    )


APEX_BLOCKS = {
    "apex-run": apex_run,
    "apex-limits": limits,
    "apex-figures": apex_figures,
}

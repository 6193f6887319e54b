"""The task runtime's results as tables: what was promised, beside what peers need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.spread import Spread, judge, ratios, spread
from benchmarks.tables import Results, machine, markdown
from benchmarks.task_suite import COROUTINES, NAMES, OURS, RECORDED

# Of kilobytes and the like, into the unit of the case.
_SCALE = {"MB": 1 / 1024}


@dataclass(frozen=True)
class Target:
    """What is promised of one figure; `least`: the more the better."""

    what: str
    bar: float
    aim: float
    unit: str
    values: Callable[[Results], Sequence[float] | None]
    least: bool = False


def _case(results: Results, name: str, workers: int) -> dict[str, Any] | None:
    result = (case for case in results["cases"] if (case["name"], case["workers"]) == (name, workers))
    return next(result, None)


def figures_of(case: dict[str, Any], system: str) -> list[float] | None:
    """What is compared, one a round; None where the system is not available."""
    result = case["systems"].get(system)
    scale = _SCALE.get(case["unit"], 1.0)
    return [entry * scale for entry in result[case["figure"]]] if result else None


def _ours(name: str, workers: int, system: str = OURS) -> Callable[[Results], Sequence[float] | None]:
    def values(results: Results) -> Sequence[float] | None:
        case = _case(results, name, workers)
        return figures_of(case, system) if case else None

    return values


def speed_up(results: Results, system: str = OURS) -> Sequence[float] | None:
    """Of fork-join, with the second worker."""
    alone, shared = (_case(results, "fork_join", workers) for workers in (1, 2))
    if alone is None or shared is None:
        return None
    before, after = figures_of(alone, system), figures_of(shared, system)
    return ratios(before, after) if before and after else None


def _recording(results: Results) -> Sequence[float] | None:
    """What recording at profile level adds, of the same round."""
    case = _case(results, "fork_join", 1)
    before, after = (figures_of(case, entry) if case else None for entry in (OURS, RECORDED))
    return (
        [recorded - bare for bare, recorded in zip(before, after, strict=True)] if before and after else None
    )


def _beside_openmp(results: Results) -> Sequence[float] | None:
    """Time over that of the quicker of the OpenMP loops of the same round."""
    case = _case(results, "ring", 2)
    if case is None:
        return None
    own_figures = figures_of(case, OURS)
    loops = [result for entry in ("libgomp", "libomp") if (result := figures_of(case, entry))]
    return (
        ratios(own_figures, [min(entry) for entry in zip(*loops, strict=True)])
        if own_figures and loops
        else None
    )


TARGETS = (
    Target("fork-join through `invoke`, 1 worker", 20, 10, "ns/task", _ours("fork_join", 1)),
    Target("the same through `async` and `get`", 60, 40, "ns/task", _ours("futures", 1)),
    Target("the same through coroutines (clang 19)", 30, 20, "ns/task", _ours("coroutines", 1, COROUTINES)),
    Target(
        "fork-join through `invoke`, recorded at profile level, more a task", 10, 5, "ns/task", _recording
    ),
    Target("flat: 1 M empty tasks from one producer, 1 worker", 25, 12, "ns/task", _ours("flat", 1)),
    Target("flat: the same, 2 workers", 40, 20, "ns/task", _ours("flat", 2)),
    Target("speed-up of fib with the second worker", 1.9, 1.97, "", speed_up, least=True),
    Target("METG(50 %) of a stencil of futures, width 2", 3, 1, "us", _ours("stencil", 2)),
    Target(
        "suspended: 1 M tasks that wait at once, memory", 1000, 300, "MB", _ours("suspended", 1, COROUTINES)
    ),
    Target("fork-join skynet, 11 M tasks, memory", 30, 15, "MB", _ours("skynet", 2)),
    Target("heat ring (1D) at its best grain / OpenMP loop", 1.0, 0.95, "", _beside_openmp),
)


def verdict(result: Spread, target: Target) -> str:
    """Against the bar; and whether the aim is reached, too."""
    if target.least:
        result = Spread(result.count, -result.median, 0.0, 0.0, -result.high, -result.low)
    sign = -1 if target.least else 1
    about_bar = judge(result, sign * target.bar)
    return "met, and the aim" if judge(result, sign * target.aim) == "met" else about_bar


def task_targets(results: Results) -> str:
    """The table of what was promised."""
    rows = []
    for target in TARGETS:
        values = target.values(results)
        kind = "at least" if target.least else "at most"
        unit = f" {target.unit}" if target.unit else ""
        row = [target.what, f"{kind} {target.bar:g}{unit}", f"{target.aim:g}{unit}"]
        if values is None:
            rows.append([*row, "not available", ""])
            continue
        result = spread(values)
        rows.append(
            [
                *row,
                f"{short(result.median)}{unit} ({short(result.low)} to {short(result.high)})",
                verdict(result, target),
            ]
        )
    return markdown(["what", "bar", "aim", "found (95 % interval)", "verdict"], rows)


def task_peers(results: Results) -> str:
    """Every case, every system."""
    rows = []
    for case in results["cases"]:
        own_figures = figures_of(case, OURS)
        for system in [*case["systems"], *case["not_available"]]:
            values = figures_of(case, system)
            head = [case["title"], str(case["workers"]), NAMES[system]]
            if values is None:
                rows.append([*head, "not available", "", ""])
                continue
            result = spread(values)
            row = [*head, f"{short(result.median)} ± {short(result.iqr / 2)} {case['unit']}"]
            if system == OURS or own_figures is None:
                rows.append([*row, "", ""])
                continue
            ratio = spread(ratios(values, own_figures))
            word = "slower" if ratio.low > 1 else "quicker" if ratio.high < 1 else "open"
            if case["unit"] == "MB":
                word = {"slower": "more", "quicker": "less"}.get(word, word)
            rows.append([*row, f"{short(ratio.median)} ({short(ratio.low)} to {short(ratio.high)})", word])
    return markdown(["what", "workers", "system", "median", "ratio to Trimtab's", "verdict"], rows)


def task_stencil(results: Results) -> str:
    """How much of the peak is reached with tasks of a length; and what the shortest cost."""
    case = _case(results, "stencil", 2) or next(
        one_case for one_case in results["cases"] if one_case["name"] == "stencil"
    )
    rows = []
    for system, result in case["systems"].items():
        shortest = spread(result["task_us"])
        length = spread(result["metg"])
        rows.append([NAMES[system], f"{short(length.median)} us", f"{short(shortest.median)} us"])
    return markdown(["stencil", "METG(50 %)", "tasks that compute nearly nothing"], rows)


def short(value: float) -> str:
    """Three digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


TASK_BLOCKS: dict[str, Callable[[Results], str]] = {
    "machine": machine,
    "targets": task_targets,
    "peers": task_peers,
    "stencil": task_stencil,
}

"""The study of Spark: where core time goes, what slow opens cost with and without pooled files, and iterations with little memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from trimtab.experiments import ExperimentError, configurations, key_of, load
from trimtab.figures import Figure, Line, Panel, Point, draw

from benchmarks.machine import describe
from benchmarks.running import BenchError
from benchmarks.spark_pooled import missing
from benchmarks.spark_runs import BOTH, IDLE, LEVELS, POOLED, SHOWN, STOCK
from benchmarks.studies import SHORT, folder_of_sweep, swept_whole, telling

WORD = "study-spark"
SHUFFLES, MEMORY = "spark.toml", "spark_memory.toml"
# The first program of an application compiles what all of them need, so its figures say little about itself.
WARM_UP = "exchange"
_FIGURES = ("time", "opens", "iterations", "blocks")
Case = dict[str, Any]


def run_spark_study(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """All figures of all runs of both experiments.

    Raises:
        BenchError: Spark cannot be run here, or a run failed.
    """
    if reason := missing():
        raise BenchError(f"{WORD}: {reason}")
    machine = describe()
    results: dict[str, Any] = {"machine": machine, "samples": 0, "runs": 0, "quiet": 0.0, "cases": []}
    for file in (SHUFFLES, MEMORY):
        try:
            experiment = load(root / "docs" / "experiments" / file, variant=SHORT if is_smoke else None)
            folder = folder_of_sweep(
                programs.parent, f"{WORD}-{Path(file).stem}", str(machine["commit"]), is_smoke
            )
            swept = swept_whole(experiment, folder, is_smoke, rounds, telling(WORD, report_progress), WORD)
        except ExperimentError as error:
            raise BenchError(str(error)) from error
        results["quiet"] = swept.experiment.disturbed_above
        results["samples"] = swept.experiment.samples
        results["runs"] += len(swept.runs)
        for configuration in configurations(swept.experiment):
            runs = [run for run in swept.runs if key_of(run.configuration) == key_of(configuration)]
            attempts = [run for run in swept.records if key_of(run.configuration) == key_of(configuration)]
            results["cases"].append(
                {
                    "file": file,
                    "configuration": configuration,
                    "others_share": [round((run.others or 0) + (run.steal or 0), 4) for run in runs],
                    "run_again": sum(run.attempt > 0 for run in attempts),
                    "metrics": {
                        name: [float(f"{run.metrics[name]:.6g}") for run in runs if name in run.metrics]
                        for name in runs[0].metrics
                    },
                }
            )
    return results


def case_of(results: dict[str, Any], file: str, **configuration: Any) -> Case | None:
    """The case with these values; None: it was not run."""
    return next(
        (
            case
            for case in results["cases"]
            if case["file"] == file
            and all(case["configuration"][name] == value for name, value in configuration.items())
        ),
        None,
    )


def figure_of(case: Case, name: str) -> float:
    """The median; 0 where it is not in the results, because nothing was counted."""
    return float(median(case["metrics"].get(name) or [0.0]))


def programs_of(results: dict[str, Any]) -> list[str]:
    """In the order in which they ran, without the first one."""
    names = (
        name.partition(".")[0]
        for case in results["cases"]
        if case["file"] == SHUFFLES
        for name in case["metrics"]
        if name.endswith(".seconds")
    )
    return [name for name in dict.fromkeys(names) if name != WARM_UP]


def values_of(results: dict[str, Any], file: str, factor: str) -> list[Any]:
    """In the experiment's order."""
    return list(
        dict.fromkeys(case["configuration"][factor] for case in results["cases"] if case["file"] == file)
    )


def iterations_of(case: Case) -> list[int]:
    """Numbers of its iterations."""
    names = (name for name in case["metrics"] if name.startswith("iteration") and name.endswith(".seconds"))
    return sorted(int(name.removeprefix("iteration").partition(".")[0]) for name in names)


def draw_spark(results: dict[str, Any], folder: Path) -> None:
    """All figures of the page."""
    folder.mkdir(exist_ok=True)
    for figure in (_time(results), _opens(results), *_iterations(results)):
        (folder / f"{figure.name}.svg").write_bytes(draw(figure)[0])


def figure_names() -> list[str]:
    """Of all files that `draw_spark` writes, without their ends."""
    return [f"{WORD}-{name}" for name in _FIGURES]


def _figure(
    name: str, title: str, x: str, y: str, legend: str, panels: Sequence[Panel], **logs: bool
) -> Figure:
    return Figure(
        f"{WORD}-{name}",
        title,
        x,
        y,
        legend,
        logs.get("log_x", False),
        logs.get("log_y", False),
        False,
        tuple(panels),
    )


def _time(results: dict[str, Any]) -> Figure:
    """Core time by part over the number of executors."""
    executors = values_of(results, SHUFFLES, "executors")
    panels = []
    for program in programs_of(results):
        lines = []
        for part in (*SHOWN, IDLE):
            points = []
            for count in executors:
                case = case_of(results, SHUFFLES, executors=count, delay_us=0, setting=STOCK)
                if case is not None:
                    points.append(_point(count, figure_of(case, f"{program}.time.{part}")))
            lines.append(Line(part, tuple(points)))
        panels.append(Panel(program, tuple(lines)))
    return _figure("time", "Core time by number of executors", "executors", "core time (s)", "part", panels)


def _opens(results: dict[str, Any]) -> Figure:
    """Share of opens that took no longer than a time."""
    panels = []
    for kind in ("read", "write"):
        lines = []
        for delay in values_of(results, SHUFFLES, "delay_us"):
            for setting in (STOCK, POOLED, BOTH):
                case = case_of(results, SHUFFLES, executors=2, delay_us=delay, setting=setting)
                if case is not None:
                    lines.append(Line(f"{delay / 1000:g} ms, {setting}", distribution(case, kind)))
        panels.append(Panel(f"shuffle {kind}", tuple(lines)))
    return _figure(
        "opens",
        "How long opens of shuffle files take",
        "no longer than (us)",
        "share of opens",
        "added to each open",
        panels,
        log_x=True,
    )


def distribution(case: Case, kind: str) -> tuple[Point, ...]:
    """Of the opens by bit width of their nanoseconds: at the upper end of each width, the share up to there."""
    prefix = f"opens.{kind}.width"
    counts = {
        int(name.removeprefix(prefix)): figure_of(case, name)
        for name in case["metrics"]
        if name.startswith(prefix)
    }
    total, so_far, points = sum(counts.values()), 0.0, []
    for width in sorted(counts):
        so_far += counts[width]
        points.append(_point(2.0**width * 1e-3, so_far / total))
    return tuple(points)


def _iterations(results: dict[str, Any]) -> list[Figure]:
    """Time and blocks of each iteration."""
    figures = []
    for name, key, title, y in (
        ("iterations", "seconds", "PageRank with little memory: time of each iteration", "iteration (s)"),
        ("blocks", "blocks", "PageRank: shuffle blocks that the stages of an iteration read", "blocks"),
    ):
        panels = []
        for memory in values_of(results, MEMORY, "memory"):
            lines = []
            for setting in LEVELS:
                case = case_of(results, MEMORY, memory=memory, setting=setting)
                if case is not None:
                    points = tuple(
                        _point(at, figure_of(case, f"iteration{at}.{key}")) for at in iterations_of(case)
                    )
                    lines.append(Line(setting, points))
            panels.append(Panel(f"{memory} MB", tuple(lines)))
        figures.append(_figure(name, title, "iteration", y, "links", panels))
    return figures


def _point(x: float, y: float) -> Point:
    return Point(x, y, y, y)

"""The studies in docs/experiments, whole or in a variant that is shorter: what their pages are made of."""

from __future__ import annotations

import functools
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trimtab.experiments import (
    Experiment,
    ExperimentError,
    Options,
    Progress,
    Record,
    Summary,
    Swept,
    configurations,
    json_of,
    key_of,
    load,
    summarised,
    sweep,
    write_outputs,
)

from benchmarks.machine import describe
from benchmarks.running import BenchError, make

# Of each file: what only shows that it works begins with it.
SHORT = "short"
_TOLD_EACH_S = 30.0


@dataclass(frozen=True)
class Study:
    """An experiment file with a page in docs/studies.

    Attributes:
        word: what `--only` calls it, and what the names of its figures begin with.
        page: the name of its page.
        variant: what the page is made of; the whole file where there is none.
        smoke: other values of the short variant, for a run that only shows that it works.
        violins: which of its violin figures the page shows.
    """

    word: str
    page: str
    file: str
    variant: str | None
    smoke: dict[str, Any]
    violins: tuple[str, ...] = ()


GRAIN_SIZE = Study(
    "study-grain-size",
    "grain-size.md",
    "grain_size.toml",
    SHORT,
    {"points": 20_000, "steps": 5, "workers": 2},
)
COALESCING = Study(
    "study-coalescing", "coalescing.md", "coalescing.toml", None, {"count": 1, "transport": "shm"}
)
SCHEDULING = Study(
    "study-scheduling",
    "kernel.md",
    "scheduling.toml",
    SHORT,
    {"application": "hotspot3d", "schedule": "static"},
    ("experiment-sph-static-all-free", "experiment-mandelbrot-guided-all-free"),
)
THREADS = Study(
    "study-threads",
    "threads.md",
    "threads_that_fit.toml",
    None,
    {"seconds": 0.2, "grain": 2_000, "wait": "PASSIVE", "threads": ["one", "fit"], "copies": [1, 4]},
)


def run_study(
    study: Study,
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """The results of the study. One that was stopped goes on; so does one of this commit that is to have more samples.

    Raises:
        BenchError: the study cannot be run, or a run failed.
    """
    make(root, "workloads", root / "build" / "workloads")
    # Of the moment when it begins: others may commit meanwhile.
    machine = describe()
    try:
        experiment = load(
            root / "docs" / "experiments" / study.file,
            study.smoke if is_smoke else {},
            variant=SHORT if is_smoke else study.variant,
        )
        folder = folder_of_sweep(programs.parent, study.word, str(machine["commit"]), is_smoke)
        swept = swept_whole(
            experiment, folder, is_smoke, rounds, telling(study.word, report_progress), study.word
        )
    except ExperimentError as error:
        raise BenchError(str(error)) from error
    summary = summarised(swept)
    written = write_outputs(swept, summary)
    report_progress(f"{study.word}: {written.page}")
    drawn = {path.stem for path in written.figures}
    return results_of(study, machine, swept, summary, drawn)


def swept_whole(
    experiment: Experiment,
    folder: Path,
    is_smoke: bool,
    rounds: int,
    reported: Callable[[Progress], None],
    place: str,
) -> Swept:
    """All runs of the experiment; `place`: what errors begin with.

    Raises:
        ExperimentError: it cannot be run.
        BenchError: a run failed.
    """
    experiment = replace(
        experiment,
        samples=rounds or experiment.samples,
        # Who only wants to see that it works does not wait for a quiet machine.
        disturbed_above=1.0 if is_smoke else experiment.disturbed_above,
    )
    if is_smoke:
        shutil.rmtree(folder, ignore_errors=True)
    swept = sweep(experiment, folder, Options(), reported)
    if swept.failed:
        first = swept.failed[0]
        raise BenchError(f"{place}: {' '.join(first.command)}: {first.failure} {' '.join(first.stderr)}")
    return swept


def folder_of_sweep(out: Path, word: str, commit: str, is_smoke: bool = False) -> Path:
    """Where the sweep of a commit is: results of other code are not gone on with."""
    return out / f"{word}-{commit}{'-smoke' if is_smoke else ''}"


def runner(study: Study) -> Callable[..., dict[str, Any]]:
    """`run_study` of this one."""
    return functools.partial(run_study, study)


def telling(word: str, report_progress: Callable[[str], None]) -> Callable[[Progress], None]:
    """Progress of a sweep as lines, not too many of them."""
    last = time.monotonic() - _TOLD_EACH_S

    def told(at: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= _TOLD_EACH_S or at.done == at.total:
            last = time.monotonic()
            report_progress(f"{word}: run {at.done} of {at.total}, {at.left_s / 60:.1f} minutes left")

    return told


def results_of(
    study: Study, machine: dict[str, object], swept: Swept, summary: Summary, drawn: set[str]
) -> dict[str, Any]:
    """What tables and page are made of, for JSON."""
    experiment = swept.experiment
    named = {metric.name for metric in experiment.metrics.values()}
    records: dict[str, list[Record]] = {
        key_of(configuration): [] for configuration in configurations(experiment)
    }
    for record in swept.records:
        records[key_of(record.configuration)].append(record)
    counted = {id(run) for run in swept.runs}
    tables = json_of(swept, summary)
    return {
        "study": study.word,
        "file": study.file,
        "variant": study.variant,
        "machine": machine,
        "quiet": experiment.disturbed_above,
        "samples": experiment.samples,
        "fixed": {name: entry for name, entry in experiment.fixed.items() if not isinstance(entry, str)},
        "runs": swept.counts(),
        "figures": _figures(study, experiment, drawn) + _violins(study, drawn),
        "averages": tables["averages"],
        "outliers": tables["outliers"],
        "best": [
            {"configuration": best.row.configuration, "as_good": best.as_good}
            for best in (summary.best[0][1] if summary.best else [])
        ],
        "cases": [
            {
                "configuration": row.configuration,
                "others_share": [
                    round((one_record.others or 0) + (one_record.steal or 0), 4)
                    for one_record in records[key_of(row.configuration)]
                    if id(one_record) in counted
                ],
                "run_again": sum(one_record.attempt > 0 for one_record in records[key_of(row.configuration)]),
                "metrics": {
                    name: [
                        float(f"{value:.6g}") for value in (value.median, value.quarter, value.three_quarters)
                    ]
                    for name, value in row.spreads.items()
                    if name in named
                },
            }
            for row in summary.rows
        ],
    }


def _figures(study: Study, experiment: Experiment, drawn: set[str]) -> list[dict[str, str]]:
    """Each with its file, or without one where there is nothing to draw."""
    return [
        {
            "title": figure.title,
            "what": f"{figure.y_label} over {figure.x_label}",
            "file": f"{study.word}-{figure.name}.png" if figure.name in drawn else "",
            "y": figure.y,
        }
        for figure in experiment.figures
    ]


def _violins(study: Study, drawn: set[str]) -> list[dict[str, str]]:
    return [
        {"title": name, "what": "violins of single runs", "file": f"{study.word}-{name}.png", "y": ""}
        for name in study.violins
        if name in drawn
    ]


def keep_figures(out: Path, study: Study, results: dict[str, Any], docs: Path) -> None:
    """Copies the drawn figures into the pages' folder, in place of those that were there."""
    drawn = folder_of_sweep(out, study.word, str(results["machine"]["commit"])) / "figures"
    if not drawn.is_dir():
        raise BenchError(f"{drawn}: expected the figures of these results, found none; run the study")
    docs.mkdir(exist_ok=True)
    for old in docs.glob(f"{study.word}-*.png"):
        old.unlink()
    for figure in results["figures"]:
        if figure["file"]:
            name = figure["file"].removeprefix(f"{study.word}-")
            shutil.copyfile(drawn / name, docs / figure["file"])

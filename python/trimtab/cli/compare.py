"""trimtab compare: two sides of runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab.cli.common import echo_json, fail, find_run, runs_below

if TYPE_CHECKING:
    from trimtab.model.report import Report


@click.command("compare")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def compare_runs(before: str, after: str, as_json: bool) -> None:
    """Compare two sets of runs: what differs, and whether by more than their noise.

    A side is a run directory, `last`, a folder of run directories, an event log of Spark or a folder of them, or several of
    these with commas between. With four runs a side and more, each difference has a 95 % interval.
    """
    from trimtab.analysis.compare import compare
    from trimtab.model import RunError
    from trimtab.text.comparison import comparison
    from trimtab.text.progress import progress

    reports: list[list[Report]] = [[], []]
    try:
        sides = [_runs_of(before), _runs_of(after)]
        with progress("reading the runs", sum(map(len, sides))) as advance:
            for side, found_runs in zip(sides, reports, strict=True):
                for run in side:
                    found_runs.append(run())
                    advance(1)
    except RunError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    differences = compare(*reports)
    if as_json:
        echo_json(differences)
    else:
        comparison(differences)


def _runs_of(side: str) -> list[Callable[[], Report]]:
    """How to make the reports of the runs that one side names, in order of their names."""
    from trimtab.spark.logs import is_event_log, logs_at
    from trimtab.spark.report import build_spark

    found: list[Callable[[], Report]] = []
    for part in side.split(","):
        directory = find_run(part)
        runs_inside = runs_below(directory)
        # A folder of runs has no run.json itself; what has neither gets the reader's own error.
        if os.path.lexists(directory / "run.json"):
            found.append(partial(_recorded, directory))
        elif runs_inside:
            found += [partial(_recorded, run) for run in runs_inside]
        elif is_event_log(directory):
            found += [partial(build_spark, log) for log in logs_at(directory)]
        else:
            found.append(partial(_recorded, directory))
    return found


def _recorded(directory: Path) -> Report:
    from trimtab.analysis.report import build
    from trimtab.readers import open_run

    return build(open_run(directory))

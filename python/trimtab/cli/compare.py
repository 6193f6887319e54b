"""trimtab compare: two sides of runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab.cli.common import NewFile, echo, echo_json, fail, find_run, recorded_run, runs_below

if TYPE_CHECKING:
    from trimtab.model.report import Report


@click.command("compare")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--html",
    type=NewFile(),
    help="Write a page with the lanes and the concurrency of two runs, one above the other.",
)
def compare_runs(before: str, after: str, as_json: bool, html: Path | None) -> None:
    """Compare two sets of runs: what differs, and whether by more than their noise.

    A side is a run directory, `last`, a folder of run directories, an event log of Spark or a folder of them, or several of
    these with commas between. With four runs a side and more, each difference has a 95 % interval.
    With --html, each side is one run.
    """
    from trimtab.analysis.compare import compare
    from trimtab.model import RunError
    from trimtab.report import lane_page, write_html
    from trimtab.text.comparison import comparison
    from trimtab.text.progress import progress

    reports: list[list[Report]] = [[], []]
    try:
        sides = [_runs_of(before), _runs_of(after)]
        if html is not None and [len(side) for side in sides] != [1, 1]:
            fail(f"--html: expected one run on each side, found {len(sides[0])} and {len(sides[1])}")
        with progress("reading the runs", sum(map(len, sides))) as advance:
            for side, found_runs in zip(sides, reports, strict=True):
                for run in side:
                    found_runs.append(run())
                    advance(1)
        if html is not None:
            write_html(
                reports[0][0],
                html,
                lane_page(*(recorded_run(find_run(side)) for side in (before, after))),
                reports[1][0],
            )
            echo(f"trimtab: page of both runs: {html}", err=True)
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

"""trimtab compare: two sides of runs."""

from __future__ import annotations

import os
from pathlib import Path

import click

from trimtab.cli.common import NewFile, echo, echo_json, fail, find_run, runs_below
from trimtab.cli.sources import Source, sources_at


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
    these with commas between. Idle core time is compared by its causes. With four runs a side and more, each difference has a
    95 % interval, and runs that lie apart from others of their side are named. With --html, each side is
    one run.
    """
    from trimtab.analysis.compare import compare
    from trimtab.analysis.kept_intervals import KeptIntervals
    from trimtab.heap import prepare_for_long_arrays
    from trimtab.model import RunError
    from trimtab.model.report import Report
    from trimtab.report import lane_page, write_html
    from trimtab.text.comparison import comparison
    from trimtab.text.progress import progress

    sides = [_runs_of(before), _runs_of(after)]
    if html is not None and [len(side) for side in sides] != [1, 1]:
        fail(f"--html: expected one run on each side, found {len(sides[0])} and {len(sides[1])}")
    reports: list[list[Report]] = [[], []]
    kept = [KeptIntervals() for _ in sides] if html is not None else []
    all_kept: list[KeptIntervals | None] = [*kept] or [None, None]
    prepare_for_long_arrays()
    try:
        with progress("reading the runs", sum(map(len, sides))) as advance:
            for side, found_runs, own_kept in zip(sides, reports, all_kept, strict=True):
                for run in side:
                    found_runs.append(run.report(own_kept))
                    advance(1)
        if html is not None:
            with progress("drawing the lanes"):
                lanes = lane_page(*(side[0].run() for side in sides), kept=kept)
            write_html(reports[0][0], html, lanes, reports[1][0])
            echo(f"trimtab: page of both runs: {html}", err=True)
    except RunError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    differences = compare(reports[0], reports[1], [[str(run.path) for run in side] for side in sides])
    if as_json:
        echo_json(differences)
    else:
        comparison(differences)


def _runs_of(side: str) -> list[Source]:
    """The runs that one side names, in order of their names."""
    sources: list[Source] = []
    for part in side.split(","):
        directory = find_run(part)
        runs_inside = runs_below(directory)
        # A folder of runs has no run.json itself; what has neither gets the reader's own error.
        if os.path.lexists(directory / "run.json") or not runs_inside:
            sources += sources_at(directory)
        else:
            sources += [Source(run) for run in runs_inside]
    return sources

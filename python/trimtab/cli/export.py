"""trimtab export: recorded runs for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from trimtab.cli.common import (
    echo,
    fail,
    find_run,
)
from trimtab.cli.sources import source_at

# As in trimtab.export, which is imported when it is needed.
_FORMATS = ("perfetto", "chrome", "otf2", "dot", "csv", "parquet", "task-graph")


@click.command("export")
@click.argument("run_directory", metavar="RUN")
@click.option("--to", type=click.Choice(_FORMATS), required=True, help="Format to write.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File, or folder for otf2, csv and parquet. Default: named after the run, in this folder.",
)
@click.option(
    "--max-tasks",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="With dot: of more tasks, a node stands for all tasks of a kind.",
)
def export_run(run_directory: str, to: str, output: Path | None, max_tasks: int) -> None:
    """Write a recorded run for other tools. RUN is a run directory, `last`, or an event log of Spark.

    perfetto and chrome open in ui.perfetto.dev: a track for each lane, its CPU and each counter. otf2 is an archive for
    Vampir and Score-P's tools. dot is the graph of tasks for Graphviz; task-graph is a picture (SVG) of which kinds of task
    create which, and which wait for which. csv and parquet are a folder of tables: events, regions, profile, counters,
    switches, edges.
    """
    from trimtab.export import MissingLibrary, default_path, export, work_of
    from trimtab.model import RunError
    from trimtab.text.progress import progress

    directory = find_run(run_directory)
    path = output if output is not None else default_path(directory, to)
    try:
        recorded = source_at(directory).run()
        with progress("exporting", work_of(recorded)) as advance:
            exported = export(recorded, to, path, advance, max_tasks)
    except (RunError, MissingLibrary) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or path}: {error.strerror or error}")
    for note in exported.notes:
        echo(f"trimtab: {note}", err=True)
    noun = "tables" if len(exported.files) > 1 else "graph" if to in ("dot", "task-graph") else "trace"
    echo(f"trimtab: {noun}: {exported.files[0] if len(exported.files) == 1 else path}", err=True)

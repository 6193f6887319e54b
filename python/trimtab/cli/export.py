"""trimtab export: recorded runs for other tools."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab.cli.common import (
    echo,
    fail,
    find_run,
)

if TYPE_CHECKING:
    from trimtab.model import Run

# As in trimtab.export, which is imported when it is needed.
_FORMATS = ("perfetto", "chrome", "csv", "parquet")


@click.command("export")
@click.argument("run_directory", metavar="RUN")
@click.option("--to", type=click.Choice(_FORMATS), required=True, help="Format to write.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File, or folder for csv and parquet. Default: named after the run, in this folder.",
)
def export_run(run_directory: str, to: str, output: Path | None) -> None:
    """Write a recorded run for other tools. RUN is a run directory, `last`, or an event log of Spark.

    perfetto and chrome open in ui.perfetto.dev: a track for each lane, its CPU and each counter. csv and parquet
    are a folder of tables: events, regions, profile, counters, switches.
    """
    from trimtab.export import MissingLibrary, default_path, export, work_of
    from trimtab.model import RunError
    from trimtab.text.progress import progress

    directory = find_run(run_directory)
    path = output if output is not None else default_path(directory, to)
    try:
        recorded = _recorded(directory)
        with progress("exporting", work_of(recorded)) as advance:
            exported = export(recorded, to, path, advance)
    except (RunError, MissingLibrary) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or path}: {error.strerror or error}")
    for note in exported.notes:
        echo(f"trimtab: {note}", err=True)
    noun = "tables" if len(exported.files) > 1 else "trace"
    echo(f"trimtab: {noun}: {path}", err=True)


def _recorded(path: Path) -> Run:
    from trimtab.model import RunError
    from trimtab.readers import open_run
    from trimtab.spark.logs import is_event_log, logs_at

    if os.path.lexists(path / "run.json") or not is_event_log(path):
        return open_run(path)
    from trimtab.spark.reading import read
    from trimtab.spark.run_model import run_of
    from trimtab.spark.slots import slots_of

    logs = logs_at(path)
    if len(logs) > 1:
        raise RunError(f"{path}: has {len(logs)} event logs; expected one of them")
    application = read(logs[0])
    return run_of(application, slots_of(application), path)

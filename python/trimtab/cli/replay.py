"""`trimtab replay`: a run's decisions made again, from what its engines were told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab import __version__
from trimtab.cli.common import (
    echo,
    echo_json,
    fail,
    find_run,
)
from trimtab.counted import counted
from trimtab.model import Process, Run, RunError

if TYPE_CHECKING:
    from trimtab.replaying import Replayed


@click.command("replay")
@click.argument("run_directory", metavar="RUN")
@click.option(
    "--process",
    "wanted",
    metavar="PID",
    help="Only this process: PID, or HOST-PID-N as its folder is called.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def run_replay(run_directory: str, wanted: str | None, as_json: bool) -> None:
    """Make the decisions of RUN again from their recorded input, and compare them.

    RUN was recorded with --record-snapshots. Ends with 0 if all are as recorded, with 1 if one is not.
    """
    from trimtab.readers import open_run
    from trimtab.replaying import replay

    directory = find_run(run_directory)
    try:
        run = open_run(directory)
        found = [(process, replay(process, file)) for process, file in _recordings(run, directory, wanted)]
    except RunError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    if as_json:
        echo_json([each.as_json() for _, each in found])
    else:
        for process, each in found:
            _tell(process, each)
        by = run.info.get("trimtab")
        if any(each.difference for _, each in found) and by not in (None, __version__):
            echo(f"recorded by trimtab {by}, replayed by {__version__}")
    if any(each.difference for _, each in found):
        raise click.exceptions.Exit(1)


def _recordings(run: Run, directory: Path, wanted: str | None) -> list[tuple[Process, Path]]:
    from trimtab.replaying import SNAPSHOTS

    names = [each.directory.name for each in run.processes]
    chosen = [
        each for each in run.processes if wanted is None or wanted in (each.directory.name, str(each.pid))
    ]
    if wanted is not None and not chosen:
        raise RunError(
            f"{directory}: expected one of the processes {', '.join(names) or '(none)'}, found --process {wanted}"
        )
    found = [(process, file) for process in chosen for file in sorted(process.directory.glob(SNAPSHOTS))]
    if not found:
        of = f"process {wanted}" if wanted is not None else "no process"
        raise RunError(
            f"{directory}: {of} has {'no ' if wanted is not None else ''}snapshots.txt: nothing was steered, or it was not "
            "recorded; record with trimtab run --tune --record-snapshots"
        )
    return found


def _tell(process: Process, of: Replayed) -> None:
    runtime = of.file.removeprefix("snapshots").removesuffix(".txt").replace("-", " ").strip()
    who = f"process {of.process}" + (f", {runtime}" if runtime else "")
    decisions, snapshots = counted(of.decisions, "decision"), counted(of.snapshots, "snapshot")
    if of.difference is None:
        until = "" if of.is_whole else f"; the snapshots end at {of.end_s:.2f} s"
        if of.not_compared:
            until += f", {counted(of.not_compared, 'decision')} there not compared"
        echo(f"{who}: {decisions} from {snapshots}, all as recorded{until}")
        return
    echo(f"{who}: {decisions} as recorded, then decision {of.difference.number & 0xFFFFFFFF} is another")
    for name, each in (("recorded", of.difference.recorded), ("replayed", of.difference.replayed)):
        echo(f"  {name}: {'none' if each is None else each.text(process)}")

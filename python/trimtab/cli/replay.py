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
        replays = [(process, replay(process, file)) for process, file in _recordings(run, directory, wanted)]
    except RunError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    if as_json:
        echo_json([replayed.as_json() for _, replayed in replays])
    else:
        for process, replayed in replays:
            _print_replay(process, replayed)
        recorded_by = run.info.get("trimtab")
        if any(replayed.difference for _, replayed in replays) and recorded_by not in (None, __version__):
            echo(f"recorded by trimtab {recorded_by}, replayed by {__version__}")
    if any(replayed.difference for _, replayed in replays):
        raise click.exceptions.Exit(1)


def _recordings(run: Run, directory: Path, wanted: str | None) -> list[tuple[Process, Path]]:
    from trimtab.replaying import SNAPSHOTS

    names = [process.directory.name for process in run.processes]
    chosen = [
        process
        for process in run.processes
        if wanted is None or wanted in (process.directory.name, str(process.pid))
    ]
    if wanted is not None and not chosen:
        raise RunError(
            f"{directory}: expected one of the processes {', '.join(names) or '(none)'}, found --process {wanted}"
        )
    recordings = [(process, file) for process in chosen for file in sorted(process.directory.glob(SNAPSHOTS))]
    if not recordings:
        place = f"process {wanted}" if wanted is not None else "no process"
        raise RunError(
            f"{directory}: {place} has {'no ' if wanted is not None else ''}snapshots.txt: nothing was steered, or it was not "
            "recorded; record with trimtab run --tune --record-snapshots"
        )
    return recordings


def _print_replay(process: Process, replayed_run: Replayed) -> None:
    runtime = replayed_run.file.removeprefix("snapshots").removesuffix(".txt").replace("-", " ").strip()
    label = f"process {replayed_run.process}" + (f", {runtime}" if runtime else "")
    decisions, snapshots = (
        counted(replayed_run.decisions, "decision"),
        counted(replayed_run.snapshots, "snapshot"),
    )
    if replayed_run.difference is None:
        until = "" if replayed_run.is_whole else f"; the snapshots end at {replayed_run.end_s:.2f} s"
        if replayed_run.not_compared:
            until += f", {counted(replayed_run.not_compared, 'decision')} there not compared"
        echo(f"{label}: {decisions} from {snapshots}, all as recorded{until}")
        return
    echo(
        f"{label}: {decisions} as recorded, then decision {replayed_run.difference.number & 0xFFFFFFFF} is another"
    )
    for name, replayed in (
        ("recorded", replayed_run.difference.recorded),
        ("replayed", replayed_run.difference.replayed),
    ):
        echo(f"  {name}: {'none' if replayed is None else replayed.text(process)}")

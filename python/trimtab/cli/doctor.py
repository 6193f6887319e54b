"""trimtab doctor: what this machine allows."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from trimtab.cli.common import Stopped, echo_json, fail, stopped_by_signals


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option(
    "--network",
    "is_network",
    is_flag=True,
    help="Measure messages between processes of this machine instead, with and without communication servers. Later jobs"
    " choose their servers by that. Takes seconds, on many CPUs half a minute; nothing else should run meanwhile.",
)
@click.option(
    "--storage",
    "is_storage",
    is_flag=True,
    help="Measure opening, reading and writing of small files instead: in Spark's local directories, the folder for temporary"
    " files, /dev/shm, and those of --folder. Says where directories of shuffles would be faster. Takes seconds.",
)
@click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="With --storage: measure this folder, too. May be given several times.",
)
def run_doctor(as_json: bool, is_network: bool, is_storage: bool, folders: tuple[Path, ...]) -> None:
    """Say what can be observed on this machine, what is missing, and how to get it.

    Exits with 0, or with 1 if no program can be observed at all, or with --network or --storage if something could not be measured.
    """
    if folders and not is_storage:
        raise click.UsageError("--folder: expected --storage beside it")
    if is_network:
        sys.exit(_measure_network(as_json))
    if is_storage:
        sys.exit(_measure_storage(folders, as_json))
    from trimtab.doctor.diagnosis import diagnose
    from trimtab.text.diagnosis import diagnosis
    from trimtab.text.progress import progress

    with progress("looking"):
        checks = diagnose()
    if as_json:
        parts = {
            "observes": checks.observes,
            "checks": [check.as_json() for check in checks.checks],
            "runtimes": [runtime.as_json() for runtime in checks.runtimes],
        }
        echo_json(parts)
    else:
        diagnosis(checks.checks)
    sys.exit(0 if checks.observes else 1)


def _measure_network(as_json: bool) -> int:
    from trimtab.doctor.network import NetworkError, measure
    from trimtab.text.progress import progress
    from trimtab.text.saturation import problem_line, saturation

    try:
        with progress("measuring"):
            measured, problem = measure()
    except NetworkError as error:
        fail(str(error), 1)
    if as_json:
        echo_json({"network": [one.as_json() for one in measured], "problem": problem})
    else:
        for one in measured:
            saturation(one.transport, one.points, one.choices)
        if problem:
            problem_line(problem)
    return 1 if problem else 0


def _measure_storage(named: tuple[Path, ...], as_json: bool) -> int:
    from trimtab.doctor.storage import measure_storage
    from trimtab.launcher.spark import local_directories
    from trimtab.text.progress import progress
    from trimtab.text.storage_latencies import storage_latencies

    sources = [(folder, "--folder") for folder in named]
    sources += local_directories(os.environ)
    sources += [(Path("/tmp"), "temporary files"), (Path("/dev/shm"), "memory")]
    try:
        with stopped_by_signals(), progress("measuring"):
            storage = measure_storage(sources)
    except Stopped as stopped:
        return 128 + stopped.number
    if as_json:
        echo_json(storage.as_json())
    else:
        storage_latencies(storage.folders, storage.advice)
    return 1 if any(folder.problem for folder in storage.folders) else 0

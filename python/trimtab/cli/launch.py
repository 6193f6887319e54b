"""`trimtab launch`: a program as a job of several processes on this host."""

from __future__ import annotations

import sys

import click

from trimtab.cli.common import echo, fail
from trimtab.options import job_option
from trimtab.programs import NotStarted

_SIZE = job_option("TRIMTAB_JOB_SIZE")


@click.command("launch", context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option(
    "-n",
    "--localities",
    "size",
    type=click.IntRange(_SIZE.least, _SIZE.most),
    required=True,
    metavar="NUMBER",
    help="How many processes the job has.",
)
@click.option(
    "--transport",
    type=click.Choice(["shm", "tcp"]),
    default="shm",
    help="How they reach each other: through shared memory (default), or through TCP sockets on this host.",
)
@click.option("--label", is_flag=True, help="Begin each line of output with the number of its locality.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGS]...")
def run_launch(size: int, transport: str, label: bool, command: tuple[str, ...]) -> None:
    """Run PROGRAM as a job: NUMBER processes on this host, which reach each other by trimtab::job.

    Locality 0 has the standard input. Signals go to all. When one fails, the others have two seconds to end by
    themselves; the exit code is that of the first that failed, or 128 and the signal that has ended it.
    """
    from trimtab.jobs import JobOptions, run_job

    try:
        status = run_job(command, JobOptions(size, transport, label, _say))
    except NotStarted as error:
        fail(str(error), error.code)
    except OSError as error:
        fail(f"the job was not started: {error.strerror or error}", 126)
    sys.exit(status)


def _say(line: str) -> None:
    echo(f"trimtab: {line}", err=True)

"""trimtab prove: apply what Trimtab can do about a finding, and measure whether it gives what was predicted."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab.cli.common import (
    Stopped,
    echo,
    echo_json,
    fail,
    find_run,
    input_file_option,
    stopped_by_signals,
    temporary_folder,
)
from trimtab.cli.explain import chosen_findings

if TYPE_CHECKING:
    from trimtab.model.report import Report
    from trimtab.tuning.multi_run import Trial
    from trimtab.tuning.proving import Proof


# Kinds of standard input that a program may have read something from, and that cannot be had again.
_INPUTS = ("file", "pipe")
# Begins the names of processes that have a launcher of their own (`rank-0/node-12-0`).
_RANK = "rank-"


@click.command("prove")
@click.argument("run_directory", metavar="RUN")
@click.argument("wanted", metavar="FINDING")
@click.option(
    "--pairs",
    type=click.IntRange(5),
    default=5,
    show_default=True,
    help="Pairs of fresh runs, with and without the change.",
)
@input_file_option
@click.option("--json", "as_json", is_flag=True, help="Print the proof as JSON.")
def prove_run(run_directory: str, wanted: str, pairs: int, source: Path | None, as_json: bool) -> None:
    """Apply a finding's remedy in fresh runs, and compare the gain with the prediction.

    RUN is a run directory, or `last`; its program is run again, from this folder, with the arguments that it had. FINDING is a
    number of the list of `trimtab explain RUN`, or a cause. Nothing is kept: `trimtab tune` keeps what helps.
    """
    from trimtab.analysis.report import build
    from trimtab.cgroup import available_cpus
    from trimtab.model import RunError
    from trimtab.readers import open_run
    from trimtab.tuning.multi_run import RunFailed
    from trimtab.tuning.proving import prove, remedy_of
    from trimtab.tuning.runner import ProgramRunner

    try:
        run = open_run(find_run(run_directory))
        report = build(run)
    except RunError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    finding = report.findings[chosen_findings(report, wanted)[0]]
    remedy = remedy_of(finding, os.environ, available_cpus(), report)
    if isinstance(remedy, str):
        fail(f"{finding.cause}: {remedy}")
    command = _command(report)
    echo(f"trimtab: {finding.cause}: {remedy.words}", err=True)
    if source is None and run.info.get("stdin") in _INPUTS:
        echo(
            f"trimtab: the run had a {run.info['stdin']} as standard input, these runs have none: if the program reads it, "
            "give it --input FILE",
            err=True,
        )
    with temporary_folder("prove") as folder:
        runner = ProgramRunner(command, folder, folder / "history.sqlite", input=source)
        try:
            with stopped_by_signals():
                proof = prove(runner, finding, remedy, report, pairs, _print_trial)
        except RunFailed as error:
            fail(str(error))
        except Stopped as stopped:
            echo("trimtab: stopped; nothing was proved", err=True)
            sys.exit(128 + stopped.number)
    if as_json:
        echo_json({"cause": finding.cause, "subject": finding.subject, **proof.as_json()})
    else:
        _print_proof(proof)


def _command(report: Report) -> tuple[str, ...]:
    """What to start again.

    Raises:
        SystemExit: it cannot be started like that again.
    """
    if not report.command:
        fail("the run does not say which program it was")
    if any(process.id.startswith(_RANK) for process in report.processes):
        fail(
            "each rank of this job was started by another program, such as mpirun: only that can start it again"
        )
    if shutil.which(report.command[0]) is None:
        fail(
            f"{report.command[0]}: expected a program that can be run, from the folder where the run was made"
        )
    return report.command


def _print_trial(trial: Trial) -> None:
    note = f", {trial.note}" if trial.note else ""
    echo(f"trimtab: {trial.what}: {trial.cost.text}{note}", err=True)


def _print_proof(proof: Proof) -> None:
    echo(
        f"predicted: {proof.predicted:.1%} less time ({proof.predicted_low:.1%} to {proof.predicted_high:.1%})"
    )
    echo(
        f"measured: {proof.pairs.gain:.1%} less time ({proof.measured_low:.1%} to {proof.measured_high:.1%} "
        f"in {len(proof.pairs.ratios)} pairs): {proof.pairs.verdict}"
    )

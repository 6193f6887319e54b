"""What a Slurm job does: it runs the whole experiment on its node, into a folder of the node's own."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from trimtab.experiments.spec import HOST, Experiment, ExperimentError
from trimtab.experiments.sweeping import Options, sweep
from trimtab.files import FileKind, is_missing, read_json
from trimtab.whole_files import write_whole

# Below the output folder: results by node, and what belongs to jobs by their number.
NODES, JOBS = "nodes", "jobs"
# The states of a job that its report has. TAKEN: another job had this node, and nothing was run.
RUNNING, DONE, TAKEN, FAILED = "running", "done", "taken", "failed"
_REPORT = FileKind("the report of a job", 1 << 16, ExperimentError)


@dataclass(frozen=True)
class NodeTask:
    """What is handed to a job. `node` is the one that it must have; None: any that has no results yet."""

    experiment: Experiment
    directory: Path
    options: Options
    node: str | None


@dataclass(frozen=True)
class Report:
    """What a job says of itself; `problem` says why it failed."""

    node: str
    state: str
    problem: str = ""


class Interrupted(Exception):
    """Slurm told the job to end. Unlike KeyboardInterrupt, submitit logs it."""


def on_node(experiment: Experiment, node: str) -> Experiment:
    """The experiment with `node` as the name of the host."""
    factors = tuple(
        replace(factor, values=(node,)) if factor.kind == HOST else factor for factor in experiment.factors
    )
    return replace(experiment, factors=factors)


def run_on_node(task: NodeTask) -> None:
    """Run what is left of the experiment on the node of this job, and keep a report of how it went.

    Raises:
        ExperimentError, OSError, Interrupted: it did not end well; what was done is kept.
    """
    job, node = os.environ["SLURM_JOB_ID"], _node_name()
    folder = task.directory / NODES / node
    is_new = _earlier_node(task, job) != node and task.node is None
    try:
        folder.mkdir(parents=True, exist_ok=not is_new)
    except FileExistsError:
        write_report(task.directory, job, Report(node, TAKEN))
        return
    write_report(task.directory, job, Report(node, RUNNING))
    try:
        _end_on_signals()
        sweep(on_node(task.experiment, node), folder, task.options)
    except (ExperimentError, OSError, Interrupted) as error:
        write_report(task.directory, job, Report(node, FAILED, str(error)))
        raise
    write_report(task.directory, job, Report(node, DONE))


def _node_name() -> str:
    """As Slurm calls this node: options such as --nodelist take this name, which may differ from the host's."""
    return os.environ.get("SLURMD_NODENAME") or os.uname().nodename


def _earlier_node(task: NodeTask, job: str) -> str | None:
    """Where the job ran before Slurm queued it again."""
    report = report_of(task.directory, job)
    return None if report is None or report.state == TAKEN else report.node


def _end_on_signals() -> None:
    """In place of submitit's handlers: SIGTERM comes with scancel, SIGUSR2 before the time limit ends the job.

    A run that is at work is killed and not recorded: the signal may have reached its program, too.
    """
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGUSR2, _end)


def _end(number: int, _: object) -> None:
    _ignore_further_signals()
    raise Interrupted(
        "its time limit was near" if number == signal.SIGUSR2 else "it was cancelled or preempted"
    )


def _ignore_further_signals() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)


def write_report(directory: Path, job: str, report: Report) -> None:
    """Replaces the job's report as a whole: the command may read it at any time."""
    write_whole(_report_path(directory, job), json.dumps(asdict(report)).encode())


def report_of(directory: Path, job: str) -> Report | None:
    """What the job says; None while it has not started.

    Raises:
        ExperimentError: the file holds something else.
    """
    path = _report_path(directory, job)
    try:
        content: Any = read_json(path, _REPORT)
        return Report(str(content["node"]), str(content["state"]), str(content["problem"]))
    except ExperimentError as error:
        if is_missing(error):
            return None
        raise
    except (LookupError, TypeError) as error:
        raise ExperimentError(f"{path}: expected the report of a job, found {error!r}") from error


def _report_path(directory: Path, job: str) -> Path:
    return directory / JOBS / f"{job}.json"

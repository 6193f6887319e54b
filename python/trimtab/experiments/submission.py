"""What is submitted to Slurm, through submitit: one job with one whole node for each node."""

from __future__ import annotations

import contextlib
import io
import logging
import math
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.experiments.node_job import JOBS, NodeTask, run_on_node
from trimtab.experiments.slurm_queue import node_names
from trimtab.experiments.spec import ExperimentError

SlurmOptions = Mapping[str, str | bool]
# Options of sbatch that follow from what --slurm means.
_RESERVED = frozenset(
    (
        *("array", "chdir", "error", "nodelist", "nodes", "ntasks", "ntasks_per_node"),
        *("open_mode", "output", "signal", "wrap"),
    )
)
_MOST_NODES = 10_000
# A time limit is this many times the expected time of the runs, for repeats of disturbed ones, and some minutes.
_LIMIT_FACTOR, _LIMIT_EXTRA_MIN = 2, 10
# So long before the time limit a job is told to end.
_SIGNAL_S = 60


@dataclass(frozen=True)
class NodeRequest:
    """Which nodes take part: `count` of any, or those with these names; and more options of sbatch."""

    count: int
    names: tuple[str, ...]
    options: SlurmOptions


def node_request(nodes: str, options: Sequence[str]) -> NodeRequest:
    """What --slurm and --slurm-option ask for.

    Raises:
        ExperimentError: one of them is wrong.
    """
    chosen = dict(map(_option, options))
    if not nodes.isdecimal():
        names = node_names(nodes)
        return NodeRequest(len(names), names, chosen)
    if not 1 <= int(nodes) <= _MOST_NODES:
        raise ExperimentError(f"--slurm {nodes}: expected 1 to {_MOST_NODES} nodes")
    return NodeRequest(int(nodes), (), chosen)


def _option(text: str) -> tuple[str, str | bool]:
    """NAME=VALUE, or NAME for an option without a value; dashes and underscores are the same."""
    name, equals, value = text.partition("=")
    key = name.removeprefix("--").replace("-", "_")
    if not key.replace("_", "").isalnum() or (equals and not value):
        raise ExperimentError(
            f"--slurm-option {text}: expected NAME=VALUE or NAME, a long option of sbatch such as partition=short"
        )
    if "\n" in value:
        raise ExperimentError(f"--slurm-option {name}: expected a value of one line")
    if key in _RESERVED:
        raise ExperimentError(
            f"--slurm-option {name}: expected another option; trimtab sets this one itself (nodes: --slurm)"
        )
    return key, value if equals else True


def sbatch_options(
    request: NodeRequest, name: str, node: str | None, excluded: Iterable[str], expected_s: float | None
) -> dict[str, str | bool]:
    """The options of the job for `node`, or for any node that is not `excluded`; the user's come last."""
    options: dict[str, str | bool] = {"job_name": f"trimtab-{name}", "exclusive": True, "nodes": "1"}
    options["signal"] = f"B:USR2@{_SIGNAL_S}"
    if expected_s is not None:
        options["time"] = str(math.ceil(expected_s * _LIMIT_FACTOR / 60) + _LIMIT_EXTRA_MIN)
    options |= request.options
    if node is not None:
        options["nodelist"] = node
    else:
        own_exclude = options.get("exclude")
        every_excluded = [*([own_exclude] if isinstance(own_exclude, str) else []), *excluded]
        options |= {"exclude": ",".join(every_excluded)} if every_excluded else {}
    return options


def as_words(options: SlurmOptions) -> list[str]:
    """As on a command line.

    Example:
        >>> as_words({"exclusive": True, "mail_type": "END"})
        ['--exclusive', '--mail-type=END']
    """
    flags = {f"--{key.replace('_', '-')}": value for key, value in options.items()}
    return [flag if value is True else f"{flag}={value}" for flag, value in flags.items()]


class Submitter:
    """Submits jobs through submitit."""

    def __init__(self, directory: Path) -> None:
        """For jobs of the sweep in `directory`.

        Raises:
            ExperimentError: submitit is not installed.
        """
        try:
            import submitit
        except ImportError as error:
            raise ExperimentError(
                f"--slurm needs submitit, which is not installed ({error}): pip install 'trimtab[slurm]'"
            ) from error
        # Of what it logs, errors come to us as exceptions; its handlers also write to standard output.
        logging.getLogger("submitit").setLevel(logging.CRITICAL)
        self._submitit = submitit
        self._folder = directory.absolute() / JOBS

    def submit(self, task: NodeTask, options: SlurmOptions) -> str:
        """The number of the new job.

        Raises:
            ExperimentError: Slurm refuses it.
        """
        executor: Any = self._submitit.SlurmExecutor(
            # With exec, Slurm's signal to the batch shell reaches Python, and not the program that is measured.
            self._folder,
            python=f"exec {shlex.quote(sys.executable)}",
        )
        executor.update_parameters(
            # None: the partition's limit. submitit's own default is five minutes.
            time=None,
            wckey=None,
            # A step has the CPUs that it asks for; the batch script has all CPUs of the node.
            use_srun=False,
            # Python looks for modules in the current folder first: not in the user's.
            additional_parameters={**options, "chdir": str(self._folder)},
        )
        try:
            # submitit prints what sbatch says; it is in the error, too.
            with contextlib.redirect_stderr(io.StringIO()):
                job = executor.submit(run_on_node, task)
        except (
            self._submitit.core.utils.FailedJobError,
            self._submitit.core.utils.FailedSubmissionError,
        ) as error:
            raise ExperimentError(f"sbatch {' '.join(as_words(options))}: {_reason(error)}") from error
        return str(job.job_id)

    def log_of(self, job: str) -> Path:
        """What the job writes to standard error."""
        paths = self._submitit.core.utils.JobPaths(self._folder, job_id=job)
        return Path(paths.stderr)


def _reason(error: Exception) -> str:
    """The last line that sbatch wrote, without what submitit adds."""
    lines = [line.strip() for line in str(error).splitlines() if "error:" in line]
    return lines[-1] if lines else str(error).strip()

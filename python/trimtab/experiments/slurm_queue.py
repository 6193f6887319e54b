"""What Slurm says of nodes and jobs, by its own commands. Where a command fails, its answer is not known."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.experiments.spec import ExperimentError

# slurmctld may be restarting; its clients then wait for minutes.
_PATIENCE_S = 60
_SACCT = ("sacct", "--noheader", "--allocations", "--parsable2", "--format=State,NodeList")


@dataclass(frozen=True)
class Queued:
    """A job that waits or runs. `node` is empty while it waits; `reason` says what it waits for."""

    state: str
    node: str
    reason: str


def require_slurm() -> None:
    """That jobs can be submitted from this machine.

    Raises:
        ExperimentError: a command of Slurm is missing.
    """
    for command in ("sbatch", "srun", "squeue"):
        if shutil.which(command) is None:
            raise ExperimentError(
                f"--slurm: {command} is not in PATH; run the command on a login node of a cluster with Slurm"
            )


def node_names(node_list: str) -> tuple[str, ...]:
    """The names in a list as Slurm writes it, without repeats.

    Raises:
        ExperimentError: it is no such list.
    """
    if "[" not in node_list:
        names = node_list.split(",")
    else:
        names = (_output(["scontrol", "show", "hostnames", node_list]) or "").split()
    if not names or not all(map(_is_node_name, names)):
        raise ExperimentError(
            f"--slurm {node_list}: expected a number of nodes, or names such as n1,n[3-5] that `scontrol show hostnames` reads"
        )
    return tuple(dict.fromkeys(names))


def _is_node_name(name: str) -> bool:
    """Names become folders."""
    return (
        bool(name) and name[0].isalnum() and name.replace("-", "").replace("_", "").replace(".", "").isalnum()
    )


def queued_jobs() -> dict[str, Queued] | None:
    """This user's jobs that wait or run, by their number; None: squeue gave no answer."""
    output = _output(["squeue", "--noheader", f"--user={os.getuid()}", "--format=%i|%T|%N|%r"])
    if output is None:
        return None
    rows = [line.split("|", 3) for line in output.splitlines()]
    return {row[0].strip(): Queued(*map(str.strip, row[1:])) for row in rows if len(row) == 4}


def accounted_end(job: str) -> tuple[str, str]:
    """The state in which a job ended and its node, as accounting has them; empty where it has nothing."""
    output = _output([*_SACCT, f"--jobs={job}"]) or ""
    state, _, node = (output.splitlines() or [""])[0].partition("|")
    return state.strip(), node.strip()


def _output(command: Sequence[str]) -> str | None:
    try:
        completed = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return completed.stdout

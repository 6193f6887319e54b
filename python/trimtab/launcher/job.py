"""The job of which this process is a rank: from the variables that mpirun, mpiexec or srun sets in each rank.

Ranks of one job share a run. So a job needs an identity that is the same in all its ranks, on all hosts, and in no other job.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RankVariables:
    """The variables of one launcher. A rank has `rank` and, if it is not empty, `required`; `size` may be missing."""

    launcher: str
    rank: str
    size: str
    required: str = ""


# The innermost launcher first: Open MPI and MPICH start their own processes with srun inside Slurm. The library reads the same
# variables (rooms/options/include/trimtab/options/rank_variables.hpp); a test compares the two tables.
# Slurm sets SLURM_PROCID in batch scripts as well, but SLURM_STEP_ID only in what srun starts.
RANK_VARIABLES = (
    RankVariables("trimtab launch", "TRIMTAB_JOB_RANK", "TRIMTAB_JOB_SIZE"),
    RankVariables("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    RankVariables("PMI", "PMI_RANK", "PMI_SIZE"),
    RankVariables("PMIx", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "PMIX_NAMESPACE"),
    RankVariables("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"),
)
# Variables that hold a job's identity: PMIx (Open MPI 4 and 5, srun --mpi=pmix), srun --mpi=pmi2, Open MPI before 4.
_IDENTITIES = ("PMIX_NAMESPACE", "PMI_JOBID", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid")
_SLURM_STEP = ("SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID")
_MOST_RANKS = 1 << 31
_MOST_ANCESTORS = 64


@dataclass(frozen=True)
class Job:
    """A job, and this process's place in it.

    Attributes:
        launcher: what started it.
        id: the identity of the job.
        rank: number of this process, from 0.
        size: number of ranks; None: unknown.
    """

    launcher: str
    id: str
    rank: int
    size: int | None


def job_of(environment: Mapping[str, str] = os.environ, proc: Path = Path("/proc")) -> Job | None:
    """The job that this process is a rank of; None: it is no rank, or the only one.

    >>> job_of({"PMIX_NAMESPACE": "4711", "OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"})
    Job(launcher='Open MPI', id='Open MPI 4711', rank=2, size=4)
    >>> job_of({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"})
    """
    for variables in RANK_VARIABLES:
        rank = _number(environment.get(variables.rank))
        if rank is None or (variables.required and not environment.get(variables.required)):
            continue
        size = _number(environment.get(variables.size))
        if size is not None and size <= rank:
            size = None
        if size == 1:
            return None
        identity = f"{variables.launcher} {_identity(environment, variables, proc)}"
        return Job(variables.launcher, identity, rank, size)
    return None


def _number(text: str | None) -> int | None:
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 10
    return int(text) if text is not None and is_number and int(text) < _MOST_RANKS else None


def _identity(environment: Mapping[str, str], variables: RankVariables, proc: Path) -> str:
    """What tells the job from all others: on every host the same, but for the last resort."""
    step = "-".join(environment[name] for name in _SLURM_STEP if environment.get(name))
    has_step = bool(environment.get("SLURM_STEP_ID"))
    if variables.launcher == "Slurm":
        return step
    if variables.launcher == "trimtab launch":
        return _name_of(_starter(variables, proc))
    if named := next((environment[name] for name in _IDENTITIES if environment.get(name)), ""):
        return named
    starter = _starter(variables, proc)
    return _address_of_mpiexec(starter) or (step if has_step else _name_of(starter))


def _starter(variables: RankVariables, proc: Path) -> Path:
    """In /proc, who started the ranks of this host: the nearest ancestor that is no rank itself, as a shell in between is."""
    pid = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        if pid <= 1 or not _has_variable(proc / str(pid), variables.rank):
            break
        pid = _parent_of(proc / str(pid))
    return proc / str(pid)


def _address_of_mpiexec(starter: Path) -> str:
    """MPICH's mpiexec starts a process on each host, with its own address and a number for each group of ranks as arguments."""
    words = _read(starter / "cmdline").split(b"\0")
    control_words = [
        words[at + 1] for at, word in enumerate(words[:-1]) if word in (b"--control-port", b"--pgid")
    ]
    return os.fsdecode(b"-".join(control_words)) if b"--control-port" in words[:-1] else ""


def _name_of(starter: Path) -> str:
    """Host, number, and when it began in clock ticks since the machine was booted: a later process of that number has another."""
    fields = _fields(starter)
    return f"{os.uname().nodename}-{starter.name}-{fields[19].decode() if len(fields) > 19 else 0}"


def _has_variable(process: Path, name: str) -> bool:
    """Of another user, as Slurm's own processes are, nothing can be read: they are no ranks."""
    return any(word.startswith(name.encode() + b"=") for word in _read(process / "environ").split(b"\0"))


def _fields(process: Path) -> list[bytes]:
    """Those of /proc/PID/stat behind the name, which may have any character."""
    return _read(process / "stat").rpartition(b")")[2].split()


def _parent_of(process: Path) -> int:
    fields = _fields(process)
    return int(fields[1]) if len(fields) > 1 else 0


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""

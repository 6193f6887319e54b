"""What is measured of jobs beside MPI: which programs, at which sizes, and how they are started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OURS, MPI, MPI_NAIVE = "trimtab", "mpi", "mpi naive"
NAMES = {OURS: "Trimtab", MPI: "MPI", MPI_NAIVE: "MPI, a message for each update"}
TRANSPORTS = {"shm": "shared memory", "tcp": "TCP"}
SIZES = ("small", "large")
_MPIRUN, _MPICXX, _HPCC = "mpirun.openmpi", "mpicxx.openmpi", "hpcc"
# Names of Open MPI's transports. It is not to take another one by itself.
_BTL = {"shm": "self,vader", "tcp": "self,tcp"}
# Runs the command on CPU $1 in the first process of a job and on CPU $2 in the second, under `trimtab launch` and mpirun.
_BOUND = 'test "${TRIMTAB_JOB_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 && cpu=$1 || cpu=$2; shift 2; exec taskset -c "$cpu" "$@"'


def missing_mpi() -> str | None:
    """The packages that would make Open MPI available; None where it is."""
    return None if shutil.which(_MPIRUN) and shutil.which(_MPICXX) else "openmpi-bin libopenmpi-dev"


def missing_hpcc() -> str | None:
    """The packages that would make the HPC Challenge benchmark available; None where it is."""
    return missing_mpi() or (None if shutil.which(_HPCC) else "hpcc")


def one_cpu_each(command: Sequence[str]) -> list[str]:
    """The command, bound to the first or the second CPU by the number of the process in its job.

    Example:
        >>> one_cpu_each(["hpcc"])[-1]
        'hpcc'
    """
    cpus = sorted(os.sched_getaffinity(0))
    return ["sh", "-c", _BOUND, "sh", str(cpus[0]), str(cpus[1 % len(cpus)]), *command]


def launched(transport: str, command: Sequence[str]) -> list[str]:
    """Two localities."""
    return ["trimtab", "launch", "-n", "2", "--transport", transport, "--", *one_cpu_each(command)]


def under_mpirun(transport: str, command: Sequence[str]) -> list[str]:
    """Two ranks."""
    options = ["--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", _BTL[transport]]
    return [_MPIRUN, "-n", "2", *options, *one_cpu_each(command)]


def environment() -> dict[str, str]:
    """For both."""
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**os.environ, **as_root, "TRIMTAB_WORKERS": "1"}


@dataclass(frozen=True)
class Program:
    """How one system does a case.

    Attributes:
        arguments: the program's name without `job_` or `mpi_`, and its options.
        operations: what the time is divided by.
    """

    arguments: tuple[str, ...]
    operations: int


@dataclass(frozen=True)
class JobCase:
    """A workload of one size over one transport. Several systems run it, one after another."""

    workload: str
    size: str
    transport: str
    unit: str  # of the time of an operation, as in "us/step"
    programs: Mapping[str, Program]

    @property
    def title(self) -> str:
        """For progress, tables and errors."""
        return f"{self.workload}, {self.size}, {TRANSPORTS[self.transport]}"

    def command(self, system: str, root: Path, programs: Path) -> list[str]:
        """What is run."""
        name, *options = self.programs[system].arguments
        if system == OURS:
            return launched(
                self.transport, [str(root / "build" / "workloads" / f"job_{name}"), *options, "--no-check"]
            )
        return under_mpirun(self.transport, [str(programs / f"mpi_{name}"), *options, "--no-check"])


@dataclass(frozen=True)
class _Workload:
    """By size: options; `often` is the option that says how many operations there are."""

    name: str
    program: str
    unit: str
    often: str
    options: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, Mapping[str, int]]  # by size and transport


_WORKLOADS = (
    _Workload(
        "heat ring",
        "heat",
        "us/step",
        "--steps",
        {"small": ("--points", "200"), "large": ("--points", "1000000")},
        {"small": {"shm": 60_000, "tcp": 10_000}, "large": {"shm": 120, "tcp": 120}},
    ),
    _Workload(
        "conjugate gradients",
        "cg",
        "us/step",
        "--steps",
        {"small": ("--size", "64", "--repeats", "20"), "large": ("--size", "1000")},
        {"small": {"shm": 100, "tcp": 60}, "large": {"shm": 60, "tcp": 60}},
    ),
    _Workload(
        "multigrid",
        "multigrid",
        "us/cycle",
        "--cycles",
        {"small": ("--levels", "6"), "large": ("--levels", "10")},
        {"small": {"shm": 1000, "tcp": 200}, "large": {"shm": 15, "tcp": 15}},
    ),
    _Workload(
        "all to all",
        "all_to_all",
        "us/block",
        "--rounds",
        {"small": ("--words", "2"), "large": ("--words", "32768")},
        {"small": {"shm": 200_000, "tcp": 100_000}, "large": {"shm": 800, "tcp": 400}},
    ),
    _Workload(
        "Fourier transform",
        "fft",
        "us/transform",
        "--steps",
        {"small": ("--side", "32"), "large": ("--side", "1024")},
        {"small": {"shm": 2000, "tcp": 1000}, "large": {"shm": 3, "tcp": 3}},
    ),
)


# One part stays in the cache, the other does not.
_BINS = {"small": 1_000, "large": 20_000_000}


def job_cases(is_smoke: bool) -> list[JobCase]:
    """Every workload at each size over each transport."""
    result: list[JobCase] = []
    for transport in TRANSPORTS:
        # Programs are started in few ways: a short round needs few of them.
        workloads = _WORKLOADS[:1] if is_smoke and transport == "tcp" else _WORKLOADS
        for size in SIZES[:1] if is_smoke else SIZES:
            result += [_case(workload, size, transport, is_smoke) for workload in workloads]
            result.append(_histogram(size, transport, is_smoke))
    return result


def _case(workload: _Workload, size: str, transport: str, is_smoke: bool) -> JobCase:
    count = 2 if is_smoke else workload.counts[size][transport]
    options = workload.options[size]
    repeats = int(options[options.index("--repeats") + 1]) if "--repeats" in options else 1
    program = Program((workload.program, *options, workload.often, str(count)), count * repeats)
    return JobCase(workload.name, size, transport, workload.unit, {OURS: program, MPI: program})


def _histogram(size: str, transport: str, is_smoke: bool) -> JobCase:
    """Half of the updates are for the other locality. A message for each is slow: there, fewer."""

    bins = _BINS[size]

    def program(updates: int, *options: str) -> Program:
        count = 1_000 if is_smoke else updates
        return Program(("histogram", "--updates", str(count), "--bins", str(bins), *options), 2 * count)

    few = 400_000 if transport == "shm" else 100_000
    programs = {
        OURS: program(4_000_000),
        MPI: program(4_000_000, "--bucket", "1024"),
        MPI_NAIVE: program(few),
    }
    return JobCase("histogram", size, transport, "ns/update", programs)

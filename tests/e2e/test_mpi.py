"""The ranks of a real mpirun are one run, whether mpirun starts the launchers or a launcher starts mpirun.

With each mpirun that is on PATH or named in TRIMTAB_MPIRUN (paths with colons between).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import finished
from trimtab.readers import open_run, read_info

Compiled = Callable[..., Path]
RANKS = 4
HYBRID = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long sum = 0, all = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
  for (long i = 0; i < 100000; ++i) sum += i % (rank + 2);
  MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d: %d\n", rank, size, all > 0);
  MPI_Finalize();
  return argc > 1 && rank == 2 ? 7 : 0;
}
"""


@dataclass(frozen=True)
class Mpi:
    """An installed MPI."""

    mpirun: Path
    name: str

    def command(self, *program: str | Path) -> list[str]:
        options = ["--oversubscribe", "--bind-to", "none"] if self.name == "Open MPI" else []
        return [str(self.mpirun), *options, "-n", str(RANKS), *map(str, program)]


def _installed() -> list[Mpi]:
    named = [Path(word) for word in os.environ.get("TRIMTAB_MPIRUN", "").split(":") if word]
    result = [
        Path(entry) for name in ("mpirun.openmpi", "mpirun.mpich", "mpirun") if (entry := shutil.which(name))
    ]
    paths = {entry.resolve() if not named else entry: entry for entry in named or result}
    installed = []
    for path in paths.values():
        message = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
        name = next((mark for mark in ("Open MPI", "HYDRA") if mark in message), "")
        if name:
            installed.append(Mpi(path, {"HYDRA": "MPICH"}.get(name, name)))
    return installed


INSTALLED = _installed()
pytestmark = pytest.mark.skipif(not INSTALLED, reason="no mpirun of Open MPI or MPICH on PATH")


@pytest.fixture(params=INSTALLED, ids=[entry.name for entry in INSTALLED])
def mpi(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    result: Mpi = request.param
    return result


@pytest.fixture
def hybrid(mpi: Mpi, compiled: Compiled) -> Path:
    """MPI outside, OpenMP inside."""
    compiler = mpi.mpirun.with_name(mpi.mpirun.name.replace("mpirun", "mpicc"))
    if not compiler.exists():
        pytest.skip(f"{compiler} is not installed")
    return compiled(HYBRID, str(compiler))


def is_one_run(run: Path, code: int) -> None:
    assert {process.rank for process in open_run(run).processes} >= set(range(RANKS))
    with_regions = [process for process in open_run(run).processes if process.lanes and process.subjects]
    assert sorted(region_case.rank or 0 for region_case in with_regions) == list(range(RANKS))
    assert all(process.host == os.uname().nodename for process in open_run(run).processes)
    ended = read_info(run)["ended"]
    assert ended["code"] == code, ended


EXPECTED = sorted(f"{rank} of {RANKS}: 1" for rank in range(RANKS))


@pytest.mark.parametrize("options", [("-o", "run"), ()], ids=["named", "default"])
def test_a_launcher_in_every_rank(
    mpi: Mpi, hybrid: Path, trimtab: str, tmp_path: Path, options: tuple[str, ...]
) -> None:
    completed = finished(mpi.command(trimtab, "run", *options, "--", hybrid), cwd=tmp_path)
    assert (completed.returncode, sorted(completed.stdout.splitlines())) == (0, EXPECTED), completed.stderr
    assert completed.stderr.count("trimtab report RUN") == 1, completed.stderr
    (run,) = [tmp_path / "run"] if options else (tmp_path / "trimtab-runs").iterdir()
    is_one_run(run, 0)
    info = read_info(run)
    assert [rank["rank"] for rank in info["ranks"]] == list(range(RANKS))
    assert info["unavailable"] == []


def test_one_launcher_of_mpirun(mpi: Mpi, hybrid: Path, trimtab: str, tmp_path: Path) -> None:
    completed = finished([trimtab, "run", "-o", "run", "--", *mpi.command(hybrid)], cwd=tmp_path)
    assert (completed.returncode, sorted(completed.stdout.splitlines())) == (0, EXPECTED), completed.stderr
    assert completed.stderr.count("trimtab report RUN") == 1, completed.stderr
    is_one_run(tmp_path / "run", 0)


def test_a_rank_that_fails_fails_the_job(mpi: Mpi, hybrid: Path, trimtab: str, tmp_path: Path) -> None:
    alone = finished(mpi.command(hybrid, "fail"), cwd=tmp_path)
    completed = finished(mpi.command(trimtab, "run", "-o", "run", "--", hybrid, "fail"), cwd=tmp_path)
    assert completed.returncode == alone.returncode == 7
    info = read_info(tmp_path / "run")
    assert info["ranks"][2]["ended"]["code"] == 7
    assert completed.stderr.count("trimtab report RUN") <= 1


def test_two_programs_of_a_job_are_two_runs(mpi: Mpi, trimtab: str, tmp_path: Path) -> None:
    script = f"{trimtab} run -q -- sleep 0.2 && {trimtab} run -q -- sleep 0.2"
    completed = finished(mpi.command("sh", "-c", script), cwd=tmp_path)
    assert completed.returncode == 0, completed.stderr
    first, second = sorted((tmp_path / "trimtab-runs").iterdir(), key=lambda path: len(path.name))
    assert second.name == f"{first.name}-2"
    assert {len(read_info(run)["ranks"]) for run in (first, second)} == {RANKS}

"""Tests of the benchmark of jobs beside MPI: what programs print, and the tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks import docs, hpcc
from benchmarks.__main__ import SUITES
from benchmarks.job_suite import MPI, MPI_NAIVE, OURS, TRANSPORTS, job_cases, one_cpu_each
from benchmarks.job_tables import job_hpcc, job_machine, job_ring, job_targets, job_trips, job_workloads
from benchmarks.jobs import CALL, HPCC, POLLED, RING, ROUND_TRIP, WORKLOAD, mpi_transport_figures
from benchmarks.running import BenchError, finished

ROUNDS = 9


def _case(**about: object) -> dict[str, Any]:
    return {"others_share": [0.01] * ROUNDS, "run_again": 0, **about}


def _results(with_mpi: bool = True) -> dict[str, Any]:
    systems = {OURS: [20.0] * ROUNDS, **({MPI: [10.0] * ROUNDS} if with_mpi else {})}
    naive = {MPI_NAIVE: [100.0] * ROUNDS} if with_mpi else {}
    cases = []
    for transport in TRANSPORTS:
        for name, values in (("heat ring", systems), ("histogram", {**systems, **naive})):
            about = {"workload": name, "size": "small", "transport": transport, "unit": "us/step"}
            cases.append(_case(kind=WORKLOAD, **about, values=values))
        trips = {POLLED: [1.4] * ROUNDS, CALL: [1.6] * ROUNDS, **({MPI: [1.0] * ROUNDS} if with_mpi else {})}
        cases.append(_case(kind=ROUND_TRIP, transport=transport, values=trips))
    cases.append(_case(kind=RING, values={"16": [50.0] * ROUNDS, "1024": [8.0] * ROUNDS}))
    machine = dict.fromkeys(
        ("cpu", "cpus", "virtual", "memory_gb", "kernel", "gcc", "clang", "python", "commit", "date"), "1"
    )
    return {"cases": cases, "machine": machine, "quiet": 0.05, "mpi": "MPI 4" if with_mpi else None}


def test_judges_the_bar_of_round_trips() -> None:
    """Each transport, and each way that the bar is for."""
    text = job_targets(_results())
    assert text.count("| met ") == text.count("| not met |") == len(TRANSPORTS)
    assert "1.40 (1.40 to 1.40)" in text and "1.60 (1.60 to 1.60)" in text
    assert job_targets(_results(with_mpi=False)).count("not measured") == 2 * len(TRANSPORTS)


def test_compares_with_each_way_of_mpi() -> None:
    """The histogram has two."""
    text = job_workloads(_results())
    assert len(text.splitlines()) == 2 + 3 * len(TRANSPORTS)
    assert text.count("2.00 (2.00 to 2.00)") == 2 * len(TRANSPORTS)
    assert text.count("0.20 (0.20 to 0.20)") == len(TRANSPORTS)
    alone = job_workloads(_results(with_mpi=False))
    assert len(alone.splitlines()) == 2 + 2 * len(TRANSPORTS)
    assert "not measured" in alone


def test_updates_are_beside_the_ring() -> None:
    """Half of 50 million updates a second go to the other locality."""
    lines = job_ring(_results()).splitlines()
    (ours,) = [line for line in lines if "histogram, small, TCP: Trimtab" in line]
    assert _cells(ours)[-2:] == ["25.0", "25.0 to 25.0"]
    (ring,) = [line for line in lines if "1024 bytes" in line]
    assert _cells(ring)[-2:] == ["1,024", "1,024 to 1,024"]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_other_tables() -> None:
    """With MPI and without."""
    for with_mpi in (True, False):
        results = _results(with_mpi)
        assert job_trips(results).count("number).get()") == len(TRANSPORTS)
        assert "not measured" in job_hpcc(results)
        assert job_machine(results).endswith("MPI 4" if with_mpi else "not available")


def _hpcc_case() -> dict[str, Any]:
    names = ("GUPS", "FFT", "latency", "bandwidth", "PTRANS")
    values = {f"hpcc {name}": [1.0, 3.0, 2.0] for name in names}
    own = {f"{OURS} {name}": [4.0] * 3 for name in ("GUPS", "FFT", "latency", "transport latency")}
    return _case(kind=HPCC, transport="shm", table=1024, points=64, values={**values, **own})


def test_hpc_challenge_is_beside_ours() -> None:
    """What has no match of ours has a dash."""
    results = _results()
    results["cases"].append(_hpcc_case())
    text = job_hpcc(results)
    assert text.count("2.00 (1.00 to 3.00)") == 6 and text.count("4.00 (4.00 to 4.00)") == 4
    assert "1,024 words" in text


def test_reads_the_output_of_hpc_challenge() -> None:
    """And refuses other sizes than ours are compared at."""
    written = "\n".join(
        [
            "anything",
            "Success=1",
            f"MPIRandomAccess_N={hpcc.TABLE_WORDS}",
            f"MPIFFT_N={hpcc.FFT_POINTS}",
            "MPIRandomAccess_GUPs=0.5",
            "MPIFFT_Gflops=2",
            "AvgPingPongLatency_usec=0.3",
            "PTRANS_GBs=1",
            "AvgPingPongBandwidth_GBytes=5",
        ]
    )
    assert hpcc.figures(written) == {"GUPS": 0.5, "FFT": 2, "latency": 0.3, "PTRANS": 1, "bandwidth": 5}
    with pytest.raises(BenchError, match="expected MPIFFT_N="):
        hpcc.figures(written.replace("MPIFFT_N=", "MPIFFT_N=1"))
    with pytest.raises(BenchError, match="expected PTRANS_GBs in"):
        hpcc.figures(written.replace("PTRANS_GBs=1", ""))


def test_says_what_mpi_figures_did_not_print() -> None:
    """The line that was expected."""
    with pytest.raises(BenchError, match=r"expected a line 'transport, wait\(\) \.\.\.'"):
        mpi_transport_figures("transport, polled  round trip 2 us")


def test_every_case_has_a_program_of_both() -> None:
    """The sources are there, and short rounds are part of the long ones."""
    root = Path(__file__).resolve().parents[2]
    cases = job_cases(False)
    assert len({case.title for case in cases}) == len(cases)
    for case in cases:
        for system, program in case.programs.items():
            folder, prefix = ("workloads/jobs", "job_") if system == OURS else ("benchmarks/peers/mpi", "")
            assert (root / folder / f"{prefix}{program.arguments[0]}.cpp").exists()
    assert {case.title for case in job_cases(True)} < {case.title for case in cases}


@pytest.mark.skipif(shutil.which("taskset") is None, reason="needs taskset")
@pytest.mark.parametrize("variable", ["TRIMTAB_JOB_RANK", "OMPI_COMM_WORLD_RANK"])
def test_processes_are_bound_by_their_number(variable: str) -> None:
    """By whichever launcher; each to one CPU."""
    command = one_cpu_each(["sh", "-c", "taskset -cp $$ | sed 's/.* //'"])
    cpus = [finished(command, 20, env={"PATH": "/usr/bin:/bin", variable: number}) for number in ("0", "1")]
    assert [cpu.strip() for cpu in cpus] == command[4:6]


def test_page_shows_the_kept_results() -> None:
    """The tables are made, not written."""
    suite = SUITES["jobs"]
    text = suite.page.read_text(encoding="utf-8")
    assert docs.filled(text, json.loads(suite.kept.read_text(encoding="utf-8")), suite.blocks) == text

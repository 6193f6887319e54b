"""The study of threads that fit: its programs, and a very small one from end to end."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import finished

ROOT = Path(__file__).parents[2]
TOGETHER = [sys.executable, str(ROOT / "workloads/together")]
Workload = Callable[[str], Path]


def figures(printed: str) -> dict[str, float]:
    pairs = (word.split("=") for word in printed.split() if "=" in word and not word.startswith("check="))
    return {name: float(value) for name, value in pairs}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_window_begins_and_ends_when_it_is_told(workload: Workload, compiler: str) -> None:
    begin = time.monotonic() + 0.2
    program = [str(workload(f"vector_loop-{compiler}")), "--size", "1000", "--window"]
    completed = finished(program, input=f"{begin:.6f} 0.1\n")
    assert time.monotonic() >= begin + 0.1
    assert (
        completed.returncode == 0
        and completed.stdout.startswith("ready\nupdates=")
        and "right" in completed.stdout
    )


def test_a_window_that_is_not_told_is_an_error(workload: Workload) -> None:
    completed = finished([str(workload("vector_loop-gcc")), "--window"], input="soon\n")
    assert completed.returncode == 2
    assert "--window: expected two numbers on standard input" in completed.stderr


def test_programs_together_are_measured_in_cpus(workload: Workload) -> None:
    program = f"{workload('vector_loop-gcc')} --size 2000 --no-check --window"
    command = [*TOGETHER, "--copies", "2", "--threads", "one", "--beside", "changing", "--job", program]
    completed = finished([*command, "--seconds", "0.15", "--alone", "0.05", "--", *program.split()])
    assert completed.returncode == 0, completed.stderr
    result = figures(completed.stdout)
    assert 0 < result["slowest_copy_cpus"] <= result["copies_cpus"] / 2 < result["done_cpus"]
    assert result["over_ideal"] == pytest.approx(result["cpus"] / result["done_cpus"], rel=0.01)
    assert result["job_slowdown"] > 0
    assert result["cpu_time_ratio"] > 0.5, "two threads on CPUs that others use do not make work cheaper"


def test_a_program_that_takes_no_window_is_told_of() -> None:
    completed = subprocess.run([*TOGETHER, "--", "true"], capture_output=True, text=True, check=False)
    assert completed.returncode == 1 and completed.stderr == "together: true: expected 'ready', found ''\n"


def test_the_study_from_end_to_end(trimtab: str, workload: Workload, tmp_path: Path) -> None:
    folder = workload("vector_loop-gcc").parent.resolve()
    small = {"seconds": 0.2, "grain": 2000, "wait": "PASSIVE", "threads": "one,fit,asat-v2", "folder": folder}
    chosen = [part for entry in small.items() for part in ("--set", f"{entry[0]}={entry[1]}")]
    study = ROOT / "docs/experiments/threads_that_fit.toml"
    out = tmp_path / "out"
    command = [trimtab, "sweep", str(study), "--variant", "short", "-o", str(out), "--samples", "1"]
    completed = finished([*command, *chosen], timeout=300)
    assert completed.returncode == 0, completed.stderr
    rows = list(csv.DictReader((out / "table.csv").open()))
    # Alone, beside a serial job, and four copies.
    assert [(row["threads"], row["copies"], row["beside"]) for row in rows] == [
        (threads, copies, companion)
        for threads in ("one", "fit", "asat-v2")
        for copies, companion in (("1", "none"), ("1", "serial"), ("4", "none"))
    ]
    assert all(float(row["over_ideal"]) > 0 for row in rows)
    assert {path.stem for path in (out / "figures").glob("*.svg")} == {
        "alone",
        "serial",
        "job",
        "copies-passive",
    }
    assert "no figure 'changing': no run has 'over_ideal' of these values" in completed.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_skew_measures_every_instance(workload: Workload, compiler: str) -> None:
    completed = finished([str(workload(f"skew-{compiler}")), "--steps", "50", "--size", "20000"])
    assert completed.returncode == 0 and "right" in completed.stdout
    result = figures(completed.stdout.splitlines()[0])
    assert result["threads"] >= 1
    for name in ("whole", "spawn", "exit", "passage"):
        assert 0 <= result[f"{name}_us"] <= result[f"{name}_q90_us"] <= result[f"{name}_max_us"]
    assert result["spawn_max_us"] <= result["whole_max_us"]

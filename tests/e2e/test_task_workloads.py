"""The programs of the task runtime: right answers under every policy, figures that belong together, clear errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import finished

POLICIES = ("local", "local-priority", "abp-priority", "hierarchy", "static-priority", "periodic-priority")
Workload = Callable[[str], Path]
Run = Callable[..., Any]

# Small, but with more tasks than workers.
SMALL = {
    "heat_ring": ["--points", "20000", "--partition", "300", "--steps", "20"],
    "fib": ["--n", "18"],
    "fib, futures": ["--n", "16", "--by", "futures"],
    "fib, coroutines": ["--n", "16", "--by", "coroutines"],
    "nqueens": ["--size", "8", "--depth", "3"],
    "skynet": ["--depth", "4"],
    "uts": ["--roots", "3", "--depth", "9"],
    "uts, binomial": ["--shape", "binomial", "--roots", "200"],
    "sort": ["--count", "20011", "--grain", "100"],
    "matmul": ["--size", "50", "--block", "16"],
    "sparse_lu": ["--blocks", "8", "--block", "5"],
    "heat_ghost": ["--blocks", "3", "--block", "5", "--steps", "6"],
    "cg": ["--size", "40", "--grain", "3", "--steps", "20"],
}

# Fourteen in one program, by name.
PROGRAMS = {
    "alignment": 10,
    "fft": 12,
    "fib": 16,
    "floorplan": 5,
    "health": 5,
    "intersim": 4,
    "nqueens": 8,
    "pyramids": 200,
    "qap": 7,
    "round": 4,
    "sort": 50_000,
    "sparselu": 6,
    "strassen": 8,
    "uts": 200,
}


def _values(program: Path, *arguments: str) -> dict[str, str]:
    completed = finished([str(program), *arguments], timeout=60)
    assert completed.returncode == 0, completed.stderr
    return dict(line.split("=", 1) for line in completed.stdout.splitlines())


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("policy", POLICIES)
def test_answers_are_the_serial_ones(workload: Workload, name: str, policy: str) -> None:
    program = workload(name.split(",")[0])
    for workers in (1, 3):
        result = _values(program, *SMALL[name], f"--trimtab:policy={policy}", f"--trimtab:workers={workers}")
        assert result["check"] == "right"
        assert (result["policy"], result["workers"]) == (policy, str(workers))


def test_answers_do_not_depend_on_the_workers(workload: Workload) -> None:
    answers = {
        _values(workload("heat_ring"), *SMALL["heat_ring"], "--no-check", f"--trimtab:workers={workers}")[
            "answer"
        ]
        for workers in (1, 2, 4)
    }
    assert len(answers) == 1


def test_figures_of_the_ring_belong_together(workload: Workload) -> None:
    arguments = ["--points", "100000", "--partition", "1000", "--steps", "30", "--trimtab:workers=2"]
    result = {
        name: float(value)
        for name, value in _values(workload("heat_ring"), *arguments).items()
        if _is_number(value)
    }
    assert (result["partitions"], result["steps"]) == (100, 30)
    # A task for each partition and step, the one that makes them, and those that went on after they had waited.
    assert 3001 <= result["phases"] <= 3001 + result["suspensions"]
    assert 0 <= result["idle_rate"] < 1
    assert result["overhead_s"] == pytest.approx(result["idle_rate"] * result["time_s"], rel=1e-4, abs=1e-9)
    assert result["phase_duration_us"] == pytest.approx(
        result["time_s"] * 2 / result["phases"] * 1e6, rel=1e-4
    )
    assert result["task_length_us"] == pytest.approx(
        result["phase_duration_us"] * (1 - result["idle_rate"]), rel=1e-4
    )
    assert result["lups"] == pytest.approx(100000 * 30 / result["time_s"], rel=1e-4)
    assert 0 <= result["pending_misses"] <= result["pending_accesses"]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "points, partition, steps", [(1, 1, 3), (2, 1, 3), (7, 3, 40), (100, 100, 5), (5000, 7, 0)]
)
def test_rings_of_odd_sizes(workload: Workload, points: int, partition: int, steps: int) -> None:
    sizes = ["--points", str(points), "--partition", str(partition), "--steps", str(steps)]
    assert _values(workload("heat_ring"), *sizes, "--trimtab:workers=2")["check"] == "right"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--points", "many"], "heat_ring: --points: expected a number from 1 to 10000000000, found 'many'"),
        (["--points", "10", "--partition", "11"], "--partition: expected a number from 1 to 10, found '11'"),
        (["--steps"], "--steps: expected a value after it"),
        (["--step", "3"], "--steps, "),
        (
            ["--trimtab:policy=best"],
            "one of local, local-priority, abp-priority, hierarchy, static-priority, periodic",
        ),
        (["--trimtab:workers=many"], "--trimtab:workers"),
    ],
)
def test_errors_name_option_and_value(workload: Workload, arguments: list[str], message: str) -> None:
    completed = finished([str(workload("heat_ring")), *arguments])
    assert completed.returncode == 2 and not completed.stdout
    assert message in completed.stderr and completed.stderr.count("\n") == 1


def test_the_grain_size_study_takes_what_the_ring_prints(
    trimtab: str, workload: Workload, tmp_path: Path
) -> None:
    study = Path(__file__).parents[2] / "docs/experiments/grain_size.toml"
    small = [
        f"program={workload('heat_ring')}",
        "points=2000",
        "steps=5",
        "policy=local,hierarchy",
        "workers=2",
    ]
    arguments = [part for entry in small for part in ("--set", entry)]
    completed = finished(
        [trimtab, "sweep", str(study), "-o", str(tmp_path / "study"), "--samples", "1", *arguments]
    )
    assert completed.returncode == 0, completed.stderr
    head, *rows = (tmp_path / "study/table.csv").read_text().splitlines()
    assert {"policy", "partition", "time_s", "overhead_s", "idle_rate", "lups", "miss_share"} <= set(
        head.split(",")
    )
    # 160, 506, 1600 and 2000 points a partition, under two policies.
    assert len(rows) == 8


@pytest.mark.parametrize("name", PROGRAMS)
def test_task_programs_complete_under_run_with_the_right_answer(
    run: Run, workload: Workload, name: str
) -> None:
    program = (workload("task_programs"), name, "--size", str(PROGRAMS[name]), "--trimtab:workers=2")
    completed = run(*program, options=("--tune=off",)).done
    assert completed.returncode == 0, completed.stderr
    assert "check=right" in completed.stdout.splitlines()


def test_a_task_program_that_is_not_there_is_named(workload: Workload) -> None:
    completed = finished([str(workload("task_programs")), "fob"], timeout=60)
    assert completed.returncode == 2
    assert "expected a program (alignment, fft, " in completed.stderr and "found 'fob'" in completed.stderr

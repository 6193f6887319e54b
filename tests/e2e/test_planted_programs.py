"""Programs with a planted fault: the first finding names it, and without the fault there is no such finding."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import Any

import pytest
from conftest import WORKLOADS, long_enough

Run = Callable[..., Any]

pytestmark = pytest.mark.alone

# What a busy machine adds.
OF_MACHINE = {
    "CPU contention",
    "more threads than CPUs",
    "throttled by the quota",
    "wait policy",
    "wake-up latency",
}
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
# By program and fault: what the first finding is, a strong severity, and one that takes the fault out.
REGIONS = {
    "imbalance": (("imbalance",), 80),
    "straggler": (("straggler",), 8),
    "serial": (("serial part",), 90),
    "lock": (("lock contention",), 90),
    "reduction": (("imbalance",), 100),
    "input": (("serial input or output",), 3000),
    "chain": (("a chain of tasks",), 100),
}
MEMORY = ("arenas", "returned", "pages")
TASKS = {
    "chain": (("a chain of tasks",), 100),
    "lock": (("tasks wait for each other",), 95),
    "spawn": (("one producer",), 90),
    "small": (("tasks too small",), 2048),
    "straggler": (("straggler", "one long task"), 380),
}


class Found:
    """Causes of the findings about the program, largest first; `is_crowded`: other programs had the CPUs for much of the time."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.causes = [
            finding["cause"] for finding in report["findings"] if finding["cause"] not in OF_MACHINE
        ]
        self.is_crowded = report["os"]["run_delay_s"] > 0.1 * report["observed_s"]

    def is_first(self, expected: Collection[str]) -> bool:
        return bool(self.causes) and self.causes[0] in expected


def causes(run: Run, command: list[str], *options: str) -> Found:
    watched = run(*command, options=("-q", "--tune=off", *options), env=ENVIRONMENT)
    assert watched.done.returncode == 0, watched.done.stderr
    return Found(watched.report())


def expect(result: Found, expected: Collection[str], is_first: bool = True) -> None:
    if result.is_first(expected) is not is_first and result.is_crowded:
        pytest.skip("other programs had the CPUs: who waits for whom is theirs to say")
    assert result.is_first(expected) is is_first, result.causes


def region_program(fault: str, severity: int, steps: str) -> list[str]:
    program = str(WORKLOADS / "planted-gcc")
    # With more points than usual for the reduction there would be no bottleneck.
    size = "500" if fault == "reduction" else "10000"
    return [program, fault, "--severity", str(severity), "--steps", steps, "--size", size]


def memory_program(fault: str, severity: int, steps: str) -> list[str]:
    return [str(WORKLOADS / "planted_memory-gcc"), fault, "--severity", str(severity), "--steps", steps]


def task_program(fault: str, severity: int, blocks: str) -> list[str]:
    size = "4096" if fault == "small" else "50000"
    numbers = ["--severity", str(severity), "--blocks", blocks, "--size", size]
    return [str(WORKLOADS / "planted_tasks"), "--fault", fault, *numbers, "--trimtab:workers=2", "--no-check"]


@pytest.mark.parametrize("fault", REGIONS)
def test_the_fault_of_regions_is_found_first(run: Run, fault: str) -> None:
    expected, severity = REGIONS[fault]
    result = long_enough(
        40,
        lambda steps: causes(run, [*region_program(fault, severity, steps), "--no-check"], "--trace"),
        lambda result: result.is_first(expected),
    )
    expect(result, expected)


@pytest.mark.parametrize("fault", TASKS)
def test_the_fault_of_tasks_is_found_first(run: Run, fault: str) -> None:
    expected, severity = TASKS[fault]
    options = () if fault == "small" else ("--trace",)
    result = long_enough(
        192,
        lambda blocks: causes(run, task_program(fault, severity, blocks), *options),
        lambda result: result.is_first(expected),
    )
    expect(result, expected)


@pytest.mark.parametrize("fault", ["imbalance", "straggler", "serial", "lock", "reduction"])
def test_without_the_fault_of_regions_it_is_not_found(run: Run, fault: str) -> None:
    expected, _ = REGIONS[fault]
    result = long_enough(
        40,
        lambda steps: causes(run, [*region_program(fault, 0, steps), "--no-check"], "--trace"),
        lambda result: not result.is_first(expected),
    )
    expect(result, expected, is_first=False)


@pytest.mark.parametrize("fault", TASKS)
def test_without_the_fault_of_tasks_it_is_not_found(run: Run, fault: str) -> None:
    expected, _ = TASKS[fault]
    options = () if fault == "small" else ("--trace",)
    result = long_enough(
        192,
        lambda blocks: causes(run, task_program(fault, 0, blocks), *options),
        lambda result: not result.is_first(expected),
    )
    expect(result, expected, is_first=False)


def test_one_worker_too_few_is_found_first(run: Run) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one CPU has no room for a second worker")
    command = [word for word in task_program("chain", 0, "192") if not word.startswith("--trimtab:")]
    result = causes(run, [*command, "--trimtab:workers=1"], "--trace")
    expect(result, ["fewer workers than CPUs"])


@pytest.mark.parametrize(("severity", "is_late"), [(90, True), (0, False)])
def test_a_late_locality_is_found_first(run: Run, trimtab: str, severity: int, is_late: bool) -> None:
    launch = [trimtab, "launch", "-n", "2", "--", str(WORKLOADS / "job_planted"), "--trimtab:workers=1"]
    numbers = ["--severity", str(severity), "--no-check", "--steps"]
    expected = {"late locality", "imbalance between processes"}
    result = long_enough(
        40,
        lambda steps: causes(run, [*launch, *numbers, steps], "--trace"),
        lambda result: result.is_first(expected) is is_late,
    )
    expect(result, expected, is_first=is_late)


@pytest.mark.parametrize(
    "command",
    [
        *[region_program(fault, 50, "8") for fault in REGIONS],
        *[memory_program(fault, 50, "8") for fault in MEMORY],
        *[[word for word in task_program(fault, 50, "64") if word != "--no-check"] for fault in TASKS],
    ],
    ids=[
        *[f"regions-{fault}" for fault in REGIONS],
        *[f"memory-{fault}" for fault in MEMORY],
        *[f"tasks-{fault}" for fault in TASKS],
    ],
)
def test_the_answer_is_that_without_the_fault(run: Run, command: list[str]) -> None:
    watched = run(*command, options=("-q", "--tune=off"), env=ENVIRONMENT)
    assert watched.done.returncode == 0, watched.done.stderr
    assert "right" in watched.done.stdout

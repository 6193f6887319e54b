"""The first finding of programs whose tasks lack one thing each, and the times of tasks that wait."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parent / "task_findings.cpp"
# What the machine did to the program, not the program itself.
_OF_MACHINE = {
    "another program's load",
    "more threads than CPUs",
    "throttled by the quota",
    "serial part",
    "fewer workers than CPUs",
}

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def program(with_task_runtime: Callable[[Path], Path]) -> Path:
    return with_task_runtime(SOURCE)


def _report(trimtab: str, program: Path, item_name: str, folder: Path) -> dict[str, Any]:
    run = folder / "run"
    subprocess.run(
        [trimtab, "run", "-q", "--tune=off", "-o", str(run), "--", str(program), item_name],
        check=True,
        timeout=120,
    )
    reported = subprocess.run(
        [trimtab, "report", str(run), "--json"], capture_output=True, text=True, check=True
    )
    report: dict[str, Any] = json.loads(reported.stdout)
    return report


def _first(report: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = next(
        finding for finding in report["findings"] if finding["cause"] not in _OF_MACHINE
    )
    return result


@pytest.mark.parametrize(
    ("what", "cause"),
    [
        ("straggler", "one long task"),
        ("chain", "a chain of tasks"),
        ("mutex", "tasks wait for each other"),
        ("producer", "one producer"),
    ],
)
def test_the_first_finding_names_the_cause(
    trimtab: str, program: Path, tmp_path: Path, what: str, cause: str
) -> None:
    report = _report(trimtab, program, what, tmp_path)
    if report["os"]["run_delay_s"] > 0.1 * report["observed_s"]:
        pytest.skip("other programs had the CPUs: who runs with whom is theirs to say")
    assert _first(report)["cause"] == cause, report["findings"]
    # Of the causes of starving, no other is told with half of its gain.
    others = {"one long task", "a chain of tasks", "one producer", "too few tasks ready"} - {cause}
    gains = {finding["cause"]: finding["gain_s"] for finding in report["findings"]}
    assert all(gains.get(other, 0.0) < gains[cause] / 2 for other in others), report["findings"]


def test_tasks_that_wait_have_their_own_times(trimtab: str, program: Path, tmp_path: Path) -> None:
    report = _report(trimtab, program, "mutex", tmp_path)
    (kind,) = [task for task in report["tasks"] if task["count"] == 1000]
    assert kind["mean_s"] >= 400e-6
    # One of the two workers is always without the mutex.
    assert kind["suspended_s"] >= 0.2


def test_who_finds_nothing_for_long_has_no_task_whether_it_looks_or_sleeps(
    trimtab: str, program: Path, tmp_path: Path
) -> None:
    report = _report(trimtab, program, "few", tmp_path)
    assert report["time"]["starved"] > 4 * report["time"]["runtime"]

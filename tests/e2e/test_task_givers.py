"""Who lets tasks go on that wait for locks and channels, in real programs: edges, blame, replay and the explained chain."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from trimtab.model.enumerations import BlameCause, EventKind, WaitCause
from trimtab.readers import open_run

SOURCE = Path(__file__).parent / "task_givers.cpp"
# Function that the others wait for, and the cause of the edges.
PROGRAMS = {
    "convoy": ("convoy", WaitCause.MUTEX),
    "slow_producer": ("make_values", WaitCause.CHANNEL),
    "slow_consumer": ("use_values", WaitCause.CHANNEL),
}

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def program(with_task_runtime: Callable[[Path], Path]) -> Path:
    return with_task_runtime(SOURCE)


@dataclass(frozen=True)
class Traced:
    """A run: its folder, its report, and how often tasks were resumed and let go on, by cause."""

    folder: Path
    report: dict[str, Any]
    resumed: Counter[WaitCause]
    edges: Counter[WaitCause]
    outside: int

    @property
    def delayed_share(self) -> float:
        """Of the core time, what the threads waited for CPUs."""
        return float(self.report["time"]["run_delay"])

    def lost_s(self, *causes: BlameCause, at: str = "") -> float:
        return sum(
            row["lane_time_s"]
            for row in self.report["blame"]
            if (not causes or row["cause"] in causes) and at in (row["subject"] or "")
        )


def traced(trimtab: str, program: Path, item: str, workers: int, folder: Path) -> Traced:
    run = folder / "run"
    command = [trimtab, "run", "-q", "--trace", "--tune=off", "-o", run, "--", program, item, workers]
    subprocess.run([*map(str, command)], check=True, timeout=120)
    reported = subprocess.run(
        [trimtab, "report", str(run), "--json"], capture_output=True, text=True, check=True
    )
    resumed: Counter[WaitCause] = Counter()
    edges: Counter[WaitCause] = Counter()
    outside = 0
    for lane in open_run(run).processes[0].lanes:
        kind, cause = lane.events["kind"], lane.events["arg"]
        resumed.update(WaitCause(own) for own in cause[kind == EventKind.TASK_RESUMED].tolist())
        edges.update(WaitCause(own) for own in cause[kind == EventKind.EDGE].tolist())
        outside += int(((kind == EventKind.EDGE) & (lane.events["a"] == 0)).sum())
    return Traced(run, json.loads(reported.stdout), resumed, edges, outside)


@pytest.mark.parametrize("workers", [2, 8])
@pytest.mark.parametrize("item", PROGRAMS)
def test_each_task_that_goes_on_was_let_go_on_by_a_task(
    trimtab: str, program: Path, tmp_path: Path, item: str, workers: int
) -> None:
    run = traced(trimtab, program, item, workers, tmp_path)
    function, cause = PROGRAMS[item]
    assert run.edges[cause] == run.resumed[cause] > 0
    assert run.outside == 0
    # Who is waited for is known: of what is not, hardly anything is left.
    assert run.lost_s(BlameCause.UNATTRIBUTED) <= 0.02 * run.report["capacity_s"]
    # Whether it worked or had no CPU, the function that holds the others up is to blame for most.
    others = [name for name in ("convoy", "make_values", "use_values") if name != function]
    assert run.lost_s(at=function) > max(run.lost_s(at=name) for name in others)
    path = {row["subject"]: 0.0 for row in run.report["critical_path"]}
    for row in run.report["critical_path"]:
        path[row["subject"]] += row["time_s"]
    assert function in max((name for name in path if name), key=lambda name: path[name])
    if abs(run.report["what_if"][0]["replay_error"]) <= 0.1:
        changes = {row["change"] for row in run.report["what_if"]}
        assert ("nobody waits for a lock" in changes) == (cause is WaitCause.MUTEX)


def test_the_holder_of_a_mutex_is_to_blame_and_the_chain_says_so(
    trimtab: str, program: Path, tmp_path: Path
) -> None:
    run = traced(trimtab, program, "convoy", 2, tmp_path)
    if run.delayed_share > 0.1:
        pytest.skip("other programs had the CPUs: threads waited for these, not for the mutex")
    assert run.lost_s(BlameCause.LOCK_HOLDER, at="convoy") > 0.5 * run.lost_s(at="convoy")
    explained = subprocess.run(
        [trimtab, "explain", str(run.folder), "tasks wait for each other"], capture_output=True, text=True
    )
    assert explained.returncode == 0, explained.stderr
    assert "the next one waits for a mutex" in explained.stdout
    assert "convoy" in explained.stdout


@pytest.mark.parametrize("workers", [2, 8])
def test_a_thread_outside_lets_tasks_go_on(trimtab: str, program: Path, tmp_path: Path, workers: int) -> None:
    run = traced(trimtab, program, "outside", workers, tmp_path)
    # Where a value comes before the task has left its stack, the task lets itself go on.
    assert 0 < run.outside <= run.edges[WaitCause.CHANNEL] == run.resumed[WaitCause.CHANNEL]
    assert run.lost_s(BlameCause.UNATTRIBUTED) <= 0.02 * run.report["capacity_s"]

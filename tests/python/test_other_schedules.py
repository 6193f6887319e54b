"""What replays say of another schedule and of smaller tasks, beside what simulated programs with these take."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulated.machine import Machine
from simulated.recording import Recording
from simulated.scoring import report_of
from simulated.task_program import Task, TaskProgram
from simulated.task_simulation import simulate_tasks
from simulated.team_program import Barrier, Loop, Region, Serial, TeamProgram, Work
from simulated.team_simulation import simulate_team
from trimtab.model.enumerations import Cause
from trimtab.model.report import WhatIf
from trimtab.text.blame import what_if_table

SEEDS = range(int(os.environ.get("TRIMTAB_FUZZ", "0")) // 5 or 12)
US = 1_000
# Of the simulated time: who takes which of the last chunks or tasks differs.
CLOSE = 0.03


def change_of(recording: Recording, folder: Path, words: str) -> WhatIf:
    """The only change with these words."""
    report = report_of(recording, folder)
    assert abs(report.what_if[0].replay_error) < 0.01
    (change,) = [entry for entry in report.what_if if words in entry.change]
    return change


def is_close(change: WhatIf, simulated: Recording, share: float = CLOSE) -> bool:
    seconds = simulated.makespan_ns * 1e-9
    return abs(change.predicted_s - seconds) <= share * seconds


def is_within(change: WhatIf, simulated: Recording) -> bool:
    seconds = simulated.makespan_ns * 1e-9
    return change.predicted_low_s - CLOSE * seconds <= seconds <= change.predicted_high_s + CLOSE * seconds


def loops(random: np.random.Generator, lanes: int, chunk: int, is_even_inside: bool) -> TeamProgram:
    """Instances of a loop of which each lane's block costs something else; or each iteration more than the one before."""
    each_lane = int(random.integers(40, 80))
    phases: list[Serial | Region] = []
    for _ in range(int(random.integers(4, 9))):
        if is_even_inside:
            times = np.repeat(random.uniform(10, 60, lanes), each_lane)
        else:
            times = np.linspace(5, random.uniform(40, 80), lanes * each_lane)
        loop = Loop(tuple((times * US).astype(int).tolist()), chunk, bool(random.integers(2)))
        tail = (Barrier(), Work((100 * US,) * lanes)) if random.random() < 0.5 else ()
        phases += [Serial(20 * US), Region("solve", (loop, *tail))]
    return TeamProgram(lanes, tuple(phases))


def with_chunk(program: TeamProgram, chunk: int) -> TeamProgram:
    def changed(phase: Serial | Region) -> Serial | Region:
        if isinstance(phase, Serial):
            return phase
        steps = tuple(replace(step, chunk=chunk) if isinstance(step, Loop) else step for step in phase.steps)
        return replace(phase, steps=steps)

    return replace(program, phases=tuple(changed(phase) for phase in program.phases))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("is_even_inside", [True, False])
def test_a_static_loop_with_a_dynamic_schedule(tmp_path: Path, seed: int, is_even_inside: bool) -> None:
    random = np.random.default_rng(seed)
    lanes = int(random.integers(2, 9))
    program, machine = loops(random, lanes, 0, is_even_inside), Machine(lanes)
    recording = simulate_team(program, machine)
    change = change_of(recording, tmp_path, "schedule(dynamic")
    chunk = int(change.change.rsplit(" ", 1)[1].rstrip(")"))
    simulated = simulate_team(with_chunk(program, chunk), machine)
    assert change.gain_s > 0 and chunk > 1 and change.subject == "solve, loop 0"
    assert is_within(change, simulated), (change, simulated.makespan_ns)
    # Of iterations that take more and more time, the last chunks are longer than the part of a block that they are taken for.
    assert is_close(change, simulated, CLOSE if is_even_inside else 2 * CLOSE), (
        change,
        simulated.makespan_ns,
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("is_even_inside", [True, False])
def test_a_dynamic_loop_with_a_static_schedule(tmp_path: Path, seed: int, is_even_inside: bool) -> None:
    random = np.random.default_rng(seed)
    lanes = int(random.integers(2, 9))
    program, machine = loops(random, lanes, int(random.integers(1, 5)), is_even_inside), Machine(lanes)
    recording = simulate_team(program, machine)
    change = change_of(recording, tmp_path, "schedule(static)")
    simulated = simulate_team(with_chunk(program, 0), machine)
    assert change.gain_s < 0, "blocks of unequal cost"
    assert is_within(change, simulated), (change, simulated.makespan_ns)
    assert is_close(change, simulated), (change, simulated.makespan_ns)


def test_findings_name_the_schedule_and_the_grain(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    loop = report_of(simulate_team(loops(random, 4, 0, True), Machine(4)), tmp_path)
    (imbalance,) = [finding for finding in loop.findings if finding.cause == Cause.IMBALANCE]
    (change,) = [entry for entry in loop.what_if if "schedule(dynamic" in entry.change]
    assert imbalance.action.endswith(f"by replay: {change.change} saves {change.gain_s:.3g} s")
    (table,) = [table for table in [what_if_table(loop)] if table is not None]
    assert [str(column.header) for column in table.columns] == [
        "if",
        "it would take",
        "between",
        "instead of",
    ]


@pytest.mark.parametrize("chunk", [0, 3])
def test_a_loop_of_one_lane_has_no_other_schedule(tmp_path: Path, chunk: int) -> None:
    program = loops(np.random.default_rng(1), 1, chunk, True)
    report = report_of(simulate_team(program, Machine(2)), tmp_path)
    assert report.what_if and not any("schedule(" in entry.change for entry in report.what_if)


def test_a_replay_that_does_not_fit_names_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.analysis.predicted._LARGEST_ERROR", -1.0)
    report = report_of(simulate_team(loops(np.random.default_rng(1), 4, 0, True), Machine(4)), tmp_path)
    assert len(report.what_if) == 1
    assert not any("by replay" in finding.action for finding in report.findings)


def tasks(random: np.random.Generator, workers: int) -> TaskProgram:
    """Few long tasks behind many short ones."""
    short = [Task("short", int(time * US)) for time in random.uniform(50, 100, workers * 20)]
    long = [Task("long", int(time * US)) for time in random.uniform(2_000, 3_000, int(workers * 1.5))]
    count = len(short) + len(long)
    root = Task("root", 0, tuple(range(1, count + 1)), waits=True)
    return TaskProgram(workers, (root, *long, *short))


def in_parts(program: TaskProgram, kind: str, parts: int) -> TaskProgram:
    root, *others = program.tasks
    smaller: list[Task] = []
    for task in others:
        smaller += [replace(task, time=task.time // parts)] * parts if task.kind == kind else [task]
    return replace(program, tasks=(replace(root, children=tuple(range(1, len(smaller) + 1))), *smaller))


@pytest.mark.parametrize("parts", [2, 4])
def test_tasks_in_parts(tmp_path: Path, parts: int) -> None:
    far_off = []
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        workers = int(random.integers(3, 9))
        program, machine = tasks(random, workers), Machine(workers)
        recording = simulate_tasks(program, machine, seed)
        change = change_of(recording, tmp_path, f"task of long is divided into {parts}")
        simulated = simulate_tasks(in_parts(program, "long", parts), machine, seed)
        assert change.subject == "long" and is_within(change, simulated), (
            seed,
            change,
            simulated.makespan_ns,
        )
        if not is_close(change, simulated):
            far_off.append((seed, change, simulated.makespan_ns))
    # Which worker takes the last part decides by up to one part, here a tenth of the time.
    assert len(far_off) <= 0.1 * len(SEEDS), far_off

"""Synthetic runs with planted causes: the report blames what was planted. `TRIMTAB_FUZZ=1000` looks at so many runs, and at others."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from reports import plain
from simulated.engine import Engine, Signal
from simulated.engine import Process as Running
from simulated.generating import SINGLE, clean_case, planted_case, several_case, single_case
from simulated.machine import Cpu, Hog, Machine
from simulated.recording import Recording
from simulated.scoring import is_in_order, predicted_saving_s, report_of, score
from simulated.task_program import Task, TaskProgram
from simulated.task_simulation import simulate_tasks
from simulated.team_program import Barrier, Critical, Loop, Region, Serial, TeamProgram, Work
from simulated.team_simulation import simulate_team
from trimtab.model.enumerations import Cause, EventKind

FUZZ = int(os.environ.get("TRIMTAB_FUZZ", "0"))
# Other seeds than those that the analysis was looked at with.
FIRST = 100_000 if FUZZ else 5_000
SINGLES = FUZZ or 3 * len(SINGLE)


def allowed(share: float, count: int) -> float:
    """So many of `count` may be wrong if this share of all is; of few, two standard deviations more."""
    return share * count + (0.0 if FUZZ else 2 * (count * share * (1 - share)) ** 0.5)


def test_one_cause_is_blamed_first(tmp_path: Path) -> None:
    wrong, predicted, far_off = [], 0, []
    for seed in range(FIRST, FIRST + SINGLES):
        planted = single_case(seed)
        report = report_of(planted.recording, tmp_path)
        result = score(planted, report)
        if not result.is_right:
            wrong.append((seed, result))
        assert abs(report.what_if[0].replay_error) < 0.02, (seed, report.what_if[0])
        saving_s, cost_s = predicted_saving_s(planted, report), planted.costs_ns[0] * 1e-9
        predicted += saving_s is not None
        if saving_s is not None and abs(saving_s - cost_s) > 0.1 * cost_s:
            far_off.append((seed, planted.plants[0].cause, cost_s, saving_s))
    assert len(wrong) <= 0.01 * SINGLES, wrong  # of few: none
    assert predicted > SINGLES / 3 and len(far_off) <= allowed(0.05, predicted), far_off


def test_two_and_three_causes_are_in_order(tmp_path: Path) -> None:
    count = FUZZ // 3 or 12
    wrong = []
    for seed in range(FIRST, FIRST + count):
        planted = several_case(seed)
        report = report_of(planted.recording, tmp_path)
        if not is_in_order(planted, report):
            wrong.append((seed, score(planted, report)))
    assert len(wrong) <= max(0.05 * count, 1), wrong


@pytest.mark.parametrize("seed", range(FIRST, FIRST + 4))
def test_late_wake_ups_are_a_finding(tmp_path: Path, seed: int) -> None:
    planted = planted_case(seed, ["wake-up"])
    report = report_of(planted.recording, tmp_path)
    (late,) = [finding for finding in report.findings if finding.cause == Cause.LATE_WAKE_UPS]
    wake_ns = planted.case.machine.wake_ns
    median = re.search(r"did so ([\d.e+]+) us later in the median", late.evidence)
    # Who forks has to join, too, before it goes on.
    assert median is not None
    assert 0.99 * wake_ns <= float(median[1]) * 1e3 <= 1.01 * (wake_ns + planted.case.machine.fork_ns)
    assert late.subject is not None and "OMP_WAIT_POLICY=active" in late.action
    assert "has not gone on yet" in " ".join(late.chain)
    saved_s = predicted_saving_s(planted, report)
    assert late.gain_low_s <= late.gain_s <= late.gain_high_s and late.gain_s == saved_s


@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("others", [40, 80])
def test_a_chain_beside_other_tasks_is_a_finding(tmp_path: Path, workers: int, others: int) -> None:
    def program(has_chain: bool) -> TaskProgram:
        links = range(1, 61)
        chain = [Task("link", 200_000, inputs=(at - 1,) if has_chain and at > 1 else ()) for at in links]
        rest = [Task("other", 200_000)] * others
        return TaskProgram(
            workers, (Task("root", 0, tuple(range(1, 61 + others)), waits=True), *chain, *rest)
        )

    machine = Machine(workers)
    recording = simulate_tasks(program(True), machine, 1)
    cost_s = (recording.makespan_ns - simulate_tasks(program(False), machine, 1).makespan_ns) * 1e-9
    report = report_of(recording, tmp_path)
    chains = [finding for finding in report.findings if finding.cause == Cause.TASK_CHAIN]
    if cost_s < 0.01 * report.observed_s:
        assert not chains
        return
    (chain,) = chains
    assert chain.subject == "link" and chain is report.findings[0]
    assert chain.gain_s == pytest.approx(cost_s, rel=0.1)
    assert "has no further task" in chain.chain[0] or "has no task" in chain.chain[0]
    assert "with link on lane" in chain.chain[1]
    assert all(finding.cause != Cause.STARVATION for finding in report.findings)


@pytest.mark.parametrize("chains", [4, 8])
def test_chains_that_fill_all_workers_are_no_finding(tmp_path: Path, chains: int) -> None:
    tasks = [Task("link", 200_000, inputs=(at - chains,) if at > chains else ()) for at in range(1, 201)]
    program = TaskProgram(4, (Task("root", 0, tuple(range(1, 201)), waits=True), *tasks))
    report = report_of(simulate_tasks(program, Machine(4), 1), tmp_path)
    assert all(finding.cause != Cause.TASK_CHAIN for finding in report.findings), report.findings


def test_a_clean_run_has_no_finding(tmp_path: Path) -> None:
    for seed in range(FIRST, FIRST + (FUZZ // 5 or 12)):
        report = report_of(clean_case(seed).simulate(), tmp_path)
        worst = max((finding.gain_s for finding in report.findings), default=0.0)
        assert worst < 0.02 * report.observed_s, (seed, plain(report)["findings"])


def kinds_of(recording: Recording, lane: int) -> list[str]:
    return [f"{kind} {arg}" for _, _, kind, arg, _, _ in recording.lanes[lane].events]


def test_a_simulated_time_is_what_can_be_worked_out() -> None:
    machine = Machine(2, wake_ns=10, fork_ns=5)
    program = TeamProgram(2, (Serial(1000), Region("r", (Work((100, 300)),))))
    recording = simulate_team(program, machine)
    # The fork takes 5, the member goes on 10 later and works for 300; the forker is woken and joins.
    assert recording.makespan_ns == 1000 + 5 + 10 + 300 + 10 + 5
    assert recording.parallel_ns == 330


def test_a_lock_is_held_by_one_lane_at_a_time() -> None:
    machine = Machine(3, wake_ns=1, fork_ns=0)
    program = TeamProgram(3, (Region("r", (Critical(4, (0, 0, 0), 100),)),))
    recording = simulate_team(program, machine)
    assert recording.makespan_ns >= 12 * 100
    held = sorted(
        (at, at + a)
        for lane in recording.lanes
        for at, _, kind, _, a, _ in lane.events
        if kind == EventKind.LOCK
    )
    assert len(held) == 12
    assert all(end <= begin for (_, end), (begin, _) in pairwise(held))


def test_a_hog_takes_its_slices() -> None:
    cpu = Cpu(Machine(1, hogs=(Hog(0, ((100, 150), (200, 260))),)), 0)
    end, pauses = cpu.compute(90, 100)
    assert end == 90 + 100 + 50 + 60
    assert [(pause.begin, pause.end) for pause in pauses] == [(100, 150), (200, 260)]


def test_a_dynamic_loop_shares_out_all_iterations() -> None:
    loop = Loop(tuple(range(1, 41)), 3, True)
    recording = simulate_team(TeamProgram(3, (Region("r", (loop, Barrier())),)), Machine(3))
    done = sorted(
        (b, a) for lane in recording.lanes for _, _, kind, _, a, b in lane.events if kind == EventKind.CHUNK
    )
    assert [first for first, _ in done] == list(range(0, 40, 3))
    assert sum(count for _, count in done) == 40


@pytest.mark.parametrize("seed", range(20))
def test_no_schedule_is_shorter_than_work_and_chain_allow(seed: int) -> None:
    random = np.random.default_rng(seed)
    count, workers = 60, int(random.integers(2, 6))
    tasks = [
        Task(
            "t",
            int(random.integers(1_000, 50_000)),
            inputs=tuple(sorted({int(n) for n in random.integers(1, at, min(at - 1, 2))})) if at > 2 else (),
        )
        for at in range(1, count + 1)
    ]
    program = TaskProgram(workers, (Task("root", 0, tuple(range(1, count + 1)), waits=True), *tasks))
    recording = simulate_tasks(program, Machine(workers), seed)
    finish = [0] * (count + 1)
    for at, task in enumerate(tasks, 1):
        finish[at] = task.time + max((finish[needed] for needed in task.inputs), default=0)
    assert recording.makespan_ns >= max(max(finish), program.work_ns / workers)
    assert recording.makespan_ns <= program.work_ns + max(finish) + count * 100_000
    begun = {
        a: (at, lane.lane)
        for lane in recording.lanes
        for at, _, kind, _, a, _ in lane.events
        if kind == EventKind.TASK_BEGIN
    }
    ended = {
        a: at
        for lane in recording.lanes
        for at, _, kind, _, a, _ in lane.events
        if kind == EventKind.TASK_END
    }
    assert len(begun) == len(ended) == count + 1
    for at, task in enumerate(tasks, 1):
        assert all(ended[needed + 1] <= begun[at + 1][0] for needed in task.inputs)


def test_a_signal_wakes_who_waits_for_it() -> None:
    engine = Engine()
    signal, seen = Signal(engine), []

    def waiter() -> Running:
        yield signal
        seen.append(engine.now)

    def sender() -> Running:
        yield 50
        signal.send()

    engine.start(waiter())
    engine.start(sender())
    assert engine.run() == 50
    assert seen == [50]

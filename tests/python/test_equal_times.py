"""Reports do not depend on the order of what happens at the same time, nor on the order in which files are read."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reports import plain
from simulated.generating import clean_case
from simulated.planting import OF_TASKS, OF_TEAMS, Case
from simulated.recording import Recording
from simulated.task_program import TaskProgram
from simulated.team_program import Loop, Region, Step, TeamProgram, Work
from synthetic import write_run
from trimtab import analysis
from trimtab.readers import layout, open_run

# Work takes a multiple of this, so that lanes often end at the same time.
COARSE_NS = 200_000
# Listed by process and lane.
BY_LANE = (".lanes", ".workers")


def coarse(case: Case) -> Case:
    """The same program, with work in multiples of `COARSE_NS`."""

    def rounded(time: int) -> int:
        return max(round(time / COARSE_NS), 1) * COARSE_NS

    def of_step(step: Step) -> Step:
        if isinstance(step, Work | Loop):
            return replace(step, times=tuple(rounded(time) for time in step.times))
        return step

    program = case.program
    if isinstance(program, TaskProgram):
        tasks = tuple(replace(task, time=rounded(task.time)) for task in program.tasks)
        return replace(case, program=replace(program, tasks=tasks))
    phases = tuple(
        replace(phase, steps=tuple(of_step(step) for step in phase.steps))
        if isinstance(phase, Region)
        else phase
        for phase in program.phases
    )
    return replace(case, program=TeamProgram(program.lanes, phases))


def report_of(recording: Recording, folder: Path, shuffling: random.Random | None) -> dict[str, Any]:
    """`shuffling`: rows of each profile, context switches of different lanes at the same time, and lanes come in another order."""
    files = recording.files()
    if shuffling is not None:
        for lane in files.lanes:
            shuffling.shuffle(lane.rows)
        files.switches = _of_equal_times(files.switches, shuffling)
    run = open_run(write_run(folder, files))
    if shuffling is not None:
        processes = [
            replace(process, lanes=type(process.lanes)(reversed(process.lanes))) for process in run.processes
        ]
        run = replace(run, processes=type(run.processes)(processes))
    report: dict[str, Any] = plain(analysis.build(run))
    return report


def _of_equal_times(switches: list[bytes], shuffling: random.Random) -> list[bytes]:
    """Those of one lane stay in their order."""
    if not switches:
        return switches
    table = np.frombuffer(b"".join(switches), layout.EVENT)
    rank = np.array([shuffling.random() for _ in range(int(table["b"].max()) + 1)])
    order = np.lexsort((np.arange(len(table)), rank[table["b"].astype(int)], table["ticks"]))
    return [switches[at] for at in order.tolist()]


def differences(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two reports differ by more than rounding."""
    if isinstance(one, dict):
        for key in one:
            yield from differences(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and len(one) == len(other):
        pairs = zip(
            *(sorted(side, key=str) if path in BY_LANE else side for side in (one, other)), strict=True
        )
        for place, (left, right) in enumerate(pairs):
            yield from differences(left, right, f"{path}[{place}]")
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12):
            yield path, one, other
    elif one != other:
        yield path, one, other


@pytest.mark.parametrize("name", ["nothing", *OF_TEAMS, *OF_TASKS])
def test_the_order_of_equal_times_does_not_matter(tmp_path: Path, name: str) -> None:
    for seed in range(2):
        case = clean_case(50 + seed, "tasks" if name in OF_TASKS else "team")
        if name != "nothing":
            program = case.program
            place = (
                program.tasks[1].kind
                if isinstance(program, TaskProgram)
                else next(phase.name for phase in program.phases if isinstance(phase, Region))
            )
            planters = {**OF_TEAMS, **OF_TASKS}
            case = planters[name](case, place, 0.4, np.random.default_rng(3)).apply(case, True)
        recording = coarse(case).simulate()
        usual = report_of(recording, tmp_path / f"{seed} usual", None)
        shuffled = report_of(recording, tmp_path / f"{seed} shuffled", random.Random(seed))
        assert list(differences(usual, shuffled)) == []

"""Phases of simulated runs: a planted change is found where it is, and runs without one have none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulated.generating import clean_case
from simulated.machine import US, Machine
from simulated.planting import OF_TEAMS, Case
from simulated.scoring import report_of
from simulated.team_program import Region, Serial, TeamProgram, Work
from simulated.team_simulation import simulate_team
from trimtab.text.blame import blame_lines

LANES = 4


def part(name: str, count: int, cause: str | None, seed: int) -> tuple[Serial | Region, ...]:
    """Instances of a region, with a cause or without."""
    random = np.random.default_rng(seed)
    phases: list[Serial | Region] = []
    for _ in range(count):
        times = tuple(round(1_000_000 * random.uniform(0.98, 1.02)) for _ in range(LANES))
        phases += [Serial(2_000), Region(name, (Work(times),))]
    case = Case(TeamProgram(LANES, tuple(phases)), Machine(LANES, wake_ns=4 * US))
    if cause is not None:
        case = OF_TEAMS[cause](case, name, 0.6, np.random.default_rng(1)).apply(case, True)
    assert isinstance(case.program, TeamProgram)
    return case.program.phases


@pytest.mark.parametrize("cause", ["imbalance", "serial part", "lock"])
@pytest.mark.parametrize("first", [50, 70, 90])
def test_a_change_is_found_where_it_is(tmp_path: Path, cause: str, first: int) -> None:
    before, after = part("even", first, None, 2), part("odd", 120 - first, cause, 3)
    machine = Machine(LANES, wake_ns=4 * US)
    change_s = simulate_team(TeamProgram(LANES, before), machine).makespan_ns * 1e-9
    recording = simulate_team(TeamProgram(LANES, (*before, *after)), machine)
    report = report_of(recording, tmp_path)
    one, other = report.phases
    assert one.begin_s == 0.0 and one.end_s == other.begin_s
    assert one.end_s == pytest.approx(change_s, abs=1.5 * report.observed_s / 64)
    assert other.end_s == pytest.approx(report.observed_s, rel=0.01)
    assert (
        other.cause
        == OF_TEAMS[cause](
            Case(TeamProgram(LANES, after), machine), "odd", 0.6, np.random.default_rng(1)
        ).cause
    )
    assert one.lost < 0.05 < other.lost and one.work > other.work + 0.1
    lines = [line for line in blame_lines(report) if line.startswith("phase ")]
    assert len(lines) == 2 and f"most lost to {other.cause}" in lines[1]


def test_three_phases_are_three(tmp_path: Path) -> None:
    program = TeamProgram(
        LANES, (*part("a", 40, None, 2), *part("b", 40, "imbalance", 3), *part("c", 40, None, 4))
    )
    report = report_of(simulate_team(program, Machine(LANES, wake_ns=4 * US)), tmp_path)
    assert len(report.phases) == 3
    assert report.phases[1].cause == "imbalance" and report.phases[1].subject == "b"
    assert report.phases[1].work < min(report.phases[0].work, report.phases[2].work)


@pytest.mark.parametrize("seed", range(12))
def test_what_repeats_is_no_change(tmp_path: Path, seed: int) -> None:
    case = clean_case(7_000 + seed, "team")
    assert report_of(case.simulate(), tmp_path).phases == ()
    # Every second pass over the regions is imbalanced.
    assert isinstance(case.program, TeamProgram)
    # Passes that take an eighth of the run each would be phases.
    phases = case.program.phases * 2
    uneven = [
        replace(phase, steps=(Work((9_000_000, *[3_000_000] * (case.program.lanes - 1))), *phase.steps))
        if isinstance(phase, Region) and at // 2 % 2
        else phase
        for at, phase in enumerate(phases)
    ]
    case = replace(case, program=replace(case.program, phases=tuple(uneven)))
    assert report_of(case.simulate(), tmp_path).phases == ()

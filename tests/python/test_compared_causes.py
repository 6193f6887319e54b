"""Differences between two sides of simulated runs by cause, and runs that lie apart from others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulated.generating import clean_case
from simulated.planting import OF_TEAMS, Case
from simulated.scoring import report_of
from simulated.team_program import Region, TeamProgram, Work
from trimtab.analysis.compare import compare
from trimtab.analysis.outliers import apart
from trimtab.model.report import Report
from trimtab.text.comparison import comparison

RUNS = 6


def base() -> Case:
    """One region with one piece of work on each of four lanes, thirty times."""
    work = Work((2_000_000,) * 4)
    case = clean_case(1, "team")
    program = TeamProgram(4, tuple(Region("region", (work,)) for _ in range(30)))
    return replace(case, program=program, machine=case.machine.but(cpus=4))


def repeated(case: Case, seed: int) -> Case:
    """The same program, with other noise in its work."""
    random = np.random.default_rng(seed)
    program = case.program
    assert isinstance(program, TeamProgram)
    phases = []
    for phase in program.phases:
        if isinstance(phase, Region):
            steps = [
                Work(tuple(round(time * random.uniform(0.995, 1.005)) for time in step.times))
                if isinstance(step, Work)
                else step
                for step in phase.steps
            ]
            phase = replace(phase, steps=tuple(steps))
        phases.append(phase)
    return replace(case, program=replace(program, phases=tuple(phases)))


def side(folder: Path, first: int, planted: Callable[[int], str | None]) -> list[Report]:
    """Runs of the program; `planted`: by number of the run the cause that it has."""
    reports = []
    for number in range(RUNS):
        case, name = base(), planted(number)
        if name is not None:
            plant = OF_TEAMS[name](case, "region", 0.4, np.random.default_rng(5))
            case = plant.apply(case, True)
        reports.append(report_of(repeated(case, first + number).simulate(), folder))
    return reports


@pytest.mark.parametrize("name", ["imbalance", "straggler", "lock", "preemption", "wake-up"])
def test_the_cause_that_grew_explains_the_time(tmp_path: Path, name: str) -> None:
    result = compare(side(tmp_path, 0, lambda _: None), side(tmp_path, 100, lambda _: name))
    plant = OF_TEAMS[name](base(), "region", 0.4, np.random.default_rng(5))
    idle = [entry for entry in result["causes"] if entry["cause"] != "work"]
    assert idle[0]["cause"] == plant.cause and idle[0]["wall_s"]["is_clear"] is True
    if plant.subject:
        assert idle[0]["subject"] == ("region, critical" if name == "lock" else "region")
    explained = sum(entry["wall_s"]["difference"] for entry in result["causes"])
    assert explained == pytest.approx(result["total"]["wall_s"]["difference"], rel=0.05)
    assert result["outliers"] == []


def test_what_shrank_is_below_zero(tmp_path: Path) -> None:
    slow, fast = side(tmp_path, 0, lambda _: "imbalance"), side(tmp_path, 100, lambda _: None)
    first = next(entry for entry in compare(slow, fast)["causes"] if entry["cause"] != "work")
    assert first["cause"] == "imbalance" and first["lane_time_s"]["difference"] < 0
    assert first["lane_time_s"]["difference"] == pytest.approx(4 * first["wall_s"]["difference"], rel=0.01)


@pytest.mark.parametrize("name", ["imbalance", "preemption", "lock"])
def test_an_outlier_is_named_with_its_cause(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = side(tmp_path, 0, lambda number: name if number == 3 else None)
    names = [[f"a{number}" for number in range(RUNS)], [f"b{number}" for number in range(RUNS)]]
    result = compare(odd, side(tmp_path, 100, lambda _: None), names)
    (found,) = result["outliers"]
    assert (found["side"], found["run"], found["name"]) == ("A", 4, "a3")
    assert found["wall_s"] > 1.02 * found["others_wall_s"]
    cause = str(OF_TEAMS[name](base(), "region", 0.4, np.random.default_rng(5)).cause)
    idle = [entry["cause"] for entry in found["causes"] if entry["cause"] != "work"]
    assert idle[0] == cause
    comparison(result)
    shown = capsys.readouterr().out
    assert "a3 lies apart from the others of A" in shown and f"{cause}" in shown
    assert "core time, by cause" in shown


def test_equal_sides_have_no_outlier_and_no_clear_cause(tmp_path: Path) -> None:
    for first in (0, 1000, 2000):
        result = compare(side(tmp_path, first, lambda _: None), side(tmp_path, first + 500, lambda _: None))
        assert result["outliers"] == []
        least = 0.02 * result["total"]["wall_s"]["before"]
        assert all(abs(entry["wall_s"]["difference"]) < least for entry in result["causes"])


@pytest.mark.parametrize("count", [4, 5, 6, 8, 10, 16])
def test_noise_is_rarely_apart(count: int) -> None:
    random = np.random.default_rng(count)
    normal = sum(bool(apart((1 + 0.05 * random.standard_normal(count)).tolist(), 0.02)) for _ in range(2000))
    skewed = sum(bool(apart(random.lognormal(0, 0.05, count).tolist(), 0.02)) for _ in range(2000))
    assert max(normal, skewed) <= 0.025 * 2000


@pytest.mark.parametrize("count", [6, 10, 16])
def test_two_slow_runs_do_not_hide_each_other(count: int) -> None:
    random = np.random.default_rng(count)
    values = 1 + 0.01 * random.uniform(-1, 1, count)
    values[1], values[3] = 1.2, 1.22
    assert [entry.run for entry in apart(values.tolist(), 0.02)] == [1, 3]
    assert apart(values[:3].tolist(), 0.02) == []

"""The study of ARCS: the model of power levels, and the tables."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.arcs import OFFLINE, ONE, ONLINE, TUNER, WRITTEN, PowerModel
from benchmarks.arcs_tables import energies, power, programs, regions

MODEL = PowerModel(idle_w=25, cpu_w=45)


def test_a_level_that_is_not_reached_changes_nothing() -> None:
    assert MODEL.speed(115, 2) == 1
    assert MODEL.energy_j(200, 2, 10) == (10, pytest.approx(1150))


@pytest.mark.parametrize("level", [55, 70, 85, 100])
def test_power_is_the_level_where_it_limits(level: float) -> None:
    seconds, joules = MODEL.energy_j(level, 2, 10)
    assert seconds > 10
    assert joules / seconds == pytest.approx(level)


def results() -> dict[str, Any]:
    times = {WRITTEN: 1e-3, ONE: 1.4e-3, OFFLINE: 0.5e-3, ONLINE: 1e-3, TUNER: 0.6e-3}
    region = {
        "name": "loop.c:1",
        "calls": 1000,
        "best": {"schedule": "dynamic", "threads": "1"},
        "call_s": times,
        "wait_s": times,
    }
    walls = {level: [1000 * value] * 5 for level, value in times.items()}
    return {"machine": {"cpus": 2}, "cases": [{"title": "loop", "wall_s": walls, "regions": [region]}]}


def test_at_full_speed_one_thread_takes_less_energy_for_a_loop_that_scales_badly() -> None:
    row = power(results()).splitlines()[-1]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:] == ["2, 2", "2, 2", "2, 2", "2, 1", "2, 1"]


def test_energy_counts_the_threads_of_the_best_setting() -> None:
    row = energies(results()).splitlines()[-1]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == ["loop", "115", "1.000", "115.0", "0.50", "0.30"]


def test_tables_have_a_row_for_each_program_and_region() -> None:
    assert "0.50 (0.50 to 0.50)" in programs(results())
    assert "schedule dynamic, threads 1" in regions(results())

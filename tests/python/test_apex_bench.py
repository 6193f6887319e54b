"""The study of APEX: what its tables make of a run."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.apex import _busy, _caps, _power
from benchmarks.apex_tables import best_cap, last_power, limits, settled_after


def run_of(**figures: Any) -> dict[str, Any]:
    return {
        "updates_per_s": 2e9,
        "joules": 160.0,
        "seconds": 4.0,
        "caps": [(0.0, 8), (0.5, 3), (1.5, 1)],
        "power": [(0.0, 40.0), (1.0, 35.0), (2.0, 30.0), (3.0, 31.0)],
        "busy": [(0.0, 2.0)],
        **figures,
    }


@pytest.mark.parametrize(("watts", "cap"), [(25, 1), (30, 1), (39, 1), (40, 2), (55, 3), (60, 8), (1000, 8)])
def test_the_best_cap_is_what_the_model_has_room_for(watts: float, cap: int) -> None:
    assert best_cap(watts, 4, 8) == cap


@pytest.mark.parametrize(
    ("caps", "after"),
    [
        ([(0.0, 3)], 0.0),
        ([(0.0, 8), (0.5, 3)], 0.5),
        ([(0.0, 8), (0.5, 3), (0.8, 5), (1.1, 2), (1.4, 1)], 1.1),
        ([(0.0, 8), (0.5, 2), (0.8, 5)], None),
    ],
)
def test_it_has_settled_where_it_stays(caps: list[tuple[float, int]], after: float | None) -> None:
    assert settled_after(caps, 2) == after


def test_the_table_of_limits_counts_periods() -> None:
    case = {"watts": 32, "cpus": 2, "runs": [run_of(), run_of(caps=[(0.0, 8), (0.9, 2)])]}
    cells = [cell.strip() for cell in limits({"cases": [case]}).splitlines()[-1].split("|")[1:-1]]
    assert cells == ["32", "1", "1 / 2", "5 / 3", "40.0", "30.5"]
    assert last_power(run_of()) == pytest.approx(30.5)


def test_a_report_is_read() -> None:
    report = {
        "decisions": [
            {"time_s": 1.0, "changes": [{"knob": "workers", "to": "3"}]},
            {"time_s": 2.0, "changes": [{"knob": "grain", "to": "5"}]},
        ],
        "counters": [
            {"name": "cycles", "t_s": [1.0], "values": [5.0]},
            {"name": "energy simulated", "t_s": [0.1, 0.2, 0.4, 0.9], "values": [1.0, 2.0, 10.0, 25.0]},
        ],
        "timeline": {"t0_s": 0.0, "dt_s": 0.1, "series": [{"lanes": [1, 2, 3, 4]}, {"lanes": [1, 1, 1, 0]}]},
    }
    assert _caps(report, 8) == [(0.0, 8), (1.0, 3)]
    assert _power(report) == [(0.0, pytest.approx(25.0)), (0.4, pytest.approx(30.0))]
    assert _busy(report) == [(0.0, 3.0), (0.3, 4.0)]

"""Counters over time: points few enough for a page, and sums over lanes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import NO, LaneFile, ProcessFiles, S, write_run
from trimtab.analysis.counters import counters
from trimtab.model import Counter, Process
from trimtab.readers import open_run
from trimtab.readers.layout import SAMPLE


def process_with(path: Path, samples: list[tuple[float, int, float]], is_cumulative: bool) -> Process:
    """Samples are (seconds, lane, value), all of counter 1."""
    run = open_run(write_run(path / "run", ProcessFiles([LaneFile(), LaneFile()])))
    records = np.array([(int(t * S), 1, lane, value, 0) for t, lane, value in samples], dtype=SAMPLE)
    return replace(
        run.processes[0], samples=records, counters={1: Counter(1, "c", "s", "test", is_cumulative)}
    )


def one(process: Process, wall_s: float = 10.0) -> dict[str, Any]:
    (entry,) = counters(process, wall_s)
    return entry


def test_totals_of_lanes_add_up_and_grow_evenly(tmp_path: Path) -> None:
    # Lane 0 grows to 2 until 4 s, lane 1 to 3 until 6 s; neither grows after.
    entry = one(process_with(tmp_path, [(4, 0, 2.0), (6, 1, 3.0)], True))
    assert entry["lanes"] == 2 and len(entry["t_s"]) == len(entry["values"]) == 201
    assert np.interp([0, 2, 4, 5, 6, 10], entry["t_s"], entry["values"]) == pytest.approx(
        [0, 2, 4, 4.5, 5, 5]
    )
    # Never faster than both lanes at once: late samples make no peak.
    assert np.diff(entry["values"]).max() <= (2 / 4 + 3 / 6) * np.diff(entry["t_s"]).max() * (1 + 1e-6)


def test_levels_of_lanes_hold_from_their_sample_on(tmp_path: Path) -> None:
    entry = one(process_with(tmp_path, [(4, 0, 2.0), (6, 1, 3.0), (8, 0, 1.0)], False))
    values = dict(zip(entry["t_s"], entry["values"], strict=True))
    assert [values[t] for t in (3.95, 4.0, 5.95, 6.0, 8.0, 10.0)] == [0, 2, 2, 5, 4, 4]


def test_samples_of_no_lane_stay_as_they_are(tmp_path: Path) -> None:
    entry = one(process_with(tmp_path, [(1, NO, 5.0), (2, NO, 7.0)], False))
    assert entry["lanes"] is None and entry["t_s"] == [1, 2] and entry["values"] == [5, 7]


@pytest.mark.parametrize("count", [1, 1000, 1001, 2500, 100_000])
def test_at_most_a_thousand_points_and_the_last_one(tmp_path: Path, count: int) -> None:
    entry = one(process_with(tmp_path, [(at * 1e-4, NO, float(at)) for at in range(count)], True))
    assert min(count, 500) <= len(entry["values"]) <= 1001
    assert entry["values"][0] == 0 and entry["values"][-1] == count - 1


def test_thousands_of_lanes_and_a_long_run_are_as_few(tmp_path: Path) -> None:
    samples = [(float(at), lane, at / 2) for lane in range(50) for at in range(1, 500)]
    entry = one(process_with(tmp_path, samples, True), wall_s=500.0)
    assert len(entry["values"]) == 1000 and entry["values"][-1] == pytest.approx(50 * 499 / 2)


@pytest.mark.parametrize("lane", [NO, 0])
def test_what_is_no_number_is_left_out(tmp_path: Path, lane: int) -> None:
    odd = [float("nan"), float("inf"), -float("inf"), 1.7e308]
    entry = one(process_with(tmp_path, [(1, lane, 2.0), *((2, lane, value) for value in odd)], False))
    assert entry["values"][-1] == 2 and np.isfinite(entry["values"]).all()
    assert counters(process_with(tmp_path / "all", [(2, lane, value) for value in odd], False), 3.0) == []

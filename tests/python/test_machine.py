"""What the kernel tells of the machine, and of what others did on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from trimtab.machine import Disturbance, Reading, between, processor, reading


def test_what_others_used_is_what_was_busy_and_not_ours() -> None:
    before, after = Reading(10.0, 100.0, 1.0, 5.0, 4), Reading(12.0, 106.0, 1.4, 9.0, 4)
    result = between(before, after)
    assert result is not None
    assert (result.others, result.steal) == (pytest.approx(0.25), pytest.approx(0.05))
    assert result.is_above(0.2) and not result.is_above(0.31)
    # Two hundredths of a second are below what the kernel counts.
    assert not Disturbance(0.03, 1, 0.02, 0.0).is_above(0.1)
    # In a short run its ticks may be more than all time; 1 means never all the same.
    assert Disturbance(0.02, 1, 0.02, 0.02).others == 1.0 and not Disturbance(0.02, 1, 0.04, 0.04).is_above(
        1.0
    )
    assert between(None, after) is None


def test_proc_stat(tmp_path: Path) -> None:
    assert reading(tmp_path) is None
    (tmp_path / "stat").write_text(
        "cpu  100 50 25 1000 7 1 4 10 0 0\ncpu0 50 25 12 500 4 0 2 5 0 0\ncpu1 50 25 13 500 3 1 2 5 0 0\nintr 5\n"
    )
    result = reading(tmp_path)
    assert result is not None
    assert (result.busy_s, result.stolen_s, result.cpus) == (pytest.approx(1.80), pytest.approx(0.1), 2)
    (tmp_path / "stat").write_text("something else\n")
    assert reading(tmp_path) is None


def test_proc_cpuinfo(tmp_path: Path) -> None:
    assert processor("model name", tmp_path) == ""
    (tmp_path / "cpuinfo").write_text(
        "processor\t: 0\nmodel name\t: A: fast one\nflags\t\t: fpu tsc\n\nprocessor\t: 1\nmodel name\t: B\n"
    )
    assert processor("model name", tmp_path) == "A: fast one"
    assert processor("flags", tmp_path) == "fpu tsc"
    assert processor("model", tmp_path) == ""

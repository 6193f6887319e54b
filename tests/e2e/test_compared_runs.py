"""trimtab compare, from real runs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def sides(
    tmp_path_factory: pytest.TempPathFactory, trimtab: str, workload: Callable[[str], Path]
) -> tuple[Path, Path]:
    """Four runs a side: one thread, and two."""
    result = []
    for threads in ("1", "2"):
        folder = tmp_path_factory.mktemp(f"threads-{threads}-")
        for number in range(4):
            subprocess.run(
                [trimtab, "run", "-q", "-o", str(folder / f"r{number}"), "--", str(workload("lavamd-gcc"))],
                env={**os.environ, "OMP_NUM_THREADS": threads},
                stdout=subprocess.DEVNULL,
                check=True,
            )
        result.append(folder)
    return result[0], result[1]


def _compare(trimtab: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([trimtab, "compare", *arguments], capture_output=True, text=True, check=False)


def test_folders_of_runs_with_their_noise(trimtab: str, sides: tuple[Path, Path]) -> None:
    completed = _compare(trimtab, str(sides[0]), str(sides[1]), "--json")
    assert completed.returncode == 0, completed.stderr
    result = json.loads(completed.stdout)
    assert result["runs"] == [4, 4]
    serial = result["total"]["serial"]
    # One thread leaves half of two CPUs and more of more without work.
    assert serial["difference"] < 0 and serial["is_clear"]
    assert all(region["calls"]["difference"] == 0 for region in result["regions"])
    table = _compare(trimtab, *map(str, sides)).stdout
    assert "lavamd" in table and "differs" in table


def test_single_runs_and_lists(trimtab: str, sides: tuple[Path, Path]) -> None:
    a, b = sides
    completed = _compare(trimtab, f"{a / 'r0'},{a / 'r1'}", str(b / "r0"))
    assert completed.returncode == 0 and "2 and 1 runs" in completed.stdout
    assert "four runs" in completed.stdout and "differs" not in completed.stdout


def test_what_is_no_run(trimtab: str, sides: tuple[Path, Path], tmp_path: Path) -> None:
    completed = _compare(trimtab, str(sides[0]), str(tmp_path))
    assert (
        completed.returncode == 2
        and str(tmp_path) in completed.stderr
        and "Traceback" not in completed.stderr
    )

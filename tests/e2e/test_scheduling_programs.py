"""The programs of the scheduling study: right under each schedule, with parameters as published."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import finished

Workload = Callable[[str], Path]
# Parameters that take some milliseconds.
TINY = {
    "lavamd": ("--boxes1d", "3", "--particles", "20"),
    "hotspot3d": ("--edge", "40", "--steps", "5"),
    "sph": ("--particles", "3000"),
    "mandelbrot": ("--limit", "300", "--pixels", "40", "--steps", "3"),
}
PROGRAMS = pytest.mark.parametrize("name", TINY)
COMPILERS = pytest.mark.parametrize("compiler", ["gcc", "clang"])


def ran(program: Path, *arguments: str, schedule: str = "static") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "3", "OMP_SCHEDULE": schedule}
    return finished([str(program), *arguments], env=environment)


@PROGRAMS
@COMPILERS
@pytest.mark.parametrize("schedule", ["static", "guided", "dynamic,24"])
def test_the_answer_is_the_serial_one(workload: Workload, name: str, compiler: str, schedule: str) -> None:
    completed = ran(workload(f"study-{name}-{compiler}"), *TINY[name], schedule=schedule)
    assert completed.returncode == 0 and f"{name}: answer " in completed.stdout, completed.stderr
    assert ", right, " in completed.stdout and "time_s=" in completed.stdout


@PROGRAMS
@COMPILERS
def test_the_small_preset_has_its_recorded_answer(workload: Workload, name: str, compiler: str) -> None:
    completed = ran(workload(f"study-{name}-{compiler}"), "--preset", "small", "--check", "recorded")
    assert completed.returncode == 0 and ", right, " in completed.stdout, completed.stdout


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("lavamd", "--boxes1d 40 --particles 100"),
        ("hotspot3d", "--edge 512 --layers 8 --steps 100"),
        ("sph", "--particles 1e+06 --steps 2"),
        ("mandelbrot", "--limit 10000 --pixels 512 --x 0 --y 0 --zoom 0.5 --steps 200"),
    ],
)
def test_the_published_parameters(workload: Workload, name: str, published: str) -> None:
    completed = ran(workload(f"study-{name}-gcc"), "--nosuch", "1")
    assert completed.returncode == 2 and f"published: {published}\n" in completed.stderr


def test_a_recorded_answer_is_of_a_whole_preset(workload: Workload) -> None:
    completed = ran(workload("study-sph-gcc"), "--particles", "3000", "--check", "recorded")
    assert completed.returncode == 2 and "for the values of a preset only" in completed.stderr


@pytest.mark.parametrize(
    "wrong", [("--boxes1d", "0"), ("--boxes1d", "2.5"), ("--boxes1d", "x"), ("--boxes1d",)]
)
def test_impossible_parameters_are_errors(workload: Workload, wrong: tuple[str, ...]) -> None:
    completed = ran(workload("study-lavamd-gcc"), *wrong)
    assert completed.returncode == 2 and "unexpected argument or value at '--boxes1d'" in completed.stderr


def test_the_published_preset_has_its_recorded_answer(workload: Workload) -> None:
    # The only one that takes less than some seconds.
    completed = ran(workload("study-hotspot3d-gcc"), "--preset", "published", "--check", "recorded")
    assert completed.returncode == 0 and ", right, " in completed.stdout, completed.stdout

"""A project of somebody else: find_package(trimtab), trimtab.h from C and C++, with and without trimtab."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parent.parent / "consumer"


def _checked(*command: str | Path) -> str:
    completed = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=300)
    assert completed.returncode == 0, f"{command}: {completed.stdout}{completed.stderr}"
    return completed.stdout


@pytest.fixture(scope="module")
def built(trimtab: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("consumer")
    cmake_dir = _checked(trimtab, "--cmake-dir").strip()
    _checked("cmake", "-S", SOURCE, "-B", build, f"-Dtrimtab_DIR={cmake_dir}")
    _checked("cmake", "--build", build)
    return build


def test_its_scopes_and_counters_are_in_the_report(run: Callable[..., Any], built: Path) -> None:
    watched = run(built / "solver")
    assert (watched.done.returncode, watched.done.stdout) == (0, "1.000\n")
    report = watched.report()
    (scope,) = report["scopes"]
    assert "solver step" in scope["name"] and scope["count"] == 100
    (figure,) = [counter for counter in report["counters"] if counter["name"] == "residual"]
    assert figure["unit"] == "1" and 0 <= figure["values"][-1] < 1e-9


def test_the_header_works_from_c(run: Callable[..., Any], built: Path) -> None:
    watched = run(built / "plain")
    assert watched.done.stdout == "watched\n"
    (scope,) = watched.report()["scopes"]
    assert "plain work" in scope["name"] and scope["count"] == 10


def test_nothing_changes_without_trimtab(built: Path) -> None:
    assert _checked(built / "solver") == "1.000\n"
    assert _checked(built / "plain") == "not watched\n"


def test_the_header_and_the_task_runtime_go_into_one_program(run: Callable[..., Any], built: Path) -> None:
    watched = run(built / "both")
    assert (watched.done.returncode, watched.done.stdout) == (0, "tasks are counted\n")
    report = watched.report()
    assert any("work of both" in scope["name"] for scope in report["scopes"])
    assert {"answers", "asked"} <= {counter["name"] for counter in report["counters"]}


def test_libraries_of_the_rooms_can_be_linked(built: Path) -> None:
    assert int(_checked(built / "cpus")) == len(os.sched_getaffinity(0))

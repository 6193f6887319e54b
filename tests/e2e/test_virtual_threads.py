"""`trimtab run --virtual-threads`: GCC's static loops are shared out anew where that is safe, and nowhere else."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Compiled = Callable[..., Path]

SOURCE = (Path(__file__).parent / "static_loops.c").read_text(encoding="utf-8")
FIT = {"triangular", "two_in_one", "few", "alone"}


def threads(count: int) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(count), "OMP_WAIT_POLICY": "passive"}


@pytest.fixture
def history(tmp_path: Path) -> tuple[str, str]:
    return ("--history", str(tmp_path / "history.sqlite"))


def functions_of(decisions: list[dict[str, Any]]) -> set[str]:
    return {each["subject"].split("(")[-1].rstrip(")") for each in decisions}


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_every_iteration_runs_once_whatever_is_turned(
    run: Run, compiled: Compiled, history: tuple[str, str], level: str, count: int
) -> None:
    options = ("--tune=shuffle", "--virtual-threads", "--seed", str(count), *history)
    watched = run(compiled(SOURCE, "gcc", level), "20", options=options, env=threads(count))
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    report = watched.report()
    turned = {(change["knob"], change["to"]) for each in report["decisions"] for change in each["changes"]}
    assert {knob for knob, _ in turned} == {"blocks"}
    assert functions_of(report["decisions"]) <= FIT
    told = " ".join(each["why"] for each in report["unavailable"] if each["what"] == "virtual threads")
    assert "owned" in told and "summed" in told
    assert not any(name + "." in told for name in FIT)


def test_without_consent_nothing_is_turned(run: Run, compiled: Compiled, history: tuple[str, str]) -> None:
    watched = run(compiled(SOURCE, "gcc"), "20", options=("--tune=shuffle", *history), env=threads(2))
    assert watched.done.stdout == "right\n"
    assert watched.report()["decisions"] == []


def test_consent_without_tuning_is_an_error(trimtab: str) -> None:
    done = subprocess.run(
        [trimtab, "run", "--virtual-threads", "--", "true"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--virtual-threads needs --tune or --frozen" in done.stderr


def test_what_was_found_is_used_again_and_gives_the_same(
    run: Run, workload: Callable[[str], Path], tmp_path: Path, history: tuple[str, str]
) -> None:
    program = workload("triangular-gcc")
    arguments = ("--size", "6000", "--steps", "150")
    options = (
        "--tune",
        "--virtual-threads",
        "--search",
        "exhaustive",
        "--budget",
        "100",
        "--input-class",
        "any",
        *history,
    )
    found = run(program, *arguments, options=options, env=threads(2)).report()["decisions"]
    kept = [change["to"] for each in found if each["outcome"] == "kept" for change in each["changes"]]
    outputs = set()
    for _ in range(2):
        again = run(
            program,
            "--size",
            "6000",
            "--steps",
            "20",
            options=("--frozen", "--virtual-threads", "--input-class", "any", *history),
            env=threads(2),
        )
        outputs.add(again.done.stdout.rsplit(",", 1)[0])
        used = [change["to"] for each in again.report()["decisions"] for change in each["changes"]]
        assert used == kept[-1:]
    assert len(outputs) == 1 and next(iter(outputs)).endswith("right")

"""`--threads asat-v1` and `asat-v2` lower the priority of the team's members, and of nobody else."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Compiled = Callable[..., Path]

SOURCE = (Path(__file__).parent / "team_priority.c").read_text(encoding="utf-8")
USUAL = ("primary", "thread", "forked", "spawned", "system")


def nice_values(run: Run, program: Path, policy: str, seconds: float) -> dict[str, int]:
    """How far each nice value differs from what it would be without Trimtab."""
    env = {**os.environ, "OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive"}
    watched = run(program, str(seconds), options=("--threads", policy), env=env)
    assert watched.done.returncode == 0, watched.done.stderr
    return {
        name: int(value) for name, value in re.findall(r"([a-z ]+?) (-?\d+)(?:, |\n)", watched.done.stdout)
    }


def may_raise_priorities() -> bool:
    tried = subprocess.run(["nice", "-n", "-1", "true"], capture_output=True, text=True, check=False)
    return tried.stderr == ""


@pytest.mark.parametrize("policy", ["asat-v1", "asat-v2"])
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_members_have_a_lower_priority_and_what_the_program_creates_has_not(
    run: Run, compiled: Compiled, compiler: str, policy: str
) -> None:
    result = nice_values(run, compiled(SOURCE, compiler), policy, 20)
    assert result["member"] == 5
    assert {name: result[name] for name in USUAL} == dict.fromkeys(USUAL, 0)
    # A member's own child can only get its priority back where the process may raise priorities.
    assert result["forked by member"] == (0 if may_raise_priorities() else 5)


def test_the_value_is_a_tunable(run: Run, compiled: Compiled) -> None:
    assert nice_values(run, compiled(SOURCE), "asat-v2:nice=2", 20)["member"] == 2


@pytest.mark.parametrize("policy", ["asat-v1-timed", "asat-v2-reset", "asat-v2:nice=0"])
def test_the_variants_keep_the_priority(run: Run, compiled: Compiled, policy: str) -> None:
    result = nice_values(run, compiled(SOURCE), policy, 0.5)
    assert set(result.values()) == {0}

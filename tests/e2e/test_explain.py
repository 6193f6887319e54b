"""trimtab explain, from real runs with a planted fault."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Compiled = Callable[..., Path]

SOURCE = (Path(__file__).parent / "planted.c").read_text(encoding="utf-8")
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}


def explain(trimtab: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([trimtab, "explain", *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", params=["gcc", "clang-19"])
def straggling(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    trimtab: str,
    compiled: Compiled,
) -> Path:
    folder = tmp_path_factory.mktemp("explained") / "run"
    program = compiled(SOURCE, request.param)
    command = [trimtab, "run", "-q", "--trace", "-o", str(folder), "--", str(program), "straggler", "40"]
    subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
    return folder


def test_the_straggler_is_explained_with_its_chain(trimtab: str, straggling: Path) -> None:
    completed = explain(trimtab, str(straggling), "straggler")
    assert completed.returncode == 0, completed.stderr
    text = completed.stdout
    assert "straggler at " in text and "the longest wait for it:" in text
    assert "waits for the end of" in text and "meanwhile lane" in text
    assert "what to do: divide the longest work" in text and "by replay" in text


def test_the_list_and_json_have_the_same_findings(trimtab: str, straggling: Path) -> None:
    table = explain(trimtab, str(straggling)).stdout
    findings: list[dict[str, Any]] = json.loads(explain(trimtab, str(straggling), "--json").stdout)
    assert findings and all(finding["cause"] in table for finding in findings)
    for finding in findings:
        assert finding["gain_low_s"] <= finding["gain_s"] <= finding["gain_high_s"]
    one = json.loads(explain(trimtab, str(straggling), "1", "--json").stdout)
    assert one == findings[:1]


def test_what_is_no_finding(trimtab: str, straggling: Path) -> None:
    completed = explain(trimtab, str(straggling), "99")
    assert completed.returncode == 2 and "expected a number from 1 to" in completed.stderr
    completed = explain(trimtab, str(straggling), "skew")
    assert completed.returncode == 2 and "no finding has the cause 'skew'" in completed.stderr


def test_a_proof_has_prediction_and_measurement(trimtab: str, compiled: Compiled, tmp_path: Path) -> None:
    program = compiled(SOURCE, "gcc")
    crowded = {**os.environ, "OMP_NUM_THREADS": str(3 * (os.cpu_count() or 1))}
    run = [trimtab, "run", "-q", "--tune=off", "-o", str(tmp_path / "run"), "--", str(program), "even", "20"]
    subprocess.run(run, env=crowded, stdout=subprocess.DEVNULL, check=True)
    free = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    proved = subprocess.run(
        [trimtab, "prove", str(tmp_path / "run"), "more threads than CPUs", "--json"],
        env=free,
        capture_output=True,
        text=True,
        check=False,
    )
    assert proved.returncode == 0, proved.stderr
    proof = json.loads(proved.stdout)
    assert len(proof["with_s"]) == len(proof["without_s"]) >= 2
    assert 0 <= proof["predicted_low"] <= proof["predicted"] <= proof["predicted_high"]
    assert proof["measured_low"] <= proof["measured"] <= proof["measured_high"]
    assert "OMP_NUM_THREADS=" in proved.stderr
    refused = subprocess.run(
        [trimtab, "prove", str(tmp_path / "run"), "more threads than CPUs"],
        env=crowded,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2 and "set by you" in refused.stderr


def test_a_program_that_is_gone_is_no_proof(trimtab: str, compiled: Compiled, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(compiled(SOURCE, "gcc").read_bytes())
    program.chmod(0o755)
    crowded = {**os.environ, "OMP_NUM_THREADS": str(3 * (os.cpu_count() or 1))}
    run = [trimtab, "run", "-q", "--tune=off", "-o", str(tmp_path / "run"), "--", str(program), "even", "20"]
    subprocess.run(run, env=crowded, stdout=subprocess.DEVNULL, check=True)
    program.unlink()
    free = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    proved = subprocess.run(
        [trimtab, "prove", str(tmp_path / "run"), "more threads than CPUs"],
        env=free,
        capture_output=True,
        text=True,
        check=False,
    )
    assert proved.returncode == 2
    assert f"{program}: expected a program that can be run" in proved.stderr

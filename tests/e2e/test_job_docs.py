"""docs/guide/jobs.md and jobs-tuning.md: their examples are those of tests/consumer/jobs.cpp, which are built and run here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import finished

ROOT = Path(__file__).parent.parent.parent
TEXT = "".join((ROOT / "docs" / "guide" / name).read_text() for name in ("jobs.md", "jobs-tuning.md"))


@pytest.fixture(scope="module")
def program(trimtab: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("consumer-jobs")
    cmake_dir = finished([trimtab, "--cmake-dir"]).stdout.strip()
    source = ROOT / "tests" / "consumer"
    for command in (
        ["cmake", "-S", str(source), "-B", str(build), f"-Dtrimtab_DIR={cmake_dir}"],
        ["cmake", "--build", str(build), "--target", "jobs"],
    ):
        completed = finished(command)
        assert completed.returncode == 0, completed.stdout + completed.stderr
    return build / "jobs"


def test_every_example_is_one_that_is_run() -> None:
    source = (ROOT / "tests" / "consumer" / "jobs.cpp").read_text()
    blocks = re.findall(r"```cpp\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) >= 5
    for block in blocks:
        assert block.rstrip() in source, block


def test_the_command_says_what_is_written(trimtab: str, program: Path) -> None:
    (block,) = re.findall(r"```console\n\$ trimtab (launch .*?) \./jobs (\w+)\n(.*?)```", TEXT, re.DOTALL)
    completed = finished([trimtab, *block[0].split(), str(program), block[1]], timeout=60)
    assert (completed.returncode, completed.stdout) == (0, block[2]), completed.stderr


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("calls", "141\n"),
        ("coalesced", ""),
        ("phases", ""),
        ("together", ""),
        ("served", ""),
        ("failures", "expected a number from 0\n" * 3),
    ],
)
def test_the_other_examples_do_what_they_say(trimtab: str, program: Path, name: str, output: str) -> None:
    completed = finished([trimtab, "launch", "-n", "3", str(program), name], timeout=60)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, output, "")


def test_the_example_of_shared_load_runs(trimtab: str, program: Path) -> None:
    completed = finished([trimtab, "launch", "-n", "3", str(program), "balanced"], timeout=60)
    assert (completed.returncode, completed.stdout) == (0, ""), completed.stderr
    lines = completed.stderr.splitlines()
    assert lines and all(re.fullmatch(r"\d: \d+ tasks, [0-9.]+ \d+ periods ago", line) for line in lines), (
        lines
    )


def test_a_program_that_a_locality_starts_is_no_locality(trimtab: str, program: Path) -> None:
    completed = finished([trimtab, "launch", "-n", "2", str(program), "child"], timeout=60)
    lines = [f"no secret, no path, number {rank}" for rank in range(2)]
    assert (completed.returncode, sorted(completed.stdout.splitlines())) == (0, lines), completed.stderr


def test_a_process_is_a_locality_once(trimtab: str, program: Path) -> None:
    completed = finished([trimtab, "launch", "-n", "2", str(program), "again"], timeout=60)
    assert completed.returncode == 0, completed.stderr
    assert (
        completed.stdout.count("trimtab: this process has been a locality of the job that it was started for")
        == 2
    )


def test_a_locality_that_waits_for_the_end_answers(trimtab: str, program: Path) -> None:
    completed = finished([trimtab, "launch", "-n", "3", str(program), "asked"], timeout=60)
    assert (completed.returncode, completed.stderr) == (0, "")

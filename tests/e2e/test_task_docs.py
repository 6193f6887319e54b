"""docs/guide/tasks*.md: their examples are those of tests/consumer/tasks.cpp, which are built and run here."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted((ROOT / "docs" / "guide").glob("tasks*.md"))
TEXT = "\n".join(page.read_text() for page in PAGES)
OPTIONS = (ROOT / "docs" / "reference" / "options.md").read_text()


@pytest.fixture(scope="module")
def program(trimtab: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("consumer-tasks")
    cmake_dir = subprocess.run(
        [trimtab, "--cmake-dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    source = ROOT / "tests" / "consumer"
    for command in (
        ["cmake", "-S", source, "-B", build, f"-Dtrimtab_DIR={cmake_dir}"],
        ["cmake", "--build", build, "--target", "tasks"],
    ):
        completed = subprocess.run(
            [*map(str, command)], capture_output=True, text=True, check=False, timeout=300
        )
        assert completed.returncode == 0, completed.stdout + completed.stderr
    return build / "tasks"


def test_every_example_is_one_that_is_run() -> None:
    source = (ROOT / "tests" / "consumer" / "tasks.cpp").read_text()
    blocks = re.findall(r"```cpp\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) >= 15 and len(PAGES) >= 5
    for block in blocks:
        assert block.rstrip() in source


def test_the_command_says_what_is_written(program: Path) -> None:
    (block,) = re.findall(r"```console\n\$ \./tasks (.*?)\n(.*?)```", TEXT, re.DOTALL)
    completed = subprocess.run(
        [program, *block[0].split()], capture_output=True, text=True, check=False, timeout=60
    )
    assert completed.returncode == 0
    expected = re.escape(block[1].strip()).replace("…", ".*")
    assert re.fullmatch(expected, (completed.stdout + completed.stderr).strip()), (
        completed.stdout + completed.stderr
    )


def test_a_wrong_option_is_told(program: Path) -> None:
    completed = subprocess.run(
        [program, "--trimtab:policy=fifo"], capture_output=True, text=True, check=False, timeout=60
    )
    assert completed.returncode == 2
    assert '--trimtab:policy is "fifo", expected one of local, local-priority' in completed.stderr


def test_the_table_of_options_is_that_of_the_sources(program: Path) -> None:
    completed = subprocess.run(
        [program, "--trimtab:help"], capture_output=True, text=True, check=True, timeout=60
    )
    names = re.findall(r"^--trimtab:(\S+)", completed.stdout, re.MULTILINE)
    rows = re.findall(
        r"^\| `([a-z-]+)` \| `TRIMTAB_\w+` \| ([^|]*)\| ([^|]*) \| ([^|]*) \|$",
        OPTIONS.partition("<!-- end of options -->")[0],
        re.MULTILINE,
    )
    assert [name for name, *_ in rows] == names
    lines = dict(zip(names, completed.stdout.splitlines(), strict=True))
    for name, default, values, meaning in rows:
        assert meaning in lines[name] and values in lines[name] and default.strip() in lines[name]


def test_reports_call_tasks_as_is_written(trimtab: str, program: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [trimtab, "run", "-o", str(run), "--", str(program), "--trimtab:workers=2"]
    subprocess.run(command, capture_output=True, check=True, timeout=120)
    completed = subprocess.run(
        [trimtab, "report", str(run), "--json"], capture_output=True, check=True, timeout=120
    )
    tasks = {task["name"]: task for task in json.loads(completed.stdout)["tasks"]}
    assert {"assembly of the matrix", "solve the cells"} <= set(tasks)
    for algorithm in ("for_loop", "transform_reduce", "exclusive_scan", "reduce"):
        assert [name for name in tasks if re.fullmatch(rf"{algorithm} at tasks\.cpp:\d+", name)], algorithm
    # A spawned coroutine, and one for each fork.
    (fib,) = (task for name, task in tasks.items() if "fib_of_coroutines" in name)
    assert fib["created"] == fib["count"] == 987
    (search,) = (task for name, task in tasks.items() if re.search(r"\bsearch\b", name))
    assert search["count"] == 1 and search["suspended"] > 0
    assert not [name for name in tasks if "clone" in name]

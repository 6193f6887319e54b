"""The commands in README.md and docs/using.md do what the text says.

In docs/using.md: blocks marked `console`. A line that begins with `$ ` is a command for bash, the lines below it are
what it shows on both outputs, in this order but not without gaps; `…` stands for anything, `[exit N]` says how it ends.
A block of C++ is the source own.cpp of the commands after it. In README.md: the indented lines that begin with `trimtab`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FIT = """
from sklearn.cluster import KMeans
import numpy as np
KMeans(4, n_init=3, random_state=0).fit(np.random.default_rng(0).random((20000, 8)))
"""
SECTIONS = [
    part.split("\n", 1) for part in re.split(r"^## ", (ROOT / "docs/using.md").read_text(), flags=re.M)[1:]
]


@dataclass
class Step:
    """A command and what is promised of it."""

    command: str
    shows: list[str] = field(default_factory=list)
    code: int = 0


def steps_of(text: str) -> list[Step | str]:
    """The commands, and sources (str), in order."""
    found: list[Step | str] = []
    for kind, body in re.findall(r"^```(\S*)\n(.*?)^```$", text, flags=re.M | re.S):
        assert kind in ("console", "c++"), f"a block of kind {kind!r} is not checked"
        if kind == "c++":
            found.append(body)
            continue
        for line in body.splitlines():
            if line.startswith("$ "):
                found.append(Step(line[2:]))
                continue
            step = found[-1]
            assert isinstance(step, Step), "output before the first command"
            if match := re.fullmatch(r"\[exit (\d+)\]", line):
                step.code = int(match[1])
            else:
                step.shows.append(line)
    return found


def check(step: Step, output: str, code: int) -> None:
    """Every promised line is there, in order."""
    assert code == step.code, f"$ {step.command}\n{output}"
    rest = [" ".join(line.split()) for line in output.splitlines()]
    for promise in step.shows:
        words = " ".join(promise.split())
        pattern = "".join(".*" if part == "…" else re.escape(part) for part in re.split(r"(…)", words))
        pattern = pattern.replace(r"\ .*\ ", ".*").replace(r".*\ ", ".*").replace(r"\ .*", ".*")
        at = next((at for at, line in enumerate(rest) if re.fullmatch(pattern, line)), None)
        assert at is not None, f"$ {step.command}\npromised: {promise}\nshown:\n{output}"
        del rest[: at + 1]


@pytest.fixture(scope="module")
def shell(
    tmp_path_factory: pytest.TempPathFactory, trimtab: str, workload: Callable[[str], Path]
) -> Callable[[Step | str], None]:
    """One folder for all sections, as a reader would have: what one leaves, the next finds."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copy(workload("triangular-clang"), folder / "app")
    (folder / "fit.py").write_text(FIT)
    environment = {
        **os.environ,
        "PATH": f"{Path(trimtab).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "COLUMNS": "200",
    }
    exported: list[str] = []

    def go(step: Step | str) -> None:
        if isinstance(step, str):
            (folder / "own.cpp").write_text(step)
            return
        script = "\n".join([*exported, step.command])
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=170,
        )
        check(step, done.stdout, done.returncode)
        if step.command.startswith("export "):
            exported.append(step.command)

    return go


@pytest.mark.parametrize("section", SECTIONS, ids=[title for title, _ in SECTIONS])
def test_using(shell: Callable[[Step | str], None], section: list[str]) -> None:
    steps = steps_of(section[1])
    assert steps, "a section without a command"
    for step in steps:
        shell(step)


def test_readme(shell: Callable[[Step | str], None]) -> None:
    text = (ROOT / "README.md").read_text()
    commands = re.findall(r"^    (trimtab .*)$", text, flags=re.M)
    assert len(commands) >= 9
    for side in ("before", "after"):
        shell(Step(f"[ -d {side} ] || trimtab run -q -o {side}/1 -- ./app"))
    for command in commands:
        shell(Step(command.replace("./app args", "./app")))


def test_readme_names_commands_of_x_that_there_are() -> None:
    told = subprocess.run([ROOT / "x", "--help"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"^    \./x (\w+)", (ROOT / "README.md").read_text(), flags=re.M):
        assert f"./x {name} " in told


def test_readme_source_compiles(tmp_path: Path, trimtab: str) -> None:
    text = (ROOT / "README.md").read_text()
    match = re.search(r"(?:^    .*\n)*^    #include <trimtab\.h>\n(?:^    .*\n)+", text, flags=re.M)
    assert match is not None
    source = tmp_path / "step.cpp"
    source.write_text(textwrap.dedent(match[0]) + "int main() { step(); }\n")
    folder = subprocess.run(
        [trimtab, "--cmake-dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    include = Path(folder).parent / "include"
    subprocess.run(
        ["g++", "-std=c++17", f"-I{include}", str(source), "-o", str(tmp_path / "step")], check=True
    )
    assert subprocess.run([tmp_path / "step"], check=False).returncode == 0


def test_the_check_itself_fails_where_it_should() -> None:
    step = Step("x", ["a … c", "d"])
    check(step, "0\na b c\nd\n", 0)
    for output, code in (("a b\nd\n", 0), ("d\na b c\n", 0), ("a b c\nd\n", 1), ("a b c d\nd e\n", 0)):
        with pytest.raises(AssertionError):
            check(step, output, code)


def test_links_lead_somewhere() -> None:
    for name in ("README.md", "docs/using.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text()):
            assert ((ROOT / name).parent / target).exists(), f"{name}: {target}"

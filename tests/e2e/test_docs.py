"""The commands in README.md and docs/using.md do what the text says (`documented` says how they are read).

In README.md: the indented lines that begin with `trimtab`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from documented import ROOT, Reader, Source, Step, check, sections_of, steps_of

FIT = """
from sklearn.cluster import KMeans
import numpy as np
KMeans(4, n_init=3, random_state=0).fit(np.random.default_rng(0).random((20000, 8)))
"""
SECTIONS = sections_of("docs/using.md")
# The findings that they show are of programs that have their CPUs.
pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def shell(
    tmp_path_factory: pytest.TempPathFactory, trimtab: str, workload: Callable[[str], Path]
) -> Callable[[Step | Source], None]:
    folder = tmp_path_factory.mktemp("reader")
    shutil.copy(workload("triangular-clang"), folder / "app")
    (folder / "fit.py").write_text(FIT)
    return Reader(folder, trimtab).follow


@pytest.mark.parametrize("section", SECTIONS, ids=[title for title, _ in SECTIONS])
def test_using(shell: Callable[[Step | Source], None], section: tuple[str, str]) -> None:
    steps = steps_of(section[1])
    assert steps, "a section without a command"
    for step in steps:
        shell(step)


def test_readme(shell: Callable[[Step | Source], None]) -> None:
    text = (ROOT / "README.md").read_text()
    commands = re.findall(r"^    (trimtab .*)$", text, flags=re.M)
    assert len(commands) >= 9
    for side in ("before", "after"):
        shell(Step(f"[ -d {side} ] || trimtab run -q -o {side}/1 -- ./app"))
    shell(Source("experiment.toml", 'name = "app"\ncommand = "./app"\nsamples = 1\n'))
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
    pages = [page for where in ("*.md", "docs/*.md", "rooms/*/README.md") for page in ROOT.glob(where)]
    assert len(pages) > 20
    for page in pages:
        prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        for target, part in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", prose):
            there = page.parent / target if target else page
            assert there.exists(), f"{page.name}: {target}"
            if part:
                titles = re.findall(r"^#+ (.*)$", there.read_text(), flags=re.M)
                names = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
                assert part in names, f"{page.name}: {target}#{part}"

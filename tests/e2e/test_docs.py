"""The commands in README.md, the quickstart and the guides do what the text says (`documented` says how they are read).

In README.md: the indented lines that begin with `trimtab`, and the verdict that it shows.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from documented import ROOT, Reader, Source, Step, any_numbers, check, sections_of, steps_of

FIT = """
from sklearn.cluster import KMeans
import numpy as np
KMeans(4, n_init=3, random_state=0).fit(np.random.default_rng(0).random((20000, 8)))
"""
# Of each page its sections; what one leaves behind, the next ones of the page find.
PAGES = (
    "quickstart",
    "guide/install",
    "guide/observe",
    "guide/export",
    "guide/tune",
    "guide/tune-start",
    "guide/tune-program",
    "guide/threads",
    "guide/check",
    "guide/ci",
)
SECTIONS = [(page, *section) for page in PAGES for section in sections_of(f"docs/{page}.md")]
# Of these pages every section shows a command.
ALL_COMMANDS = ("guide/observe",)
# The findings that they show are of programs that have their CPUs.
pytestmark = pytest.mark.alone


Shell = Callable[[Step | Source], None]


@pytest.fixture(scope="module")
def shell_of(
    tmp_path_factory: pytest.TempPathFactory, trimtab: str, workload: Callable[[str], Path]
) -> Callable[[str], Shell]:
    shells: dict[str, Shell] = {}

    def of(page: str) -> Shell:
        if page not in shells:
            folder = tmp_path_factory.mktemp("reader")
            shutil.copy(workload("triangular-clang"), folder / "app")
            (folder / "fit.py").write_text(FIT)
            shells[page] = Reader(folder, trimtab).follow
        return shells[page]

    return of


@pytest.fixture
def shell(shell_of: Callable[[str], Shell]) -> Shell:
    return shell_of("README")


@pytest.mark.parametrize(
    ("page", "title", "text"), SECTIONS, ids=[f"{page}: {title}" for page, title, _ in SECTIONS]
)
def test_page(shell_of: Callable[[str], Shell], page: str, title: str, text: str) -> None:
    steps = steps_of(text)
    assert steps or page not in ALL_COMMANDS, f"{title}: a section without a command"
    for step in steps:
        shell_of(page)(step)


def test_every_page_shows_commands() -> None:
    for page in PAGES:
        assert sum(bool(steps_of(text)) for of, _, text in SECTIONS if of == page) >= 1, page


def test_readme(shell: Shell) -> None:
    text = (ROOT / "README.md").read_text()
    commands = re.findall(r"^    (trimtab .*)$", text, flags=re.M)
    assert len(commands) >= 9
    for side in ("before", "after"):
        shell(Step(f"[ -d {side} ] || trimtab run -q -o {side}/1 -- ./app"))
    shell(Source("experiment.toml", 'name = "app"\ncommand = "./app"\nsamples = 1\n'))
    for command in commands:
        shell(Step(command.replace("./app args", "./app")))


def test_the_verdict_in_the_readme_is_one(shell_of: Callable[[str], Shell]) -> None:
    (block,) = re.findall(
        r"^```text\n\$ (.*?)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.DOTALL
    )
    lines = block[1].splitlines()
    assert len(lines) >= 6 and sum(bool(re.search(r"\d %", line)) for line in lines) >= 3
    shell_of("verdict")(Step(block[0], [any_numbers(line) for line in lines]))


def test_readme_names_commands_of_x_that_there_are() -> None:
    reported = subprocess.run([ROOT / "x", "--help"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"^    \./x (\w+)", (ROOT / "README.md").read_text(), flags=re.M):
        assert f"./x {name} " in reported


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
    pages = [page for place in ("*.md", "docs/**/*.md", "rooms/*/README.md") for page in ROOT.glob(place)]
    assert len(pages) > 50
    for page in pages:
        prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        for target, part in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", prose):
            other_place = page.parent / target if target else page
            assert other_place.exists(), f"{page.name}: {target}"
            if part:
                titles = re.findall(r"^#+ (.*)$", other_place.read_text(), flags=re.M)
                names = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
                assert part in names, f"{page.name}: {target}#{part}"

"""The pages in docs/: short, listed, and of today where they repeat sources, commands and results."""

from __future__ import annotations

import re
from pathlib import Path

import command_page
import pytest
from documented import ROOT, any_numbers
from trimtab.policies.policy import EVENTS

DOCS = ROOT / "docs"
# Lines of a page that somebody reads from the beginning to the end: a few screens.
MOST_LINES = 210
READ_THROUGH = sorted(
    [
        *DOCS.glob("*.md"),
        *(page for part in ("guide", "concepts", "developer") for page in DOCS.glob(f"{part}/*.md")),
    ]
)


def words_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", READ_THROUGH, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_is_short_and_has_no_tables_of_benchmarks(page: Path) -> None:
    text = words_of(page)
    assert len(text.splitlines()) <= MOST_LINES
    assert "<!-- bench" not in text


def test_every_page_is_listed() -> None:
    index = words_of(DOCS / "README.md")
    linked = {(DOCS / target).resolve() for target in re.findall(r"\]\(([^)#]+)", index)}
    # These list pages themselves.
    for list_page in (DOCS / "performance/README.md",):
        assert list_page in linked
        linked |= {
            (list_page.parent / target).resolve()
            for target in re.findall(r"\]\(([^)#]+)", words_of(list_page))
        }
    pages = {page for page in DOCS.glob("**/*.md") if page != DOCS / "README.md"}
    assert len(pages) > 40
    assert sorted(str(page) for page in pages - linked) == []


def test_commands_are_those_of_the_command() -> None:
    assert words_of(command_page.PAGE) == command_page.page(), "run .venv/bin/python tests/command_page.py"


def test_the_page_of_commands_names_every_option() -> None:
    text = command_page.page()
    assert "| `--tune[=off\\|on\\|shuffle]` |" in text
    assert "| `--resume, --no-resume` |" in text
    assert "--level" not in text, "hidden options stay hidden"
    assert text.count("\n## trimtab ") >= 15


def test_trimtab_h_is_described_whole() -> None:
    header = (ROOT / "rooms/observe/include/trimtab.h").read_text(encoding="utf-8")
    text = words_of(DOCS / "reference/trimtab.h.md")
    functions = set(re.findall(r"static inline [^()\n]*?(trimtab_\w+)\(", header))
    members = set(re.findall(r"\(\*(\w+)\)\(", header)) - {"get"}
    constants = set(re.findall(r"\bTRIMTAB_(?:PROFILE|TRACE|CLOCK_\w+|WORKER_\w+)\b", header))
    assert len(functions) >= 15 and len(members) >= 30 and len(constants) >= 9
    assert sorted(function for function in functions if f"`{function}(" not in text) == []
    assert sorted(member for member in members if not re.search(rf"`{member}\b", text)) == []
    assert sorted(constant for constant in constants if f"`{constant}`" not in text) == []
    for cause in re.findall(r"TRIMTAB_CAUSE_(\w+)", header):
        assert cause in text


def rows_of(page: Path, head: str) -> list[list[str]]:
    """Cells of the table that begins with `head`."""
    _, _, after = words_of(page).partition(f"{head}\n|---")
    assert after, f"{page}: expected a table that begins {head!r}"
    lines = after.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_tunables_are_those_of_the_sources() -> None:
    source = (ROOT / "rooms/steer/src/thread_fitting/tunables.cpp").read_text(encoding="utf-8")
    known_values = {
        (name, kind.replace("_", "-"))
        for name, kind in re.findall(r'\{"([\w.]+)", \[\]\((\w+)_options& of', source)
    }
    assert len(known_values) > 25
    kinds = {kind for _, kind in known_values}
    described = set()
    for names, of, *_ in rows_of(
        DOCS / "reference/thread-policies.md", "| tunable | of | default | meaning |"
    ):
        named = set(re.findall(r"`([\w-]+)`", of))
        if of.startswith("all `asat`"):
            named = {kind for kind in kinds if kind.startswith("asat")} - (named - {"asat"})
        described |= {(name, kind) for name in re.findall(r"`([\w.]+)`", names) for kind in named}
    assert described - {("dip_below", "asat-v2")} == known_values


def test_searches_and_events_are_those_of_the_sources() -> None:
    source = (ROOT / "rooms/steer/src/search.cpp").read_text(encoding="utf-8")
    names = re.findall(r'\{search_kind::\w+, "([\w-]+)"', source)
    rows = rows_of(DOCS / "guide/tune.md", "| search | what it does |")
    assert sorted(re.findall(r"`([\w-]+)`", row[0])[0] for row in rows) == sorted(names) and len(names) >= 7
    reported = rows_of(DOCS / "guide/policies.md", "| event | of | value | when |")
    assert sorted(name for row in reported for name in re.findall(r"`(\w+)`", row[0])) == sorted(EVENTS)


def test_files_that_developers_are_sent_to_exist() -> None:
    named = {
        name
        for page in DOCS.glob("developer/*.md")
        for name in re.findall(
            r"`((?:rooms|python|tests|viewer|benchmarks|workloads|schema)/[^`\s]+)`", words_of(page)
        )
        if "NAME" not in name
    }
    assert len(named) > 60
    missing = [name for name in named if not list(ROOT.glob(name)) and not name.endswith("page.html")]
    assert sorted(missing) == []


def test_the_summary_of_performance_is_in_its_pages() -> None:
    folder = DOCS / "performance"
    rows = re.findall(r"^\| (.*) \| \[[\w-]+\]\(([\w-]+\.md)\) \|$", words_of(folder / "README.md"), re.M)
    assert len(rows) >= 15
    for cells, page in rows:
        text = words_of(folder / page)
        result = [cell for cell in cells.split(" | ") if "(" in cell.split("METG")[0] or " of " in cell]
        values = [cell for cell in result if re.match(r"[+-]?\d", cell)]
        assert values, cells
        for value in values:
            assert f" {value} |" in text, f"{page} does not have {value!r}, as README.md says: {cells}"


def test_any_numbers_leaves_words_alone() -> None:
    line = "region triangular.c:19 (main): 5 calls, 1.2 s, waits 582 ms"
    assert any_numbers(line) == "region triangular.c:… (main): … calls, …, waits …"
    assert any_numbers("lane x2 of 10 sets") == "lane x2 of … sets"

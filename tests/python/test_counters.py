"""`trimtab counters`, and that docs/reference/counters.md says the same as the table in the sources."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from trimtab import paths
from trimtab.cli.common import PROBES
from trimtab.cli.counters import TABLES, read_counters
from trimtab.cli.main import main

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def _tables_of_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As installed: the headers of all rooms in one folder."""
    (tmp_path / "trimtab").mkdir()
    for room in ("tasks", "parcels"):
        headers = ROOT / "rooms" / room / "include" / "trimtab" / room
        (tmp_path / "trimtab" / room).symlink_to(headers)
    monkeypatch.setattr(paths, "include_dir", lambda: tmp_path)


def test_every_row_of_the_tables_is_read() -> None:
    texts = [(paths.include_dir() / "trimtab" / table).read_text() for table in TABLES]
    rows = [
        line
        for text in texts
        for line in text.splitlines()
        if re.match(r"(ACTION_|DESTINATION_|SERVER_)?COUNTER\(", line)
    ]
    assert len(read_counters()) == len(rows) > 50
    assert all(counter.how in ("exact", "estimated") for counter in read_counters())


def test_a_pattern_chooses() -> None:
    completed = CliRunner().invoke(main, ["counters", "idle", "--json"])
    assert completed.exit_code == 0
    assert [load["path"] for load in json.loads(completed.stdout)] == ["/threads/idle-rate"]


def test_nothing_found_is_told() -> None:
    completed = CliRunner().invoke(main, ["counters", "colour"])
    assert completed.exit_code != 0
    assert "'colour'" in completed.output


def test_the_documentation_says_the_same() -> None:
    text = (ROOT / "docs" / "reference" / "counters.md").read_text()
    for counter in read_counters():
        assert f"| `{counter.path}` | {counter.unit} | {counter.how} | {counter.meaning} |" in text


def test_option_with_knows_the_probes_of_the_library() -> None:
    table = (ROOT / "rooms/observe/src/probes/table.cpp").read_text()
    assert tuple(re.findall(r'^    \{"(\w+)", ', table, re.MULTILINE)) == PROBES

"""`trimtab counters`, and that docs/reference/counters.md says the same as the table in the sources."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from trimtab import paths
from trimtab.cli.common import PROBES
from trimtab.cli.counters import read_counters
from trimtab.cli.main import main

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def _table_of_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "include_dir", lambda: ROOT / "rooms" / "tasks" / "include")


def test_every_row_of_the_table_is_read() -> None:
    table = (paths.include_dir() / "trimtab" / "tasks" / "core" / "counter_table.inc").read_text()
    rows = [line for line in table.splitlines() if line.startswith("COUNTER(")]
    assert len(read_counters()) == len(rows) > 20
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

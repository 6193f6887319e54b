"""Tests of the benchmark of messages: the choice of static settings, and the tables."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks import docs
from benchmarks.__main__ import SUITES
from benchmarks.message_tables import BARS, message_phases, message_targets, setting_against
from benchmarks.messages import ADAPTIVE, ALONE, PHASES, TRANSPORTS, choose, gathered, read_round
from benchmarks.running import BenchError


def _line(**overrides: object) -> str:
    entry = {"phase": "ping", "setting": ADAPTIVE, "value": 5.0, "messages": 2, "parcels": 6}
    return json.dumps({**entry, **overrides})


def test_reads_a_round() -> None:
    """Values and parcels a message, by phase and setting."""
    result = read_round("\n".join([_line(), _line(setting=ALONE, value=7, messages=0)]))
    assert result.values == {"ping": {ADAPTIVE: 5.0, ALONE: 7.0}}
    assert result.parcels == {"ping": {ADAPTIVE: 3.0, ALONE: 6.0}}
    assert gathered([result, result])["ping"][ALONE] == [7.0, 7.0]


@pytest.mark.parametrize("line", ["not JSON", "[]", '{"phase": "ping"}'])
def test_says_what_it_could_not_read(line: str) -> None:
    """The line is in the error."""
    with pytest.raises(BenchError, match="expected a line of JSON, found"):
        read_round(line)


def test_chooses_the_least_median_of_each_kind() -> None:
    """One low value is luck."""
    by_setting = {
        ADAPTIVE: [0.0],
        ALONE: [5.0, 5.0, 5.0],
        "4:20:0": [1.0, 9.0, 9.0],
        "4:20:1": [7.0],
        "8:20:1": [6.0],
    }
    assert choose(by_setting) == {"strict": ALONE, "before": "8:20:1"}


def _results() -> dict[str, Any]:
    values = {ADAPTIVE: [10.0] * 12, ALONE: [20.0] * 12, "64:100:0": [40.0] * 12, "64:100:1": [12.0] * 12}
    return {
        "cases": [
            {
                "name": transport,
                "chosen": {phase: {"strict": "64:100:0", "before": "64:100:1"} for phase in PHASES},
                "phases": {phase: dict(values) for phase in PHASES},
                "parcels_a_message": {phase: dict.fromkeys(values, 2.0) for phase in PHASES},
            }
            for transport in TRANSPORTS
        ]
    }


def test_compares_with_what_each_bar_names() -> None:
    """The better of the two kinds is the best static setting."""
    case = _results()["cases"][0]
    assert {bar.against: setting_against(case, bar) for bar in BARS} == {
        "alone": ALONE,
        "strict": "64:100:0",
        "static": "64:100:1",
        "before": "64:100:1",
    }


def test_judges_each_bar() -> None:
    """A ratio, and for shared memory's ping a difference."""
    text = message_targets(_results())
    assert text.count("| met ") == 2 * len(BARS)
    assert "-10 ns (-10 to -10)" in text
    slow = _results()
    for phase in PHASES:
        slow["cases"][0]["phases"][phase][ADAPTIVE] = [100.0] * 12
    assert message_targets(slow).count("| not met ") == len(BARS)


def test_shows_every_phase_once() -> None:
    """Each setting that was chosen, for each transport."""
    text = message_phases(_results())
    assert len(text.splitlines()) == 2 + 2 * len(PHASES) * 4


def test_page_shows_the_kept_results() -> None:
    """The tables are made, not written."""
    suite = SUITES["messages"]
    text = suite.page.read_text(encoding="utf-8")
    assert docs.filled(text, json.loads(suite.kept.read_text(encoding="utf-8")), suite.blocks) == text

"""Recorded and replayed decisions side by side: what was cut off is no difference, everything else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trimtab import replaying
from trimtab.replaying import Decision


def line(number: int, **overrides: Any) -> dict[str, Any]:
    return {
        **{"number": number, "time_s": 0.5, "subject": 7, "is_applied": True, "policy": "tuner"},
        **{"changes": [{"knob": "chunk", "from": 1, "to": number}], "outcome": 1, "gain": 0.1},
        **{"uncertainty": 0.2, "pairs": 3, "reason": "why", "evidence": "a=1"},
        **overrides,
    }


def decision(number: int) -> Decision:
    return Decision(number, 7, "tuner", "trial", (("chunk", 1, number & 0xFF),), 0.1, 0.2, 3, "why", "a=1")


class FakeProcess:
    directory = Path("/nowhere/12-0")


def compared(
    monkeypatch: pytest.MonkeyPatch,
    recorded: list[Decision],
    lines: list[dict[str, Any]],
    is_whole: bool = True,
    until: int = 3,
    first: int = 0,
) -> replaying.Replayed:
    monkeypatch.setattr(replaying, "_recorded", lambda _: {entry.number: entry for entry in recorded})
    summary = {"first": first, "recorded_until": until, "is_whole": is_whole, "snapshots": 9, "end_s": 1.5}
    return replaying._compared(FakeProcess(), Path("snapshots.txt"), lines, summary)  # type: ignore[arg-type]


ALL = [decision(1), decision(2), decision(3)]


def test_the_same_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    result = compared(monkeypatch, ALL, [line(1), line(2), line(3)])
    assert (result.decisions, result.difference, result.not_compared) == (3, None, 0)
    assert result.as_json()["process"] == "12-0"


@pytest.mark.parametrize(
    "field", ["subject", "policy", "outcome", "changes", "gain", "pairs", "reason", "evidence"]
)
def test_each_field_counts(monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    others: dict[str, Any] = {"subject": 8, "policy": "fit", "outcome": 2, "changes": [], "gain": 0.1 + 1e-16}
    other = line(2, **{field: others.get(field, 5 if field == "pairs" else "x")})
    result = compared(monkeypatch, ALL, [line(1), other, line(3)])
    assert result.decisions == 1 and result.difference is not None and result.difference.number == 2


def test_what_could_not_be_applied_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line(1), line(2, is_applied=False), line(3)]
    result = compared(monkeypatch, [ALL[0], ALL[2]], lines)
    assert (result.decisions, result.unapplied, result.difference) == (3, 1, None)
    result = compared(monkeypatch, [ALL[0], ALL[2]], [line(1), line(2), line(3)])
    assert result.difference is not None and result.difference.recorded is None


@pytest.mark.parametrize("is_whole", [True, False])
def test_only_what_is_behind_a_cut_is_passed_over(monkeypatch: pytest.MonkeyPatch, is_whole: bool) -> None:
    for recorded, lines in (
        (ALL[:2], [line(1), line(2), line(3)]),
        ([*ALL, decision(4)], [line(1), line(2), line(3)]),
    ):
        result = compared(monkeypatch, recorded, lines, is_whole)
        assert (result.difference is None) == (not is_whole)
        assert result.not_compared == (0 if is_whole else 1)
    for recorded, lines in (
        ([ALL[0], ALL[2]], [line(1), line(2), line(3)]),  # a hole is no cut
        (ALL, [line(1), line(2)]),  # the snapshots say that there were three
        (ALL, [line(1), line(2), line(3), line(4)]),  # and no four
    ):
        result = compared(monkeypatch, recorded, lines, is_whole)
        assert result.difference is not None


def test_each_runtime_has_numbers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    first = 1 << 32
    of_runtime = [replace(decision(first + entry), changes=(("chunk", 1, entry),)) for entry in (1, 2, 3)]
    lines = [line(first + entry, changes=[{"knob": "chunk", "from": 1, "to": entry}]) for entry in (1, 2, 3)]
    result = compared(monkeypatch, [*ALL, *of_runtime], lines, first=first, until=3)
    assert (result.decisions, result.difference) == (3, None)

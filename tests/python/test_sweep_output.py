"""Figures in what programs print."""

from __future__ import annotations

import doctest
import importlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.experiments.output import figures_in


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("time=1.5", {"time": (1.5, "")}),
        ("time=1.5 s", {"time": (1.5, "s")}),
        ("time=1.5 s lups=2e6 1/s", {"time": (1.5, "s"), "lups": (2e6, "1/s")}),
        ("time_s=0.25 points=100 partitions=10 idle_rate=0.1", None),
        ("result: time=2 s, misses=3", {"time": (2.0, "s"), "misses": (3.0, "")}),
        ("took time=2 seconds of three", {"time": (2.0, "")}),
        ("/threads/idle-rate=12 %", {"/threads/idle-rate": (12.0, "%")}),
        ("a=-1 b=+.5 c=1e-3", {"a": (-1.0, ""), "b": (0.5, ""), "c": (0.001, "")}),
        ("time=none other=1", {"other": (1.0, "")}),
        ("version=1.2.3 x=0x10 y=3s", {}),
        ("time=nan time2=inf big=1e999", {}),
        ("x == 3, url=http://a?b=1", {}),
        ("a=1=2", {}),
        (
            '{"time": 1.5, "nested": {"n": 2}, "s": "x", "b": true, "none": null}',
            {"time": (1.5, ""), "nested.n": (2.0, "")},
        ),
        ('{"time": NaN, "big": 1e999}', {}),
        ("{not json", {}),
        ("[1, 2]", {}),
    ],
)
def test_lines(line: str, found: dict[str, tuple[float, str]] | None) -> None:
    if found is None:
        found = {
            "time_s": (0.25, ""),
            "points": (100.0, ""),
            "partitions": (10.0, ""),
            "idle_rate": (0.1, ""),
        }
    assert figures_in(f"before\n{line}\nafter\n") == found


def test_the_last_of_a_name_counts() -> None:
    assert figures_in('a=1\nb=2\n{"a": 3}\n') == {"a": (3.0, ""), "b": (2.0, "")}


@given(st.text())
def test_any_output_is_read(text: str) -> None:
    for value, unit in figures_in(text).values():
        assert value == value and isinstance(unit, str)


@pytest.mark.parametrize(
    "module",
    [
        "experiments.columns",
        "experiments.factors",
        "experiments.formula",
        "escapes",
        "experiments.output",
        "experiments.page",
        "experiments.summary",
        "experiments.templates",
        "text.sweep",
    ],
)
def test_examples(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"trimtab.{module}"))
    assert result.attempted > 0 and result.failed == 0

"""The page that carries a report: what Python puts into it, and what it may do."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from reports import typed
from trimtab.escapes import all_printable
from trimtab.report import html, page, write_html


def data_of(text: str) -> str:
    """What stands in the element that holds the report."""
    result = re.findall(r'<script type="application/json" id="report">(.*?)</script>', text, re.DOTALL)
    assert len(result) == 1
    return str(result[0])


def same(left: Any, right: Any) -> bool:
    """Equal to the digits that a page keeps."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) or isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-6)
    return bool(left == right)


def test_report_comes_out_as_it_went_in() -> None:
    report = samples.report()
    assert same(json.loads(data_of(page(typed(report)))), report)


def test_no_text_of_the_program_is_markup() -> None:
    report = samples.hostile()
    text = page(typed(report))
    data = data_of(text)
    assert data.isascii() and not set(data) & set("<>&")
    reported = json.loads(data)
    assert reported["regions"][1]["name"] == report["regions"][1]["name"]
    # A page shows what a terminal would: no change of direction, no control character.
    assert reported["machine"] == all_printable(report["machine"])
    assert all(entry.isprintable() for text in reported["machine"].items() for entry in text)
    # The markup around it is that of any other report.
    assert text.replace(data, "") == page(typed(samples.report())).replace(
        data_of(page(typed(samples.report()))), ""
    )


def test_what_is_no_number_is_null() -> None:
    report = samples.report()
    report["efficiency"], report["regions"][0]["wall_s"] = math.nan, -math.inf
    reported = json.loads(data_of(page(typed(report))))
    assert reported["efficiency"] is None and reported["regions"][0]["wall_s"] is None


def test_lanes_of_the_largest_regions_only_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "_MOST_LANES", 10)
    report = samples.report(regions=4, lanes=4)
    before = copy.deepcopy(report)
    regions = json.loads(data_of(page(typed(report))))["regions"]
    assert [len(region["lanes"]) for region in regions] == [4, 4, 0, 0]
    assert [region.get("lanes_omitted", False) for region in regions] == [False, False, True, True]
    assert report == before


def test_policy_allows_our_own_script_and_style_and_nothing_else() -> None:
    text = page(typed(samples.report()))
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules.keys() == {"default-src", "script-src", "style-src", "base-uri", "form-action"}
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for rule, element in (("script-src", "script"), ("style-src", "style")):
        (content,) = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_only_a_served_page_may_ask_its_server() -> None:
    policy = 'http-equiv="Content-Security-Policy" content="default-src \'none\';'
    plain, served = page(typed(samples.report())), page(typed(samples.report()), is_served=True)
    assert policy in plain and "connect-src" not in plain
    assert f"{policy} connect-src 'self';" in served


def test_page_asks_for_nothing() -> None:
    text = page(typed(samples.report()))
    code = text.replace(data_of(text), "")
    for word in (
        "http:",
        "https:",
        "//cdn",
        "@import",
        "url(",
        " src=",
        "XMLHttpRequest",
        "WebSocket",
        "eval(",
    ):
        assert word not in code, word
    assert len(code) < 1_000_000
    assert "Leon Sorokin" in code  # the licence of the chart library asks for it


def test_same_report_same_bytes(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_html(typed(samples.report()), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"a.html", "b.html"}


def test_page_that_was_not_built_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "_PAGE", tmp_path / "page.html")
    with pytest.raises(FileNotFoundError, match="not built") as reported:
        write_html(typed(samples.report()), tmp_path / "out.html")
    assert reported.value.filename == str(tmp_path / "page.html")
    (tmp_path / "page.html").write_text("<html></html>")
    with pytest.raises(OSError, match="expected @@REPORT@@"):
        write_html(typed(samples.report()), tmp_path / "out.html")
    assert not (tmp_path / "out.html").exists()


def test_figures_over_time_of_the_busiest_processes_only_where_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(html, "_MOST_PROCESSES", 1)
    reported = json.loads(data_of(page(typed(samples.two_ranks()))))
    assert [process["timeline"] is not None for process in reported["processes"]] == [True, False, False]
    assert {counter["process"] for counter in reported["counters"]} == {"7-0"}
    assert {lane["process"] for lane in reported["lanes"]} == {"7-0", "9-0"}

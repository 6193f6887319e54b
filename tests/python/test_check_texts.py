"""Texts of plain runs against one of a tuned run: what is charged to tuning, what is not, and where."""

from __future__ import annotations

import doctest
import importlib
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.answer_check.compare import DIFFERS, ITSELF, SAME, WITHIN, Compared, Rules, worst
from trimtab.answer_check.numbers import NO_GAP, Gap, gap, split, value_of
from trimtab.answer_check.texts import compare_texts

EXACT = Rules()
CLOSE = Rules(relative=1e-9)
SUM = "0.1 + 0.2 = 0.30000000000000004\n"


def compared(plain: str | list[str], tuned: str, rules: Rules = EXACT) -> Compared:
    texts = [plain] * 3 if isinstance(plain, str) else plain
    return compare_texts([text.encode() for text in texts], tuned.encode(), rules)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1 -2 +3.5 .5 5. 1e3 -1.5E-3", [1, -2, 3.5, 0.5, 5, 1000, -0.0015]),
        ("1.5D-03 1.5d3 1.5Q2 0.25-101 0.25+101", [0.0015, 1500, 150, 0.25e-101, 0.25e101]),
        ("nan -inf Infinity 1e999", [math.nan, -math.inf, math.inf, math.inf]),
        ("t=12ms 35% (1.0,-2e5) 19:34 x:-3", [12, 35, 1, -2e5, 19, 34, -3]),
        ("2026-11-21 a-5 1.0-3", [2026, 11, 21, 5, 1, 3]),
        ("0x7f 0x1F.8 v1.2.3 x1 info nano _2 1.2.3", [1.2]),
        ("1 2\t3", [1, 2, 3]),
    ],
)
def test_numbers_in_text(text: str, values: list[float]) -> None:
    pieces, numbers = split(text.encode())
    result = [value_of(number) for number in numbers]
    assert len(result) == len(values)
    assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(result, values, strict=True)), (
        result
    )
    joined = b"".join(a + b for a, b in zip(pieces, (*numbers, b""), strict=True))
    assert joined == text.encode(), "nothing is lost"


def test_gaps() -> None:
    assert gap(2.0, 1.0) == gap(1.0, 2.0) == Gap(1.0, 0.5)
    assert gap(math.nan, math.nan) == gap(math.inf, math.inf) == gap(0.0, -0.0) == NO_GAP
    for other in (1.0, math.nan, -math.inf):
        assert gap(math.inf, other) == Gap(math.inf, math.inf)
    assert gap(1e308, -1e308) == Gap(math.inf, 2.0)
    assert worst([]) == SAME and worst([WITHIN, DIFFERS, SAME]) == DIFFERS


@pytest.mark.parametrize(
    ("tuned", "rules", "verdict"),
    [
        ("x 1.0\n", EXACT, SAME),
        ("x 1.00\n", EXACT, DIFFERS),
        ("x 1.00\n", CLOSE, WITHIN),
        ("x  1.0\n", EXACT, DIFFERS),
        ("x 1.0", EXACT, DIFFERS),
        ("x 1.0\r\n", CLOSE, DIFFERS),
        ("x 1.0000000009\n", CLOSE, WITHIN),
        ("x 1.000000002\n", CLOSE, DIFFERS),
        ("x 1.000000002\n", Rules(absolute=1e-8), WITHIN),
        ("x nan\n", Rules(relative=1.0), DIFFERS),
        ("y 1.0\n", CLOSE, DIFFERS),
        ("x 1.0\nx 1.0\n", CLOSE, DIFFERS),
        ("", CLOSE, DIFFERS),
    ],
)
def test_against_plain_runs_that_agree(tuned: str, rules: Rules, verdict: str) -> None:
    result = compared("x 1.0\n", tuned, rules)
    assert result.verdict == verdict
    assert result.by_itself == 0 and (result.differences > 0) == (verdict == DIFFERS)


def test_where_it_differs_and_how_far() -> None:
    result = compared("head\nE = 3.0 J\ntail\n", "head\nE = 4.0 J\ntail\n")
    (place,) = result.places
    assert (place.unit, place.number, place.expected, place.found) == ("line", 2, "E = 3.0 J", "E = 4.0 J")
    assert result.gap == Gap(1.0, 0.25) and not result.hint


def test_a_line_more_is_one_difference() -> None:
    lines = [f"line {number}\n" for number in range(20)]
    result = compared("".join(lines), "".join([*lines[:5], "warning\n", *lines[5:]]))
    assert result.differences == 1
    assert (result.places[0].number, result.places[0].expected, result.places[0].found) == (
        6,
        None,
        "warning",
    )
    shorter = compared("".join(lines), "".join(lines[:-1]))
    assert (shorter.differences, shorter.places[0].expected, shorter.places[0].found) == (1, "line 19", None)


def test_only_a_few_places_are_shown() -> None:
    result = compared("".join(f"{n}\n" for n in range(50)), "".join(f"{n + 50}\n" for n in range(50)))
    assert result.differences == 50 and len(result.places) == 5
    assert [place.number for place in result.places] == [1, 2, 3, 4, 5]


def test_a_long_line_is_shown_where_it_differs() -> None:
    result = compared("x" * 500 + "1" + "y" * 500, "x" * 500 + "2" + "y" * 500)
    place = result.places[0]
    assert place.expected is not None and place.found is not None
    assert "x1y" in place.expected and "x2y" in place.found and len(place.found) < 200


def test_rounding_has_a_hint_that_is_true() -> None:
    tuned = "0.1 + 0.2 = 0.3\n"
    result = compared(SUM, tuned)
    assert result.verdict == DIFFERS
    match = re.search(r"--tolerance (\S+) ", result.hint)
    assert match is not None
    assert compared(SUM, tuned, Rules(relative=float(match[1]))).verdict == WITHIN
    assert not compared(SUM + "a\n", tuned + "b\n").hint, "text differs, too"


def test_times_are_not_charged_and_the_answer_beside_them_is() -> None:
    plain = [f"answer 3.75, {time} s\n" for time in ("0.91", "10.2", "0.9")]
    result = compared(plain, "answer 3.75, 0.0004 s\n")
    assert (result.verdict, result.by_itself) == (ITSELF, 1) and not result.is_unchecked
    assert compared(plain, "answer 2.25, 0.9 s\n").verdict == DIFFERS
    assert compared(plain, "result 3.75, 0.9 s\n").verdict == DIFFERS
    assert compared(plain, plain[1]).verdict == SAME


def test_rounding_that_differs_by_itself_is_still_compared() -> None:
    plain = ["E 37000.000000000001\n", "E 37000.000000000007\n"]
    nearby = compared(plain, "E 37000.00000000002\n")
    assert nearby.verdict == ITSELF and 0 < nearby.gap.relative < 1e-14
    assert compared(plain, "E 220000.0\n").verdict == DIFFERS


def test_what_agrees_by_chance_has_the_spread_of_its_kind() -> None:
    plain = [
        "step 1: E 2.0, 0.15 s\nstep 2: E 3.0, 0.11 s\nstep 3: E 4.0, 0.12 s\n",
        "step 1: E 2.0000000000000004, 0.13 s\nstep 2: E 3.0, 0.11 s\nstep 3: E 4.0, 0.14 s\n",
    ]
    tuned = "step 1: E 2.0, 0.15 s\nstep 2: E 3.0000000000000004, 0.19 s\nstep 3: E 4.0, 0.14 s\n"
    result = compared(plain, tuned)
    assert (result.verdict, result.by_itself) == (ITSELF, 3)
    assert compared(plain, tuned.replace("E 3.0000000000000004", "E 3.0001")).verdict == DIFFERS
    # One of many is no rule.
    plain = ["a 1\na 2\na 1e-17\n", "a 1\na 2\na -2e-17\n"]
    assert compared(plain, "a 1\na 2\na 3e-17\n").verdict == ITSELF
    assert compared(plain, "a 1\na 3\na 1e-17\n").verdict == DIFFERS


def test_threads_that_print_in_any_order() -> None:
    plain = ["thread 0\nthread 1\nthread 2\n", "thread 2\nthread 0\nthread 1\n"]
    assert compared(plain, "thread 1\nthread 2\nthread 0\n").verdict == SAME
    assert compared(plain, "thread 1\nthread 2\nthread 2\n").verdict == DIFFERS
    assert compared(plain, "thread 1\nthread 2\n").verdict == DIFFERS


def test_another_order_is_a_difference_with_a_hint() -> None:
    result = compared("a\nb\n", "b\na\n")
    assert result.verdict == DIFFERS and "--any-order" in result.hint
    assert compared("a\nb\n", "b\na\n", Rules(is_any_order=True)).verdict == SAME
    assert compared("a\nb\n", "b\nc\n", Rules(is_any_order=True)).verdict == DIFFERS


def test_numbers_beside_what_differs_by_itself_have_a_hint() -> None:
    plain = [f"answer 7\nat {at} s, {cpu} s of CPU\n" for at, cpu in ((1, 3), (2, 3), (5, 3))]
    result = compared(plain, "answer 7\nat 3 s, 4 s of CPU\n")
    assert result.verdict == DIFFERS and "--ignore" in result.hint
    assert not compared(plain, "answer 8\nat 3 s, 4 s of CPU\n").hint


def test_lines_whose_number_differs_by_itself() -> None:
    plain = ["at 10 %\nat 20 %\nat 30 %\nanswer 5\n", "at 10 %\nat 20 %\nanswer 5\n"]
    assert compared(plain, "at 12 %\nanswer 5\n").verdict == ITSELF
    assert compared(plain, "at 12 %\nanswer 6\n").verdict == DIFFERS
    assert compared(plain, "at 12 %\n").verdict == DIFFERS


def test_text_that_differs_by_itself_leaves_the_rest_compared() -> None:
    plain = ["at 0x1\nb 1\n", "at 0x2\nb 1\n"]
    assert compared(plain, "at 0x3\nb 1\n").verdict == ITSELF
    assert compared(plain, "at 0x3\nb 2\n").verdict == DIFFERS
    assert compared(["x", "y"], "z").is_unchecked


def test_ignored_lines_are_not_there_but_counted() -> None:
    rules = Rules(ignore=(re.compile(rb"^date"),))
    assert compared("date mon\n1\n", "date tue\ndate wed\n1\n", rules).verdict == SAME
    assert compared("date mon\n1\n", "date tue\n2\n", rules).places[0].number == 2


WORDS = st.sampled_from(["a", "answer", " ", "  ", "1", "-2.5", "1e-3", "nan", "0x1f", "\n", "\n", "é", "x1"])


@given(st.lists(WORDS, max_size=30), st.lists(WORDS, max_size=30))
def test_equal_is_same_and_all_else_is_told(one: list[str], other: list[str]) -> None:
    left, right = "".join(one), "".join(other)
    assert compared(left, left).verdict == SAME
    assert (compared(left, right).verdict == SAME) == (left == right)
    assert compared([left, right], right).verdict == SAME


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8), st.floats(0.0, 1.0)
)
def test_tolerance_accepts_what_is_that_near_and_nothing_else(values: list[float], tolerance: float) -> None:
    moved = [value * (1.0 + tolerance) for value in values]
    result = compared(
        "".join(f"v {value!r}\n" for value in values),
        "".join(f"v {entry!r}\n" for entry in moved),
        Rules(relative=1e-6, is_any_order=False),
    )
    far = any(gap(a, b).relative > 1e-6 for a, b in zip(values, moved, strict=True))
    assert (result.verdict == DIFFERS) == far


@pytest.mark.parametrize("module", ["compare", "numbers", "texts"])
def test_examples(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"trimtab.answer_check.{module}"))
    assert result.attempted > 0 and result.failed == 0

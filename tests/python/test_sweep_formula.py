"""Formulas over columns: arithmetic as usual, and nothing but arithmetic."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.experiments.formula import FormulaError, parse

COLUMNS = {"a": 2.0, "b": 3.0, "long_name_1": 10.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("8 / 4 / 2", 1.0),
        ("5 - 3 - 1", 1.0),
        ("-a + +b", 1.0),
        ("2 * -a", -4.0),
        ("--a", 2.0),
        ("min(a, b, 1.5)", 1.5),
        ("max(a, min(b, 100))", 3.0),
        ("min(a)", 2.0),
        (" long_name_1/ 4 ", 2.5),
        ("1e3 + .5 + 2.", 1002.5),
    ],
)
def test_values(text: str, value: float) -> None:
    assert parse(text).value(COLUMNS) == value


def test_what_has_no_value() -> None:
    assert parse("a / (b - 3)").value(COLUMNS) is None
    assert parse("a + missing").value(COLUMNS) is None
    assert parse("1e308 * 10").value(COLUMNS) is None
    assert parse("a + b * a").names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "at character 1: expected a number, a name or '(', found the end"),
        ("1 +", "at character 4: expected a number, a name or '(', found the end"),
        ("1 2", "at character 3: expected an operator or the end, found '2'"),
        ("(1", "at character 3: expected ')', found the end"),
        ("a ** 2", "at character 4: expected a number, a name or '(', found '*'"),
        ("a.b", "found '.'"),
        ("__import__('os')", "expected a function of min, max, found '__import__'"),
        ("min(a, )", "found ')'"),
        ("a; b", "found ';'"),
        ("(" * 60 + "1" + ")" * 60, "at most 50 levels"),
    ],
)
def test_what_is_no_formula(text: str, told: str) -> None:
    with pytest.raises(FormulaError) as error:
        parse(text)
    assert told in str(error.value)


_NUMBERS = st.integers(0, 99).map(str)
_TREES = st.recursive(
    _NUMBERS | st.sampled_from(sorted(COLUMNS)),
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        | inner.map(lambda entry: f"(-{entry})")
        | st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})")
    ),
    max_leaves=8,
)


@given(_TREES)
def test_the_same_as_python(text: str) -> None:
    try:
        expected = float(eval(text, {"__builtins__": {}, "max": max}, dict(COLUMNS)))
    except ZeroDivisionError:
        assert parse(text).value(COLUMNS) is None
        return
    result = parse(text).value(COLUMNS)
    assert result is not None and math.isclose(result, expected, abs_tol=1e-12)


@given(st.text(max_size=30))
def test_any_text_is_a_formula_or_a_formula_error(text: str) -> None:
    with contextlib.suppress(FormulaError):
        parse(text).value(COLUMNS)

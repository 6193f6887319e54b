"""Formulas over columns: numbers, names, + - * /, parentheses, min and max. Nothing of Python is evaluated."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|([-+*/(),]))")
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max}
# Deeper than anybody writes, and far from what Python's stack bears.
_MOST_DEPTH = 50

# A number where all names have one; None where one is missing, or the result is no number.
_Node = Callable[[Mapping[str, float]], float]


class FormulaError(ValueError):
    """Text that is no formula: says where and what was expected."""


@dataclass(frozen=True)
class Formula:
    """A parsed formula; `names` are what it needs."""

    text: str
    names: tuple[str, ...]
    _node: _Node

    def value(self, columns: Mapping[str, float]) -> float | None:
        """Its value, or None where a name has none or the result is no finite number.

        Example:
            >>> parse("max(a - 1, 0) / b").value({"a": 3, "b": 4})
            0.5
            >>> parse("a / b").value({"a": 3, "b": 0})
        """
        if any(name not in columns for name in self.names):
            return None
        try:
            result = float(self._node(columns))
        except (ZeroDivisionError, OverflowError):
            return None
        return result if math.isfinite(result) else None


def parse(text: str) -> Formula:
    """The formula that `text` is.

    Raises:
        FormulaError: it is none.
    """
    parser = _Parser(text)
    node = parser.sum()
    if parser.next:
        raise parser.unexpected("an operator or the end")
    return Formula(text, tuple(sorted(parser.names)), node)


class _Parser:
    """Recursive descent: one function for each level of precedence."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0
        self.names: set[str] = set()
        self.next = ""
        self._advance()

    def _advance(self) -> str:
        token = self.next
        self._begin = self._at + len(self._text[self._at :]) - len(self._text[self._at :].lstrip())
        match = _TOKEN.match(self._text, self._at)
        if match is not None:
            self.next, self._at = match[0].strip(), match.end()
        elif self._text[self._at :].strip():
            self.next = self._text[self._at :].strip()[0]
            raise self.unexpected("a number, a name, or one of + - * / ( ) ,")
        else:
            self.next = ""
        return token

    def unexpected(self, expected: str) -> FormulaError:
        token_text = repr(self.next) if self.next else "the end"
        return FormulaError(f"at character {self._begin + 1}: expected {expected}, found {token_text}")

    def _expect(self, token: str) -> None:
        if self.next != token:
            raise self.unexpected(repr(token))
        self._advance()

    def sum(self) -> _Node:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise FormulaError(f"at character {self._begin + 1}: expected at most {_MOST_DEPTH} levels")
        node = self._product()
        while self.next in ("+", "-") and self.next:
            node = _binary(self._advance(), node, self._product())
        self._depth -= 1
        return node

    def _product(self) -> _Node:
        node = self._signed()
        while self.next in ("*", "/") and self.next:
            node = _binary(self._advance(), node, self._signed())
        return node

    def _signed(self) -> _Node:
        is_negative = False
        while self.next in ("+", "-") and self.next:
            is_negative ^= self._advance() == "-"
        node = self._atom()
        return (lambda columns: -node(columns)) if is_negative else node

    def _atom(self) -> _Node:
        if self.next == "(":
            self._advance()
            node = self.sum()
            self._expect(")")
            return node
        if self.next[:1].isdigit() or self.next[:1] == ".":
            number = float(self._advance())
            return lambda _: number
        if not self.next or not (self.next[0].isalpha() or self.next[0] == "_"):
            raise self.unexpected("a number, a name or '('")
        name = self._advance()
        if self.next == "(":
            return self._call(name)
        self.names.add(name)
        return lambda columns: columns[name]

    def _call(self, name: str) -> _Node:
        function = _FUNCTIONS.get(name)
        if function is None:
            raise FormulaError(f"expected a function of {', '.join(_FUNCTIONS)}, found '{name}'")
        self._advance()
        arguments = [self.sum()]
        while self.next == ",":
            self._advance()
            arguments.append(self.sum())
        self._expect(")")
        return lambda columns: function([argument(columns) for argument in arguments])


def _binary(sign: str, left: _Node, right: _Node) -> _Node:
    if sign == "+":
        return lambda columns: left(columns) + right(columns)
    if sign == "-":
        return lambda columns: left(columns) - right(columns)
    if sign == "*":
        return lambda columns: left(columns) * right(columns)
    return lambda columns: left(columns) / right(columns)

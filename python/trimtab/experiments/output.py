"""Figures in what a program prints: `name=value [unit]`, several a line, or lines of JSON."""

from __future__ import annotations

import json
import re
from typing import Any

# Larger ones are no figures: their sums and squares could not be told.
MOST = 1e300
# Figures by name, each with the unit that was printed (or "").
Figures = dict[str, tuple[float, str]]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# A unit follows after blanks, and is the last word before the next figure, a comma or the end: prose is none.
_FIGURE = re.compile(
    rf"(?:^|(?<=[\s,;(]))([A-Za-z_/][^\s=,;]*)=({_NUMBER})(?:[ \t]+((?:1/)?[A-Za-z%][\w%/^*.-]*))?"
    r"(?=[,;)]|\s*$|\s+[A-Za-z_/][^\s=,;]*=)"
)
_ALONE = re.compile(rf"(?:^|(?<=[\s,;(]))([A-Za-z_/][^\s=,;]*)=({_NUMBER})(?=[\s,;)]|$)")


def figures_in(text: str) -> Figures:
    """Every figure; of a name that comes again, the last one. What is no number is left out.

    Example:
        >>> figures_in("time=1.5 s lups=2e6 as always\\n")
        {'time': (1.5, 's'), 'lups': (2000000.0, '')}
        >>> figures_in('{"a": {"b": 3}, "c": "x"}\\n')
        {'a.b': (3.0, '')}
    """
    figures: Figures = {}
    for line in text.splitlines():
        if line.lstrip().startswith("{"):
            try:
                parsed = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(parsed, dict):
                _add_json(figures, "", parsed)
        elif "=" in line:
            _add_line(figures, line)
    return figures


def _add_line(figures: Figures, line: str) -> None:
    units = {match.start(): match[3] or "" for match in _FIGURE.finditer(line)}
    for match in _ALONE.finditer(line):
        value = float(match[2])
        if abs(value) < MOST:
            figures[match[1]] = (value, units.get(match.start(), ""))


def _add_json(figures: Figures, prefix: str, table: dict[str, Any]) -> None:
    for name, value in table.items():
        if isinstance(value, dict):
            _add_json(figures, f"{prefix}{name}.", value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            number = _as_float(value)
            if number is not None:
                figures[prefix + name] = (number, "")


def _as_float(value: int | float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) < MOST else None

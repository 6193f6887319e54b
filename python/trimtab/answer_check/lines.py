"""Lines of texts, and the keys under which they are found again in another run's text."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trimtab.answer_check.compare import Rules
from trimtab.answer_check.numbers import split, value_of


@dataclass(frozen=True)
class Line:
    """A line with its end, and its number in the text, from 1 on."""

    number: int
    raw: bytes


@dataclass(frozen=True)
class Row:
    """A line and its numbers as they are spelled; the text between them is in its key."""

    line: Line
    numbers: tuple[bytes, ...]


# A place, and the text without the numbers.
Key = tuple[int, tuple[bytes, ...]]
Rows = dict[Key, Row]


def lines_of(text: bytes, rules: Rules) -> list[Line]:
    """All but those that are to be ignored."""
    parts = text.split(b"\n")
    # The end of a line belongs to it: a last one without differs from one with.
    raw = [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
    return [
        Line(number, line)
        for number, line in enumerate(raw, 1)
        if not any(pattern.search(line.rstrip(b"\r\n")) for pattern in rules.ignore)
    ]


def different(texts: Sequence[list[Line]]) -> list[list[Line]]:
    """Without what all have at the same place: most of it, mostly."""
    if len({len(lines) for lines in texts}) == 1:
        keep = [len({line.raw for line in column}) > 1 for column in zip(*texts, strict=True)]
        return [[line for line, is_kept in zip(lines, keep, strict=True) if is_kept] for lines in texts]
    shortest = min(map(len, texts))

    def common(index: Callable[[int], int]) -> int:
        at = 0
        while at < shortest and len({lines[index(at)].raw for lines in texts}) == 1:
            at += 1
        return at

    head = common(lambda at: at)
    tail = min(common(lambda at: -1 - at), shortest - head)
    return [lines[head : len(lines) - tail] for lines in texts]


def in_order(lines: Sequence[Line]) -> Rows:
    """By their place in the text."""
    by_key = {}
    for index, line in enumerate(lines):
        pieces, numbers = split(line.raw)
        by_key[index, pieces] = Row(line, numbers)
    return by_key


def in_groups(lines: Sequence[Line]) -> Rows:
    """By their place among the lines of the same text, sorted by their numbers: in whatever order they came."""
    groups: dict[tuple[bytes, ...], list[Row]] = defaultdict(list)
    for line in lines:
        pieces, numbers = split(line.raw)
        groups[pieces].append(Row(line, numbers))
    by_key = {}
    for pieces, rows in groups.items():
        rows.sort(key=_by_numbers)
        by_key.update({(index, pieces): row for index, row in enumerate(rows)})
    return by_key


def _by_numbers(row: Row) -> list[tuple[bool, float]]:
    values = map(value_of, row.numbers)
    return [(math.isnan(value), 0.0 if math.isnan(value) else value) for value in values]

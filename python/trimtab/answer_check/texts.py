"""Texts of several plain runs against one of a tuned run: line by line, where the plain runs agree.

Lines are known by their text without the numbers, and by their place: in order, or, where that is more alike among
the plain runs (threads that print in any order), among the lines of the same text, sorted by their numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from trimtab.answer_check.compare import (
    DIFFERS,
    ITSELF,
    MOST_PLACES,
    SAME,
    STABLE,
    Compared,
    Place,
    Rules,
    Spread,
    judge_number,
    rounding_hint,
    spread_of,
    worst,
)
from trimtab.answer_check.lines import Key, Line, Row, Rows, different, in_groups, in_order, lines_of
from trimtab.answer_check.numbers import NO_GAP, Gap, value_of
from trimtab.escapes import printable

_MOST_SHOWN = 160
# Which number, in which text.
_Field = tuple[tuple[bytes, ...], int]
_Arrange = Callable[[Sequence[Line]], Rows]


def compare_texts(plain: Sequence[bytes], tuned: bytes, rules: Rules) -> Compared:
    """The tuned text against all plain ones.

    >>> compare_texts([b"sum 2.50, 0.1 s", b"sum 2.50, 0.2 s"], b"sum 2.50, 0.3 s", Rules()).verdict
    'differs by itself'
    >>> compare_texts([b"sum 2.50, 0.1 s", b"sum 2.50, 0.2 s"], b"sum 2.75, 0.1 s", Rules()).places[0].number
    1
    """
    if tuned in plain:
        return Compared(SAME)
    texts = [lines_of(text, rules) for text in (*dict.fromkeys(plain), tuned)]
    *before, after = different(texts)
    if not any((*before, after)):
        return Compared(SAME)
    is_complete = len(before[0]) == len(texts[0])
    if rules.is_any_order:
        return _Reference(in_groups, before, rules, is_complete).judge(after)
    ordered = _Reference(in_order, before, rules, is_complete)
    judged = ordered.judge(after)
    if not ordered.by_itself and (judged.verdict != DIFFERS or judged.hint):
        return judged
    grouped = _Reference(in_groups, before, rules, is_complete)
    otherwise = grouped.judge(after)
    if grouped.by_itself < ordered.by_itself:
        return otherwise
    if judged.verdict == DIFFERS and otherwise.verdict != DIFFERS:
        return replace(judged, hint="the same lines in another order: --any-order accepts that")
    # A line more, or less, is one difference there; in order, everything after it is.
    return judged if judged.verdict != DIFFERS or judged.differences <= otherwise.differences else otherwise


class _Reference:
    """What the plain runs agree on: lines by their keys, with the numbers that each run has there."""

    def __init__(
        self, arrange: _Arrange, plain: Sequence[Sequence[Line]], rules: Rules, is_complete: bool
    ) -> None:
        self._arrange, self._rules = arrange, rules
        runs = [arrange(lines) for lines in plain]
        in_all_runs = set.intersection(*map(set, runs))
        in_any_run = set().union(*runs)
        # Where a run has fewer lines of a text than another, it is not known which of them are the same.
        is_counted = arrange is in_groups or len(set(map(len, plain))) > 1
        self._loose = {pieces for _, pieces in in_any_run - in_all_runs} if is_counted else set()
        self._rows = {
            key: [run[key] for run in runs] for key in sorted(in_all_runs) if key[1] not in self._loose
        }
        unstable = in_any_run - self._rows.keys()
        self._free = {index for index, _ in unstable}
        self._is_unchecked = is_complete and not self._rows
        parts = len(unstable) if arrange is in_groups else len(self._free)
        self._spreads: dict[_Field, Spread] = {}
        self._varying = [run[key].line.number for key in unstable for run in runs if key in run]
        self.by_itself = parts + self._look_at_numbers()

    def _look_at_numbers(self) -> int:
        """How many differ by themselves, and what that says of their field in lines where they agree by chance."""
        numbers, free, rounding = Counter[_Field](), Counter[_Field](), Counter[_Field]()
        for (_, pieces), rows in self._rows.items():
            for at, column in enumerate(_columns(rows)):
                numbers[pieces, at] += 1
                if len(set(column)) == 1:
                    continue
                spread = spread_of(list(map(value_of, column)), self._rules)
                if spread != STABLE:
                    self._varying.append(rows[0].line.number)
                free[pieces, at] += spread.is_free
                rounding[pieces, at] += spread.rounding > 0
                self._spreads[pieces, at] = self._spreads.get((pieces, at), STABLE) | spread
        # What is free in a few lines only is not free in all: numbers near to zero are nothing but rounding.
        for field, spread in self._spreads.items():
            self._spreads[field] = replace(spread, is_free=2 * free[field] > numbers[field])
        return free.total() + rounding.total()

    def judge(self, tuned: Sequence[Line]) -> Compared:
        """One tuned run's lines."""
        judged_lines = self._arrange(tuned)
        new = {
            key: row for key, row in judged_lines.items() if key not in self._rows and not self._is_free(key)
        }
        verdicts, largest, places = [ITSELF if self.by_itself else SAME], NO_GAP, []
        is_numbers = not new
        at_index = {key[0]: key for key in new} if self._arrange is in_order else {}
        for key, rows in self._rows.items():
            row = judged_lines.get(key)
            if row is None:
                verdict, is_numbers = DIFFERS, False
                instead = at_index.get(key[0])
                row = new.pop(instead) if instead is not None else None
            else:
                verdict, apart = self._judge_row(key[1], rows, row)
                largest |= apart
            if verdict == DIFFERS:
                places.append(_place(rows[0].line, row.line if row is not None else None))
            verdicts.append(verdict)
        places += [_place(None, row.line) for row in new.values()]
        places.sort(key=lambda place: place.number)
        return Compared(
            DIFFERS if places else worst(verdicts),
            largest,
            tuple(places[:MOST_PLACES]),
            len(places),
            self.by_itself,
            min(self._varying, default=None),
            self._is_unchecked,
            (rounding_hint(largest) if is_numbers else "") or self._varying_hint(places) if places else "",
        )

    def _varying_hint(self, places: Sequence[Place]) -> str:
        """Lines with a number that plain runs do not agree on, such as a time, are likely to have more of them."""
        if not {place.number for place in places} <= set(self._varying):
            return ""
        return "plain runs differ in such lines, too: more --runs tell whether in this, --ignore REGEX leaves them out"

    def _is_free(self, key: Key) -> bool:
        """A line of which the plain runs do not say what it is."""
        index, pieces = key
        return pieces in self._loose or (
            bool(self._free) if self._arrange is in_groups else index in self._free
        )

    def _judge_row(self, pieces: tuple[bytes, ...], rows: Sequence[Row], row: Row) -> tuple[str, Gap]:
        verdict, largest = SAME, NO_GAP
        for at, (column, spelled) in enumerate(zip(_columns(rows), row.numbers, strict=True)):
            if spelled in column:
                continue
            values = list(map(value_of, column))
            spread = spread_of(values, self._rules) | self._spreads.get((pieces, at), STABLE)
            judged, apart = judge_number(values, value_of(spelled), spread, self._rules)
            verdict, largest = worst((verdict, judged)), largest | apart
        return verdict, largest


def _columns(rows: Sequence[Row]) -> list[tuple[bytes, ...]]:
    """The first number of all rows, their second one, and so on."""
    return list(zip(*(row.numbers for row in rows), strict=True))


def _place(expected: Line | None, actual: Line | None) -> Place:
    line = expected or actual
    assert line is not None
    if expected is None or actual is None:
        shown = _shown(line.raw.rstrip(b"\r\n"), 0)
        return Place("line", line.number, shown if expected else None, shown if actual else None)
    expected_text, other = expected.raw.rstrip(b"\r\n"), actual.raw.rstrip(b"\r\n")
    if expected_text == other:  # but for how the line ends
        expected_text, other = expected.raw, actual.raw
    pairs = enumerate(zip(expected_text, other, strict=False))
    at = next((at for at, (left, right) in pairs if left != right), min(len(expected_text), len(other)))
    return Place("line", line.number, _shown(expected_text, at), _shown(other, at))


def _shown(raw: bytes, at: int) -> str:
    """As much around byte `at` as fits into a line."""
    start = max(min(at - _MOST_SHOWN // 2, len(raw) - _MOST_SHOWN), 0)
    shown = printable(raw[start : start + _MOST_SHOWN].decode("utf-8", "backslashreplace"), allowed="\t")
    return ("..." if start else "") + shown + ("..." if start + _MOST_SHOWN < len(raw) else "")

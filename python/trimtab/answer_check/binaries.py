"""Files that are no text: byte by byte, or as arrays of floating-point numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimtab.answer_check.compare import (
    DIFFERS,
    ITSELF,
    MOST_PLACES,
    ROOM,
    ROUNDING,
    SAME,
    WITHIN,
    Compared,
    Place,
    Rules,
    rounding_hint,
)
from trimtab.answer_check.numbers import NO_GAP, Gap

# Read at a time.
_PART = 1 << 20
_Floats = NDArray[np.float64]


def compare_bytes(plain: Sequence[Path], tuned: Path) -> Compared:
    """The tuned file against all plain ones, whatever is in them."""
    at = [_first_difference(plain_file, tuned) for plain_file in plain]
    if None in at:
        return Compared(SAME)
    if any(_first_difference(plain[0], plain_file) is not None for plain_file in plain[1:]):
        return Compared(ITSELF, by_itself=1, is_unchecked=True)
    place = Place("byte", (at[0] or 0) + 1, _byte(plain[0], at[0] or 0), _byte(tuned, at[0] or 0))
    return Compared(DIFFERS, places=(place,), differences=1)


def _first_difference(first: Path, other: Path) -> int | None:
    begin = 0
    with first.open("rb") as left, other.open("rb") as right:
        while True:
            left_part, right_part = left.read(_PART), right.read(_PART)
            if left_part != right_part:
                pairs = enumerate(zip(left_part, right_part, strict=False))
                return begin + next(
                    (at for at, (a, b) in pairs if a != b), min(len(left_part), len(right_part))
                )
            if not left_part:
                return None
            begin += len(left_part)


def _byte(path: Path, at: int) -> str | None:
    with path.open("rb") as file:
        file.seek(at)
        next_byte = file.read(1)
    return f"0x{next_byte[0]:02x}" if next_byte else None


def compare_arrays(plain: Sequence[Path], tuned: Path, kind: str, rules: Rules) -> Compared:
    """The tuned file against all plain ones as arrays of `kind` (f32, f64), in this machine's order of bytes."""
    dtype = np.dtype({"f32": np.float32, "f64": np.float64}[kind])
    size = tuned.stat().st_size
    sizes = {plain_path.stat().st_size for plain_path in plain}
    if sizes != {size} or size % dtype.itemsize:
        return compare_bytes(plain, tuned)
    largest, differences, by_itself, is_within_tolerance, is_unchecked = NO_GAP, 0, 0, False, True
    places: list[Place] = []
    first: int | None = None
    for begin in range(0, size // dtype.itemsize, _PART):
        raw = [
            np.fromfile(path, dtype=dtype, count=_PART, offset=begin * dtype.itemsize)
            for path in (*plain, tuned)
        ]
        part = _Part([array.astype(np.float64) for array in raw[:-1]], raw[-1].astype(np.float64), rules)
        largest |= part.gap
        differences += int(part.is_wrong.sum())
        by_itself += int(part.is_varying.sum())
        if first is None and by_itself:
            first = begin + int(part.is_varying.argmax()) + 1
        is_within_tolerance = is_within_tolerance or bool(part.is_within.any())
        is_unchecked = is_unchecked and bool(part.is_masked.all())
        for index in np.flatnonzero(part.is_wrong)[: MOST_PLACES - len(places)]:
            expected, actual = repr(float(raw[0][index])), repr(float(raw[-1][index]))
            places.append(Place("number", begin + int(index) + 1, expected, actual))
    verdict = DIFFERS if differences else ITSELF if by_itself else WITHIN if is_within_tolerance else SAME
    hint = rounding_hint(largest) if differences else ""
    return Compared(
        verdict, largest, tuple(places), differences, by_itself, first, is_unchecked and by_itself > 0, hint
    )


class _Part:
    """A stretch of numbers, judged all at once by what `judge_number` does with one."""

    def __init__(self, plain: Sequence[_Floats], tuned: _Floats, rules: Rules) -> None:
        gaps = [_gap(plain_part, tuned) for plain_part in plain]
        relative = np.min([gap[1] for gap in gaps], axis=0)
        absolute = np.min([gap[0] for gap in gaps], axis=0)
        plain_gaps = [_gap(plain[0], plain_part) for plain_part in plain]
        spread = (
            np.max([plain_gap[0] for plain_gap in plain_gaps], axis=0),
            np.max([plain_gap[1] for plain_gap in plain_gaps], axis=0),
        )
        self.is_varying = (spread[1] > 0) & ~_accepted(*spread, rules)
        is_equal = relative == 0
        self.is_within = ~is_equal & _accepted(absolute, relative, rules)
        self.is_masked = self.is_varying & (spread[1] > ROUNDING)
        # In some places the plain runs agree by chance.
        rounding = float(spread[1][self.is_varying & ~self.is_masked].max(initial=0.0))
        is_within_rounding = (relative <= ROOM * rounding) & (rounding > 0)
        self.is_wrong = ~(is_equal | self.is_within | self.is_masked | is_within_rounding)
        is_compared = ~self.is_masked
        self.gap = (
            Gap(float(absolute[is_compared].max()), float(relative[is_compared].max()))
            if bool(is_compared.any())
            else NO_GAP
        )


def _accepted(absolute: _Floats, relative: _Floats, rules: Rules) -> NDArray[np.bool_]:
    if rules.is_exact:
        return np.zeros(len(relative), dtype=bool)
    return (relative <= rules.relative) | (absolute <= rules.absolute)


def _gap(first: _Floats, other: _Floats) -> tuple[_Floats, _Floats]:
    """Absolute and relative, as `gap` has them."""
    with np.errstate(all="ignore"):
        absolute = np.abs(first - other)
        relative = absolute / np.maximum(np.abs(first), np.abs(other))
    is_finite = np.isfinite(first) & np.isfinite(other)
    relative[is_finite & np.isinf(absolute)] = 2.0
    absolute[~is_finite] = relative[~is_finite] = np.inf
    is_equal = (first == other) | (np.isnan(first) & np.isnan(other))
    absolute[is_equal] = relative[is_equal] = 0.0
    return absolute, relative

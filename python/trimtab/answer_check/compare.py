"""What a comparison may find, and by which rules: shared by texts and binary files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trimtab.answer_check.numbers import NO_GAP, Gap, gap

SAME = "same"
WITHIN = "within tolerance"
ITSELF = "differs by itself"
DIFFERS = "differs"
# From what proves most to what matters most.
_ORDER = (SAME, WITHIN, ITSELF, DIFFERS)

ROUNDING = 1e-6
ROOM = 1000.0
MOST_PLACES = 5


@dataclass(frozen=True)
class Rules:
    """What counts as the same."""

    relative: float = 0.0
    absolute: float = 0.0
    ignore: tuple[re.Pattern[bytes], ...] = ()
    is_any_order: bool = False

    @property
    def is_exact(self) -> bool:
        """Every byte counts, also how a number is spelled."""
        return not (self.relative or self.absolute)

    def accepts(self, apart: Gap) -> bool:
        """Two numbers that far apart are the same."""
        return apart.relative <= self.relative or apart.absolute <= self.absolute


@dataclass(frozen=True)
class Place:
    """Where two sides differ (unit "line", "byte" or "number", from 1 on), and what is there; None: nothing is."""

    unit: str
    number: int
    expected: str | None
    found: str | None


@dataclass(frozen=True)
class Compared:
    """What came of comparing one output of a tuned run with those of all plain runs.

    `gap` is the largest of numbers that were compared, `places` are the first of all `differences`. `by_itself`
    counts the parts that the plain runs do not agree on, of which the first is in that line or number; `is_unchecked`
    says that they agree on none.
    """

    verdict: str
    gap: Gap = NO_GAP
    places: tuple[Place, ...] = ()
    differences: int = 0
    by_itself: int = 0
    first_by_itself: int | None = None
    is_unchecked: bool = False
    hint: str = ""


def worst(verdicts: Iterable[str]) -> str:
    """The one that matters most.

    >>> worst(["same", "differs by itself", "within tolerance"])
    'differs by itself'
    """
    return max(verdicts, key=_ORDER.index, default=SAME)


@dataclass(frozen=True)
class Spread:
    """How far the plain runs themselves are apart in a number, or in all numbers of a kind.

    A number that differs by less than `ROUNDING` of its value is a sum in another order, no time and no process
    number: it is still compared, with `ROOM` for what a few plain runs did not show.
    """

    is_free: bool = False
    rounding: float = 0.0

    def __or__(self, other: Spread) -> Spread:
        return Spread(self.is_free or other.is_free, max(self.rounding, other.rounding))


STABLE = Spread()


def spread_of(values: Sequence[float], rules: Rules) -> Spread:
    """Of a number as the plain runs have it.

    >>> spread_of([0.25, 0.31], Rules()), spread_of([2.0, 2.0], Rules())
    (Spread(is_free=True, rounding=0.0), Spread(is_free=False, rounding=0.0))
    """
    if any(math.isnan(value) for value in values):
        return Spread(is_free=not all(math.isnan(value) for value in values))
    apart = gap(min(values), max(values))
    if not rules.is_exact and rules.accepts(apart):
        return STABLE
    return Spread(is_free=True) if apart.relative > ROUNDING else Spread(rounding=apart.relative)


def judge_number(plain: Sequence[float], actual: float, spread: Spread, rules: Rules) -> tuple[str, Gap]:
    """Of a number that no plain run has like that: the verdict, and how far it is from the nearest plain one.

    >>> judge_number([1.0, 1.0], 1.0 + 1e-12, STABLE, Rules(relative=1e-9))[0]
    'within tolerance'
    >>> judge_number([0.25, 0.31], 7.0, Spread(is_free=True), Rules())[0]
    'differs by itself'
    >>> judge_number([0.25, 0.25], 7.0, Spread(rounding=1e-16), Rules())[0]
    'differs'
    """
    apart = min(
        (gap(plain_value, actual) for plain_value in plain), key=lambda plain_value: plain_value.relative
    )
    if not rules.is_exact and rules.accepts(apart):
        return WITHIN, apart
    if spread.is_free:
        return ITSELF, NO_GAP
    is_rounding = spread.rounding > 0 and apart.relative <= ROOM * spread.rounding
    return (ITSELF if is_rounding else DIFFERS), apart


def rounding_hint(apart: Gap) -> str:
    """What to say where only numbers differ, and by so little.

    >>> rounding_hint(Gap(1.0, 3e-15))
    'numbers differ by at most 3e-15 of their value, as sums in another order do: --tolerance 1e-14 accepts that'
    """
    if not 0.0 < apart.relative <= ROUNDING:
        return ""
    powers = (f"1e{exponent}" for exponent in range(math.floor(math.log10(apart.relative)), 1))
    enough = next(power for power in powers if float(power) >= apart.relative)
    return (
        f"numbers differ by at most {apart.relative:.2g} of their value, as sums in another order do: "
        f"--tolerance {enough} accepts that"
    )

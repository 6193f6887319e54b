"""Numbers in text: where they are, what they are worth, how far two are apart."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

# Blanks around a number belong to it: columns move when a number gets longer.
# What looks like a number within a word (x1, v1.2.3) or is hexadecimal is text.
_NUMBER = re.compile(
    rb"""(?:(?<![ \t])[ \t]+)?(?<![\w.])[+-]?(?!0x[0-9a-f])
    (?: (?:\d+\.\d*|\.\d+)[+-]\d{3}(?![\w.])
      | (?:\d+\.?\d*|\.\d+)(?:[edq][+-]?\d+)?
      | (?:nan|inf(?:inity)?)(?!\w) )
    [ \t]*""",
    re.VERBOSE | re.IGNORECASE,
)
# Fortran leaves the letter out where the exponent has three digits.
_NO_LETTER = re.compile(r"(?<=[\d.])([+-]\d{3})$")


@dataclass(frozen=True)
class Gap:
    """How far two numbers are apart; relative: of the larger one."""

    absolute: float
    relative: float

    def __or__(self, other: Gap) -> Gap:
        """The larger of both, each figure by itself."""
        return Gap(max(self.absolute, other.absolute), max(self.relative, other.relative))


NO_GAP = Gap(0.0, 0.0)


def split(line: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The text around the numbers, one piece more than there are numbers; and the numbers as they are spelled.

    >>> split(b"E = 1.5D-03 J at 0x7f")
    ((b'E =', b'J at 0x7f'), (b' 1.5D-03 ',))
    """
    pieces, numbers, at = [], [], 0
    for match in _NUMBER.finditer(line):
        pieces.append(line[at : match.start()])
        numbers.append(match[0])
        at = match.end()
    return (*pieces, line[at:]), tuple(numbers)


def value_of(spelled: bytes) -> float:
    """What a number that `split` found is worth.

    >>> value_of(b" 1.5D-03"), value_of(b"0.25-101")
    (0.0015, 2.5e-102)
    """
    try:
        return float(spelled)
    except ValueError:  # Fortran's
        text = spelled.strip().decode().lower().replace("d", "e").replace("q", "e")
        return float(_NO_LETTER.sub(r"e\1", text))


def gap(first: float, other: float) -> Gap:
    """Infinite between what is a number and what is none, and between infinities.

    >>> gap(1.0, 1.25)
    Gap(absolute=0.25, relative=0.2)
    """
    if first == other or (math.isnan(first) and math.isnan(other)):
        return NO_GAP
    if not (math.isfinite(first) and math.isfinite(other)):
        return Gap(math.inf, math.inf)
    difference, larger = abs(first - other), max(abs(first), abs(other))
    # Between the largest numbers of either sign the difference is none of those that there are.
    return Gap(difference, difference / larger if math.isfinite(difference) else 2.0)

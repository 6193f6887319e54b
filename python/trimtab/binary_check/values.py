"""What a register or a place on the stack may hold, as far as the check of outlined functions cares.

A value is one of
- CLEAN: anything that does not depend on the thread's number or on how many there are,
- a polynomial in T (the number), N (how many), Q and R (quotient and remainder of a division by N), constants included,
- FRAME: an address in the function's own stack frame,
- FIXED: a constant that the file holds: its bytes,
- PARTIAL: what a reduction has gathered so far: a start value and what `operations` have added to it,
- POINTER: an address outside the frame that is the same in all calls: `key` and `offset`,
- SHARED: what was last read from the place `key` in memory that others see,
- COMBINED: a SHARED value, combined with a partial result by one of `operations`,
- OF_BLOCK: as CLEAN, but computed from the start or end of the block, or loaded from an address that is: it is one iteration's,
- LOST: not known any more, and perhaps dependent on T or N: fine as long as nothing uses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

# A polynomial: its terms' symbols in order, and how often each term occurs.
Terms = tuple[tuple[tuple[str, ...], int], ...]
Key = tuple[Any, ...]

THREAD, THREADS = "T", "N"
_MOST_TERMS = 6
_MOST_DEGREE = 2


class Kind(Enum):
    """Which of these."""

    CLEAN = auto()
    TERMS = auto()
    FRAME = auto()
    FIXED = auto()
    PARTIAL = auto()
    POINTER = auto()
    SHARED = auto()
    COMBINED = auto()
    OF_BLOCK = auto()
    LOST = auto()


@dataclass(frozen=True)
class Value:
    """One value.

    Attributes:
        terms: of a polynomial.
        base: of an address: which part of the frame, told apart where the stack pointer was aligned.
        offset: in it; None: not known. Of a pointer: from its key.
        key: the place of a shared value; the bytes of a fixed one; what a pointer counts from.
        operations: that have changed a partial result, by name.
        start: what a partial result began with.
    """

    kind: Kind
    terms: Terms = ()
    base: int = 0
    offset: int | None = None
    key: Key = ()
    operations: frozenset[str] = frozenset()
    start: Value | None = None

    @property
    def is_constant(self) -> bool:
        """A number."""
        return self.kind is Kind.TERMS and all(symbols == () for symbols, _ in self.terms)

    @property
    def number(self) -> int:
        """Of a constant."""
        return self.terms[0][1] if self.terms else 0


# Usable as any other value; what more is known of them matters to reductions only.
AS_CLEAN = frozenset(
    {Kind.CLEAN, Kind.FIXED, Kind.PARTIAL, Kind.POINTER, Kind.SHARED, Kind.COMBINED, Kind.OF_BLOCK}
)
CLEAN = Value(Kind.CLEAN)
LOST = Value(Kind.LOST)
OF_BLOCK = Value(Kind.OF_BLOCK)


def terms_of(counted: dict[tuple[str, ...], int]) -> Value:
    """A polynomial; LOST if it has become too large to be any of those looked for."""
    terms = tuple(sorted((symbols, count) for symbols, count in counted.items() if count))
    if len(terms) > _MOST_TERMS or any(len(symbols) > _MOST_DEGREE for symbols, _ in terms):
        return LOST
    return Value(Kind.TERMS, terms)


def constant(number: int) -> Value:
    """A number."""
    return terms_of({(): number})


def symbol(name: str) -> Value:
    """T, N, or a quotient or remainder."""
    return terms_of({(name,): 1})


def frame(offset: int | None, base: int = 0, lowest: Key = ()) -> Value:
    """An address in the frame: of an offset that is not known, perhaps the lowest one."""
    return Value(Kind.FRAME, base=base, offset=offset, key=lowest)


def pointer(key: Key, offset: int) -> Value:
    """An address outside the frame that is the same in all calls."""
    return Value(Kind.POINTER, key=key, offset=offset)


def fixed(data: bytes) -> Value:
    """A constant that the file holds. Of a vector with equal parts: one of these."""
    for unit in (4, 8):
        if len(data) > unit and data == data[:unit] * (len(data) // unit):
            data = data[:unit]
    return Value(Kind.FIXED, key=(data,)) if any(data) else constant(0)


def shared(key: Key) -> Value:
    """What was last read from there."""
    return Value(Kind.SHARED, key=key)


def quotient(division: int) -> str:
    """The symbol of what the division at this address gave."""
    return f"Q{division:x}"


def remainder(division: int) -> str:
    """The same of its remainder."""
    return f"R{division:x}"


def mentions(value: Value, division: int) -> bool:
    """Whether the division's results are in it."""
    both_parts = (quotient(division), remainder(division))
    return any(name in symbols for symbols, _ in value.terms for name in both_parts)


def added(first: Value, other: Value, sign: int = 1) -> Value:
    """The sum of two polynomials, or their difference."""
    counted = dict(first.terms)
    for symbols, count in other.terms:
        counted[symbols] = counted.get(symbols, 0) + sign * count
    return terms_of(counted)


def multiplied(first: Value, other: Value) -> Value:
    """The product of two polynomials."""
    counted: dict[tuple[str, ...], int] = {}
    for left, times in first.terms:
        for right, count in other.terms:
            both_products = tuple(sorted(left + right))
            counted[both_products] = counted.get(both_products, 0) + times * count
    return terms_of(counted)


class Part(Enum):
    """What a polynomial is of a block: what the compiler's computation ends in."""

    START = auto()
    END = auto()
    SIZE = auto()


def parts_of(division: int, is_longer: bool) -> dict[Value, Part]:
    """The block's start, end and size where T < R (blocks with one iteration more), or where not."""
    thread, size, rest = symbol(THREAD), symbol(quotient(division)), symbol(remainder(division))
    if is_longer:
        size, rest = added(size, constant(1)), constant(0)
    start = added(multiplied(size, thread), rest)
    return {start: Part.START, added(start, size): Part.END, size: Part.SIZE}

"""Partial results of reductions: a start value, changed by nothing but what the iterations give.

If an operation is associative and commutative, begins with its neutral element and is the only one that changes a partial
result, then it does not matter how the iterations are divided among calls: combining the results of all calls by the same
operation gives what one call would. Of an operation that may be repeated without effect (the largest, the smallest, bits that are set or
cleared) the start value may be any constant.
"""

from __future__ import annotations

import struct

from trimtab.binary_check.values import CLEAN, Kind, Value, constant

# May be repeated without effect.
_IDEMPOTENT = {"and", "or", *(kind + name for kind in "suf" for name in ("max", "min"))}
_ALL_BITS = 0xFFFFFFFF
_ONES = {struct.pack("<f", 1.0), struct.pack("<d", 1.0)}


def is_start(value: Value) -> bool:
    """Whether a partial result may begin with it."""
    return value.is_constant or value.kind is Kind.FIXED


def is_same_in_all_lanes(value: Value) -> bool:
    """Whether each part of a vector is the same, as far as is known of it."""
    return value.kind is Kind.PARTIAL or (value.is_constant and value.number == 0)


def folded(
    operation: str, first: Value, other: Value, is_nonempty: bool, *, is_first_only: bool = False
) -> Value:
    """What an operation makes of two values.

    Args:
        is_nonempty: there is an iteration that may give one of them. Else, what is added would be added once a thread.
        is_first_only: only the first may be a partial result (subtraction).
    """
    if is_first_only and not _may_gather(operation, first):
        return CLEAN
    gathered = [value for value in (first, other) if _may_gather(operation, value)]
    if any(value.kind is Kind.PARTIAL for value in gathered):
        # The other is what an iteration gives, if it is no partial result.
        gathered = [value for value in gathered if value.kind is Kind.PARTIAL]
    starts = {_start_of(value) for value in gathered}
    if len(starts) != 1 or (len(gathered) == 1 and not is_nonempty and operation not in _IDEMPOTENT):
        return CLEAN
    return Value(Kind.PARTIAL, operations=frozenset({operation}), start=starts.pop())


def adds_once(operation: str) -> bool:
    """Whether it matters how often a value is added."""
    return operation not in _IDEMPOTENT


def is_neutral(operation: str, value: Value) -> bool:
    """Whether adding it changes nothing."""
    return is_start(value) and _may_start(operation, value)


def changed(value: Value, operations: frozenset[str]) -> Value:
    """What these operations make of a value and of what an iteration gives."""
    for operation in operations:
        value = folded(operation, value, CLEAN, True)
    return value


def _may_gather(operation: str, value: Value) -> bool:
    """Whether it may be a partial result of this operation."""
    if value.kind is Kind.PARTIAL:
        start = value.start or CLEAN
        is_neutral = start.kind is Kind.SHARED or _may_start(operation, start)
        return value.operations <= {operation} and is_neutral
    return is_start(value) and _may_start(operation, value)


def _start_of(value: Value) -> Value:
    start = value.start if value.kind is Kind.PARTIAL and value.start is not None else value
    return constant(-1) if start.is_constant and start.number == _ALL_BITS else start


def met(first: Value, other: Value) -> Value:
    """What two usable values have in common, where ways meet."""
    if first == other:
        return first
    starts = {_start_of(value) for value in (first, other)}
    if Kind.PARTIAL in (first.kind, other.kind) and len(starts) == 1:
        return Value(Kind.PARTIAL, operations=first.operations | other.operations, start=starts.pop())
    return CLEAN


def combined(operation: str, first: Value, other: Value) -> Value | None:
    """What an operation makes of a shared value and a partial result; None: it is no such pair, or may not be made."""
    for place, gathered in ((first, other), (other, first)):
        if place.kind is Kind.SHARED and may_combine(operation, gathered):
            return Value(Kind.COMBINED, key=place.key, operations=frozenset({operation}))
    return None


def paired(first: Value, other: Value) -> Value | None:
    """Two combined values of places that follow each other, in one vector; None: they are none."""
    if (
        first.kind is not Kind.COMBINED
        or other.kind is not Kind.COMBINED
        or first.key[0] != other.key[0] != "text"
    ):
        return None
    (name, base, offset, size), (_, other_base, other_offset, other_size) = first.key, other.key
    if base != other_base or size != other_size or other_offset != offset + size:
        return None
    key = (name, base, offset, 2 * size)
    return Value(Kind.COMBINED, key=key, operations=first.operations | other.operations)


def may_combine(operation: str, gathered: Value) -> bool:
    """Whether it does not matter in how many parts the value is combined with others by this operation."""
    if gathered.kind is Kind.PARTIAL:
        start = gathered.start or CLEAN
        return gathered.operations == {operation} and is_start(start) and _may_start(operation, start)
    return is_start(gathered) and _may_start(operation, gathered)


def _may_start(operation: str, start: Value) -> bool:
    if operation in _IDEMPOTENT:
        return True
    if start.is_constant:
        return start.number == (1 if operation == "product" else 0)
    return operation == "product" and start.kind is Kind.FIXED and start.key[0] in _ONES

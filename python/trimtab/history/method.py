"""How the gain of a setting was measured, as a number: only settings that were measured as today are used."""

from __future__ import annotations

from collections.abc import Iterable

# Knobs of the loops of OpenMP programs (rooms/openmp/src/steering/loop_knobs.cpp).
_LOOP_KNOBS = frozenset({"schedule", "chunk", "partition"})
# 1: until the first thread had left the next wait, which may lie inside a reduction, where others are still in the loop.
# 2: until the last thread has finished the loop (rooms/openmp/src/steering/loop_chain.hpp).
_LOOPS = 2
_ALL_OTHERS = 1


def current_method(knobs: Iterable[str]) -> int:
    """The number of the way in which settings of these knobs are measured today.

    >>> current_method(["partition", "partition.costs"]), current_method(["threads"])
    (2, 1)
    """
    return _ALL_OTHERS if _LOOP_KNOBS.isdisjoint(knobs) else _LOOPS

"""Medians with their spread, of figures that were measured in turn."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_RESAMPLES = 2000


@dataclass(frozen=True)
class Spread:
    """A median, the quartiles around it, and the interval that holds the true median with 95 %."""

    count: int
    median: float
    quarter: float
    three_quarters: float
    low: float
    high: float

    @property
    def iqr(self) -> float:
        """Interquartile range."""
        return self.three_quarters - self.quarter


def spread(values: Sequence[float]) -> Spread:
    """Of independent values; the interval is that of the sign test, which assumes nothing of their distribution.

    Example:
        >>> spread([3.0, 1.0, 2.0]).median
        2.0
    """
    if not values:
        raise ValueError("expected at least one value, found none")
    ordered = sorted(values)
    n = len(ordered)
    rank = _interval_rank(n)
    if n > 1:
        quarter, _, three_quarters = statistics.quantiles(ordered, n=4, method="inclusive")
    else:
        quarter = three_quarters = ordered[0]
    return Spread(
        n, statistics.median(ordered), quarter, three_quarters, ordered[rank], ordered[n - 1 - rank]
    )


def _interval_rank(n: int) -> int:
    """Largest k so that the k-th smallest (from 0) lies below the true median with at least 97.5 %; else 0."""
    total, rank = 0.0, 0
    for below_count in range(n // 2):
        total += math.comb(n, below_count) / 2.0**n
        if total > 0.025:
            break
        rank = below_count
    return rank


def differences(after: Sequence[float], before: Sequence[float]) -> list[float]:
    """Round by round: what drifts from round to round cancels out.

    Example:
        >>> differences([5.0, 7.0], [4.0, 5.0])
        [1.0, 2.0]
    """
    return [a - b for a, b in zip(after, before, strict=True)]


def ratios(after: Sequence[float], before: Sequence[float]) -> list[float]:
    """Round by round.

    Example:
        >>> ratios([5.0, 6.0], [4.0, 6.0])
        [1.25, 1.0]
    """
    return [a / b for a, b in zip(after, before, strict=True)]


def geometric_mean(values: Sequence[float]) -> float:
    """Of ratios."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def together(series: Sequence[Sequence[float]]) -> Spread:
    """Geometric mean of the medians of ratios that were measured apart from each other.

    Its quartiles and interval are those that it has when each series is drawn anew from itself (bootstrap).
    """
    source = random.Random(1)
    drawn = sorted(
        geometric_mean(
            [statistics.median(source.choices(series_entry, k=len(series_entry))) for series_entry in series]
        )
        for _ in range(_RESAMPLES)
    )
    quarter, _, three_quarters = statistics.quantiles(drawn, n=4)
    result = geometric_mean([statistics.median(series_entry) for series_entry in series])
    beyond = _RESAMPLES // 40
    return Spread(len(series), result, quarter, three_quarters, drawn[beyond], drawn[-1 - beyond])


def judge(result: Spread, limit: float) -> str:
    """`met` or `not met` where the whole interval says so, else `open`."""
    if result.high <= limit:
        return "met"
    return "not met" if result.low > limit else "open"

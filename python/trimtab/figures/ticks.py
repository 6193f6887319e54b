"""Where axes have ticks, and what these say: numbers as people write them, as few as are needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

# So many values have a tick each, if none is nearer to the next than this share of the axis.
_MOST_LABELLED = 7
_LEAST_APART = 0.08
_LETTERS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
# Beyond these, powers of ten read better.
_SMALLEST, _LARGEST = 1e-3, 1e12


def number(value: float) -> str:
    """A short number.

    Example:
        >>> number(160), number(2000), number(4e6), number(0.05)
        ('160', '2k', '4M', '0.05')
    """
    for unit, letter in _LETTERS:
        if abs(value) >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def set_x_ticks(axes: Any, values: Sequence[float], is_log: bool) -> None:
    """Ticks at the values themselves where these are few."""
    if is_log:
        axes.set_xscale("log")
    distinct = sorted(set(values))
    places = [math.log(tick) for tick in distinct] if is_log else distinct
    width = places[-1] - places[0]
    apart = min((b - a for a, b in pairwise(places)), default=width)
    if len(distinct) <= _MOST_LABELLED and apart >= _LEAST_APART * width:
        axes.set_xticks(distinct, [number(tick) for tick in distinct])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        _plain(axes.xaxis, distinct)


def set_y_ticks(axes: Any, values: Sequence[float], is_log: bool) -> None:
    """On a logarithmic axis decades; 1, 2, 5 where they are few; even steps within one."""
    positive = [value for value in values if value > 0]
    if is_log and positive:
        axes.set_yscale("log")
        span = max(positive) / min(positive)
        if span <= 10:
            axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
            axes.yaxis.set_minor_locator(NullLocator())
        elif span <= 1000:
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    _plain(axes.yaxis, positive)


def _plain(axis: Any, values: Sequence[float]) -> None:
    positive = [abs(value) for value in values if value]
    if positive and min(positive) >= _SMALLEST and max(positive) < _LARGEST:
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))

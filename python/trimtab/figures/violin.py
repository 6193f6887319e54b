"""Violin figures drawn with matplotlib."""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.figure import Figure as Canvas

from trimtab.figures.info import ViolinRow, Violins

_COLOUR, _EDGE = "#56B4E9", "#0072B2"
_ROW_INCHES, _LEAST_WIDTH, _VIOLIN_INCHES = 1.7, 4.4, 0.55
# Of the title.
_LETTERS_PER_INCH = 11
# More words below the axis do not fit side by side.
_MOST_LEVEL_WORDS = 6


def violin_canvas(figure: Violins) -> Canvas:
    """One pair of axes for each row, all with the same places on the x axis."""
    count = max((len(row.violins) for row in figure.rows), default=1)
    width = max(_LEAST_WIDTH, 1.2 + _VIOLIN_INCHES * count)
    drawn = Canvas(figsize=(width, _ROW_INCHES * len(figure.rows) + 0.7), layout="constrained")
    grid = drawn.subplots(len(figure.rows), 1, sharex=True, squeeze=False)
    for (axes,), row in zip(grid, figure.rows, strict=True):
        _row(axes, row)
    lowest = grid[-1][0]
    words = [violin.label for violin in figure.rows[-1].violins]
    lowest.set_xticks(range(len(words)), words, rotation=90 if len(words) > _MOST_LEVEL_WORDS else 0)
    lowest.set_xlabel(figure.x_label)
    drawn.suptitle(textwrap.fill(figure.title, int(width * _LETTERS_PER_INCH)), fontsize="large")
    return drawn


def _row(axes: Any, row: ViolinRow) -> None:
    """The width of a violin is the density of the values, its line the median. A single value is a line only."""
    places = [at for at, violin in enumerate(row.violins) if violin.values]
    values = [violin.values for violin in row.violins if violin.values]
    if values:
        parts = axes.violinplot(values, places, widths=0.8, showmedians=True, showextrema=True)
        for body in parts["bodies"]:
            body.set(facecolor=_COLOUR, edgecolor=_EDGE, alpha=0.8)
        for name in ("cmedians", "cmins", "cmaxes", "cbars"):
            parts[name].set(color=_EDGE, linewidth=0.9)
    axes.set_ylabel(row.y_label, fontsize="small", wrap=True)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.set_axisbelow(True)
    axes.set_xlim(-0.6, len(row.violins) - 0.4)

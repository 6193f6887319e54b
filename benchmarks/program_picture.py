"""The picture of docs/results: the time that each program takes after tuning, as a share of what it took before."""

from __future__ import annotations

import io
from collections.abc import Sequence

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with any colour vision tell apart.
_FASTER, _SAME, _SLOWER = "#009E73", "#56B4E9", "#D55E00"
_INCHES, _ROW_INCHES = 7.2, 0.24
_TITLE = "Time after `trimtab tune`, as a share of the time without Trimtab"


def picture(rows: Sequence[tuple[str, float, float, float]]) -> bytes:
    """SVG.

    Args:
        rows: name, median, least and most of the pairs' ratios.
    """
    ordered = sorted(rows, key=lambda row: -row[1])
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"font.size": 9.0, "svg.hashsalt": "trimtab"})
        drawn = Figure(figsize=(_INCHES, 1.0 + _ROW_INCHES * len(ordered)), layout="constrained")
        axes = drawn.subplots()
        medians = [median for _, median, _, _ in ordered]
        errors = [
            [median - least for _, median, least, _ in ordered],
            [most - median for _, median, _, most in ordered],
        ]
        colours = [_colour(least, most) for _, _, least, most in ordered]
        axes.barh([name for name, *_ in ordered], medians, xerr=errors, color=colours, ecolor="#444444")
        axes.axvline(1.0, color="black", linewidth=0.8)
        axes.set_xlim(0, max([1.2, *(most * 1.02 for *_, most in ordered)]))
        axes.set_xlabel("median of pairs; the lines show the least and the most")
        axes.set_title(_TITLE, fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
        svg = io.BytesIO()
        FigureCanvasSVG(drawn).print_svg(svg, metadata={"Date": None, "Title": _TITLE})
    return svg.getvalue()


def _colour(least: float, most: float) -> str:
    if most <= 1.0:
        return _FASTER
    return _SLOWER if least > 1.0 else _SAME

"""Figures drawn with matplotlib."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas

from trimtab.figures.info import Figure, Line, Panel, Point, Violins
from trimtab.figures.ticks import set_x_ticks, set_y_ticks
from trimtab.figures.violin import violin_canvas

# Okabe and Ito's colours, which people with any colour vision tell apart; yellow is left out, it is too light on white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Shape and dash tell lines apart without colour, too, and where one lies on another.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES = ("-", "--", "-.", ":")
_PANEL_INCHES = (4.4, 3.4)
_MOST_IN_A_ROW = 3
_PNG_DPI = 150
_STYLE = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#dddddd",
    "legend.frameon": False,
    # Ids inside an SVG are random otherwise.
    "svg.hashsalt": "trimtab",
}


def render(figure: Figure | Violins) -> tuple[bytes, bytes]:
    """SVG and PNG. Uses no display and none of the user's settings."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        drawn = violin_canvas(figure) if isinstance(figure, Violins) else canvas(figure)
        svg, png = io.BytesIO(), io.BytesIO()
        FigureCanvasSVG(drawn).print_svg(svg, metadata={"Date": None, "Title": figure.title})
        drawn.set_dpi(_PNG_DPI)
        FigureCanvasAgg(drawn).print_png(png, metadata={"Software": None})
    return _shorter(svg.getvalue()), png.getvalue()


def _shorter(svg: bytes) -> bytes:
    """Without indentation, and places (not scales, which follow a parenthesis) to a hundredth of a point: less by a sixth."""
    return re.sub(rb"(?<=[ \"])(-?\d+\.\d\d)\d{4}(?!\d)", rb"\1", re.sub(rb"\n\s+", b"\n", svg))


def canvas(figure: Figure) -> Canvas:
    """Axes, lines and legend, as matplotlib's objects."""
    count = max(len(figure.panels), 1)
    columns = min(count, _MOST_IN_A_ROW)
    down = math.ceil(count / columns)
    width, height = _PANEL_INCHES
    drawn = Canvas(figsize=(width * columns + 1.6, height * down + 0.4), layout="constrained")
    grid = drawn.subplots(down, columns, sharex=True, sharey=True, squeeze=False)
    words = _words(figure)
    all_points = [
        point for panel in figure.panels for line in panel.lines for point in _drawable(figure, line)
    ]
    for at, axes in enumerate(grid.flat):
        if at >= len(figure.panels):
            axes.set_visible(False)
            continue
        _panel(axes, figure, figure.panels[at], words, all_points)
        if at % columns == 0:
            axes.set_ylabel(figure.y_label)
        if at + columns >= count:
            axes.set_xlabel(figure.x_label)
            axes.tick_params(labelbottom=True)
    if not figure.log_y and all(point.low >= 0 for point in all_points):
        # Not before all is drawn: a limit that was set stays, and the axes share it.
        grid[0][0].set_ylim(bottom=0)
    drawn.suptitle(figure.title, fontsize="large")
    handles: dict[str, Any] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if len(handles) > 1:
        drawn.legend(handles.values(), handles.keys(), loc="outside right upper", title=figure.legend)
    return drawn


def _words(figure: Figure) -> list[str]:
    """The places on an axis of words, in order of their first use."""
    xs = (point.x for panel in figure.panels for line in panel.lines for point in line.points)
    return list(dict.fromkeys(x for x in xs if isinstance(x, str)))


def _panel(
    axes: Any, figure: Figure, panel: Panel, words: Sequence[str], all_points: Sequence[Point]
) -> None:
    axes.set_title(panel.title, fontsize="medium")
    labels = list(dict.fromkeys(line.label for one_panel in figure.panels for line in one_panel.lines))
    for line in panel.lines:
        _line(axes, figure, line, labels.index(line.label), words)
    if words:
        axes.set_xticks(range(len(words)), words)
        axes.margins(x=0.1)
    elif all_points:
        set_x_ticks(axes, [float(point.x) for point in all_points], figure.log_x)
    if all_points:
        ends = [
            end
            for point in all_points
            for end in ((point.low, point.high) if figure.has_errors else (point.y,))
        ]
        set_y_ticks(axes, ends, figure.log_y)


def _drawable(figure: Figure, line: Line) -> list[Point]:
    """Points that have a place: on a logarithmic axis, only what is above 0."""
    return [
        point
        for point in line.points
        if (point.y > 0 or not figure.log_y) and (isinstance(point.x, str) or point.x > 0 or not figure.log_x)
    ]


def _line(axes: Any, figure: Figure, line: Line, number: int, words: Sequence[str]) -> None:
    points = _drawable(figure, line)
    x = [words.index(point.x) if isinstance(point.x, str) else point.x for point in points]
    y = [point.y for point in points]
    errors = None
    if figure.has_errors:
        errors = [[point.y - point.low for point in points], [point.high - point.y for point in points]]
    axes.errorbar(
        x,
        y,
        yerr=errors,
        label=line.label,
        color=_COLOURS[number % len(_COLOURS)],
        marker=_MARKERS[number % len(_MARKERS)],
        linestyle=_DASHES[number % len(_DASHES)],
        markersize=4,
        linewidth=1.3,
        elinewidth=0.9,
        capsize=2,
    )

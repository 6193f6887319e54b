"""Figures: what is drawn (`info`), and the drawing of it (`draw`, the only place that knows matplotlib)."""

from trimtab.figures.info import (
    Figure,
    Line,
    MissingMatplotlib,
    Panel,
    Point,
    Violin,
    ViolinRow,
    Violins,
    draw,
)

__all__ = ["Figure", "Line", "MissingMatplotlib", "Panel", "Point", "Violin", "ViolinRow", "Violins", "draw"]

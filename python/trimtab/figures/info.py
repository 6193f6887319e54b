"""A figure as data: panels of lines of points, with labels. What draws it decides nothing but looks."""

from __future__ import annotations

from dataclasses import dataclass


class MissingMatplotlib(Exception):
    """Figures need a library that is not installed; says how to install it."""


@dataclass(frozen=True)
class Point:
    """A median with its quartiles; `x` is a number, or the word under it."""

    x: float | str
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """Points that belong together, in order of x."""

    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Panel:
    """Lines over one pair of axes."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Figure:
    """Panels side by side, with the same axes."""

    name: str
    title: str
    x_label: str
    y_label: str
    legend: str
    log_x: bool
    log_y: bool
    has_errors: bool
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Violin:
    """The distribution of values under one word of the x axis."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class ViolinRow:
    """Violins over one pair of axes."""

    y_label: str
    violins: tuple[Violin, ...]


@dataclass(frozen=True)
class Violins:
    """Rows of violins, one below the other, with the same words on the x axis."""

    name: str
    title: str
    x_label: str
    rows: tuple[ViolinRow, ...]
    has_errors: bool = False

    @property
    def y_label(self) -> str:
        """Of all rows."""
        return ", ".join(row.y_label for row in self.rows)


def draw(figure: Figure | Violins) -> tuple[bytes, bytes]:
    """The figure as SVG and as PNG; the same data gives the same bytes.

    Raises:
        MissingMatplotlib: it is not installed.
    """
    try:
        from trimtab.figures.draw import render
    except ImportError as error:
        raise MissingMatplotlib(
            f"no figures: matplotlib is not installed ({error}): pip install 'trimtab[figures]'"
        ) from error
    return render(figure)

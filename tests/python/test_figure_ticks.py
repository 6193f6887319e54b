"""Where axes have ticks."""

from __future__ import annotations

import pytest
from trimtab.figures import Figure, Line, Panel, Point

pytest.importorskip("matplotlib")


def labels(x: list[float], y: list[float], log_x: bool, log_y: bool) -> tuple[list[str], list[str]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from trimtab.figures.draw import canvas

    points = tuple(Point(a, b, b, b) for a, b in zip(x, y, strict=True))
    drawn = canvas(Figure("f", "t", "x", "y", "", log_x, log_y, True, (Panel("", (Line("l", points),)),)))
    FigureCanvasAgg(drawn).draw()
    axes = drawn.axes[0]
    result = []
    for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        shown = [tick for tick in axis.get_major_ticks() if ends[0] <= tick.get_loc() <= ends[1]]
        assert not any(tick.label1.get_text() for tick in axis.get_minor_ticks())
        result.append([entry.label1.get_text() for entry in shown])
    return result[0], result[1]


def test_few_values_have_a_tick_each() -> None:
    assert labels([1, 2, 4], [1, 2, 3], False, False)[0] == ["1", "2", "4"]
    assert labels([2_000, 100_000, 4_000_000], [1, 2, 3], True, False)[0] == ["2k", "100k", "4M"]


def test_many_or_close_values_have_round_ones() -> None:
    result = labels([160 * 3.16**n for n in range(10)], [1.0] * 10, True, False)[0]
    assert [entry for entry in result if entry != "100"] == ["1k", "10k", "100k", "1M"]
    assert "1.01" not in labels([1, 1.01, 100], [1, 2, 3], False, False)[0]


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([1, 4], {"1", "2", "3", "4"}),
        ([0.05, 2], {"0.05", "0.1", "0.2", "0.5", "1", "2"}),
        ([1, 10_000], {"1", "100", "10k"}),
    ],
)
def test_a_logarithmic_axis_has_labels_enough(y: list[float], expected: set[str]) -> None:
    assert expected <= set(labels([1, 2], y, False, True)[1])

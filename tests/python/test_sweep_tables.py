"""Tables, figures and the page of a sweep, from results that are made up."""

from __future__ import annotations

import csv
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sweep_samples import write
from trimtab.experiments import Experiment, Swept, configurations, json_of, load, summarised, write_outputs
from trimtab.experiments.drawings import figures_of
from trimtab.experiments.results import Record
from trimtab.experiments.summary import spread
from trimtab.figures import Figure, Line, Panel, Point, draw

FIGURES = """
[[figure]]
x = "grain"
y = "time"
lines = "mode"
log = ["x", "y"]
[[figure]]
name = "overheads"
title = "Overhead <of> all"
x = "mode"
y = "overhead"
lines = "grain"
errors = false
[[figure]]
x = "grain"
y = "misses"
lines = "mode"
[[best]]
metric = "time"
per = "mode"
show = ["idle_rate", "misses"]
[[best]]
title = "Most idle"
metric = "idle_rate"
goal = "max"
"""


def record(grain: int, mode: str, sample: int, **overrides: object) -> Record:
    time = grain * {0: 1.0, 1: 1.0, 2: 2.0, 3: 6.0}[sample] * (1 if mode == "a" else 10)
    metrics = {"time": time, "idle_rate": 0.5 / grain, "wall_s": time, "extra": float(sample)}
    base = Record(
        {"grain": grain, "mode": mode}, sample, 0, "t", ["x"], 0, None, None, [], 0.0, 0.0, False, metrics
    )
    return replace(base, **overrides)  # type: ignore[arg-type]


def swept_of(experiment: Experiment, records: list[Record], folder: Path) -> Swept:
    folder.mkdir(exist_ok=True)
    return Swept(experiment, folder, configurations(experiment), records, 24, False, [])


@pytest.fixture
def swept(tmp_path: Path) -> Swept:
    experiment = load(write(tmp_path, FIGURES))
    records = [record(grain, mode, sample) for grain in (1, 2, 4) for mode in "ab" for sample in (1, 2, 3)]
    records += [record(8, "a", 1, failure="exit code 1", stderr=["no <memory>"]), record(8, "a", 0)]
    return swept_of(experiment, records, tmp_path / "out")


def test_spread() -> None:
    result = spread([1.0, 2.0, 6.0])
    assert (result.median, result.quarter, result.three_quarters, result.least, result.most) == (
        2.0,
        1.5,
        4.0,
        1.0,
        6.0,
    )
    assert (result.iqr, result.count) == (2.5, 3)
    assert spread([3.0]).iqr == 0.0


def test_a_row_for_each_configuration(swept: Swept) -> None:
    rows = {tuple(row.configuration.values()): row for row in summarised(swept).rows}
    assert len(rows) == 8
    assert rows[2, "a"].spreads["time"] == spread([2.0, 4.0, 12.0])
    # Derived of each run, not of medians.
    assert rows[2, "a"].spreads["overhead"] == spread([0.5, 1.0, 3.0])
    # The failed run and the warm-up run count for nothing, but the failure is told.
    assert (rows[8, "a"].runs, rows[8, "a"].failed, rows[8, "a"].spreads) == (0, 1, {})
    assert rows[8, "b"].runs == 0


def test_best_of_each_group(swept: Swept) -> None:
    (spec, best), (_, idle) = summarised(swept).best
    assert spec.title == "Best execution time"
    assert [(entry.group, entry.row.configuration["grain"], entry.spread.median) for entry in best] == [
        ({"mode": "a"}, 1, 2.0),
        ({"mode": "b"}, 1, 20.0),
    ]
    # Quartiles of grain 1 are 1.5 to 4, of 2 are 3 to 8: not told apart; of 4, 6 to 16: worse.
    assert [entry.as_good for entry in best] == [1, 1]
    assert [(entry.group, entry.row.configuration["grain"], entry.spread.median) for entry in idle] == [
        ({}, 1, 0.5)
    ]


def test_groups_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    overrides = '[[best]]\nmetric = "time"\nper = ["mode", "grain"]\n'
    experiment = load(write(tmp_path, overrides), {"grain": [4, 1], "mode": ["b", "a"]})
    records = [record(grain, mode, 1) for grain in (1, 4) for mode in "ab"]
    ((_, best),) = summarised(swept_of(experiment, records, tmp_path / "out")).best
    assert [tuple(entry.group.values()) for entry in best] == [("b", 4), ("b", 1), ("a", 4), ("a", 1)]


def test_files(swept: Swept) -> None:
    written = write_outputs(swept, summarised(swept))
    assert [path.name for path in written.tables] == [
        *("table.csv", "runs.csv", "best.csv", "best-2.csv"),
        *("table.parquet", "runs.parquet", "best.parquet", "best-2.parquet"),
    ]
    with (swept.directory / "table.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 8
    (row,) = (one_row for one_row in rows if one_row["grain"] == "2" and one_row["mode"] == "a")
    assert (row["time"], row["time_iqr"], row["time_min"], row["time_n"]) == ("4.0", "5.0", "2.0", "3")
    (empty,) = (one_row for one_row in rows if one_row["grain"] == "8" and one_row["mode"] == "b")
    assert (empty["time"], empty["time_n"], empty["runs"]) == ("", "0", "0")
    assert "misses" not in row, "what no run has is no column of zeros"
    with (swept.directory / "runs.csv").open() as stream:
        runs = list(csv.DictReader(stream))
    assert [run["counts"] for run in runs] == ["true"] * 18 + ["false"] * 2
    with (swept.directory / "best.csv").open() as stream:
        (first, _) = csv.DictReader(stream)
    assert list(first) == [
        "mode",
        "grain",
        "time",
        "time_iqr",
        "time_min",
        "time_n",
        "idle_rate",
        "misses",
        "as_good",
    ]
    assert (first["idle_rate"], first["misses"]) == ("0.5", "")


def test_parquet_has_the_same(swept: Swept) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write_outputs(swept, summarised(swept))
    for name in ("table", "runs", "best"):
        table = parquet.read_table(swept.directory / f"{name}.parquet")
        with (swept.directory / f"{name}.csv").open() as stream:
            header, *rows = csv.reader(stream)
        assert table.column_names == header
        for at, column in enumerate(header):
            for result, text in zip(table[column].to_pylist(), (row[at] for row in rows), strict=True):
                assert text == (
                    "" if result is None else str(result).lower() if isinstance(result, bool) else str(result)
                )
    types = {field.name: str(field.type) for field in parquet.read_schema(swept.directory / "table.parquet")}
    assert (types["grain"], types["mode"], types["time"], types["runs"]) == (
        "int64",
        "string",
        "double",
        "int64",
    )


def test_figures_as_data(swept: Swept) -> None:
    figures, notes = figures_of(swept.experiment, summarised(swept))
    assert notes == ["no figure 'misses': no run has 'misses'"]
    time, overheads = figures
    assert (time.x_label, time.y_label, time.legend) == ("grain", "execution time (s)", "mode")
    assert (time.log_x, time.log_y, time.has_errors) == (True, True, True)
    (panel,) = time.panels
    assert panel.lines[0] == Line("a", tuple(Point(g, 2.0 * g, 1.5 * g, 4.0 * g) for g in (1.0, 2.0, 4.0)))
    assert [line.label for line in panel.lines] == ["a", "b"]
    # An axis of words; a line for each grain that has points.
    assert [line.label for line in overheads.panels[0].lines] == ["1", "2", "4"]
    assert [point.x for point in overheads.panels[0].lines[0].points] == ["a", "b"]


def test_panels_and_conditions(tmp_path: Path) -> None:
    overrides = '[[figure]]\nx = "grain"\ny = "time"\npanels = "mode"\nwhere = {grain = {at_most = 2}}\n'
    experiment = load(write(tmp_path, overrides))
    records = [record(grain, mode, 1) for grain in (1, 2, 4) for mode in "ab"]
    swept = swept_of(experiment, records, tmp_path / "out")
    ((figure,), _) = figures_of(experiment, summarised(swept))
    assert [panel.title for panel in figure.panels] == ["mode: a", "mode: b"]
    assert [point.x for panel in figure.panels for point in panel.lines[0].points] == [1.0, 2.0, 1.0, 2.0]


def test_lines_go_along_their_axis(tmp_path: Path) -> None:
    overrides = '[[figure]]\nx = "grain"\ny = "time"\nlines = "mode"\n[[figure]]\nx = "idle_rate"\ny = "time"\nname = "of"\n'
    experiment = load(write(tmp_path, overrides), {"grain": [4, 1, 2], "mode": "a"})
    records = [record(grain, "a", 1) for grain in (4, 1, 2)]
    (remaining, of), _ = figures_of(experiment, summarised(swept_of(experiment, records, tmp_path / "out")))
    assert [point.x for point in remaining.panels[0].lines[0].points] == [1.0, 2.0, 4.0]
    # Over another metric: its median.
    assert [(point.x, point.y) for point in of.panels[0].lines[0].points] == [
        (0.125, 4.0),
        (0.25, 2.0),
        (0.5, 1.0),
    ]


def test_drawings(swept: Swept) -> None:
    pytest.importorskip("matplotlib")
    written = write_outputs(swept, summarised(swept))
    assert [path.name for path in written.figures] == [
        "time.svg",
        "time.png",
        "overheads.svg",
        "overheads.png",
    ]
    for path in written.figures:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG")
        else:
            root = ElementTree.fromstring(content)
            # Curves are groups `LineCollection` (error bars) and `line2d`; without either nothing is drawn.
            assert sum("line2d" in (entry.get("id") or "") for entry in root.iter()) > 10
    before = [path.read_bytes() for path in written.figures]
    repeated = write_outputs(swept, summarised(swept))
    assert [path.read_bytes() for path in repeated.figures] == before, "the same data gives the same bytes"


def test_a_drawing_has_what_its_data_has() -> None:
    pytest.importorskip("matplotlib")
    from trimtab.figures.draw import canvas

    lines = tuple(
        Line(f"l{at}", (Point(1.0, 1.0 + at, 0.5, 9.0), Point(10.0, 100.0, 50.0, 200.0))) for at in range(9)
    )
    figure = Figure(
        "n",
        "T",
        "x (1)",
        "y (s)",
        "which",
        True,
        True,
        True,
        tuple(Panel(f"p{at}", lines) for at in range(4)),
    )
    created = canvas(figure)
    shown = [axes for axes in created.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == ["p0", "p1", "p2", "p3"]
    assert all(axes.get_xscale() == axes.get_yscale() == "log" for axes in shown)
    assert shown[0].get_ylabel() == "y (s)" and shown[3].get_xlabel() == "x (1)"
    assert len(shown[0].containers) == 9, "a line with error bars for each"
    looks = {
        (bars[0].get_color(), bars[0].get_marker(), bars[0].get_linestyle()) for bars in shown[0].containers
    }
    assert len(looks) == 9
    (legend,) = created.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"l{at}" for at in range(9)]


@pytest.mark.parametrize("is_log", [False, True])
def test_every_point_is_inside_its_axes(is_log: bool) -> None:
    pytest.importorskip("matplotlib")
    from trimtab.figures.draw import canvas

    def panel(size: float) -> Panel:
        points = tuple(Point(x * size, size * x, size * x * 0.9, size * x * 1.1) for x in (1.0, 2.0, 3.0))
        return Panel("", (Line("a", points),))

    panels = tuple(panel(size) for size in (1.0, 0.01, 1000.0, 10.0))
    drawn = canvas(Figure("n", "T", "x", "y", "", is_log, is_log, True, panels))
    for axes, entry in zip(drawn.axes, panels, strict=False):
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        assert is_log or bottom == 0
        for point in entry.lines[0].points:
            assert left < point.x < right and bottom < point.low and point.high < top  # type: ignore[operator]


def test_log_axes_leave_out_what_has_no_logarithm() -> None:
    pytest.importorskip("matplotlib")
    from trimtab.figures.draw import canvas

    points = (
        Point(0.0, 1.0, 1.0, 1.0),
        Point(1.0, 0.0, 0.0, 0.0),
        Point(2.0, 1.0, 0.0, 2.0),
        Point(4.0, 3.0, 3.0, 3.0),
    )
    several, none = Panel("some", (Line("a", points),)), Panel("none", (Line("a", points[:2]),))
    for panels, expected in (((several, none), [2.0, 4.0]), ((none,), [])):
        figure = Figure("n", "T", "x", "y", "", True, True, True, panels)
        (bars, *_) = canvas(figure).axes[0].containers
        assert list(bars[0].get_xdata()) == expected
        svg, png = draw(figure)
        assert b"<svg" in svg and png


def test_the_page(swept: Swept) -> None:
    written = write_outputs(swept, summarised(swept))
    text = written.page.read_text()
    assert "18 of 24" not in text and "19 of 24 runs of 8 configurations, 1 failed, 1 warm-up" in text
    assert "no &lt;memory&gt;" in text and "<memory>" not in text, "what a program says is no HTML"
    assert "Overhead &lt;of&gt; all" in text
    assert text.count("data:image/svg+xml;base64,") == 2
    assert "http://" not in text and "https://" not in text, "it asks for nothing"
    assert "Best execution time" in text and "Most idle" in text


def test_json_has_all_and_is_json(swept: Swept) -> None:
    result = json.loads(json.dumps(json_of(swept, summarised(swept)), allow_nan=False))
    (first, *_) = result["configurations"]
    assert first["configuration"] == {"grain": 1, "mode": "a"} and first["metrics"]["time"]["median"] == 2.0
    assert result["best"][0]["groups"][0]["configuration"] == {"mode": "a", "grain": 1}
    assert result["failures"] == [
        {
            "configuration": {"grain": 8, "mode": "a"},
            "sample": 1,
            "failure": "exit code 1",
            "stderr": ["no <memory>"],
        }
    ]


def test_without_optional_libraries(swept: Swept, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("trimtab.figures.draw", "trimtab.experiments.parquet"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    written = write_outputs(swept, summarised(swept))
    assert [path.name for path in written.tables] == ["table.csv", "runs.csv", "best.csv", "best-2.csv"]
    assert written.figures == []
    parquet, figures = written.notes
    assert "pip install 'trimtab[parquet]'" in parquet
    assert "pip install 'trimtab[figures]'" in figures and "\n" not in figures
    assert "pip install" in written.page.read_text()


def test_no_results_at_all(tmp_path: Path) -> None:
    experiment = load(write(tmp_path, FIGURES))
    swept = swept_of(experiment, [], tmp_path / "out")
    summary = summarised(swept)
    written = write_outputs(swept, summary)
    assert all(row.runs == 0 for row in summary.rows) and all(groups == [] for _, groups in summary.best)
    assert written.page.exists() and written.figures == []


def test_metrics_of_odd_values(tmp_path: Path) -> None:
    experiment = load(write(tmp_path))
    records = [
        record(1, "a", 1, metrics={"time": 1e300, "idle_rate": 1e300}),
        record(1, "a", 2, metrics={"time": 0.0}),
    ]
    (row, *_) = summarised(swept_of(experiment, records, tmp_path / "out")).rows
    # The product is no number, and the second run has no idle rate.
    assert "overhead" not in row.spreads and row.spreads["idle_rate"].count == 1
    assert math.isfinite(row.spreads["time"].median)

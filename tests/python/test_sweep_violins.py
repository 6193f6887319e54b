"""Kernel measures of a sweep, and what is made of single runs: violin figures, means, outliers."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from reports import part
from sweep_samples import write
from synthetic import ProcessFiles, write_run
from trimtab.experiments import ExperimentError, Swept, configurations, json_of, load, observe, summarised
from trimtab.experiments.outputs import write_outputs
from trimtab.experiments.results import Record
from trimtab.experiments.run_groups import outliers, runs_of
from trimtab.experiments.spec import Observe
from trimtab.experiments.violins import violins_of
from trimtab.figures import Violin, draw
from trimtab.model import RunError
from trimtab.model import report as types

ASKED = """
[[violin]]
x = "grain"
rows = ["time", "idle_rate", "misses"]
per = "mode"
title = "Spread"
[[average]]
title = "Means by mode"
metrics = ["time", "overhead"]
per = "mode"
[[outliers]]
metrics = ["time"]
"""


def record(grain: int, mode: str, sample: int, **overrides: Any) -> Record:
    # Sample 9 is far from the others.
    time = grain * (10.0 if sample == 9 else 1 + 0.01 * sample)
    metrics = {"time": time, "idle_rate": 0.5, "wall_s": time}
    configuration = {"grain": grain, "mode": mode}
    base = Record(configuration, sample, 0, "t", ["x"], 0, None, None, [], 0.0, 0.0, False, metrics)
    return replace(base, **overrides)


@pytest.fixture
def swept(tmp_path: Path) -> Swept:
    experiment = load(write(tmp_path, ASKED, samples="9"))
    records = [record(grain, mode, sample) for grain in (1, 2) for mode in "ab" for sample in range(10)]
    records.append(record(4, "a", 1, failure="exit code 1"))
    (tmp_path / "out").mkdir()
    return Swept(experiment, tmp_path / "out", configurations(experiment), records, 72, False, [])


def test_violins_are_of_single_runs(swept: Swept) -> None:
    figures, notes = violins_of(swept, summarised(swept))
    assert [(figure.name, figure.title) for figure in figures] == [
        ("violins-a", "Spread: mode=a"),
        ("violins-b", "Spread: mode=b"),
    ]
    assert notes == ["no row in figure 'violins': no run has 'misses'"]
    assert [row.y_label for row in figures[0].rows] == ["execution time (s)", "idle_rate"]
    # Neither the warm-up run nor the failed one.
    times = figures[0].rows[0].violins
    assert times[0] == Violin("1", (1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 10.0))
    assert [violin.label for violin in times] == ["1", "2"]
    assert draw(figures[0]) == draw(figures[0])


def test_means_and_outliers_as_tables(swept: Swept) -> None:
    write_outputs(swept, summarised(swept))
    folder = swept.directory
    means = list(csv.DictReader((folder / "average.csv").open()))
    assert [(row["mode"], row["runs"]) for row in means] == [("a", "18"), ("b", "18")]
    of_grain_1 = (sum(1 + 0.01 * sample for sample in range(1, 9)) + 10) / 9
    assert float(means[0]["time"]) == pytest.approx(of_grain_1 * 1.5)
    assert float(means[0]["overhead"]) == pytest.approx(of_grain_1 * 1.5 * 0.5)
    far = list(csv.DictReader((folder / "outliers.csv").open()))
    assert [(row["grain"], row["mode"], row["sample"], row["value"]) for row in far] == [
        *(("1", mode, "9", "10.0") for mode in "ab"),
        *(("2", mode, "9", "20.0") for mode in "ab"),
    ]
    assert float(far[0]["iqrs_away"]) == pytest.approx((10 - 1.07) / 0.04)
    page = (folder / "index.html").read_text()
    assert "<h2>Means by mode</h2>" in page and "<h2>Outliers</h2>" in page and page.count("<figure>") == 2
    reported = json_of(swept, summarised(swept))
    assert reported["averages"][0]["groups"][0]["runs"] == 18
    assert [far["sample"] for far in reported["outliers"][0]["runs"]] == [9, 9, 9, 9]


def test_outliers_among_other_groups(swept: Swept) -> None:
    (spec,) = swept.experiment.outliers
    runs = runs_of(swept)
    assert len(outliers(replace(spec, per=("mode",)), runs)) == 4, "20 and 10, of both modes"
    assert outliers(replace(spec, beyond=300.0), runs) == []
    # All others are equal: whatever differs lies outside, and there is no range to count in.
    equal = [replace(run, metrics={"time": 1.0 if run.record.sample < 9 else 2.0}) for run in runs]
    assert {far.distance for far in outliers(spec, equal)} == {float("inf")}


def test_one_value_and_none_can_be_drawn(swept: Swept) -> None:
    figures, _ = violins_of(replace(swept, records=[record(1, "a", 1), record(2, "a", 1)]), summarised(swept))
    row = figures[0].rows[0]
    empty = replace(row, violins=(row.violins[0], Violin("none", ())))
    assert draw(replace(figures[0], rows=(row, empty)))[0].startswith(b"<?xml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[[violin]]\nx = "grain"\nrows = []', "'violin.1..rows': expected some of time"),
        ('[[violin]]\nx = "time"\nrows = ["time"]', "'violin.1..x': expected one of grain, mode"),
        ('[[violin]]\nx = "grain"\nrows = ["time"]\nper = "grain"', "'violin.1..per': expected some of mode"),
        ('[[average]]\nmetrics = ["nosuch"]', "'average.1..metrics': expected some of"),
        ('[[outliers]]\nmetrics = ["time"]\nbeyond = -1', "'outliers.1..beyond': expected a number from 0"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(ExperimentError, match=expected):
        load(write(tmp_path, text))


def test_the_kernel_is_recorded_if_the_file_asks_for_it(tmp_path: Path) -> None:
    plain, asked = (load(write(tmp_path, observe=text)) for text in ("true", "{kernel = true}"))
    assert plain.observe == Observe() and asked.observe == Observe(has_kernel=True)
    assert "--kernel" in observe.command(asked.observe, tmp_path, ["x"])
    assert "--kernel" not in observe.command(plain.observe, tmp_path, ["x"])
    # Results of runs without a record of the kernel do not belong to those with one; those of earlier versions are kept.
    assert plain.what_runs()["observe"] == [False, None] and asked.what_runs()["observe"][2] == "kernel"


def program(name: str, waiting_s: float, switches: int) -> types.ScheduledProgram:
    values = {"name": name, "waiting_s": waiting_s, "switches": switches}
    made: types.ScheduledProgram = part(types.ScheduledProgram, values)
    return made


def test_kernel_measures_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = {"user_s": 1.0, "system_s": 0.5, "voluntary": 1, "involuntary": 1, "max_rss_kb": 1}
    ended = {"mono_ns": 15 * 10**9, "code": 0, "signal": None, "wall_s": 10.0, "rusage": usage}
    run = write_run(tmp_path / "run", ProcessFiles(), info={"ended": ended})
    assert not any("kernel" in name for name in observe.figures_of(run)), "not recorded is not zero"
    with pytest.raises(RunError, match="expected events of the operating system's scheduler, found none"):
        observe.figures_of(run, needs_kernel=True)
    kernel = part(types.Kernel, {"running_s": 8.0, "waiting_s": 0.25, "switches": 40, "lost": 3})
    everything = (program("app", 0.25, 40), program("cron", 0.5, 2))
    recorded = msgspec.structs.replace(kernel, programs=everything)
    build = observe.build
    monkeypatch.setattr(observe, "build", lambda run: msgspec.structs.replace(build(run), kernel=recorded))
    figures = observe.figures_of(run, needs_kernel=True)
    assert {name: value for name, (value, _) in figures.items() if "kernel" in name} == {
        "observed_kernel_running_s": 8.0,
        "observed_kernel_waiting_s": 0.25,
        "observed_kernel_all_waiting_s": 0.75,
        "observed_kernel_switches": 40.0,
        "observed_kernel_all_switches": 42.0,
        "observed_kernel_lost": 3.0,
    }

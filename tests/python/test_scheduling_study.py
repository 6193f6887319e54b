"""The scheduling study: its design as published, and the small one from end to end with made-up records of the kernel."""

from __future__ import annotations

import csv
import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from trimtab.experiments import configurations, load, observe, plan, summarised, sweep, write_outputs
from trimtab.experiments.plan import samples_of

STUDY = Path(__file__).parents[2] / "docs/experiments/scheduling.toml"
NODES = [f"node{number:02}" for number in range(1, 23)]


def test_the_published_design_has_59400_runs() -> None:
    experiment = load(STUDY, {"node": NODES})
    chosen = configurations(experiment)
    assert len(chosen) == 4 * 3 * 4 * 22 and len(plan(experiment, chosen)) == 59_400
    samples = {str(entry["application"]): samples_of(experiment, entry) for entry in chosen}
    assert samples == {"lavamd": 100, "hotspot3d": 100, "sph": 5, "mandelbrot": 20}


def test_fewer_samples_are_no_more_than_samples() -> None:
    experiment = replace(load(STUDY, {"node": "n"}), samples=10)
    chosen = configurations(experiment)
    assert len(plan(experiment, chosen)) == 12 * (10 + 10 + 5 + 10)


def test_the_small_design_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = itertools.count(1)

    def kernel(*_: object) -> dict[str, tuple[float, str]]:
        number = next(counter)
        values = {"running_s": 10.0, "waiting_s": 0.5, "all_waiting_s": 0.75, "switches": number}
        values["all_switches"] = 10_000 if number == 100 else 2 * number
        return {f"observed_kernel_{name}": (float(value), "") for name, value in values.items()}

    monkeypatch.setattr(observe, "command", lambda _, directory, argv: list(argv))
    monkeypatch.setattr(observe, "figures_of", kernel)
    for name in ("lavamd", "hotspot3d", "sph", "mandelbrot"):
        program = tmp_path / f"study-{name}-gcc"
        program.write_text(f"#!/bin/sh\necho '{name}: answer 1, right, 0.1 s' \"$@\"\n")
        program.chmod(0o755)
    experiment = load(STUDY, {"folder": str(tmp_path), "node": "n1"}, variant="short")
    swept = sweep(replace(experiment, samples=3), tmp_path / "out")
    assert swept.failed == [] and swept.counts()["done"] == 4 * 3 * 3 * 3
    written = write_outputs(swept, summarised(swept))
    assert written.notes == []
    # One figure for each experiment, and the six tables of the study.
    assert len({path.stem for path in written.figures}) == 4 * 3 * 3
    tables = [path.stem for path in written.tables if path.suffix == ".csv"]
    averages = ["average", *(f"average-{number}" for number in range(2, 7))]
    assert tables == ["table", "runs", "best", *averages, "outliers"]
    by_application = list(csv.DictReader((tmp_path / "out/average.csv").open()))
    assert [(row["application"], row["runs"], row["switching_share"]) for row in by_application] == [
        (name, "27", "5.0") for name in ("lavamd", "hotspot3d", "sph", "mandelbrot")
    ]

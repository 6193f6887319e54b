"""Results of several hosts as one table, and the time that a sweep takes, stated beforehand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sweep_samples import write
from trimtab.experiments import (
    Experiment,
    ExperimentError,
    expected_s,
    gathered_from,
    load,
    summarised,
    sweep,
    write_outputs,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = write(tmp_path, samples="1", run_s="2.5")
    path.write_text(path.read_text().replace("[factors]", "[factors]\nnode = {host = true}"))
    return path


def of_host(file: Path, host: str) -> Experiment:
    return load(file, {"node": host, "grain": [1, 2], "mode": "a"})


def test_results_of_hosts_become_one_table(file: Path, tmp_path: Path) -> None:
    for host in ("n1", "n2"):
        sweep(of_host(file, host), tmp_path / host)
    whole = load(file, {"grain": [1, 2], "mode": "a"})
    swept = gathered_from(whole, [tmp_path / "n2", tmp_path / "n1"], tmp_path / "all")
    assert [tuple(row.configuration.values()) for row in summarised(swept).rows] == [
        (node, grain, "a") for node in ("n2", "n1") for grain in (1, 2)
    ]
    assert swept.counts()["done"] == swept.counts()["planned"] == 4
    lines = write_outputs(swept, summarised(swept)).tables[0].read_text().splitlines()
    assert lines[0].startswith("node,grain,mode,") and len(lines) == 5


def test_one_host_does_not_make_the_runs_of_others(file: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ExperimentError, match="factor 'node': expected one host, this one, found n1, n2; run"
    ):
        sweep(load(file, {"node": ["n1", "n2"]}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_same_run_twice_is_an_error(file: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        sweep(of_host(file, "n1"), tmp_path / folder)
    with pytest.raises(ExperimentError, match=r"two: expected runs that no other folder has, found sample 1"):
        gathered_from(load(file), [tmp_path / "one", tmp_path / "two"], tmp_path)


def test_results_of_another_experiment_are_an_error(file: Path, tmp_path: Path) -> None:
    sweep(of_host(file, "n1"), tmp_path / "one")
    other = replace(load(file), expect="answer 4")
    with pytest.raises(ExperimentError, match=r"one: expected results of .* but 'expect' was"):
        gathered_from(other, [tmp_path / "one"], tmp_path)


def test_the_time_is_stated_beforehand(file: Path, tmp_path: Path) -> None:
    experiment = of_host(file, "n1")
    assert expected_s(experiment, tmp_path / "out") == pytest.approx(2 * 2.5)
    assert expected_s(replace(experiment, run_s=None), tmp_path / "out") is None
    sweep(experiment, tmp_path / "out")
    assert expected_s(experiment, tmp_path / "out") == 0
    # From now on by the runs that were made, which take less.
    more = replace(experiment, samples=2)
    left = expected_s(more, tmp_path / "out")
    assert left is not None and 0 < left < 5

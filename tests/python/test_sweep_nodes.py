"""What --slurm asks for and what it refuses, without a cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sweep_samples import write
from trimtab.experiments import ClusterSweep, Experiment, ExperimentError, Options, load, node_request, sweep
from trimtab.experiments.node_job import FAILED, NODES, Report, on_node, write_report
from trimtab.experiments.submission import sbatch_options


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = write(tmp_path, samples="1")
    path.write_text(path.read_text().replace("[factors]", "[factors]\nnode = {host = true}"))
    return path


def cluster(experiment: Experiment, directory: Path, nodes: str = "2") -> ClusterSweep:
    return ClusterSweep(experiment, directory, node_request(nodes, ()), Options())


@pytest.mark.parametrize(
    ("nodes", "option", "told"),
    [
        ("0", "time=5", "--slurm 0: expected 1 to 10000 nodes"),
        ("n1,,n2", "time=5", "--slurm n1,,n2: expected a number of nodes, or names such as"),
        ("n1,../n2", "time=5", r"--slurm n1,\.\./n2: expected"),
        ("-3", "time=5", "--slurm -3: expected"),
        ("2", "=5", "--slurm-option =5: expected NAME=VALUE or NAME, a long option of sbatch"),
        ("2", "time=", "--slurm-option time=: expected NAME=VALUE"),
        ("2", "ti me=5", "--slurm-option ti me=5: expected NAME=VALUE"),
        ("2", "comment=a\nb", "--slurm-option comment: expected a value of one line"),
        (
            "2",
            "nodelist=n1",
            r"--slurm-option nodelist: expected another option; trimtab sets this one itself",
        ),
        ("2", "--ntasks-per-node=4", r"--slurm-option --ntasks-per-node: expected another option"),
    ],
)
def test_what_is_wrong_is_told(nodes: str, option: str, told: str) -> None:
    with pytest.raises(ExperimentError, match=f"^{told}"):
        node_request(nodes, (option,))


def test_options_have_the_names_of_sbatch() -> None:
    request = node_request("n1,n2,n1", ("--mail-type=END", "requeue", "exclusive=user"))
    assert request.count == 2 and request.names == ("n1", "n2")
    options = sbatch_options(request, "tiny", "n1", ["n2"], None)
    assert (options["mail_type"], options["requeue"], options["exclusive"]) == ("END", True, "user")
    assert options["nodelist"] == "n1" and "exclude" not in options
    assert "time" not in options, "the partition's limit, where nobody knows how long it takes"
    assert sbatch_options(request, "tiny", None, [], 90.0)["time"] == "13"


def test_nodes_must_differ_in_a_factor(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="expected a factor of the host, which tells the nodes apart"):
        cluster(load(write(tmp_path)), tmp_path / "out")
    file.write_text(file.read_text().replace("[factors]", "[factors]\nnode = {host = true}"))
    with pytest.raises(ExperimentError, match=r"factor 'node': expected no names, .* found n1"):
        cluster(load(file, {"node": "n1"}), tmp_path / "out")


def test_a_folder_of_something_else_is_left_alone(file: Path, tmp_path: Path) -> None:
    experiment = load(file, {"grain": 1, "mode": "a"})
    sweep(experiment, tmp_path / "out")
    with pytest.raises(
        ExperimentError, match=r"out: expected a new or empty folder, .* found experiment\.json"
    ):
        cluster(experiment, tmp_path / "out")


def test_a_node_has_its_own_name_and_the_time_that_another_one_took(file: Path, tmp_path: Path) -> None:
    experiment = load(file, {"grain": [1, 2], "mode": "a"})
    assert experiment.factors[0].values == (os.uname().nodename,)
    assert "time" not in cluster(experiment, tmp_path / "out").planned_jobs()[0]
    swept = sweep(on_node(experiment, "n1"), tmp_path / "out" / NODES / "n1")
    assert {run.configuration["node"] for run in swept.runs} == {"n1"}
    (tmp_path / "out/jobs").mkdir()
    (job,) = cluster(experiment, tmp_path / "out").planned_jobs()
    assert job["exclude"] == "n1" and job["time"] == "11"


def test_jobs_whose_state_nobody_knows_are_not_submitted_again(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    jobs = tmp_path / "out/jobs"
    jobs.mkdir(parents=True)
    (jobs / "submitted.jsonl").write_text('{"job": "7", "node": null}\n')
    sweep_on_nodes = cluster(load(file), tmp_path / "out")
    with pytest.raises(ExperimentError, match="squeue does not say whether they still run"):
        sweep_on_nodes.planned_jobs()
    # It has said itself that it is over.
    write_report(tmp_path / "out", "7", Report("n1", FAILED, "no such CPUs"))
    assert len(sweep_on_nodes.planned_jobs()) == 2


@pytest.mark.parametrize("damage", ["{", "[]", '{"job": 3}', "\xff"])
def test_damaged_files_of_jobs_are_errors(file: Path, tmp_path: Path, damage: str) -> None:
    jobs = tmp_path / "out/jobs"
    jobs.mkdir(parents=True)
    (jobs / "submitted.jsonl").write_text('{"job": "7", "node": null}\n')
    sweep_on_nodes = cluster(load(file), tmp_path / "out")
    (jobs / "7.json").write_text(damage)
    with pytest.raises(ExperimentError, match=r"jobs/7\.json: "):
        sweep_on_nodes.planned_jobs()
    (jobs / "submitted.jsonl").write_text(damage)
    with pytest.raises(ExperimentError, match=r"jobs/submitted\.jsonl: expected a line for each job"):
        sweep_on_nodes.planned_jobs()

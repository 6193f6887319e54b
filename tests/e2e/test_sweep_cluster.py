"""trimtab sweep --slurm, the real command with submitit: jobs that a stand-in for Slurm runs here, each as on a node of its own."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import finished
from documented import Reader, sections_of, steps_of
from fake_slurm import FakeSlurm
from sweep_samples import ran, until, write

pytest.importorskip("submitit")

Sweep = Callable[..., subprocess.CompletedProcess[str]]
BEST = '[[best]]\nmetric = "time"\nper = "node"\n'
SMALL = ("-o", "out", "--set", "grain=1,2", "--set", "mode=a")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeSlurm]:
    started = FakeSlurm(tmp_path / "slurm", "n1", "n2", "n3")
    yield started
    started.end_jobs()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An experiment of four runs on each node; on n2 a program may be told to do something else."""
    path = write(tmp_path, BEST, samples="2", run_s="60")
    path.write_text(
        path.read_text()
        .replace("[factors]", "[factors]\nnode = {host = true}")
        .replace('"mode={mode}"', '"mode={mode}", "node={node}"')
    )
    subject = tmp_path / "subject.py"
    subject.write_text(
        subject.read_text().replace(
            'given.get("mode", "")', 'given.get("mode", "") if given["node"] == "n2" else ""'
        )
    )
    return path


@pytest.fixture
def go(trimtab: str, tmp_path: Path, file: Path, cluster: FakeSlurm) -> Sweep:
    def call(*arguments: str, **overrides: Any) -> subprocess.CompletedProcess[str]:
        options = {"env": cluster.environment(), **overrides}
        return finished([trimtab, "sweep", file.name, *arguments], cwd=tmp_path, **options)

    return call


@pytest.fixture
def start(trimtab: str, tmp_path: Path, file: Path, cluster: FakeSlurm) -> Iterator[Callable[..., Any]]:
    commands: list[subprocess.Popen[str]] = []

    def call(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [trimtab, "sweep", file.name, *arguments],
            cwd=tmp_path,
            env=cluster.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        commands.append(process)
        return process

    yield call
    for command in commands:
        with command:
            command.kill()


def results(folder: Path, node: str) -> list[dict[str, Any]]:
    path = folder / f"out/nodes/{node}/results.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_two_nodes_become_one_table(go: Sweep, tmp_path: Path, cluster: FakeSlurm) -> None:
    completed = go(
        *SMALL, "--slurm", "2", "--slurm-option", "partition=short", "--slurm-option", "mail-type=END"
    )
    assert completed.returncode == 0, completed.stderr
    assert "job 1 on n1 is done" in completed.stderr and "job 2 on n2 is done" in completed.stderr
    assert "trimtab: 8 of 8 runs done: out/index.html" in completed.stderr
    for node in ("n1", "n2"):
        assert [record["configuration"]["node"] for record in results(tmp_path, node)] == [node] * 4
    with open(tmp_path / "out/runs.csv") as stream:
        assert sorted(row["node"] for row in csv.DictReader(stream)) == ["n1"] * 4 + ["n2"] * 4
    # Four runs of a minute, twice that and ten minutes.
    assert (
        cluster.options()
        == [
            {
                "partition": "short",
                "mail-type": "END",
                "time": "18",
                "exclusive": "",
                "nodes": "1",
                "job-name": "trimtab-tiny",
                "signal": "B:USR2@60",
                "open-mode": "append",
                "chdir": str(tmp_path / "out/jobs"),
                "output": str(tmp_path / "out/jobs/%j_0_log.out"),
                "error": str(tmp_path / "out/jobs/%j_0_log.err"),
            }
        ]
        * 2
    )
    # All CPUs of a node are the batch script's, not a step's.
    assert "srun" not in (tmp_path / "slurm/1.sh").read_text()
    again = go(*SMALL, "--slurm", "2", "--json")
    assert again.returncode == 0 and json.loads(again.stdout)["runs"]["done"] == 8
    assert len(cluster.jobs()) == 2 and len(ran(tmp_path)) == 8
    # A node more, and after it a sample more on all of them.
    assert go(*SMALL, "--slurm", "3").returncode == 0
    assert [job["node"] for job in cluster.jobs()] == ["n1", "n2", "n3"]
    assert cluster.options()[2]["exclude"] == "n1,n2"
    assert go(*SMALL, "--slurm", "3", "--samples", "3").returncode == 0
    assert sorted(options["nodelist"] for options in cluster.options()[3:]) == ["n1", "n2", "n3"]
    assert len(ran(tmp_path)) == 18


def test_nodes_by_name(go: Sweep, cluster: FakeSlurm) -> None:
    assert go(*SMALL, "--slurm", "n[1,3]").returncode == 0
    assert [options["nodelist"] for options in cluster.options()] == ["n1", "n3"]
    assert go(*SMALL, "--slurm", "n3,n2").returncode == 0
    assert [job["node"] for job in cluster.jobs()] == ["n1", "n3", "n2"]


def test_a_node_that_fails_is_told_and_made_up_for(go: Sweep, tmp_path: Path, cluster: FakeSlurm) -> None:
    cluster.set_nodes("n1", "n2 broken")
    completed = go(*SMALL, "--slurm", "2")
    assert completed.returncode == 1
    log = tmp_path / "out/jobs/2_0_log.err"
    assert f"job 2 on n2 ended without a result (NODE_FAIL); its log: {log}" in completed.stderr
    assert "4 of 4 runs done" in completed.stderr and "finished nodes: 1 of 2" in completed.stderr
    cluster.set_nodes("n1", "n2")
    completed = go(*SMALL, "--slurm", "2")
    assert completed.returncode == 0, completed.stderr
    assert [job["node"] for job in cluster.jobs()] == ["n1", "n2", "n2"] and len(ran(tmp_path)) == 8


def test_a_run_that_fails_on_one_node(go: Sweep, tmp_path: Path, cluster: FakeSlurm) -> None:
    chosen = ("-o", "out", "--set", "grain=1,2", "--set", "mode=fail", "--slurm", "2")
    completed = go(*chosen)
    assert completed.returncode == 1 and "8 of 8 runs done, 4 failed" in completed.stderr
    assert {record["failure"] for record in results(tmp_path, "n1")} == {None}
    assert go(*chosen).returncode == 1 and len(cluster.jobs()) == 2
    # Only the node that had failures, once; and the same number of nodes.
    assert go(*chosen, "--retry-failed").returncode == 1
    assert [options.get("nodelist") for options in cluster.options()] == [None, None, "n2"]
    assert len(results(tmp_path, "n2")) == 8
    stopped = go(*chosen, "-o", "other", "--stop-on-failure")
    assert stopped.returncode == 1 and "on n2 stopped at the first run that failed" in stopped.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_jobs_outlive_the_command_and_are_found_again(
    go: Sweep, start: Callable[..., Any], tmp_path: Path, cluster: FakeSlurm, how: signal.Signals
) -> None:
    chosen = ("-o", "out", "--set", "grain=1,2", "--set", "mode=hang", "--slurm", "2")
    waiting = start(*chosen)
    # Tables of the node that is done, while the other one still runs.
    until(lambda: (tmp_path / "out/index.html").exists() and any("n2" in line for line in ran(tmp_path)))
    other = go(*chosen)
    assert other.returncode == 2 and "out: another command waits for the jobs of this sweep" in other.stderr
    waiting.send_signal(how)
    _, reported = waiting.communicate(timeout=60)
    assert waiting.returncode == 128 + how
    assert "stopped; its jobs run on, `scancel 2` ends them; the same command goes on from out" in reported
    cluster.call("squeue")
    assert [job["state"] for job in cluster.jobs()] == ["COMPLETED", "RUNNING"]
    waiting = start(*chosen)
    assert "job 2 on n2 was submitted before" in waiting.stderr.readline()
    cluster.call("scancel", "2")
    _, reported = waiting.communicate(timeout=60)
    assert waiting.returncode == 1
    assert "job 2 on n2 failed: it was cancelled or preempted (CANCELLED); its log: " in reported
    assert len(cluster.jobs()) == 2 and results(tmp_path, "n2") == [], "its run does not count as failed"
    subject = tmp_path / "subject.py"
    subject.write_text(subject.read_text().replace("time.sleep(600)", "pass"))
    completed = go(*chosen)
    assert completed.returncode == 0, completed.stderr
    assert cluster.options()[2]["nodelist"] == "n2" and len(results(tmp_path, "n2")) == 4


def test_the_time_limit(start: Callable[..., Any], tmp_path: Path, cluster: FakeSlurm) -> None:
    waiting = start(
        "-o", "out", "--set", "grain=1", "--set", "mode=hang", "--slurm", "n2", "--slurm-option", "time=7"
    )
    until(lambda: bool(ran(tmp_path)))
    cluster.call("scancel", "--signal=SIGUSR2", "1")
    _, reported = waiting.communicate(timeout=60)
    assert waiting.returncode == 1 and cluster.options()[0]["time"] == "7"
    assert "job 1 on n2 failed: its time limit was near (TIMEOUT); its log: " in reported
    assert results(tmp_path, "n2") == []


def test_a_job_that_gets_a_node_of_another_one(
    start: Callable[..., Any], tmp_path: Path, cluster: FakeSlurm
) -> None:
    cluster.set_nodes("n1")
    waiting = start(*SMALL, "--slurm", "2", "--slurm-option", "exclude=n9")
    until(lambda: len(cluster.jobs()) == 3)
    cluster.set_nodes("n1", "n9", "n3")
    _, reported = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, reported
    assert "job 2 got node n1, which another job has" in reported
    assert [job["node"] for job in cluster.jobs()] == ["n1", "n1", "n3"]
    assert [options["exclude"] for options in cluster.options()] == ["n9", "n9", "n9,n1"]
    assert len(ran(tmp_path)) == 8


def test_a_job_that_is_cancelled_while_it_waits(
    start: Callable[..., Any], tmp_path: Path, cluster: FakeSlurm
) -> None:
    cluster.set_nodes()
    waiting = start(*SMALL, "--slurm", "1")
    until(lambda: len(cluster.jobs()) == 1)
    cluster.call("scancel", "1")
    _, reported = waiting.communicate(timeout=60)
    assert waiting.returncode == 1
    assert "job 1 ended without a result (CANCELLED)" in reported and "out: no node has results" in reported


def test_a_dry_run_submits_nothing(go: Sweep, tmp_path: Path, cluster: FakeSlurm) -> None:
    completed = go(*SMALL, "--slurm", "n1", "--slurm-option", "account=a b", "--dry-run")
    assert completed.returncode == 0 and "4 runs" in completed.stdout
    assert (
        "sbatch --job-name=trimtab-tiny --exclusive --nodes=1 --signal=B:USR2@60 --time=18 '--account=a b' --nodelist=n1\n"
        in completed.stdout
    )
    assert cluster.jobs() == [] and not (tmp_path / "out").exists()
    reported = json.loads(go(*SMALL, "--slurm", "2", "--dry-run", "--json").stdout)
    assert len(reported["jobs"]) == 2 and "--time=18" in reported["jobs"][0]


def test_a_queue_that_gives_no_answer(go: Sweep, cluster: FakeSlurm) -> None:
    (cluster.commands / "squeue").write_text("#!/bin/sh\nexit 1\n")
    completed = go(*SMALL, "--slurm", "2")
    assert completed.returncode == 0 and "8 of 8 runs done" in completed.stderr
    assert len(cluster.jobs()) == 2


def test_what_sbatch_refuses(go: Sweep, cluster: FakeSlurm) -> None:
    completed = go(*SMALL, "--slurm", "1", "--slurm-option", "partition=nowhere")
    assert completed.returncode == 2 and completed.stderr.count("\n") == 1
    assert completed.stderr.endswith("Batch job submission failed: Invalid partition name specified\n")
    assert cluster.jobs() == []


def test_what_is_missing_is_named(go: Sweep, tmp_path: Path, cluster: FakeSlurm) -> None:
    (tmp_path / "empty").mkdir()
    without_slurm = {**cluster.environment(), "PATH": str(tmp_path / "empty")}
    completed = go(*SMALL, "--slurm", "2", env=without_slurm)
    assert (
        completed.returncode == 2
        and "--slurm: sbatch is not in PATH; run the command on a login node" in completed.stderr
    )
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/submitit.py").write_text("raise ImportError('not there')")
    path = ":".join(filter(None, (str(tmp_path / "modules"), cluster.environment().get("PYTHONPATH"))))
    completed = go(*SMALL, "--slurm", "2", env={**cluster.environment(), "PYTHONPATH": path})
    assert completed.returncode == 2
    assert (
        "--slurm needs submitit, which is not installed (not there): pip install 'trimtab[slurm]'"
        in completed.stderr
    )
    assert cluster.jobs() == [] and not (tmp_path / "out").exists()


def test_the_page_says_what_happens(
    trimtab: str, tmp_path: Path, cluster: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in cluster.environment().items():
        monkeypatch.setenv(name, value)
    (tmp_path / "app").write_text("#!/bin/sh\necho answer 42\n")
    (tmp_path / "app").chmod(0o755)
    reader = Reader(tmp_path, trimtab)
    for _, text in sections_of("docs/guide/sweep-cluster.md"):
        for step in steps_of(text):
            reader.follow(step)
    assert [job["node"] for job in cluster.jobs()] == ["n1", "n2", "n3"]

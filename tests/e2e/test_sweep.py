"""trimtab sweep, the real command: whole sweeps, killed ones, failures, what it writes and says."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import finished
from sweep_samples import ran, until, write

FIGURE = '[[figure]]\nx = "grain"\ny = "time"\nlines = "mode"\nlog = "x"\n[[best]]\nmetric = "time"\nper = "mode"\n'
Sweep = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def go(trimtab: str, tmp_path: Path) -> Sweep:
    def call(*arguments: str, **overrides: Any) -> subprocess.CompletedProcess[str]:
        return finished([trimtab, "sweep", "tiny.toml", *arguments], cwd=tmp_path, **overrides)

    return call


def test_a_whole_sweep(go: Sweep, tmp_path: Path) -> None:
    write(tmp_path, FIGURE)
    completed = go("-o", "out")
    assert completed.returncode == 0, completed.stderr
    assert "trimtab: 24 of 24 runs done: out/index.html" in completed.stderr
    assert "Best execution time" in completed.stdout and "execution time (s)" in completed.stdout
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")}
    tables = {f"{name}.{kind}" for name in ("table", "runs", "best") for kind in ("csv", "parquet")}
    assert names == {
        *tables,
        *(
            "experiment.json",
            "results.jsonl",
            "index.html",
            "figures",
            "figures/time.svg",
            "figures/time.png",
        ),
        ".lock",
    }
    description = json.loads((tmp_path / "out/experiment.json").read_text())
    assert description["machine"]["cpus"] > 0 and description["what_runs"]["command"][1] == "subject.py"
    # Interleaved: a third of the way each configuration was run once.
    assert len(set(ran(tmp_path)[:8])) == 8
    repeated = go("-o", "out", "--json")
    assert len(ran(tmp_path)) == 24, "nothing is run twice"
    reported = json.loads(repeated.stdout)
    assert reported["runs"]["done"] == 24 and len(reported["configurations"]) == 8
    assert reported["best"][0]["groups"][0]["median"] == 2.0


def test_a_narrow_terminal_shows_whole_columns(go: Sweep, tmp_path: Path) -> None:
    overrides = FIGURE + 'show = ["idle_rate", "wall_s", "user_s"]\n'
    write(tmp_path, overrides, samples="1")
    wide = go("-o", "out", env={**os.environ, "COLUMNS": "200"}).stdout
    narrow = go("-o", "out", env={**os.environ, "COLUMNS": "80"}).stdout
    assert "CPU time in the program (s)" in wide
    assert max(map(len, narrow.splitlines())) <= 80 and "others as good" in narrow
    assert "CPU time" not in narrow and "index.html has all columns and rows" in narrow


def test_default_folder_and_refusal_to_go_on(go: Sweep, tmp_path: Path) -> None:
    write(tmp_path, samples="1")
    assert go("--set", "grain=1").returncode == 0
    assert (tmp_path / "trimtab-sweeps/tiny/index.html").exists()
    refused = go("--no-resume")
    assert refused.returncode == 2 and "has results already" in refused.stderr and len(ran(tmp_path)) == 2


def test_a_dry_run_runs_nothing(go: Sweep, tmp_path: Path) -> None:
    write(tmp_path)
    completed = go("--dry-run")
    assert completed.returncode == 0 and "8 configurations, 24 runs, interleaved" in completed.stdout
    assert (
        completed.stdout.count("subject.py grain=") == 20
        and "and 4 more (--json has all)" in completed.stdout
    )
    reported = json.loads(go("--dry-run", "--json", "--samples", "2", "--seed", "5").stdout)
    assert (reported["runs"], reported["seed"], len(reported["commands"])) == (16, 5, 16)
    equal = json.loads(go("--dry-run", "--json", "--samples", "2", "--seed", "5").stdout)
    other = json.loads(go("--dry-run", "--json", "--samples", "2", "--seed", "6").stdout)
    assert reported == equal and reported["commands"] != other["commands"]
    assert ran(tmp_path) == [] and not (tmp_path / "trimtab-sweeps").exists()
    # What is run is what was shown.
    go("--samples", "2", "--seed", "5", "--json")
    assert [command.split("subject.py ")[1] for command in reported["commands"]] == ran(tmp_path)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_sweep_that_is_killed_goes_on(trimtab: str, tmp_path: Path, how: signal.Signals) -> None:
    write(tmp_path)
    command = [trimtab, "sweep", "tiny.toml", "-o", "out", "--set", "mode=a,hang", "--set", "grain=1,2,4"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until(lambda: any("hang" in line for line in ran(tmp_path)))
    process.send_signal(how)
    _, reported = process.communicate(timeout=60)
    before = (tmp_path / "out/results.jsonl").read_text().splitlines() if len(ran(tmp_path)) > 1 else []
    assert len(before) == len(ran(tmp_path)) - 1, "all that finished, and nothing else"
    if how is signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 128 + how and "stopped; the same command goes on from out" in reported
    text = (tmp_path / "subject.py").read_text()
    (tmp_path / "subject.py").write_text(text.replace("time.sleep(600)", "pass"))
    repeated = finished(command, cwd=tmp_path)
    assert repeated.returncode == 0, repeated.stderr
    assert ("which a killed sweep had left running" in repeated.stderr) == (how is signal.SIGKILL)
    assert "trimtab: 18 of 18 runs done" in repeated.stderr
    after = (tmp_path / "out/results.jsonl").read_text().splitlines()
    assert after[: len(before)] == before and len(after) == 18 and len(ran(tmp_path)) == 19


def test_failures_are_told_and_the_rest_is_run(go: Sweep, tmp_path: Path) -> None:
    write(tmp_path, FIGURE, samples="1")
    chosen = ("--set", "mode=a,fail,wrong", "--set", "grain=1")
    completed = go("-o", "out", *chosen)
    assert completed.returncode == 1 and len(ran(tmp_path)) == 3
    assert "mode=fail: exit code 3: it broke" in completed.stderr
    assert "mode=wrong: wrong answer: expected output like 'answer" in completed.stderr
    assert (
        "3 of 3 runs done, 2 failed" in completed.stderr
        and "--retry-failed runs again what failed" in completed.stderr
    )
    assert "exit code 3" in (tmp_path / "out/index.html").read_text()
    assert go("-o", "out", *chosen).returncode == 1, "they still failed"
    assert len(ran(tmp_path)) == 3
    assert go("-o", "out", *chosen, "--retry-failed").returncode == 1
    assert len(ran(tmp_path)) == 5
    stopped = go("-o", "other", *chosen, "--stop-on-failure")
    assert stopped.returncode == 1 and "1 failed" in stopped.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--set", "grain"), "--set grain: expected NAME=VALUE or NAME=VALUE,VALUE..., found 'grain'"),
        (("--set", "grian=1"), "tiny.toml: --set grian: expected a factor or fixed value of it: grain, mode"),
        (("--set", "grain=x,1"), "tiny.toml: key 'factors.grain.values': expected values of one kind"),
        (("-o", "subject.py"), "subject.py: "),
    ],
)
def test_what_is_wrong_is_told_in_a_line(
    go: Sweep, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    write(tmp_path)
    completed = go(*arguments)
    assert completed.returncode == 2 and completed.stdout == ""
    assert (
        told in completed.stderr
        and completed.stderr.count("\n") == 1
        and completed.stderr.startswith("trimtab: ")
    )


def test_wrong_files_are_told_in_a_line(go: Sweep, tmp_path: Path) -> None:
    missing = go()
    assert (
        missing.returncode == 2
        and missing.stderr == "trimtab: tiny.toml: expected an experiment (TOML): No such file or directory\n"
    )
    write(tmp_path, samples="0")
    assert go().stderr == "trimtab: tiny.toml: key 'samples': expected a whole number from 1 on, found 0\n"


def test_a_terminal_shows_how_far_it_is(trimtab: str, tmp_path: Path) -> None:
    write(tmp_path, samples="20")
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        [trimtab, "sweep", "tiny.toml", "-o", "out"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=slave,
        env=environment,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(master)
    assert process.wait(60) == 0
    text = shown.decode()
    assert "of 160, " in text and " left" in text and "160 of 160 runs done" in text


OBSERVED = """
name = "observed"
command = ["{app}", "--schedule", "{{schedule}}"]
samples = 2
disturbed_above = 1.0
expect = "right"
observe = {observe}
[environment]
OMP_NUM_THREADS = 2
[factors]
schedule = ["static", "dynamic"]
[metrics]
waiting = {{from = "observed_share_barrier_wait", title = "barrier wait"}}
cpu = {{from = "observed_counter_process_cpu", required = false}}
[derived]
idle = "waiting + observed_share_serial"
[[best]]
metric = "waiting"
per = "schedule"
"""


@pytest.mark.parametrize(("observe", "is_kept"), [("true", False), ("{keep = true, with = 'cpu'}", True)])
def test_runs_under_observation(
    trimtab: str, tmp_path: Path, workload: Callable[[str], Path], observe: str, is_kept: bool
) -> None:
    (tmp_path / "o.toml").write_text(OBSERVED.format(app=workload("triangular-clang"), observe=observe))
    # A package of the same name beside the program is not taken for ours.
    (tmp_path / "trimtab").mkdir()
    (tmp_path / "trimtab/__init__.py").write_text("raise SystemExit('not this one')")
    completed = finished([trimtab, "sweep", "o.toml", "-o", "out", "--json"], cwd=tmp_path)
    assert completed.returncode == 0, completed.stderr
    result = {
        configuration["configuration"]["schedule"]: configuration["metrics"]
        for configuration in json.loads(completed.stdout)["configurations"]
    }
    # The workload's loop is unbalanced: static chunks wait.
    assert result["static"]["waiting"]["median"] > result["dynamic"]["waiting"]["median"]
    for metrics in result.values():
        assert metrics["idle"]["median"] >= metrics["waiting"]["median"]
        assert metrics["observed_efficiency"]["n"] == 2 and metrics["observed_regions"]["min"] > 0
        assert metrics["wall_s"]["median"] > 0 and "observed_counter_cpu_busy" in metrics
    assert all(metrics["cpu"]["median"] > 0 for metrics in result.values())
    kept = list((tmp_path / "out/runs").glob("*/run.json")) if is_kept else []
    assert len(kept) == (4 if is_kept else 0) and (tmp_path / "out/runs").exists() == is_kept


def test_observation_on_demand(trimtab: str, tmp_path: Path, workload: Callable[[str], Path]) -> None:
    (tmp_path / "o.toml").write_text(
        f'name = "o"\ncommand = "{workload("triangular-clang")}"\nsamples = 1\ndisturbed_above = 1.0\n'
        '[metrics]\ncpu = {from = "observed_counter_process_cpu", required = false}\n'
    )
    for options, is_there in (((), False), (("--with", "cpu"), True)):
        completed = finished(
            [trimtab, "sweep", "o.toml", "-o", f"out{is_there}", "--json", *options], cwd=tmp_path
        )
        assert completed.returncode == 0, completed.stderr
        (only,) = json.loads(completed.stdout)["configurations"]
        assert ("cpu" in only["metrics"]) == is_there and (
            "observed_efficiency" in only["metrics"]
        ) == is_there

"""A task runtime played by hand (task_runtime.c): what is reported of it is what was done."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chrome_traces import chrome_events

SOURCE = Path(__file__).with_name("task_runtime.c")
# What each worker's CPU spun for, seconds.
TOGETHER, LONG, LOOKED, WAITED, GAVE = 0.1, 0.1, 0.02, 0.01, 0.05


@pytest.fixture(scope="module")
def played(trimtab: str, compiled: Callable[..., Path]) -> Path:
    include = subprocess.run([trimtab, "--include-dir"], capture_output=True, text=True, check=True)
    return compiled(SOURCE.read_text(), "gcc", "-pthread", f"-I{include.stdout.strip()}")


@pytest.fixture(scope="module")
def runs(trimtab: str, played: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run directory of each level."""
    result = {}
    for level in ("profile", "trace"):
        result[level] = tmp_path_factory.mktemp("runs") / level
        options = ["--trace"] if level == "trace" else []
        command = [trimtab, "run", "-o", str(result[level]), *options, "--", str(played)]
        completed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert completed.returncode == 0, completed.stderr
        (result[level] / "verdict.txt").write_text(completed.stderr)
    return result


def report_of(trimtab: str, directory: Path) -> dict[str, Any]:
    completed = subprocess.run([trimtab, "report", str(directory), "--json"], capture_output=True, check=True)
    report: dict[str, Any] = json.loads(completed.stdout)
    return report


def test_without_trimtab_it_costs_nothing(played: Path) -> None:
    completed = subprocess.run([played], capture_output=True, text=True, check=True)
    assert completed.stdout == "not watched\n"


@pytest.mark.parametrize("level", ["profile", "trace"])
def test_counts_are_exact(trimtab: str, runs: dict[str, Path], level: str) -> None:
    report = report_of(trimtab, runs[level])
    tasks = {task["name"]: task for task in report["tasks"]}
    assert tasks["part"]["count"] == tasks["part"]["created"] == tasks["part"]["timed"] == 200
    assert tasks["critical"]["count"] == tasks["waiter"]["count"] == tasks["giver"]["count"] == 1
    assert tasks["waiter"]["suspended"] == 1
    tiny = [task for name, task in tasks.items() if "task_without_a_name" in name]
    if level == "profile":
        assert (tiny[0]["count"], tiny[0]["timed"], tiny[0]["created"]) == (200_000, 2_000, 200_000)
        assert "task_runtime.c" in tiny[0]["name"] or ".c:" in tiny[0]["name"]
        assert not any(task["includes_inner"] for task in tasks.values())
    # Its last 10 ms ran on another worker: one task, in two parts.
    workers = [worker["tasks"] for worker in report["workers"]]
    assert workers == ([100_101, 100_102] if level == "profile" else [101, 102])


@pytest.mark.parametrize("level", ["profile", "trace"])
def test_times_and_shares_are_what_was_done(trimtab: str, runs: dict[str, Path], level: str) -> None:
    report = report_of(trimtab, runs[level])
    first, second = report["workers"]
    assert [entry["name"] for entry in (first, second)] == ["played 1, worker 0", "played 1, worker 1"]
    assert first["runtime"] == "played 1"
    # Each at least what the CPU was busy for; more where it had to wait for one.
    assert first["work_s"] >= TOGETHER + LONG + WAITED
    assert second["work_s"] >= TOGETHER + GAVE + WAITED
    # The second looked for much longer than finding a task takes: it had none. It was parked during the rest of the long task.
    # The first was parked while the second gave it what it waited for.
    assert first["looking_s"] == 0 and second["looking_s"] < second["starved_s"]
    assert first["starved_s"] >= GAVE
    assert second["starved_s"] > LOOKED
    # Nobody worked for 0.1 s, give or take who noticed when.
    assert first["idle_s"] >= 0.09 and second["idle_s"] >= 0.09
    assert (first["parks"], second["parks"]) == (2, 1)
    assert sum(report["time"].values()) == pytest.approx(1.0, abs=1e-9)
    core_s = report["cpus_available"] * report["observed_s"]
    cpu_s = 2 * TOGETHER + LONG + GAVE + 2 * WAITED
    assert report["time"]["work"] * core_s >= 0.7 * cpu_s
    assert report["time"]["work"] * core_s <= report["os"]["cpu_s"] * 1.1 + 0.02
    if report["cpus_available"] >= 2 and report["os"]["run_delay_s"] < 0.02:
        # All that was parked while the other worked had a core to itself.
        starved = first["starved_s"] + second["starved_s"]
        assert report["time"]["starved"] * core_s == pytest.approx(starved, rel=0.2)


@pytest.mark.parametrize("level", ["profile", "trace"])
def test_verdict_and_findings(trimtab: str, runs: dict[str, Path], level: str) -> None:
    text = (runs[level] / "verdict.txt").read_text()
    assert "  2 workers: " in text and "% no task ready" in text
    assert "  task part: 200, " in text
    assert "no regions" not in text
    report = report_of(trimtab, runs[level])
    assert not any(entry["what"] == "OpenMP regions" for entry in report["unavailable"])
    findings = {finding["cause"]: finding for finding in report["findings"]}
    assert {"one long task", "tasks wait for each other"} <= set(findings)
    assert findings["one long task"]["subject"] == "critical"
    assert "suspended 1 times" in findings["tasks wait for each other"]["evidence"]
    assert "waiting: mutex" in findings["tasks wait for each other"]["evidence"]
    # One worker made most tasks, but the others did not wait for that: unless it had no CPU.
    assert "one producer" not in findings or "CPU contention" in findings


def test_parts_and_arrows_in_a_trace(trimtab: str, runs: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "trace.json"
    subprocess.run([trimtab, "export", str(runs["trace"]), "--to", "chrome", "-o", str(out)], check=True)
    events = chrome_events(out)
    lanes = {event["args"]["name"]: event["tid"] for event in events if event["name"] == "thread_name"}
    first, second = (next(tid for name, tid in lanes.items() if f"worker {n}" in name) for n in (0, 1))
    # Lanes come in the order in which threads began.
    slices = sorted((event for event in events if event["ph"] == "X"), key=lambda entry: entry["ts"])
    waiter = [one_slice for one_slice in slices if one_slice["name"] == "task waiter"]
    giver = next(one_slice for one_slice in slices if one_slice["name"] == "task giver")
    assert [entry["tid"] for entry in waiter] == [first, second] and giver["tid"] == second
    assert waiter[0]["ts"] + waiter[0]["dur"] <= giver["ts"] + giver["dur"] <= waiter[1]["ts"]
    # The time between its parts is told, and led over by an arrow; another comes from what it waited for.
    assert waiter[1]["args"]["suspended_ns"] >= 50_000_000
    arrows = [event for event in events if event["ph"] in "sf" and event["name"] == "before"]
    ends = [
        (arrow["tid"], arrow["ph"]) for arrow in sorted(arrows, key=lambda arrow: (arrow["id"], arrow["ph"]))
    ]
    assert (second, "f") in ends and (second, "s") in ends
    going_on = [event for event in events if event["ph"] in "sf" and event["name"] == "goes on"]
    assert {(entry["ph"], entry["tid"]) for entry in going_on} == {("s", first), ("f", second)}
    states = {one_slice["name"] for one_slice in slices if one_slice["cat"] == "worker"}
    assert states == {"looks for tasks", "no task"}


def test_perfetto_has_the_parts_too(trimtab: str, runs: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "trace.perfetto-trace"
    subprocess.run([trimtab, "export", str(runs["trace"]), "--to", "perfetto", "-o", str(out)], check=True)
    data = out.read_bytes()
    for name in (
        b"task waiter",
        b"suspends: waits for mutex",
        b"gives: mutex",
        b"looks for tasks",
        b"played 1, worker 1",
        b"suspended_ns",
    ):
        assert name in data


def test_counters_by_path(trimtab: str, runs: dict[str, Path]) -> None:
    counters = {counter["name"]: counter for counter in report_of(trimtab, runs["profile"])["counters"]}
    own_rows = counters["/threads{locality#0/total}/count/cumulative"]
    assert (own_rows["unit"], own_rows["is_cumulative"], own_rows["values"]) == ("1", True, [0, 1, 2, 3, 4])


@pytest.mark.parametrize("level", ["profile", "trace"])
def test_a_killed_runtime_is_read_up_to_that_instant(
    run: Callable[..., Any], played: Path, level: str
) -> None:
    watched = run(played, "kill", options=("--trace",) if level == "trace" else ())
    report = watched.report()
    assert report["exit"]["signal"] == "SIGABRT" and not report["complete"]
    assert sum(worker["tasks"] for worker in report["workers"]) == (200_203 if level == "profile" else 203)


@pytest.fixture(scope="module")
def adapted(compiled: Callable[..., Path]) -> Path:
    rooms = Path(__file__).parents[2] / "rooms"
    sources = [
        str(rooms / entry)
        for entry in (
            "tasks/src/recording.cpp",
            "tasks/src/process_locks.cpp",
            "base/src/clock.cpp",
            "base/src/read_file.cpp",
        )
    ]
    includes = [f"-I{rooms / room}/include" for room in ("tasks", "base", "observe")]
    text = Path(__file__).with_name("recording_adapter.cpp").read_text()
    return compiled(text, "g++", "-std=c++20", *includes, *sources, suffix=".cpp")


@pytest.mark.parametrize("level", ["profile", "trace"])
def test_the_adapter_of_the_task_room(run: Callable[..., Any], adapted: Path, level: str) -> None:
    watched = run(adapted, "20000", options=("--trace",) if level == "trace" else ())
    assert "tiny 40000" in watched.done.stdout
    report = watched.report()
    tasks = {task["name"]: task for task in report["tasks"]}
    named = tasks.pop("a named task")
    # Each of 200 has one inside.
    assert (named["count"], named["created"]) == (400, 400)
    assert named["includes_inner"] == (level == "profile")
    assert tasks.pop("made outside")["created"] == 1
    (name, tiny), *others = tasks.items()
    assert not others and name.endswith("worker::{lambda#1})") and ".cpp:" in name
    assert (tiny["count"], tiny["created"]) == (40_000, 40_000)
    if level == "profile":
        assert 40_000 / 64 <= tiny["timed"] <= 40_000 / 8
    else:
        assert tiny["timed"] == 40_000
    # One thread after the other, on the same lane.
    (worker,) = report["workers"]
    assert (worker["name"], worker["runtime"]) == ("adapter 1, worker 1", "adapter 1")
    assert worker["tasks"] == 40_400
    assert worker["work_s"] >= 200 * 2e-4


def test_without_trimtab_the_adapter_is_off(adapted: Path) -> None:
    completed = subprocess.run([adapted, "1000"], capture_output=True, text=True, check=True)
    assert "tiny 2000" in completed.stdout

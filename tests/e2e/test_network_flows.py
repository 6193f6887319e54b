"""Who sends how much to whom, in the report of a job of two processes (network_flows.cpp)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sweep_samples import until

SOURCE = Path(__file__).with_name("network_flows.cpp")
_LIBRARIES = ("parcels", "runtime", "tasks", "steer", "options", "observe", "base", "boost_context")
POSTED, FEW, CALLED = 20_000, 5_000, 10


@pytest.fixture(scope="module")
def program(trimtab: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    requested = subprocess.run([trimtab, "--cmake-dir"], capture_output=True, text=True, check=True)
    native = Path(requested.stdout.strip()).parent
    libraries = [native / "lib" / f"libtrimtab_{library}.a" for library in _LIBRARIES]
    built = tmp_path_factory.mktemp("network-flows") / "network_flows"
    command = ["g++", "-std=c++20", "-O2", "-g1", "-I", native / "include", SOURCE, *libraries]
    subprocess.run([*map(str, command), "-pthread", "-ldl", "-o", str(built)], check=True, timeout=300)
    return built


def report_of(trimtab: str, directory: Path) -> dict[str, Any]:
    completed = subprocess.run([trimtab, "report", str(directory), "--json"], capture_output=True, check=True)
    report: dict[str, Any] = json.loads(completed.stdout)
    return report


def flow_of(report: dict[str, Any], sender: int) -> dict[str, Any]:
    flows: list[dict[str, Any]] = report["network"]["flows"]
    (flow,) = [flow for flow in flows if (flow["from"], flow["to"]) == (sender, 1 - sender)]
    return flow


def action_of(flow: dict[str, Any], name: str) -> dict[str, Any]:
    (action,) = [action for action in flow["actions"] if name in action["action"]]
    result: dict[str, Any] = action
    return result


def counts_of(report: dict[str, Any]) -> dict[str, int]:
    """Parcels by action, over all flows; functions without their place."""
    counts: dict[str, int] = {}
    for flow in (report["network"] or {"flows": []})["flows"]:
        for action in flow["actions"]:
            name = action["action"].partition("(")[2].rstrip(")") or action["action"]
            counts[name] = counts.get(name, 0) + action["count"]
    return counts


def test_every_parcel_is_in_the_report(run: Callable[..., Any], program: Path) -> None:
    watched = run(program)
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    processes = {process["rank"]: process for process in report["processes"]}
    assert sorted(processes) == [0, 1]
    assert len({process["pid"] for process in processes.values()}) == 2
    assert all(process["host"] and process["size"] == 2 for process in processes.values())
    calls = flow_of(report, 0)
    posted, called = action_of(calls, "add_number"), action_of(calls, "count_letters")
    assert (posted["count"], posted["bytes"]) == (POSTED, 8 * POSTED)
    assert posted["sizes"] == [{"below": 16, "count": POSTED}]
    assert called["count"] == CALLED and called["bytes"] >= 1000 * CALLED
    assert action_of(flow_of(report, 1), "result")["count"] == CALLED + 1
    assert 0 < calls["messages"] < calls["count"]
    assert 0 < report["network"]["overhead"] < 1
    assert "network_flows.cpp:" in posted["action"]
    # What a parcel becomes is a task of the receiver, with the same key.
    (task,) = [task for task in report["tasks"] if task["key"] == posted["key"]]
    assert (task["count"], task["processes"]) == (POSTED, [processes[1]["id"]])


def test_a_message_a_parcel_without_coalescing(run: Callable[..., Any], program: Path) -> None:
    watched = run(program, "one-by-one")
    assert watched.done.returncode == 0, watched.done.stderr
    calls = flow_of(watched.report(), 0)
    assert calls["messages"] == calls["count"] > POSTED


def test_communication_servers_are_in_the_report(run: Callable[..., Any], program: Path) -> None:
    watched = run(program, "served")
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    assert action_of(flow_of(report, 0), "add_number")["count"] == POSTED
    first, second = report["network"]["servers"]
    assert (first["locality"], second["locality"]) == (0, 1)
    for locality in (first, second):
        servers = locality["servers"]
        assert [server["server"] for server in servers] == [0, 1]
        # At the end of the job, servers have sent everything, but for what came when the other locality had left.
        ended = sum(server["messages"] + server["dropped"] for server in servers)
        assert ended == locality["handed_over"] > 0
        # Acknowledgements are no messages of flows.
        flow = flow_of(report, locality["locality"])
        assert locality["handed_over"] + locality["sent_directly"] >= flow["messages"]
        # Of a life that is no longer than that of the process.
        assert all(0 <= server["busy_share"] <= 1 for server in servers)
        assert all(server["busy_s"] <= 1.01 * server["busy_share"] * report["wall_s"] for server in servers)


def by_action(phase: dict[str, Any]) -> dict[str, int]:
    return counts_of({"network": phase})


def test_flows_are_given_by_phase(run: Callable[..., Any], program: Path) -> None:
    watched = run(program, "phases")
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    phases = {phase["name"]: phase for phase in report["network"]["phases"]}
    assert list(phases) == [None, "numbers", "letters"]
    numbers, letters = by_action(phases["numbers"]), by_action(phases["letters"])
    assert numbers["add_number"] == POSTED and "count_letters" not in numbers
    assert letters["count_letters"] == CALLED and "add_number" not in letters
    assert phases[None]["begin_s"] <= phases["numbers"]["begin_s"] < phases["letters"]["begin_s"]
    (flow,) = [flow for flow in phases["numbers"]["flows"] if flow["from"] == 0]
    assert action_of(flow, "add_number")["sizes"] == [{"below": 16, "count": POSTED}]


def test_without_phases_flows_are_given_over_time(run: Callable[..., Any], program: Path) -> None:
    watched = run(program)
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    phases = report["network"]["phases"]
    assert len(phases) == 10 and {phase["name"] for phase in phases} == {None}
    total: dict[str, int] = {}
    for phase in phases:
        for name, count in by_action(phase).items():
            total[name] = total.get(name, 0) + count
    assert total == counts_of(report)


def test_waiting_for_a_queue_is_a_finding(run: Callable[..., Any], program: Path) -> None:
    watched = run(program, "long-wait")
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    calls = flow_of(report, 0)
    # Each call waits for the time of the rule: nothing else comes into the queue meanwhile.
    assert 0.01 < calls["queued_wait_s"] <= report["network"]["queued_wait_s"]
    (finding,) = [entry for entry in report["findings"] if entry["cause"] == "waiting for queued parcels"]
    assert "while parcels of theirs waited in queues" in finding["evidence"]
    assert 0 < finding["gain_s"] <= report["wall_s"]


def test_a_late_locality_is_a_finding(run: Callable[..., Any], program: Path) -> None:
    watched = run(program, "late")
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    (finding,) = [entry for entry in report["findings"] if entry["cause"] == "late locality"]
    # One locality comes 30 ms late, ten times. If both had the same work, half of that time would be saved.
    assert 0.05 < finding["gain_s"] < report["wall_s"]
    processes = {process["id"]: process["rank"] for process in report["processes"]}
    assert [processes[process] for process in finding["processes"]] == [1]
    assert "waited for it" in finding["evidence"]
    assert "collective operations (barrier " in finding["evidence"]


def test_decisions_on_messages_are_in_the_report_and_can_be_replayed(
    trimtab: str, run: Callable[..., Any], program: Path
) -> None:
    watched = run(program, "tuned", options=("--record-snapshots",))
    assert watched.done.returncode == 0, watched.done.stderr
    decisions = [
        decision for decision in watched.report()["decisions"] if decision["subject"].startswith("messages, ")
    ]
    assert decisions
    knobs = {change["knob"] for decision in decisions for change in decision["changes"]}
    assert knobs and knobs <= {"batch", "under-way", "most-bytes"}
    assert {decision["policy"] for decision in decisions} == {"message-tuner"}
    assert list(watched.directory.glob("*/snapshots-messages-1.txt"))
    replayed = subprocess.run([trimtab, "replay", str(watched.directory)], capture_output=True, text=True)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


def test_a_trace_has_arrows_from_who_calls_to_the_task(
    trimtab: str, run: Callable[..., Any], program: Path, tmp_path: Path
) -> None:
    watched = run(program, "few", options=("--trace",))
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    ranks = {process["pid"]: process["rank"] for process in report["processes"]}
    exported = tmp_path / "trace.json"
    command = [trimtab, "export", str(watched.directory), "--to", "chrome", "-o", str(exported)]
    subprocess.run(command, check=True, capture_output=True)
    events = json.loads(exported.read_text())["traceEvents"]
    ends: dict[int, dict[str, dict[str, Any]]] = {}
    for event in events:
        if event["ph"] in ("s", "f") and event["name"] == "parcel":
            ends.setdefault(event["id"], {})[event["ph"]] = event
    # Posted, called, and the sum at the end; results make no tasks.
    assert len(ends) == FEW + CALLED + 1
    for arrow in ends.values():
        assert (ranks[arrow["s"]["pid"]], ranks[arrow["f"]["pid"]]) == (0, 1)
        assert arrow["s"]["ts"] <= arrow["f"]["ts"]
    # They end where tasks begin.
    begins = {
        (event["pid"], event["tid"], event["ts"]): event["name"]
        for event in events
        if event["ph"] == "B" and event["name"].startswith("task ")
    }
    names = [begins[arrow["f"]["pid"], arrow["f"]["tid"], arrow["f"]["ts"]] for arrow in ends.values()]
    assert sum("add_number" in name for name in names) == FEW
    assert sum("count_letters" in name for name in names) == CALLED


def test_flows_of_killed_processes_are_there(trimtab: str, program: Path, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    command = [trimtab, "run", "-q", "-o", str(directory), "--", str(program), "killed"]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)

    def is_written() -> bool:
        if not list(directory.glob("*/counters.tt")):
            return False
        counts = counts_of(report_of(trimtab, directory))
        return counts.get("add_number") == POSTED and counts.get("result") == CALLED + 1

    try:
        until(is_written)
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
    report = report_of(trimtab, directory)
    assert [process["ended"] for process in report["processes"]] == [None, None]
    counts = counts_of(report)
    assert (counts["add_number"], counts["count_letters"], counts["result"]) == (POSTED, CALLED, CALLED + 1)

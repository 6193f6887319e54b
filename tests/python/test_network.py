"""The messages of a job in reports: flows, sums and findings, against cases worked out by hand."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from reports import build, typed
from rich.console import Console
from synthetic import LaneFile, ProcessFiles, counter, fact, row, subject, write_run
from trimtab.model.enumerations import Metric, SubjectKind, WorkerState
from trimtab.readers import open_run
from trimtab.text.network import flow_table, network_line, server_table
from trimtab.text.verdict import verdict

Counts = dict[str, float]
SOLVE = subject(3, SubjectKind.TASK, "solve")
S = 1_000_000_000


def locality(number: int, counts: Counts, **overrides: Any) -> ProcessFiles:
    """A process of a job of two: one worker that ran tasks for 8 s of 10; the last samples of its counters."""
    runtime = subject(1, SubjectKind.WORKERS, "runtime 1")
    names = [runtime, SOLVE, fact("rank", str(number)), fact("size", "2")]
    names += [counter(at, path, "1") for at, path in enumerate(counts, 1)]
    samples = [(1.0, at, value / 2) for at, value in enumerate(counts.values(), 1)]
    samples += [(9.0, at, value) for at, value in enumerate(counts.values(), 1)]
    rows = [row(1, Metric.WORKER, 8 * S, flags=WorkerState.RUNS, x=(8 * S, 0, 0, 0))]
    lanes = [LaneFile(run_s=9.0, rows=rows, worker_of=2)]
    fields: dict[str, Any] = {"pid": 100 + number, "parallel": 8.0, "cpus": 1.0} | overrides
    return ProcessFiles(lanes, names, samples, **fields)


def sends(number: int, to: int, parcels: int, messages: int, size: int = 8) -> Counts:
    """Calls of solve, and half as many results."""
    flow = f"/parcels{{locality#{number}/to#{to}"
    return {
        f"{flow}/subject#3}}/count/sent": parcels,
        f"{flow}/subject#3}}/bytes/sent": parcels * size,
        f"{flow}/subject#3}}/sizes/below-{2 * size}": parcels,
        f"{flow}/action#result}}/count/sent": parcels // 2,
        f"{flow}/action#result}}/bytes/sent": parcels // 2 * size,
        f"{flow}/action#result}}/sizes/below-{2 * size}": parcels // 2,
        f"/messages{{locality#{number}/to#{to}}}/count/sent": messages,
        f"/messages{{locality#{number}/to#{to}}}/bytes/sent": messages * 40,
    }


def total(number: int, path: str) -> str:
    """The path of a counter of all messages."""
    kind, _, name = path.partition("/")
    return f"/{kind}{{locality#{number}/total}}/{name}"


def report_of(path: Path, *processes: ProcessFiles) -> dict[str, Any]:
    return build(open_run(write_run(path / "run", *processes)))


def causes(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {finding["cause"]: finding for finding in report["findings"]}


def test_flows_are_what_each_locality_sent(tmp_path: Path) -> None:
    first = sends(0, 1, 1000, 100)
    first["/parcels{locality#0/to#1}/time/queued-wait"] = 0.25
    report = report_of(tmp_path, locality(0, first), locality(1, sends(1, 0, 20, 20)))
    assert [(process["rank"], process["size"]) for process in report["processes"]] == [(0, 2), (1, 2)]
    network = report["network"]
    assert (network["parcels"], network["messages"]) == (1530, 120)
    assert network["queued_wait_s"] == pytest.approx(0.25)
    there, back = network["flows"]
    assert (there["from"], there["to"], there["count"], there["bytes"]) == (0, 1, 1500, 12_000)
    assert (there["messages"], there["message_bytes"]) == (100, 4000)
    assert there["sizes"] == [{"below": 16, "count": 1500}]
    assert (back["from"], back["to"], back["count"]) == (1, 0, 30)
    solve, result = there["actions"]
    assert (solve["action"], solve["count"], solve["bytes"]) == ("solve", 1000, 8000)
    assert (result["action"], result["key"], result["count"]) == ("result", None, 500)


def test_who_has_started_the_localities_is_none_of_the_processes(tmp_path: Path) -> None:
    """A launcher, the guardian below it, which started both localities, and what locality 1 has started."""
    launchers = [ProcessFiles(pid=50, ppid=40, user=5.0), ProcessFiles(pid=60, ppid=50, user=5.0)]
    localities = [locality(0, sends(0, 1, 10, 10), ppid=60), locality(1, {}, ppid=60)]
    copy = ProcessFiles(pid=70, ppid=50, forked_from=50, user=5.0)
    started = ProcessFiles(pid=200, ppid=101, user=5.0)
    report = report_of(tmp_path, *launchers, copy, *localities, started)
    assert sorted(process["pid"] for process in report["processes"]) == [100, 101, 200]
    assert [process["pid"] for process in report["processes"] if process["rank"] is None] == [200]


def test_without_messages_there_is_no_network(tmp_path: Path) -> None:
    assert report_of(tmp_path, locality(0, {}))["network"] is None


def test_overhead_is_of_all_localities_together(tmp_path: Path) -> None:
    counts = []
    for number, (background, share) in enumerate([(1.0, 0.5), (1.0, 0.1)]):
        own = sends(number, 1 - number, 10, 10)
        own[total(number, "parcels/time/background")] = background
        own[total(number, "parcels/network-overhead")] = share
        counts.append(own)
    network = report_of(tmp_path, *(locality(number, own) for number, own in enumerate(counts)))["network"]
    # Tasks took 1 s and 9 s.
    assert network["background_s"] == pytest.approx(2.0)
    assert network["overhead"] == pytest.approx(2 / 12)


def test_overhead_that_one_locality_did_not_record_is_not_known(tmp_path: Path) -> None:
    own = sends(0, 1, 10, 10) | {
        total(0, "parcels/time/background"): 1.0,
        total(0, "parcels/network-overhead"): 0.5,
    }
    network = report_of(tmp_path, locality(0, own), locality(1, sends(1, 0, 10, 10)))["network"]
    assert (network["background_s"], network["overhead"]) == (None, None)


def test_counters_of_flows_are_not_among_the_counters(tmp_path: Path) -> None:
    own = sends(0, 1, 10, 10) | {total(0, "messages/count/sent"): 10}
    names = [entry["name"] for entry in report_of(tmp_path, locality(0, own))["counters"]]
    assert names == ["/messages{locality#0/total}/count/sent"]


def tiny(flushed_by: str) -> Counts:
    return sends(0, 1, 10_000, 15_000) | {
        total(0, f"messages/flushed/{flushed_by}"): 15_000,
        total(0, "parcels/time/send"): 2.0,
        total(0, "parcels/time/receive"): 1.2,
    }


def test_small_parcels_one_by_one_are_a_finding(tmp_path: Path) -> None:
    result = causes(report_of(tmp_path, locality(0, tiny("count"))))["messages too small"]
    assert result["evidence"].startswith("15000 messages of 1 parcel and 40 bytes")
    assert "set_coalescing" in result["action"]
    assert result["gain_s"] == pytest.approx(3.2 * 15 / 16)


def test_parcels_that_nothing_could_wait_for_are_none(tmp_path: Path) -> None:
    assert "messages too small" not in causes(report_of(tmp_path, locality(0, tiny("handled"))))


def test_waiting_for_queued_parcels_is_a_finding(tmp_path: Path) -> None:
    own = sends(0, 1, 1000, 10) | {
        "/parcels{locality#0/to#1}/time/queued-wait": 1.5,
        total(0, "messages/flushed/time"): 9,
        total(0, "messages/flushed/count"): 1,
    }
    result = causes(report_of(tmp_path, locality(0, own)))["waiting for queued parcels"]
    assert "1.5 s" in result["evidence"]
    assert "9 of 10 messages were sent by the rule 'time'" in result["evidence"]
    assert result["gain_s"] == pytest.approx(1.5)


def in_phases(number: int, marks: dict[str, list[float]], sent: list[tuple[float, int]]) -> ProcessFiles:
    """A locality that begins phases at these times, and has sent so many parcels until these times."""
    path = f"/parcels{{locality#{number}/to#{1 - number}/action#result}}"
    process = locality(number, {f"{path}/count/sent": 0, f"{path}/bytes/sent": 0})
    process.names += [
        counter(10 + at, f"/phase{{locality#{number}/name#{name}}}/count/begun", "1")
        for at, name in enumerate(marks)
    ]
    process.samples = [(time, 1, count) for time, count in sent]
    process.samples += [(time, 2, 8 * count) for time, count in sent]
    for at, times in enumerate(marks.values()):
        process.samples += [(time, 10 + at, turn) for turn, time in enumerate(times, 1)]
    return process


def test_flows_of_phases_are_what_was_sent_in_them(tmp_path: Path) -> None:
    """Phase a comes twice; locality 1 declares one phase only, later."""
    first = in_phases(0, {"a": [2.0, 6.0], "b": [4.0]}, [(1.9, 5), (3.9, 15), (5.9, 115), (9.0, 1115)])
    second = in_phases(1, {"b": [5.0]}, [(4.9, 3), (9.0, 4)])
    phases = report_of(tmp_path, first, second)["network"]["phases"]
    assert [(phase["name"], phase["begin_s"], phase["end_s"]) for phase in phases] == [
        (None, 0.0, 5.0),
        ("a", 2.0, 10.0),
        ("b", 4.0, 10.0),
    ]
    counts = {
        (phase["name"], flow["from"]): (flow["count"], flow["bytes"])
        for phase in phases
        for flow in phase["flows"]
    }
    assert counts == {
        (None, 0): (5, 40),
        (None, 1): (3, 24),
        ("a", 0): (1010, 8080),
        ("b", 0): (100, 800),
        ("b", 1): (1, 8),
    }


def test_without_phases_the_run_is_divided_into_parts(tmp_path: Path) -> None:
    """Ten parts of a second. Between samples, flows are taken to be even."""
    report = report_of(tmp_path, in_phases(0, {}, [(2.0, 100), (4.0, 100), (9.0, 150)]), locality(1, {}))
    phases = report["network"]["phases"]
    assert [phase["begin_s"] for phase in phases] == pytest.approx(list(range(10)))
    counts = [sum(flow["count"] for flow in phase["flows"]) for phase in phases]
    assert counts == [50, 50, 0, 0, 10, 10, 10, 10, 10, 0]


def served(busy: list[float], handed_over: int = 1000, held: int = 50) -> Counts:
    """Servers that were busy for so many seconds until the last sample, evenly; senders were refused all the time."""
    counts = sends(0, 1, 1000, 1000) | {
        total(0, "servers/count/handed-over"): handed_over,
        total(0, "servers/count/sent-directly"): 20,
        total(0, "servers/count/held-for-flow"): held,
    }
    for server, seconds in enumerate(busy):
        path = f"/servers{{locality#0/server#{server}}}"
        counts |= {
            f"{path}/count/messages": 500,
            f"{path}/bytes/sent": 20_000,
            f"{path}/count/full-queue": held,
            f"{path}/time/busy": seconds,
            f"{path}/busy-share": seconds / 9,
        }
    return counts


def at_times(counts: Counts, times: tuple[float, float], cpus: float, **overrides: Any) -> ProcessFiles:
    process = locality(0, counts, cpus=cpus, **overrides)
    process.samples = [(times[0] if at == 1.0 else times[1], *rest) for at, *rest in process.samples]
    return process


def test_communication_servers_are_in_the_report(tmp_path: Path) -> None:
    report = report_of(
        tmp_path, at_times(served([4.5, 0.9]), (4.5, 9.0), 4.0), locality(1, sends(1, 0, 20, 20))
    )
    (of_locality,) = report["network"]["servers"]
    assert {
        name: of_locality[name] for name in ("locality", "handed_over", "sent_directly", "held_for_flow")
    } == {
        "locality": 0,
        "handed_over": 1000,
        "sent_directly": 20,
        "held_for_flow": 50,
    }
    first, second = of_locality["servers"]
    assert (first["server"], first["messages"], first["bytes"], first["busy_s"]) == (0, 500, 20_000, 4.5)
    assert (first["busy_share"], second["busy_share"]) == (pytest.approx(0.5), pytest.approx(0.1))
    # Half of the time busy is no saturation, even if senders are refused.
    assert (first["saturated_s"], second["saturated_s"]) == (0.0, 0.0)
    assert "saturated server" not in causes(report)
    names = {entry["name"] for entry in report["counters"]}
    assert "/servers{locality#0/total}/count/handed-over" in names
    assert not any("/server#" in name for name in names)


@pytest.mark.parametrize(
    ("busy", "cpus", "gain", "remedy"),
    [
        # From 4.5 s to 9 s and before: busy all the time. Of two servers each would have half of it.
        ([8.9], 4.0, 9 / 2, "use 2 servers"),
        ([8.9], 2.0, 9 / 2, "no CPU is free for another server"),
        ([8.8, 8.8], 8.0, 9 / 3, "use 3 servers"),
        # Evenly, each would be busy for 60 % of that time.
        ([9.0, 1.8], 8.0, 9 * 0.4, "server_settings::consecutive"),
    ],
)
def test_a_server_that_never_rests_is_a_finding(
    tmp_path: Path, busy: list[float], cpus: float, gain: float, remedy: str
) -> None:
    result = causes(report_of(tmp_path, at_times(served(busy), (4.5, 9.0), cpus)))["saturated server"]
    assert result["gain_s"] == pytest.approx(gain)
    assert remedy in result["action"] and "let senders send these sizes themselves" in result["action"]
    assert "without a pause for 9 s while senders were refused 100 times" in result["evidence"]
    assert "500 messages of 40 bytes each" in result["evidence"]


def test_a_busy_server_that_refuses_nobody_is_no_finding(tmp_path: Path) -> None:
    report = report_of(tmp_path, at_times(served([8.9], held=0), (4.5, 9.0), 4.0))
    assert "saturated server" not in causes(report)


@pytest.mark.parametrize(
    ("waits", "late"),
    [
        ((1.0, 3.0), 0),
        ((3.0, 0.0), 1),
        ((2.0, 3.0), None),
        ((0.0, 0.0), None),
        ((None, 2.0), 0),
        ((None, None), None),
    ],
)
def test_a_late_locality_is_a_finding(
    tmp_path: Path, waits: tuple[float | None, float | None], late: int | None
) -> None:
    processes = []
    for number, wait in enumerate(waits):
        counts = sends(number, 1 - number, 100, 100)
        if wait is not None:
            counts[total(number, "parcels/time/collective-wait")] = wait
        processes.append(locality(number, counts))
    report = report_of(tmp_path, *processes)
    found = causes(report).get("late locality")
    assert (found is None) == (late is None)
    if found is None or late is None:
        return
    own, other = waits[late] or 0.0, waits[1 - late] or 0.0
    assert found["gain_s"] == pytest.approx((own + other) / 2 - own)
    ranks = {process["id"]: process["rank"] for process in report["processes"]}
    assert [ranks[process] for process in found["processes"]] == [late]
    assert f"waited {other:.3g} s" in found["evidence"] and f"only {own:.3g} s" in found["evidence"]


def test_the_evidence_of_a_late_locality_says_where_and_since_when(tmp_path: Path) -> None:
    """Localities 1 and 2 wait for locality 0 from 6 s on, the latter for longer."""
    processes = []
    for number, wait in enumerate((0.0, 2.0, 4.0)):
        counts = sends(number, (number + 1) % 3, 100, 100) | {
            total(number, "parcels/time/collective-wait"): wait,
            total(number, "parcels/time/barrier-wait"): 0.75 * wait,
            total(number, "parcels/time/reduce-wait"): 0.25 * wait,
        }
        process = locality(number, counts)
        first = len(counts) - 2
        process.samples = [(at, of, value) for at, of, value in process.samples if at == 9.0]
        process.samples += [(at, first, part * wait) for at, part in ((2.0, 0.01), (6.0, 0.02), (8.0, 0.5))]
        process.samples.sort(key=lambda sample: sample[0])
        processes.append(process)
    evidence = causes(report_of(tmp_path, *processes))["late locality"]["evidence"]
    assert "waited 3 s on average in collective operations (barrier 2.25 s, reduce 0.75 s)" in evidence
    assert (
        "the others waited for it; rank 2 (app) longest, 4 s; most of it from 6 s of the run on" in evidence
    )


def test_text_says_who_sends_what_to_whom(tmp_path: Path) -> None:
    report = typed(report_of(tmp_path, locality(0, sends(0, 1, 1000, 100)), locality(1, sends(1, 0, 20, 20))))
    assert report.network is not None
    assert network_line(report.network) == "1530 parcels in 120 messages (12.8 each), 4.69 KiB"
    out = io.StringIO()
    Console(file=out, width=120).print(flow_table(report.network))
    cells = [line.replace("│", " ").split() for line in out.getvalue().splitlines()]
    assert ["0", "1", "solve", "1000", "7.81", "KiB", "8", "B", "15"] in cells
    lines = io.StringIO()
    verdict(report, tmp_path, lines)
    assert "  1530 parcels in 120 messages" in lines.getvalue()


def test_text_has_a_row_for_each_server(tmp_path: Path) -> None:
    report = typed(report_of(tmp_path, at_times(served([8.9, 0.9]), (4.5, 9.0), 4.0)))
    assert report.network is not None
    out = io.StringIO()
    Console(file=out, width=160).print(server_table(report.network))
    cells = [line.replace("│", " ").split() for line in out.getvalue().splitlines()]
    assert ["0", "0", "500", "19.5", "KiB", "98.9", "%", "9", "s", "50", "50", "20"] in cells
    assert ["0", "1", "500", "19.5", "KiB", "10.0", "%", "50", "50", "20"] in cells


@pytest.mark.parametrize(
    "path",
    [
        "/parcels{locality#0/to#1/subject#99}/count/sent",
        "/parcels{locality#0/to#1/action#main::{lambda(int)#1}::operator()}/count/sent",
    ],
)
def test_unusual_actions_are_shown(tmp_path: Path, path: str) -> None:
    (flow,) = report_of(tmp_path, locality(0, {path: 5}))["network"]["flows"]
    (action,) = flow["actions"]
    assert (action["count"], action["key"]) == (5, None)
    assert action["action"] in ("unknown function", "main::{lambda(int)#1}::operator()")


@pytest.mark.parametrize("value", [-5.0, 1e301, float("nan")])
def test_impossible_values_are_left_out(tmp_path: Path, value: float) -> None:
    own = {"/messages{locality#0/to#1}/count/sent": value, "/messages{locality#0/to#1}/bytes/sent": 7}
    process = locality(0, own)
    process.samples = [sample for sample in process.samples if sample[0] == 9.0]
    (flow,) = report_of(tmp_path, process)["network"]["flows"]
    assert (flow["messages"], flow["message_bytes"]) == (0, 7)

"""Traced jobs of several localities: nothing of their waiting stays unexplained, and a late locality is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import finished
from test_launch import FEW_CPUS_FOR_MPI, MPIRUNS, SMALL, TRANSPORTS, of_mpi
from trimtab.analysis.report import build
from trimtab.model.enumerations import BlameCause, Cause, EventKind, LeaveCause
from trimtab.readers import open_run

Workload = Callable[[str], Path]
PROGRAMS = ("job_cg", "job_heat", "job_fft", "job_mesh")
# Of the critical path, beside the time from the begin of the first process to that of the last one, and likewise their ends.
MOST_UNATTRIBUTED = 0.02
# Long enough that one locality's work is far above the noise of a busy machine.
LATE = ["--numbers", "400000", "--steps", "40", "--severity", "8", "--late", "1", "--no-check"]


# How jobs are started, and with how many localities.
STARTS = [*product(TRANSPORTS, (1, 2, 4)), *product(MPIRUNS, (2,))]


def traced(trimtab: str, run: Path, size: int, transport: str, program: Path, *options: str) -> None:
    if transport in MPIRUNS:
        launch = of_mpi(transport, size)
    else:
        launch = [trimtab, "launch", "-n", str(size), "--transport", transport, "--"]
    command = [trimtab, "run", "--trace", "-o", str(run), "--", *launch, str(program), *options]
    completed = finished(command, timeout=120, env={**os.environ, **FEW_CPUS_FOR_MPI})
    assert completed.returncode == 0, completed.stderr


def kinds_in(run: Path) -> set[int]:
    return {
        int(kind)
        for process in open_run(run).processes
        for lane in process.lanes
        for kind in set(lane.events["kind"].tolist())
    }


@pytest.mark.parametrize(("transport", "size"), STARTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_all_waiting_of_a_job_is_charged(
    trimtab: str, workload: Workload, tmp_path: Path, program: str, transport: str, size: int
) -> None:
    run = tmp_path / "run"
    traced(trimtab, run, size, transport, workload(program), *SMALL[program])
    report = build(open_run(run))
    idle_s = (1.0 - report.efficiency) * report.capacity_s
    assert sum(entry.lane_time_s for entry in report.blame) == pytest.approx(idle_s, rel=1e-3)
    path_s = sum(part.time_s for part in report.critical_path)
    assert 0 < path_s <= report.wall_s * 1.001
    unknown = [part for part in report.critical_path if part.cause == BlameCause.UNATTRIBUTED]
    begins = [process.begin_s for process in report.processes]
    ends = [process.begin_s + process.wall_s for process in report.processes]
    not_observed_s = max(begins) - min(begins) + max(ends) - min(ends)
    assert sum(part.time_s for part in unknown) <= not_observed_s + MOST_UNATTRIBUTED * path_s, unknown
    assert all(part.reason for part in unknown)
    # Whether a task has to wait for an answer depends on who comes first; in many steps some do.
    if size > 1 and program == "job_cg":
        assert EventKind.ANSWER_RECEIVED in kinds_in(run)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_late_locality_is_named_with_its_lane_and_what_sharing_its_work_saves(
    trimtab: str, workload: Workload, tmp_path: Path, transport: str
) -> None:
    run = tmp_path / "run"
    traced(trimtab, run, 2, transport, workload("job_late"), *LATE)
    report: dict[str, Any] = json.loads(finished([trimtab, "report", str(run), "--json"]).stdout)
    ranks = {process["id"]: process["rank"] for process in report["processes"]}
    (late,) = [finding for finding in report["findings"] if finding["cause"] == Cause.LATE_LOCALITY]
    assert [ranks[process] for process in late["processes"]] == [1]
    assert late["chain"][0].split(" has no task")[0].endswith("of rank 0"), late["chain"]
    assert "of rank 1 works in" in late["chain"][-1], late["chain"]
    unchanged = report["what_if"][0]
    assert abs(unchanged["replay_error"]) <= 0.1, "the replay of the unchanged run"
    # 8 parts and 1 part of work become 4.5 and 4.5: three eighths of the late one's time, less what is not work.
    assert late["gain_low_s"] <= late["gain_s"] <= late["gain_high_s"]
    (works,) = [
        process["efficiency"] * process["cpus_available"] * process["wall_s"]
        for process in report["processes"]
        if process["rank"] == 1
    ]
    assert 0.15 * works <= late["gain_s"] <= 0.6 * works


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_wait_in_the_queue_of_a_sender_is_a_cause_of_its_own(
    trimtab: str, workload: Workload, tmp_path: Path, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a fixed setting each parcel waits 5 ms for a thousand others: it leaves by the clock, and then somebody has waited."""
    monkeypatch.setenv("TRIMTAB_PARCEL_COUNT", "1000")
    monkeypatch.setenv("TRIMTAB_PARCEL_WAIT", "5000")
    run = tmp_path / "run"
    traced(
        trimtab, run, 2, transport, workload("job_planted"), "--severity", "0", "--steps", "10", "--no-check"
    )
    waits = waits_in_queues(run)
    by_clock = [wait_s for wait_s, cause in waits if cause == LeaveCause.TIME]
    # Some leave earlier since the job asks for it: when it opens and ends.
    assert len(by_clock) >= 10 and min(by_clock) >= 0.004, waits
    report: dict[str, Any] = json.loads(finished([trimtab, "report", str(run), "--json"]).stdout)
    blamed = {entry["cause"]: 0.0 for entry in report["blame"]}
    for entry in report["blame"]:
        blamed[entry["cause"]] += entry["lane_time_s"]
    # In each step a letter and an answer wait, and somebody waits for them.
    assert blamed[BlameCause.QUEUED_MESSAGE] >= 10 * 0.005, blamed
    (queued,) = [entry for entry in report["findings"] if entry["cause"] == Cause.QUEUED_PARCELS]
    assert queued["gain_s"] >= 10 * 0.005
    assert "queue of its sender" in queued["chain"][0]
    on_path = [part for part in report["critical_path"] if part["cause"] == BlameCause.QUEUED_MESSAGE]
    assert sum(part["time_s"] for part in on_path) >= 10 * 0.005


def waits_in_queues(run: Path) -> list[tuple[float, int]]:
    """Of each parcel that left a queue: how long it had been in it, and why it left."""
    waits = []
    for process in open_run(run).processes:
        if process.rank is None:
            continue  # the launcher
        events = np.concatenate([lane.events for lane in process.lanes])
        sent, left = (
            events[events["kind"] == kind] for kind in (EventKind.PARCEL_SENT, EventKind.PARCEL_LEFT)
        )
        sent_ticks = dict(zip(sent["a"].tolist(), sent["ticks"].tolist(), strict=True))
        waits += [
            ((ticks - sent_ticks[parcel]) * process.tick_s, cause)
            for ticks, parcel, cause in zip(
                left["ticks"].tolist(), left["a"].tolist(), left["arg"].tolist(), strict=True
            )
        ]
    return waits

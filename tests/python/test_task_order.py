"""Chains that ran late, in a conjugate-gradient-like graph: an update that nobody waits for is preferred to the one they wait for."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from scheduled_graph import MS, Graph, process_of
from synthetic import write_run
from trimtab.analysis.report import build
from trimtab.analysis.task_order import kinds_without_knob
from trimtab.model.enumerations import Cause
from trimtab.model.report import Report
from trimtab.readers import open_run
from trimtab.tuning.proving import Remedy, remedy_of

WORKERS, STEPS = 8, 10


def report_of(folder: Path, *, updates: int, kind: str = "update x") -> Report:
    graph = Graph()
    before: list[int] = []
    for _ in range(STEPS):
        for _ in range(updates):
            graph.task(kind, 10 * MS, before)
        parts = [graph.task("update r", 10 * MS, before) for _ in range(WORKERS)]
        graph.task("note", MS // 1000, before)
        before = [graph.task("sum", 6 * MS, parts)]
    for _ in range(WORKERS):
        graph.task("update r", 10 * MS, before)
    process, _ = process_of(graph, WORKERS)
    return build(open_run(write_run(folder / "run", process)))


def test_the_late_kind_is_named_and_can_be_raised(tmp_path: Path) -> None:
    report = report_of(tmp_path, updates=WORKERS)
    (late,) = [finding for finding in report.findings if finding.cause is Cause.TASK_ORDER]
    assert late.subject is not None and "raise the priority of" in late.action
    # Of each step the sum, which the other update would fill.
    assert 0.5 * STEPS * 0.006 <= late.gain_s <= STEPS * 0.0061
    remedy = remedy_of(late, {}, 8.0, report)
    assert isinstance(remedy, Remedy) and not remedy.is_searched
    (settings,) = remedy.start.settings.values()
    assert settings[f"priority:{late.subject}"] == "high" and set(settings.values()) == {"high"}
    refused = remedy_of(late, {"TRIMTAB_TASK_TUNE": "workers"}, 8.0, report)
    assert isinstance(refused, str) and "set by you" in refused


def test_kinds_that_only_their_code_names_cannot_be_raised(tmp_path: Path) -> None:
    report = report_of(tmp_path, updates=WORKERS)
    (late,) = [finding for finding in report.findings if finding.cause is Cause.TASK_ORDER]
    by_code = tuple(replace(entry, key="task 1234abcd+0x10") for entry in report.task_times)
    refused = remedy_of(late, {}, 8.0, replace(report, task_times=by_code))
    assert isinstance(refused, str) and "name these tasks" in refused and str(late.subject) in refused


def test_a_name_that_is_too_long_has_no_knob(tmp_path: Path) -> None:
    times = report_of(tmp_path, updates=WORKERS).task_times
    assert not kinds_without_knob(times, ["update r", "sum"])
    long_name = "é" * 32  # 64 bytes
    longer = (*times, replace(times[0], name=long_name, key=f"task {long_name}  0"))
    assert kinds_without_knob(longer, ["sum", long_name, "none"]) == [long_name, "none"]


def test_a_true_dependence_is_no_matter_of_order(tmp_path: Path) -> None:
    report = report_of(tmp_path, updates=0)
    assert report.idle_regions and all(finding.cause is not Cause.TASK_ORDER for finding in report.findings)


def test_tasks_that_would_be_raised_too_are_no_matter_of_order(tmp_path: Path) -> None:
    """What the sum waits for was ready early, behind tasks of its own kind; other tasks take next to nothing."""
    report = report_of(tmp_path, updates=WORKERS, kind="update r")
    assert any(region.delayed == "update r" for region in report.idle_regions)
    assert all(finding.cause is not Cause.TASK_ORDER for finding in report.findings)

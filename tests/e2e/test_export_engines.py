"""Exports of real programs, read by the formats' own engines, and compared with the tables of the same run."""

from __future__ import annotations

import csv
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from otf2.events import Enter, Leave, MpiRecv, MpiSend, ParameterUnsignedInt
from otf2_archives import open_archive
from test_exported_runs import CHAIN, LOOPS, MANY
from trace_processor import errors_of, query

Run = Callable[..., Any]

KILLED = CHAIN.replace(
    "usleep(200);\n  }", "usleep(200);\n    if (i == 9) kill(getpid(), SIGKILL);\n  }"
).replace("#include <omp.h>", "#include <signal.h>")
IDLE = "int main(void) { return 0; }"
# Of slices that lie on a track of a lane: those of CPUs are no part of OTF2.
SLICES = "select count(*) as n, coalesce(sum(dur), 0) as ns from slice where category != 'cpu'"
FLOWS = "select count(*) as n from flow"


@pytest.fixture(
    params=["gcc loops", "clang loops", "clang tasks", "tasks", "job", "killed", "empty", "dropped"]
)
def recorded(
    request: pytest.FixtureRequest,
    run: Run,
    compiled: Callable[..., Path],
    workload: Callable[[str], Path],
    trimtab: str,
) -> tuple[str, Path]:
    """A run directory of each kind of program."""
    programs: dict[str, Callable[[], tuple[Any, ...]]] = {
        "gcc loops": lambda: (compiled(LOOPS, "gcc"),),
        "clang loops": lambda: (compiled(LOOPS, "clang-19"),),
        "clang tasks": lambda: (compiled(CHAIN, "clang-19"),),
        "tasks": lambda: (workload("cg"),),
        "job": lambda: (trimtab, "launch", "-n", "2", "--", workload("job_toy"), "--parcels", "500"),
        "killed": lambda: (compiled(KILLED, "gcc"),),
        "empty": lambda: (compiled(IDLE, "gcc"),),
        "dropped": lambda: (compiled(MANY, "gcc"),),
    }
    limit = ("--max-trace", "500K") if request.param == "dropped" else ()
    watched = run(*programs[request.param](), options=("--trace", *limit))
    assert watched.done.returncode == (-9 if request.param == "killed" else 0), watched.done.stderr
    return request.param, watched.directory


def exported(trimtab: str, directory: Path, to: str) -> Path:
    path = directory.parent / f"exported-{to}"
    command = [trimtab, "export", str(directory), "--to", to, "-o", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


def edges_of(trimtab: str, directory: Path) -> list[dict[str, str]]:
    with (exported(trimtab, directory, "csv") / "edges.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_all_engines_read_the_same(recorded: tuple[str, Path], trimtab: str) -> None:
    name, directory = recorded
    edges = edges_of(trimtab, directory)
    totals = {}
    for to in ("perfetto", "chrome"):
        path = exported(trimtab, directory, to)
        (slices,), (flows,) = query(path, SLICES, FLOWS)
        assert not errors_of(path)
        totals[to] = slices["n"], slices["ns"]
        # Chrome's format binds arrows to slices by time: of tasks that begin before their giver's slice ends some are lost.
        assert flows["n"] == pytest.approx(len(edges), rel=0.0), to
    assert totals["perfetto"] == totals["chrome"]
    archive = open_archive(exported(trimtab, directory, "otf2"))
    # Instants are slices without a length to Perfetto's engine, and parameters to OTF2.
    count = archive.count[Enter] + archive.count[ParameterUnsignedInt]
    assert (count, archive.inside_ns) == totals["perfetto"]
    assert archive.count[Enter] == archive.count[Leave]
    parcels = sum(edge["kind"] == "parcel" for edge in edges)
    assert archive.count[MpiSend] == archive.count[MpiRecv] == parcels
    assert (parcels > 0) == (name == "job") and (name == "empty" or count > 10)


def test_tasks_that_change_lanes_leave_one_and_enter_the_other(
    run: Run, workload: Callable[[str], Path], trimtab: str
) -> None:
    watched = run(workload("job_toy"), "--parcels", "1", options=("--trace",))
    assert watched.done.returncode == 0, watched.done.stderr
    with (exported(trimtab, watched.directory, "csv") / "events.csv").open(newline="") as stream:
        events = list(csv.DictReader(stream))
    parts = [row for row in events if row["kind"] in ("task_begin", "task_resumed")]
    by_task: dict[int, list[int]] = defaultdict(list)
    for row in sorted(parts, key=lambda row: int(row["time_ns"])):
        by_task[int(row["a"])].append(int(row["lane"]))
    archive = open_archive(exported(trimtab, watched.directory, "otf2"))
    entered: dict[int, list[int]] = defaultdict(list)
    for lane, task in archive.tasks:
        entered[task].append(lane)
    assert dict(entered) == dict(by_task)


def test_messages_of_a_job_connect_the_lanes_of_the_edges_table(
    run: Run, workload: Callable[[str], Path], trimtab: str
) -> None:
    watched = run(
        trimtab, "launch", "-n", "2", "--", workload("job_toy"), "--parcels", "50", options=("--trace",)
    )
    edges = [edge for edge in edges_of(trimtab, watched.directory) if edge["kind"] == "parcel"]
    archive = open_archive(exported(trimtab, watched.directory, "otf2"))
    expected = Counter((int(edge["from_time_ns"]), int(edge["to_time_ns"])) for edge in edges)
    assert archive.messages == expected and len(edges) > 50


def test_the_archive_of_a_run_that_is_imported_again_has_the_same_regions(
    run: Run, compiled: Callable[..., Path], trimtab: str
) -> None:
    watched = run(compiled(LOOPS, "clang-19"), options=("--trace",))
    archive, again = exported(trimtab, watched.directory, "otf2"), watched.directory.parent / "again"
    subprocess.run([trimtab, "import", str(archive), "-o", str(again)], check=True, capture_output=True)
    before, after = watched.report(), report_of(trimtab, again)
    (region,), (imported,) = before["regions"], after["regions"]
    for field in ("calls", "threads"):
        assert imported[field] == region[field]
    for field in ("wall_s", "work_s", "wait_s", "arrival_s", "lock_wait_s", "lock_held_s"):
        assert imported[field] == pytest.approx(region[field], rel=0.01, abs=2e-5), field


def report_of(trimtab: str, directory: Path) -> dict[str, Any]:
    import json

    done = subprocess.run([trimtab, "report", str(directory), "--json"], check=True, capture_output=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report

"""OTF2: exports read by the package's own reader, and archives of its own writer, in the style of Score-P, imported."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path
from typing import Any

import otf2
import pytest
from click.testing import CliRunner
from otf2.enums import LocationType, Paradigm, RegionRole
from otf2.events import ThreadAcquireLock, ThreadReleaseLock
from otf2_archives import open_archive
from synthetic import LaneFile, ProcessFiles, counter, event, subject, write_run
from test_export import sample_run, two_processes
from trimtab.analysis.report import build
from trimtab.cli import main
from trimtab.export import export
from trimtab.importing import ImportFailure, import_archive
from trimtab.model.enumerations import EventKind, SubjectKind, WaitCause
from trimtab.otf2 import library
from trimtab.readers import open_run

MS = 1_000_000
TASK = 2


def exported(run: Path, folder: Path) -> Path:
    return export(open_run(run), "otf2", folder).files[0].parent


def test_slices_are_regions_with_their_lengths(tmp_path: Path) -> None:
    found = open_archive(exported(sample_run(tmp_path / "run"), tmp_path / "archive"))
    assert found.regions == {
        'region a "region"': 7500,
        'a "region"': 6900 + 6750,
        "task täsk": 3000,
        "chunk l": 840,
        "loop l, dynamic": 845,
        "wait: barrier b": 2000,
    }
    assert found.tasks == [(0, 1), (1, 2), (1, 3)]
    assert found.values == [("load", 1_000_000, 0.5), ("load", 2_000_000, -1.25)]


def test_processes_are_groups_of_locations(tmp_path: Path) -> None:
    archive = exported(two_processes(tmp_path / "run"), tmp_path / "archive")
    with otf2.reader.open(str(archive / "traces.otf2")) as trace:
        definitions = trace.definitions
        assert [group.name for group in definitions.location_groups] == ["./app -x", "./app -x"]
        lanes = [one for one in definitions.locations if one.type == LocationType.CPU_THREAD]
        assert [(one.name, one.number_of_events) for one in lanes] == [
            ("lane 0: worker", 4),
            ("lane 1: worker", 0),
        ] * 2
        clock = definitions.clock_properties
        assert (clock.timer_resolution, clock.global_offset) == (10**9, 0)
        assert clock.trace_length >= 5 * 10**9 + 2150


def test_a_task_that_changes_lanes_leaves_the_first_and_enters_the_second(tmp_path: Path) -> None:
    first = [
        event(1000, EventKind.TASK_BEGIN, TASK, a=5),
        event(2000, EventKind.TASK_SUSPENDED, TASK, a=5, arg=WaitCause.FUTURE),
    ]
    second = [
        event(3000, EventKind.TASK_RESUMED, TASK, a=5, b=1000, arg=WaitCause.FUTURE),
        event(3500, EventKind.TASK_END, TASK, a=5),
    ]
    names = [subject(TASK, kind=SubjectKind.TASK, name="t")]
    lanes = [LaneFile([], first), LaneFile([], second)]
    run = write_run(tmp_path / "run", ProcessFiles(lanes, names, parallel=1.0))
    found = open_archive(exported(run, tmp_path / "archive"))
    assert found.tasks == [(0, 5), (1, 5)] and found.regions == {"task t": 1500}


def test_a_lock_of_two_places_has_one_number_and_one_order(tmp_path: Path) -> None:
    """Without the number of the lock, the place is the lock."""
    first = [
        event(2000, EventKind.LOCK, 9, a=3000, b=0, arg=5),
        event(8000, EventKind.LOCK, 9, a=100, b=0),
    ]
    second = [event(5000, EventKind.LOCK, 8, a=500, b=0, arg=5), event(9000, EventKind.LOCK, 8, a=100, b=0)]
    names = [subject(at, kind=SubjectKind.LOCK, name=f"place {at}") for at in (8, 9)]
    run = write_run(tmp_path / "run", ProcessFiles([LaneFile([], first), LaneFile([], second)], names))
    had, released = [], []
    with otf2.reader.open(str(exported(run, tmp_path / "archive") / "traces.otf2")) as trace:
        for _, call in trace.events:
            if isinstance(call, ThreadAcquireLock):
                had.append((call.lock_id, call.acquisition_order))
            if isinstance(call, ThreadReleaseLock):
                released.append((call.lock_id, call.acquisition_order))
    (lock, first_turn), (same_lock, second_turn), *by_place = had
    assert lock == same_lock and (first_turn, second_turn) == (1, 2)
    assert by_place == [(9, 1), (8, 1)] and lock not in (8, 9)
    assert released == had


def test_an_archive_replaces_an_archive_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(sample_run(tmp_path / "run"), out)
    exported(two_processes(tmp_path / "other"), out)
    assert len(open_archive(out).tasks) == 4
    (out / "traces.otf2").unlink()
    with pytest.raises(FileExistsError, match=r"traces\.otf2"):
        exported(sample_run(tmp_path / "run3"), out)
    assert not list(tmp_path.glob(".trimtab-*"))


def test_an_error_in_the_middle_leaves_the_old_archive(tmp_path: Path) -> None:
    out = exported(sample_run(tmp_path / "run"), tmp_path / "out")
    before = sorted((path.name, path.stat().st_size) for path in out.rglob("*"))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        export(open_run(tmp_path / "run"), "otf2", out, full)
    assert sorted((path.name, path.stat().st_size) for path in out.rglob("*")) == before
    assert not list(tmp_path.glob(".trimtab-*"))


@pytest.mark.parametrize("command", [("export", "RUN", "--to", "otf2"), ("import", "RUN")])
def test_without_the_package_the_remedy_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    library.load.cache_clear()
    monkeypatch.setitem(sys.modules, "_otf2.Config", None)
    run = str(sample_run(tmp_path / "run"))
    done = CliRunner().invoke(
        main, [run if word == "RUN" else word for word in command] + ["-o", str(tmp_path / "o")]
    )
    assert done.exit_code == 2 and "pip install trimtab[otf2]" in done.stderr
    assert not (tmp_path / "o").exists()


def scorep_archive(folder: Path, ranks: int = 2, *, is_cut: bool = False) -> Path:
    """As Score-P writes MPI with OpenMP: rank 1 computes 3 ms longer before its message and before the barrier.

    Each rank: a region of two threads (the second has 1 ms less to do), a message from rank 1 to 0, MPI_Barrier.
    """
    writer = otf2.writer.Writer(str(folder), timer_resolution=10**9)
    define = writer.definitions
    node = define.system_tree_node("node a/1", parent=define.system_tree_node("machine"))

    def region(name: str, role: RegionRole, paradigm: Paradigm) -> Any:
        return define.region(
            name,
            source_file="app.c",
            region_role=role,
            paradigm=paradigm,
            begin_line_number=7,
            end_line_number=9,
        )

    functions = {
        "main": region("main", RegionRole.FUNCTION, Paradigm.COMPILER),
        "parallel": region("!$omp parallel @app.c:7", RegionRole.PARALLEL, Paradigm.OPENMP),
        "barrier": region("!$omp implicit barrier @app.c:9", RegionRole.IMPLICIT_BARRIER, Paradigm.OPENMP),
        "send": region("MPI_Send", RegionRole.POINT2POINT, Paradigm.MPI),
        "recv": region("MPI_Recv", RegionRole.POINT2POINT, Paradigm.MPI),
        "all": region("MPI_Barrier", RegionRole.BARRIER, Paradigm.MPI),
    }
    threads = []
    for rank in range(ranks):
        group = define.location_group(f"MPI Rank {rank}", system_tree_parent=node)
        threads.append(
            [define.location(f"{name} {rank}", group=group) for name in ("Master thread", "OMP thread")]
        )
    comm = _world(define, [own[0] for own in threads])
    team = comm
    for rank, (master, worker) in enumerate(threads):
        late = 3 * MS * rank
        first, second = writer.event_writer_from_location(master), writer.event_writer_from_location(worker)
        first.enter(0, functions["main"])
        first.thread_fork(MS, Paradigm.OPENMP, 2)
        for thread, events in enumerate((first, second)):
            end = 5 * MS - MS * thread
            events.thread_team_begin(MS, team)
            events.enter(MS, functions["parallel"])
            events.enter(end, functions["barrier"])
            events.leave(5 * MS, functions["barrier"])
            events.leave(5 * MS, functions["parallel"])
            events.thread_team_end(5 * MS, team)
        first.thread_join(5 * MS, Paradigm.OPENMP)
        at = 6 * MS + late
        if rank == 1:
            first.enter(at, functions["send"])
            first.mpi_send(at + 1000, 0, comm, 7, 4096)
            first.leave(at + 2000, functions["send"])
        else:
            first.enter(at, functions["recv"])
            first.mpi_recv(9 * MS + 5000, 1, comm, 7, 4096)
            first.leave(9 * MS + 6000, functions["recv"])
        begin = 10 * MS + late
        first.enter(begin, functions["all"])
        first.mpi_collective_begin(begin + 10)
        end = 13 * MS + 2000
        first.mpi_collective_end(end, otf2.enums.CollectiveOp.BARRIER, comm, 0xFFFFFFFF, 0, 0)
        first.leave(end + 10, functions["all"])
        if not is_cut:
            first.leave(14 * MS, functions["main"])
    writer.close()
    return folder / "traces.otf2"


def _world(define: Any, masters: list[Any]) -> Any:
    kinds = otf2.enums.GroupType
    define.group("", group_type=kinds.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=masters)
    members = define.group("world", group_type=kinds.COMM_GROUP, paradigm=Paradigm.MPI, members=masters)
    return define.comm("MPI_COMM_WORLD", group=members)


def test_an_archive_of_mpi_and_openmp_is_a_run(tmp_path: Path) -> None:
    imported = import_archive(scorep_archive(tmp_path / "archive"), tmp_path / "run")
    assert imported.notes == []
    report = build(open_run(imported.run))
    assert [(one.rank, one.size, one.lanes) for one in report.processes] == [(0, 2, 2), (1, 2, 2)]
    assert {one.host for one in report.processes} == {"node_a_1"}
    (region,) = report.regions
    assert (region.name, region.file, region.line) == ("!$omp parallel @app.c:7", "app.c", 7)
    assert (region.calls, region.threads) == (2, 2)
    assert region.wall_s == pytest.approx(8e-3)
    assert region.work_s == pytest.approx(14e-3) and region.wait_s == pytest.approx(2e-3)
    assert sorted(one.work_s for one in region.lanes) == pytest.approx([3e-3, 3e-3, 4e-3, 4e-3])
    scopes = {scope.name: (scope.count, scope.total_s) for scope in report.scopes}
    assert scopes["main"] == (2, pytest.approx(28e-3))
    assert scopes["MPI_Recv"] == (1, pytest.approx(3.006e-3))
    # It was ready at 6 ms, and the message was sent at 9.001 ms.
    assert scopes["late sender in MPI_Recv"] == (1, pytest.approx(3.001e-3))
    # Rank 0 came at 10 ms, rank 1 at 13 ms.
    assert scopes["wait for the last in MPI_Barrier"] == (1, pytest.approx(3e-3))
    assert report.network is not None
    (flow,) = report.network.flows
    assert (flow.from_, flow.to, flow.count, flow.bytes) == (1, 0, 1, 4096)
    assert flow.actions[0].action == "MPI_Send"


def test_the_command_imports_and_every_command_reads_it(tmp_path: Path) -> None:
    scorep_archive(tmp_path / "archive")
    run = tmp_path / "run"
    done = CliRunner().invoke(main, ["import", str(tmp_path / "archive"), "-o", str(run)])
    assert done.exit_code == 0 and str(run) in done.stderr
    report = CliRunner().invoke(main, ["report", str(run)])
    assert report.exit_code == 0 and "late sender in MPI_Recv" in report.stdout
    for to in ("perfetto", "otf2", "csv"):
        written = CliRunner().invoke(main, ["export", str(run), "--to", to, "-o", str(tmp_path / to)])
        assert written.exit_code == 0, written.stderr
    again = CliRunner().invoke(main, ["import", str(tmp_path / "archive"), "-o", str(run)])
    assert again.exit_code == 2 and "choose another -o" in again.stderr


def test_what_is_open_at_the_end_lasts_until_then(tmp_path: Path) -> None:
    imported = import_archive(scorep_archive(tmp_path / "archive", is_cut=True), tmp_path / "run")
    scopes = {scope.name: scope.total_s for scope in build(open_run(imported.run)).scopes}
    assert scopes["main"] == pytest.approx(2 * 13.00201e-3)


@pytest.mark.parametrize("size", [0, 10, 1000])
@pytest.mark.parametrize("name", ["traces.otf2", "traces.def", "traces/0.evt"])
def test_a_truncated_archive_is_an_error(tmp_path: Path, name: str, size: int) -> None:
    anchor = scorep_archive(tmp_path / "archive")
    part = tmp_path / "archive" / name
    content = part.read_bytes()
    if len(content) <= size:
        size = len(content) - 20
    part.write_bytes(content[:size])
    with pytest.raises(ImportFailure, match="expected an OTF2 archive that is whole"):
        import_archive(anchor, tmp_path / "run")
    assert not (tmp_path / "run").exists() and not list(tmp_path.glob(".trimtab-*"))


def test_fewer_events_than_announced_are_an_error(tmp_path: Path) -> None:
    anchor = scorep_archive(tmp_path / "archive")
    parts = tmp_path / "archive" / "traces"
    shutil.copy(parts / "1.evt", parts / "0.evt")
    with pytest.raises(ImportFailure, match="location 0: expected 17 events, found 6"):
        import_archive(anchor, tmp_path / "run")


def test_what_is_no_archive_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImportFailure, match="No such file"):
        import_archive(tmp_path / "none.otf2", tmp_path / "run")
    anchor = scorep_archive(tmp_path / "archive")
    (tmp_path / "archive" / "traces" / "1.evt").unlink()
    (tmp_path / "archive" / "traces" / "1.evt").symlink_to("/etc/passwd")
    with pytest.raises(ImportFailure, match="found a symbolic link"):
        import_archive(anchor, tmp_path / "run")
    done = CliRunner().invoke(main, ["import", str(tmp_path), "-o", str(tmp_path / "run")])
    assert done.exit_code == 2 and "expected one file NAME.otf2 in this folder, found 0" in done.stderr


def test_damaged_archives_are_imported_or_refused(tmp_path: Path) -> None:
    seed = 20261128
    chance = random.Random(seed)
    anchor = scorep_archive(tmp_path / "archive")
    parts = sorted(path for path in (tmp_path / "archive").rglob("*") if path.suffix in (".def", ".evt"))
    originals = {part: part.read_bytes() for part in parts if part.stat().st_size}
    for turn in range(12):
        part = chance.choice(list(originals))
        content = bytearray(originals[part])
        for _ in range(chance.randrange(1, 4)):
            content[chance.randrange(len(content))] = chance.choice([0, 127, 255, chance.randrange(256)])
        part.write_bytes(content)
        run = tmp_path / f"run{turn}"
        try:
            imported = import_archive(anchor, run)
            build(open_run(imported.run))
            shutil.rmtree(run)
        except ImportFailure:
            assert not run.exists()
        except Exception as error:
            raise AssertionError(f"seed {seed}, turn {turn}, {part.name}") from error
        part.write_bytes(originals[part])


def test_metrics_become_counters_and_back(tmp_path: Path) -> None:
    names = [subject(1, name="r"), counter(1, "load", "CPUs")]
    lane = LaneFile([], [event(1000, EventKind.MARK, 1)])
    run = write_run(tmp_path / "run", ProcessFiles([lane], names, [(0.001, 1, 0.5), (0.002, 1, -1.25, 0)]))
    imported = import_archive(exported(run, tmp_path / "archive") / "traces.otf2", tmp_path / "again")
    (process,) = open_run(imported.run).processes
    assert [counter.name for counter in process.counters.values()] == ["load"]
    assert [(float(one["value"]), int(one["lane"])) for one in process.samples] == [
        (0.5, 0xFFFFFFFF),
        (-1.25, 0),
    ]

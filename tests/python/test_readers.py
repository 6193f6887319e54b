"""What readers accept, and what they say of damage: only ever a RunError that names file and place."""

from __future__ import annotations

import json
import os
import random
import struct
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reports import build
from synthetic import (
    NO,
    LaneFile,
    ProcessFiles,
    S,
    counter,
    event,
    module,
    row,
    subject,
    team_of,
    unavailable,
    write_run,
)
from trimtab.model import RunError, Unavailable
from trimtab.model.enumerations import (
    EventKind,
    Metric,
    SubjectKind,
    TaskFlags,
    WaitCause,
    WaitKind,
    WorkerState,
)
from trimtab.readers import open_run


def a_run(path: Path) -> Path:
    lanes = [
        LaneFile(
            team_of(1, 5.0, [5.0, 3.0]),
            [
                event(S, EventKind.REGION_BEGIN, 1, a=7, arg=1),
                event(S, EventKind.WORK_BEGIN, 1, a=7),
                event(2 * S, EventKind.WORK_END, 1, a=7),
                event(3 * S, EventKind.REGION_END, 1, a=7, arg=1),
            ],
            run_s=9.0,
        ),
        LaneFile(
            events=[
                event(S, EventKind.WORK_BEGIN, 1, a=7, b=1),
                event(S, EventKind.WAIT, 2, a=5, b=7, arg=WaitKind.BARRIER),
                event(2 * S, EventKind.WORK_END, 1, a=7),
            ]
        ),
    ]
    names = [
        module(1, "/nowhere/app", "ab12"),
        subject(1, name="größer"),
        subject(2, SubjectKind.BARRIER, offset=0x40, module_number=1, call=1),
        counter(1, "load", "CPUs"),
        unavailable("energy", "no meter", "another machine"),
    ]
    return write_run(path, ProcessFiles(lanes, names, [(1.0, 1, 0.5), (2.0, 1, 1.5)], parallel=5.0))


def a_run_of_tasks(path: Path) -> Path:
    runtime, task = 1, 2
    rows = [
        row(runtime, Metric.WORKER, 4 * S, flags=WorkerState.RUNS, x=(4 * S, 0, 0, 0)),
        row(runtime, Metric.WORKER, S, flags=WorkerState.LOOKS, x=(S, 0, 0, 0)),
        row(runtime, Metric.WORKER, 2 * S, flags=WorkerState.IDLE, x=(S, 8 * S, 3 * S, 0)),
        row(task, Metric.TASK, 3 * S, count=1000, flags=TaskFlags.COUNTED, x=(1000, 0, 3, 3 * S)),
        row(task, Metric.SUSPENDED, S, count=3, flags=WaitCause.FUTURE),
    ]
    events = [
        event(S, EventKind.WORKER_STATE, runtime, arg=WorkerState.RUNS),
        event(S, EventKind.TASK_BEGIN, task, a=1),
        event(2 * S, EventKind.TASK_SUSPENDED, task, a=1, arg=WaitCause.FUTURE),
        event(2 * S, EventKind.WORKER_STATE, runtime, arg=WorkerState.IDLE),
        event(3 * S, EventKind.EDGE, NO, a=2, b=1, arg=WaitCause.FUTURE),
        event(3 * S, EventKind.TASK_RESUMED, task, a=1, b=S, arg=WaitCause.FUTURE),
        event(4 * S, EventKind.TASK_END, task, a=1),
    ]
    lanes = [
        LaneFile(run_s=1.0),
        LaneFile(rows, events, run_s=5.0, worker_of=runtime + 1),
        LaneFile(rows, events[:1] + events[3:4], run_s=5.0, worker_of=runtime + 1),
    ]
    names = [subject(runtime, SubjectKind.WORKERS, "runtime 1"), subject(task, SubjectKind.TASK, "stencil")]
    return write_run(path, ProcessFiles(lanes, names, parallel=8.0, ended=False))


A_RUN = pytest.mark.parametrize("make", [a_run, a_run_of_tasks])


def test_everything_is_read(tmp_path: Path) -> None:
    run = open_run(a_run(tmp_path))
    (process,) = run.processes
    assert process.header["pid"] == 100
    assert process.command == ("./app", "-x")
    assert process.subjects[1].name == "größer"
    assert (process.subjects[2].kind, process.subjects[2].is_call, process.subjects[2].module) == (
        "barrier",
        True,
        1,
    )
    assert process.modules[0].build_id == "ab12"
    assert process.unavailable[0] == Unavailable("energy", "no meter", "another machine")
    assert [len(lane.events) for lane in process.lanes] == [4, 3]
    assert process.lanes[0].header["run_ns"] == 9 * S
    assert process.lanes[1].header["name"] == "worker"
    assert process.samples["value"].tolist() == [0.5, 1.5]
    assert process.counters[1].unit == "CPUs"


def test_wrapped_ring_begins_with_the_oldest_whole_record(tmp_path: Path) -> None:
    # Six written into room for four: 4 and 5 stand where 0 and 1 were; 2 is being overwritten, perhaps.
    lane = LaneFile(events=[event(t, EventKind.MARK, 1) for t in (4, 5, 2, 3)], written=6)
    run = open_run(write_run(tmp_path, ProcessFiles([lane], [subject(1)])))
    assert run.processes[0].lanes[0].events["ticks"].tolist() == [3, 4, 5]
    assert run.processes[0].lanes[0].events_written == 6


def test_stream_ends_where_the_writer_was(tmp_path: Path) -> None:
    lane = LaneFile(events=[event(t, EventKind.MARK, 1) for t in (1, 2, 0, 0)], capacity=4, written=2)
    run = open_run(write_run(tmp_path, ProcessFiles([lane], [subject(1)])))
    assert run.processes[0].lanes[0].events["ticks"].tolist() == [1, 2]


def damaged(path: Path, name: str, offset: int, content: bytes) -> Path:
    run = a_run(path)
    file = run / "100-0" / name
    data = bytearray(file.read_bytes())
    data[offset : offset + len(content)] = content
    file.write_bytes(data)
    return run


@pytest.mark.parametrize(
    ("name", "offset", "content", "says"),
    [
        ("lane-0000.events", 0, b"X", "byte 0: expected"),
        ("lane-0000.events", 8, b"\x09", "byte 8: format version 9, this trimtab reads 1"),
        ("lane-0000.events", 12, b"\x01", "byte 12: expected a header of 4096"),
        ("lane-0000.events", 16, b"\x05", "byte 16: expected a file of events, found profile"),
        ("lane-0000.events", 20, b"\x21", "byte 20: expected records of 32 bytes, found 33"),
        ("lane-0000.events", 24, b"\xff" * 8, "byte 24: room for 18446744073709551615 records"),
        ("lane-0001.profile", 32, b"\xff", "byte 32: expected at most 0 records, found 255"),
        ("counters.tt", 32, b"\xff", "byte 32: expected at most 2 records, found 255"),
        ("names.tt", 32, b"\xff\xff\xff", "byte 32: 16777215 bytes of names announced"),
        ("names.tt", 4096, b"\x07", "byte 4096: a record of 7 bytes"),
        ("names.tt", 4096, b"\0\0\0\0", "byte 4096: a record of 0 bytes"),
        ("process.tt", 112, b"\xff" * 8, "byte 112: expected ns_per_tick from 0.001 to 1e+06, found nan"),
    ],
)
def test_damage_is_told_with_file_and_place(
    tmp_path: Path, name: str, offset: int, content: bytes, says: str
) -> None:
    run = damaged(tmp_path, name, offset, content)
    (reported,) = left_out(run)
    assert str(run / "100-0" / name) in reported.why
    assert says in reported.why
    assert "100-0" in reported.what


def left_out(path: Path) -> list[Unavailable]:
    """What was left out of a run, which can be read, with whatever else is wrong with it."""
    run = open_run(path)
    json.dumps(build(run), allow_nan=False)
    all_entries = (*run.left_out, *(entry for process in run.processes for entry in process.unavailable))
    return [entry for entry in all_entries if entry.what != "energy"]


@pytest.mark.parametrize(
    "name", ["process.tt", "names.tt", "counters.tt", "lane-0000.events", "lane-0000.profile"]
)
def test_truncated_anywhere(tmp_path: Path, name: str) -> None:
    whole = a_run(tmp_path) / "100-0" / name
    data = whole.read_bytes()
    for size in sorted({*range(1, len(data), 411), 4095, 4096, 4097, len(data) - 1}):
        if size >= len(data):
            continue
        whole.write_bytes(data[:size])
        (reported,) = left_out(tmp_path)
        assert str(whole) in reported.why


def test_a_lane_with_the_number_of_another_is_left_out(tmp_path: Path) -> None:
    run = damaged(tmp_path, "lane-0001.events", 64, b"\0")
    (process,) = open_run(run).processes
    assert [lane.id for lane in process.lanes] == [0]
    assert any("lane-0001.events: byte 64: expected the lane" in entry.why for entry in process.unavailable)
    build(open_run(run))


def test_process_that_died_while_it_began_is_passed_over(tmp_path: Path) -> None:
    a_run(tmp_path)
    (tmp_path / "101-0").mkdir()
    (tmp_path / "102-0").mkdir()
    (tmp_path / "102-0" / "process.tt").write_bytes(bytes(4096))
    (tmp_path / "102-0" / "names.tt").write_bytes(b"")
    (tmp_path / "103-0").write_text("not a directory")
    run = open_run(tmp_path)
    assert len(run.processes) == 1
    assert [entry.what for entry in run.left_out] == ["process 101-0", "process 102-0"]


def test_process_without_a_clock_is_left_out_and_named(tmp_path: Path) -> None:
    """As a kill in the first milliseconds left it, before the magic was written last."""
    a_run(tmp_path)
    write_run(tmp_path, ProcessFiles([LaneFile(run_s=1.0)], [subject(1)], pid=101))
    clockless = bytearray((tmp_path / "101-0" / "process.tt").read_bytes())
    clockless[88:4096] = bytes(4096 - 88)
    (tmp_path / "101-0" / "process.tt").write_bytes(clockless)
    report = build(open_run(tmp_path))
    assert [process["pid"] for process in report["processes"]] == [100]
    (reported,) = [entry for entry in report["unavailable"] if entry["what"] == "process 101-0"]
    assert "process.tt: byte 112: expected ns_per_tick from 0.001 to 1e+06, found 0" in reported["why"]


def test_run_of_which_no_process_can_be_read_says_why(tmp_path: Path) -> None:
    run = damaged(tmp_path, "process.tt", 0, b"X")
    report = build(open_run(run))
    assert report["processes"] == [] and report["efficiency"] is None
    (reason,) = [entry["why"] for entry in report["unavailable"] if entry["what"] == "OpenMP regions"]
    assert "process.tt: byte 0: expected" in reason


def test_damaged_lane_leaves_the_others(tmp_path: Path) -> None:
    (process,) = open_run(damaged(tmp_path, "lane-0000.events", 16, b"\x05")).processes
    assert [lane.id for lane in process.lanes] == [1]
    assert process.unavailable[0].what == "lane-0000 of process 100-0"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[]", "expected format 1, found list"),
        ('{"format": 2}', "expected format 1, found 2"),
        ("[" * 100_000, "not JSON"),
        ('{"format": 1, "ended": 5}', "ended: expected dict, found int"),
        ('{"format": 1, "ended": {"mono_ns": "x"}}', "ended.mono_ns: expected int or float, found str"),
        ('{"format": 1, "unavailable": [{"what": 1}]}', "unavailable.0"),
    ],
)
def test_run_json_is_checked(tmp_path: Path, text: str, says: str) -> None:
    a_run(tmp_path)
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(RunError, match=r"run\.json") as error:
        open_run(tmp_path)
    assert says in str(error.value)


def test_run_json_with_the_least_it_may_have(tmp_path: Path) -> None:
    a_run(tmp_path)
    (tmp_path / "run.json").write_text('{"format": 1, "ended": null, "machine": null, "unavailable": null}')
    report = build(open_run(tmp_path))
    assert not report["complete"]
    assert report["program"] == "./app"


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such run directory"):
        open_run(tmp_path / "nothing")
    with pytest.raises(RunError, match="not a run directory"):
        open_run(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_told(tmp_path: Path) -> None:
    file = a_run(tmp_path) / "100-0" / "names.tt"
    file.chmod(0)
    (reported,) = left_out(tmp_path)
    assert "names.tt: Permission denied" in reported.why


def report_or_error(run: Path) -> None:
    """A report in strict JSON, or a RunError; anything else fails the test."""
    try:
        report = build(open_run(run))
    except RunError:
        return
    json.dumps(report, allow_nan=False)


# TRIMTAB_FUZZ=10000 looks at as many others.
_FUZZ = int(os.environ.get("TRIMTAB_FUZZ", "0"))
_ODD_NUMBERS = [struct.pack("<d", value) for value in (float("inf"), float("nan"), -1.7e308)]


@A_RUN
@settings(
    max_examples=_FUZZ or 150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_fuzzed_bytes(
    tmp_path_factory: pytest.TempPathFactory, make: Callable[[Path], Path], data: st.DataObject
) -> None:
    run = make(tmp_path_factory.mktemp("fuzz"))
    files = sorted((run / "100-0").iterdir())
    for _ in range(data.draw(st.integers(1, 4))):
        file = data.draw(st.sampled_from(files))
        content = bytearray(file.read_bytes())
        # Headers and the first records are where the meaning is; the rest of the header page is empty.
        place = data.draw(st.one_of(st.integers(0, 300), st.integers(4096, 4700))) % len(content)
        content[place : place + 8] = data.draw(
            st.one_of(
                st.binary(min_size=1, max_size=8),
                st.sampled_from([b"\xff" * 8, bytes(8), b"\xff" * 7 + b"\x7f", *_ODD_NUMBERS]),
            )
        )
        file.write_bytes(content)
    report_or_error(run)


@A_RUN
def test_fuzzed_bits_and_cuts(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    seed = 20261121
    chance = random.Random(seed)
    run = make(tmp_path)
    originals = {file: file.read_bytes() for file in sorted((run / "100-0").iterdir())}
    for turn in range(300):
        file = chance.choice(list(originals))
        content = bytearray(originals[file])
        for _ in range(chance.randrange(1, 20)):
            place = chance.choice(
                [chance.randrange(64), chance.randrange(400), chance.randrange(len(content))]
            )
            content[place] ^= 1 << chance.randrange(8)
        if chance.random() < 0.3:
            del content[chance.randrange(len(content)) :]
        file.write_bytes(content)
        try:
            report_or_error(run)
        except Exception as error:
            raise AssertionError(f"seed {seed}, turn {turn}, {file.name}") from error
        file.write_bytes(originals[file])


def test_a_thousand_processes_are_read_quickly(tmp_path: Path) -> None:
    several = [
        ProcessFiles([LaneFile(team_of(1, 1.0, [1.0]))], [subject(1)], pid=n, user=1.0)
        for n in range(1, 1001)
    ]
    run = write_run(tmp_path, *several)
    began = time.process_time()
    report = build(open_run(run))
    took = time.process_time() - began
    assert len(report["processes"]) == 1000
    assert took < 10, f"{took:.1f} s"


def test_long_trace_is_mapped_and_not_copied(tmp_path: Path) -> None:
    count = 100_000
    events = [event(at * 1000, EventKind.MARK, 1) for at in range(count)]
    run = write_run(tmp_path, ProcessFiles([LaneFile(events=events)]))
    read = open_run(run).processes[0].lanes[0].events
    base: object = read
    while not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
        assert base is not None, "copied"
    assert int(read["ticks"][-1]) == (count - 1) * 1000

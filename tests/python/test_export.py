"""Exported runs, read back with the formats' own readers."""

from __future__ import annotations

import csv
import json
import random
import struct
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pydot
import pytest
from chrome_traces import chrome_events
from click.testing import CliRunner
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from synthetic import LaneFile, ProcessFiles, counter, event, file_header, subject, team_of, write_run
from trace_processor import errors_of, query
from trimtab.cli import main
from trimtab.export import FORMATS, export
from trimtab.export.source import notes_of, numbers_of, views_of
from trimtab.model import RunError
from trimtab.model.enumerations import EventKind, FileKind, Schedule, SubjectKind, WaitCause, WaitKind
from trimtab.readers import layout, open_run
from trimtab.traces import traces_of

# A picture of the graph of tasks is refused for a run without tasks.
OF_ANY_RUN = [to for to in FORMATS if to != "task-graph"]
GOLDEN = Path(__file__).parent.parent / "golden"
REGION, TASK = 1, 2


def sample_run(directory: Path) -> Path:
    """Two lanes; a region with a chunk and a wait; three tasks, one after another, made on lane 0."""
    first = [
        event(1000, EventKind.THREAD_BEGIN, 0xFFFFFFFF, a=100),
        event(2000, EventKind.REGION_BEGIN, REGION, a=7, arg=1),
        event(2100, EventKind.WORK_BEGIN, REGION, a=7, b=0),
        *(event(2200 + at, EventKind.TASK_CREATED, TASK, a=at, b=0) for at in (1, 2, 3)),
        event(2300, EventKind.TASK_BEGIN, TASK, a=1),
        event(3300, EventKind.TASK_END, TASK, a=1),
        event(3400, EventKind.EDGE, 0xFFFFFFFF, a=1, b=2),
        event(3410, EventKind.EDGE, 0xFFFFFFFF, a=1, b=3),
        event(3420, EventKind.EDGE, 0xFFFFFFFF, a=2, b=3),
        event(3420, EventKind.EDGE, 0xFFFFFFFF, a=3, b=99),
        event(9000, EventKind.WORK_END, REGION, a=7, b=100),
        event(9500, EventKind.REGION_END, REGION, a=7, b=2, arg=1),
    ]
    second = [
        event(2150, EventKind.WORK_BEGIN, REGION, a=7, b=1),
        event(2160, EventKind.CHUNK, 3, a=10, b=(1 << 64) - 5, arg=Schedule.DYNAMIC),
        event(2155, EventKind.LOOP, 3, a=845, b=10, arg=Schedule.DYNAMIC),
        event(3500, EventKind.TASK_BEGIN, TASK, a=2),
        event(4500, EventKind.TASK_END, TASK, a=2),
        event(4600, EventKind.TASK_BEGIN, TASK, a=3),
        event(5600, EventKind.TASK_END, TASK, a=3),
        event(6000, EventKind.WAIT, 4, a=2000, b=7, arg=WaitKind.BARRIER),
        event(8900, EventKind.WORK_END, REGION, a=7, b=2000),
    ]
    names = [
        subject(REGION, name='a "region"'),
        subject(TASK, kind=SubjectKind.TASK, name="täsk"),
        subject(3, kind=SubjectKind.LOOP, name="l"),
        subject(4, kind=SubjectKind.BARRIER, name="b"),
        counter(1, "load", "CPUs"),
    ]
    lanes = [LaneFile(team_of(REGION, 7.5e-6, [6e-6, 5e-6]), first, run_s=1), LaneFile([], second)]
    samples = [(0.001, 1, 0.5), (0.002, 1, -1.25)]
    return write_run(directory, ProcessFiles(lanes, names, samples, parallel=1.0), ProcessFiles(pid=200))


def two_processes(directory: Path) -> Path:
    """Each with a task that waits for another; the second began 5 s later and has lanes of one thread id."""
    events = [
        event(2005, EventKind.TASK_BEGIN, TASK, a=1),
        event(2050, EventKind.TASK_END, TASK, a=1),
        event(2060, EventKind.EDGE, 0xFFFFFFFF, a=1, b=2),
        event(2100, EventKind.TASK_BEGIN, TASK, a=2),
        event(2150, EventKind.TASK_END, TASK, a=2),
    ]
    names = [subject(TASK, kind=SubjectKind.TASK, name="t"), counter(1, "run delay", "s")]
    run = write_run(
        directory,
        ProcessFiles([LaneFile([], events), LaneFile()], names, [(0.001, 1, 0.5)]),
        ProcessFiles([LaneFile([], events), LaneFile()], names, pid=200),
    )
    later_value = run / "200-0" / "process.tt"
    head = layout.FILE_HEADER.itemsize
    patch(
        later_value,
        head + layout.offset_of(layout.PROCESS_HEADER, "mono_ns_0"),
        struct.pack("<Q", 10 * 10**9),
    )
    other_lane = run / "200-0" / "lane-0001.events"
    patch(other_lane, head + layout.offset_of(layout.LANE_HEADER, "tid"), struct.pack("<I", 200))
    sample = layout.HEADER_BYTES + layout.offset_of(layout.SAMPLE, "lane")
    patch(run / "100-0" / "counters.tt", sample, struct.pack("<I", 1))
    # Lane 1: on CPU 3, preempted, on CPU 4, waits; a record is lost; on CPU 5 until it ends.
    switches = [
        event(100, EventKind.SWITCH_IN, 0xFFFFFFFF, a=3, b=1),
        event(200, EventKind.SWITCH_OUT, 0xFFFFFFFF, a=3, b=1, arg=1),
        event(300, EventKind.SWITCH_IN, 0xFFFFFFFF, a=4, b=1),
        event(350, EventKind.SWITCH_IN, 0xFFFFFFFF, a=6, b=0),
        event(400, EventKind.SWITCH_OUT, 0xFFFFFFFF, a=4, b=1),
        event(500, EventKind.SWITCH_OUT, 0xFFFFFFFF, a=4, b=1, arg=1),
        event(600, EventKind.SWITCH_IN, 0xFFFFFFFF, a=5, b=1),
        event(700, EventKind.SWITCH_OUT, 0xFFFFFFFF, a=5, b=1),
    ]
    head = file_header(FileKind.SWITCHES, 32, len(switches), len(switches)).ljust(4096, b"\0")
    (run / "100-0" / "switches.tt").write_bytes(head + b"".join(switches))
    return run


def patch(path: Path, at: int, content: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[at : at + len(content)] = content
    path.write_bytes(data)


def exported(run: Path, to: str, path: Path) -> Path:
    completed = export(open_run(run), to, path)
    assert all(file.exists() for file in completed.files)
    assert not list(path.parent.glob(".*.part"))
    return path


def perfetto_trace(path: Path) -> Any:
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    return trace


class Tracks:
    """What a viewer makes of a Perfetto trace."""

    def __init__(self, trace: Any) -> None:
        self.descriptors: dict[int, Any] = {}
        self.slices: dict[str, list[tuple[str, str, int, int]]] = defaultdict(list)
        self.instants: list[tuple[str, int]] = []
        self.counters: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self.leaving: dict[int, str] = {}
        self.entering: dict[int, str] = {}
        self.figures: dict[str, dict[str, int]] = {}
        self._names: dict[tuple[int, str, int], str] = {}
        self._track: dict[int, int] = {}
        self._has_state: set[int] = set()
        self._open: dict[int, list[tuple[str, str, int]]] = defaultdict(list)
        for packet in trace.packet:
            self._read(packet, packet.trusted_packet_sequence_id)
        assert not any(self._open.values()), "a slice is never ended"

    def _read(self, packet: Any, sequence: int) -> None:
        if packet.sequence_flags & 1:
            self._has_state.add(sequence)
        assert not packet.sequence_flags & 2 or sequence in self._has_state, "names without a beginning"
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in self.descriptors
            self.descriptors[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("trace_packet_defaults"):
            self._track[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
        for kind in ("event_names", "event_categories", "debug_annotation_names"):
            for entry in getattr(packet.interned_data, kind):
                self._names[sequence, kind, entry.iid] = entry.name
        if packet.HasField("track_event"):
            self._event(packet.timestamp, packet.track_event, sequence)

    def name_of(self, track: int) -> str:
        described = self.descriptors[track]
        return str(described.thread.thread_name or described.process.process_name or described.name)

    def _event(self, at: int, event: Any, sequence: int) -> None:
        track = event.track_uuid or self._track[sequence]
        assert track in self.descriptors, "an event on a track that is not described"
        place = self.name_of(track)
        if event.type == TrackEvent.TYPE_COUNTER:
            self.counters[place].append((at, event.double_counter_value))
            return
        if event.type == TrackEvent.TYPE_SLICE_END:
            name, category, begin = self._open[track].pop()
            self.slices[place].append((name, category, begin, at))
            self.entering.update(dict.fromkeys(event.terminating_flow_ids, name))
            return
        name = event.name or self._names[sequence, "event_names", event.name_iid]
        category = "".join(self._names[sequence, "event_categories", iid] for iid in event.category_iids)
        self.figures[name] = {
            self._names[sequence, "debug_annotation_names", annotation.name_iid]: (
                annotation.int_value if annotation.HasField("int_value") else annotation.uint_value
            )
            for annotation in event.debug_annotations
        }
        shown = f"{name} {self.figures[name].get('task', '')}".strip()
        self.leaving |= dict.fromkeys(event.flow_ids, shown)
        self.entering |= dict.fromkeys(event.terminating_flow_ids, shown)
        if event.type == TrackEvent.TYPE_INSTANT:
            self.instants.append((name, at))
        else:
            assert event.type == TrackEvent.TYPE_SLICE_BEGIN
            self._open[track].append((name, category, at))


def chrome_slices(events: list[dict[str, Any]]) -> dict[str, list[tuple[str, str, int, int]]]:
    threads = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in events
        if e["ph"] == "M" and e["name"] == "thread_name"
    }
    result: dict[str, list[tuple[str, str, int, int]]] = defaultdict(list)
    for one_event in events:
        if one_event["ph"] == "X":
            begin = round(one_event["ts"] * 1000)
            end = begin + round(one_event["dur"] * 1000)
            result[threads[one_event["pid"], one_event["tid"]]].append(
                (one_event["name"], one_event["cat"], begin, end)
            )
    return result


def test_perfetto_shows_what_was_recorded(tmp_path: Path) -> None:
    tracks = Tracks(perfetto_trace(exported(sample_run(tmp_path / "run"), "perfetto", tmp_path / "t")))
    assert sorted(tracks.slices["lane 0: worker"]) == [
        ('a "region"', "work", 2100, 9000),
        ('region a "region"', "region", 2000, 9500),
        ("task täsk", "task", 2300, 3300),
    ]
    assert sorted(tracks.slices["lane 1: worker"]) == [
        ('a "region"', "work", 2150, 8900),
        ("chunk l", "chunk", 2160, 3000),
        ("loop l, dynamic", "loop", 2155, 3000),
        ("task täsk", "task", 3500, 4500),
        ("task täsk", "task", 4600, 5600),
        ("wait: barrier b", "wait", 6000, 8000),
    ]
    assert tracks.figures["chunk l"] == {"iterations": 10, "first": -5}
    assert tracks.figures["loop l, dynamic"] == {"iterations": 10}
    assert tracks.instants[:2] == [("thread begins", 1000), ("creates task täsk", 2201)]
    assert tracks.counters["load"] == [(1_000_000, 0.5), (2_000_000, -1.25)]
    processes = [
        descriptor.process for descriptor in tracks.descriptors.values() if descriptor.HasField("process")
    ]
    assert [(process.pid, list(process.cmdline)) for process in processes] == [
        (100, ["./app", "-x"]),
        (200, ["./app", "-x"]),
    ]
    threads = [
        descriptor.thread for descriptor in tracks.descriptors.values() if descriptor.HasField("thread")
    ]
    assert [(thread.pid, thread.tid) for thread in threads] == [(100, 100), (100, 101)]


ARROWS = {
    ("creates task täsk 1", "task täsk 1"),
    ("creates task täsk 2", "task täsk 2"),
    ("creates task täsk 3", "task täsk 3"),
    ("task täsk 1", "task täsk 2"),
    ("task täsk 1", "task täsk 3"),
    ("task täsk 2", "task täsk 3"),
}


def test_arrows_of_perfetto(tmp_path: Path) -> None:
    tracks = Tracks(perfetto_trace(exported(sample_run(tmp_path / "run"), "perfetto", tmp_path / "t")))
    # The edge to task 99, of which nothing is recorded, is no arrow.
    assert tracks.leaving.keys() == tracks.entering.keys()
    assert {(tracks.leaving[flow], tracks.entering[flow]) for flow in tracks.leaving} == ARROWS


ON_CPU = {
    ("CPU 3", "cpu", 100, 200),
    ("preempted", "cpu", 200, 300),
    ("CPU 4", "cpu", 300, 400),
    ("preempted", "cpu", 500, 600),
    ("CPU 5", "cpu", 600, 700),
}


def test_two_processes_in_perfetto(tmp_path: Path) -> None:
    tracks = Tracks(perfetto_trace(exported(two_processes(tmp_path / "run"), "perfetto", tmp_path / "t")))
    s = 5 * 10**9
    assert sorted(entry[2:] for entry in tracks.slices["lane 0: worker"]) == [
        *((2005, 2050), (2100, 2150)),
        *((s + 2005, s + 2050), (s + 2100, s + 2150)),
    ]
    assert set(tracks.slices["lane 1: worker, CPU"]) == ON_CPU
    threads = [
        (descriptor.thread.pid, descriptor.thread.tid)
        for descriptor in tracks.descriptors.values()
        if descriptor.HasField("thread")
    ]
    assert len(set(threads)) == 4 and threads[2] == (200, 200) and threads[3] != (200, 200)
    lane = next(uuid for uuid, descriptor in tracks.descriptors.items() if descriptor.thread.tid == 101)
    (counter,) = (descriptor for descriptor in tracks.descriptors.values() if descriptor.HasField("counter"))
    assert (counter.parent_uuid, counter.counter.unit_name, counter.name) == (lane, "s", "run delay")
    assert tracks.counters["run delay"] == [(1_000_000, 0.5)]


def test_two_processes_in_chrome(tmp_path: Path) -> None:
    events = chrome_events(exported(two_processes(tmp_path / "run"), "chrome", tmp_path / "t"))
    begins = {
        (one_event["pid"], one_event["args"]["task"]): one_event["ts"]
        for one_event in events
        if one_event.get("cat") == "task" and one_event["ph"] == "X"
    }
    assert begins == {(100, 1): 2.005, (100, 2): 2.1, (200, 1): 5000002.005, (200, 2): 5000002.1}
    # One arrow a process, from the end of the first task to the begin of the second.
    arrows = [
        (one_event["ph"], one_event["pid"], one_event["id"], one_event["ts"])
        for one_event in events
        if one_event["ph"] in "sf"
    ]
    assert sorted(arrows) == [
        *(("f", 100, 1, 2.1), ("f", 200, 2, 5000002.1)),
        *(("s", 100, 1, 2.049), ("s", 200, 2, 5000002.049)),
    ]
    assert set(chrome_slices(events)["lane 1: worker, CPU"]) == ON_CPU
    assert [one_event["name"] for one_event in events if one_event["ph"] == "C"] == ["run delay, lane 1"]


def test_a_part_whose_begin_was_lost_has_no_figures_of_its_end(tmp_path: Path) -> None:
    events = [event(2000, EventKind.WORK_END, REGION, a=7, b=1234)]
    run = write_run(tmp_path / "run", ProcessFiles([LaneFile([], events)], [subject(REGION, name="r")]))
    tracks = Tracks(perfetto_trace(exported(run, "perfetto", tmp_path / "t")))
    assert tracks.figures == {"r": {}}
    (part,) = (
        event for event in chrome_events(exported(run, "chrome", tmp_path / "c")) if event["ph"] == "X"
    )
    assert "args" not in part


@pytest.mark.parametrize("make", [sample_run, two_processes])
def test_chrome_shows_the_same_slices_as_perfetto(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    run = make(tmp_path / "run")
    events = chrome_events(exported(run, "chrome", tmp_path / "c.json"))
    tracks = Tracks(perfetto_trace(exported(run, "perfetto", tmp_path / "t")))
    shown = {name: sorted(slices) for name, slices in chrome_slices(events).items()}
    assert shown == {name: sorted(slices) for name, slices in tracks.slices.items()}


def test_counters_and_names_of_chrome(tmp_path: Path) -> None:
    events = chrome_events(exported(sample_run(tmp_path / "run"), "chrome", tmp_path / "c.json"))
    counters = [(one_event["ts"], one_event["args"]) for one_event in events if one_event["ph"] == "C"]
    assert counters == [(1000, {"CPUs": 0.5}), (2000, {"CPUs": -1.25})]
    assert {one_event["args"]["name"] for one_event in events if one_event["name"] == "process_name"} == {
        "./app -x"
    }


def test_arrows_of_chrome_lie_in_their_tasks(tmp_path: Path) -> None:
    events = chrome_events(exported(sample_run(tmp_path / "run"), "chrome", tmp_path / "c.json"))

    def at(phase: str, number: int) -> str:
        end = next(
            one_event for one_event in events if one_event["ph"] == phase and one_event["id"] == number
        )
        inner = [
            one_event
            for one_event in events
            if one_event["ph"] in "Xi"
            and one_event["cat"] == "task"
            and one_event["tid"] == end["tid"]
            and one_event["ts"] <= end["ts"] <= one_event["ts"] + one_event.get("dur", 0)
        ]
        assert len(inner) == 1
        return f"{inner[0]['name']} {inner[0]['args']['task']}"

    numbers = {one_event["id"] for one_event in events if one_event["ph"] == "s"}
    assert {(at("s", number), at("f", number)) for number in numbers} == ARROWS


@pytest.mark.parametrize("giver_lane", [0, 1])
def test_arrows_of_chrome_never_end_before_they_begin(tmp_path: Path, giver_lane: int) -> None:
    """Task 2 depends on task 1, and begins on another lane before the end of task 1 is recorded."""
    giver = [
        event(1000, EventKind.TASK_BEGIN, TASK, a=1),
        event(2000, EventKind.TASK_CREATED, TASK, a=2, b=1),
        event(2000, EventKind.EDGE, TASK, a=1, b=2, arg=WaitCause.OTHER),
        event(9000, EventKind.TASK_END, TASK, a=1),
    ]
    receiver = [event(3000, EventKind.TASK_BEGIN, TASK, a=2), event(5000, EventKind.TASK_END, TASK, a=2)]
    lanes = [LaneFile([], events) for events in ((giver, receiver), (receiver, giver))[giver_lane]]
    run = write_run(tmp_path / "run", ProcessFiles(lanes, [subject(TASK, SubjectKind.TASK, name="t")]))
    path = exported(run, "chrome", tmp_path / "c.json")
    ends = {
        phase: {entry["id"]: entry["ts"] for entry in chrome_events(path) if entry["ph"] == phase}
        for phase in "sf"
    }
    assert ends["s"].keys() == ends["f"].keys() and len(ends["s"]) == 2
    assert all(1 <= ends["s"][number] < ends["f"][number] for number in ends["s"]), ends
    (flows,) = query(path, "select count(*) as n from flow")
    assert flows[0]["n"] == len(ends["s"])


@pytest.mark.parametrize("to", ["perfetto", "chrome"])
def test_a_task_that_is_cut_in_pieces_has_its_arrows_once(tmp_path: Path, to: str) -> None:
    """Task 1 ends inside of task 2, which is shown in two pieces, and task 3 depends on task 2."""
    events = [
        event(1000, EventKind.TASK_BEGIN, TASK, a=1),
        event(1500, EventKind.TASK_CREATED, TASK, a=2, b=1),
        event(2000, EventKind.TASK_BEGIN, TASK, a=2),
        event(3000, EventKind.TASK_END, TASK, a=1),
        event(4000, EventKind.TASK_END, TASK, a=2),
        event(5000, EventKind.TASK_BEGIN, TASK, a=3),
        event(5000, EventKind.EDGE, TASK, a=2, b=3, arg=WaitCause.OTHER),
        event(6000, EventKind.TASK_END, TASK, a=3),
    ]
    kinds = [subject(TASK, SubjectKind.TASK, name="t")]
    run = write_run(tmp_path / "run", ProcessFiles([LaneFile([], events)], kinds))
    path = exported(run, to, tmp_path / "exported")
    slices, flows, ends = query(
        path,
        "select count(*) as n from slice where category = 'task' and dur > 0",
        "select count(*) as n from flow",
        "select o.ts - s.ts as left, o.dur as length from flow join slice o on slice_out = o.id"
        " join slice s on s.ts = (select min(ts) from slice where dur > 0) order by o.ts",
    )
    assert (slices[0]["n"], flows[0]["n"]) == (4, 2)
    # The maker's arrow leaves an instant, the dependence the second piece.
    assert (ends[1]["left"], ends[1]["length"]) == (2000, 1000)


@pytest.mark.parametrize("to", ["perfetto", "chrome"])
def test_what_a_ring_lost_is_told(tmp_path: Path, to: str) -> None:
    events = [
        event(1000 * at, EventKind.WORK_BEGIN if at % 2 else EventKind.WORK_END, REGION, a=at // 2)
        for at in range(4, 8)
    ]
    lane = LaneFile([], events, capacity=4, written=9)
    run = write_run(tmp_path / "run", ProcessFiles([lane], [subject(REGION, name="r")]))
    completed = export(open_run(run), to, tmp_path / "t")
    assert completed.notes == [
        "cut off: only the last 3 of 9 events are recorded, so lanes begin late; trimtab run --trace keeps all"
    ]
    if to == "perfetto":
        assert any(
            "older events were overwritten" in name
            for name, _ in Tracks(perfetto_trace(tmp_path / "t")).instants
        )
    else:
        assert json.loads((tmp_path / "t").read_text())["otherData"]["notes"] == completed.notes


def test_dropped_events_and_killed_processes_are_told(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run",
        ProcessFiles([LaneFile([], [event(5, EventKind.MARK, REGION)])], ended=False),
        ProcessFiles(pid=7),
    )
    path = run / "100-0" / "lane-0000.events"
    data = bytearray(path.read_bytes())
    data[:64] = file_header(FileKind.EVENTS, 32, 1, 1, dropped=12345)
    path.write_bytes(data)
    notes = notes_of(views_of(open_run(run)))
    assert (
        len(notes) == 2
        and "12,345 events found no room" in notes[0]
        and notes[1].startswith("1 of 2 processes")
    )


def rows_of_csv(path: Path) -> list[dict[str, str | None]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return [{name: value or None for name, value in row.items()} for row in csv.DictReader(stream)]


@pytest.mark.parametrize("run", ["sample", "golden"])
def test_parquet_holds_the_same_as_csv(tmp_path: Path, run: str) -> None:
    directory = GOLDEN if run == "golden" else sample_run(tmp_path / "run")
    texts, columns = (
        exported(directory, "csv", tmp_path / "c"),
        exported(directory, "parquet", tmp_path / "p"),
    )
    names = {path.stem for path in texts.iterdir()}
    assert names == {"events", "regions", "profile", "counters", "switches", "edges"}
    assert names == {path.stem for path in columns.iterdir()}
    for name in names:
        typed = pq.read_table(columns / f"{name}.parquet").to_pylist()
        text = rows_of_csv(texts / f"{name}.csv")
        assert [{key: None if v is None else str(v) for key, v in row.items()} for row in typed] == text


def test_tables_say_what_was_recorded(tmp_path: Path) -> None:
    folder = exported(sample_run(tmp_path / "run"), "parquet", tmp_path / "p")
    events = pq.read_table(folder / "events.parquet").to_pylist()
    assert len(events) == 23
    wait = next(row for row in events if row["kind"] == "wait")
    assert wait == {
        "process": "100-0", "pid": 100, "image": 0, "lane": 1, "time_ns": 6000, "kind": "wait", "name": "b", "detail": "barrier",
        "duration_ns": 2000, "a": 2000, "b": 7,
    }  # fmt: skip
    edge = next(row for row in events if row["kind"] == "edge")
    assert edge["name"] is None and edge["duration_ns"] is None
    (region,) = pq.read_table(folder / "regions.parquet").to_pylist()
    assert (region["name"], region["calls"], region["threads"]) == ('a "region"', 1, 2)
    assert region["wall_s"] == pytest.approx(7.5e-6) and region["file"] is None
    profile = pq.read_table(folder / "profile.parquet").to_pylist()
    assert [row["metric"] for row in profile] == ["region", "team", "team"]
    assert profile[2]["sum_ns"] == 5000 and profile[2]["about_lane"] == 1
    (first, second) = pq.read_table(folder / "counters.parquet").to_pylist()
    assert (first["name"], first["unit"], first["lane"], second["value"]) == ("load", "CPUs", None, -1.25)


@pytest.mark.parametrize("to", OF_ANY_RUN)
def test_the_command_on_the_golden_run(tmp_path: Path, to: str) -> None:
    completed = CliRunner().invoke(main, ["export", str(GOLDEN), "--to", to, "-o", str(tmp_path / "out")])
    assert completed.exit_code == 0 and completed.stdout == ""
    assert str(tmp_path / "out") in completed.stderr


def test_without_pyarrow_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("trimtab.export.parquet_files", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    completed = CliRunner().invoke(
        main, ["export", str(GOLDEN), "--to", "parquet", "-o", str(tmp_path / "out")]
    )
    assert completed.exit_code == 2
    assert "pip install trimtab[parquet]" in completed.stderr and "Traceback" not in completed.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("to", ["perfetto", "chrome", "csv", "parquet"])
def test_an_error_leaves_no_file_and_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    out = tmp_path / "out"
    run = sample_run(tmp_path / "run")
    exported(run, to, out)
    before = {path: path.read_bytes() for path in ([out] if out.is_file() else sorted(out.iterdir()))}

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        export(open_run(run), to, out, full)
    after = [out] if out.is_file() else sorted(out.iterdir())
    assert {path: path.read_bytes() for path in after} == before
    assert not list(tmp_path.glob(".*.part"))


def test_a_file_is_replaced_and_not_rewritten(tmp_path: Path) -> None:
    out = exported(GOLDEN, "chrome", tmp_path / "out")
    with out.open("rb") as still_open:
        exported(sample_run(tmp_path / "run"), "chrome", out)
        assert still_open.read() != out.read_bytes()


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    completed = CliRunner().invoke(
        main, ["export", str(GOLDEN), "--to", "chrome", "-o", str(tmp_path / "no" / "out")]
    )
    assert completed.exit_code == 2 and f"{tmp_path / 'no' / 'out'}: No such file" in completed.stderr
    completed = CliRunner().invoke(main, ["export", str(tmp_path), "--to", "chrome"])
    assert completed.exit_code == 2 and "run.json" in completed.stderr


def test_a_run_without_lanes_says_so(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    assert export(open_run(run), "perfetto", tmp_path / "t").notes == [
        "no lane was recorded: trimtab report says why"
    ]


@pytest.mark.filterwarnings("error")
def test_damaged_runs_are_exported_or_refused(tmp_path: Path) -> None:
    """Whatever is read at all gives files that their readers take, with slices that nest."""
    seed = 20261121
    chance = random.Random(seed)
    run, out = sample_run(tmp_path / "run"), tmp_path / "out"
    originals = {file: file.read_bytes() for file in sorted((run / "100-0").iterdir())}
    out.mkdir()
    read = 0
    for turn in range(150):
        file = chance.choice(list(originals))
        content = bytearray(originals[file])
        for _ in range(chance.randrange(1, 4)):
            place = chance.choice([chance.randrange(400), 4096 + chance.randrange(len(content) - 4095)])
            content[min(place, len(content) - 1)] = chance.choice([0, 127, 255, chance.randrange(256)])
        file.write_bytes(content)
        try:
            result = open_run(run)
            read += 1
            for to in OF_ANY_RUN:
                export(result, to, out / to)
            Tracks(perfetto_trace(out / "perfetto"))
            chrome_events(out / "chrome")
        except RunError:
            pass
        except Exception as error:
            raise AssertionError(f"seed {seed}, turn {turn}, {file.name}") from error
        file.write_bytes(originals[file])
    assert read > 50


MEASURE = """
import resource, sys
from pathlib import Path
from trimtab.export import FORMATS, export
from trimtab.readers import open_run
export(open_run(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.parametrize("to", ["perfetto", "parquet"])
def test_memory_for_a_million_events_in_one_lane(tmp_path: Path, to: str) -> None:
    """4 GB are the limit for ten million: a million has its tenth, and what Python and its libraries take."""
    count = 1_000_000
    run = write_run(
        tmp_path / "run", ProcessFiles([LaneFile()], [subject(n, name=f"r{n}") for n in range(9)])
    )
    at = np.arange(count)
    events = np.zeros(count, np.dtype("<u8,<u4,<u2,<u2,<u8,<u8"))
    events["f0"], events["f1"], events["f2"] = at * 1000, at // 4 % 9, np.array([3, 16, 17, 4])[at % 4]
    events["f4"] = np.where(at % 4 == 1, 900, np.where(at % 4 == 2, 900, at // 4))
    path = run / "100-0" / "lane-0000.events"
    head = path.read_bytes()[64:4096]
    path.write_bytes(file_header(FileKind.EVENTS, 32, count, count) + head + events.tobytes())
    completed = subprocess.run(
        [sys.executable, "-c", MEASURE, str(run), to, str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(completed.stdout) < 550e6


@pytest.mark.parametrize("count", [2, 2000])
def test_processes_of_several_hosts_with_one_pid_have_numbers_of_their_own(
    tmp_path: Path, count: int
) -> None:
    run = open_run(write_run(tmp_path / "run", ProcessFiles(), ProcessFiles(image=1)))
    first, second = traces_of(run)
    numbers = numbers_of([first, second, *[first] * count])
    assert numbers[:2] == [100, 100 + (1 << 22)]
    assert len(set(numbers)) == count + 2 and all(0 <= number < 1 << 31 for number in numbers)


def edges_of(run: Path, folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(exported(run, "parquet", folder) / "edges.parquet").to_pylist()
    return rows


def test_edges_are_a_table(tmp_path: Path) -> None:
    rows = edges_of(sample_run(tmp_path / "run"), tmp_path / "p")
    assert [
        (row["kind"], row["from_task"], row["to_task"], row["from_lane"], row["to_lane"]) for row in rows
    ] == [
        ("depends", 1, 2, 0, 1),
        ("depends", 1, 3, 0, 1),
        ("depends", 2, 3, 1, 1),
        ("creates", None, 1, 0, 0),
        ("creates", None, 2, 0, 1),
        ("creates", None, 3, 0, 1),
    ]
    assert rows[3] | {"to_name": ""} == {
        "kind": "creates", "from_process": "100-0", "from_lane": 0, "from_time_ns": 2201, "from_task": None, "from_name": "täsk",
        "to_process": "100-0", "to_lane": 0, "to_time_ns": 2300, "to_task": 1, "to_name": "",
    }  # fmt: skip


def lock_run(directory: Path) -> Path:
    """Lane 1 waits for 1.9 us until lane 0 leaves the lock; the release is recorded 100 ns behind that."""
    first = [event(2000, EventKind.LOCK, 9, a=3100, b=0)]
    second = [event(5000, EventKind.LOCK, 9, a=500, b=1900)]
    names = [subject(9, kind=SubjectKind.CRITICAL, name="c")]
    return write_run(directory, ProcessFiles([LaneFile([], first), LaneFile([], second)], names))


def test_a_lock_is_handed_over_when_the_next_has_it(tmp_path: Path) -> None:
    run = lock_run(tmp_path / "run")
    (edge,) = edges_of(run, tmp_path / "p")
    assert (edge["kind"], edge["from_lane"], edge["to_lane"]) == ("lock", 0, 1)
    assert (edge["from_time_ns"], edge["to_time_ns"], edge["from_task"]) == (5000, 5000, None)
    events = chrome_events(exported(run, "chrome", tmp_path / "c"))
    assert [(one["ph"], one["tid"], one["ts"]) for one in events if one["ph"] in "sf"] == [
        ("s", 100, 4.999),
        ("f", 101, 5.0),
    ]
    tracks = Tracks(perfetto_trace(exported(run, "perfetto", tmp_path / "t")))
    # It is had where the wait for it ends.
    assert tracks.leaving == {1: "critical c"} and tracks.entering == {1: "wait: critical c"}


def test_a_lock_of_two_places_is_one_lock(tmp_path: Path) -> None:
    """Lane 1 waits at another place than lane 0 holds it; at that place lane 2 waits for another lock."""
    lanes = [
        [event(2000, EventKind.LOCK, 9, a=3000, b=0, arg=5)],
        [event(5000, EventKind.LOCK, 8, a=500, b=2500, arg=5)],
        [event(5600, EventKind.LOCK, 8, a=100, b=2500, arg=6)],
    ]
    names = [subject(at, kind=SubjectKind.LOCK, name=f"place {at}") for at in (8, 9)]
    run = write_run(tmp_path / "run", ProcessFiles([LaneFile([], events) for events in lanes], names))
    (edge,) = edges_of(run, tmp_path / "p")
    assert (edge["kind"], edge["from_lane"], edge["to_lane"]) == ("lock", 0, 1)
    assert (edge["from_time_ns"], edge["to_time_ns"]) == (5000, 5000)
    assert (edge["from_name"], edge["to_name"]) == ("place 9", "place 8")
    tracks = Tracks(perfetto_trace(exported(run, "perfetto", tmp_path / "t")))
    assert tracks.leaving.keys() == tracks.entering.keys() == {1}


def test_tracks_of_cpus_have_numbers_of_32_bits(tmp_path: Path) -> None:
    """Engines drop the others, and then the slices of a thread and of its CPUs are on one track."""
    events = chrome_events(exported(two_processes(tmp_path / "run"), "chrome", tmp_path / "t"))
    numbers = {one["tid"] for one in events if one.get("cat") == "cpu"}
    assert numbers and all(number < 1 << 32 for number in numbers)
    (rows,) = query(tmp_path / "t", "select category as c, count(*) as n from slice group by 1 order by 1")
    assert rows == [{"c": "cpu", "n": 5}, {"c": "task", "n": 4}] and not errors_of(tmp_path / "t")


def graph_of(path: Path) -> Any:
    (graph,) = pydot.graph_from_dot_file(str(path), encoding="utf-8") or []
    return graph


def test_the_graph_of_tasks(tmp_path: Path) -> None:
    graph = graph_of(exported(sample_run(tmp_path / "run"), "dot", tmp_path / "g.dot"))
    edges = {(edge.get_source(), edge.get_destination(), edge.get("label")) for edge in graph.get_edges()}
    assert edges == {(f"p0_task{a}", f"p0_task{b}", '"depends"') for a, b in ((1, 2), (1, 3), (2, 3))}
    (cluster,) = graph.get_subgraphs()
    nodes = {node.get_name(): node.get("label") for node in cluster.get_nodes()}
    assert nodes["p0_task2"] == '"täsk\\ntask 2, 0.001 ms"' and len(nodes) == 3


def test_many_tasks_are_shown_by_kind_and_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "g.dot"
    done = CliRunner().invoke(
        main,
        ["export", str(sample_run(tmp_path / "run")), "--to", "dot", "-o", str(path), "--max-tasks", "2"],
    )
    assert "3 tasks are more than 2: each node is a kind of task" in done.stderr
    graph = graph_of(path)
    assert "3 tasks are more than 2" in graph.get("label")
    (edge,) = graph.get_edges()
    assert (edge.get_source(), edge.get_destination(), edge.get("label")) == (
        "p0_kind2",
        "p0_kind2",
        '"depends (3)"',
    )


def test_names_in_a_graph_end_no_string(tmp_path: Path) -> None:
    name = 'a"b\\c\nd];'
    events = [event(10, EventKind.TASK_BEGIN, TASK, a=1), event(20, EventKind.TASK_END, TASK, a=1)]
    names = [subject(TASK, kind=SubjectKind.TASK, name=name)]
    run = write_run(tmp_path / "run", ProcessFiles([LaneFile([], events)], names, command=b'./"x\\\0'))
    (cluster,) = graph_of(exported(run, "dot", tmp_path / "g.dot")).get_subgraphs()
    assert [node.get_name() for node in cluster.get_nodes()] == ["p0_task1"]

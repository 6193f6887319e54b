"""Exported runs, read back with the formats' own readers."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from synthetic import LaneFile, ProcessFiles, counter, event, file_header, subject, team_of, write_run
from trimtab.cli import main
from trimtab.export import export
from trimtab.export.source import notes_of, views_of
from trimtab.model import RunError
from trimtab.readers import open_run

GOLDEN = Path(__file__).parent.parent / "golden"
REGION, TASK = 1, 2


def sample_run(directory: Path) -> Path:
    """Two lanes; a region with a chunk and a wait; three tasks, one after another, made on lane 0."""
    first = [
        event(1000, 41, 0xFFFFFFFF, a=100),
        event(2000, 1, REGION, a=7, arg=1),
        event(2100, 3, REGION, a=7, b=0),
        *(event(2200 + at, 32, TASK, a=at, b=0) for at in (1, 2, 3)),
        event(2300, 5, TASK, a=1),
        event(3300, 6, TASK, a=1),
        event(3400, 36, 0xFFFFFFFF, a=1, b=2),
        event(3410, 36, 0xFFFFFFFF, a=1, b=3),
        event(3420, 36, 0xFFFFFFFF, a=2, b=3),
        event(3420, 36, 0xFFFFFFFF, a=3, b=99),
        event(9000, 4, REGION, a=7, b=100),
        event(9500, 2, REGION, a=7, b=2, arg=1),
    ]
    second = [
        event(2150, 3, REGION, a=7, b=1),
        event(2160, 18, 3, a=10, b=(1 << 64) - 5, arg=3),
        event(2155, 16, 3, a=845, b=10, arg=3),
        event(3500, 5, TASK, a=2),
        event(4500, 6, TASK, a=2),
        event(4600, 5, TASK, a=3),
        event(5600, 6, TASK, a=3),
        event(6000, 17, 4, a=2000, b=7, arg=2),
        event(8900, 4, REGION, a=7, b=2000),
    ]
    names = [
        subject(REGION, name='a "region"'),
        subject(TASK, kind=7, name="täsk"),
        subject(3, kind=2, name="l"),
        subject(4, kind=3, name="b"),
        counter(1, "load", "CPUs"),
    ]
    lanes = [LaneFile(team_of(REGION, 7.5e-6, [6e-6, 5e-6]), first, run_s=1), LaneFile([], second)]
    samples = [(0.001, 1, 0.5), (0.002, 1, -1.25)]
    return write_run(directory, ProcessFiles(lanes, names, samples, parallel=1.0), ProcessFiles(pid=200))


def exported(run: Path, to: str, path: Path) -> Path:
    done = export(open_run(run), to, path)
    assert all(each.exists() for each in done.files)
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
        self._open: dict[int, list[tuple[str, str, int]]] = defaultdict(list)
        for packet in trace.packet:
            self._read(packet, packet.trusted_packet_sequence_id)
        assert not any(self._open.values()), "a slice is never ended"

    def _read(self, packet: Any, sequence: int) -> None:
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in self.descriptors
            self.descriptors[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("trace_packet_defaults"):
            self._track[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
        for kind in ("event_names", "event_categories", "debug_annotation_names"):
            for each in getattr(packet.interned_data, kind):
                self._names[sequence, kind, each.iid] = each.name
        if packet.HasField("track_event"):
            self._event(packet.timestamp, packet.track_event, sequence)

    def name_of(self, track: int) -> str:
        described = self.descriptors[track]
        return str(described.thread.thread_name or described.process.process_name or described.name)

    def _event(self, at: int, event: Any, sequence: int) -> None:
        track = event.track_uuid or self._track[sequence]
        assert track in self.descriptors, "an event on a track that is not described"
        where = self.name_of(track)
        if event.type == TrackEvent.TYPE_COUNTER:
            self.counters[where].append((at, event.double_counter_value))
            return
        if event.type == TrackEvent.TYPE_SLICE_END:
            name, category, begin = self._open[track].pop()
            self.slices[where].append((name, category, begin, at))
            return
        name = event.name or self._names[sequence, "event_names", event.name_iid]
        category = "".join(self._names[sequence, "event_categories", iid] for iid in event.category_iids)
        self.figures[name] = {
            self._names[sequence, "debug_annotation_names", each.name_iid]: (
                each.int_value if each.HasField("int_value") else each.uint_value
            )
            for each in event.debug_annotations
        }
        shown = f"{name} {self.figures[name].get('task', '')}".strip()
        self.leaving |= dict.fromkeys(event.flow_ids, shown)
        self.entering |= dict.fromkeys(event.terminating_flow_ids, shown)
        if event.type == TrackEvent.TYPE_INSTANT:
            self.instants.append((name, at))
        else:
            assert event.type == TrackEvent.TYPE_SLICE_BEGIN
            self._open[track].append((name, category, at))


def chrome_events(path: Path) -> list[dict[str, Any]]:
    parsed = json.loads(path.read_text())
    assert parsed["displayTimeUnit"] == "ns"
    found: list[dict[str, Any]] = parsed["traceEvents"]
    return found


def chrome_slices(events: list[dict[str, Any]]) -> dict[str, list[tuple[str, str, int, int]]]:
    threads = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in events
        if e["ph"] == "M" and e["name"] == "thread_name"
    }
    found: dict[str, list[tuple[str, str, int, int]]] = defaultdict(list)
    for each in events:
        if each["ph"] == "X":
            begin = round(each["ts"] * 1000)
            end = begin + round(each["dur"] * 1000)
            found[threads[each["pid"], each["tid"]]].append((each["name"], each["cat"], begin, end))
    return found


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
    processes = [each.process for each in tracks.descriptors.values() if each.HasField("process")]
    assert [(each.pid, list(each.cmdline)) for each in processes] == [
        (100, ["./app", "-x"]),
        (200, ["./app", "-x"]),
    ]
    threads = [each.thread for each in tracks.descriptors.values() if each.HasField("thread")]
    assert [(each.pid, each.tid) for each in threads] == [(100, 100), (100, 101)]


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


def test_chrome_shows_the_same_slices_as_perfetto(tmp_path: Path) -> None:
    run = sample_run(tmp_path / "run")
    events = chrome_events(exported(run, "chrome", tmp_path / "c.json"))
    tracks = Tracks(perfetto_trace(exported(run, "perfetto", tmp_path / "t")))
    shown = {name: sorted(slices) for name, slices in chrome_slices(events).items()}
    assert shown == {name: sorted(slices) for name, slices in tracks.slices.items()}
    counters = [(each["ts"], each["args"]) for each in events if each["ph"] == "C"]
    assert counters == [(1000, {"CPUs": 0.5}), (2000, {"CPUs": -1.25})]
    assert {each["args"]["name"] for each in events if each["name"] == "process_name"} == {"./app -x"}


def test_arrows_of_chrome_lie_in_their_tasks(tmp_path: Path) -> None:
    events = chrome_events(exported(sample_run(tmp_path / "run"), "chrome", tmp_path / "c.json"))

    def at(phase: str, number: int) -> str:
        end = next(each for each in events if each["ph"] == phase and each["id"] == number)
        inside = [
            each
            for each in events
            if each["ph"] in "Xi"
            and each["cat"] == "task"
            and each["tid"] == end["tid"]
            and each["ts"] <= end["ts"] <= each["ts"] + each.get("dur", 0)
        ]
        assert len(inside) == 1
        return f"{inside[0]['name']} {inside[0]['args']['task']}"

    numbers = {each["id"] for each in events if each["ph"] == "s"}
    assert {(at("s", number), at("f", number)) for number in numbers} == ARROWS


@pytest.mark.parametrize("to", ["perfetto", "chrome"])
def test_what_a_ring_lost_is_told(tmp_path: Path, to: str) -> None:
    events = [event(1000 * at, 3 if at % 2 else 4, REGION, a=at // 2) for at in range(4, 8)]
    lane = LaneFile([], events, capacity=4, written=9)
    run = write_run(tmp_path / "run", ProcessFiles([lane], [subject(REGION, name="r")]))
    done = export(open_run(run), to, tmp_path / "t")
    assert done.notes == [
        "cut off: only the last 3 of 9 events are recorded, so lanes begin late; trimtab run --trace keeps all"
    ]
    if to == "perfetto":
        assert any(
            "older events were overwritten" in name
            for name, _ in Tracks(perfetto_trace(tmp_path / "t")).instants
        )
    else:
        assert json.loads((tmp_path / "t").read_text())["otherData"]["notes"] == done.notes


def test_dropped_events_and_killed_processes_are_told(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run",
        ProcessFiles([LaneFile([], [event(5, 40, REGION)])], ended=False),
        ProcessFiles(pid=7),
    )
    path = run / "100-0" / "lane-0000.events"
    data = bytearray(path.read_bytes())
    data[:64] = file_header(4, 32, 1, 1, dropped=12345)
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
    assert names == {"events", "regions", "profile", "counters", "switches"}
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
        "pid": 100, "image": 0, "lane": 1, "time_ns": 6000, "kind": "wait", "name": "b", "detail": "barrier",
        "duration_ns": 2000, "a": 2000, "b": 7,
    }  # fmt: skip
    assert next(row for row in events if row["kind"] == "edge")["name"] is None
    (region,) = pq.read_table(folder / "regions.parquet").to_pylist()
    assert (region["name"], region["calls"], region["threads"]) == ('a "region"', 1, 2)
    assert region["wall_s"] == pytest.approx(7.5e-6) and region["file"] is None
    profile = pq.read_table(folder / "profile.parquet").to_pylist()
    assert [row["metric"] for row in profile] == ["region", "team", "team"]
    assert profile[2]["sum_ns"] == 5000 and profile[2]["about_lane"] == 1
    (first, second) = pq.read_table(folder / "counters.parquet").to_pylist()
    assert (first["name"], first["unit"], first["lane"], second["value"]) == ("load", "CPUs", None, -1.25)


@pytest.mark.parametrize("to", ["perfetto", "chrome", "csv", "parquet"])
def test_the_command_on_the_golden_run(tmp_path: Path, to: str) -> None:
    done = CliRunner().invoke(main, ["export", str(GOLDEN), "--to", to, "-o", str(tmp_path / "out")])
    assert done.exit_code == 0 and done.stdout == ""
    assert str(tmp_path / "out") in done.stderr


def test_without_pyarrow_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("trimtab.export.parquet_files", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    done = CliRunner().invoke(main, ["export", str(GOLDEN), "--to", "parquet", "-o", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "pip install trimtab[parquet]" in done.stderr and "Traceback" not in done.stderr
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


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["export", str(GOLDEN), "--to", "chrome", "-o", str(tmp_path / "no" / "out")]
    )
    assert done.exit_code == 2 and "No such file" in done.stderr and "Traceback" not in done.stderr
    done = CliRunner().invoke(main, ["export", str(tmp_path), "--to", "chrome"])
    assert done.exit_code == 2 and "run.json" in done.stderr


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
            found = open_run(run)
            read += 1
            for to in ("perfetto", "chrome", "csv", "parquet"):
                export(found, to, out / to)
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
from trimtab.export import export
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
    path.write_bytes(file_header(4, 32, count, count) + head + events.tobytes())
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(run), to, str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 550e6

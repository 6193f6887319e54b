"""CPUs as tracks of exported traces, from the events of the operating system's scheduler."""

from __future__ import annotations

from pathlib import Path

import pytest
from chrome_traces import chrome_events
from synthetic import ProcessFiles, S, SchedulerFiles, write_run
from test_export import Tracks, perfetto_trace
from trimtab.export import export
from trimtab.export.cpus import host_tracks
from trimtab.model.enumerations import SchedulerEventKind
from trimtab.readers import open_run

APP, WORKER, HOG = 1, 2, 3


def switched(at_s: float, cpu: int, leaves: int, comes: int) -> dict[str, int]:
    """A switch, seconds after the run began."""
    kind = int(SchedulerEventKind.SWITCHED)
    return {"time_ns": int((5 + at_s) * S), "cpu": cpu, "thread": leaves, "other": comes, "kind": kind}


def files() -> SchedulerFiles:
    """CPU 0: app, hog, app until the end. CPU 5: idle, worker, idle, then what nobody knows, and hog."""
    lost = {"time_ns": int(5.8 * S), "cpu": 5, "thread": 9, "kind": int(SchedulerEventKind.LOST)}
    woken = {"time_ns": int(5.1 * S), "cpu": 0, "thread": WORKER, "kind": int(SchedulerEventKind.WOKEN)}
    return SchedulerFiles(
        [
            {"pid": 100, "tid": 100, "name": b"app", "program": b"app"},
            {"pid": 100, "tid": 101, "name": b"worker\x1b[2J", "program": b"app"},
            {"pid": 7, "tid": 7, "name": b"hog/1", "program": b"hog"},
        ],
        events=[
            woken,
            switched(0.25, 0, APP, HOG),
            switched(0.3, 5, 0, WORKER),
            switched(0.5, 0, HOG, APP),
            switched(0.6, 5, WORKER, 0),
            switched(0.7, 5, 0, HOG),
            lost,
            switched(0.9, 5, HOG, 0),
            switched(1.0, 5, APP, HOG),
            switched(1.5, 5, HOG, 0),
        ],
        head={"begin_ns": int(4.5 * S), "end_ns": 7 * S, "idle_ns": S},
    )


EXPECTED = {
    "CPU 0": [("app (thread 100)", 0, 250), ("hog", 250, 500), ("app (thread 100)", 500, 2000)],
    "CPU 5": [("worker\x1b[2J (thread 101)", 300, 600), ("hog", 1000, 1500)],
}


def a_run(folder: Path) -> Path:
    run = write_run(folder, ProcessFiles(wall=2.0))
    files().write(run)
    return run


def test_slices(tmp_path: Path) -> None:
    (host,) = host_tracks(open_run(a_run(tmp_path / "run")), {0x7FFFFFFF})
    assert (host.number, host.name) == (0x7FFFFFFE, "CPUs of node0")
    item = {
        f"CPU {track.cpu}": [
            (track.names[number], begin // 1_000_000, end // 1_000_000)
            for number, begin, end in zip(
                track.name.tolist(), track.begins.tolist(), track.ends.tolist(), strict=True
            )
        ]
        for track in host.cpus
    }
    assert item == EXPECTED


def test_chrome(tmp_path: Path) -> None:
    export(open_run(a_run(tmp_path / "run")), "chrome", tmp_path / "t")
    events = chrome_events(tmp_path / "t")
    (pid,) = {entry["pid"] for entry in events if entry.get("args", {}).get("name") == "CPUs of node0"}
    names = {
        entry["tid"]: entry["args"]["name"]
        for entry in events
        if entry["pid"] == pid and entry["name"] == "thread_name"
    }
    assert names == {1: "CPU 0", 6: "CPU 5"}
    for tid, name in names.items():
        slices = [
            (entry["name"], entry["ts"] / 1e3, (entry["ts"] + entry["dur"]) / 1e3)
            for entry in events
            if (entry["pid"], entry["tid"], entry["ph"]) == (pid, tid, "X")
        ]
        assert slices == EXPECTED[name]


def test_perfetto(tmp_path: Path) -> None:
    export(open_run(a_run(tmp_path / "run")), "perfetto", tmp_path / "t")
    tracks = Tracks(perfetto_trace(tmp_path / "t"))
    for name, expected in EXPECTED.items():
        (slices,) = (item for track, item in tracks.slices.items() if track.endswith(name))
        item = [(text, begin // 1_000_000, end // 1_000_000) for text, _, begin, end in slices]
        assert item == expected


def test_profile_has_no_tracks_of_cpus(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", ProcessFiles())
    without = files()
    without.events = []
    without.write(run)
    assert list(host_tracks(open_run(run), ())) == []


def test_missing_events_are_noted(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    path = run / "node0.scheduler" / "events.tt"
    content = bytearray(path.read_bytes())
    content[40] = 3
    path.write_bytes(content)
    recorded = open_run(run)
    assert any(
        "3 events of the operating system's scheduler" in note
        for note in export(recorded, "chrome", tmp_path / "t").notes
    )
    (host,) = host_tracks(recorded, ())
    # Nobody knows how long app ran after the last event.
    assert host.cpus[0].ends.tolist()[-1] == pytest.approx(0.5 * S)


def test_run_without_processes(tmp_path: Path) -> None:
    """Its time begins with the recording."""
    run = write_run(tmp_path / "run")
    files().write(run)
    (host,) = host_tracks(open_run(run), ())
    assert host.cpus[0].begins.tolist()[0] == 0
    assert host.cpus[0].ends.tolist()[0] == pytest.approx(0.75 * S)

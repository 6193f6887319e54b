"""Parcels that leave the queues of their senders, in every export."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from chrome_traces import chrome_events
from otf2_archives import open_archive
from synthetic import LaneFile, ProcessFiles, event, fact, subject, write_run
from test_export import Tracks, exported, perfetto_trace
from trimtab.model.enumerations import EventKind, LeaveCause, RecordLevel, SubjectKind

STEP = 1
PARCEL, MESSAGE, TASK, RECEIVED_TASK = 9, 4, 2, 7
LEAVES = "parcel leaves the queue: time"


def queued_run(directory: Path) -> Path:
    """Rank 0 sends a parcel at 3 us, which leaves its queue at 5 us; rank 1 gets it at 6 us."""
    sender = [
        event(1000, EventKind.TASK_BEGIN, STEP, a=TASK),
        event(3000, EventKind.PARCEL_SENT, STEP, a=PARCEL, b=TASK, arg=1),
        event(4000, EventKind.TASK_END, STEP, a=TASK),
        event(5000, EventKind.PARCEL_LEFT, 0xFFFFFFFF, a=PARCEL, b=MESSAGE, arg=LeaveCause.TIME),
    ]
    receiver = [
        event(6000, EventKind.TASK_CREATED, STEP, a=RECEIVED_TASK),
        event(6000, EventKind.PARCEL_RECEIVED, 0xFFFFFFFF, a=RECEIVED_TASK, b=PARCEL, arg=0),
        event(6500, EventKind.TASK_BEGIN, STEP, a=RECEIVED_TASK),
        event(7000, EventKind.TASK_END, STEP, a=RECEIVED_TASK),
    ]
    processes = [
        ProcessFiles(
            [LaneFile(events=events, worker_of=1)],
            [
                subject(STEP, SubjectKind.TASK, name="step"),
                fact("rank", str(rank)),
                fact("size", "2"),
            ],
            level=RecordLevel.TRACE,
            pid=100 + rank,
        )
        for rank, events in enumerate((sender, receiver))
    ]
    return write_run(directory, *processes)


def test_the_table_says_when_and_why_it_left(tmp_path: Path) -> None:
    folder = exported(queued_run(tmp_path / "run"), "csv", tmp_path / "csv")
    with (folder / "events.csv").open(newline="") as file:
        (left,) = [row for row in csv.DictReader(file) if row["kind"] == "parcel_left"]
    assert (left["time_ns"], left["detail"], left["a"], left["b"]) == (
        "5000",
        "time",
        str(PARCEL),
        str(MESSAGE),
    )
    assert left["pid"] == "100" and not left["duration_ns"]


def test_perfetto_has_a_moment_with_parcel_and_message(tmp_path: Path) -> None:
    run = queued_run(tmp_path / "run")
    tracks = Tracks(perfetto_trace(exported(run, "perfetto", tmp_path / "t")))
    assert (LEAVES, 5000) in tracks.instants
    assert tracks.figures[LEAVES] == {"parcel": PARCEL, "message": MESSAGE}
    # The arrow begins where the parcel was sent, not where it left.
    assert list(tracks.leaving.values()) == ["sends step 2"]
    assert list(tracks.entering.values()) == ["task step 7"]


def test_chrome_has_the_same_moment(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = chrome_events(
        exported(queued_run(tmp_path / "run"), "chrome", tmp_path / "c")
    )
    (left,) = [one for one in events if one["name"] == LEAVES]
    assert (left["ph"], left["ts"], left["pid"]) == ("i", 5.0, 100)
    assert {name: int(value) for name, value in left["args"].items()} == {
        "parcel": PARCEL,
        "message": MESSAGE,
    }


def test_an_archive_has_the_message_once_from_where_it_was_sent(tmp_path: Path) -> None:
    folder = exported(queued_run(tmp_path / "run"), "otf2", tmp_path / "archive")
    messages = open_archive(folder).messages
    assert list(messages.values()) == [1]
    ((sent_ns, received_ns),) = messages
    assert received_ns - sent_ns == 6500 - 3000

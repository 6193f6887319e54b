"""trimtab top on directories that are made up: states, shares, what is shown, knobs, and what is damaged."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import numpy as np
import pytest
import top_schema
from rich.cells import cell_len
from synthetic import (
    NO,
    LaneFile,
    ProcessFiles,
    S,
    decision,
    event,
    fact,
    knob,
    packed,
    page,
    policy,
    row,
    subject,
    team_of,
    write_run,
)
from synthetic import file_header as head_of
from trimtab.live.knobs import NotTurned, turn
from trimtab.live.model import LaneLook, Look, Shares
from trimtab.live.run import LiveRun, find_slots, opened
from trimtab.live.screen import View, bar, lines_of, plain_lines, shown_lanes
from trimtab.model import RunError
from trimtab.model.enumerations import (
    EventKind,
    FileKind,
    KnobAnswer,
    KnobFlags,
    KnobRequest,
    Metric,
    Outcome,
    WaitKind,
    WorkerState,
)
from trimtab.readers import layout
from trimtab.symbols import Symbols

REGION, LOCK, RUNTIME = 0, 1, 2
NAMES = [subject(REGION, name="solve"), subject(LOCK, name="table lock"), subject(RUNTIME, name="runtime 1")]


class Clock:
    """The monotonic clock, as the reader of a run sees it; the program's began 5 s before its ticks."""

    def __init__(self) -> None:
        self.s = 2.0

    def __call__(self, _: int) -> int:
        return int((5 + self.s) * S)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    result = Clock()
    monkeypatch.setattr("trimtab.live.process.time.clock_gettime_ns", result)
    return result


def process(*lanes: LaneFile, **other: Any) -> ProcessFiles:
    """One that goes on: this test's own number is that of a program that lives."""
    files: dict[str, Any] = {"pid": os.getpid(), "ended": False, "names": NAMES, "wall": 1.0, **other}
    return ProcessFiles(lanes=list(lanes), **files)


def begun(kind: EventKind, at_s: float, a: int = 7) -> bytes:
    return event(int(at_s * S), kind, REGION, a=a)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Any]:
    runs = []

    def start(files: ProcessFiles, name: str = "run") -> tuple[LiveRun, Path]:
        directory = write_run(tmp_path / name, files)
        runs.append(LiveRun(directory, Symbols(), 0, None))
        return runs[-1], directory / f"{files.pid}-0"

    yield start
    for run in runs:
        run.close()


def change_rows(home: Path, lane: int, rows: list[bytes]) -> None:
    """In place, as a program does it."""
    with (home / f"lane-{lane:04}.profile").open("r+b") as stream:
        stream.seek(layout.HEADER_BYTES)
        stream.write(b"".join(rows))


def change_head(home: Path, lane: int, **fields: int) -> None:
    with (home / f"lane-{lane:04}.events").open("r+b") as stream:
        for name, value in fields.items():
            field_type = layout.LANE_HEADER[name]
            stream.seek(layout.FILE_HEADER.itemsize + layout.offset_of(layout.LANE_HEADER, name))
            stream.write(np.array(value, field_type).tobytes())


def test_shares_are_what_rows_grew_by(live: Any, clock: Clock) -> None:
    def rows(at: float) -> list[bytes]:
        return team_of(REGION, at, [0.9 * at, 0.4 * at])

    ends = [begun(EventKind.WORK_BEGIN, 0.1), begun(EventKind.WORK_END, 0.2)]
    run, home = live(process(LaneFile(rows=rows(1), events=ends), LaneFile(events=ends)))
    assert all(lane.shares is None for lane in run.look().lanes)
    clock.s += 2
    change_rows(home, 0, rows(3))
    for lane in (0, 1):
        change_head(home, lane, run_ns=2 * S)
    look = run.look()
    first, second = (lane.shares for lane in look.lanes)
    assert first is not None and second is not None
    assert first.busy == pytest.approx(0.9, abs=0.01) and first.join == pytest.approx(0.1, abs=0.01)
    assert second.busy == pytest.approx(0.4, abs=0.01) and second.join == pytest.approx(0.6, abs=0.01)
    for shares in (first, second):
        assert sum(msgspec.structs.astuple(shares)) == pytest.approx(1.0, abs=0.001)
    assert [(found.kind, found.subject, found.seconds) for found in look.subjects] == [
        ("region", "solve", 1.0)
    ]


def test_a_lane_without_a_cpu_or_asleep_is_not_busy(live: Any, clock: Clock) -> None:
    def rows(at: float) -> list[bytes]:
        return team_of(REGION, at, [at, at])

    run, home = live(process(LaneFile(rows=rows(1)), LaneFile()))
    run.look()
    clock.s += 1
    change_rows(home, 0, rows(2))
    change_head(home, 0, run_ns=S // 4, run_delay_ns=3 * S // 4)
    change_head(home, 1, run_ns=S // 4)
    first, second = (lane.shares for lane in run.look().lanes)
    assert first is not None and (first.busy, first.cpu_wait) == pytest.approx((0.25, 0.75), abs=0.01)
    assert second is not None and (second.busy, second.blocked) == pytest.approx((0.25, 0.75), abs=0.01)


def test_who_has_ended_its_part_waits_for_those_that_have_not(live: Any, clock: Clock) -> None:
    begin = begun(EventKind.WORK_BEGIN, 1.0)
    run, _ = live(
        process(
            LaneFile(events=[begun(EventKind.REGION_BEGIN, 0.9), begin, begun(EventKind.WORK_END, 1.5)]),
            LaneFile(events=[begin]),
            LaneFile(events=[begin, begun(EventKind.WORK_END, 1.2)]),
        )
    )
    states = [(lane.state, lane.waits_for, lane.subject) for lane in run.look().lanes]
    assert states[0][:2] == ("join", (1,))
    assert states[1] == ("busy", (), "solve")
    assert states[2][:2] == ("join", (1,))


def test_a_part_that_goes_on_counts_although_no_row_has_it(live: Any, clock: Clock) -> None:
    begin = begun(EventKind.WORK_BEGIN, 1.0)
    run, home = live(
        process(LaneFile(events=[begun(EventKind.REGION_BEGIN, 1.0), begin]), LaneFile(events=[begin]))
    )
    run.look()
    clock.s += 1
    for lane in (0, 1):
        change_head(home, lane, run_ns=S)
    assert [lane.shares.busy for lane in run.look().lanes] == pytest.approx([1.0, 1.0], abs=0.01)


def test_waits_are_named_by_what_for(live: Any, clock: Clock) -> None:
    def rows(at: float) -> list[bytes]:
        return [
            *team_of(REGION, at, [0.5 * at, 0.5 * at]),
            row(LOCK, Metric.WAIT, int(0.3 * at * S), flags=WaitKind.CRITICAL, in_region=REGION),
            row(LOCK, Metric.LOCK, int(0.3 * at * S), x=(int(at * S), 0, 0, 0)),
        ]

    run, home = live(process(LaneFile(rows=rows(1)), LaneFile()))
    run.look()
    clock.s += 1
    change_rows(home, 0, rows(2))
    change_head(home, 0, run_ns=S)
    shares = run.look().lanes[0].shares
    assert shares is not None and shares.lock == pytest.approx(0.23, abs=0.08) and shares.barrier == 0


def test_workers_tell_their_state(live: Any, clock: Clock) -> None:
    def worker(state: WorkerState, since_s: float) -> LaneFile:
        since = row(RUNTIME, Metric.WORKER, 0, flags=state, x=(0, int(since_s * S), 0, 0))
        return LaneFile(rows=[since], worker_of=RUNTIME + 1)

    run, home = live(
        process(worker(WorkerState.RUNS, 1.0), worker(WorkerState.IDLE, 1.0), worker(WorkerState.CAPPED, 1.0))
    )
    run.look()
    clock.s += 1
    change_head(home, 0, run_ns=S)
    lanes = run.look().lanes
    assert [lane.state for lane in lanes] == ["busy", "tasks", "capped"]
    assert [lane.shares and lane.shares.tasks for lane in lanes] == [0, 1, 0]
    assert lanes[0].shares is not None and lanes[0].shares.busy == pytest.approx(1)


def test_lanes_begin_and_end_while_they_are_watched(live: Any, clock: Clock, tmp_path: Path) -> None:
    run, home = live(process(LaneFile(), LaneFile()))
    assert [lane.lane for lane in run.look().lanes] == [0, 1]
    more = process(LaneFile(), LaneFile(), LaneFile()).write(tmp_path / "other")
    for name in ("lane-0002.events", "lane-0002.profile"):
        (more / name).rename(home / name)
    with (home / "process.tt").open("r+b") as stream:
        stream.seek(layout.FILE_HEADER.itemsize + layout.offset_of(layout.PROCESS_HEADER, "lanes"))
        stream.write(np.uint32(3).tobytes())
    change_head(home, 1, end_ticks=S)
    clock.s += 1
    look = run.look()
    assert [lane.lane for lane in look.lanes] == [0, 2]
    assert look.lanes[1].shares is not None


def test_a_ring_that_wrapped_keeps_what_is_open(live: Any, clock: Clock) -> None:
    filler = [event(int((1.1 + i / 1000) * S), EventKind.LOOP, REGION, a=10) for i in range(40)]
    lane = LaneFile(events=filler, capacity=40, written=200)
    run, _ = live(process(lane))
    assert run.look().lanes[0].subject is None, "nothing of its events says what is open"
    opened_lane = LaneFile(events=[*filler[:-1], begun(EventKind.WORK_BEGIN, 1.9)], capacity=40, written=200)
    run, _ = live(process(opened_lane), "other")
    assert run.look().lanes[0].subject == "solve"


def test_decisions_come_once(live: Any, clock: Clock) -> None:
    names = [*NAMES, knob(1, REGION, "threads"), policy(1, "by hand")]
    made = decision(1.5, 3, REGION, 1, (4, 2), Outcome.SET, b"set by hand\0\0")
    run, _ = live(process(LaneFile(), names=names, decisions=[made]))
    assert [(found.number, found.text) for found in run.look().decisions] == [
        (3, "at 1.50 s threads of solve 4 -> 2: set by hand")
    ]
    clock.s += 1
    assert run.look().decisions == ()


def test_the_end_is_seen(live: Any, clock: Clock) -> None:
    run, home = live(process(LaneFile()))
    assert not run.look().is_over
    with (home / "process.tt").open("r+b") as stream:
        stream.seek(layout.FILE_HEADER.itemsize + layout.offset_of(layout.PROCESS_HEADER, "state"))
        stream.write(np.uint32(2).tobytes())
    look = run.look()
    assert look.is_over and [found.state for found in look.processes] == ["ended"]


def test_one_that_was_killed_is_seen(live: Any, clock: Clock) -> None:
    run, _ = live(process(LaneFile(), names=[*NAMES, fact("process start", "1")]))
    look = run.look()
    assert look.is_over, "another process has its number by now"


@pytest.mark.parametrize("name", ["lane-0000.events", "lane-0000.profile", "process.tt", "names.tt"])
@pytest.mark.parametrize("size", [100, 4096])
def test_files_that_are_cut_off_are_named(live: Any, clock: Clock, name: str, size: int) -> None:
    run, home = live(
        process(LaneFile(rows=team_of(REGION, 1, [1.0]), events=[begun(EventKind.WORK_BEGIN, 1)]))
    )
    run.look()
    if (home / name).stat().st_size == size:
        pytest.skip("it has no more")
    os.truncate(home / name, size)
    look = run.look()
    assert look.is_over and len(look.problems) == 1
    assert name in look.problems[0] and "cut off" in look.problems[0]


def test_what_is_no_file_of_a_run_is_named(live: Any, clock: Clock, tmp_path: Path) -> None:
    directory = write_run(tmp_path / "odd", process(LaneFile()))
    names = directory / f"{os.getpid()}-0" / "names.tt"
    names.unlink()
    os.mkfifo(names)
    look = LiveRun(directory, Symbols(), 0, None).look()
    assert look.is_over and "names.tt" in look.problems[0] and "named pipe" in look.problems[0]
    with pytest.raises(RunError, match="no such run"):
        LiveRun(tmp_path / "missing", Symbols(), 0, None).look()


def test_a_damaged_record_of_a_name_is_named(live: Any, clock: Clock) -> None:
    run, _ = live(process(LaneFile(), names=[b"\x05\0\0\0\0\0\0\0"]))
    look = run.look()
    assert look.is_over and "a record of 5 bytes cannot be" in look.problems[0]


def test_json_is_as_its_schema_says(live: Any, clock: Clock) -> None:
    assert top_schema.PATH.read_text() == top_schema.text(), "run tests/top_schema.py"
    run, _ = live(process(LaneFile(rows=team_of(REGION, 1, [1.0, 0.5])), LaneFile()))
    schema = json.loads(top_schema.text())
    for _ in range(2):
        found = json.loads(msgspec.json.encode(run.look()))
        jsonschema.validate(found, schema)
        clock.s += 1
    del found["lanes"][0]["state"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema)


SHARES = Shares(0.5, 0.25, 0, 0.25, 0, 0, 0, 0, 0)


def lane_look(
    number: int, name: str = "worker", subject_name: str | None = "solve", busy: float = 0.5
) -> LaneLook:
    shares = Shares(busy, 0, 0, 1 - busy, 0, 0, 0, 0, 0)
    return LaneLook("p", number, name, 1, "join", subject_name, (1,), shares)


def look_of(*lanes: LaneLook, **other: Any) -> Look:
    fields: dict[str, Any] = {
        **{"format": 1, "run": "r", "time_s": 0.0, "interval_s": 1.0, "is_over": False, "processes": ()},
        **{"lanes": lanes, "subjects": (), "counters": (), "knobs": (), "decisions": (), "findings": None},
        **{"findings_at_s": None, "problems": (), "own_cpu_share": 0.001},
    }
    return Look(**{**fields, **other})


def test_lanes_are_sorted_and_filtered() -> None:
    lanes = [lane_look(0, "b", busy=0.2), lane_look(1, "a", "other", busy=0.9), lane_look(2, "c", busy=0.5)]

    def numbers(**view: Any) -> list[int]:
        return [lane.lane for lane in shown_lanes(lanes, View(**view))]

    assert numbers() == [0, 1, 2]
    assert numbers(sort="busy") == [1, 2, 0]
    assert numbers(sort="waiting") == [0, 2, 1]
    assert numbers(sort="name") == [1, 0, 2]
    assert numbers(text="SOLVE") == [0, 2]
    assert numbers(text="nothing") == []


def test_a_bar_has_the_shares_letters() -> None:
    assert bar(SHARES, 20).plain == "#" * 10 + "c" * 5 + "j" * 5
    assert bar(None, 4).plain == "????"


@pytest.mark.parametrize("size", [(79, 24), (200, 60), (20, 5)])
@pytest.mark.parametrize("count", [0, 3, 500])
@pytest.mark.parametrize("has_help", [False, True])
def test_the_screen_fits(size: tuple[int, int], count: int, has_help: bool) -> None:
    width, height = size
    look = look_of(*(lane_look(i, "名前" * 9, "x" * 300) for i in range(count)), problems=("p" * 300,))
    lines = lines_of(look, View(has_help=has_help), width, height)
    assert len(lines) == height
    assert max(cell_len(line.plain) for line in lines) <= width


def test_texts_of_others_move_no_cursor() -> None:
    look = look_of(lane_look(0, "\x1b[2J", "a\nb[bold]c"))
    shown = "".join(line.plain for line in lines_of(look, View(), 200, 24))
    assert "\x1b" not in shown and "\\x1b[2J" in shown and "a\\nb[bold]c" in shown


def test_lines_for_a_pipe_are_whole() -> None:
    lines = plain_lines(look_of(lane_look(0, subject_name="x" * 300)), View())
    assert lines == [f"p lane 0 worker: join for 1 in {'x' * 300} (busy 50.0 %, join 50.0 %)"]


def knobs_file(home: Path, *slots: dict[str, Any], name: str = "knobs.tt") -> Path:
    records = [packed(layout.KNOB_SLOT, **slot) for slot in slots]
    path = home / name
    head = head_of(FileKind.KNOBS, layout.KNOB_SLOT.itemsize, len(records), len(records))
    path.write_bytes(page(head) + b"".join(records))
    path.chmod(0o600)
    return path


THREADS = {
    "knob": 1,
    "subject": REGION,
    "values": 3,
    "in_force": 4,
    "accepted": 4,
    "least": 1,
    "most": 4,
    "text": b"1 2 4",
}
SCHEDULE = {"knob": 2, "subject": REGION, "values": 2, "least": 0, "most": 1, "text": b"static dynamic"}
KNOBS = [*NAMES, knob(1, REGION, "threads"), knob(2, REGION, "schedule", values="static,dynamic")]


@pytest.fixture
def knobs(live: Any, clock: Clock) -> tuple[LiveRun, Path]:
    run, home = live(process(LaneFile(), names=KNOBS))
    path = knobs_file(home, THREADS, SCHEDULE)
    run.look()
    return run, path


class Program(threading.Thread):
    """Answers the requests in a file of knobs as a program does."""

    def __init__(self, path: Path, answer: KnobAnswer) -> None:
        super().__init__(daemon=True)
        self._slots = np.memmap(path, layout.KNOB_SLOT, "r+", layout.HEADER_BYTES)
        self._answer = answer
        self.asked: list[tuple[int, int, int]] = []
        self.is_over = False

    def run(self) -> None:
        while not self.is_over:
            for place, slot in enumerate(self._slots):
                if slot["request_number"] != slot["answered_number"]:
                    self.asked.append((place, int(slot["request"]), int(slot["request_value"])))
                    slot["answer"] = self._answer
                    slot["answered_number"] = slot["request_number"]
            time.sleep(0.001)


def test_a_knob_is_set_and_undone(knobs: tuple[LiveRun, Path]) -> None:
    run, path = knobs
    program = Program(path, KnobAnswer.DONE)
    program.start()
    assert run.turn("solve/threads", "2") == ["solve/threads: 4 -> 2, set by hand"]
    assert run.turn("schedule", "dynamic") == ["solve/schedule: static -> dynamic, set by hand"]
    assert run.turn("sol/threads", None) == ["solve/threads: undone"]
    program.is_over = True
    assert program.asked == [(0, KnobRequest.SET, 2), (1, KnobRequest.SET, 1), (0, KnobRequest.UNDO, 0)]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("solve/threads", "3", "expected one of 1, 2, 4"),
        ("solve/threads", "many", "expected one of 1, 2, 4"),
        ("solve/schedule", "guided", "expected one of static, dynamic"),
        ("solve/chunk", "1", "there is no knob solve/chunk: there are solve/schedule, solve/threads"),
    ],
)
def test_a_value_that_cannot_be_is_refused_here(
    knobs: tuple[LiveRun, Path], name: str, value: str, message: str
) -> None:
    with pytest.raises(NotTurned, match=message):
        knobs[0].turn(name, value)


@pytest.mark.parametrize("answer", [answer for answer in KnobAnswer if answer != KnobAnswer.DONE])
def test_a_refusal_says_why(knobs: tuple[LiveRun, Path], answer: KnobAnswer) -> None:
    program = Program(knobs[1], answer)
    program.start()
    with pytest.raises(NotTurned, match=r"solve/threads: \w+"):
        knobs[0].turn("solve/threads", "2")
    program.is_over = True


def test_a_program_that_does_not_answer_is_not_waited_for(knobs: tuple[LiveRun, Path]) -> None:
    ((_, slot),) = find_slots(knobs[0].slots(), "solve/threads")
    with pytest.raises(NotTurned, match="has not answered"):
        turn(slot, "2", lambda: True, patience_s=0.02)
    with pytest.raises(NotTurned, match="ended before"):
        turn(slot, "2", lambda: False)


@pytest.mark.parametrize("mode", [0o660, 0o606])
def test_a_file_that_others_may_write_is_not_written(knobs: tuple[LiveRun, Path], mode: int) -> None:
    knobs[1].chmod(mode)
    before = knobs[1].read_bytes()
    with pytest.raises(RunError, match="others may write"):
        knobs[0].turn("solve/threads", "2")
    assert knobs[1].read_bytes() == before


def test_a_link_is_not_followed(knobs: tuple[LiveRun, Path], tmp_path: Path) -> None:
    knobs[1].rename(tmp_path / "elsewhere")
    knobs[1].symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match=r"knobs\.tt"):
        knobs[0].turn("solve/threads", "2")


def test_knobs_that_cannot_be_set_say_so(live: Any, clock: Clock) -> None:
    run, home = live(process(LaneFile(), names=KNOBS))
    knobs_file(home, {**THREADS, "flags": KnobFlags.GONE}, {**SCHEDULE, "flags": KnobFlags.BY_HAND})
    gone, by_hand = run.look().knobs
    assert not gone.is_settable and by_hand.is_settable and by_hand.is_by_hand


def test_names_that_mean_several_knobs_are_refused(live: Any, clock: Clock) -> None:
    names = [*KNOBS, subject(3, name="solver"), knob(3, 3, "threads")]
    run, home = live(process(LaneFile(), names=names))
    knobs_file(home, THREADS, {**THREADS, "knob": 3, "subject": 3})
    run.look()
    with pytest.raises(NotTurned, match="may be solve/threads, solver/threads"):
        find_slots(run.slots(), "olve/threads")
    assert len(find_slots(run.slots(), "solve/threads")) == 1


def test_findings_are_those_of_the_report(tmp_path: Path) -> None:
    rows = team_of(REGION, 0.9, [0.9, 0.1], calls=10)
    files = process(LaneFile(rows=rows), LaneFile(), wall=1.0, parallel=0.9, cpus=2.0)
    directory = write_run(tmp_path / "run", files)
    before = {path: path.stat().st_mtime_ns for path in directory.rglob("*")}
    with opened(directory, 3600) as run:
        deadline = time.monotonic() + 60
        while (look := run.look()).findings is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert ("imbalance", "solve") in [(found.cause, found.subject) for found in look.findings]
    assert {path: path.stat().st_mtime_ns for path in directory.rglob("*")} == before, (
        "nothing was written there"
    )


def test_no_lane_is_none(live: Any, clock: Clock) -> None:
    run, _ = live(process(LaneFile(rows=[row(REGION, Metric.TEAM, S, description=NO)])))
    run.look()
    clock.s += 1
    assert len(run.look().lanes) == 1

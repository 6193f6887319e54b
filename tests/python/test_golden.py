"""tests/golden, written and checked by rooms/observe's tests too, and the tables of docs/reference/run-directory.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from trimtab.model import CAUSES, OUTCOMES, SUBJECT_KINDS, UNKNOWN, WAITS, WORKER_STATES, Knob
from trimtab.model.enumerations import (
    EVENT_KINDS,
    METRIC_NAMES,
    ClockKind,
    LoopFields,
    Metric,
    Outcome,
    ProcessState,
    RecordLevel,
    Schedule,
)
from trimtab.readers import layout, open_run

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
TYPES = {
    "file_header": layout.FILE_HEADER,
    "process_header": layout.PROCESS_HEADER,
    "lane_header": layout.LANE_HEADER,
    "event": layout.EVENT,
    "profile_row": layout.ROW,
    "sample": layout.SAMPLE,
    "decision": layout.DECISION,
    "knob_slot": layout.KNOB_SLOT,
}


def fields_of(dtype: np.dtype[np.void]) -> dict[str, tuple[int, int]]:
    assert dtype.fields is not None
    return {
        name: (result[1], result[0].itemsize) for name, result in dtype.fields.items() if name != "reserved"
    }


@pytest.mark.parametrize("name", TYPES)
def test_offsets_and_sizes_are_those_of_the_writer(name: str) -> None:
    lines = [line.split() for line in (GOLDEN / "layout.txt").read_text().splitlines()]
    written = {field: (int(offset), int(size)) for chosen, field, offset, size in lines if chosen == name}
    assert fields_of(TYPES[name]) == written


@pytest.mark.parametrize(
    ("heading", "name", "start"),
    [
        ("## process.tt", "process_header", 64),
        ("## lane-\\*.events", "lane_header", 64),
        ("## Event", "event", 0),
        ("## Profile row", "profile_row", 0),
        ("## Sample", "sample", 0),
        ("## Decision", "decision", 0),
    ],
)
def test_documented_offsets(heading: str, name: str, start: int) -> None:
    text = (ROOT / "docs" / "reference" / "run-directory.md").read_text()
    section = re.split(r"^## ", re.split(f"^{heading}", text, flags=re.M)[1], flags=re.M)[0]
    reported = {}
    pattern = r"^\| (\d+) \| (\d*) ?(u16|u32|u64|i64|f64|bytes) \| (\w+)"
    for offset, number, kind, field in re.findall(pattern, section, flags=re.M):
        size = {"u16": 2, "u32": 4, "u64": 8, "i64": 8, "f64": 8, "bytes": 1}[kind] * int(number or 1)
        reported[{"metric": "what"}.get(field, field)] = (int(offset) - start, size)
    reported.pop("reserved", None)
    assert reported == fields_of(TYPES[name])


ENUMS = {
    "metric": METRIC_NAMES,
    "event_kind": EVENT_KINDS,
    "subject_kind": SUBJECT_KINDS,
    "wait_kind": WAITS,
    "wait_cause": CAUSES,
    "worker_state": WORKER_STATES,
    "decision_outcome": OUTCOMES,
}


@pytest.mark.parametrize("name", ENUMS)
def test_words_are_those_of_the_writer(name: str) -> None:
    text = (ROOT / "rooms/observe/include/trimtab/observe/format.hpp").read_text()
    body = re.split(r"^};", re.split(rf"^enum class {name} : .*{{$", text, flags=re.M)[1], flags=re.M)[0]
    written = {int(number): word for word, number in re.findall(r"^  (\w+) = (\d+),", body, flags=re.M)}
    if name == "event_kind":
        del written[0]
    assert ENUMS[name] == written


def test_values_are_those_of_the_writer() -> None:
    run = open_run(GOLDEN)
    (process,) = run.processes
    head = process.header
    assert (head["pid"], head["ppid"], head["clock"]) == (100, 99, ClockKind.TSC)
    assert (head["level"], head["state"]) == (RecordLevel.TRACE, ProcessState.EXITED)
    assert (head["ns_per_tick"], head["cpus_available"], head["cpus_quota"]) == (0.5, 1.5, 1.5)
    assert (head["parallel_ticks"], head["sampler_cpu_ns"], head["clock_read_ns"]) == (500_000, 12, 7.25)
    assert (head["forked_from"], head["max_rss_kb"]) == (98, 17)
    assert process.command == ("./app", "-x")
    subject = process.subjects[1]
    assert (subject.kind, subject.file, subject.function, subject.line) == ("region", "app.c", "solve", 12)
    assert (subject.offset, subject.module, subject.parent, subject.runtime) == (0x40, 1, None, 1)
    assert (process.modules[0].path, process.modules[0].build_id) == ("/lib/app", "ab12")
    assert process.runtimes == {1: ("libgomp", "/lib/libgomp.so.1")}
    assert process.facts == {"key": "value"}
    (lane,) = process.lanes
    assert (lane.header["name"], lane.header["hooks"], lane.header["migrations"]) == ("worker", 27, UNKNOWN)
    assert (lane.header["worker_of"], lane.header["worker"]) == (4, 29)
    assert lane.header["title"] == "runtime 1, worker 29"
    assert lane.events["ticks"].tolist() == [3000, 4000]
    assert (lane.events_written, lane.events_dropped) == (4, 3)
    row = lane.rows[0]
    assert (row["what"], row["flags"], row["sum"]) == (Metric.LOOP, Schedule.DYNAMIC, 31)
    assert [int(row["x"][field]) for field in LoopFields] == [40, 41, 42, 43]
    assert (row["histogram"][5], row["histogram"][41]) == (1, 9)
    assert process.samples["value"].tolist() == [0.25]
    assert process.switches["a"].tolist() == [3]
    assert process.knobs == {1: Knob(1, 1, "schedule", "app+0x40", ("static", "dynamic"))}
    assert process.policies == {1: "tuner"}
    assert process.decisions is not None
    (kept,) = process.decisions
    assert (kept["number"], kept["subject"], kept["knob"], kept["from"], kept["to"]) == (2, 1, 1, 0, 1)
    assert (kept["gain"], kept["uncertainty"], kept["pairs"]) == (0.22, 0.03, 9)
    assert (kept["outcome"], kept["policy"], bytes(kept["text"])[:10]) == (Outcome.KEPT, 1, b"run delay\0")

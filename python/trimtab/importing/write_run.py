"""Run directories of what other tools have recorded, byte by byte as our own library lays them out (docs/reference/run-directory.md).

Ticks are nanoseconds since the first event.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.model import NO_LANE, Records
from trimtab.model.enumerations import ClockKind, FileKind, LaneKind, NameTag, ProcessState, RecordLevel
from trimtab.readers import layout
from trimtab.whole_files import write_whole

# Events that have a process of their own begin at this tick: 0 stands for "none" in many fields.
FIRST_TICK = 1


@dataclass
class LaneRecords:
    """A lane: its name, rows of its profile, and events in the order in which they were recorded."""

    name: str
    rows: Records
    events: Records


@dataclass
class ProcessRecords:
    """A process; `cpu_ns` is the time that its threads spent inside of functions and not waiting."""

    host: str
    number: int
    rank: int | None
    size: int
    name: str
    end: int
    cpu_ns: int
    parallel: int
    names: list[bytes] = field(default_factory=list)
    lanes: list[LaneRecords] = field(default_factory=list)
    samples: Records = field(default_factory=lambda: np.empty(0, layout.SAMPLE))


def name_record(tag: NameTag, values: Sequence[int], *texts: str) -> bytes:
    """A record of names.tt."""
    fields = layout.NAME_LAYOUTS[tag].fields
    body = fields.pack(*values)[layout.NAME_HEAD.size :]
    body += b"".join(text.replace("\0", "\ufffd").encode("utf-8", "replace") + b"\0" for text in texts)
    body += bytes(-len(body) % 8)
    return layout.NAME_HEAD.pack(layout.NAME_HEAD.size + len(body), tag) + body


def write_process(folder: Path, process: ProcessRecords, real_ns: int) -> None:
    """The folder of a process, below that of the run."""
    home = folder / f"{process.host}-{process.number}-0"
    home.mkdir()
    names = list(process.names)
    for key, value in _facts(process).items():
        names.append(name_record(NameTag.FACT, (), key, value))
    _write_process_file(home, process, real_ns)
    body = b"".join(names)
    write_whole(home / "names.tt", _head(FileKind.NAMES, 0, len(body)) + body)
    if len(process.samples):
        _write_records(home / "counters.tt", FileKind.COUNTERS, process.samples)
    for number, lane in enumerate(process.lanes):
        header = _packed(
            layout.LANE_HEADER,
            lane=number,
            start_ticks=FIRST_TICK,
            end_ticks=process.end,
            threads=1,
            is_main=int(number == 0),
            migrations=(1 << 64) - 1,
            kind=LaneKind.THREAD,
            title=_cut(lane.name, 40),
        )
        path = home / f"lane-{number:04}.events"
        _write_records(path, FileKind.EVENTS, lane.events, header)
        _write_records(path.with_suffix(".profile"), FileKind.PROFILE, lane.rows, header)


def write_info(folder: Path, name: str, real_ns: int, wall_ns: int) -> None:
    """run.json, which makes the folder a run."""
    info: dict[str, Any] = {
        "format": 1,
        "program": name,
        "argv": [name],
        "level": "trace",
        "started_real_ns": real_ns,
        "ended": {"mono_ns": wall_ns + FIRST_TICK, "code": 0, "signal": None, "wall_s": wall_ns * 1e-9},
        "machine": {},
        "unavailable": [],
    }
    write_whole(folder / "run.json", json.dumps(info, indent=1).encode())


def _facts(process: ProcessRecords) -> Mapping[str, str]:
    facts = {"host": process.host}
    if process.rank is not None:
        facts |= {"rank": str(process.rank), "size": str(process.size)}
    return facts


def _write_process_file(home: Path, process: ProcessRecords, real_ns: int) -> None:
    header = _packed(
        layout.PROCESS_HEADER,
        pid=process.number,
        clock=ClockKind.MONOTONIC,
        level=RecordLevel.TRACE,
        state=ProcessState.EXITED,
        lanes=len(process.lanes),
        real_ns_0=real_ns,
        ns_per_tick=1.0,
        start_ticks=FIRST_TICK,
        last_ticks=process.end,
        end_ticks=process.end,
        cpus_available=float(max(len(process.lanes), 1)),
        cpus_affinity=max(len(process.lanes), 1),
        cpus_online=max(len(process.lanes), 1),
        parallel_ticks=process.parallel,
        user_ns=process.cpu_ns,
        command=_cut(process.name, 2047) + b"\0",
    )
    write_whole(home / "process.tt", _head(FileKind.PROCESS, 0, 0, header))


def _cut(text: str, size: int) -> bytes:
    """As much of it as there is room for, with whole characters."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace")[:size].decode("utf-8", "ignore").encode()


def _packed(dtype: np.dtype[np.void], **values: Any) -> bytes:
    record = np.zeros(1, dtype)
    for name, value in values.items():
        record[name] = value
    return record.tobytes()


def _head(kind: FileKind, record_bytes: int, count: int, second: bytes = b"") -> bytes:
    """The header of a file of so many records."""
    first = _packed(
        layout.FILE_HEADER,
        magic=layout.MAGIC,
        version=layout.VERSION,
        header_size=layout.HEADER_BYTES,
        kind=kind,
        record_bytes=record_bytes,
        capacity=count,
        written=count,
        minor=layout.MINOR,
    )
    return (first + second).ljust(layout.HEADER_BYTES, b"\0")


def _write_records(path: Path, kind: FileKind, records: Records, second: bytes = b"") -> None:
    head = _head(kind, records.dtype.itemsize, len(records), second)
    write_whole(path, head + records.tobytes())


def samples_of(columns: Sequence[tuple[int, int, int | None, float]]) -> Records:
    """Samples of counters, from tick, counter, lane (None: of the process) and value."""
    samples = np.zeros(len(columns), layout.SAMPLE)
    for at, (tick, counter, lane, value) in enumerate(columns):
        samples[at] = (tick, counter, NO_LANE if lane is None else lane, value, 0)
    return samples

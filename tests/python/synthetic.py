"""Writes run directories byte by byte, from the description of the format and not with the readers' code.

A unit of time is one tick, and a tick is one nanosecond.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

NO = 0xFFFFFFFF
S = 1_000_000_000
EVENT = np.dtype("<u8,<u4,<u2,<u2,<u8,<u8")


def file_header(kind: int, record_bytes: int, capacity: int, written: int, dropped: int = 0) -> bytes:
    """The first 64 bytes of every file."""
    return struct.pack("<8sIIIIQQQ16x", b"TRIMTAB", 1, 4096, kind, record_bytes, capacity, written, dropped)


def page(*parts: bytes) -> bytes:
    """Padded to the 4096 bytes of a header."""
    return b"".join(parts).ljust(4096, b"\0")


def event(ticks: int, kind: int, subject: int, a: int = 0, b: int = 0, arg: int = 0) -> bytes:
    """One event."""
    return struct.pack("<QIHHQQ", ticks, subject, kind, arg, a, b)


def row(
    subject: int,
    what: int,
    total: int,
    *,
    about: int = 0,
    count: int = 1,
    flags: int = 0,
    x: tuple[int, int, int, int] = (0, 0, 0, 0),
    in_region: int = NO,
) -> bytes:
    """One profile row."""
    histogram = [0] * 42
    histogram[(total // max(count, 1)).bit_length()] = count
    each = total // max(count, 1)
    return struct.pack(
        "<IHHIIQQQQQ4Q42I",
        subject,
        what,
        flags,
        about,
        in_region,
        count,
        count,
        total,
        each,
        each,
        *x,
        *histogram,
    )


def _string_record(tag: int, fixed: bytes, *strings: str) -> bytes:
    body = fixed + b"".join(text.encode() + b"\0" for text in strings)
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", 8 + len(body), tag, 0) + body


def module(number: int, path: str, build_id: str = "") -> bytes:
    """A record of names.tt."""
    return _string_record(1, struct.pack("<IIQQ", number, 0, 0x1000, 0x9000), path, build_id)


def subject(
    number: int,
    kind: int = 1,
    name: str = "",
    *,
    offset: int = 0,
    where: int = NO,
    parent: int = NO,
    call: int = 0,
) -> bytes:
    """A record of names.tt."""
    fixed = struct.pack("<IHHIIQII", number, kind, 0, where, 0, offset, parent, call)
    return _string_record(2, fixed, name, "", "")


def counter(number: int, name: str, unit: str) -> bytes:
    """A record of names.tt."""
    return _string_record(3, struct.pack("<II", number, 1), name, unit, "test")


def unavailable(what: str, why: str, remedy: str) -> bytes:
    """A record of names.tt."""
    return _string_record(4, b"", what, why, remedy)


def runtime_of(number: int, name: str) -> bytes:
    """A record of names.tt: an OpenMP runtime."""
    return _string_record(5, struct.pack("<HHI", number, 0, 0), name, f"/lib/{name}.so", "")


def fact(key: str, value: str) -> bytes:
    """A record of names.tt."""
    return _string_record(6, b"", key, value)


def knob(number: int, on: int, name: str, key: str = "app+0x40", values: str = "") -> bytes:
    """A record of names.tt."""
    return _string_record(7, struct.pack("<II", number, on), name, key, values)


def policy(number: int, name: str) -> bytes:
    """A record of names.tt."""
    return _string_record(8, struct.pack("<H6x", number), name)


def decision(
    at_s: float,
    number: int,
    on: int,
    which: int,
    change: tuple[int, int],
    outcome: int,
    text: bytes = b"",
    gain: tuple[float, float, int] = (0.0, 0.0, 0),
    by: int = 1,
) -> bytes:
    """A record of decisions.tt."""
    return struct.pack(
        "<QQIIqqddIHH192s",
        int(at_s * S),
        number,
        on,
        which,
        *change,
        gain[0],
        gain[1],
        gain[2],
        outcome,
        by,
        text,
    )


@dataclass
class LaneFile:
    """What goes into the two files of a lane."""

    rows: list[bytes] = field(default_factory=list)
    events: list[bytes] = field(default_factory=list)
    run_s: float = 0.0
    delay_s: float = 0.0
    capacity: int | None = None
    written: int | None = None
    worker_of: int = 0


@dataclass
class ProcessFiles:
    """What goes into a process's directory. Times in seconds.

    `begin` is since the run began; `real_offset` is by how much the host's real-time clock is ahead of its monotonic one.
    """

    lanes: list[LaneFile] = field(default_factory=list)
    names: list[bytes] = field(default_factory=list)
    samples: list[tuple[float, int, float]] = field(default_factory=list)
    decisions: list[bytes] = field(default_factory=list)
    switches: list[bytes] = field(default_factory=list)
    pid: int = 100
    wall: float = 10.0
    parallel: float = 0.0
    setup: float = 0.0
    sampler: float = 0.0
    cpus: float = 4.0
    quota: float = 0.0
    user: float = 0.0
    ended: bool = True
    image: int = 0
    begin: float = 0.0
    real_offset: float = -5.0
    forked_from: int = 0
    state: int = 2
    command: bytes = b"./app\0-x\0"

    def write(self, run: Path) -> Path:
        """Below the run directory."""
        home = run / f"{self.pid}-{self.image}"
        home.mkdir(parents=True)
        end = int(self.wall * S)
        body = struct.pack(
            "<IIIIII" + "QQQd" + "QQQ" + "dIId" + "QQQQ" + "dQ" + "QQQQQ",
            *(self.pid, 1, 2, 2, self.state if self.ended else 1, len(self.lanes)),
            *(0, int((5 + self.begin) * S), int((5 + self.begin + self.real_offset) * S), 1.0),
            *(0, end, end if self.ended else 0),
            *(self.cpus, 4, 4, self.quota),
            *(int(self.parallel * S), 0, int(self.setup * S), int(self.sampler * S)),
            *(20.0, self.forked_from),
            *(int(self.user * S), 0, 7, 8, 1000),
        )
        (home / "process.tt").write_bytes(page(file_header(1, 0, 0, 0), body, self.command))
        names = b"".join(self.names)
        (home / "names.tt").write_bytes(page(file_header(2, 0, 8192, len(names))) + names.ljust(8192, b"\0"))
        if self.samples:
            content = b"".join(
                struct.pack("<QIIdQ", int(t * S), which, NO, value, 0) for t, which, value in self.samples
            )
            head = page(file_header(3, 32, len(self.samples), len(self.samples)))
            (home / "counters.tt").write_bytes(head + content)
        if self.decisions:
            head = page(file_header(7, 256, len(self.decisions), len(self.decisions)))
            (home / "decisions.tt").write_bytes(head + b"".join(self.decisions))
        if self.switches:
            head = page(file_header(6, 32, len(self.switches), len(self.switches)))
            (home / "switches.tt").write_bytes(head + b"".join(self.switches))
        for number, lane in enumerate(self.lanes):
            self._write_lane(home, number, lane)
        return home

    def _write_lane(self, home: Path, number: int, lane: LaneFile) -> None:
        head = struct.pack(
            "<IIQQII16sQQQQQQQQQII",
            *(number, self.pid + number, 0, 0, 1, int(number == 0), b"worker"),
            *(int(lane.run_s * S), int(lane.delay_s * S), 3, 4, 5, 6, 0, 0, 0),
            *(lane.worker_of, 0),
        )
        events, rows = b"".join(lane.events), b"".join(lane.rows)
        capacity = len(lane.events) if lane.capacity is None else lane.capacity
        written = len(lane.events) if lane.written is None else lane.written
        (home / f"lane-{number:04}.events").write_bytes(
            page(file_header(4, 32, capacity, written), head) + events.ljust(capacity * 32, b"\0")
        )
        (home / f"lane-{number:04}.profile").write_bytes(
            page(file_header(5, 256, len(lane.rows), len(lane.rows)), struct.pack("<I", number)) + rows
        )


def write_run(directory: Path, *processes: ProcessFiles, info: dict[str, Any] | None = None) -> Path:
    """A whole run directory."""
    directory.mkdir(parents=True, exist_ok=True)
    wall = max((each.wall for each in processes), default=1.0)
    (directory / "run.json").write_text(
        json.dumps(
            {
                "format": 1,
                "program": "./app",
                "argv": ["./app", "-x"],
                "level": "profile",
                "started_real_ns": 1,
                "ended": {"mono_ns": int((5 + wall) * S), "code": 0, "signal": None, "wall_s": wall},
                "machine": {},
                "unavailable": [],
                **(info or {}),
            }
        )
    )
    for each in processes:
        each.write(directory)
    return directory


def team_of(
    number: int,
    wall: float,
    work: list[float],
    *,
    calls: int = 1,
    arrival: float = 0.0,
    slowest: float | None = None,
    in_region: int = NO,
    forker: int = 0,
    lanes: list[int] | None = None,
) -> list[bytes]:
    """The rows that a forking lane has of a region whose lanes worked for `work` seconds, and waited else.

    `slowest`: sum over the calls of who worked longest, if that was not the same lane each time.
    """
    numbers = lanes if lanes is not None else list(range(len(work)))
    mean = sum(work) / len(work)
    rows = [
        row(
            number,
            1,
            int(wall * S),
            about=forker,
            count=calls,
            x=(
                calls * len(work),
                len(work),
                int((max(work) if slowest is None else slowest) * S),
                int(mean * S),
            ),
            in_region=in_region,
        )
    ]
    for lane, own in zip(numbers, work, strict=True):
        waited = wall - own - arrival
        x = (int(waited * S), int(arrival * S), 0, 0)
        rows.append(row(number, 2, int(own * S), about=lane, count=calls, x=x, in_region=in_region))
    return rows

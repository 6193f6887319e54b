"""Writes run directories record by record, as the schema lays them out; tests/golden holds the bytes themselves.

A unit of time is one tick, and a tick is one nanosecond.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from trimtab.model.enumerations import (
    ClockKind,
    FileKind,
    Metric,
    NameTag,
    ProcessState,
    RecordLevel,
    RegionFields,
    SubjectKind,
    TeamFields,
)
from trimtab.readers import layout

NO = 0xFFFFFFFF
S = 1_000_000_000


def packed(dtype: np.dtype[np.void], /, **fields: Any) -> bytes:
    """One record; fields that are not given are 0."""
    record = np.zeros(1, dtype)
    for name, value in fields.items():
        record[name] = value
    return record.tobytes()


def file_header(kind: FileKind, record_bytes: int, capacity: int, written: int, dropped: int = 0) -> bytes:
    """The first 64 bytes of every file."""
    return packed(
        layout.FILE_HEADER,
        magic=layout.MAGIC,
        version=layout.VERSION,
        header_size=layout.HEADER_BYTES,
        kind=kind,
        record_bytes=record_bytes,
        capacity=capacity,
        written=written,
        dropped=dropped,
    )


def page(*parts: bytes) -> bytes:
    """Padded to the bytes of a header."""
    return b"".join(parts).ljust(layout.HEADER_BYTES, b"\0")


def event(ticks: int, kind: int, subject: int, a: int = 0, b: int = 0, arg: int = 0) -> bytes:
    """One event."""
    return packed(layout.EVENT, ticks=ticks, subject=subject, kind=kind, arg=arg, a=a, b=b)


def fields(numbered: dict[Any, int]) -> tuple[int, int, int, int]:
    """The `x` of a row, from its fields by name; those that are not given are 0."""
    first, second, third, fourth = (numbered.get(at, 0) for at in range(4))
    return first, second, third, fourth


def row(
    subject: int,
    item_name: int,
    total: int,
    *,
    description: int = 0,
    count: int = 1,
    flags: int = 0,
    x: tuple[int, int, int, int] = (0, 0, 0, 0),
    in_region: int = NO,
) -> bytes:
    """One profile row."""
    entry = total // max(count, 1)
    histogram = np.zeros(layout.HISTOGRAM_BUCKETS, np.uint32)
    histogram[entry.bit_length()] = count
    return packed(
        layout.ROW,
        subject=subject,
        what=item_name,
        flags=flags,
        about=description,
        in_region=in_region,
        count=count,
        timed=count,
        sum=total,
        min=entry,
        max=entry,
        x=x,
        histogram=histogram,
    )


def _name(tag: NameTag, values: Sequence[int], *texts: str) -> bytes:
    """A record of names.tt: its fields without the reserved ones, and what follows them."""
    body = layout.NAME_LAYOUTS[tag].fields.pack(*values)[layout.NAME_HEAD.size :]
    body += b"".join(text.encode() + b"\0" for text in texts)
    body += bytes(-len(body) % 8)
    return layout.NAME_HEAD.pack(layout.NAME_HEAD.size + len(body), tag) + body


def module(number: int, path: str, build_id: str = "") -> bytes:
    """A record of names.tt."""
    return _name(NameTag.MODULE, layout.NameModule(number, base=0x1000, end=0x9000), path, build_id)


def subject(
    number: int,
    kind: int = SubjectKind.REGION,
    name: str = "",
    *,
    offset: int = 0,
    module_number: int = NO,
    parent: int = NO,
    call: int = 0,
) -> bytes:
    """A record of names.tt."""
    result = layout.NameSubject(
        number, kind, runtime=0, module=module_number, line=0, offset=offset, parent=parent, is_call=call
    )
    return _name(NameTag.SUBJECT, result, name, "", "")


def counter(number: int, name: str, unit: str) -> bytes:
    """A record of names.tt."""
    return _name(NameTag.COUNTER, layout.NameCounter(number, is_cumulative=1), name, unit, "test")


def unavailable(item_name: str, reason: str, remedy: str) -> bytes:
    """A record of names.tt."""
    return _name(NameTag.UNAVAILABLE, (), item_name, reason, remedy)


def early_sample(at_s: float, number: int, value: float) -> bytes:
    """A record of names.tt: a sample of a process without a counters.tt."""
    return _name(NameTag.SAMPLE, layout.NameSample(int(at_s * S), number, NO, value))  # type: ignore[arg-type]


def runtime_of(number: int, name: str) -> bytes:
    """A record of names.tt: an OpenMP runtime."""
    return _name(NameTag.RUNTIME, layout.NameRuntime(number), name, f"/lib/{name}.so", "")


def fact(key: str, value: str) -> bytes:
    """A record of names.tt."""
    return _name(NameTag.FACT, (), key, value)


def knob(number: int, subject_number: int, name: str, key: str = "app+0x40", values: str = "") -> bytes:
    """A record of names.tt."""
    return _name(NameTag.KNOB, layout.NameKnob(number, subject_number), name, key, values)


def policy(number: int, name: str) -> bytes:
    """A record of names.tt."""
    return _name(NameTag.POLICY, layout.NamePolicy(number), name)


def decision(
    at_s: float,
    number: int,
    subject_number: int,
    knob_number: int,
    change: tuple[int, int],
    outcome: int,
    text: bytes = b"",
    gain: tuple[float, float, int] = (0.0, 0.0, 0),
    policy_number: int = 1,
) -> bytes:
    """A record of decisions.tt."""
    of_value = {"from": change[0], "to": change[1]}
    of_gain = {"gain": gain[0], "uncertainty": gain[1], "pairs": gain[2]}
    return packed(
        layout.DECISION,
        ticks=int(at_s * S),
        number=number,
        subject=subject_number,
        knob=knob_number,
        **of_value,
        **of_gain,
        outcome=outcome,
        policy=policy_number,
        text=text,
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
    dropped: int = 0
    worker_of: int = 0
    head: dict[str, Any] = field(default_factory=dict)
    """Other fields of the lane's header."""


@dataclass
class ProcessFiles:
    """What goes into a process's directory. Times in seconds.

    `begin` is since the run began; `real_offset` is by how much the host's real-time clock is ahead of its monotonic one.
    """

    lanes: list[LaneFile] = field(default_factory=list)
    names: list[bytes] = field(default_factory=list)
    samples: list[tuple[float, int, float] | tuple[float, int, float, int]] = field(default_factory=list)
    """Time, number of the counter, value, and lane, if it is a lane's."""
    decisions: list[bytes] = field(default_factory=list)
    switches: list[bytes] = field(default_factory=list)
    pid: int = 100
    ppid: int = 1
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
    level: int = RecordLevel.PROFILE
    command: bytes = b"./app\0-x\0"

    def _header(self) -> bytes:
        end = int(self.wall * S)
        return packed(
            layout.PROCESS_HEADER,
            pid=self.pid,
            ppid=self.ppid,
            clock=ClockKind.MONOTONIC,
            level=self.level,
            state=self.state if self.ended else ProcessState.RUNNING,
            lanes=len(self.lanes),
            mono_ns_0=int((5 + self.begin) * S),
            real_ns_0=int((5 + self.begin + self.real_offset) * S),
            ns_per_tick=1.0,
            last_ticks=end,
            end_ticks=end if self.ended else 0,
            cpus_available=self.cpus,
            cpus_affinity=4,
            cpus_online=4,
            cpus_quota=self.quota,
            parallel_ticks=int(self.parallel * S),
            setup_ticks=int(self.setup * S),
            sampler_cpu_ns=int(self.sampler * S),
            clock_read_ns=20.0,
            forked_from=self.forked_from,
            user_ns=int(self.user * S),
            voluntary_switches=7,
            involuntary_switches=8,
            max_rss_kb=1000,
            command=self.command,
        )

    def listed_page(self) -> bytes:
        """What a list of processes has of it, where it has no folder."""
        body, names = self._header(), b"".join(self.names)
        room = layout.HEADER_BYTES - layout.FILE_HEADER.itemsize - len(body)
        return page(file_header(FileKind.PROCESS, 0, room, len(names)), body, names)

    def write(self, run: Path) -> Path:
        """Below the run directory."""
        home = run / f"{self.pid}-{self.image}"
        home.mkdir(parents=True)
        (home / "process.tt").write_bytes(page(file_header(FileKind.PROCESS, 0, 0, 0), self._header()))
        names = b"".join(self.names)
        (home / "names.tt").write_bytes(
            page(file_header(FileKind.NAMES, 0, 8192, len(names))) + names.ljust(8192, b"\0")
        )
        samples = [
            packed(layout.SAMPLE, ticks=int(t * S), counter=chosen, lane=(*lane, NO)[0], value=value)
            for t, chosen, value, *lane in self.samples
        ]
        _write_records(home / "counters.tt", FileKind.COUNTERS, samples)
        _write_records(home / "decisions.tt", FileKind.DECISIONS, self.decisions)
        _write_records(home / "switches.tt", FileKind.SWITCHES, self.switches)
        for number, lane in enumerate(self.lanes):
            self._write_lane(home, number, lane)
        return home

    def _write_lane(self, home: Path, number: int, lane: LaneFile) -> None:
        head = packed(
            layout.LANE_HEADER,
            lane=number,
            tid=self.pid + number,
            threads=1,
            is_main=int(number == 0),
            name=b"worker",
            run_ns=int(lane.run_s * S),
            run_delay_ns=int(lane.delay_s * S),
            time_slices=3,
            voluntary_switches=4,
            involuntary_switches=5,
            migrations=6,
            worker_of=lane.worker_of,
            **lane.head,
        )
        events, rows = b"".join(lane.events), b"".join(lane.rows)
        capacity = len(lane.events) if lane.capacity is None else lane.capacity
        written = len(lane.events) if lane.written is None else lane.written
        size = layout.EVENT.itemsize
        (home / f"lane-{number:04}.events").write_bytes(
            page(file_header(FileKind.EVENTS, size, capacity, written, lane.dropped), head)
            + events.ljust(capacity * size, b"\0")
        )
        of_rows = file_header(FileKind.PROFILE, layout.ROW.itemsize, len(lane.rows), len(lane.rows))
        only_number = packed(layout.LANE_HEADER, lane=number)
        (home / f"lane-{number:04}.profile").write_bytes(page(of_rows, only_number) + rows)


def _write_records(path: Path, kind: FileKind, records: list[bytes]) -> None:
    """A file of records of one size; none without any."""
    if records:
        head = file_header(kind, len(records[0]), len(records), len(records))
        path.write_bytes(page(head) + b"".join(records))


def write_run(directory: Path, *processes: ProcessFiles, info: dict[str, Any] | None = None) -> Path:
    """A whole run directory."""
    directory.mkdir(parents=True, exist_ok=True)
    wall = max((process.wall for process in processes), default=1.0)
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
    for process in processes:
        process.write(directory)
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
            Metric.REGION,
            int(wall * S),
            description=forker,
            count=calls,
            x=fields(
                {
                    RegionFields.THREADS: calls * len(work),
                    RegionFields.MOST_THREADS: len(work),
                    RegionFields.SLOWEST_WORK: int((max(work) if slowest is None else slowest) * S),
                    RegionFields.MEAN_WORK: int(mean * S),
                }
            ),
            in_region=in_region,
        )
    ]
    for lane, own_value in zip(numbers, work, strict=True):
        waited = wall - own_value - arrival
        x = fields({TeamFields.JOIN_WAIT: int(waited * S), TeamFields.ARRIVAL: int(arrival * S)})
        rows.append(
            row(
                number,
                Metric.TEAM,
                int(own_value * S),
                description=lane,
                count=calls,
                x=x,
                in_region=in_region,
            )
        )
    return rows


@dataclass
class SchedulerFiles:
    """What goes into a folder of the scheduler's records. Each entry has the fields of a record; others are 0.

    Numbers of threads in charges, delays and events begin at 1.
    """

    threads: list[dict[str, Any]] = field(default_factory=list)
    charges: list[dict[str, Any]] = field(default_factory=list)
    delays: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    host: str = "node0"
    head: dict[str, Any] = field(default_factory=dict)
    """Other fields of the header."""

    def write(self, run: Path) -> Path:
        """Below the run directory, or the folder of a rank."""
        home = run / f"{self.host}.scheduler"
        home.mkdir(parents=True)
        head = {
            **{"begin_ns": 5 * S, "end_ns": 15 * S, "is_ended": 1, "cpus": 4, "host": self.host.encode()},
            **{"busy_ns": 8 * S, "idle_ns": 32 * S, "events": 100, "recorder_cpu_ns": S // 100},
            **self.head,
        }
        for name, kind, dtype, second in (
            (
                "threads",
                FileKind.SCHEDULER_THREADS,
                layout.SCHEDULER_THREAD,
                packed(layout.SCHEDULER_HEADER, **head),
            ),
            ("charges", FileKind.SCHEDULER_CHARGES, layout.SCHEDULER_CHARGE, b""),
            ("delays", FileKind.SCHEDULER_DELAYS, layout.SCHEDULER_DELAY, b""),
            ("events", FileKind.SCHEDULER_EVENTS, layout.SCHEDULER_EVENT, b""),
        ):
            rows = [packed(dtype, **row) for row in getattr(self, name)]
            if rows or name != "events":
                first = file_header(kind, dtype.itemsize, len(rows), len(rows))
                (home / f"{name}.tt").write_bytes(page(first, second) + b"".join(rows))
        return home

"""What Trimtab's recorders would have written of a simulated process: events in order, profile rows, context switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from synthetic import LaneFile, ProcessFiles, fact, packed, subject, write_run
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import EventKind, RecordLevel, SubjectKind
from trimtab.readers import layout

_NS = 1e-9
# Identity of a profile row: subject, metric, lane that it speaks of, enclosing region, flags.
RowKey = tuple[int, int, int, int, int]


@dataclass
class RowSums:
    """What a profile row has added up."""

    count: int = 0
    total: int = 0
    least: int = 1 << 62
    most: int = 0
    x: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    histogram: list[int] = field(default_factory=lambda: [0] * layout.HISTOGRAM_BUCKETS)

    def add(self, ticks: int) -> None:
        """One occurrence."""
        self.count += 1
        self.total += ticks
        self.least, self.most = min(self.least, ticks), max(self.most, ticks)
        self.histogram[min(ticks.bit_length(), layout.HISTOGRAM_BUCKETS - 1)] += 1


class LaneRecorder:
    """The two files of a lane, and its context switches."""

    def __init__(self, lane: int) -> None:
        self.lane = lane
        self.events: list[tuple[int, int, int, int, int, int]] = []
        self.rows: dict[RowKey, RowSums] = {}
        self.switches: list[tuple[int, int, int]] = []
        self.run_ns = 0
        self.delay_ns = 0
        self.head: dict[str, Any] = {}
        self.worker_of = 0

    def event(self, at: int, kind: EventKind, subject: int, a: int = 0, b: int = 0, arg: int = 0) -> None:
        """Written now; `at` is earlier only for events that say when something began."""
        self.events.append((at, subject, kind, arg, a, b))

    def row(
        self, metric: int, subject: int, *, about: int = 0, region: int = NO_SUBJECT, flags: int = 0
    ) -> RowSums:
        """The row of that identity."""
        key = (subject, metric, about, region, flags)
        if key not in self.rows:
            self.rows[key] = RowSums()
        return self.rows[key]

    def off_cpu(self, begin: int, end: int, is_preempted: bool) -> None:
        """The lane had no CPU: it lost it, or slept."""
        if end <= begin:
            return
        self.switches.append((begin, EventKind.SWITCH_OUT, int(is_preempted)))
        self.switches.append((end, EventKind.SWITCH_IN, 0))
        if is_preempted:
            self.delay_ns += end - begin

    def file(self) -> LaneFile:
        """As `write_run` takes it."""
        table = np.array(
            self.events, [(name, np.uint64) for name in ("ticks", "subject", "kind", "arg", "a", "b")]
        )
        events = np.zeros(len(table), layout.EVENT)
        for name in table.dtype.names or ():
            events[name] = table[name]
        return LaneFile(
            rows=[_packed_row(key, sums) for key, sums in self.rows.items()],
            events=[events.tobytes()],
            run_s=self.run_ns * _NS,
            delay_s=self.delay_ns * _NS,
            capacity=len(events),
            written=len(events),
            worker_of=self.worker_of,
            head=self.head,
        )


def _packed_row(key: RowKey, sums: RowSums) -> bytes:
    number, metric, about, region, flags = key
    return packed(
        layout.ROW,
        subject=number,
        what=metric,
        flags=flags,
        about=about,
        in_region=region,
        count=sums.count,
        timed=sums.count,
        sum=sums.total,
        min=min(sums.least, sums.most),
        max=sums.most,
        x=sums.x,
        histogram=sums.histogram,
    )


@dataclass(frozen=True)
class SubjectName:
    """A subject of the run, as names.tt has it."""

    number: int
    kind: SubjectKind
    name: str
    parent: int = NO_SUBJECT


@dataclass
class Recording:
    """A simulated process.

    Attributes:
        makespan_ns: from its begin to its end.
        parallel_ns: while a region was under way, or a worker ran tasks.
    """

    lanes: list[LaneRecorder]
    subjects: Sequence[SubjectName]
    makespan_ns: int
    parallel_ns: int
    cpus: int
    facts: dict[str, str] = field(default_factory=dict)
    pid: int = 100

    def files(self) -> ProcessFiles:
        """As `write_run` takes it."""
        names = [
            subject(each.number, kind=each.kind, name=each.name, parent=each.parent) for each in self.subjects
        ]
        facts = {"cpus": f"0-{self.cpus - 1}", **self.facts}
        return ProcessFiles(
            [lane.file() for lane in self.lanes],
            [*names, *(fact(key, value) for key, value in facts.items())],
            switches=_switches(self.lanes),
            pid=self.pid,
            wall=self.makespan_ns * _NS,
            parallel=self.parallel_ns * _NS,
            cpus=float(self.cpus),
            user=sum(lane.run_ns for lane in self.lanes) * _NS,
            level=RecordLevel.TRACE,
        )

    def write(self, folder: Path) -> Path:
        """A run directory with this process alone."""
        return write_run(folder, self.files())


def _switches(lanes: Sequence[LaneRecorder]) -> list[bytes]:
    records = sorted((at, kind, lane.lane, arg) for lane in lanes for at, kind, arg in lane.switches)
    return [
        packed(layout.EVENT, ticks=at, subject=NO_SUBJECT, kind=kind, arg=arg, a=lane, b=lane)
        for at, kind, lane, arg in records
    ]

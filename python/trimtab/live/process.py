"""One observed process while it runs: its files, read in parts, and what changed from one look to the next."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.analysis.decisions import decisions
from trimtab.analysis.regions import Places
from trimtab.live.knobs import KnobFile, knob_files
from trimtab.live.lane_files import LaneFiles
from trimtab.live.listed import ListedFile
from trimtab.live.mapped import LiveFile
from trimtab.live.model import CounterLook, DecisionLook, KnobLook, LaneLook, ProcessLook, SubjectLook
from trimtab.live.rows import Structure
from trimtab.live.states import Moment, lane_looks
from trimtab.live.targets import Life
from trimtab.model import NO_LANE, Process, Records, RunError
from trimtab.model.enumerations import EventKind, Metric, ProcessState
from trimtab.readers import layout
from trimtab.readers.listed import ListedPage
from trimtab.readers.names import Names, add_names
from trimtab.symbols import Place, Symbols, label
from trimtab.text.decisions import decision_line

_ENDS: dict[int, str] = {ProcessState.EXITED: "ended", ProcessState.REPLACED: "replaced"}
_KINDS = {
    Metric.REGION: "region",
    Metric.TASK: "task",
    Metric.SCOPE: "scope",
    Metric.LOOP: "loop",
    Metric.LOCK: "lock",
}
# Switches are read this far back at most: they may be many.
_MOST_SWITCHES = 1 << 15
_MOST_SAMPLES = 1 << 15


@dataclass(frozen=True)
class ProcessChanges:
    """What a look at a process gives."""

    process: ProcessLook
    lanes: list[LaneLook]
    subjects: list[SubjectLook]
    counters: list[CounterLook]
    knobs: list[KnobLook]
    decisions: list[DecisionLook]


class LiveProcess:
    """A process of a run.

    Attributes:
        is_over: it has ended, or was killed: its last look has been.
        is_listed: it has no folder yet, only a page in its run's list.
    """

    def __init__(self, folder: Path, symbols: Symbols, run: Path, page: ListedPage | None = None) -> None:
        self.folder = folder
        self.id = folder.relative_to(run).as_posix()
        self.is_over = False
        self._symbols = symbols
        self._process: LiveFile = LiveFile(folder / "process.tt", "process")
        self._names_file: LiveFile = LiveFile(folder / "names.tt", "names")
        self.is_listed = page is not None
        if page is not None:
            self._process, self._names_file = ListedFile(page, "process"), ListedFile(page, "names")
        self._counters = LiveFile(folder / "counters.tt", "counters")
        self._switches = LiveFile(folder / "switches.tt", "switches")
        self._decisions = LiveFile(folder / "decisions.tt", "decisions")
        self._knob_files: list[KnobFile] = []
        self._listed = -1  # when the folder had changed last
        self._has_new_files = True  # since the look before
        self._life: Life | None = None
        self._names = Names()
        self._names_read = self._decisions_read = self._samples_read = self._switches_read = 0
        self._lanes = LaneFiles(folder)
        self._structure: Structure | None = None
        self._structure_of = b""
        self._labels: dict[int, str] = {}
        self._model: Process | None = None
        self._before: Moment | None = None
        self._latest: dict[int, tuple[float, float]] = {}  # counter: ticks, value
        self._rates: dict[int, float] = {}
        self._switched: dict[int, tuple[bool, bool, int]] = {}

    def begin(self) -> bool:
        """Find its files; False: they are not complete yet.

        Raises:
            RunError: they are damaged.
        """
        if not (self._process.look() and self._names_file.look()):
            return False
        self._head = self._process.second_header(layout.PROCESS_HEADER)
        per_tick = float(self._head["ns_per_tick"])
        if not 1e-3 <= per_tick <= 1e6:
            raise RunError(
                f"{self._process.path}: expected ns_per_tick from 0.001 to 1e+06, found {per_tick:g}"
            )
        self._read_names()
        self._command = " ".join(
            part.decode("utf-8", "replace")
            for part in bytes(self._head["command"]).rstrip(b"\0").split(b"\0")
        )
        return True

    @property
    def pid(self) -> int:
        """As the process sees itself."""
        return int(self._head["pid"])

    @property
    def host(self) -> str:
        """The name of its host; empty: not known."""
        return self._names.facts.get("host", "")

    @property
    def knob_files(self) -> Sequence[KnobFile]:
        """Its knobs that can be turned."""
        return self._knob_files

    def look(self) -> ProcessChanges:
        """What it does now, and did since the look before.

        Raises:
            RunError: a file is damaged, or was cut off.
        """
        self._process.look()
        if self.is_listed:
            self._head = self._process.second_header(layout.PROCESS_HEADER)
        state = self._state()
        self.is_over = state != "running"
        self._read_names()
        changed_at = 0 if self.is_listed else os.stat(self.folder).st_mtime_ns
        self._has_new_files, self._listed = changed_at != self._listed, changed_at
        moment = self._moment()
        before, self._before = self._before, moment
        interval = moment.interval_since(before)
        knobs = self._read_knobs()
        lanes = [] if self.is_over else lane_looks(self.id, moment, before, self.label_of)
        counters = self._read_counters()
        busy = sum(lane.shares.busy for lane in lanes if lane.shares) if interval else None
        process = ProcessLook(
            self.id,
            self.pid,
            self._names.facts.get("host", ""),
            self._rank(),
            self._command,
            state,
            max(moment.now - int(self._head["start_ticks"]), 0) * self._tick_s,
            float(self._head["cpus_available"]),
            busy,
            any(knob.is_settable for knob in knobs),
        )
        return ProcessChanges(
            process,
            lanes,
            self._subjects(moment, before, interval),
            counters,
            knobs,
            self._read_decisions(),
        )

    def label_of(self, subject: int) -> str:
        """A subject as people know it."""
        known = self._labels.get(subject)
        if known is not None:
            return known
        named = self._names.subjects.get(subject)
        if named is None:
            return f"subject {subject}"
        process = self._as_model()
        self._labels[subject] = found = label(process, named, self._symbols.place(process, named))
        return found

    @property
    def _tick_s(self) -> float:
        return float(self._head["ns_per_tick"]) * 1e-9

    def _rank(self) -> int | None:
        rank = self._names.facts.get("rank", "")
        return int(rank) if rank.isdecimal() and len(rank) < 10 else None

    def _state(self) -> str:
        ended = _ENDS.get(int(self._head["state"]))
        if ended is not None:
            return ended
        # Its number may be another process's by now.
        if self._life is None:
            self._life = Life(self.pid, self._names.facts.get("process start"))
        return "running" if self._life.is_running() else "killed"

    def _now(self) -> int:
        """Now, in ticks; of a process that has ended, its end; of one that was killed, when it was last known to live."""
        if end := int(self._head["end_ticks"]):
            return end
        if self.is_over:
            return int(self._head["last_ticks"])
        since_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - int(self._head["mono_ns_0"])
        return int(self._head["ticks_0"]) + int(since_ns / float(self._head["ns_per_tick"]))

    def _read_names(self) -> None:
        file = self._names_file
        file.look()
        if file.written <= self._names_read:
            return
        add_names(self._names, file.content(self._names_read, file.written), file.path, self._names_read)
        self._names_read = file.written
        self._model = None

    def _as_model(self) -> Process:
        if self._model is None:
            names = self._names
            nothing = np.zeros(0, layout.SAMPLE)
            self._model = Process(
                self.folder,
                layout_header(self._head),
                tuple(names.modules.values()),
                names.subjects,
                names.counters,
                names.runtimes,
                (),
                names.facts,
                (),
                nothing,
                nothing,
                (),
                names.knobs,
                names.policies,
            )
        return self._model

    def _moment(self) -> Moment:
        lanes = self._lanes
        lanes.find(int(self._head["lanes"]))
        lanes.look()
        now = self._now()
        lanes.read_tails()
        written = lanes.rows_written
        if self._structure is None or written != self._structure_of:
            self._structure = Structure(lanes.tables(), len(lanes))
            self._structure_of = written
        totals = self._structure.totals(float(now))
        self._read_switches()
        return Moment(
            now,
            self._tick_s,
            lanes.headers,
            lanes.tails,
            totals,
            self._structure.subjects,
            dict(self._switched),
        )

    def _read_switches(self) -> None:
        for event in self._new(self._switches, "_switches_read", _MOST_SWITCHES, is_latest_by="b"):
            is_out = event["kind"] == EventKind.SWITCH_OUT
            self._switched[int(event["b"])] = (bool(is_out), bool(event["arg"]), int(event["ticks"]))

    def _new(self, file: LiveFile, mark: str, most: int, is_latest_by: str = "") -> Records:
        """Records since the last time; with `is_latest_by` the last one of each value of this field."""
        nothing = np.zeros(0, layout.EVENT)
        if file.is_missing and not self._has_new_files:
            return nothing
        if not file.look() or file.written == getattr(self, mark):
            return nothing
        begin = max(getattr(self, mark), file.written - most)
        records = file.records(begin, file.written)
        setattr(self, mark, file.written)
        if is_latest_by and len(records):
            _, at = np.unique(records[is_latest_by][::-1], return_index=True)
            return records[len(records) - 1 - at]
        return records

    def _subjects(self, moment: Moment, before: Moment | None, interval: float | None) -> list[SubjectLook]:
        if before is None or not interval:
            return []
        at = {key: place for place, key in enumerate(before.subjects)}
        found = []
        for place, (metric, subject) in enumerate(moment.subjects):
            old = at.get((metric, subject))
            ticks = moment.totals.subject_ticks[place] - (
                0 if old is None else before.totals.subject_ticks[old]
            )
            count = moment.totals.subject_counts[place] - (
                0 if old is None else before.totals.subject_counts[old]
            )
            if count <= 0 and ticks <= 0:
                continue
            found.append(
                SubjectLook(
                    self.id,
                    _KINDS[Metric(metric)],
                    self.label_of(subject),
                    round(max(float(ticks), 0.0) * self._tick_s / interval, 6),
                    round(max(float(count), 0.0) / interval, 3),
                )
            )
        return found

    def _read_counters(self) -> list[CounterLook]:
        samples = self._new(self._counters, "_samples_read", _MOST_SAMPLES)
        # Those of lanes are in the lanes' states.
        samples = samples[samples["lane"] == NO_LANE] if len(samples) else samples
        if len(samples):
            numbers, at = np.unique(samples["counter"][::-1], return_index=True)
            for number, record in zip(numbers.tolist(), samples[len(samples) - 1 - at], strict=True):
                ticks, value = float(record["ticks"]), float(record["value"])
                before = self._latest.get(number)
                if before is not None and ticks > before[0]:
                    self._rates[number] = (value - before[1]) / ((ticks - before[0]) * self._tick_s)
                self._latest[number] = (ticks, value)
        looks = []
        for number, (_, value) in self._latest.items():
            counter = self._names.counters.get(number)
            if counter is not None and np.isfinite(value):
                rate = self._rates.get(number) if counter.is_cumulative else None
                looks.append(CounterLook(self.id, counter.name, counter.unit, value, rate))
        return looks

    def _read_decisions(self) -> list[DecisionLook]:
        records = self._new(self._decisions, "_decisions_read", _MOST_SAMPLES)
        if not len(records):
            return []
        process = replace(self._as_model(), decisions=np.array(records))
        places = Places()
        for subject in {int(record["subject"]) for record in records}:
            places[subject] = (self.label_of(subject), Place())
        return [
            DecisionLook(self.id, decision.number, decision.time_s, decision_line(decision))
            for decision in decisions(process, self.id, places)
        ]

    def _read_knobs(self) -> list[KnobLook]:
        # Listing the folder of a process with many lanes takes longer than all else.
        if self._has_new_files:
            known = {file.path.name for file in self._knob_files}
            self._knob_files += [KnobFile(path) for path in knob_files(self.folder) if path.name not in known]
        return [
            knob
            for file in self._knob_files
            for knob in file.look(self.id, self._names.knobs, self.label_of, not self.is_over)
        ]


def layout_header(head: Any) -> dict[str, Any]:
    """The process's header as a report has it."""
    return {name: head[name].item() for name in head.dtype.names if name != "command"}

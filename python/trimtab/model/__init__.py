"""What a run is: plain frozen data that readers return and analysis reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from trimtab.model.enumerations import CAUSES as CAUSES
from trimtab.model.enumerations import LANE_KINDS as LANE_KINDS
from trimtab.model.enumerations import NO_LANE as NO_LANE
from trimtab.model.enumerations import NO_SUBJECT as NO_SUBJECT
from trimtab.model.enumerations import OUTCOMES as OUTCOMES
from trimtab.model.enumerations import SCHEDULES as SCHEDULES
from trimtab.model.enumerations import SUBJECT_KINDS as SUBJECT_KINDS
from trimtab.model.enumerations import UNKNOWN as UNKNOWN
from trimtab.model.enumerations import WAITS as WAITS
from trimtab.model.enumerations import WORKER_STATES as WORKER_STATES
from trimtab.model.enumerations import LaneKind, Metric, Outcome, RegionFlags, Schedule, TaskFlags, WaitKind
from trimtab.model.report import Unavailable as Unavailable
from trimtab.model.scheduler import SchedulerRecording as SchedulerRecording

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Constants in short for what analysis asks for most.
METRICS = {metric.name.lower(): int(metric) for metric in Metric}
STATIC_INFERRED = int(Schedule.STATIC_INFERRED)
STATIC_SCHEDULES = (int(Schedule.STATIC), int(Schedule.STATIC_CHUNKED), STATIC_INFERRED)
ROWS_UNTIMED = int(RegionFlags.UNTIMED)
ROWS_SAMPLE = int(RegionFlags.SAMPLE)
TASKS_COUNTED = int(TaskFlags.COUNTED)
TASKS_INCLUSIVE = int(TaskFlags.INCLUSIVE)
TASKS_SAMPLED = int(TaskFlags.SAMPLED)
WAIT_REDUCTION = int(WaitKind.REDUCTION)
# Outcomes that changed what the program runs with: not trials, nor their ends without a result.
LASTING = (OUTCOMES[Outcome.KEPT], OUTCOMES[Outcome.SET])
_RANK_DIGITS = 10

Records: TypeAlias = "NDArray[np.void]"


class RunError(Exception):
    """A run that cannot be read: says the file, the place, what was expected and what was found."""


@dataclass(frozen=True)
class Module:
    """A loaded object: addresses in the process minus `base` are addresses in the file."""

    id: int
    path: str
    build_id: str
    base: int
    end: int


@dataclass(frozen=True)
class Subject:
    """A named kind of work."""

    id: int
    kind: str
    runtime: int
    module: int | None
    offset: int
    is_call: bool
    parent: int | None
    name: str
    file: str
    function: str
    line: int


@dataclass(frozen=True)
class Counter:
    """A named figure over time."""

    id: int
    name: str
    unit: str
    source: str
    is_cumulative: bool


@dataclass(frozen=True)
class Knob:
    """A named value of a subject that can be changed while the program runs.

    `key` names the subject the same in every run of the same build; `names` are of the values 0, 1, ...
    """

    id: int
    subject: int | None
    name: str
    key: str
    names: tuple[str, ...]

    def text_of(self, value: int) -> str:
        """A value as people read it."""
        return self.names[value] if 0 <= value < len(self.names) else str(value)


# `what` of Missing.TUNING; the region's name follows.
TUNING_OF = "tuning of "


@dataclass(frozen=True)
class Lane:
    """One lane: its header's fields, its profile rows, its events (oldest first)."""

    id: int
    header: dict[str, Any]
    rows: Records
    events: Records
    events_written: int
    events_dropped: int
    rows_dropped: int

    @property
    def kind(self) -> str:
        """What it stands for."""
        number = int(self.header["kind"])
        return LANE_KINDS.get(number, f"kind {number}")

    @property
    def is_thread(self) -> bool:
        """Whether threads of the process have it: others have no times of a thread."""
        return bool(self.header["kind"] == LaneKind.THREAD)

    @property
    def name(self) -> str:
        """What the program calls it, or the name of its thread; empty: nothing is known."""
        return str(self.header["title"] or self.header["name"])


@dataclass(frozen=True)
class Process:
    """One process image of a run. Times in ticks unless the name says otherwise."""

    directory: Path
    header: dict[str, Any]
    modules: tuple[Module, ...]
    subjects: dict[int, Subject]
    counters: dict[int, Counter]
    runtimes: dict[int, tuple[str, str]]
    unavailable: tuple[Unavailable, ...]
    facts: dict[str, str]
    lanes: tuple[Lane, ...]
    samples: Records
    switches: Records
    command: tuple[str, ...] = field(default=())
    knobs: dict[int, Knob] = field(default_factory=dict)
    policies: dict[int, str] = field(default_factory=dict)
    decisions: Records | None = None
    storage: Records | None = None

    @cached_property
    def modules_by_id(self) -> dict[int | None, Module]:
        """Those of `modules`, of which a run may have very many."""
        return {module.id: module for module in self.modules}

    @property
    def pid(self) -> int:
        """The number that the system gave it."""
        return int(self.directory.name.rsplit("-", 2)[-2])

    @property
    def image(self) -> int:
        """Its place among the images with this number on this host: after exec, or of processes one after another."""
        return int(self.directory.name.rsplit("-", 1)[-1])

    @property
    def host(self) -> str:
        """The host that it ran on; empty: not known."""
        return self.facts.get("host", "")

    @property
    def rank(self) -> int | None:
        """Its rank in the job; None: it has none."""
        rank = self.facts.get("rank", "")
        return int(rank) if rank.isdecimal() and len(rank) <= _RANK_DIGITS else None

    @property
    def same_process(self) -> tuple[str, int, str]:
        """Equal for the images of one process, before and after exec; a process that got the number later has another."""
        return self.host, self.pid, self.facts.get("process start", "")

    @property
    def tick_s(self) -> float:
        """Length of a tick, seconds."""
        return self.ns_per_tick * 1e-9

    @property
    def ns_per_tick(self) -> float:
        """Nanoseconds of one tick."""
        return float(self.header["ns_per_tick"])


@dataclass(frozen=True)
class Run:
    """One observed execution.

    Attributes:
        left_out: processes that could not be read, each with what is wrong with it.
        schedulers: what the operating system's scheduler did, one for each recorded host (`--kernel`).
        schedulers_left_out: the same as `left_out`, of records of the scheduler.
        lead_ns: by how much a report of it begins before the first process does.
    """

    directory: Path
    info: dict[str, Any]
    processes: tuple[Process, ...]
    left_out: tuple[Unavailable, ...] = ()
    schedulers: tuple[SchedulerRecording, ...] = ()
    schedulers_left_out: tuple[Unavailable, ...] = ()
    lead_ns: int = 0

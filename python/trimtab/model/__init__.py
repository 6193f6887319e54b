"""What a run is: plain frozen data that readers return and analysis reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RANK_DIGITS = 10
NO_LANE = 0xFFFFFFFF
NO_SUBJECT = 0xFFFFFFFF
UNKNOWN = 0xFFFFFFFFFFFFFFFF

SUBJECT_KINDS = {
    1: "region",
    2: "loop",
    3: "barrier",
    4: "critical",
    5: "single",
    6: "sections",
    7: "task",
    8: "taskwait",
    9: "taskloop",
    10: "ordered",
    11: "lock",
    12: "scope",
    13: "mark",
    14: "teams",
    15: "workers",
}
SCHEDULES = {
    0: None,
    1: "static",
    2: "static",
    3: "dynamic",
    4: "guided",
    5: "runtime",
    6: "auto",
    7: "static (inferred)",
    8: "sections",
    9: "distribute",
}
STATIC_INFERRED = 7  # such loops are only counted
STATIC_SCHEDULES = (1, 2, STATIC_INFERRED)
METRICS = {
    "region": 1,
    "team": 2,
    "loop": 3,
    "wait": 4,
    "lock": 5,
    "task": 6,
    "scope": 7,
    "single": 8,
    "worker": 9,
    "suspended": 10,
}
# Flags of rows of metrics region and team.
ROWS_UNTIMED = 1
ROWS_SAMPLE = 2
# Flags of rows of metric task.
TASKS_COUNTED = 1
TASKS_INCLUSIVE = 2
TASKS_SAMPLED = 4
# What the worker of a task runtime does.
WORKER_STATES = {0: "none", 1: "runs", 2: "looks", 3: "idle", 4: "capped"}
# What a task waits for, or what one task gives another.
CAUSES = {
    0: "other",
    1: "future",
    2: "slot",
    3: "mutex",
    4: "condition",
    5: "semaphore",
    6: "latch",
    7: "barrier",
    8: "channel",
    9: "children",
    10: "time",
}
# What became of a change of a knob.
OUTCOMES = {1: "trial", 2: "kept", 3: "undone", 4: "set"}
# Those that changed what the program runs with: not trials, nor their ends without a result.
LASTING = ("kept", "set")
WAITS = {
    1: "join",
    2: "barrier",
    3: "critical",
    4: "ordered",
    5: "single",
    6: "taskwait",
    7: "reduction",
    8: "lock",
}
WAIT_REDUCTION = 7

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


# How `Unavailable.what` begins for a region that has nothing to tune; its name follows.
TUNING_OF = "tuning of "


@dataclass(frozen=True)
class Unavailable:
    """Something that could not be measured, why, and what to do about it."""

    what: str
    why: str
    remedy: str

    def as_json(self) -> dict[str, str]:
        """The three words as a report has them."""
        return {"what": self.what, "why": self.why, "remedy": self.remedy}


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

    @cached_property
    def modules_by_id(self) -> dict[int | None, Module]:
        """Those of `modules`, of which a run may have very many."""
        return {each.id: each for each in self.modules}

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
    def ns_per_tick(self) -> float:
        """Nanoseconds of one tick."""
        return float(self.header["ns_per_tick"])


@dataclass(frozen=True)
class Run:
    """One observed execution.

    Attributes:
        left_out: processes that could not be read, each with what is wrong with it.
    """

    directory: Path
    info: dict[str, Any]
    processes: tuple[Process, ...]
    left_out: tuple[Unavailable, ...] = ()

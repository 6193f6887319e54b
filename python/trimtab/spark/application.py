"""An application as its event log tells it: executors, jobs, stages, and a table of tasks.

Times of the tables are milliseconds since the application started, by the driver's clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# One row an attempt of a task. `executor` and `stage` are places in the lists of the application.
TASK = np.dtype(
    [
        *(
            (name, "<i8")
            for name in ("id", "begin", "end", "getting_result", "deserialize", "run", "cpu_ns", "gc")
        ),
        *(
            (name, "<i8")
            for name in ("serialize", "fetch_wait", "shuffle_write_ns", "memory_spilled", "disk_spilled")
        ),
        *(
            (name, "<i8")
            for name in ("remote_bytes", "local_bytes", "written_bytes", "input_bytes", "records")
        ),
        *((name, "<i8") for name in ("remote_blocks", "local_blocks")),
        *((name, "<i4") for name in ("stage", "executor", "index", "attempt")),
        *((name, "?") for name in ("is_failed", "is_speculative", "has_metrics", "is_running", "is_remote")),
    ]
)
Tasks = NDArray[np.void]
# How Spark names the reason if it ended an executor itself (ExecutorLossReason.scala).
_GIVEN_BACK = re.compile(r"Executor (killed by driver|decommission)")


@dataclass
class Executor:
    """A process with core slots.

    Attributes:
        cores: at the same time running tasks, before `spark.task.cpus`.
        added, removed: ms; None: not seen.
        requested: when the cluster manager was asked for it, ms; None: not recorded.
    """

    id: str
    host: str
    cores: int
    added: int | None
    requested: int | None = None
    removed: int | None = None
    removed_reason: str = ""

    @property
    def is_given_back(self) -> bool:
        """Spark itself ended it: dynamic allocation, as it was idle."""
        return _GIVEN_BACK.match(self.removed_reason) is not None


@dataclass
class Job:
    """A job: an action, or under adaptive execution a part of a query."""

    id: int
    submitted: int
    stages: tuple[int, ...]
    query: int | None
    description: str
    completed: int | None = None
    has_failed: bool = False


@dataclass
class Stage:
    """One attempt of a stage.

    Attributes:
        name: what Spark calls it: the call and the line of the action.
        place: the call and the source line that made its last RDD or plan node.
        operators: plan nodes or RDDs that it computes, from the last to the first.
        cached_rdds: those of its RDDs that are to be kept, with their number of partitions.
        last_rdd: number of the RDD that it computes.
    """

    id: int
    attempt: int
    name: str
    tasks: int
    parents: tuple[int, ...]
    job: int | None
    submitted: int | None = None
    completed: int | None = None
    failure: str | None = None
    place: str = ""
    operators: tuple[str, ...] = ()
    cached_rdds: dict[int, int] = field(default_factory=dict)
    last_rdd: int | None = None

    @property
    def key(self) -> str:
        """Unique within the application."""
        return f"stage {self.id}.{self.attempt}"

    @property
    def label(self) -> str:
        """As reports name it."""
        attempt = f", attempt {self.attempt}" if self.attempt else ""
        return f"stage {self.id}{attempt}: {self.place or self.name}"


@dataclass(frozen=True)
class PolicyDecision:
    """What a policy of the plug-in changed while the application ran.

    Attributes:
        time: ms since the application started.
        subject: the stage or RDD that the decision is about, by its call and source line.
        before, after: settings that it changed, with the same names.
    """

    time: int
    policy: str
    subject: str
    outcome: str
    reason: str
    before: dict[str, str]
    after: dict[str, str]
    evidence: dict[str, float]


@dataclass(frozen=True)
class Application:
    """All of a log.

    Attributes:
        started_ms: since 1970.
        end: when it ended, or the last sign of it, ms since it started.
        is_complete: its end is in the log.
        block_reads: how often a partition of a kept RDD was made, by RDD: {rdd: {partition: times}}.
        remarks: what could not be read.
    """

    name: str
    id: str
    version: str
    started_ms: int
    end: int
    is_complete: bool
    settings: dict[str, str]
    executors: tuple[Executor, ...]
    jobs: tuple[Job, ...]
    stages: tuple[Stage, ...]
    queries: dict[int, str]
    tasks: Tasks
    block_stores: dict[int, dict[int, int]]
    decisions: tuple[PolicyDecision, ...]
    remarks: tuple[str, ...]

    @property
    def task_cpus(self) -> int:
        """Cores that a task takes."""
        text = self.settings.get("spark.task.cpus", "1")
        return max(int(text), 1) if text.isdecimal() and len(text) < 6 else 1

    @property
    def has_dynamic_allocation(self) -> bool:
        """Whether Spark asks for executors, and gives them back, by itself."""
        return self.setting("spark.dynamicAllocation.enabled", "false") == "true"

    def setting(self, name: str, default: str) -> str:
        """The value of a setting as the log has it, or Spark's own default."""
        return self.settings.get(name, default)

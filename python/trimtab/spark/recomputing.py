"""Work that was done more than once: partitions that were to be kept and were not, and stages that were repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.spark.application import Application
from trimtab.spark.sweep import Integers


@dataclass(frozen=True)
class Recomputed:
    """Tasks that computed again what a kept RDD or data frame should have had.

    Attributes:
        rdd: its number; None: a stage was repeated, since shuffle data was lost.
        stage: the first stage that did it.
        tasks: places in the table of tasks.
        times: most times that one partition was computed.
        partitions: how many were computed more than once.
    """

    rdd: int | None
    stage: int
    tasks: Integers
    times: int
    partitions: int


def recomputed(application: Application) -> list[Recomputed]:
    """All of them, by RDD, then repeated stages."""
    return [*_kept_rdds(application), *_repeated_stages(application)]


def _kept_rdds(application: Application) -> list[Recomputed]:
    """A task that reads a kept partition counts its bytes as input; one that has to compute it does not.

    Where the computation itself reads input, the two cannot be told apart, and nothing is said. Where the log has the
    updates of blocks (`spark.taskMetrics.trackUpdatedBlockStatuses`), these say how often each was stored.
    """
    tasks = application.tasks
    uses: dict[int, list[int]] = {}
    order = sorted(range(len(application.stages)), key=lambda at: application.stages[at].submitted or 0)
    for at in order:
        for rdd in application.stages[at].cached_rdds:
            uses.setdefault(rdd, []).append(at)
    found = []
    for rdd, stages in uses.items():
        first, *later = stages
        good = ~tasks["is_failed"]
        if not later or (tasks["input_bytes"][(tasks["stage"] == first) & good] > 0).any():
            continue
        missed = np.flatnonzero(np.isin(tasks["stage"], later) & good & (tasks["input_bytes"] == 0))
        if len(missed):
            _, counts = np.unique(tasks["index"][missed], return_counts=True)
            stored = max(application.block_stores.get(rdd, {}).values(), default=0)
            stage = int(tasks["stage"][missed[0]])
            found.append(Recomputed(rdd, stage, missed, max(int(counts.max()) + 1, stored), len(counts)))
    return found


def _repeated_stages(application: Application) -> list[Recomputed]:
    """Attempts of a stage after the first one, and stages that write a shuffle again after an executor was lost."""
    has_lost = any(executor.removed is not None for executor in application.executors)
    found = []
    for at, stage in enumerate(application.stages):
        if stage.attempt > 0 or (has_lost and _writes_again(application, at)):
            again = np.flatnonzero(application.tasks["stage"] == at)
            if len(again):
                found.append(Recomputed(None, at, again, stage.attempt + 1, len(again)))
    return found


def _writes_again(application: Application, at: int) -> bool:
    """Whether an earlier stage has written shuffle files of the same RDD, and an executor was lost since."""
    stage, written = application.stages[at], _written(application)
    if stage.last_rdd is None or stage.submitted is None or not written[at]:
        return False
    gone = [executor.removed for executor in application.executors if executor.removed is not None]
    return any(
        other.last_rdd == stage.last_rdd
        and other.completed is not None
        and written[place]
        and any(other.completed <= time <= stage.submitted for time in gone)
        for place, other in enumerate(application.stages)
        if place != at
    )


def _written(application: Application) -> Integers:
    """Shuffle bytes of each stage."""
    written = np.zeros(len(application.stages), np.int64)
    np.add.at(written, application.tasks["stage"], application.tasks["written_bytes"])
    return written

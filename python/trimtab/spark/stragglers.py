"""Which tasks hold up the others, and what explains it.

A straggler is a task during which more than half of the core slots were idle, as published (Chaimov 2017), or one that
took more than twice the median of its stage and with which the stage ended. Both are only counted as far as the task is longer
than the median: the what-if puts the median in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from trimtab.model.enumerations import BlameCause
from trimtab.spark.application import Tasks
from trimtab.spark.sweep import Integers, Numbers, between, counts, integral, medians_by

_IDLE_SHARE = 0.5
_FACTOR = 2.0
# The log's clock has steps of a millisecond, and the driver's threads add some.
LEAST_EXCESS_MS = 20
# Of the time beyond the median that something must explain.
_EXPLAINED = 0.5
_SLOW_HOST = 1.5
_LEAST_TASKS_OF_HOST = 3


class Why(Enum):
    """What explains a long task."""

    DATA = "it had more data"
    GC = str(BlameCause.GARBAGE_COLLECTION)
    FETCH = "it waited for shuffle data"
    EXECUTOR = "its executor was slow"
    UNEXPLAINED = "not explained by its data, garbage collection, fetching or its executor"


@dataclass(frozen=True)
class Medians:
    """Per task: the median of its stage."""

    duration: Numbers
    data: Numbers
    gc: Numbers
    fetch: Numbers


def data_of(tasks: Tasks) -> Integers:
    """Bytes read, or records where no bytes are counted."""
    read = tasks["remote_bytes"] + tasks["local_bytes"] + tasks["input_bytes"]
    return np.where(read > 0, read, tasks["records"])


def stage_medians(tasks: Tasks, durations: Integers, stages: int) -> Medians:
    """Over the attempts that succeeded."""
    good = ~tasks["is_failed"] & ~tasks["is_running"]
    stage = tasks["stage"].astype(np.int64)

    def median(values: Numbers | Integers) -> Numbers:
        return medians_by(stage[good], values[good], stages)[stage]

    return Medians(
        median(durations), median(data_of(tasks)), median(tasks["gc"]), median(tasks["fetch_wait"])
    )


def idle_shares(begins: Integers, ends: Integers, slot_begins: Integers, slot_ends: Integers) -> Numbers:
    """Of each task: the mean share of slots that were idle while it ran."""
    if not len(begins):
        return np.zeros(0)
    times = np.unique(np.concatenate([begins, ends, slot_begins, slot_ends]))
    running = between(times, integral(times, counts(times, begins, ends)), begins, ends)
    there = between(times, integral(times, counts(times, slot_begins, slot_ends)), begins, ends)
    return np.where(there > 0, 1 - running / np.maximum(there, 1e-9), 0.0)


def stragglers(
    tasks: Tasks, begins: Integers, ends: Integers, slot_times: tuple[Integers, Integers], medians: Numbers
) -> NDArray[np.bool_]:
    """Of each task whether it is one, in the recorded schedule or a replayed one."""
    durations = ends - begins
    considered = ~tasks["is_failed"] & ~tasks["is_running"] & (durations - medians >= LEAST_EXCESS_MS)
    is_long = durations > _FACTOR * medians
    stage = tasks["stage"]
    others_end = np.zeros(int(stage.max(initial=-1)) + 1, np.int64)
    ordinary = ~is_long & ~tasks["is_failed"]
    np.maximum.at(others_end, stage[ordinary], ends[ordinary])
    is_last = ends > others_end[stage]
    is_lonely = idle_shares(begins, ends, *slot_times) > _IDLE_SHARE
    found: NDArray[np.bool_] = considered & (is_lonely | (is_long & is_last))
    return found


def explanation(tasks: Tasks, at: int, durations: Integers, medians: Medians) -> Why:
    """What explains that task `at` is longer than the median of its stage."""
    excess = float(durations[at] - medians.duration[at])
    data, usual = float(data_of(tasks)[at]), float(medians.data[at])
    if data > _FACTOR * usual and data > 0:
        expected = medians.duration[at] * (data / usual - 1) if usual > 0 else excess
        if expected >= _EXPLAINED * excess:
            return Why.DATA
    if tasks["gc"][at] - medians.gc[at] >= _EXPLAINED * excess:
        return Why.GC
    if tasks["fetch_wait"][at] - medians.fetch[at] >= _EXPLAINED * excess:
        return Why.FETCH
    return Why.EXECUTOR if _is_on_slow_executor(tasks, at, durations) else Why.UNEXPLAINED


def _is_on_slow_executor(tasks: Tasks, at: int, durations: Integers) -> bool:
    """Whether the stage's other tasks there are slow, too."""
    same_stage = (tasks["stage"] == tasks["stage"][at]) & ~tasks["is_failed"]
    same_stage[at] = False
    beside = same_stage & (tasks["executor"] == tasks["executor"][at])
    elsewhere = same_stage & (tasks["executor"] != tasks["executor"][at])
    if beside.sum() < _LEAST_TASKS_OF_HOST or elsewhere.sum() < _LEAST_TASKS_OF_HOST:
        return False
    return bool(np.median(durations[beside]) > _SLOW_HOST * np.median(durations[elsewhere]))

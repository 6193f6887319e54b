"""Findings of a Spark application: what costs time, what to change, and what that would give.

Gains are differences of replays (docs/reference/spark.md). Where the unchanged replay is too far from what was recorded, a gain
is the idle core time charged to the cause, divided by the slots: the most that it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np
from msgspec.structs import replace

from trimtab.analysis.findings import finding
from trimtab.counted import counted
from trimtab.model.enumerations import Cause
from trimtab.model.report import Finding
from trimtab.spark.application import Application, Executor
from trimtab.spark.attribution import IDLE, PARTS, Attribution
from trimtab.spark.recomputing import Recomputed, recomputed
from trimtab.spark.slots import Slots
from trimtab.spark.stragglers import Why, data_of
from trimtab.spark.sweep import Integers, Numbers
from trimtab.spark.what_if import WhatIf

_LEAST_GAIN_SHARE = 0.01
_SMALL_TASK_MS = 200
_TASKS_PER_SLOT = 4
_OVERHEAD_SHARE = 0.2
_SMALL_BLOCK_BYTES = 32 << 10
_MANY_BLOCKS = 10_000
_GC_SHARE = 0.2
_IDLE_SHARE = 0.5
_MOST_STAGES = 25
_MANY_TIMES = 3
_NO_OTHER_HOST = "spark.speculation=true would give nothing, because all executors are on one host and Spark copies a task to another one"


class _Context:
    """What all findings are made from."""

    def __init__(
        self, application: Application, slots: Slots, attribution: Attribution, what_if: WhatIf
    ) -> None:
        self.application, self.slots = application, slots
        self.attribution, self.what_if = attribution, what_if
        stages = len(application.stages)
        self._parts_by_stage = np.zeros((stages, len(PARTS)))
        np.add.at(self._parts_by_stage, application.tasks["stage"], attribution.parts)
        self.task_counts = np.bincount(application.tasks["stage"], minlength=stages)
        self.core_times = np.bincount(application.tasks["stage"], what_if.durations, minlength=stages)
        self.slot_count = max(slots.capacity_ms / max(application.end, 1), 1.0)

    def label(self, stage: int) -> str:
        return self.application.stages[stage].label

    def stages_by_idle(self, *causes: str) -> list[int]:
        """With most idle time by these causes first."""
        columns = [IDLE.index(cause) for cause in causes]
        idle = self.attribution.idle_by_stage[:-1, columns].sum(axis=1)
        return [int(at) for at in np.argsort(-idle)[:_MOST_STAGES] if idle[at] > 0]

    def bound_ms(self, cause: str, stage: int | None = None) -> float:
        """Idle time that is charged to a cause, as wall time."""
        idle = self.attribution.idle_by_stage[:, IDLE.index(cause)]
        return float(idle.sum() if stage is None else idle[stage]) / self.slot_count

    def gain_ms(self, make: Callable[[], Numbers], bound_ms: float) -> float:
        """Of other durations by replay, or the bound where replays are not to be trusted."""
        return max(self.what_if.gain(make()), 0.0) if self.what_if.is_trusted else bound_ms

    def parts_ms(self, stage: int, *parts: str) -> float:
        """Of all tasks of a stage."""
        columns = [PARTS.index(part) for part in parts]
        return float(self._parts_by_stage[stage, columns].sum())

    def by_stage(self, *names: str) -> Integers:
        """The sum of some columns of the tasks' table."""
        sums = np.zeros(len(self.application.stages), np.int64)
        for name in names:
            np.add.at(sums, self.application.tasks["stage"], self.application.tasks[name])
        return sums

    def reduced(self, stage: int, *parts: str) -> Numbers:
        """Durations without some parts in one stage."""
        is_in = self.application.tasks["stage"] == stage
        return np.where(is_in, self.what_if.without(*parts), self.what_if.durations)


def spark_findings(
    application: Application, slots: Slots, attribution: Attribution, what_if: WhatIf
) -> list[Finding]:
    """All that would give back at least 1 % of the time, largest gain first; then executors that are not needed."""
    context = _Context(application, slots, attribution, what_if)
    found = [
        *_stragglers(context),
        *_skew(context),
        *_small_tasks(context),
        *_few_partitions(context),
        *_spill(context),
        *_recomputation(context),
        *_garbage(context),
        *_wide_shuffles(context),
        *_driver(context),
        *_late_executors(context),
    ]
    least_s = _LEAST_GAIN_SHARE * application.end * 1e-3
    kept = sorted((each for each in found if each.gain_s >= least_s), key=lambda each: -each.gain_s)
    return [*(_with_range(context, each) for each in kept), *_idle_executors(context)]


def _with_range(context: _Context, finding: Finding) -> Finding:
    """A replay's gain is uncertain by its error on the unchanged run; without one the gain is a bound."""
    if not context.what_if.is_trusted:
        return finding
    margin_s = abs(context.what_if.error) * context.application.end * 1e-3
    low_s, high_s = max(finding.gain_s - margin_s, 0.0), finding.gain_s + margin_s
    return replace(finding, gain_low_s=low_s, gain_high_s=high_s)


def _stragglers(context: _Context) -> Iterator[Finding]:
    """gain = replay with the median of the stage for its stragglers."""
    tasks, late = context.application.tasks, context.attribution.is_straggler
    durations = tasks["end"] - tasks["begin"]
    for stage in np.unique(tasks["stage"][late]).tolist():
        places = np.flatnonzero(late & (tasks["stage"] == stage))
        whys = {context.attribution.why.get(int(at), Why.UNEXPLAINED) for at in places}
        if whys == {Why.DATA}:
            continue
        at = int(places[np.argmax(durations[places])])
        why = context.attribution.why.get(at, Why.UNEXPLAINED)
        executor = context.application.executors[tasks["executor"][at]]
        yield finding(
            Cause.STRAGGLER,
            context.label(stage),
            f"{counted(len(places), 'task')} of {context.application.stages[stage].tasks} held up the others; the longest "
            f"(partition {tasks['index'][at]}, executor {executor.id} on {executor.host}) took {durations[at] / 1e3:.3g} s, "
            f"the median {context.attribution.medians.duration[at] / 1e3:.3g} s: {why.value}",
            _straggler_advice(why, context.application.executors),
            context.gain_ms(
                partial(context.what_if.without_stragglers, stage),
                context.bound_ms("straggler", stage),
            )
            * 1e-3,
        )


def _straggler_advice(why: Why, executors: Iterable[Executor]) -> str:
    if why is Why.GC:
        return "more memory per core slot: raise spark.executor.memory, or lower spark.executor.cores"
    if why is Why.FETCH:
        return "look at the disks and the network of the hosts that it fetched from; raise spark.reducer.maxSizeInFlight"
    has_other_host = len({executor.host for executor in executors}) > 1
    if why is Why.EXECUTOR:
        if not has_other_host:
            return f"look at what else that executor does; {_NO_OTHER_HOST}"
        return "look at that host; set spark.excludeOnFailure.enabled=true or spark.speculation=true"
    if not has_other_host:
        return f"look at what this partition computes at the line above; {_NO_OTHER_HOST}"
    return (
        "look at what this partition computes at the line above; if the cause is its host or chance, set spark.speculation=true, "
        "which starts a second copy on another host; a copy of a partition that is slow by itself is as slow"
    )


def _skew(context: _Context) -> Iterator[Finding]:
    """gain = replay with the stage's mean for its tasks."""
    tasks = context.application.tasks
    skewed, data = context.what_if.skewed_tasks(), data_of(tasks)
    for stage in np.unique(tasks["stage"][skewed]).tolist():
        places = skewed[tasks["stage"][skewed] == stage]
        at = int(places[np.argmax(data[places])])
        median = context.attribution.medians.data[at]
        unit = (
            "bytes"
            if tasks["remote_bytes"][at] + tasks["local_bytes"][at] + tasks["input_bytes"][at]
            else "records"
        )
        yield finding(
            Cause.SKEW,
            context.label(stage),
            f"partition {tasks['index'][at]} has {data[at]} {unit}, the median has {median:.0f}; it took "
            f"{context.what_if.durations[at] / 1e3:.3g} s, the median task {context.attribution.medians.duration[at] / 1e3:.3g} s",
            _skew_advice(context.application),
            context.gain_ms(partial(context.what_if.without_skew, stage), context.bound_ms("skew", stage))
            * 1e-3,
        )


def _skew_advice(application: Application) -> str:
    if application.setting("spark.sql.adaptive.enabled", "true") != "true":
        return "set spark.sql.adaptive.enabled=true, which splits skewed partitions of joins; or add a random part to the key"
    return "add a random part to the key (salting); for joins lower spark.sql.adaptive.skewJoin.skewedPartitionFactor"


def _small_tasks(context: _Context) -> Iterator[Finding]:
    """gain = replay with a task per slot's worth of starting costs: what starting takes is paid by fewer tasks."""
    for at, stage in enumerate(context.application.stages):
        count, total = int(context.task_counts[at]), float(context.core_times[at])
        wanted = _TASKS_PER_SLOT * context.slot_count
        overhead = context.parts_ms(at, "scheduler_delay", "deserialization")
        if count <= wanted or total > _SMALL_TASK_MS * count or overhead < _OVERHEAD_SHARE * total:
            continue
        saved = 1 - wanted / count

        def fewer(at: int = at, saved: float = saved) -> Numbers:
            durations = context.what_if.durations
            return durations - saved * (durations - context.reduced(at, "scheduler_delay", "deserialization"))

        yield finding(
            Cause.MANY_SMALL_TASKS,
            stage.label,
            f"{count} tasks of {total / count:.3g} ms on {context.slot_count:.3g} slots; starting them takes "
            f"{overhead / total:.0%} of their time",
            "fewer partitions: coalesce() after the line above, a larger spark.sql.files.maxPartitionBytes, or fewer "
            "spark.sql.shuffle.partitions",
            context.gain_ms(fewer, saved * overhead / context.slot_count) * 1e-3,
        )


def _few_partitions(context: _Context) -> Iterator[Finding]:
    """gain = idle time of slots for which the stage had no task / slots: its work on all of them."""
    for at in context.stages_by_idle("few_partitions"):
        stage = context.application.stages[at]
        yield finding(
            Cause.FEW_PARTITIONS,
            stage.label,
            f"{counted(stage.tasks, 'task')} on {context.slot_count:.3g} core slots, {_seconds_of(context, at):.3g} s of core time",
            "more partitions: repartition() before the line above, spark.sql.shuffle.partitions, spark.default.parallelism, or "
            "a smaller spark.sql.adaptive.advisoryPartitionSizeInBytes",
            context.bound_ms("few_partitions", at) * 1e-3,
        )


def _seconds_of(context: _Context, stage: int) -> float:
    return float(context.core_times[stage]) * 1e-3


def _spill(context: _Context) -> Iterator[Finding]:
    """gain = replay without the estimated time of spilling."""
    on_disk, in_memory = context.by_stage("disk_spilled"), context.by_stage("memory_spilled")
    for at, stage in enumerate(context.application.stages):
        disk, memory = int(on_disk[at]), int(in_memory[at])
        if not disk:
            continue
        time_ms = context.parts_ms(at, "spill")
        yield finding(
            Cause.SPILL,
            stage.label,
            f"{memory} bytes in memory became {disk} bytes on disk; by this application's rate of writing about "
            f"{time_ms / 1e3:.3g} s of core time",
            "more partitions (spark.sql.shuffle.partitions), or more memory per core slot (spark.executor.memory, "
            "spark.memory.fraction)",
            context.gain_ms(partial(context.reduced, at, "spill"), time_ms / context.slot_count) * 1e-3,
        )


def _recomputation(context: _Context) -> Iterator[Finding]:
    """gain = replay with the time of the stage's other tasks, which found what was kept, or without the repeated tasks."""
    tasks, durations = context.application.tasks, context.what_if.durations
    for again in recomputed(context.application):
        is_again = np.zeros(len(tasks), bool)
        is_again[again.tasks] = True
        beside = (
            np.isin(tasks["stage"], np.unique(tasks["stage"][is_again])) & ~is_again & ~tasks["is_failed"]
        )
        usual = float(np.median(durations[beside])) if beside.any() and again.rdd is not None else 0.0
        kept = np.where(is_again, np.minimum(durations, usual), durations)
        bound = float((durations - kept).sum()) / context.slot_count
        yield finding(
            Cause.MEMORY_THRASH
            if again.rdd is not None and again.times >= _MANY_TIMES
            else Cause.RECOMPUTATION,
            context.label(again.stage),
            _recomputation_evidence(again, float(durations[is_again].sum()) * 1e-3),
            "more storage memory (spark.executor.memory, spark.memory.storageFraction), persist with MEMORY_AND_DISK or "
            "DISK_ONLY at the line above, or unpersist() what is not needed any more"
            if again.rdd is not None
            else "replicate what is expensive to make (persist with a level of two copies, or checkpoint()), and look at why "
            "executors were lost",
            context.gain_ms(kept.copy, bound) * 1e-3,
        )


def _recomputation_evidence(again: Recomputed, core_time_s: float) -> str:
    partitions = counted(again.partitions, "partition")
    if again.rdd is None:
        return f"shuffle data was lost: {partitions} computed again in {core_time_s:.3g} s of core time"
    return (
        f"RDD {again.rdd} was to be kept, but {partitions} were evicted or never fitted, and computed up to "
        f"{again.times} times; {core_time_s:.3g} s of core time"
    )


def _garbage(context: _Context) -> Iterator[Finding]:
    """gain = replay without garbage collection."""
    parts = context.attribution.parts.sum(axis=0)
    collected, total = float(parts[PARTS.index("gc")]), float(parts.sum())
    if total > 0 and collected >= _GC_SHARE * total:
        yield finding(
            Cause.MEMORY_THRASH,
            None,
            f"garbage collection took {collected / total:.0%} of the tasks' time",
            "more memory per core slot: raise spark.executor.memory, or lower spark.executor.cores; persist serialized",
            context.gain_ms(lambda: context.what_if.without("gc"), collected / context.slot_count) * 1e-3,
        )


def _wide_shuffles(context: _Context) -> Iterator[Finding]:
    """gain = replay without the waits for shuffle data; opens themselves are not in the log."""
    all_blocks = context.by_stage("remote_blocks", "local_blocks")
    all_bytes = context.by_stage("remote_bytes", "local_bytes")
    for at, stage in enumerate(context.application.stages):
        blocks, read = int(all_blocks[at]), int(all_bytes[at])
        if blocks < _MANY_BLOCKS or read > blocks * _SMALL_BLOCK_BYTES:
            continue
        yield finding(
            Cause.WIDE_SHUFFLE,
            stage.label,
            f"{blocks} blocks of {read // blocks} bytes each: a file is opened for each of them, and their number grows with "
            "the square of the partitions",
            "fewer partitions on both sides of the shuffle; spark.sql.adaptive.enabled=true puts small ones together; "
            "spark.shuffle.sort.bypassMergeThreshold=1 saves the opens of writing",
            context.gain_ms(
                partial(context.reduced, at, "fetch_network", "fetch_disk"),
                context.parts_ms(at, "fetch_network", "fetch_disk") / context.slot_count,
            )
            * 1e-3,
        )


def _driver(context: _Context) -> Iterator[Finding]:
    """gain = time in which no stage was active, of all slots / slots."""
    gain = context.bound_ms("driver")
    yield finding(
        Cause.DRIVER_BUSY,
        None,
        f"for {gain / 1e3:.3g} s no stage was active: the driver computed, planned or collected results",
        "run independent jobs from several threads, collect less, and look at what the driver does between jobs",
        gain * 1e-3,
    )


def _late_executors(context: _Context) -> Iterator[Finding]:
    """gain = replay in which as many executors as there were at most at a time stay until the end."""
    application, what_if = context.application, context.what_if
    if not application.has_dynamic_allocation or not what_if.is_trusted:
        return
    count, most = len(application.executors), what_if.most_executors
    given_back = sum(executor.is_given_back for executor in application.executors)
    if count <= most or not given_back:
        return
    timeout = application.setting("spark.dynamicAllocation.executorIdleTimeout", "60s")
    yield finding(
        Cause.LATE_EXECUTORS,
        None,
        f"Spark gave {counted(given_back, 'idle executor')} back and asked for others when it needed them: {count} were started, "
        f"at most {most} at a time; until they were there, {context.bound_ms('executor_start') / 1e3:.3g} s passed in all",
        f"raise spark.dynamicAllocation.executorIdleTimeout ({timeout}), or spark.dynamicAllocation.minExecutors to {most}; they "
        "hold their cores meanwhile",
        max(what_if.gain(what_if.durations, what_if.lasting_executors()), 0.0) * 1e-3,
    )


def _idle_executors(context: _Context) -> Iterator[Finding]:
    """No gain of time: half of the executors are taken away in a replay, and it takes hardly longer."""
    count = len(context.application.executors)
    idle = context.attribution.idle_by_executor.sum(axis=1)
    capacity = np.bincount(context.slots.executor, context.slots.end - context.slots.begin, minlength=count)
    if count < 2 or not context.what_if.is_trusted or idle.sum() < _IDLE_SHARE * capacity.sum():
        return
    if context.application.has_dynamic_allocation:  # gives them back by itself
        return
    lost = -context.what_if.gain(context.what_if.durations, context.what_if.fewer_executors())
    if lost <= 0.05 * context.application.end:
        yield finding(
            Cause.IDLE_EXECUTORS,
            None,
            f"core slots were idle for {idle.sum() / capacity.sum():.0%} of their time; with half of the {count} executors it "
            f"would take {max(lost, 0) / 1e3:.3g} s longer",
            "fewer executors: spark.executor.instances, or spark.dynamicAllocation.enabled=true",
            0.0,
        )

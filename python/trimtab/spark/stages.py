"""Tables that only reports of Spark have: stages, what-ifs, and core time by job, query, executor, host and line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from trimtab.model.report import Spark, SparkGroup, Stage
from trimtab.spark.application import Application
from trimtab.spark.application import Stage as LoggedStage
from trimtab.spark.attribution import IDLE, PARTS, Attribution
from trimtab.spark.slots import Slots
from trimtab.spark.sweep import Integers, Numbers
from trimtab.spark.what_if import WhatIf

_MOST_GROUPS = 1000


def stages_of(application: Application, attribution: Attribution, what_if: WhatIf) -> tuple[Stage, ...]:
    """A row an attempt of a stage, in order of submission."""
    sensitivities = what_if.sensitivities()
    order = sorted(range(len(application.stages)), key=lambda at: _order(application.stages[at]))
    members = _members(application)
    return tuple(_stage(application, at, members[at], attribution, sensitivities.get(at)) for at in order)


def _order(stage: LoggedStage) -> tuple[int, int, int]:
    return stage.submitted if stage.submitted is not None else 1 << 60, stage.id, stage.attempt


def _members(application: Application) -> list[Integers]:
    """Of each stage: the places of its tasks."""
    stage = application.tasks["stage"]
    order = np.argsort(stage, kind="stable")
    bounds = np.searchsorted(stage[order], np.arange(len(application.stages) + 1))
    return [order[bounds[at] : bounds[at + 1]] for at in range(len(application.stages))]


def _stage(
    application: Application,
    at: int,
    own: Integers,
    attribution: Attribution,
    sensitivity: float | None,
) -> Stage:
    stage, tasks = application.stages[at], application.tasks[own]
    durations, parts = (tasks["end"] - tasks["begin"]) * 1e-3, attribution.parts[own].sum(axis=0)
    return Stage(
        id=stage.id,
        attempt=stage.attempt,
        key=stage.key,
        name=stage.name,
        place=stage.place or stage.name,
        operators=stage.operators,
        job=stage.job,
        query=next((job.query for job in application.jobs if job.id == stage.job), None),
        submitted_s=None if stage.submitted is None else stage.submitted * 1e-3,
        completed_s=None if stage.completed is None else stage.completed * 1e-3,
        failure=stage.failure,
        tasks=stage.tasks,
        attempts=len(own),
        failed=int(tasks["is_failed"].sum()),
        stragglers=int(attribution.is_straggler[own].sum()),
        core_time_s=float(parts.sum()) * 1e-3,
        median_s=float(np.median(durations)) if len(own) else 0.0,
        longest_s=float(durations.max(initial=0.0)),
        time=_named(PARTS, parts),
        idle=_named(IDLE, attribution.idle_by_stage[at]),
        read_bytes=int((tasks["remote_bytes"] + tasks["local_bytes"] + tasks["input_bytes"]).sum()),
        written_bytes=int(tasks["written_bytes"].sum()),
        spilled_bytes=int(tasks["disk_spilled"].sum()),
        blocks=int((tasks["remote_blocks"] + tasks["local_blocks"]).sum()),
        sensitivity=sensitivity,
    )


def _named(names: Sequence[str], values: Numbers) -> dict[str, float]:
    """In seconds; what is nothing is left out."""
    return {name: float(value) * 1e-3 for name, value in zip(names, values, strict=True) if value > 0}


def spark_of(application: Application, slots: Slots, attribution: Attribution, what_if: WhatIf) -> Spark:
    """What only reports of Spark say."""
    capacity = max(slots.capacity_ms, 1)
    return Spark(
        application=application.id,
        version=application.version,
        executors=len(application.executors),
        slots=len(slots.executor),
        time={name: time / capacity for name, time in attribution.total.items()},
        replay_error=what_if.error if len(application.tasks) else None,
        replay_trusted=what_if.is_trusted,
        groups=tuple(_groups(application, attribution)),
    )


def _groups(application: Application, attribution: Attribution) -> Iterator[SparkGroup]:
    """Idle time counts for the stage that is to blame and its job; by executor and host, for where it was."""
    tasks = application.tasks
    by_stage = np.zeros((len(application.stages) + 1, len(PARTS) + len(IDLE)))
    np.add.at(by_stage[:, : len(PARTS)], tasks["stage"], attribution.parts)
    by_stage[:, len(PARTS) :] = attribution.idle_by_stage
    by_executor = np.zeros((len(application.executors), len(PARTS) + len(IDLE)))
    np.add.at(by_executor[:, : len(PARTS)], tasks["executor"], attribution.parts)
    by_executor[:, len(PARTS) :] = attribution.idle_by_executor
    jobs = {job.id: job for job in application.jobs}
    job_names = [
        "" if stage.job is None else _job_name(application, stage.job) for stage in application.stages
    ]
    queries = [
        _query_name(application, jobs[stage.job].query) if stage.job in jobs else ""
        for stage in application.stages
    ]
    lines = [stage.place or stage.name for stage in application.stages]
    yield from _summed("job", [*job_names, "no job: the driver"], by_stage)
    if any(queries):
        yield from _summed("query", [*(name or "no query" for name in queries), "no query"], by_stage)
    yield from _summed("executor", [f"executor {each.id}" for each in application.executors], by_executor)
    yield from _summed("host", [each.host or "unknown" for each in application.executors], by_executor)
    yield from _summed("line", [*lines, "no stage: the driver"], by_stage)


def _job_name(application: Application, number: int) -> str:
    job = next((each for each in application.jobs if each.id == number), None)
    return f"job {number}: {job.description}" if job is not None and job.description else f"job {number}"


def _query_name(application: Application, query: int | None) -> str:
    if query is None:
        return ""
    text = application.queries.get(query, "")
    return f"query {query}: {text}" if text else f"query {query}"


def _summed(kind: str, names: Sequence[str], rows: Numbers) -> list[SparkGroup]:
    sums: dict[str, Numbers] = {}
    for name, row in zip(names, rows, strict=True):
        sums[name] = sums[name] + row if name in sums else row
    groups = [
        SparkGroup(kind, name, float(row.sum()) * 1e-3, _named((*PARTS, *IDLE), row))
        for name, row in sums.items()
        if row.sum() > 0
    ]
    return sorted(groups, key=lambda group: -group.core_time_s)[:_MOST_GROUPS]

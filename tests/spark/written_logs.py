"""Event logs of a test's own making, line by line as Spark 4 writes them; times in milliseconds since the start."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START = 1_700_000_000_000
_SQL = "org.apache.spark.sql.execution.ui."


@dataclass
class Task:
    """One attempt; what is not given is 0."""

    begin: int
    end: int
    executor: str = "1"
    index: int = 0
    attempt: int = 0
    metrics: dict[str, Any] = field(default_factory=dict)
    is_failed: bool = False
    is_speculative: bool = False
    has_ended: bool = True

    @property
    def run(self) -> int:
        return int(self.metrics.get("Executor Run Time", self.end - self.begin))


@dataclass
class Stage:
    """One attempt of a stage."""

    id: int
    begin: int
    end: int | None
    tasks: Sequence[Task]
    parents: Sequence[int] = ()
    count: int | None = None
    name: str = "count at program.py:7"
    attempt: int = 0
    rdds: Sequence[dict[str, Any]] | None = None

    def info(self, has_ended: bool) -> dict[str, Any]:
        made = {
            "RDD ID": self.id * 10,
            "Name": "MapPartitionsRDD",
            "Callsite": f"map at program.py:{self.id + 100}",
        }
        info: dict[str, Any] = {
            "Stage ID": self.id,
            "Stage Attempt ID": self.attempt,
            "Stage Name": self.name,
            "Number of Tasks": len(self.tasks) if self.count is None else self.count,
            "RDD Info": list(self.rdds) if self.rdds is not None else [made | {"Parent IDs": []}],
            "Parent IDs": list(self.parents),
            "Details": "",
            "Submission Time": START + self.begin,
        }
        return info | ({"Completion Time": START + (self.end or 0)} if has_ended else {})


@dataclass
class Job:
    """One job."""

    id: int
    begin: int
    end: int | None
    stages: Sequence[Stage]
    properties: dict[str, str] = field(default_factory=dict)


def task_end(stage: Stage, number: int, task: Task) -> dict[str, Any]:
    """What Spark writes when an attempt has ended."""
    metrics = {"Executor Run Time": task.run, "Executor CPU Time": task.run * 1_000_000} | task.metrics
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage.id,
        "Stage Attempt ID": stage.attempt,
        "Task Type": "ResultTask",
        "Task End Reason": {"Reason": "ExceptionFailure" if task.is_failed else "Success"},
        "Task Info": task_info(number, task, START + task.end),
        "Task Metrics": metrics,
    }


def task_info(number: int, task: Task, finish: int) -> dict[str, Any]:
    """The part of both events of a task."""
    return {
        "Task ID": number,
        "Index": task.index,
        "Attempt": task.attempt,
        "Partition ID": task.index,
        "Launch Time": START + task.begin,
        "Executor ID": task.executor,
        "Host": f"node{task.executor}",
        "Locality": "PROCESS_LOCAL",
        "Speculative": task.is_speculative,
        "Getting Result Time": 0,
        "Finish Time": finish,
        "Failed": task.is_failed,
        "Killed": False,
        "Accumulables": [],
    }


def events(
    jobs: Sequence[Job],
    end: int | None,
    executors: Sequence[tuple[str, int, int, int | None]] = (("1", 2, 0, None),),
    settings: dict[str, str] | None = None,
    name: str = "synthetic",
    removed_reason: str = "lost",
) -> Iterator[dict[str, Any]]:
    """All events of an application in an order that Spark could have written them in.

    Args:
        executors: id, cores, when added, when removed.
    """
    yield {"Event": "SparkListenerLogStart", "Spark Version": "4.0.0"}
    yield {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings or {}}
    yield {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": "app-1", "Timestamp": START}
    timed: list[tuple[int, int, dict[str, Any]]] = []
    for executor, cores, added, removed in executors:
        info = {"Host": f"node{executor}", "Total Cores": cores}
        timed.append((added, 0, _event("ExecutorAdded", added, executor) | {"Executor Info": info}))
        if removed is not None:
            timed.append(
                (
                    removed,
                    8,
                    _event("ExecutorRemoved", removed, executor) | {"Removed Reason": removed_reason},
                )
            )
    number = 0
    for job in jobs:
        start = {"Event": "SparkListenerJobStart", "Job ID": job.id, "Submission Time": START + job.begin}
        start |= {"Stage IDs": [stage.id for stage in job.stages], "Properties": job.properties}
        timed.append((job.begin, 1, start))
        for stage in job.stages:
            timed.append(
                (stage.begin, 2, {"Event": "SparkListenerStageSubmitted", "Stage Info": stage.info(False)})
            )
            for task in stage.tasks:
                info = task_info(number, task, 0)
                begin = {"Event": "SparkListenerTaskStart", "Stage ID": stage.id, "Task Info": info}
                timed.append((task.begin, 4, begin | {"Stage Attempt ID": stage.attempt}))
                if task.has_ended:
                    timed.append((task.end, 3, task_end(stage, number, task)))
                number += 1
            if stage.end is not None:
                done = {"Event": "SparkListenerStageCompleted", "Stage Info": stage.info(True)}
                timed.append((stage.end, 5, done))
        if job.end is not None:
            last = {"Event": "SparkListenerJobEnd", "Job ID": job.id, "Completion Time": START + job.end}
            timed.append((job.end, 6, last | {"Job Result": {"Result": "JobSucceeded"}}))
    yield from (event for _, _, event in sorted(timed, key=lambda entry: entry[:2]))
    if end is not None:
        yield {"Event": "SparkListenerApplicationEnd", "Timestamp": START + end}


def _event(name: str, time: int, executor: str) -> dict[str, Any]:
    return {"Event": f"SparkListener{name}", "Timestamp": START + time, "Executor ID": executor}


def write(path: Path, *arguments: Any, **options: Any) -> Path:
    """The log of `events` with these arguments."""
    lines = (json.dumps(event, separators=(",", ":")) for event in events(*arguments, **options))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_large(path: Path, tasks: int, executors: int = 16, cores: int = 8) -> Path:
    """A log with many tasks, each with the accumulators that Spark writes with it: about 2.9 kB a task."""
    slots, width = executors * cores, 2000
    with path.open("w") as stream:
        names = [(str(number), cores, 0, None) for number in range(executors)]
        for event in events([], None, names):
            stream.write(json.dumps(event, separators=(",", ":")) + "\n")
        padding = [
            {
                "ID": at,
                "Name": f"internal.metrics.number{at}",
                "Update": at,
                "Value": at * 7,
                "Internal": True,
            }
            for at in range(22)
        ]
        now, number = 1000, 0
        for job in range(tasks // width):
            stage = Stage(job, now, None, (), count=width)
            start = {"Event": "SparkListenerJobStart", "Job ID": job, "Submission Time": START + now}
            stream.write(json.dumps(start | {"Stage IDs": [job]}, separators=(",", ":")) + "\n")
            submitted = {"Event": "SparkListenerStageSubmitted", "Stage Info": stage.info(False)}
            stream.write(json.dumps(submitted, separators=(",", ":")) + "\n")
            for index in range(width):
                begin = now + 5 + index // slots * 100
                task = Task(begin, begin + 90 + index % 7, str(index % executors), index)
                info = {"Event": "SparkListenerTaskStart", "Stage ID": job, "Stage Attempt ID": 0}
                info |= {"Task Info": task_info(number, task, 0)}
                stream.write(json.dumps(info, separators=(",", ":")) + "\n")
                ended = task_end(stage, number, task)
                ended["Task Info"]["Accumulables"] = padding
                stream.write(json.dumps(ended, separators=(",", ":")) + "\n")
                number += 1
            now += 10 + (width // slots + 1) * 100
            stage.end = now
            completed = {"Event": "SparkListenerStageCompleted", "Stage Info": stage.info(True)}
            stream.write(json.dumps(completed, separators=(",", ":")) + "\n")
            last = {"Event": "SparkListenerJobEnd", "Job ID": job, "Completion Time": START + now}
            stream.write(
                json.dumps(last | {"Job Result": {"Result": "JobSucceeded"}}, separators=(",", ":")) + "\n"
            )
        stream.write(json.dumps({"Event": "SparkListenerApplicationEnd", "Timestamp": START + now}) + "\n")
    return path

"""An event log as an application: line by line, in the memory of its tasks' table.

A line that is no event is passed over with a remark: the last line of a log that is still being written is often half
there, and one damaged line says nothing about the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np

from trimtab.counted import counted
from trimtab.model import RunError
from trimtab.spark import events
from trimtab.spark.application import TASK, Application, Executor, Job, PolicyDecision, Stage
from trimtab.spark.codecs import Damaged, chunks
from trimtab.spark.logs import Log

# A plan may be a text of megabytes; what is longer is passed over.
_LONGEST_LINE = 64 << 20
# Of one log, unpacked: a file of some megabytes may unpack without end.
_MOST_BYTES = 1 << 38
_MOST_REMARKS = 20
_MOST_OPERATORS = 12
_ROWS = 4096
Advance = Callable[[int], None]


def read(log: Log, advance: Advance = lambda _: None) -> Application:
    """The application of `log`; `advance` is called with bytes read.

    Raises:
        RunError: a file cannot be opened, or the log has no event.
    """
    builder = _Builder()
    if log.is_compacted:
        builder.remark("Spark has compacted the log: finished jobs of its first files are missing")
    for file in log.files:
        for number, line in _lines(log, file, advance, builder):
            try:
                event = events.decode(line)
            except (ValueError, RecursionError) as error:
                if builder.is_empty:
                    raise RunError(
                        f"{file}: line {number}: expected an event log of Spark: {error}"
                    ) from error
                builder.damaged(f"{file.name}: line {number}: {error}; passed over")
                continue
            builder.add(event)
    if builder.is_empty:
        raise RunError(f"{log.path}: expected an event log of Spark, found no event")
    return builder.application()


def _lines(log: Log, file: Any, advance: Advance, builder: _Builder) -> Iterator[tuple[int, bytes]]:
    number, rest, total = 0, b"", 0
    is_long = False
    try:
        for chunk in chunks(file, advance):
            total += len(chunk)
            if total > _MOST_BYTES:
                builder.damaged(
                    f"{file.name}: unpacks to more than {_MOST_BYTES} bytes; the rest is passed over"
                )
                return
            *whole, last = chunk.split(b"\n")
            if whole:
                whole[0] = rest + whole[0]
                rest = b""
                for line in whole:
                    number += 1
                    if is_long:
                        is_long = False
                    elif line.strip():
                        yield number, line
            rest += last
            if len(rest) > _LONGEST_LINE:
                builder.damaged(
                    f"{file.name}: line {number + 1}: longer than {_LONGEST_LINE} bytes; passed over"
                )
                rest, is_long = b"", True
    except Damaged as error:
        builder.damaged(
            f"{file.name}: line {number + 1}: damaged from here on ({error}); analysed up to here"
        )
    if rest.strip() and not is_long:
        try:
            msgspec.json.decode(rest)
        except (ValueError, RecursionError):
            if number:
                builder.remark(
                    f"{file.name}: line {number + 1}: not complete, as in a log that is still being written"
                )
                return
        yield number + 1, rest


class _Builder:
    """Collects events; times become relative to the start of the application at the end."""

    def __init__(self) -> None:
        self._header: dict[str, Any] = {}
        self._settings: dict[str, str] = {}
        self._executors: dict[str, Executor] = {}
        self._jobs: dict[int, Job] = {}
        self._job_of_stage: dict[int, int] = {}
        self._stages: dict[tuple[int, int], Stage] = {}
        self._stage_places: dict[tuple[int, int], int] = {}
        self._executor_places: dict[str, int] = {}
        self._queries: dict[int, str] = {}
        self._running: dict[int, events.TaskStart] = {}
        self._rows: list[tuple[Any, ...]] = []
        self._tables: list[Any] = []
        self._stores: dict[int, dict[int, int]] = {}
        self._decisions: list[events.PolicyDecision] = []
        self._remarks: list[str] = []
        self._damaged = 0
        self._last = 0
        self._ended: int | None = None
        self.is_empty = True
        self._actions: dict[type, Callable[[Any], None]] = {
            events.TaskStart: self._task_start,
            events.TaskEnd: self._task_end,
            events.StageSubmitted: lambda event: self._stage(event.info),
            events.StageCompleted: lambda event: self._stage(event.info),
            events.JobStart: self._job_start,
            events.JobEnd: self._job_end,
            events.ExecutorAdded: self._executor_added,
            events.ExecutorRemoved: self._executor_removed,
            events.ApplicationStart: self._application_start,
            events.ApplicationEnd: self._application_end,
            events.LogStart: lambda event: self._header.update(version=event.version),
            events.Environment: self._environment,
            events.QueryStart: lambda event: self._queries.update({event.id: event.description}),
            events.PolicyDecision: self._decisions.append,
        }

    def remark(self, text: str) -> None:
        self._remarks.append(text)

    def damaged(self, text: str) -> None:
        self._damaged += 1
        if self._damaged <= _MOST_REMARKS:
            self._remarks.append(text)

    def add(self, event: events.Event | None) -> None:
        self.is_empty = False
        if event is not None:
            self._actions[type(event)](event)

    def _see(self, *times: int | None) -> None:
        for time in times:
            if time and time > self._last:
                self._last = time

    def _task_start(self, event: events.TaskStart) -> None:
        self._running[event.info.id] = event
        self._see(event.info.launch)

    def _task_end(self, event: events.TaskEnd) -> None:
        self._running.pop(event.info.id, None)
        self._see(event.info.finish)
        self._add_row(event.stage, event.stage_attempt, event.info, event.metrics, False)
        if event.metrics is not None and event.metrics.blocks:
            self._store(event.metrics.blocks)

    def _store(self, blocks: list[events.Block]) -> None:
        """Counts how often each partition of a kept RDD was put into storage, or could not be."""
        for block in blocks:
            kind, _, numbers = block.id.partition("_")
            rdd, _, partition = numbers.partition("_")
            # A level of nothing: the block was dropped to make room for others.
            is_stored = block.status.level.use_memory or block.status.level.use_disk
            if (
                kind == "rdd"
                and is_stored
                and rdd.isdecimal()
                and partition.isdecimal()
                and len(numbers) < 24
            ):
                times = self._stores.setdefault(int(rdd), {})
                times[int(partition)] = times.get(int(partition), 0) + 1

    def _add_row(
        self, stage: int, attempt: int, info: events.TaskInfo, metrics: events.TaskMetrics | None, runs: bool
    ) -> None:
        found = metrics or events.TaskMetrics()
        read, write, data = found.read, found.write, found.input
        place = self._stage_place(stage, attempt)
        executor = self._executor_place(info)
        self._rows.append(
            (
                *(info.id, info.launch, info.finish, info.getting_result, found.deserialize_ms, found.run_ms),
                *(
                    found.cpu_ns,
                    found.gc_ms,
                    found.serialize_ms,
                    read.wait_ms,
                    write.ns,
                    found.memory_spilled,
                ),
                *(found.disk_spilled, read.remote_bytes, read.local_bytes, write.bytes, data.bytes),
                *(read.records + data.records, read.remote_blocks, read.local_blocks),
                *(place, executor, info.index, info.attempt, info.failed or info.killed, info.is_speculative),
                *(metrics is not None, runs, info.locality in ("ANY", "RACK_LOCAL")),
            )
        )
        if len(self._rows) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        self._tables.append(np.array(self._rows, TASK))
        self._rows = []

    def _stage_place(self, stage: int, attempt: int) -> int:
        key = stage, attempt
        place = self._stage_places.get(key)
        if place is None:
            # Its submission is missing: the log begins later, or was compacted.
            self._stages.setdefault(
                key, Stage(stage, attempt, f"stage {stage}", 0, (), self._job_of_stage.get(stage))
            )
            place = self._stage_places[key] = len(self._stage_places)
        return place

    def _executor_place(self, info: events.TaskInfo) -> int:
        place = self._executor_places.get(info.executor)
        if place is None:
            self._executors.setdefault(info.executor, Executor(info.executor, info.host, 0, None))
            place = self._executor_places[info.executor] = len(self._executor_places)
        return place

    def _stage(self, info: events.StageInfo) -> None:
        key = info.id, info.attempt
        self._stage_place(*key)
        self._stages[key] = Stage(
            info.id,
            info.attempt,
            info.name,
            info.tasks,
            tuple(info.parents),
            self._job_of_stage.get(info.id),
            info.submitted,
            info.completed,
            info.failure,
            *_made_by(info),
        )
        self._see(info.submitted, info.completed)

    def _job_start(self, event: events.JobStart) -> None:
        properties = event.properties or {}
        query = properties.get("spark.sql.execution.id", "")
        self._jobs[event.id] = Job(
            event.id,
            event.submitted,
            tuple(event.stages),
            int(query) if query.isdecimal() and len(query) < 16 else None,
            properties.get("spark.job.description") or properties.get("callSite.short") or "",
        )
        for stage in event.stages:
            self._job_of_stage[stage] = event.id
        self._see(event.submitted)

    def _job_end(self, event: events.JobEnd) -> None:
        if event.id in self._jobs:
            self._jobs[event.id].completed = event.completed
            self._jobs[event.id].has_failed = event.result.result != "JobSucceeded"
        self._see(event.completed)

    def _executor_added(self, event: events.ExecutorAdded) -> None:
        self._executors[event.id] = Executor(
            event.id, event.info.host, event.info.cores, event.time, event.info.requested
        )
        self._executor_places.setdefault(event.id, len(self._executor_places))
        self._see(event.time)

    def _executor_removed(self, event: events.ExecutorRemoved) -> None:
        if event.id in self._executors:
            self._executors[event.id].removed = event.time
            self._executors[event.id].removed_reason = event.reason
        self._see(event.time)

    def _application_start(self, event: events.ApplicationStart) -> None:
        self._header.update(started=event.time, name=event.name, id=event.id or "")

    def _application_end(self, event: events.ApplicationEnd) -> None:
        self._ended = event.time
        self._see(event.time)

    def _environment(self, event: events.Environment) -> None:
        self._settings = {str(key): str(value) for key, value in event.spark.items()}

    def application(self) -> Application:
        """All of it, on one axis of time that begins with the application."""
        for start in self._running.values():
            start.info.finish = self._last
            self._add_row(start.stage, start.stage_attempt, start.info, None, True)
        self._flush()
        tasks = np.concatenate(self._tables)
        origin = self._origin(tasks)
        if self._damaged > _MOST_REMARKS:
            self.remark(f"and {counted(self._damaged - _MOST_REMARKS, 'more damaged place')}")
        if self._ended is None:
            self.remark("the end of the application is not in the log: analysed up to the last event")
        return Application(
            str(self._header.get("name", "")),
            str(self._header.get("id", "")),
            str(self._header.get("version", "")),
            origin,
            max(self._last - origin, 0),
            self._ended is not None,
            self._settings,
            self._in_places(self._executors, self._executor_places, origin),
            self._relative_jobs(origin),
            self._in_places(self._stages, self._stage_places, origin),
            self._queries,
            _relative(tasks, origin, max(self._last - origin, 0)),
            self._stores,
            tuple(_relative_decision(decision, origin) for decision in self._decisions),
            tuple(self._remarks),
        )

    def _origin(self, tasks: Any) -> int:
        """The start of the application; without it, of the first of its events."""
        times = [job.submitted for job in self._jobs.values() if job.submitted]
        times += [stage.submitted for stage in self._stages.values() if stage.submitted]
        times += [executor.added for executor in self._executors.values() if executor.added]
        times += [int(tasks["begin"].min())] if len(tasks) else []
        started = self._header.get("started")
        return int(started) if started else min(times, default=self._last)

    def _in_places(self, entries: dict[Any, Any], places: dict[Any, int], origin: int) -> tuple[Any, ...]:
        ordered = [entries[key] for key, _ in sorted(places.items(), key=lambda item: item[1])]
        for entry in ordered:
            _shift(entry, origin)
        return tuple(ordered)

    def _relative_jobs(self, origin: int) -> tuple[Job, ...]:
        jobs = tuple(self._jobs[number] for number in sorted(self._jobs))
        for job in jobs:
            _shift(job, origin)
        return jobs


def _shift(entry: Any, origin: int) -> None:
    for name in ("added", "removed", "requested", "submitted", "completed"):
        time = getattr(entry, name, None)
        if time is not None:
            setattr(entry, name, max(time - origin, 0))


def _relative_decision(event: events.PolicyDecision, origin: int) -> PolicyDecision:
    return PolicyDecision(
        max(event.time - origin, 0),
        event.policy,
        event.subject,
        event.outcome,
        event.reason,
        event.before,
        event.after,
        event.evidence,
    )


def _relative(tasks: Any, origin: int, end: int) -> Any:
    """Within the application: a clock that was set back gives no negative times."""
    tasks["begin"] = np.clip(tasks["begin"] - origin, 0, end)
    tasks["end"] = np.clip(np.where(tasks["end"] > 0, tasks["end"] - origin, end), tasks["begin"], end)
    has_result = tasks["getting_result"] > 0
    tasks["getting_result"] = np.where(
        has_result, np.clip(tasks["getting_result"] - origin, tasks["begin"], tasks["end"]), tasks["end"]
    )
    for name in TASK.names or ():
        if TASK[name].kind == "i":
            tasks[name] = np.maximum(tasks[name], 0)
    return tasks[np.lexsort((tasks["id"], tasks["begin"]))]


def _made_by(info: events.StageInfo) -> tuple[str, tuple[str, ...], dict[int, int], int | None]:
    """The place that made a stage's last RDD or plan node, all its operators, and what of it is to be kept.

    Under lazy evaluation the name of a stage is often that of the action, which says nothing about what is computed.
    """
    inner = {parent for rdd in info.rdds for parent in rdd.parents}
    last = [rdd for rdd in info.rdds if rdd.id not in inner] or info.rdds[:1]
    operators: dict[str, None] = {}
    for rdd in sorted(info.rdds, key=lambda rdd: -rdd.id)[:_MOST_OPERATORS]:
        operators[_scope_name(rdd.scope) or rdd.name] = None
    kept = {rdd.id: rdd.partitions for rdd in info.rdds if rdd.level.use_disk or rdd.level.use_memory}
    if not last:
        return info.name, tuple(operators), kept, None
    node, call_site = _scope_name(last[0].scope), last[0].call_site or info.name
    is_plan = any("spark_plan" in rdd.scope for rdd in last)
    place = f"{node} for {call_site}" if is_plan and node else call_site
    return place, tuple(operators), kept, last[0].id


def _scope_name(scope: str) -> str:
    if not scope or len(scope) > 4096:
        return ""
    try:
        name = json.loads(scope).get("name", "")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return str(name)[:200]

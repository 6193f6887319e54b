"""The events of a log that the analysis reads, with the fields that it needs; all others are passed over.

Spark writes one JSON object a line (org.apache.spark.util.JsonProtocol). Times are milliseconds since 1970 by the driver's
clock, unless a name says otherwise. Fields that older versions lack have defaults.
"""

from __future__ import annotations

from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, Struct, field

# Whole numbers that a float holds exactly: what is larger is damage.
_LARGEST = 1 << 53
Whole = Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)]
Id = Annotated[int, Meta(ge=-1, le=(1 << 31) - 1)]
_DOTS = "org.apache.spark.sql.execution.ui."


class ShuffleRead(Struct):
    remote_blocks: Whole = field(name="Remote Blocks Fetched", default=0)
    local_blocks: Whole = field(name="Local Blocks Fetched", default=0)
    wait_ms: Whole = field(name="Fetch Wait Time", default=0)
    remote_bytes: Whole = field(name="Remote Bytes Read", default=0)
    local_bytes: Whole = field(name="Local Bytes Read", default=0)
    records: Whole = field(name="Total Records Read", default=0)


class ShuffleWrite(Struct):
    bytes: Whole = field(name="Shuffle Bytes Written", default=0)
    ns: Whole = field(name="Shuffle Write Time", default=0)


class Input(Struct):
    bytes: Whole = field(name="Bytes Read", default=0)
    records: Whole = field(name="Records Read", default=0)


class StorageLevel(Struct):
    use_disk: bool = field(name="Use Disk", default=False)
    use_memory: bool = field(name="Use Memory", default=False)


class BlockStatus(Struct):
    level: StorageLevel = field(name="Storage Level", default_factory=StorageLevel)
    memory: Whole = field(name="Memory Size", default=0)
    disk: Whole = field(name="Disk Size", default=0)


class Block(Struct):
    id: str = field(name="Block ID")
    status: BlockStatus = field(name="Status", default_factory=BlockStatus)


class TaskMetrics(Struct):
    deserialize_ms: Whole = field(name="Executor Deserialize Time", default=0)
    run_ms: Whole = field(name="Executor Run Time", default=0)
    cpu_ns: Whole = field(name="Executor CPU Time", default=0)
    gc_ms: Whole = field(name="JVM GC Time", default=0)
    serialize_ms: Whole = field(name="Result Serialization Time", default=0)
    memory_spilled: Whole = field(name="Memory Bytes Spilled", default=0)
    disk_spilled: Whole = field(name="Disk Bytes Spilled", default=0)
    peak_memory: Whole = field(name="Peak Execution Memory", default=0)
    read: ShuffleRead = field(name="Shuffle Read Metrics", default_factory=ShuffleRead)
    write: ShuffleWrite = field(name="Shuffle Write Metrics", default_factory=ShuffleWrite)
    input: Input = field(name="Input Metrics", default_factory=Input)
    blocks: list[Block] | None = field(name="Updated Blocks", default=None)


class TaskInfo(Struct):
    id: Whole = field(name="Task ID")
    index: Id = field(name="Index")
    attempt: Id = field(name="Attempt")
    launch: Whole = field(name="Launch Time")
    executor: str = field(name="Executor ID")
    host: str = field(name="Host", default="")
    locality: str = field(name="Locality", default="")
    partition: Id = field(name="Partition ID", default=-1)
    is_speculative: bool = field(name="Speculative", default=False)
    getting_result: Whole = field(name="Getting Result Time", default=0)
    finish: Whole = field(name="Finish Time", default=0)
    failed: bool = field(name="Failed", default=False)
    killed: bool = field(name="Killed", default=False)


class EndReason(Struct):
    reason: str = field(name="Reason", default="")


class TaskStart(Struct):
    stage: Id = field(name="Stage ID")
    stage_attempt: Id = field(name="Stage Attempt ID")
    info: TaskInfo = field(name="Task Info")


class TaskEnd(Struct):
    stage: Id = field(name="Stage ID")
    stage_attempt: Id = field(name="Stage Attempt ID")
    info: TaskInfo = field(name="Task Info")
    reason: EndReason = field(name="Task End Reason", default_factory=EndReason)
    metrics: TaskMetrics | None = field(name="Task Metrics", default=None)


class Rdd(Struct):
    id: Id = field(name="RDD ID")
    name: str = field(name="Name", default="")
    scope: str = field(name="Scope", default="")
    call_site: str = field(name="Callsite", default="")
    parents: list[Id] = field(name="Parent IDs", default_factory=list)
    level: StorageLevel = field(name="Storage Level", default_factory=StorageLevel)
    partitions: Id = field(name="Number of Partitions", default=0)
    cached: Id = field(name="Number of Cached Partitions", default=0)


class StageInfo(Struct):
    id: Id = field(name="Stage ID")
    attempt: Id = field(name="Stage Attempt ID", default=0)
    name: str = field(name="Stage Name", default="")
    tasks: Id = field(name="Number of Tasks", default=0)
    rdds: list[Rdd] = field(name="RDD Info", default_factory=list)
    parents: list[Id] = field(name="Parent IDs", default_factory=list)
    details: str = field(name="Details", default="")
    submitted: Whole | None = field(name="Submission Time", default=None)
    completed: Whole | None = field(name="Completion Time", default=None)
    failure: str | None = field(name="Failure Reason", default=None)


class StageSubmitted(Struct):
    info: StageInfo = field(name="Stage Info")


class StageCompleted(Struct):
    info: StageInfo = field(name="Stage Info")


class JobStart(Struct):
    id: Id = field(name="Job ID")
    submitted: Whole = field(name="Submission Time", default=0)
    stages: list[Id] = field(name="Stage IDs", default_factory=list)
    properties: dict[str, str] | None = field(name="Properties", default=None)


class JobResult(Struct):
    result: str = field(name="Result", default="")


class JobEnd(Struct):
    id: Id = field(name="Job ID")
    completed: Whole = field(name="Completion Time", default=0)
    result: JobResult = field(name="Job Result", default_factory=JobResult)


class ExecutorInfo(Struct):
    host: str = field(name="Host", default="")
    cores: Annotated[int, Meta(ge=0, le=1 << 20)] = field(name="Total Cores", default=0)
    requested: Whole | None = field(name="Request Time", default=None)


class ExecutorAdded(Struct):
    time: Whole = field(name="Timestamp")
    id: str = field(name="Executor ID")
    info: ExecutorInfo = field(name="Executor Info", default_factory=ExecutorInfo)


class ExecutorRemoved(Struct):
    time: Whole = field(name="Timestamp")
    id: str = field(name="Executor ID")
    reason: str = field(name="Removed Reason", default="")


class ApplicationStart(Struct):
    time: Whole = field(name="Timestamp")
    name: str = field(name="App Name", default="")
    id: str | None = field(name="App ID", default=None)


class ApplicationEnd(Struct):
    time: Whole = field(name="Timestamp")


class LogStart(Struct):
    version: str = field(name="Spark Version", default="")


class Environment(Struct):
    spark: dict[str, Any] = field(name="Spark Properties", default_factory=dict)


class QueryStart(Struct):
    id: Whole = field(name="executionId")
    description: str = field(name="description", default="")


class PolicyDecision(Struct):
    """Of the plug-in's own policies (trimtab.spark.policy.PolicyDecision)."""

    time: Whole
    policy: str
    subject: str
    outcome: str
    reason: str
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    evidence: dict[str, float] = {}


Event = (
    TaskStart | TaskEnd | StageSubmitted | StageCompleted | JobStart | JobEnd | ExecutorAdded | ExecutorRemoved
    | ApplicationStart | ApplicationEnd | LogStart | Environment | QueryStart
    | PolicyDecision
)  # fmt: skip
_TYPES: dict[str, type[Struct]] = {
    "SparkListenerTaskStart": TaskStart,
    "SparkListenerTaskEnd": TaskEnd,
    "SparkListenerStageSubmitted": StageSubmitted,
    "SparkListenerStageCompleted": StageCompleted,
    "SparkListenerJobStart": JobStart,
    "SparkListenerJobEnd": JobEnd,
    "SparkListenerExecutorAdded": ExecutorAdded,
    "SparkListenerExecutorRemoved": ExecutorRemoved,
    "SparkListenerApplicationStart": ApplicationStart,
    "SparkListenerApplicationEnd": ApplicationEnd,
    "SparkListenerLogStart": LogStart,
    "SparkListenerEnvironmentUpdate": Environment,
    f"{_DOTS}SparkListenerSQLExecutionStart": QueryStart,
    "trimtab.spark.policy.PolicyDecision": PolicyDecision,
}
_DECODERS = {name.encode(): msgspec.json.Decoder(kind) for name, kind in _TYPES.items()}
_PREFIX = b'{"Event":"'
_LONGEST_NAME = 200


class _Named(Struct):
    event: str = field(name="Event")


_NAMES = msgspec.json.Decoder(_Named)


def _named(line: bytes) -> bytes:
    """Of a line that somebody has written anew, with spaces or in another order."""
    try:
        return _NAMES.decode(line).event.encode()
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected an event, found {line[:40]!r}") from error


def decode(line: bytes) -> Event | None:
    """The event of one line; None: one that the analysis does not need.

    Raises:
        ValueError: the line is no event, or a damaged one (msgspec's errors are of this kind).
    """
    if line.startswith(_PREFIX):
        end = line.find(b'"', len(_PREFIX), len(_PREFIX) + _LONGEST_NAME)
        name = line[len(_PREFIX) : end]
    else:
        name = _named(line)
    decoder = _DECODERS.get(name)
    if decoder is None:
        return None
    event: Any = decoder.decode(line)
    return cast("Event", event)

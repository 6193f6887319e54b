"""A run of a Spark program: the report of its event log, with what was recorded inside its JVMs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from trimtab.analysis.findings import finding
from trimtab.analysis.report import build
from trimtab.counted import counted
from trimtab.model import OUTCOMES, Process, Run, RunError
from trimtab.model.enumerations import (
    STORAGE_CALLS,
    STORAGE_CLASSES,
    Cause,
    Missing,
    Outcome,
    StorageCall,
    StorageClass,
)
from trimtab.model.report import (
    Change,
    CounterSeries,
    Decision,
    Finding,
    ProcessSummary,
    Report,
    Stage,
    StorageCalls,
    Unavailable,
)
from trimtab.paths import spark_event_logs
from trimtab.spark.logs import Log, logs_at
from trimtab.spark.reading import Advance
from trimtab.spark.report import build_spark

# What the plug-in writes down of each JVM, and of the driver.
_EXECUTOR = "spark executor"
_DROPPED = "spark/events dropped"
_POOL, _OPEN_NS = "spark shuffle files", "spark shuffle open ns"
_POOL_OPTION = "spark.trimtab.pooledShuffle.enabled"
_OPEN = STORAGE_CALLS[StorageCall.OPEN]
_SHUFFLES = (STORAGE_CLASSES[StorageClass.SHUFFLE_READ], STORAGE_CLASSES[StorageClass.SHUFFLE_WRITE])
# A task opens some files of its own; this many in each task are those of the partitions on the other side of a shuffle.
_MANY_OPENS_PER_TASK = 40
_MANY_OPENS = 1000
# A finding that would give back less is left out, as everywhere.
_LEAST_SHARE = 0.01

_StageId = tuple[int, int]


def event_log_of(directory: Path) -> Log | None:
    """The event log in a run directory; None: there is none. Of several applications in one run, the first."""
    folder = spark_event_logs(directory)
    if not folder.is_dir() or folder.is_symlink():
        return None
    try:
        return logs_at(folder)[0]
    except (RunError, OSError):
        return None


def build_spark_run(run: Run, log: Log, advance: Advance = lambda _: None) -> Report:
    """The report of the log, with the JVMs' processes and their calls on files.

    Raises:
        RunError: the log cannot be read.
    """
    inside, report = build(run), build_spark(log, advance)
    others = _other_applications(run, log)
    # Every application numbers its stages and executors from 0, so nothing says whose a call on a file is.
    storage = () if others else _with_readers(_renamed(inside.storage, run))
    names = {
        process.directory.name: _name(process) for process in run.processes if _EXECUTOR in process.facts
    }
    findings = [*report.findings, *_wide_shuffles(report, storage)]
    return replace(
        report,
        command=tuple(map(str, run.info.get("argv") or report.command)),
        machine={**inside.machine, **report.machine},
        processes=tuple(_with_jvm(row, inside.processes, names) for row in report.processes),
        counters=tuple(_counter(row, names) for row in inside.counters if row.process in names),
        findings=tuple(sorted(_joined(findings), key=lambda row: -row.gain_s)),
        unavailable=(
            *others,
            *_still_unavailable(report, storage),
            *_dropped(run),
            *_without_pool(run, names),
            *(row for row in inside.unavailable if row.kind is not Missing.REGIONS),
        ),
        storage=storage,
        decisions=(*report.decisions, *_pools(run, names)),
    )


def _name(process: Process) -> str:
    """What the report of an event log calls the process."""
    return f"executor {process.facts[_EXECUTOR]}"


def _renamed(rows: Iterable[StorageCalls], run: Run) -> list[StorageCalls]:
    names = {
        process.directory.name: _name(process) for process in run.processes if _EXECUTOR in process.facts
    }
    return [replace(row, process=names.get(row.process, row.process)) for row in rows]


def _with_readers(rows: list[StorageCalls]) -> tuple[StorageCalls, ...]:
    """Reads by threads that serve other executors belong to the stage that reads the shuffle, where only one does."""
    readers: dict[str, set[_StageId]] = defaultdict(set)
    for row in rows:
        if row.file_class == _SHUFFLES[0] and row.stage is not None and row.attempt is not None:
            readers[row.group].add((row.stage, row.attempt))
    return tuple(_with_reader(row, readers) for row in rows)


def _with_reader(row: StorageCalls, readers: dict[str, set[_StageId]]) -> StorageCalls:
    stages = readers.get(row.group, set())
    if row.file_class != _SHUFFLES[0] or row.stage is not None or len(stages) != 1:
        return row
    ((stage, attempt),) = stages
    return replace(row, stage=stage, attempt=attempt)


def _with_jvm(row: ProcessSummary, inside: Iterable[ProcessSummary], names: dict[str, str]) -> ProcessSummary:
    """An executor's row with the figures of its JVM; in local mode the driver is the only executor."""
    jvm = next((other for other in inside if names.get(other.id) == row.id), None)
    if jvm is None:
        return row
    return replace(
        row,
        pid=jvm.pid,
        image=jvm.image,
        ppid=jvm.ppid,
        host=jvm.host or row.host,
        cpu_s=jvm.cpu_s,
        run_delay_s=jvm.run_delay_s,
    )


def _counter(row: CounterSeries, names: dict[str, str]) -> CounterSeries:
    return replace(row, process=names[row.process])


def _still_unavailable(report: Report, storage: tuple[StorageCalls, ...]) -> list[Unavailable]:
    """What the log alone does not have, without what was counted."""
    if not storage:
        return list(report.unavailable)
    return [row for row in report.unavailable if not row.what.startswith("opens of files")]


def _other_applications(run: Run, log: Log) -> list[Unavailable]:
    """An entry, if the program has started Spark more than once."""
    folder = spark_event_logs(run.directory)
    try:
        count = len(logs_at(folder)) if log.path.parent == folder else 1
    except (RunError, OSError):
        count = 1
    if count == 1:
        return []
    why = f"this run has {count} event logs, and this is the report of {log.path.name}"
    return [Unavailable("the other applications, and calls on files", why, f"trimtab spark {folder}")]


def _pools(run: Run, names: dict[str, str]) -> list[Decision]:
    """Executors that keep their shuffle files open, because opens are slow there or the user says it."""
    return [
        Decision(
            process=names[process.directory.name],
            number=1,
            time_s=0.0,
            subject="shuffle files",
            key="spark/shuffle files",
            notes={},
            changes=(Change("shuffle files", "closed after each block", "kept open"),),
            outcome=OUTCOMES[Outcome.SET],
            policy=None,
            reason=f"an open takes {open_us:.0f} us" if open_us else f"{_POOL_OPTION}=true",
            evidence={"open_us": open_us} if open_us else {},
            gain=None,
            uncertainty=None,
            pairs=0,
        )
        for process, is_pooled, open_us in _pool_notes(run, names)
        if is_pooled
    ]


def _without_pool(run: Run, names: dict[str, str]) -> list[Unavailable]:
    return [
        Unavailable(
            "pooled shuffle files",
            f"{names[process.directory.name]}: an open takes {open_us:.0f} us, so files are not kept open"
            if open_us
            else f"{names[process.directory.name]}: {_POOL_OPTION}=false",
            f"{_POOL_OPTION}=true",
            Missing.OTHER,
        )
        for process, is_pooled, open_us in _pool_notes(run, names)
        if not is_pooled
    ]


def _pool_notes(run: Run, names: dict[str, str]) -> Iterator[tuple[Process, bool, float]]:
    """Process, whether it keeps files open, and microseconds of an open (0: not measured), of executors that have decided."""
    for process in run.processes:
        text = process.facts.get(_OPEN_NS, "")
        if process.directory.name in names and text.isascii() and text.isdecimal():
            yield process, process.facts.get(_POOL) == "kept open", int(text) * 1e-3


def _dropped(run: Run) -> list[Unavailable]:
    """Events that Spark's bus dropped are not in the log, which is short by them."""
    count = max((_last(process, _DROPPED) for process in run.processes), default=0)
    if not count:
        return []
    return [
        Unavailable(
            "part of the log",
            f"Spark's listener bus dropped {counted(count, 'event')}: listeners were too slow",
            "spark.scheduler.listenerbus.eventqueue.capacity",
            Missing.RECORD,
        )
    ]


def _last(process: Process, name: str) -> int:
    """The last sample of a counter; 0: none."""
    numbers = [number for number, counter in process.counters.items() if counter.name == name]
    values = [process.samples["value"][process.samples["counter"] == number] for number in numbers]
    return max((int(of_counter[-1]) for of_counter in values if len(of_counter)), default=0)


def _wide_shuffles(report: Report, storage: tuple[StorageCalls, ...]) -> list[Finding]:
    """gain = time in opens of shuffle files / core slots: a bound, as if they took no time."""
    slots = max(report.threads or 1, 1)
    labels = {region.key: region.name for region in report.regions}
    findings = []
    for stage in report.stages:
        opens = [
            row
            for row in storage
            if row.call == _OPEN
            and row.file_class in _SHUFFLES
            and (row.stage, row.attempt) == (stage.id, stage.attempt)
        ]
        count = sum(row.count for row in opens)
        if count >= max(_MANY_OPENS, _MANY_OPENS_PER_TASK * stage.attempts):
            findings.append(_wide_shuffle(stage, labels.get(stage.key, stage.key), opens, slots))
    return [row for row in findings if row.gain_s >= _LEAST_SHARE * report.wall_s or _is_known(row, report)]


def _wide_shuffle(stage: Stage, label: str, opens: list[StorageCalls], slots: int) -> Finding:
    count, total_s = sum(row.count for row in opens), sum(row.total_s for row in opens)
    slowest = max(opens, key=lambda row: row.p99_s)
    return finding(
        Cause.WIDE_SHUFFLE,
        label,
        f"its {counted(stage.attempts, 'task')} opened shuffle files {count} times, which took {total_s:.3g} s of their time "
        f"(99th percentile {slowest.p99_s * 1e6:.3g} us): each task opens files for all partitions on the other side",
        "fewer partitions on both sides of the shuffle; spark.sql.adaptive.enabled=true puts small ones together; "
        "spark.shuffle.sort.bypassMergeThreshold=1 saves the opens of writing",
        total_s / slots,
    )


def _is_known(row: Finding, report: Report) -> bool:
    return any((other.cause, other.subject) == (row.cause, row.subject) for other in report.findings)


def _joined(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each cause and stage: what was counted comes behind what the log says."""
    by_subject: dict[tuple[str, str | None], Finding] = {}
    for row in findings:
        key = (row.cause, row.subject)
        first = by_subject.get(key)
        if first is None or row.cause != Cause.WIDE_SHUFFLE:
            by_subject[key if first is None else (f"{row.cause} {len(by_subject)}", row.subject)] = row
            continue
        evidence = f"{first.evidence}; {row.evidence}"
        by_subject[key] = replace(first, evidence=evidence, gain_s=max(first.gain_s, row.gain_s))
    return list(by_subject.values())

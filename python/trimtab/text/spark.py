"""The report of a Spark application as text."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from trimtab.counted import counted
from trimtab.model.enumerations import STORAGE_CLASSES, BlameCause, Missing, StorageClass
from trimtab.model.report import Report, Spark, SparkGroup, Stage, StorageCalls
from trimtab.text.console import Console, output, table
from trimtab.text.decisions import decision_line
from trimtab.text.units import percent, rounded, seconds

_MOST_ROWS = 12
_LEAST_SHARE = 0.0005
_WORDS = {
    "application": "application code",
    "fetch_network": "fetch over the network",
    "fetch_disk": "fetch from disk",
    "gc": str(BlameCause.GARBAGE_COLLECTION),
    "scheduler_delay": str(BlameCause.SCHEDULER_DELAY),
    "failed": str(BlameCause.FAILED_TASKS),
    "stage_barrier": "idle: stage barrier",
    "straggler": "idle: straggler",
    "skew": "idle: skew",
    "few_partitions": "idle: too few partitions",
    "executor_start": "idle: executor start",
    "driver": "idle: driver busy",
    "pending": "idle: tasks pending",
}
# What every JVM does, whatever the job.
_NOT_SHOWN = tuple(
    STORAGE_CLASSES[kind] for kind in (StorageClass.OTHER, StorageClass.CODE, StorageClass.SYSTEM)
)
_GROUPS = ("job", "query", "executor", "host", "line")


def spark_tables(report: Report, log: Path) -> None:
    """The verdict, findings, and tables, on standard output."""
    console = output()
    spark = report.spark
    if spark is None:
        return
    _head(report, spark, log, console)
    _shares(spark, console)
    _findings(report, console)
    for decision in report.decisions:
        console.print("decided " + escape(decision_line(decision)))
    _what_if(report, spark, console)
    _stages(report.stages, console)
    _storage(report.storage, console)
    for kind in _GROUPS:
        _groups(kind, [group for group in spark.groups if group.group == kind], console)
    for missing in report.unavailable:
        if missing.kind is not Missing.RECORD:
            console.print(f"not available: {escape(missing.what)}: {escape(missing.why)}")


def _head(report: Report, spark: Spark, log: Path, console: Console) -> None:
    console.print(f"[bold]{escape(report.program or spark.application)}[/]  {escape(str(log))}")
    for missing in report.unavailable:
        if missing.kind is Missing.RECORD:
            console.print(f"remark: {escape(missing.why)}")
    if report.efficiency is None or report.cpus_available is None:
        console.print(f"{seconds(report.wall_s)}; no executor and no task is in the log")
        return
    console.print(
        f"{percent(report.efficiency)} of the time of {rounded(report.cpus_available)} core slots over "
        f"{seconds(report.wall_s)} was application code ({counted(spark.executors, 'executor')}, Spark {escape(spark.version)})"
    )


def _shares(spark: Spark, console: Console) -> None:
    rows = table("share of core time", "", title="where the time of the core slots went")
    for name, share in sorted(spark.time.items(), key=lambda item: -item[1]):
        if share >= _LEAST_SHARE:
            rows.add_row(_WORDS.get(name, name), percent(share))
    console.print(rows)


def _findings(report: Report, console: Console) -> None:
    for finding in report.findings:
        subject = f" at {finding.subject}" if finding.subject else ""
        gain = f" (up to {seconds(finding.gain_s)})" if finding.gain_s > 0 else ""
        console.print(f"[bold]{escape(finding.cause)}{escape(subject)}[/]{gain}")
        console.print(f"  {escape(finding.evidence)}")
        console.print(f"  -> {escape(finding.action)}")


def _what_if(report: Report, spark: Spark, console: Console) -> None:
    """The error first: it says what the rest is worth."""
    if spark.replay_error is None:
        return
    console.print(f"replay of the unchanged schedule: {spark.replay_error:+.1%} off")
    if not spark.replay_trusted:
        console.print("too far off: no what-if; gains of findings are bounds (idle core time / slots)")
        return
    rows = table("what if", "would take", "gain", title=f"by replay; it took {seconds(report.wall_s)}")
    for change in report.what_if[1:]:
        if abs(change.gain_s) < _LEAST_SHARE * report.wall_s:
            continue
        rows.add_row(escape(change.change), seconds(max(change.predicted_s, 0.0)), _signed(change.gain_s))
    console.print(rows)


def _signed(value: float) -> str:
    return seconds(value) if value >= 0 else f"-{seconds(-value)}"


def _stages(stages: tuple[Stage, ...], console: Console) -> None:
    columns = ("tasks", "core time", "median", "longest", "idle", "stragglers", "spilled", "sensitivity")
    rows = table("stage", *columns, title="stages, most core time first")
    order = sorted(stages, key=lambda stage: -(stage.core_time_s + sum(stage.idle.values())))
    for stage in order[:_MOST_ROWS]:
        rows.add_row(
            escape(f"{stage.id}.{stage.attempt} {stage.place}"),
            str(stage.attempts),
            seconds(stage.core_time_s),
            seconds(stage.median_s),
            seconds(stage.longest_s),
            seconds(sum(stage.idle.values())),
            str(stage.stragglers or ""),
            f"{stage.spilled_bytes} B" if stage.spilled_bytes else "",
            "" if stage.sensitivity is None else f"{stage.sensitivity:.2f}",
        )
    console.print(rows)
    if len(order) > _MOST_ROWS:
        console.print(f"and {counted(len(order) - _MOST_ROWS, 'more stage')} (--json has all)")


def _groups(kind: str, groups: list[SparkGroup], console: Console) -> None:
    if len(groups) < 2:
        return
    rows = table(kind, "core time", "most of it")
    for group in groups[:_MOST_ROWS]:
        most = sorted(group.time.items(), key=lambda item: -item[1])[:3]
        words = ", ".join(f"{_WORDS.get(name, name)} {seconds(value)}" for name, value in most)
        rows.add_row(escape(group.name), seconds(group.core_time_s), words)
    console.print(rows)


def _storage(calls: tuple[StorageCalls, ...], console: Console) -> None:
    """Calls on files by stage and class, over all executors; only what takes part in the job."""
    groups: dict[tuple[int, str, str], list[StorageCalls]] = {}
    for row in calls:
        if row.file_class not in _NOT_SHOWN:
            stage = -1 if row.stage is None else row.stage
            groups.setdefault((stage, row.file_class, row.call), []).append(row)
    columns = ("count", "bytes", "time", "median", "99th percentile", "longest")
    rows = table("stage", "files", "call", *columns, title="calls on files, most time first")
    order = sorted(groups.items(), key=lambda item: -sum(row.total_s for row in item[1]))
    for (stage, file_class, call), members in order[: 2 * _MOST_ROWS]:
        largest = max(members, key=lambda row: row.count)
        rows.add_row(
            "" if stage < 0 else str(stage),
            file_class,
            call,
            str(sum(row.count for row in members)),
            str(sum(row.bytes for row in members) or ""),
            seconds(sum(row.total_s for row in members)),
            seconds(largest.median_s),
            seconds(max(row.p99_s for row in members)),
            seconds(max(row.longest_s for row in members)),
        )
    if order:
        console.print(rows)

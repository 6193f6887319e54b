"""Settings of Spark that are worth trying at the start, after what the event log of a run has shown."""

from __future__ import annotations

from collections.abc import Iterator

from trimtab.launcher.spark import SETTINGS_VARIABLE, is_of_user, settings_text
from trimtab.model.enumerations import Cause
from trimtab.model.report import Finding, Report
from trimtab.tuning.multi_run import Start
from trimtab.tuning.start_situation import WIDE, Situation

# Partitions for each core slot, the likeliest first: Spark's own advice is 2 to 3.
_PER_SLOT = (3, 1)
# Share of the core time in which tasks could have run on idle slots, from which on a shorter wait for locality is tried.
_PENDING_SHARE = 0.03
_WITHOUT_EVIDENCE = (
    {"spark.locality.wait": "0s"},
    {"spark.sql.adaptive.enabled": "false"},
    {"spark.shuffle.sort.bypassMergeThreshold": "1"},
)


def spark_starts(situation: Situation) -> list[Start]:
    """The likeliest first; nothing that the user has set, and none for a program that is not one of Spark."""
    report = situation.report
    if report.spark is None:
        return []
    candidates = [*_by_finding(report), *_by_idle_time(report)]
    if situation.is_wide:
        candidates += [(settings, WIDE) for settings in (*_WITHOUT_EVIDENCE, *_partitions(report))]
    command = list(situation.command)
    starts: dict[str, Start] = {}
    for settings, reason in candidates:
        left_open = {
            name: value
            for name, value in settings.items()
            if not is_of_user(name, command, situation.environment)
        }
        text = settings_text(left_open)
        if left_open and text not in starts:
            starts[text] = Start({SETTINGS_VARIABLE: text}, reason)
    return list(starts.values())


def _by_finding(report: Report) -> Iterator[tuple[dict[str, str], str]]:
    """For each cause by its largest finding, in the order of the gains."""
    largest: dict[Cause, Finding] = {}
    for finding in report.findings:
        largest.setdefault(Cause(finding.cause), finding)
    for cause, finding in largest.items():
        for settings in _settings_for(cause, report):
            yield settings, finding.evidence


def _settings_for(cause: Cause, report: Report) -> list[dict[str, str]]:
    if cause in (Cause.MANY_SMALL_TASKS, Cause.FEW_PARTITIONS):
        return _partitions(report)
    if cause is Cause.SPILL:
        most = max((stage.tasks for stage in report.stages if stage.spilled_bytes), default=0)
        return [_partitioned(2 * most)] if most else []
    if cause is Cause.WIDE_SHUFFLE:
        return [{"spark.shuffle.sort.bypassMergeThreshold": "1"}, *_partitions(report)]
    if cause is Cause.STRAGGLER:
        # Spark copies a task to another host only.
        return [{"spark.speculation": "true"}] if len(report.hosts) > 1 else []
    if cause is Cause.SKEW:
        return [
            {"spark.sql.adaptive.enabled": "true", "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "2"}
        ]
    return []


def _partitions(report: Report) -> list[dict[str, str]]:
    slots = report.spark.slots if report.spark is not None else 0
    return [_partitioned(slots * count) for count in _PER_SLOT] if slots else []


def _partitioned(count: int) -> dict[str, str]:
    """Of SQL and of RDDs: the report does not say which of them the program leaves open."""
    return {"spark.sql.shuffle.partitions": str(count), "spark.default.parallelism": str(count)}


def _by_idle_time(report: Report) -> Iterator[tuple[dict[str, str], str]]:
    share = report.spark.time.get("pending", 0.0) if report.spark is not None else 0.0
    if share > _PENDING_SHARE:
        yield (
            {"spark.locality.wait": "0s"},
            f"for {share:.0%} of the core time slots were idle while tasks could have run on them",
        )

"""The report of a Spark application: the same types as of every run, and `stages` and `spark` besides.

Executors are processes, core slots lanes, stages regions and kinds of tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import trimtab
from trimtab.analysis.account import SHARES
from trimtab.analysis.blame import EVENTS
from trimtab.model import OUTCOMES
from trimtab.model.enumerations import BlameCause, Missing
from trimtab.model.report import (
    Blamed,
    Change,
    Decision,
    Exit,
    LaneSummary,
    Overhead,
    ProcessSummary,
    Report,
    System,
    TaskKind,
    Unavailable,
)
from trimtab.model.report import WhatIf as ReportedWhatIf
from trimtab.spark.application import Application
from trimtab.spark.attribution import IDLE, PARTS, Attribution, attribute
from trimtab.spark.findings import spark_findings
from trimtab.spark.logs import Log
from trimtab.spark.reading import Advance, read
from trimtab.spark.regions import regions_of, timeline_of
from trimtab.spark.slots import Slots, slots_of
from trimtab.spark.stages import spark_of, stages_of
from trimtab.spark.sweep import Numbers
from trimtab.spark.what_if import WhatIf

# Of the parts of tasks and the causes of idle time: the share that every report has, and what is to blame.
_MEANING: dict[str, tuple[str, BlameCause | None]] = {
    "application": ("work", None),
    "deserialization": ("runtime", BlameCause.DESERIALIZATION),
    "serialization": ("runtime", BlameCause.SERIALIZATION),
    "fetch_network": ("runtime", BlameCause.FETCH),
    "fetch_disk": ("runtime", BlameCause.FETCH),
    "spill": ("runtime", BlameCause.SPILL),
    "gc": ("runtime", BlameCause.GARBAGE_COLLECTION),
    "scheduler_delay": ("runtime", BlameCause.SCHEDULER_DELAY),
    "failed": ("runtime", BlameCause.FAILED_TASKS),
    "unattributed": ("unattributed", BlameCause.UNATTRIBUTED),
    "stage_barrier": ("barrier_wait", BlameCause.STAGE_BARRIER),
    "straggler": ("barrier_wait", BlameCause.STRAGGLER),
    "skew": ("barrier_wait", BlameCause.SKEW),
    "few_partitions": ("starved", BlameCause.FEW_PARTITIONS),
    "executor_start": ("arrival", BlameCause.EXECUTOR_START),
    "driver": ("serial", BlameCause.DRIVER_BUSY),
    "pending": ("runtime", BlameCause.PENDING_TASKS),
}

_DRIVER = "driver"


@dataclass(frozen=True)
class Analysis:
    """All that is known of one application."""

    application: Application
    slots: Slots
    attribution: Attribution
    what_if: WhatIf


def analyse(log: Log, advance: Advance = lambda _: None) -> Analysis:
    """Read a log and account for its time.

    Raises:
        RunError: it cannot be read, or is none.
    """
    application = read(log, advance)
    slots = slots_of(application)
    attribution = attribute(application, slots)
    return Analysis(application, slots, attribution, WhatIf(application, slots, attribution))


def build_spark(log: Log, advance: Advance = lambda _: None) -> Report:
    """The report of one log; see `analyse`."""
    return report_of(analyse(log, advance))


def report_of(analysis: Analysis) -> Report:
    """The report of an analysed application."""
    application, slots, attribution = analysis.application, analysis.slots, analysis.attribution
    capacity_s, wall_s = slots.capacity_ms * 1e-3, application.end * 1e-3
    time = _shares(attribution.total, slots.capacity_ms)
    tasks = application.tasks
    return Report(
        trimtab=trimtab.__version__,
        program=application.name,
        command=(application.name,),
        level="trace",
        started_real_ns=application.started_ms * 1e6,
        machine={"spark": application.version, "application": application.id},
        complete=application.is_complete,
        exit=Exit(0 if application.is_complete else None, None),
        steering=None,
        hosts=tuple(dict.fromkeys(executor.host for executor in application.executors if executor.host)),
        processes=tuple(_process(analysis, at) for at in range(len(application.executors))),
        wall_s=wall_s,
        observed_s=wall_s,
        capacity_s=capacity_s if slots.capacity_ms else None,
        cpus_available=capacity_s / wall_s if slots.capacity_ms and wall_s else None,
        threads=len(slots.executor) or None,
        efficiency=time["work"] if slots.capacity_ms else None,
        time=time if slots.capacity_ms else None,
        regions=regions_of(application, slots, attribution),
        tasks=_task_kinds(application),
        scopes=(),
        os=System(None, None, None, None, None, float(tasks["cpu_ns"].sum()) * 1e-9, None),
        overhead=Overhead(0.0, 0.0, 0.0, 0.0, 0, 0),
        unavailable=_unavailable(analysis),
        findings=tuple(spark_findings(application, slots, attribution, analysis.what_if)),
        blame=_blame(application, attribution, slots.capacity_ms),
        phases=(),
        critical_path=(),
        pop=None,
        what_if=_what_ifs(analysis),
        workers=(),
        network=None,
        kernel=None,
        decisions=tuple(_decisions(application)),
        schedulers=(),
        lanes=_lanes(analysis),
        counters=(),
        energy=None,
        cpu_use=(),
        counter_use=(),
        timeline=timeline_of(application, slots),
        stages=stages_of(application, attribution, analysis.what_if),
        task_times=(),
        idle_regions=(),
        idle_region_groups=(),
        no_idle_regions="idle time of core slots is in `blame` and `stages`",
        spark=spark_of(application, slots, attribution, analysis.what_if),
        storage=(),
    )


def _decisions(application: Application) -> Iterator[Decision]:
    """Those of the plug-in's policies that say what became of them."""
    known = set(OUTCOMES.values())
    for number, decision in enumerate(application.decisions, 1):
        if decision.outcome in known:
            yield Decision(
                process=_DRIVER,
                number=number,
                time_s=decision.time * 1e-3,
                subject=decision.subject,
                key=f"spark/{decision.subject}",
                notes={},
                changes=tuple(
                    Change(name, decision.before.get(name, ""), value)
                    for name, value in decision.after.items()
                ),
                outcome=decision.outcome,
                policy=decision.policy,
                reason=decision.reason,
                evidence=decision.evidence,
                gain=None,
                uncertainty=None,
                pairs=0,
            )


def _what_ifs(analysis: Analysis) -> tuple[ReportedWhatIf, ...]:
    """The unchanged replay, then the shortest first."""
    if not len(analysis.application.tasks):
        return ()
    wall_ms, error = analysis.application.end, analysis.what_if.error
    is_complete = analysis.application.is_complete
    basis = EVENTS if is_complete else f"{EVENTS} until {wall_ms * 1e-3:.3g} s (no end recorded)"
    replayed = [("nothing: the replay of this run", analysis.what_if.unchanged.total)]
    replayed += [(change.change, change.total) for change in analysis.what_if.changes()]
    return tuple(
        ReportedWhatIf(
            change,
            None,
            None,
            total * 1e-3,
            max(total - abs(error) * wall_ms, 0.0) * 1e-3,
            (total + abs(error) * wall_ms) * 1e-3,
            (wall_ms - total) * 1e-3,
            error,
            basis,
        )
        for change, total in replayed
    )


def _shares(total: dict[str, float], capacity: float) -> dict[str, float]:
    shares = dict.fromkeys(SHARES, 0.0)
    for name, time in total.items():
        shares[_MEANING[name][0]] += time / capacity if capacity else 0.0
    rounding = 1.0 - sum(shares.values())
    shares["unattributed"] = max(shares["unattributed"] + rounding, 0.0)
    return shares


def _blame(application: Application, attribution: Attribution, capacity: float) -> tuple[Blamed, ...]:
    """Everything but work, by cause and stage; parts of tasks count for their own stage."""
    if not capacity:
        return ()
    count = len(application.stages) + 1
    stage = application.tasks["stage"].astype(np.int64)
    sums: dict[tuple[BlameCause, int], float] = {}
    by_stage: Numbers
    for column, name in enumerate((*PARTS, *IDLE)):
        cause = _MEANING[name][1]
        if cause is None:
            continue
        if column < len(PARTS):
            by_stage = np.bincount(stage, attribution.parts[:, column], minlength=count).astype(float)
        else:
            by_stage = attribution.idle_by_stage[:, column - len(PARTS)]
        for at in np.flatnonzero(by_stage > 0).tolist():
            sums[cause, at] = sums.get((cause, at), 0.0) + float(by_stage[at])
    rows = []
    for (cause, at), time in sums.items():
        place = application.stages[at] if at < count - 1 else None
        rows.append(
            Blamed(
                cause=cause,
                subject=None if place is None else place.label,
                key=None if place is None else place.key,
                lane_time_s=time * 1e-3,
                share=time / capacity,
                basis=EVENTS,
                reason="the event log says nothing of this time"
                if cause is BlameCause.UNATTRIBUTED
                else None,
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.share, row.cause, row.subject or "")))


def _process(analysis: Analysis, at: int) -> ProcessSummary:
    application, slots = analysis.application, analysis.slots
    executor = application.executors[at]
    own = slots.executor == at
    begin = int(slots.begin[own].min(initial=application.end)) if own.any() else executor.added or 0
    end = int(slots.end[own].max(initial=0)) if own.any() else begin
    capacity = float((slots.end - slots.begin)[own].sum())
    is_task = application.tasks["executor"] == at
    sums = [
        *analysis.attribution.parts[is_task].sum(axis=0),
        *analysis.attribution.idle_by_executor[at],
    ]
    time = _shares(dict(zip((*PARTS, *IDLE), map(float, sums), strict=True)), capacity)
    return ProcessSummary(
        id=f"executor {executor.id}",
        pid=0,
        image=0,
        ppid=0,
        forked_from=None,
        host=executor.host or None,
        rank=None,
        size=None,
        command=(f"executor {executor.id}",),
        begin_s=begin * 1e-3,
        started_real_ns=(application.started_ms + begin) * 1e6,
        wall_s=(end - begin) * 1e-3,
        cpu_s=float(application.tasks["cpu_ns"][is_task].sum()) * 1e-9,
        lanes=int(own.sum()),
        workers=0,
        regions=len(np.unique(application.tasks["stage"][is_task])),
        calls=int(is_task.sum()),
        complete=executor.removed is None and application.is_complete,
        ended="exit" if executor.removed is None and application.is_complete else None,
        takes_part=capacity > 0,
        cpus_available=float(own.sum()),
        threads=int(own.sum()),
        efficiency=time["work"] if capacity else None,
        time=time if capacity else None,
        run_delay_s=0.0,
        timeline=None,
    )


def _lanes(analysis: Analysis) -> tuple[LaneSummary, ...]:
    """A row a core slot."""
    slots, application = analysis.slots, analysis.application
    busy = np.bincount(slots.slot, slots.until - application.tasks["begin"], minlength=len(slots.executor))
    numbers: dict[int, int] = {}
    rows = []
    for at, owner in enumerate(slots.executor.tolist()):
        number = numbers[owner] = numbers.get(owner, -1) + 1
        name = f"executor {application.executors[owner].id}"
        rows.append(
            LaneSummary(
                name, number, "executor", f"core slot {number}", 0, 1, float(busy[at]) * 1e-3, 0.0, 0, 0, None
            )
        )
    return tuple(rows)


def _task_kinds(application: Application) -> tuple[TaskKind, ...]:
    """A row a stage."""
    tasks = application.tasks
    durations = (tasks["end"] - tasks["begin"]) * 1e-3
    rows = []
    for at, stage in enumerate(application.stages):
        own = tasks["stage"] == at
        count = int(own.sum())
        if not count:
            continue
        executors = np.unique(tasks["executor"][own]).tolist()
        rows.append(
            TaskKind(
                key=stage.key,
                name=stage.label,
                count=count,
                timed=count,
                total_s=float(durations[own].sum()),
                mean_s=float(durations[own].mean()),
                longest_s=float(durations[own].max()),
                includes_inner=False,
                created=count,
                suspended=0,
                suspended_s=0.0,
                processes=tuple(f"executor {application.executors[place].id}" for place in executors),
            )
        )
    return tuple(sorted(rows, key=lambda row: -(row.total_s or 0.0)))


def _unavailable(analysis: Analysis) -> tuple[Unavailable, ...]:
    application = analysis.application
    rows = [
        Unavailable("part of the log", remark, "the rest is in this report", Missing.RECORD)
        for remark in application.remarks
    ]
    if not analysis.attribution.spill_is_known and application.tasks["disk_spilled"].any():
        rows.append(
            Unavailable(
                "time of spills",
                "the log has their bytes only, and no shuffle was written to tell the rate from; it is in `application`",
                "none",
                Missing.OTHER,
            )
        )
    rows.append(
        Unavailable(
            "opens of files, and reads of local shuffle blocks",
            "event logs do not have them; reads are in `application`",
            "none from the log alone",
            Missing.OTHER,
        )
    )
    if not analysis.what_if.is_trusted:
        rows.append(
            Unavailable(
                "what-if",
                f"the unchanged replay is {analysis.what_if.error:+.1%} off, so nothing is claimed",
                "gains of findings are bounds: idle core time / slots",
                Missing.OTHER,
            )
        )
    return tuple(rows)

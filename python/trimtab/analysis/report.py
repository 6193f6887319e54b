"""A whole report (trimtab.model.report; docs/reference/metrics.md has the formulas)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import trimtab
from trimtab.analysis.blame import blame_of, path_of, phases_of_job, pop_of
from trimtab.analysis.counter_use import counter_use
from trimtab.analysis.counters import counters
from trimtab.analysis.decisions import decisions
from trimtab.analysis.energy import energy_of
from trimtab.analysis.explained import with_chains
from trimtab.analysis.idle_report import tasks_over_time
from trimtab.analysis.job import Job, job_of, with_unseen, without_launchers
from trimtab.analysis.job_findings import job_findings
from trimtab.analysis.job_timeline import job_timeline
from trimtab.analysis.kept_intervals import KeptIntervals
from trimtab.analysis.kernel import kernel_of, with_preemptors
from trimtab.analysis.limits import with_limits
from trimtab.analysis.merging import merge_regions, merge_scopes, merge_tasks
from trimtab.analysis.missing import nothing_loaded, unavailable, unseen_processes
from trimtab.analysis.network import network_of
from trimtab.analysis.network_phases import Sender, network_phases
from trimtab.analysis.predicted import what_if_of, with_predictions
from trimtab.analysis.process_report import ProcessReport, process_report
from trimtab.analysis.schedulers import schedulers
from trimtab.analysis.storage import storage_calls
from trimtab.analysis.system import lane_summary, overhead_of, system_by_launcher, system_of, unseen_cpu_s
from trimtab.analysis.task_order import with_task_order
from trimtab.analysis.timeline import timeline
from trimtab.analysis.workers import worker_table
from trimtab.model import Run
from trimtab.model.report import (
    CounterUse,
    Decision,
    Exit,
    Network,
    Overhead,
    ProcessSummary,
    Report,
    StartValue,
    Steering,
    Timeline,
)
from trimtab.symbols import Symbols
from trimtab.threads import Calls, usable_threads
from trimtab.traces import rows_of, traces_of

_Entry = TypeVar("_Entry")


def build(run: Run, kept: KeptIntervals | None = None) -> Report:
    """The report of `run`, over all of its processes; `kept`: where their intervals are put, for `lane_page` of the same run."""
    traces = traces_of(run)
    with Symbols(run.directory) as symbols:
        processes = without_launchers([process_report(trace, symbols, kept) for trace in traces])
        changed = sorted(symbols.changed)
    return _of_processes(run, processes, changed) if processes else _of_launcher(run)


def _of_processes(run: Run, processes: Sequence[ProcessReport], changed: Iterable[str]) -> Report:
    unseen_s = unseen_cpu_s(processes, _ended(run).get("rusage") or {})
    job = with_unseen(job_of(processes), unseen_s)
    timelines: dict[str, Timeline | None] = {}
    counter_uses: list[CounterUse] = []
    for process in processes:
        beside = _begun_counter_use(process)
        timelines[process.id] = _timeline_of(process)
        counter_uses += beside.results()[0]
        process.forget_lane_spans()
    wall = _ended(run).get("wall_s")
    kernel = kernel_of(run)
    tasks = tasks_over_time(processes)
    for process in processes:
        process.forget_tasks()
        if process.is_traced and job.only_part is not process:
            process.take_parts()
    return Report(
        **_head(run),
        hosts=tuple(
            dict.fromkeys(process.trace.host for process in processes if process.trace.host is not None)
        ),
        processes=tuple(_process(process, job, timelines[process.id]) for process in processes),
        wall_s=job.observed_s if wall is None else wall,
        observed_s=job.observed_s,
        capacity_s=job.capacity_s,
        cpus_available=job.cpus,
        threads=job.threads,
        efficiency=job.shares["work"],
        time=job.shares,
        regions=tuple(merge_regions(part.regions for part in job.parts)),
        tasks=tuple(merge_tasks(part.tasks for part in job.parts)),
        scopes=tuple(merge_scopes(part.scopes for part in job.parts)),
        os=system_of(processes, unseen_s),
        overhead=overhead_of(processes, job),
        unavailable=(*unavailable(run, processes, job, changed), *unseen_processes(unseen_s)),
        findings=with_limits(
            with_task_order(
                with_preemptors(with_chains(with_predictions(job_findings(job), job), job), kernel),
                tasks,
                job.observed_s,
            ),
            job,
        ),
        what_if=what_if_of(job),
        blame=blame_of(job, kernel),
        phases=phases_of_job(job),
        critical_path=path_of(job),
        pop=pop_of(job),
        workers=_entries_of_processes(
            processes,
            lambda process_report: worker_table(
                process_report.process, process_report.id, process_report.places
            ),
        ),
        network=_network(processes),
        kernel=kernel,
        decisions=_decisions(processes),
        schedulers=_entries_of_processes(
            processes, lambda process_report: schedulers(process_report.process, process_report.id)
        ),
        lanes=_entries_of_processes(
            processes,
            lambda process_report: [
                lane_summary(process_report.id, lane) for lane in process_report.process.lanes
            ],
        ),
        counters=_entries_of_processes(
            processes,
            lambda process_report: counters(
                process_report.process, process_report.id, process_report.trace.span.wall_s
            ),
        ),
        energy=energy_of(processes),
        cpu_use=_entries_of_processes(processes, lambda process_report: process_report.cpu_use),
        counter_use=tuple(counter_uses),
        timeline=_timeline(job, timelines),
        task_times=tasks.times,
        idle_regions=tasks.regions,
        idle_region_groups=tasks.groups,
        no_idle_regions=tasks.reason,
        stages=(),
        spark=None,
        storage=storage_calls(run),
    )


def _begun_counter_use(process: ProcessReport) -> Calls[list[CounterUse]]:
    """For a thread beside the timeline's: it takes a second of a long trace."""
    spans = process.lane_spans  # the timeline needs them, too
    return Calls([lambda: list(counter_use(process, spans))]).begun(min(usable_threads(), 2))


def _timeline_of(process: ProcessReport) -> Timeline | None:
    return timeline(
        process.process,
        process.trace.span.wall_s,
        process.places,
        process.eligibility,
        process.lane_spans,
    )


def _network(processes: Sequence[ProcessReport]) -> Network | None:
    senders = [process for process in processes if process.traffic is not None]
    origin = min((process.trace.begin_s for process in senders), default=0.0)
    phases = network_phases(
        [
            Sender(
                process.process,
                process.places,
                process.keys,
                process.trace.begin_s - origin,
                process.trace.end_s - origin,
            )
            for process in senders
        ]
    )
    return network_of([process.traffic for process in senders], phases)


def _of_launcher(run: Run) -> Report:
    """Nothing was recorded inside the program: what the launcher saw is all there is."""
    ended = _ended(run)
    return Report(
        **_head(run),
        hosts=(),
        processes=(),
        wall_s=float(ended.get("wall_s") or 0.0),
        observed_s=0.0,
        capacity_s=None,
        cpus_available=None,
        threads=None,
        efficiency=None,
        time=None,
        regions=(),
        tasks=(),
        scopes=(),
        os=system_by_launcher(ended.get("rusage") or {}),
        overhead=Overhead(0.0, 0.0, 0.0, 0.0, 0, 0),
        unavailable=nothing_loaded(run),
        findings=(),
        what_if=(),
        blame=(),
        phases=(),
        critical_path=(),
        pop=None,
        workers=(),
        network=None,
        kernel=kernel_of(run),
        decisions=(),
        schedulers=(),
        lanes=(),
        counters=(),
        energy=None,
        cpu_use=(),
        counter_use=(),
        timeline=None,
        task_times=(),
        idle_regions=(),
        idle_region_groups=(),
        no_idle_regions="nothing was recorded inside the program",
        stages=(),
        spark=None,
        storage=storage_calls(run),
    )


def _ended(run: Run) -> dict[str, Any]:
    return run.info.get("ended") or {}


def _head(run: Run) -> dict[str, Any]:
    ended = _ended(run)
    first = next((process.command for process in run.processes if process.command), ())
    return {
        "trimtab": trimtab.__version__,
        "program": run.info.get("program") or (first[0] if first else ""),
        "command": tuple(run.info.get("argv") or first),
        "level": run.info.get("level") or "profile",
        "started_real_ns": run.info.get("started_real_ns"),
        "machine": run.info.get("machine") or {},
        "complete": bool(ended) and ended.get("signal") is None,
        "exit": Exit(ended.get("code"), ended.get("signal")),
        "steering": _steering(run.info.get("steering")),
    }


def _steering(info: dict[str, Any] | None) -> Steering | None:
    """What run.json says; the reader has checked it."""
    if info is None:
        return None
    starts = info.get("start_values") or []
    return Steering(
        mode=info.get("mode"),
        known_settings=info.get("known_settings") or 0,
        start_values=tuple(StartValue(start["name"], start["value"], start["reason"]) for start in starts),
        threads=info.get("threads"),
        virtual_threads=info.get("virtual_threads"),
    )


def _entries_of_processes(
    processes: Sequence[ProcessReport], table_of: Callable[[ProcessReport], Iterable[_Entry]]
) -> tuple[_Entry, ...]:
    """What is of one process by nature: a list for all of them, each entry with its process."""
    return tuple(entry for process in processes for entry in table_of(process))


def _decisions(processes: Sequence[ProcessReport]) -> tuple[Decision, ...]:
    all_decisions = _entries_of_processes(
        processes, lambda decision: decisions(decision.process, decision.id, decision.places)
    )
    if len(processes) < 2:
        return all_decisions
    begins = {process.id: process.trace.begin_s for process in processes}
    return tuple(sorted(all_decisions, key=lambda decision: begins[decision.process] + decision.time_s))


def _timeline(job: Job, timelines: Mapping[str, Timeline | None]) -> Timeline | None:
    """Of the only process that takes part its own; of several their sum."""
    if len(job.parts) == 1:
        return timelines[job.parts[0].id]
    origin = min(process_report.begin for process_report in job.lives)
    by_begin: dict[float, list[Timeline]] = {}
    for part, life in zip(job.parts, job.lives, strict=True):
        line = timelines[part.id]
        if line is not None:
            by_begin.setdefault(life.begin - origin, []).append(line)
    return job_timeline(by_begin, max(process_report.end for process_report in job.lives) - origin)


def _process(process_report: ProcessReport, job: Job, timeline: Timeline | None) -> ProcessSummary:
    trace, regions = process_report.trace, rows_of(process_report.process, "region")
    takes_part = process_report in job.parts
    return ProcessSummary(
        id=process_report.id,
        pid=trace.pid,
        image=trace.image,
        ppid=int(process_report.process.header["ppid"]),
        forked_from=int(process_report.process.header["forked_from"]) or None,
        host=trace.host,
        rank=trace.rank,
        size=trace.size,
        command=process_report.process.command,
        begin_s=trace.begin_s,
        started_real_ns=process_report.started_real_ns,
        wall_s=trace.span.wall_s,
        cpu_s=process_report.cpu_s,
        lanes=len(process_report.process.lanes),
        workers=len(process_report.workers),
        regions=len({int(n) for n in regions["subject"]}) if len(regions) else 0,
        calls=int(regions["count"].sum()) if len(regions) else 0,
        complete=trace.span.is_complete,
        ended=trace.ended,
        takes_part=takes_part,
        cpus_available=process_report.account.cpus,
        threads=process_report.threads,
        efficiency=process_report.account.shares["work"] if takes_part else None,
        time=process_report.account.shares if takes_part else None,
        run_delay_s=process_report.account.run_delay_s,
        timeline=timeline,
    )

"""A whole report as one JSON-able dictionary (docs/reference/metrics.md describes its keys)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import trimtab
from trimtab.analysis.account import known
from trimtab.analysis.counters import counters
from trimtab.analysis.decisions import decisions
from trimtab.analysis.job import Job, job_of
from trimtab.analysis.job_findings import job_findings
from trimtab.analysis.job_timeline import job_timeline
from trimtab.analysis.merging import merge_regions, merge_scopes, merge_tasks
from trimtab.analysis.process_report import ProcessReport, process_report
from trimtab.analysis.schedulers import schedulers
from trimtab.analysis.timeline import timeline
from trimtab.analysis.without_knob import without_knob
from trimtab.analysis.workers import worker_table
from trimtab.model import Process, Run, Unavailable
from trimtab.model.enumerations import EventKind
from trimtab.symbols import Symbols
from trimtab.traces import rows_of, traces_of

Entry = dict[str, Any]


def build(run: Run) -> Entry:
    """The report of `run`, over all of its processes."""
    traces = traces_of(run)
    with Symbols(run.directory) as symbols:
        processes = [process_report(each, symbols) for each in traces]
        changed = [_changed(path) for path in sorted(symbols.changed)]
    if not processes:
        return {**_head(run), "processes": [], **_without_process(run)}
    job = job_of(processes)
    timelines = {each.id: timeline(each.process, each.trace.span.wall_s, each.places) for each in processes}
    return {
        **_head(run),
        "processes": [_process_entry(each, job, timelines[each.id]) for each in processes],
        **_totals(run, job),
        **_tables(job),
        "os": _os(processes),
        "overhead": _overhead(processes, job),
        "unavailable": _unavailable(run, processes, job, changed),
        "findings": job_findings(job),
        **_by_process(processes),
        "timeline": _timeline(job, timelines),
    }


def _head(run: Run) -> Entry:
    ended = run.info.get("ended") or {}
    first = next((each.command for each in run.processes if each.command), ())
    return {
        "trimtab": trimtab.__version__,
        "program": run.info.get("program") or (first[0] if first else ""),
        "command": run.info.get("argv") or list(first),
        "level": run.info.get("level") or "profile",
        "started_real_ns": run.info.get("started_real_ns"),
        "machine": run.info.get("machine") or {},
        "complete": bool(ended) and ended.get("signal") is None,
        "exit": {"code": ended.get("code"), "signal": ended.get("signal")},
        "steering": run.info.get("steering"),
    }


def _totals(run: Run, job: Job) -> Entry:
    wall = (run.info.get("ended") or {}).get("wall_s")
    return {
        "wall_s": job.observed_s if wall is None else wall,
        "observed_s": job.observed_s,
        "capacity_s": job.capacity_s,
        "cpus_available": job.cpus,
        "threads": job.threads,
        "efficiency": job.shares["work"],
        "time": job.shares,
    }


def _tables(job: Job) -> Entry:
    return {
        "regions": merge_regions({each.id: each.regions for each in job.parts}),
        "tasks": merge_tasks({each.id: each.tasks for each in job.parts}),
        "scopes": merge_scopes({each.id: each.scopes for each in job.parts}),
    }


def _by_process(processes: Sequence[ProcessReport]) -> Entry:
    """What is of one process by nature: a list for all of them, each entry with its process."""

    def of_all(table_of: Any) -> list[Entry]:
        return [{"process": each.id, **entry} for each in processes for entry in table_of(each)]

    changes = of_all(lambda each: decisions(each.process, each.places))
    if len(processes) > 1:
        begins = {each.id: each.trace.begin_s for each in processes}
        changes.sort(key=lambda entry: begins[entry["process"]] + float(entry["time_s"]))
    return {
        "workers": of_all(lambda each: worker_table(each.process, each.places)),
        "decisions": changes,
        "schedulers": of_all(lambda each: schedulers(each.process)),
        "lanes": of_all(lambda each: [_lane_entry(lane) for lane in each.process.lanes]),
        "counters": of_all(lambda each: counters(each.process, each.trace.span.wall_s)),
    }


def _timeline(job: Job, timelines: dict[str, Entry | None]) -> Entry | None:
    """Of the only process that takes part its own; of several their sum."""
    if len(job.parts) == 1:
        return timelines[job.parts[0].id]
    origin = min(each.begin for each in job.lives)
    by_begin: dict[float, list[Entry]] = {}
    for part, life in zip(job.parts, job.lives, strict=True):
        line = timelines[part.id]
        if line is not None:
            by_begin.setdefault(life.begin - origin, []).append(line)
    return job_timeline(by_begin, max(each.end for each in job.lives) - origin)


def _process_entry(each: ProcessReport, job: Job, timeline: Entry | None) -> Entry:
    trace, regions = each.trace, rows_of(each.process, "region")
    takes_part = each in job.parts
    return {
        "id": each.id,
        "pid": trace.pid,
        "image": trace.image,
        "ppid": int(each.process.header["ppid"]),
        "forked_from": int(each.process.header["forked_from"]) or None,
        "host": trace.host,
        "rank": trace.rank,
        "size": trace.size,
        "command": list(each.process.command),
        "begin_s": trace.begin_s,
        "wall_s": trace.span.wall_s,
        "cpu_s": each.cpu_s,
        "lanes": len(each.process.lanes),
        "workers": len(each.workers),
        "regions": len({int(n) for n in regions["subject"]}) if len(regions) else 0,
        "calls": int(regions["count"].sum()) if len(regions) else 0,
        "complete": trace.span.is_complete,
        "ended": trace.ended,
        "takes_part": takes_part,
        "cpus_available": each.account.cpus,
        "threads": each.threads,
        "efficiency": each.account.shares["work"] if takes_part else None,
        "time": each.account.shares if takes_part else None,
        "run_delay_s": each.account.run_delay_s,
        "timeline": timeline,
    }


def _unavailable(
    run: Run, processes: Sequence[ProcessReport], job: Job, changed: Iterable[Unavailable]
) -> list[Entry]:
    """What is missing for the run, then for its processes; the same of several processes is told once."""
    found = [*_of_run(run), *changed]
    found += _without_regions(job, found)
    mode = (run.info.get("steering") or {}).get("mode")
    for each in job.parts:
        found += [*_two_runtimes(each.process), *without_knob(each.process, each.places, mode)]
    told = {*()}
    result: list[Unavailable] = []
    for missing in (found, *(_of_process(each, job) for each in processes)):
        result += [each for each in missing if each not in told]
        told |= set(missing)
    return [each.as_json() for each in result]


def _of_run(run: Run) -> list[Unavailable]:
    missing = run.info.get("unavailable") or []
    return [*(Unavailable(each["what"], each["why"], each["remedy"]) for each in missing), *run.left_out]


def _of_process(each: ProcessReport, job: Job) -> list[Unavailable]:
    """Of one that takes no part only what was damaged: what it lacked otherwise is nobody's loss."""
    takes_part = each in job.parts
    return [
        missing for missing in each.process.unavailable if takes_part or missing.why.startswith("left out: ")
    ]


def _without_regions(job: Job, found: Sequence[Unavailable]) -> Iterator[Unavailable]:
    """Why there is nothing of OpenMP and no task, where nothing else says it."""
    told = [*found, *(missing for each in job.parts for missing in each.process.unavailable)]
    is_told = any(each.what == "OpenMP regions" for each in told)
    if is_told or any(each.regions or each.workers for each in job.parts):
        return
    yield Unavailable(
        "OpenMP regions",
        "the program entered no parallel region that can be watched",
        "none needed if it uses no OpenMP; a static runtime must be linked dynamically",
    )


def _two_runtimes(process: Process) -> Iterator[Unavailable]:
    if len(process.runtimes) > 1:
        kinds = ", ".join(path for _, path in process.runtimes.values())
        yield Unavailable(
            "one view of all threads",
            f"two OpenMP runtimes in one process: {kinds}",
            "each has its own threads: limit both, or load libraries built with the same one",
        )


def _without_process(run: Run) -> Entry:
    """Nothing was recorded inside the program: what the launcher saw is all there is."""
    ended = run.info.get("ended") or {}
    empty = (
        "regions",
        "tasks",
        "workers",
        "scopes",
        "findings",
        "decisions",
        "schedulers",
        "lanes",
        "counters",
    )
    return {
        "wall_s": float(ended.get("wall_s") or 0.0),
        "observed_s": 0.0,
        **dict.fromkeys(("capacity_s", "cpus_available", "threads", "efficiency", "time", "timeline")),
        "os": _os_by_launcher(ended.get("rusage") or {}),
        "overhead": {"share": 0.0, "events": 0, "dropped": 0},
        "unavailable": [each.as_json() for each in _nothing_loaded(run)],
        **{name: [] for name in empty},
    }


def _nothing_loaded(run: Run) -> list[Unavailable]:
    found = _of_run(run)
    if run.left_out:
        return [*found, replace(run.left_out[0], what="OpenMP regions")]
    if any(each.what == "OpenMP regions" for each in found):
        return found
    why = "the library could not be loaded into the program"
    remedy = "see trimtab doctor; static and setuid programs cannot be watched"
    return [*found, Unavailable("OpenMP regions", why, remedy)]


def _os_by_launcher(usage: Entry) -> Entry:
    return {
        "run_delay_s": None,
        "switches_voluntary": usage.get("voluntary"),
        "switches_involuntary": usage.get("involuntary"),
        "preemptions": None,
        "migrations": None,
        "cpu_s": float(usage.get("user_s") or 0.0) + float(usage.get("system_s") or 0.0),
    }


def _os(processes: Sequence[ProcessReport]) -> Entry:
    """Sums over the processes; the memory is that of the largest."""
    heads = [each.process.header for each in processes]
    lanes = [lane for each in processes for lane in each.process.lanes]
    return {
        "run_delay_s": sum(lane.header["run_delay_ns"] for lane in lanes) * 1e-9 if lanes else None,
        "switches_voluntary": sum(int(head["voluntary_switches"]) for head in heads),
        "switches_involuntary": sum(int(head["involuntary_switches"]) for head in heads),
        "preemptions": _sum_of_known(_preemptions(each.process) for each in processes),
        "migrations": _sum_of_known(known(lane.header["migrations"]) for lane in lanes),
        "cpu_s": sum(each.cpu_s for each in processes),
        "max_rss_kb": max(int(head["max_rss_kb"]) for head in heads),
    }


def _preemptions(process: Process) -> int | None:
    switches = process.switches
    return (
        int(((switches["kind"] == EventKind.SWITCH_OUT) & (switches["arg"] == 1)).sum())
        if len(switches)
        else None
    )


def _sum_of_known(values: Iterable[int | None]) -> int | None:
    known_ones = [value for value in values if value is not None]
    return sum(known_ones) if known_ones else None


def _changed(path: str) -> Unavailable:
    return Unavailable(
        "source places",
        f"{path} is another build than the one that ran",
        "report before building anew: what was found once stays in the run directory",
    )


def _overhead(processes: Sequence[ProcessReport], job: Job) -> Entry:
    total = sum(each.own_cost.total_s for each in processes)
    lanes = [lane for each in processes for lane in each.process.lanes]
    return {
        "share": min(total / job.capacity_s, 1.0) if job.capacity_s else 0.0,
        "seconds": total,
        "setup_s": sum(each.own_cost.setup_s for each in processes),
        "sampler_s": sum(each.own_cost.sampler_s for each in processes),
        "events": sum(lane.events_written for lane in lanes),
        "dropped": sum(lane.events_dropped + lane.rows_dropped for lane in lanes),
    }


def _lane_entry(lane: Any) -> Entry:
    head = lane.header
    return {
        "lane": lane.id,
        "kind": lane.kind,
        "name": lane.name,
        "tid": head["tid"],
        "threads": head["threads"],
        "run_s": head["run_ns"] * 1e-9,
        "run_delay_s": head["run_delay_ns"] * 1e-9,
        "voluntary": head["voluntary_switches"],
        "involuntary": head["involuntary_switches"],
        "migrations": known(head["migrations"]),
    }

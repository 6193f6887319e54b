"""A whole report as one JSON-able dictionary (docs/reference/metrics.md describes its keys)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import trimtab
from trimtab.analysis.account import Account, Span, account, known, rows_of, span_of
from trimtab.analysis.counters import counters, samples_of
from trimtab.analysis.decisions import decisions
from trimtab.analysis.findings import findings
from trimtab.analysis.overhead import own_cost
from trimtab.analysis.regions import Places, places_of, region_table
from trimtab.analysis.schedulers import schedulers
from trimtab.analysis.task_findings import task_findings
from trimtab.analysis.timeline import timeline
from trimtab.analysis.unfinished import with_unfinished
from trimtab.analysis.untimed import with_untimed_members
from trimtab.analysis.without_knob import without_knob
from trimtab.analysis.workers import task_table, with_open_states, worker_table, workers_of
from trimtab.model import Process, Run, Unavailable
from trimtab.model.enumerations import EventKind
from trimtab.symbols import Symbols


def build(run: Run) -> dict[str, Any]:
    """The report of `run`. Shares of time are of the process that did most in regions, or used most CPU."""
    ended = run.info.get("ended") or {}
    main = _main_process(run)
    unavailable = [
        Unavailable(each["what"], each["why"], each["remedy"]) for each in run.info.get("unavailable") or []
    ]
    unavailable += run.left_out
    base: dict[str, Any] = {
        "trimtab": trimtab.__version__,
        "program": run.info.get("program") or (main.command[0] if main else ""),
        "command": run.info.get("argv") or (list(main.command) if main else []),
        "level": run.info.get("level") or "profile",
        "started_real_ns": run.info.get("started_real_ns"),
        "machine": run.info.get("machine") or {},
        "complete": bool(ended) and ended.get("signal") is None,
        "exit": {"code": ended.get("code"), "signal": ended.get("signal")},
        "processes": [_process_entry(process, ended) for process in run.processes],
        "steering": run.info.get("steering"),
    }
    if main is None:
        return {**base, **_without_process(ended, unavailable, run.left_out)}
    span = span_of(main, ended.get("mono_ns"))
    end_ticks = int(main.header["start_ticks"] + span.wall_s * 1e9 / main.ns_per_tick)
    main = with_untimed_members(with_open_states(with_unfinished(main, end_ticks), end_ticks))
    spent = account(main, span.wall_s)
    with Symbols(run.directory) as symbols:
        places = places_of(main, symbols)
        unavailable += [_changed(path) for path in sorted(symbols.changed)]
    regions = region_table(main, places)
    workers = workers_of(main)
    threads = max((region["threads"] for region in regions), default=len(workers) or max(len(main.lanes), 1))
    threads = max(threads, len(workers))
    tasks = task_table(main, places)
    os = _os(main)
    if (
        not regions
        and not workers
        and not any(each.what == "OpenMP regions" for each in (*unavailable, *main.unavailable))
    ):
        unavailable.append(
            Unavailable(
                "OpenMP regions",
                "the program entered no parallel region that can be watched",
                "none needed if it uses no OpenMP; a static runtime must be linked dynamically",
            )
        )
    if len(main.runtimes) > 1:
        kinds = ", ".join(path for _, path in main.runtimes.values())
        unavailable.append(
            Unavailable(
                "one view of all threads",
                f"two OpenMP runtimes in one process: {kinds}",
                "each has its own threads: limit both, or load libraries built with the same one",
            )
        )
    unavailable += without_knob(main, places, (run.info.get("steering") or {}).get("mode"))
    return {
        **base,
        "wall_s": span.wall_s if ended.get("wall_s") is None else ended["wall_s"],
        "observed_s": span.wall_s,
        "cpus_available": spent.cpus,
        "threads": threads,
        "efficiency": spent.shares["work"],
        "time": spent.shares,
        "regions": regions,
        "tasks": tasks,
        "workers": worker_table(main, places),
        "scopes": _scopes(main, places),
        "os": os,
        "overhead": _overhead(main, spent, span),
        "unavailable": [each.as_json() for each in (*unavailable, *main.unavailable)],
        "findings": findings(
            spent,
            regions,
            threads,
            _throttled_s(main),
            float(main.header["cpus_quota"]),
            task_findings(main, spent, tasks, workers),
        ),
        "decisions": decisions(main, places),
        "schedulers": schedulers(main),
        "lanes": [_lane_entry(lane) for lane in main.lanes],
        "timeline": timeline(main, span.wall_s, places),
        "counters": counters(main, span.wall_s),
    }


def _main_process(run: Run) -> Process | None:
    def weight(process: Process) -> tuple[float, int]:
        head = process.header
        busy = float(rows_of(process, "region")["sum"].sum(dtype=float)) * process.ns_per_tick * 1e-9
        busy += sum(each.runs for each in workers_of(process))
        return busy, int(head["user_ns"]) + int(head["system_ns"])

    return max(run.processes, key=weight, default=None)


def _without_process(
    ended: dict[str, Any], unavailable: list[Unavailable], left_out: tuple[Unavailable, ...]
) -> dict[str, Any]:
    """Nothing was recorded inside the program: what the launcher saw is all there is."""
    usage = ended.get("rusage") or {}
    if left_out:
        unavailable = [*unavailable, replace(left_out[0], what="OpenMP regions")]
    elif not any(each.what == "OpenMP regions" for each in unavailable):
        unavailable = [
            *unavailable,
            Unavailable(
                "OpenMP regions",
                "the library could not be loaded into the program",
                "see trimtab doctor; static and setuid programs cannot be watched",
            ),
        ]
    wall = float(ended.get("wall_s") or 0.0)
    return {
        "wall_s": wall,
        "observed_s": 0.0,
        "cpus_available": None,
        "threads": None,
        "efficiency": None,
        "time": None,
        "regions": [],
        "tasks": [],
        "workers": [],
        "scopes": [],
        "os": {
            "run_delay_s": None,
            "switches_voluntary": usage.get("voluntary"),
            "switches_involuntary": usage.get("involuntary"),
            "preemptions": None,
            "migrations": None,
            "cpu_s": float(usage.get("user_s") or 0.0) + float(usage.get("system_s") or 0.0),
        },
        "overhead": {"share": 0.0, "events": 0, "dropped": 0},
        "unavailable": [each.as_json() for each in unavailable],
        "findings": [],
        "decisions": [],
        "schedulers": [],
        "lanes": [],
        "timeline": None,
        "counters": [],
    }


def _process_entry(process: Process, ended: dict[str, Any]) -> dict[str, Any]:
    span = span_of(process, ended.get("mono_ns"))
    regions = rows_of(process, "region")
    return {
        "pid": process.header["pid"],
        "command": list(process.command),
        "wall_s": span.wall_s,
        "cpu_s": (process.header["user_ns"] + process.header["system_ns"]) * 1e-9,
        "lanes": len(process.lanes),
        "workers": len(workers_of(process)),
        "regions": len({int(n) for n in regions["subject"]}) if len(regions) else 0,
        "calls": int(regions["count"].sum()) if len(regions) else 0,
        "complete": span.is_complete,
    }


def _os(process: Process) -> dict[str, Any]:
    lanes = process.lanes
    migrations = [known(lane.header["migrations"]) for lane in lanes]
    switches = process.switches
    return {
        "run_delay_s": sum(lane.header["run_delay_ns"] for lane in lanes) * 1e-9 if lanes else None,
        "switches_voluntary": int(process.header["voluntary_switches"]),
        "switches_involuntary": int(process.header["involuntary_switches"]),
        "preemptions": int(((switches["kind"] == EventKind.SWITCH_OUT) & (switches["arg"] == 1)).sum())
        if len(switches)
        else None,
        "migrations": sum(m for m in migrations if m is not None)
        if any(m is not None for m in migrations)
        else None,
        "cpu_s": (process.header["user_ns"] + process.header["system_ns"]) * 1e-9,
        "max_rss_kb": int(process.header["max_rss_kb"]),
    }


def _changed(path: str) -> Unavailable:
    return Unavailable(
        "source places",
        f"{path} is another build than the one that ran",
        "report before building anew: what was found once stays in the run directory",
    )


def _overhead(process: Process, spent: Account, span: Span) -> dict[str, Any]:
    own = own_cost(process)
    capacity = spent.cpus * span.wall_s
    return {
        "share": min(own.total_s / capacity, 1.0) if capacity else 0.0,
        "seconds": own.total_s,
        "setup_s": own.setup_s,
        "sampler_s": own.sampler_s,
        "events": sum(lane.events_written for lane in process.lanes),
        "dropped": sum(lane.events_dropped + lane.rows_dropped for lane in process.lanes),
    }


def _lane_entry(lane: Any) -> dict[str, Any]:
    head = lane.header
    return {
        "lane": lane.id,
        "name": head["title"] or head["name"],
        "tid": head["tid"],
        "threads": head["threads"],
        "run_s": head["run_ns"] * 1e-9,
        "run_delay_s": head["run_delay_ns"] * 1e-9,
        "voluntary": head["voluntary_switches"],
        "involuntary": head["involuntary_switches"],
        "migrations": known(head["migrations"]),
    }


def _scopes(process: Process, places: Places) -> list[dict[str, Any]]:
    rows = rows_of(process, "scope")
    s = process.ns_per_tick * 1e-9
    found = []
    for number in sorted({int(n) for n in rows["subject"]}) if len(rows) else []:
        mine = rows[rows["subject"] == number]
        count, timed = int(mine["count"].sum()), int(mine["timed"].sum())
        total = float(mine["sum"].sum()) * s
        found.append(
            {
                "name": places[number][0],
                "count": count,
                "timed": timed,
                "total_s": total * count / timed if timed else None,
                "mean_s": total / timed if timed else None,
            }
        )
    return found


def _throttled_s(process: Process) -> float | None:
    """How long the control group's quota held the process back while it ran; None where that is not known."""
    numbers = [
        number for number, each in process.counters.items() if "throttled" in each.name and each.unit == "s"
    ]
    samples = samples_of(process, numbers)
    return float(samples["value"].max()) if len(samples) else None

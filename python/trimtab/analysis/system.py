"""What the operating system counted, and what the tool itself cost: over all processes, and lane by lane."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trimtab.analysis.account import value_or_none
from trimtab.analysis.job import Job
from trimtab.analysis.process_report import ProcessReport
from trimtab.model import Lane, Process
from trimtab.model.enumerations import EventKind
from trimtab.model.report import LaneSummary, Overhead, System

# Of the CPU time that the launcher saw, and seconds: less is what programs use before they are observed.
_MUCH_UNSEEN = 0.05
_LEAST_UNSEEN_S = 0.1


def unseen_cpu_s(processes: Sequence[ProcessReport], usage: Mapping[str, Any]) -> float:
    """CPU time of processes that left no record: forked, and ended before they entered a region; static; setuid."""
    whole = system_by_launcher(usage).cpu_s
    unseen = whole - sum(process.cpu_s for process in processes)
    return unseen if unseen > max(_MUCH_UNSEEN * whole, _LEAST_UNSEEN_S) else 0.0


def system_of(processes: Sequence[ProcessReport], unseen_s: float = 0.0) -> System:
    """Sums over the processes; the memory is that of the largest. `unseen_s`: CPU time of those that left no record."""
    heads = [process.process.header for process in processes]
    lanes = [lane for process in processes for lane in process.process.lanes]
    return System(
        run_delay_s=sum(lane.header["run_delay_ns"] for lane in lanes) * 1e-9 if lanes else None,
        switches_voluntary=sum(int(head["voluntary_switches"]) for head in heads),
        switches_involuntary=sum(int(head["involuntary_switches"]) for head in heads),
        preemptions=_sum_of_known(_preemptions(process.process) for process in processes),
        migrations=_sum_of_known(value_or_none(lane.header["migrations"]) for lane in lanes),
        cpu_s=sum(process.cpu_s for process in processes) + unseen_s,
        max_rss_kb=max(int(head["max_rss_kb"]) for head in heads),
    )


def system_by_launcher(usage: Mapping[str, Any]) -> System:
    """What the launcher saw of a program in which nothing was recorded."""
    return System(
        run_delay_s=None,
        switches_voluntary=usage.get("voluntary"),
        switches_involuntary=usage.get("involuntary"),
        preemptions=None,
        migrations=None,
        cpu_s=float(usage.get("user_s") or 0.0) + float(usage.get("system_s") or 0.0),
        max_rss_kb=usage.get("max_rss_kb"),
    )


def overhead_of(processes: Sequence[ProcessReport], job: Job) -> Overhead:
    """Sums over the processes, and their share of the core time."""
    total = sum(process.own_cost.total_s for process in processes)
    lanes = [lane for process in processes for lane in process.process.lanes]
    return Overhead(
        share=min(total / job.capacity_s, 1.0) if job.capacity_s else 0.0,
        seconds=total,
        setup_s=sum(process.own_cost.setup_s for process in processes),
        sampler_s=sum(process.own_cost.sampler_s for process in processes),
        events=sum(lane.events_written for lane in lanes),
        dropped=sum(lane.events_dropped + lane.rows_dropped for lane in lanes),
    )


def lane_summary(process_id: str, lane: Lane) -> LaneSummary:
    """One lane, as its header says."""
    head = lane.header
    return LaneSummary(
        process=process_id,
        lane=lane.id,
        kind=lane.kind,
        name=lane.name,
        tid=head["tid"],
        threads=head["threads"],
        run_s=head["run_ns"] * 1e-9,
        run_delay_s=head["run_delay_ns"] * 1e-9,
        voluntary=head["voluntary_switches"],
        involuntary=head["involuntary_switches"],
        migrations=value_or_none(head["migrations"]),
    )


def _preemptions(process: Process) -> int | None:
    switches = process.switches
    if not len(switches):
        return None
    return int(((switches["kind"] == EventKind.SWITCH_OUT) & (switches["arg"] == 1)).sum())


def _sum_of_known(values: Iterable[int | None]) -> int | None:
    known_values = [value for value in values if value is not None]
    return sum(known_values) if known_values else None

"""What a report says of tasks over time: times by kind of task, and idle regions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from trimtab.analysis.eligibility import Eligibility, StepFunction
from trimtab.analysis.idle_regions import IdleRegion, idle_regions_of, widest_group, workers_in
from trimtab.analysis.occupancy import LEAST_WORKERS, free_in, occupancy_of
from trimtab.analysis.process_report import ProcessReport
from trimtab.model import CAUSES
from trimtab.model.report import IdleRegion as ReportedRegion
from trimtab.model.report import IdleRegionGroup, TaskTimes
from trimtab.traces.tasks import NO_TASK

_MOST_REGIONS = 100
_S = 1e-9


@dataclass(frozen=True)
class TasksOverTime:
    """The parts of a report; `reason`: why idle regions were not looked for.

    `preferred_s`: of each region the kinds that began while its delayed task waited, and by how much they delayed it.
    """

    times: tuple[TaskTimes, ...]
    regions: tuple[ReportedRegion, ...]
    preferred_s: tuple[Mapping[str, float], ...]
    groups: tuple[IdleRegionGroup, ...]
    reason: str | None


@dataclass(frozen=True)
class _Traced:
    """A process with all events of its tasks, and the lanes that are looked at."""

    process: ProcessReport
    tasks: Eligibility
    group: int
    workers: int

    @property
    def begin_ns(self) -> int:
        return round(self.process.trace.begin_ns)


def tasks_over_time(processes: Sequence[ProcessReport]) -> TasksOverTime:
    """Of all processes of a run."""
    traced = [
        _Traced(process, process.eligibility, group, workers_in(process.eligibility.table, group))
        for process in processes
        if process.eligibility is not None
        for group in [widest_group(process.eligibility.table)]
    ]
    wide = [entry for entry in traced if entry.workers >= LEAST_WORKERS]
    regions = [
        region
        for entry in wide
        for found in idle_regions_of(entry.tasks.table, entry.group, elsewhere=_free_elsewhere(entry, wide))
        for region in [_Found(entry, found)]
    ]
    costliest = _costliest(regions)
    return TasksOverTime(
        tuple(times for entry in traced for times in _times(entry)),
        tuple(region.reported() for region in costliest),
        tuple(region.preferred_s for region in costliest),
        tuple(_groups(regions)),
        _reason(traced, wide),
    )


def _reason(traced: Sequence[_Traced], wide: Sequence[_Traced]) -> str | None:
    if wide:
        return None
    if not traced:
        return "no tasks are recorded with all events (trimtab run --trace)"
    most = max(entry.workers for entry in traced)
    return f"{most} workers; with fewer than {LEAST_WORKERS}, one that works is no sign of waste"


def _free_elsewhere(entry: _Traced, wide: Sequence[_Traced]) -> StepFunction | None:
    """How many other processes had a free worker, on this process's axis."""
    others = [other for other in wide if other is not entry]
    if not others:
        return None
    begins, ends = [], []
    for other in others:
        free = free_in(occupancy_of(other.tasks.table.lanes, other.group))
        chosen = np.flatnonzero(free.count[:-1] > 0)
        shift = other.begin_ns - entry.begin_ns
        begins.append(free.at_ns[chosen] + shift)
        ends.append(free.at_ns[chosen + 1] + shift)
    return StepFunction.of(np.concatenate(begins), np.concatenate(ends))


def _times(entry: _Traced) -> Iterator[TaskTimes]:
    for kind in entry.tasks.times:
        yield TaskTimes(
            process=entry.process.id,
            key=entry.process.keys[kind.subject],
            name=entry.process.places[kind.subject][0],
            count=kind.count,
            staged_s=kind.staged_s,
            ineligible_s=kind.ineligible_s,
            eligible_s=kind.eligible_s,
            active_s=kind.active_s,
            suspended_s={CAUSES[cause]: seconds for cause, seconds in kind.suspended_s.items()},
            is_own=kind.is_own,
        )


@dataclass(frozen=True)
class _Found:
    """An idle region with the names of its tasks."""

    entry: _Traced
    region: IdleRegion

    def name(self, task: int) -> str | None:
        if task == NO_TASK:
            return None
        return self.entry.process.places[int(self.entry.tasks.table.subject[task])][0]

    def identity(self, task: int) -> str | None:
        number = int(self.entry.tasks.table.id[task]) if task != NO_TASK else 0
        return str(number) if number else None

    def reported(self) -> ReportedRegion:
        region = self.region
        return ReportedRegion(
            process=self.entry.process.id,
            begin_s=region.begin_ns * _S,
            end_s=region.end_ns * _S,
            lane_time_s=region.lost_ns * _S,
            verdict=region.verdict,
            breaking=self.name(region.breaking),
            breaking_task=self.identity(region.breaking),
            initiating=self.name(region.initiating),
            initiating_task=self.identity(region.initiating),
            chain=tuple(self.name(task) or "..." for task in region.chain),
            delayed=self.name(region.delayed),
            earlier_s=region.earlier_ns * _S,
            more_workers=region.more_workers,
        )

    @property
    def preferred_s(self) -> Mapping[str, float]:
        """By the name of the kind."""
        sums: dict[str, float] = {}
        for subject, delay_ns in self.region.preferred_ns:
            name = self.entry.process.places[subject][0]
            sums[name] = sums.get(name, 0.0) + delay_ns * _S
        return sums

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Regions with the same key are one group."""
        region = self.region
        names = (self.name(region.breaking) or "", self.name(region.initiating) or "")
        return (self.entry.process.id, region.verdict.value, *names)


def _costliest(regions: Sequence[_Found]) -> list[_Found]:
    """In the order in which they came."""
    by_cost = sorted(range(len(regions)), key=lambda at: -regions[at].region.lost_ns)
    return [regions[at] for at in sorted(by_cost[:_MOST_REGIONS])]


def _groups(regions: Iterable[_Found]) -> list[IdleRegionGroup]:
    in_groups = groupby(sorted(regions, key=lambda region: region.key), key=lambda region: region.key)
    groups = [_group(list(members)) for _, members in in_groups]
    return sorted(groups, key=lambda group: -group.lane_time_s)


def _group(members: Sequence[_Found]) -> IdleRegionGroup:
    first, lost = members[0], sum(member.region.lost_ns for member in members) * _S
    more = [member.region.more_workers for member in members if member.region.more_workers is not None]
    return IdleRegionGroup(
        process=first.entry.process.id,
        verdict=first.region.verdict,
        breaking=first.name(first.region.breaking),
        initiating=first.name(first.region.initiating),
        count=len(members),
        time_s=sum(member.region.end_ns - member.region.begin_ns for member in members) * _S,
        lane_time_s=lost,
        share=lost / (first.entry.workers * max(first.entry.process.trace.span.wall_s, _S)),
        more_workers=max(more, default=None),
    )

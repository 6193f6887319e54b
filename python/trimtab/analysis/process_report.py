"""What is known of one process of a run: its account, its tables, and its own findings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from trimtab.analysis.account import Account, account
from trimtab.analysis.allocator_findings import allocator_findings
from trimtab.analysis.cpu_use import cpu_use_of
from trimtab.analysis.diagnosis import Diagnosis, diagnosis_of
from trimtab.analysis.eligibility import Eligibility, eligibility_of, own_subjects
from trimtab.analysis.findings import findings
from trimtab.analysis.kept_intervals import KeptIntervals
from trimtab.analysis.keys import Keys, keys_of
from trimtab.analysis.lane_spans import LaneSpans, lane_spans
from trimtab.analysis.memory_findings import memory_findings, node_findings
from trimtab.analysis.network_findings import network_findings
from trimtab.analysis.overhead import OwnCost, own_cost
from trimtab.analysis.regions import Places, places_of, region_table
from trimtab.analysis.samples import last_value
from trimtab.analysis.task_findings import task_findings
from trimtab.analysis.traffic import Traffic, traffic_of
from trimtab.analysis.workers import Worker, task_table, workers_of
from trimtab.model import Process
from trimtab.model.enumerations import CounterName, RecordLevel
from trimtab.model.report import CpuUse, Finding, Region, Scope, TaskKind
from trimtab.symbols import Symbols
from trimtab.threads import of_each
from trimtab.traces import Trace, rows_of
from trimtab.traces.intervals import LaneParts, parts_of


@dataclass(frozen=True, eq=False)
class ProcessReport:
    """One process; times in seconds. `kept`: where its intervals are put when they are known."""

    trace: Trace
    places: Places
    keys: Keys
    account: Account
    regions: list[Region]
    workers: tuple[Worker, ...]
    own_cost: OwnCost
    kept: KeptIntervals | None = None

    @property
    def id(self) -> str:
        """Unique within the run."""
        return self.trace.id

    @property
    def process(self) -> Process:
        """Its records, corrected."""
        return self.trace.process

    @property
    def cpu_s(self) -> float:
        """CPU time of all its threads."""
        return float(self.process.header["user_ns"] + self.process.header["system_ns"]) * 1e-9

    @property
    def started_real_ns(self) -> float:
        """When its library was loaded, by the real-time clock of its host, nanoseconds since 1970."""
        head = self.process.header
        return float(head["real_ns_0"] + (head["start_ticks"] - head["ticks_0"]) * self.process.ns_per_tick)

    @property
    def busy_s(self) -> float:
        """CPU time, by the process's count or by that of its lanes, whichever is known better."""
        lanes = sum(int(lane.header["run_ns"]) for lane in self.process.lanes)
        return max(self.cpu_s, lanes * 1e-9)

    @property
    def threads(self) -> int:
        """Most threads of a region, or workers; without either, the lanes of its threads."""
        widest = max(
            (region.threads for region in self.regions),
            default=len(self.workers) or max(sum(lane.is_thread for lane in self.process.lanes), 1),
        )
        return max(int(widest), len(self.workers))

    @cached_property
    def tasks(self) -> list[TaskKind]:
        """The kinds of tasks that it ran."""
        return task_table(self.process, self.id, self.places, self.keys)

    @cached_property
    def traffic(self) -> Traffic | None:
        """The messages that it sent to other localities."""
        return traffic_of(self.process, self.places, self.keys)

    @cached_property
    def scopes(self) -> list[Scope]:
        """The scopes that the program reports of itself."""
        return scope_table(self.process, self.id, self.places, self.keys)

    @cached_property
    def cpu_use(self) -> list[CpuUse]:
        """How its CPU time was used."""
        return cpu_use_of(self.process, self.id, self.cpu_s, self.regions, self.keys)

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """What its lanes waited for; None: not all events are there."""
        return diagnosis_of(self.trace, self.take_parts(), self.kept) if self.is_traced else None

    @property
    def is_traced(self) -> bool:
        """Its events were recorded, not only profiles."""
        return bool(self.process.header["level"] == RecordLevel.TRACE)

    @cached_property
    def eligibility(self) -> Eligibility | None:
        """Its tasks over time; None: there are none, or not all events are there."""
        return eligibility_of(self.trace, own_subjects(self.places), self._parts) if self.is_traced else None

    @cached_property
    def _parts(self) -> tuple[LaneParts, ...]:
        return parts_of(self.trace)

    def take_parts(self) -> tuple[LaneParts, ...]:
        """The parts of its lanes, which take gigabytes of a long trace: who takes them decides how long they stay."""
        parts = self._parts
        del self.__dict__["_parts"]
        return parts

    @cached_property
    def lane_spans(self) -> tuple[LaneSpans, ...]:
        """What its lanes were in from when to when."""
        lanes, wall_s = self.process.lanes, self.trace.span.wall_s
        events = sum(len(lane.events) for lane in lanes)
        return tuple(of_each(lambda lane: lane_spans(self.process, lane, wall_s), lanes, events))

    def forget_lane_spans(self) -> None:
        """Drops `lane_spans`, which are long, too."""
        self.__dict__.pop("lane_spans", None)

    def forget_tasks(self) -> None:
        """Drops `eligibility`, which takes gigabytes of a long trace; it would be made again."""
        self.__dict__.pop("eligibility", None)

    @cached_property
    def findings(self) -> list[Finding]:
        """Causes of lost core time in this process, as if it were alone."""
        return findings(
            self.account,
            self.regions,
            self.threads,
            last_value(self.process, CounterName.TIME_THROTTLED),
            float(self.process.header["cpus_quota"]),
            [
                *task_findings(self.process, self.account, self.tasks, self.workers),
                *network_findings(self.traffic, self.account, len(self.workers)),
                *allocator_findings(self.process, self.cpu_use[0].cpu_s if self.cpu_use else 0.0),
                *memory_findings(self.process, self.cpu_use, self.regions),
                *node_findings(self.process, self.regions),
            ],
        )

    @property
    def label(self) -> str:
        """As people tell it from the others."""
        trace = self.trace
        process_label = f"process {trace.pid if trace.image == 0 else trace.id}"
        if trace.rank is not None:
            process_label = f"rank {trace.rank}"
        return f"{process_label} ({trace.name})" if trace.name else process_label


def process_report(trace: Trace, symbols: Symbols, kept: KeptIntervals | None = None) -> ProcessReport:
    """Everything of one process that a report needs of it; `kept`: where its intervals are put when they are known."""
    places, keys = places_of(trace.process, symbols), keys_of(trace.process)
    return ProcessReport(
        trace,
        places,
        keys,
        account(trace.process, trace.span.wall_s),
        region_table(trace.process, trace.id, places, keys),
        workers_of(trace.process),
        own_cost(trace.process),
        kept,
    )


def scope_table(process: Process, process_id: str, places: Places, keys: Keys) -> list[Scope]:
    """One entry a scope, by the scope's number."""
    rows = rows_of(process, "scope")
    s = process.tick_s
    unavailable = []
    for number in sorted({int(n) for n in rows["subject"]}) if len(rows) else []:
        subject_rows = rows[rows["subject"] == number]
        count, timed = int(subject_rows["count"].sum()), int(subject_rows["timed"].sum())
        total = float(subject_rows["sum"].sum()) * s
        unavailable.append(
            Scope(
                key=keys[number],
                name=places[number][0],
                count=count,
                timed=timed,
                total_s=total * count / timed if timed else None,
                mean_s=total / timed if timed else None,
                processes=(process_id,),
            )
        )
    return unavailable

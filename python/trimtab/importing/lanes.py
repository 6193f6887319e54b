"""What a location of an OTF2 archive did, as events and profile rows of a lane."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from trimtab.importing.write_run import LaneRecords
from trimtab.model import NO_SUBJECT, UNKNOWN, Records
from trimtab.model.enumerations import (
    EventKind,
    LockFields,
    LoopFields,
    Metric,
    SubjectKind,
    TaskFields,
    TeamFields,
    WaitKind,
)
from trimtab.otf2 import numbers
from trimtab.otf2.numbers import Role
from trimtab.otf2.reading import Kind, Region, Rows
from trimtab.readers import layout

_WAITS = {
    Role.BARRIER: WaitKind.BARRIER,
    Role.IMPLICIT_BARRIER: WaitKind.BARRIER,
    Role.TASK_WAIT: WaitKind.TASKWAIT,
    Role.ORDERED: WaitKind.ORDERED,
}
_LOOPS = (Role.LOOP, Role.SECTIONS)
_SUBJECTS = {
    Role.PARALLEL: SubjectKind.REGION,
    Role.LOOP: SubjectKind.LOOP,
    Role.SECTIONS: SubjectKind.SECTIONS,
    Role.BARRIER: SubjectKind.BARRIER,
    Role.IMPLICIT_BARRIER: SubjectKind.BARRIER,
    Role.CRITICAL: SubjectKind.CRITICAL,
    Role.TASK: SubjectKind.TASK,
    Role.TASK_UNTIED: SubjectKind.TASK,
    Role.TASK_WAIT: SubjectKind.TASKWAIT,
    Role.ORDERED: SubjectKind.ORDERED,
}


def subject_kind(region: Region) -> SubjectKind:
    """What a region is to us; functions, and whatever has no word of its own, are scopes."""
    if region.paradigm != numbers.Paradigm.OPENMP and region.role not in (Role.TASK, Role.TASK_UNTIED):
        return SubjectKind.SCOPE
    return _SUBJECTS.get(Role(region.role) if region.role in set(Role) else Role.UNKNOWN, SubjectKind.SCOPE)


@dataclass(frozen=True)
class Instance:
    """One execution of a parallel region: from fork to join."""

    begin: int
    end: int
    subject: int
    lane: int
    number: int
    enclosing: int


@dataclass(frozen=True)
class Teams:
    """The instances of a process in the order in which they began."""

    instances: Sequence[Instance]
    has_parts: bool
    """Whether members report their parts; otherwise the region itself is taken for it."""

    def at(self, tick: int) -> Instance | None:
        """The innermost one that is under way."""
        place = bisect_right(self.instances, tick, key=lambda instance: instance.begin)
        near = self.instances[max(place - 64, 0) : place]
        return next((one for one in reversed(near) if one.end >= tick), None)


def forks_of(
    lane: int, rows: Rows, regions: Mapping[int, Region], end: int, first_number: int
) -> list[Instance]:
    """The regions that a lane forked: the first parallel region that it enters behind a fork is the one."""
    found: list[Instance] = []
    opened: list[list[int]] = []
    for kind, tick, number, _, _ in rows[np.isin(rows[:, 0], (Kind.FORK, Kind.JOIN, Kind.ENTER))].tolist():
        if kind == Kind.FORK:
            opened.append([tick, NO_SUBJECT, first_number + len(found) + len(opened)])
        elif kind == Kind.ENTER and opened and opened[-1][1] == NO_SUBJECT:
            region = regions.get(number)
            if region is not None and region.role == Role.PARALLEL:
                opened[-1][1] = number
        elif kind == Kind.JOIN and opened:
            begin, subject, instance = opened.pop()
            enclosing = opened[-1][2] if opened else 0
            found.append(Instance(begin, tick, subject, lane, instance, enclosing))
    found += [Instance(begin, end, subject, lane, number, 0) for begin, subject, number in opened]
    return found


@dataclass(frozen=True)
class Part:
    """A lane's part of an instance: ticks of work, and of each kind of waiting."""

    instance: Instance
    lane: int
    begin: int
    end: int
    join_wait: int
    inner_wait: int
    late_tasks: int
    """Ticks of the tasks that ran while it waited at the end of the region."""

    @property
    def work(self) -> int:
        """Ticks."""
        return self.end - self.begin - self.inner_wait + self.late_tasks


@dataclass
class Open:
    """What has been entered and not left."""

    region: int
    begin: int
    acquired: int | None = None
    released: int | None = None
    tasks: int = 0
    """Ticks of the tasks that ran in it, if it is a wait."""


@dataclass(frozen=True)
class Message:
    """A message that was sent or received, or a collective operation that ended: in which function, entered when."""

    kind: Kind
    tick: int
    other: int
    comm: int
    tag_and_bytes: int
    function: int
    entered: int


class LaneReader:
    """Goes through the events of a location once."""

    def __init__(self, lane: int, name: str, regions: Mapping[int, Region], teams: Teams) -> None:
        self._lane, self._name, self._regions, self._teams = lane, name, regions, teams
        self._events: list[tuple[int, int, int, int, int, int]] = []
        self._durations: dict[tuple[int, int, int, int], list[int]] = defaultdict(list)
        self._extra: dict[tuple[int, int, int, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        self._stack: list[Open] = []
        self._parts: list[tuple[Instance, int, int]] = []
        """With when they began, and what had been waited in the part around them."""
        self._waited = 0
        self._barrier: Open | None = None
        self.parts: list[Part] = []
        self.messages: list[Message] = []
        self.values: list[tuple[int, int, int, int]] = []
        self.inside = 0
        """Ticks in any region, and (`waits`) of them in waits."""
        self.waits = 0
        self.unmatched = 0
        """Leaves of what was not entered."""

    def read(self, rows: Rows, end: int) -> None:
        """All events, which are in order of time."""
        for row in rows.tolist():
            self._read(*row)
        while self._stack:
            self._leave(end, self._stack[-1].region)
        while self._parts:
            self._team_end(end)

    def _read(self, kind: int, tick: int, a: int, b: int, c: int) -> None:
        if kind == Kind.ENTER:
            self._enter(tick, a)
        elif kind == Kind.LEAVE:
            self._leave(tick, a)
        elif kind == Kind.VALUE:
            self.values.append((tick, a, b, c))
        elif kind in (Kind.SEND, Kind.RECEIVE, Kind.COLLECTIVE):
            function, entered = (
                (self._stack[-1].region, self._stack[-1].begin) if self._stack else (NO_SUBJECT, tick)
            )
            other, comm = (0, a) if kind == Kind.COLLECTIVE else (a, b)
            self.messages.append(Message(Kind(kind), tick, other, comm, c, function, entered))
        elif kind == Kind.ACQUIRE and self._stack:
            self._stack[-1].acquired = tick
            for opened in reversed(self._stack):
                if self._kind_of(opened.region) == SubjectKind.CRITICAL:
                    opened.acquired = opened.acquired or tick
                    break
        elif kind == Kind.RELEASE and self._stack:
            self._stack[-1].released = tick
        elif kind == Kind.TEAM_BEGIN:
            self._team_begin(tick)
        elif kind == Kind.TEAM_END:
            self._team_end(tick)
        elif kind in (Kind.FORK, Kind.JOIN):
            self._fork_or_join(kind, tick)

    def _kind_of(self, region: int) -> SubjectKind:
        found = self._regions.get(region)
        return SubjectKind.SCOPE if found is None else subject_kind(found)

    def _add(self, tick: int, kind: EventKind, subject: int, a: int = 0, b: int = 0, arg: int = 0) -> None:
        self._events.append((tick, subject, int(kind), arg, a, b))

    def _region(self) -> int:
        """The region whose part is under way."""
        return self._parts[-1][0].subject if self._parts else NO_SUBJECT

    def _row(self, metric: Metric, subject: int, ticks: int, flags: int = 0) -> list[int]:
        key = (subject, int(metric), flags, self._region())
        self._durations[key].append(ticks)
        return self._extra[key]

    def _enter(self, tick: int, region: int) -> None:
        self._stack.append(Open(region, tick))
        self._barrier = None
        kind = self._kind_of(region)
        if kind == SubjectKind.SCOPE:
            self._add(tick, EventKind.SCOPE_BEGIN, region)
        elif kind == SubjectKind.TASK:
            self._add(tick, EventKind.TASK_BEGIN, region)
        elif kind == SubjectKind.REGION and not self._teams.has_parts:
            self._team_begin(tick)
        # The block of a critical section is entered when the section is had.
        found = self._regions.get(region)
        if found is not None and found.role == Role.CRITICAL_BLOCK and len(self._stack) > 1:
            self._stack[-2].acquired = self._stack[-2].acquired or tick

    def _leave(self, tick: int, region: int) -> None:
        if not self._stack or self._stack[-1].region != region:
            self.unmatched += 1
            return
        opened = self._stack.pop()
        ticks = tick - opened.begin
        if not self._stack:
            self.inside += ticks
        kind, found = self._kind_of(region), self._regions.get(region)
        if kind == SubjectKind.SCOPE:
            self._add(tick, EventKind.SCOPE_END, region)
            self._row(Metric.SCOPE, region, ticks)
        elif kind == SubjectKind.TASK:
            self._add(tick, EventKind.TASK_END, region)
            self._row(Metric.TASK, region, ticks)[TaskFields.INCLUSIVE] += ticks
            self._add_to_wait(ticks)
        elif kind == SubjectKind.REGION:
            if not self._teams.has_parts:
                self._team_end(tick)
        elif kind == SubjectKind.CRITICAL:
            self._lock(opened, tick)
        elif found is not None and found.role in _WAITS:
            self._wait(opened, tick, _WAITS[Role(found.role)])
        elif found is not None and found.role in _LOOPS:
            self._add(opened.begin, EventKind.LOOP, region, ticks)
            self._row(Metric.LOOP, region, ticks)[LoopFields.TRIP_COUNT] = UNKNOWN

    def _add_to_wait(self, ticks: int) -> None:
        """A task has run for so long in the innermost wait, unless another task is between."""
        for opened in reversed(self._stack):
            if self._kind_of(opened.region) == SubjectKind.TASK:
                return
            found = self._regions.get(opened.region)
            if (
                found is not None
                and found.role in _WAITS
                and self._kind_of(opened.region) != SubjectKind.SCOPE
            ):
                opened.tasks += ticks
                return

    def _lock(self, opened: Open, tick: int) -> None:
        acquired = min(opened.acquired or opened.begin, tick)
        held, waited = (opened.released or tick) - acquired, acquired - opened.begin
        self._add(acquired, EventKind.LOCK, opened.region, held, waited)
        extra = self._row(Metric.LOCK, opened.region, waited)
        extra[LockFields.HELD] += held
        extra[LockFields.CONTENDED] += waited > 1000
        self._waited += waited
        self.waits += waited

    def _wait(self, opened: Open, tick: int, kind: WaitKind) -> None:
        ticks = max(tick - opened.begin - opened.tasks, 0)
        instance = self._parts[-1][0].number if self._parts else 0
        self._add(opened.begin, EventKind.WAIT, opened.region, ticks, instance, int(kind))
        self._row(Metric.WAIT, opened.region, ticks, int(kind))
        self._waited += ticks
        self.waits += ticks
        # If nothing follows it in the part, it is the barrier at the region's end.
        self._barrier = opened if kind == WaitKind.BARRIER else None

    def _team_begin(self, tick: int) -> None:
        instance = self._teams.at(tick)
        if instance is None:
            return
        self._parts.append((instance, tick, self._waited))
        self._waited, self._barrier = 0, None
        self._add(tick, EventKind.WORK_BEGIN, instance.subject, instance.number, self._lane)

    def _team_end(self, tick: int) -> None:
        if not self._parts:
            return
        instance, begin, waited_before = self._parts[-1]
        is_last = bool(self._events) and self._events[-1][2] == EventKind.WAIT
        end, late_tasks, join = tick, 0, self._barrier if is_last else None
        if join is not None:
            end, late_tasks = join.begin, join.tasks
            self._events.pop()
            key = (join.region, int(Metric.WAIT), int(WaitKind.BARRIER), instance.subject)
            self._waited -= self._durations[key].pop()
        self._add(end, EventKind.WORK_END, instance.subject, instance.number, self._waited)
        if join is not None:
            wait, ticks = int(WaitKind.JOIN), max(tick - end - late_tasks, 0)
            self._add(end, EventKind.WAIT, join.region, ticks, instance.number, wait)
            self._row(Metric.WAIT, join.region, ticks, wait)
        join_wait = max(instance.end - end - late_tasks, 0)
        part = Part(instance, self._lane, begin, end, join_wait, self._waited, late_tasks)
        self.parts.append(part)
        self._parts.pop()
        self._waited, self._barrier = waited_before, None

    def _fork_or_join(self, kind: int, tick: int) -> None:
        own = [
            one
            for one in self._teams.instances
            if one.lane == self._lane and tick == (one.begin if kind == Kind.FORK else one.end)
        ]
        for instance in own[:1]:
            level = 1 if not instance.enclosing else 2
            event = EventKind.REGION_BEGIN if kind == Kind.FORK else EventKind.REGION_END
            self._add(tick, event, instance.subject, instance.number, instance.enclosing, level)

    def add_scope(self, subject: int, ticks: int) -> None:
        """Time that is found out when all lanes are read."""
        self._durations[subject, int(Metric.SCOPE), 0, NO_SUBJECT].append(ticks)

    def records(self, team_rows: Records) -> LaneRecords:
        """The lane, with rows of the regions that it forked."""
        events = np.array(self._events, layout.EVENT) if self._events else np.empty(0, layout.EVENT)
        kept = {key: ticks for key, ticks in self._durations.items() if ticks}
        rows = np.zeros(len(kept), layout.ROW)
        for row, (key, ticks) in zip(rows, kept.items(), strict=True):
            fill_row(row, key, ticks, self._extra.get(key, [0, 0, 0, 0]))
        return LaneRecords(self._name, np.concatenate([rows, team_rows]), events)


def fill_row(
    row: np.void, key: tuple[int, int, int, int], ticks: Sequence[int], extra: Sequence[int], about: int = 0
) -> None:
    """A profile row: `key` is subject, metric, flags and enclosing region."""
    row["subject"], row["what"], row["flags"], row["in_region"] = key
    row["about"], row["count"], row["timed"] = about, len(ticks), len(ticks)
    row["sum"], row["min"], row["max"], row["x"] = sum(ticks), min(ticks), max(ticks), extra
    for one in ticks:
        row["histogram"][min(one.bit_length(), layout.HISTOGRAM_BUCKETS - 1)] += 1


@dataclass
class _Sums:
    walls: list[int] = field(default_factory=list)
    threads: int = 0
    most: int = 0
    slowest: int = 0
    mean: int = 0


def team_rows(forker: int, parts: Sequence[Part]) -> Records:
    """Rows of the regions that a lane forked: one for each region, and one for each member of its teams."""
    by_instance: dict[int, list[Part]] = defaultdict(list)
    for part in parts:
        if part.instance.lane == forker:
            by_instance[part.instance.number].append(part)
    regions: dict[int, _Sums] = defaultdict(_Sums)
    members: dict[tuple[int, int], list[Part]] = defaultdict(list)
    for own in by_instance.values():
        instance = own[0].instance
        works = [part.work for part in own]
        sums = regions[instance.subject]
        sums.walls.append(instance.end - instance.begin)
        sums.threads += len(own)
        sums.most = max(sums.most, len(own))
        sums.slowest += max(works)
        sums.mean += sum(works) // len(works)
        for part in own:
            members[instance.subject, part.lane].append(part)
    rows = np.zeros(len(regions) + len(members), layout.ROW)
    for row, (subject, sums) in zip(rows, regions.items(), strict=False):
        extra = (sums.threads, sums.most, sums.slowest, sums.mean)
        fill_row(row, (subject, int(Metric.REGION), 0, NO_SUBJECT), sums.walls, extra, forker)
    for row, ((subject, lane), own) in zip(rows[len(regions) :], members.items(), strict=True):
        works = [part.work for part in own]
        x = [0, 0, 0, 0]
        x[TeamFields.JOIN_WAIT] = sum(part.join_wait for part in own)
        x[TeamFields.ARRIVAL] = sum(max(part.begin - part.instance.begin, 0) for part in own)
        x[TeamFields.INNER_WAIT] = sum(part.inner_wait for part in own)
        fill_row(row, (subject, int(Metric.TEAM), 0, NO_SUBJECT), works, x, lane)
    return rows

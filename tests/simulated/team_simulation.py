"""Runs a program with parallel regions on a machine, and records it as the hooks of OpenMP's runtimes would."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import (
    EventKind,
    LockFields,
    LoopFields,
    Metric,
    RegionFields,
    Schedule,
    SubjectKind,
    TeamFields,
    WaitKind,
)

from simulated.engine import Engine, Signal
from simulated.engine import Process as Running
from simulated.machine import Cpu, Machine
from simulated.recording import LaneRecorder, Recording, SubjectName
from simulated.team_program import Critical, Loop, Region, Serial, TeamProgram, Work

_CONTENDED_NS = 1000


class _Subjects:
    """Numbers of named places, in the order in which they are met."""

    def __init__(self) -> None:
        self.all: dict[tuple[SubjectKind, str], SubjectName] = {}

    def number(self, kind: SubjectKind, name: str, parent: int | None = None) -> int:
        key = (kind, name)
        if key not in self.all:
            made = SubjectName(len(self.all), kind, name)
            self.all[key] = made if parent is None else SubjectName(made.number, kind, name, parent)
        return self.all[key].number


class _Lock:
    """First come, first served."""

    def __init__(self) -> None:
        self.is_held = False
        self.queue: deque[Signal] = deque()


class _Lane:
    def __init__(self, number: int, machine: Machine, engine: Engine) -> None:
        self.record = LaneRecorder(number)
        self.number = number
        self.cpu = Cpu(machine, number)
        self.engine = engine
        self.machine = machine
        self.idle = 0

    def compute(self, work: int) -> Running:
        end, pauses = self.cpu.compute(self.engine.now, work)
        for pause in pauses:
            self.record.off_cpu(pause.begin, pause.end, is_preempted=True)
        self.record.run_ns += work
        if end > self.engine.now:
            yield end - self.engine.now

    def sleep(self, signal: Signal) -> Running:
        """Until it is woken, and has a CPU."""
        begin = self.engine.now
        yield signal
        ready = self.engine.now
        awake = ready + max(self.machine.wake_ns, 1)
        free = self.cpu.free_at(awake)
        # Ready to run, without a CPU: schedstat counts that.
        self.record.delay_ns += free - awake
        yield free - ready
        self.record.off_cpu(begin, self.engine.now, is_preempted=False)


class _Team:
    """One instance of a region while it runs."""

    def __init__(self, engine: Engine, region: Region, subject: int, instance: int, lanes: int) -> None:
        self.region, self.subject, self.instance = region, subject, instance
        self.forked_at = engine.now
        self.arrived = [0] * len(region.steps)
        self.opened = [Signal(engine) for _ in region.steps]
        self.next_iteration = [0] * len(region.steps)
        self.lock = _Lock()
        self.left = lanes
        self.is_forked = False
        self.ended = Signal(engine)
        self.parts: dict[int, tuple[int, int, int]] = {}


def simulate_team(program: TeamProgram, machine: Machine) -> Recording:
    """The run of the program, from its begin to its end."""
    return _Simulation(program, machine).run()


class _Simulation:
    def __init__(self, program: TeamProgram, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.engine = Engine()
        self.subjects = _Subjects()
        self.lanes = [_Lane(number, machine, self.engine) for number in range(program.lanes)]
        self.docks = [Signal(self.engine) for _ in self.lanes]
        self.team: _Team | None = None
        self.parallel_ns = 0

    def run(self) -> Recording:
        for lane in self.lanes:
            lane.record.event(0, EventKind.THREAD_BEGIN, NO_SUBJECT, lane.number)
        self.engine.start(self._main())
        for lane in self.lanes[1:]:
            self.engine.start(self._member(lane))
        self.engine.run()
        return Recording(
            [lane.record for lane in self.lanes],
            list(self.subjects.all.values()),
            self.end,
            self.parallel_ns,
            self.machine.cpus,
        )

    def _main(self) -> Running:
        lane = self.lanes[0]
        instance = 0
        for phase in self.program.phases:
            if isinstance(phase, Serial):
                yield from lane.compute(phase.time)
            else:
                instance += 1
                yield from self._region(lane, phase, instance)
        self.end = self.engine.now

    def _region(self, lane: _Lane, region: Region, instance: int) -> Running:
        subject = self.subjects.number(SubjectKind.REGION, region.name)
        team = self.team = _Team(self.engine, region, subject, instance, self.program.lanes)
        lane.record.event(self.engine.now, EventKind.REGION_BEGIN, subject, instance, 0, 1)
        yield from lane.compute(self.machine.fork_ns)
        team.is_forked = True
        for dock in self.docks[1:]:
            dock.send()
        yield from self._part(lane, team)
        if team.left:
            yield from lane.sleep(team.ended)
        yield from lane.compute(self.machine.fork_ns)
        now = self.engine.now
        lane.record.event(now, EventKind.REGION_END, subject, instance, self.program.lanes, 1)
        self.parallel_ns += now - team.forked_at
        self._account(lane, team, now)

    def _member(self, lane: _Lane) -> Running:
        joined = 0
        while True:
            if self.team is None or self.team.instance == joined or not self.team.is_forked:
                yield from lane.sleep(self.docks[lane.number])
            assert self.team is not None
            joined = self.team.instance
            yield from self._part(lane, self.team)

    def _part(self, lane: _Lane, team: _Team) -> Running:
        begin = self.engine.now
        lane.idle = 0
        lane.record.event(begin, EventKind.WORK_BEGIN, team.subject, team.instance, lane.number)
        for place, step in enumerate(team.region.steps):
            if isinstance(step, Work):
                yield from lane.compute(step.times[lane.number])
            elif isinstance(step, Loop):
                yield from self._loop(lane, team, place, step)
            elif isinstance(step, Critical):
                yield from self._critical(lane, team, step)
            else:
                yield from self._barrier(lane, team, place)
        end = self.engine.now
        lane.record.event(end, EventKind.WORK_END, team.subject, team.instance, lane.idle)
        team.parts[lane.number] = (begin, end, lane.idle)
        team.left -= 1
        if not team.left:
            team.ended.send()

    def _loop(self, lane: _Lane, team: _Team, place: int, step: Loop) -> Running:
        subject = self.subjects.number(SubjectKind.LOOP, f"{team.region.name}, loop {place}", team.subject)
        schedule = Schedule.DYNAMIC if step.chunk else Schedule.STATIC
        begin, iterations, chunks = self.engine.now, 0, 0
        for first, count in self._chunks(lane, team, place, step):
            if step.chunk:
                yield from lane.compute(self.machine.dispatch_ns)
            if not count:
                break
            lane.record.event(self.engine.now, EventKind.CHUNK, subject, count, first, schedule)
            iterations, chunks = iterations + count, chunks + 1
            yield from lane.compute(sum(step.times[first : first + count]))
        took = self.engine.now - begin
        row = lane.record.row(Metric.LOOP, subject, region=team.subject, flags=schedule)
        row.add(took)
        row.x[LoopFields.ITERATIONS] += iterations
        row.x[LoopFields.CHUNKS] += chunks
        row.x[LoopFields.CHUNK_SIZE] = step.chunk
        row.x[LoopFields.TRIP_COUNT] = len(step.times)
        lane.record.event(begin, EventKind.LOOP, subject, took, iterations, schedule)
        if step.has_barrier:
            yield from self._barrier(lane, team, place)

    def _chunks(self, lane: _Lane, team: _Team, place: int, step: Loop) -> Iterator[tuple[int, int]]:
        """First iteration and count of each chunk of a lane; a dynamic loop ends with an empty one."""
        total = len(step.times)
        if not step.chunk:
            size, rest = divmod(total, self.program.lanes)
            first = lane.number * size + min(lane.number, rest)
            yield first, size + (lane.number < rest)
            return
        while True:
            first = team.next_iteration[place]
            count = max(min(step.chunk, total - first), 0)
            team.next_iteration[place] = first + count
            yield first, count

    def _barrier(self, lane: _Lane, team: _Team, place: int) -> Running:
        subject = self.subjects.number(
            SubjectKind.BARRIER, f"{team.region.name}, barrier {place}", team.subject
        )
        begin = self.engine.now
        team.arrived[place] += 1
        if team.arrived[place] == self.program.lanes:
            team.opened[place].send()
        else:
            yield from lane.sleep(team.opened[place])
        waited = self.engine.now - begin
        lane.idle += waited
        lane.record.row(Metric.WAIT, subject, region=team.subject, flags=WaitKind.BARRIER).add(waited)
        lane.record.event(begin, EventKind.WAIT, subject, waited, team.instance, WaitKind.BARRIER)

    def _critical(self, lane: _Lane, team: _Team, step: Critical) -> Running:
        subject = self.subjects.number(SubjectKind.CRITICAL, f"{team.region.name}, critical", team.subject)
        for _ in range(step.turns):
            yield from lane.compute(step.between[lane.number])
            asked = self.engine.now
            yield from self._enter(lane, team.lock)
            entered = self.engine.now
            yield from lane.compute(step.held)
            held, waited = self.engine.now - entered, entered - asked
            self._leave(team.lock)
            lane.idle += waited
            row = lane.record.row(Metric.LOCK, subject, region=team.subject)
            row.add(waited)
            row.x[LockFields.HELD] += held
            row.x[LockFields.CONTENDED] += waited > _CONTENDED_NS
            lane.record.event(entered, EventKind.LOCK, subject, held, waited, 1 + subject)

    def _enter(self, lane: _Lane, lock: _Lock) -> Running:
        if lock.is_held:
            turn = Signal(self.engine)
            lock.queue.append(turn)
            yield from lane.sleep(turn)
        lock.is_held = True

    def _leave(self, lock: _Lock) -> None:
        if lock.queue:
            lock.queue.popleft().send()  # the lock goes to who is woken
        else:
            lock.is_held = False

    def _account(self, forker: _Lane, team: _Team, end: int) -> None:
        """The profile rows of an instance."""
        works = [last - first - idle for first, last, idle in team.parts.values()]
        row = forker.record.row(Metric.REGION, team.subject)
        row.add(end - team.forked_at)
        row.x[RegionFields.THREADS] += len(works)
        row.x[RegionFields.MOST_THREADS] = max(row.x[RegionFields.MOST_THREADS], len(works))
        row.x[RegionFields.SLOWEST_WORK] += max(works)
        row.x[RegionFields.MEAN_WORK] += sum(works) // len(works)
        for number, (first, last, idle) in sorted(team.parts.items()):
            member = forker.record.row(Metric.TEAM, team.subject, about=number)
            member.add(last - first - idle)
            member.x[TeamFields.JOIN_WAIT] += end - last
            member.x[TeamFields.ARRIVAL] += first - team.forked_at
            member.x[TeamFields.INNER_WAIT] += idle

"""Causes of idle cores that are put into a program, each with a severity; with a cause turned off its work is there, but nobody waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from trimtab.model.enumerations import BlameCause

from simulated.job_program import JobProgram
from simulated.job_simulation import JobRecording, simulate_job
from simulated.machine import MS, Hog, Machine
from simulated.recording import Recording
from simulated.task_program import Task, TaskProgram
from simulated.task_simulation import simulate_tasks
from simulated.team_program import Critical, Region, Serial, TeamProgram, Work
from simulated.team_simulation import simulate_team

Random = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A program and the machine that it runs on."""

    program: TeamProgram | TaskProgram | JobProgram
    machine: Machine
    seed: int = 0

    @property
    def cpus(self) -> int:
        """Of all machines: each locality of a job has its own."""
        localities = self.program.localities if isinstance(self.program, JobProgram) else 1
        return self.machine.cpus * localities

    def simulate(self) -> Recording | JobRecording:
        """Its run."""
        if isinstance(self.program, JobProgram):
            return simulate_job(self.program, self.machine, self.seed)
        if isinstance(self.program, TeamProgram):
            return simulate_team(self.program, self.machine)
        return simulate_tasks(self.program, self.machine, self.seed)


@dataclass(frozen=True)
class Plant:
    """A cause to put into a case.

    Attributes:
        cause: what the report should call it.
        subject: the region or kind of task that it should name; empty: none in particular.
        apply: the case with the cause, or, where its second argument is false, with its work alone.
        change: the what-if that takes it away, by a part of its words; None: that of all plants of this cause; empty: there is none.
    """

    cause: BlameCause
    subject: str
    apply: Callable[[Case, bool], Case]
    change: str | None = None


@dataclass(frozen=True)
class Planted:
    """A case with causes, and what each costs.

    Attributes:
        costs_ns: of each plant, the simulated time with all of them minus that with all others.
        clean: the case with all of them turned off.
        clean_ns: its simulated time.
    """

    case: Case
    plants: tuple[Plant, ...]
    recording: Recording | JobRecording
    costs_ns: tuple[int, ...]
    clean: Case
    clean_ns: int


def plant(clean: Case, plants: Sequence[Plant]) -> Planted:
    """The case with these causes."""
    case = _with(clean, plants, [True] * len(plants))
    recording = case.simulate()
    costs = []
    for at in range(len(plants)):
        others = [number != at for number in range(len(plants))]
        costs.append(recording.makespan_ns - _with(clean, plants, others).simulate().makespan_ns)
    clean = _with(clean, plants, [False] * len(plants))
    return Planted(case, tuple(plants), recording, tuple(costs), clean, clean.simulate().makespan_ns)


def _with(case: Case, plants: Sequence[Plant], is_on: Sequence[bool]) -> Case:
    for each, on in zip(plants, is_on, strict=True):
        case = each.apply(case, on)
    return case


def _team(case: Case) -> TeamProgram:
    assert isinstance(case.program, TeamProgram)
    return case.program


def _tasks(case: Case) -> TaskProgram:
    assert isinstance(case.program, TaskProgram)
    return case.program


def _job(case: Case) -> JobProgram:
    assert isinstance(case.program, JobProgram)
    return case.program


def _regions(case: Case, name: str, change: Callable[[int, Region], Region]) -> Case:
    """The case with the instances of a region changed; the first argument counts them."""
    phases: list[Serial | Region] = []
    count = 0
    for phase in _team(case).phases:
        if isinstance(phase, Region) and phase.name == name:
            phases.append(change(count, phase))
            count += 1
        else:
            phases.append(phase)
    return replace(case, program=replace(_team(case), phases=tuple(phases)))


def _longer(region: Region, extra: Sequence[float]) -> Region:
    """The first work of each lane takes longer, by these parts of the mean."""
    steps = list(region.steps)
    at, step = next((number, step) for number, step in enumerate(steps) if isinstance(step, Work))
    mean = sum(step.times) / len(step.times)
    steps[at] = Work(tuple(round(own + more * mean) for own, more in zip(step.times, extra, strict=True)))
    return replace(region, steps=tuple(steps))


def _of_lane(lanes: int, lane: int, extra: float) -> list[float]:
    return [extra if number == lane else 0.0 for number in range(lanes)]


def imbalance(case: Case, region: str, severity: float, random: Random) -> Plant:
    """One lane has more work than the others, every time; without the cause all lanes share it."""
    lanes = _team(case).lanes
    uneven, even = _of_lane(lanes, int(random.integers(lanes)), severity), [severity / lanes] * lanes

    def apply(case: Case, is_on: bool) -> Case:
        return _regions(case, region, lambda _, it: _longer(it, uneven if is_on else even))

    return Plant(BlameCause.IMBALANCE, region, apply)


def straggler(case: Case, region: str, severity: float, random: Random) -> Plant:
    """In few instances one lane takes much longer than it usually does; without the cause it does not."""
    lanes = _team(case).lanes
    count = sum(isinstance(phase, Region) and phase.name == region for phase in _team(case).phases)
    chosen = random.choice(count, max(count // 10, 1), replace=False).tolist()
    extra = {at: _of_lane(lanes, int(random.integers(lanes)), 3 + 20 * severity) for at in chosen}

    def apply(case: Case, is_on: bool) -> Case:
        if not is_on:
            return case
        return _regions(case, region, lambda at, it: _longer(it, extra[at]) if at in extra else it)

    return Plant(BlameCause.STRAGGLER, region, apply)


def serial_part(case: Case, region: str, severity: float, random: Random) -> Plant:
    """Before each region one thread works alone; without the cause the lanes share that work in the region."""
    program = _team(case)
    regions = sum(isinstance(phase, Region) for phase in program.phases)
    time = round(severity * program.work_ns / program.lanes / regions)

    def apply(case: Case, is_on: bool) -> Case:
        phases: list[Serial | Region] = []
        for phase in _team(case).phases:
            if is_on and isinstance(phase, Region):
                phases.append(Serial(time))
            if not is_on and isinstance(phase, Region):
                lanes = _team(case).lanes
                phase = replace(phase, steps=(*phase.steps, Work((time // lanes,) * lanes)))
            phases.append(phase)
        return replace(case, program=replace(_team(case), phases=tuple(phases)))

    return Plant(BlameCause.SERIAL_PART, "", apply)


def lock_holder(case: Case, region: str, severity: float, random: Random) -> Plant:
    """All lanes enter a critical section; without the cause they do the same work without it."""
    lanes = _team(case).lanes
    turns = int(random.integers(2, 8))
    held = round((40_000 + 200_000 * severity) * random.uniform(0.8, 1.2))
    between = tuple(round(held * 0.5 * random.uniform(0.9, 1.1)) for _ in range(lanes))

    def change(is_on: bool, it: Region) -> Region:
        alone = Work(tuple(turns * (own + held) for own in between))
        return replace(it, steps=(*it.steps, Critical(turns, between, held) if is_on else alone))

    return Plant(
        BlameCause.LOCK_HOLDER,
        f"{region}, critical",
        lambda case, is_on: _regions(case, region, lambda _, it: change(is_on, it)),
    )


def preemption(case: Case, region: str, severity: float, random: Random) -> Plant:
    """Another program takes one CPU for a part of the time, in time slices."""
    cpu = int(random.integers(case.machine.cpus))
    slice_ns = round(random.uniform(1, 4) * MS)
    period = round(slice_ns / min(0.1 + 0.5 * severity, 0.6))
    begins = range(int(random.integers(period)), 5000 * MS, period)
    hog = Hog(cpu, tuple((begin, begin + slice_ns) for begin in begins[:2000]))

    def apply(case: Case, is_on: bool) -> Case:
        hogs = (*case.machine.hogs, hog) if is_on else case.machine.hogs
        return replace(case, machine=case.machine.but(hogs=hogs))

    return Plant(BlameCause.PREEMPTION, "", apply)


def wakeup_latency(case: Case, region: str, severity: float, random: Random) -> Plant:
    """Sleeping lanes take long to go on."""
    wake_ns = round(100_000 + 800_000 * severity)

    def apply(case: Case, is_on: bool) -> Case:
        return replace(case, machine=case.machine.but(wake_ns=wake_ns)) if is_on else case

    return Plant(BlameCause.WAKEUP_LATENCY, "", apply)


def too_few_lanes(case: Case, region: str, severity: float, random: Random) -> Plant:
    """Fewer lanes than CPUs: those that there are share the same work."""
    lanes = _team(case).lanes
    fewer = max(lanes - max(round(severity * lanes / 2), 1), 1)

    def shared(step: object) -> object:
        if isinstance(step, Work):
            return Work((round(sum(step.times) / fewer),) * fewer)
        return step

    def apply(case: Case, is_on: bool) -> Case:
        if not is_on:
            return case
        phases = tuple(
            replace(phase, steps=tuple(shared(step) for step in phase.steps))  # type: ignore[misc]
            if isinstance(phase, Region)
            else phase
            for phase in _team(case).phases
        )
        return replace(case, program=TeamProgram(fewer, phases))

    return Plant(BlameCause.TOO_FEW_WORKERS, "", apply)


def _more_children(program: TaskProgram, added: Sequence[Task]) -> TaskProgram:
    """The first task makes some more."""
    first = len(program.tasks)
    root = program.tasks[0]
    children = (*range(first, first + len(added)), *root.children)
    return replace(program, tasks=(replace(root, children=children), *program.tasks[1:], *added))


def dependence_chain(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """Tasks of which each needs the one before it, longer than all others take together on the workers."""
    program = _tasks(case)
    length = round((1 + severity) * program.work_ns / program.workers)
    count = int(random.integers(12, 40))
    times = [round(length / count * random.uniform(0.9, 1.1)) for _ in range(count)]

    def apply(case: Case, is_on: bool) -> Case:
        program = _tasks(case)
        first = len(program.tasks)
        links = [
            Task("link", time, inputs=(first + at - 1,) if is_on and at else ())
            for at, time in enumerate(times)
        ]
        return replace(case, program=_more_children(program, links))

    return Plant(BlameCause.DEPENDENCE_CHAIN, "link", apply)


def long_task(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """One task takes as long as all others on the other workers; without the cause it is like others of its kind."""
    program = _tasks(case)
    same_kind = [at for at, task in enumerate(program.tasks) if task.kind == kind and not task.children]
    at = same_kind[int(random.integers(len(same_kind)))]
    extra = round((1 + severity) * program.work_ns / (program.workers - 1))

    def apply(case: Case, is_on: bool) -> Case:
        tasks = list(_tasks(case).tasks)
        if is_on:
            tasks[at] = replace(tasks[at], time=tasks[at].time + extra)
        return replace(case, program=replace(_tasks(case), tasks=tuple(tasks)))

    return Plant(BlameCause.STRAGGLER, kind, apply)


def spawn_rate(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """One task makes all others, more slowly than the workers run them; without the cause the workers share that work."""
    program = _tasks(case)
    leaves = len(program.tasks[0].children)
    making = round((1 + severity) * program.work_ns / program.workers / max(leaves, 1))

    def apply(case: Case, is_on: bool) -> Case:
        program = _tasks(case)
        if is_on:
            tasks = [replace(program.tasks[0], making=making), *program.tasks[1:]]
        else:
            first = set(program.tasks[0].children)
            tasks = [
                replace(task, time=task.time + making) if at in first else task
                for at, task in enumerate(program.tasks)
            ]
        return replace(case, program=replace(program, tasks=tuple(tasks)))

    return Plant(BlameCause.SPAWN_RATE, program.tasks[0].kind, apply)


def bad_distribution(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """Most tasks are put into the queues of a few workers, and workers take only from their own queue."""
    program = _tasks(case)
    few = max(round(program.workers * (0.75 - 0.5 * min(severity, 1))), 1)
    share = 0.5 + 0.4 * min(severity, 1)
    homes = [
        int(random.integers(few)) if random.random() < share else at % program.workers
        for at in range(len(program.tasks))
    ]

    def apply(case: Case, is_on: bool) -> Case:
        program = _tasks(case)
        tasks = tuple(
            replace(task, home=homes[at] if is_on and at < len(homes) else at % program.workers)
            for at, task in enumerate(program.tasks)
        )
        return replace(case, program=replace(program, tasks=tasks, steals=False))

    return Plant(BlameCause.BAD_DISTRIBUTION, "", apply)


def too_few_workers(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """Fewer workers than CPUs."""
    workers = _tasks(case).workers
    fewer = max(workers - max(round(severity * workers / 2), 1), 1)

    def apply(case: Case, is_on: bool) -> Case:
        return replace(case, program=replace(_tasks(case), workers=fewer)) if is_on else case

    return Plant(BlameCause.TOO_FEW_WORKERS, "", apply)


def serial_beside_tasks(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """The first thread works alone before there are tasks; without the cause the tasks share that work."""
    program = _tasks(case)
    time = round(severity * program.work_ns / program.workers)
    leaves = [at for at, task in enumerate(program.tasks) if not task.children]

    def apply(case: Case, is_on: bool) -> Case:
        program = _tasks(case)
        if is_on:
            return replace(case, program=replace(program, before=program.before + time))
        tasks = list(program.tasks)
        for at in leaves:
            tasks[at] = replace(tasks[at], time=tasks[at].time + time // len(leaves))
        return replace(case, program=replace(program, tasks=tuple(tasks)))

    return Plant(BlameCause.SERIAL_PART, "", apply)


def small_tasks(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """Every leaf becomes many tasks, each of which costs the runtime about what it computes."""
    grain = round(random.uniform(4_000, 8_000))
    machine = case.machine.but(fetch_ns=round(grain * (0.2 + severity)))

    def apply(case: Case, is_on: bool) -> Case:
        if not is_on:
            return case
        tasks = list(_tasks(case).tasks)
        for at in range(len(tasks)):
            task = tasks[at]
            pieces = task.time // grain
            if task.children or pieces < 2:
                continue
            first = len(tasks)
            tasks += [Task("grain", grain)] * (pieces - 1)
            tasks[at] = replace(task, time=grain, children=tuple(range(first, len(tasks))))
        return replace(case, program=replace(_tasks(case), tasks=tuple(tasks)), machine=machine)

    return Plant(BlameCause.RUNTIME, "", apply)


def slow_rank(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """One locality has more work than the others, in every step; without the cause all share it."""
    program = _job(case)
    slow = int(random.integers(program.localities))

    def factor(locality: int, is_on: bool) -> float:
        if is_on:
            return 1 + severity if locality == slow else 1.0
        return 1 + severity / program.localities

    def apply(case: Case, is_on: bool) -> Case:
        times = tuple(
            tuple(
                tuple(round(time * factor(locality, is_on)) for time in times)
                for locality, times in enumerate(step)
            )
            for step in _job(case).times
        )
        return replace(case, program=replace(_job(case), times=times))

    return Plant(BlameCause.DEPENDENCE_CHAIN, "step", apply, "processes share the work equally")


def slow_sender(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """One locality packs what it sends in one long task; without the cause its workers share that work."""
    program = _job(case)
    slow, steps = int(random.integers(program.localities)), len(program.times)
    packing = round(severity * program.work_ns / steps / program.localities / program.workers)

    def apply(case: Case, is_on: bool) -> Case:
        program = _job(case)
        if is_on:
            longer = tuple(own + packing * (at == slow) for at, own in enumerate(program.packing))
            return replace(case, program=replace(program, packing=longer))
        times = tuple(
            tuple(
                tuple(time + (packing // len(times) if locality == slow else 0) for time in times)
                for locality, times in enumerate(step)
            )
            for step in program.times
        )
        return replace(case, program=replace(program, times=times))

    return Plant(BlameCause.DEPENDENCE_CHAIN, "pack", apply, "")


def _of_step(program: JobProgram) -> float:
    return program.work_ns / len(program.times) / program.localities / program.workers


def slow_transport(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """A message takes long from one locality to another; without the cause it takes no time."""
    wire_ns = round(severity * _of_step(_job(case)))

    def apply(case: Case, is_on: bool) -> Case:
        return replace(case, program=replace(_job(case), wire_ns=wire_ns if is_on else 0))

    return Plant(BlameCause.LATE_MESSAGE, "", apply, "messages take no time")


def long_queues(case: Case, kind: str, severity: float, random: Random) -> Plant:
    """Letters wait in the queues of their senders for others to travel with; without the cause they leave at once."""
    wait_ns = round(severity * _of_step(_job(case)))

    def apply(case: Case, is_on: bool) -> Case:
        return replace(case, program=replace(_job(case), wait_ns=wait_ns)) if is_on else case

    return Plant(BlameCause.QUEUED_MESSAGE, "", apply, "messages leave the queues")


Planter = Callable[[Case, str, float, Random], Plant]
OF_TEAMS: dict[str, Planter] = {
    "imbalance": imbalance,
    "straggler": straggler,
    "serial part": serial_part,
    "lock": lock_holder,
    "preemption": preemption,
    "wake-up": wakeup_latency,
    "few lanes": too_few_lanes,
}
OF_TASKS: dict[str, Planter] = {
    "chain": dependence_chain,
    "long task": long_task,
    "spawn rate": spawn_rate,
    "serial part beside tasks": serial_beside_tasks,
    "distribution": bad_distribution,
    "preemption of workers": preemption,
    "few workers": too_few_workers,
    "small tasks": small_tasks,
}
OF_JOBS: dict[str, Planter] = {
    "slow rank": slow_rank,
    "slow sender": slow_sender,
    "slow transport": slow_transport,
    "long queues": long_queues,
}

"""Runs a program of tasks on a machine, and records it as the room `tasks` would: queues of workers, steals, sleep."""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import (
    EventKind,
    Metric,
    SubjectKind,
    TaskFields,
    WaitCause,
    WorkerFields,
    WorkerState,
)

from simulated.engine import Engine, Signal
from simulated.engine import Process as Running
from simulated.machine import Cpu, Machine
from simulated.recording import LaneRecorder, Recording, SubjectName
from simulated.task_program import TaskProgram

_RUNTIME = 0


def simulate_tasks(program: TaskProgram, machine: Machine, seed: int = 0) -> Recording:
    """The run of the program; `seed` decides whom workers steal from."""
    simulation = TaskSimulation(program, machine, seed)
    simulation.start()
    simulation.engine.run()
    return simulation.recording()


class Port(Protocol):
    """How a locality reaches the others of its job."""

    engine: Engine
    network: LaneRecorder

    def send(self, lane: LaneRecorder, sender: tuple[int, int], to: tuple[int, int]) -> None:
        """A letter of a task (kind, number) for a task of another locality (locality, task)."""

    def empty(self) -> Running:
        """Until nothing waits in its queues."""


class _Worker:
    def __init__(self, number: int, machine: Machine) -> None:
        self.record = LaneRecorder(number + 1)  # lane 0 is the first thread
        self.record.worker_of = _RUNTIME + 1
        self.record.head["worker"] = number
        self.number = number
        self.cpu = Cpu(machine, number)
        self.queue: deque[int] = deque()
        self.state = WorkerState.NONE
        self.since = 0
        self.busy_before = 0
        self.running = 0


class TaskSimulation:
    """One process. `port`: of a job."""

    def __init__(self, program: TaskProgram, machine: Machine, seed: int, port: Port | None = None) -> None:
        self.program, self.machine = program, machine
        self.random = np.random.default_rng(seed)
        self.port = port
        self.engine = port.engine if port is not None else Engine()
        kinds = dict.fromkeys(task.kind for task in program.tasks)
        self.subjects = [SubjectName(_RUNTIME, SubjectKind.WORKERS, "workers")]
        self.subjects += [SubjectName(at, SubjectKind.TASK, kind) for at, kind in enumerate(kinds, 1)]
        numbers = {each.name: each.number for each in self.subjects[1:]}
        self.kind = [numbers[task.kind] for task in program.tasks]
        self.missing = [len(task.inputs) + task.letters + 1 for task in program.tasks]
        self.followers: list[list[int]] = [[] for _ in program.tasks]
        for at, task in enumerate(program.tasks):
            for needed in task.inputs:
                self.followers[needed].append(at)
        self.parent = [0] * len(program.tasks)
        for at, task in enumerate(program.tasks):
            for child in task.children:
                self.parent[child] = at
        self.open_children = [len(task.children) for task in program.tasks]
        self.suspended: dict[int, int] = {}
        self.resumed: set[int] = set()
        self.is_made = [False] * len(program.tasks)
        self.left = len(program.tasks)
        self.main = LaneRecorder(0)
        self.workers = [_Worker(number, machine) for number in range(program.workers)]
        self.sleepers: list[tuple[_Worker, Signal]] = []
        self.is_over = False
        self.all_ended = Signal(self.engine)
        self.busy_workers, self.busy_since, self.busy_ns = 0, 0, 0

    def start(self) -> None:
        """To be called before the engine runs."""
        self.engine.start(self._first_thread())

    def recording(self) -> Recording:
        """When the engine has run."""
        network = [self.port.network] if self.port is not None else []
        return Recording(
            [self.main, *(worker.record for worker in self.workers), *network],
            self.subjects,
            self.end,
            self.busy_ns,
            self.machine.cpus,
        )

    def _first_thread(self) -> Running:
        # Workers are there from the beginning.
        self.main.event(0, EventKind.THREAD_BEGIN, NO_SUBJECT, 0)
        self.main.run_ns += self.program.before + self.program.after
        if self.port is not None:
            self.port.network.event(0, EventKind.THREAD_BEGIN, NO_SUBJECT, self.port.network.lane)
        for worker in self.workers:
            worker.record.event(0, EventKind.THREAD_BEGIN, NO_SUBJECT, worker.record.lane)
            self._enter(worker, WorkerState.RUNS)
            self.engine.start(self._work(worker))
        yield self.program.before
        self.is_made[0] = True
        self.main.event(self.engine.now, EventKind.TASK_CREATED, self.kind[0], 1, 0)
        self.main.row(Metric.TASK, self.kind[0]).x[TaskFields.CREATED] += 1
        self.missing[0] -= 1
        self._push(0, self.workers[0])
        yield self.all_ended
        if self.port is not None:
            yield from self.port.empty()
        yield self.machine.wake_ns
        yield self.program.after + 1
        self.end = self.engine.now
        self.is_over = True
        for worker in self.workers:
            for state in (WorkerState.LOOKS, WorkerState.NONE):
                self._enter(worker, state)
            worker.record.event(self.engine.now, EventKind.THREAD_END, NO_SUBJECT, worker.record.lane)
        if self.port is not None:
            self.port.network.event(self.end, EventKind.THREAD_END, NO_SUBJECT, self.port.network.lane)

    # The state of a worker, as lane::worker_enters has it.

    def _worked_until(self) -> int:
        return self.busy_ns + (self.engine.now - self.busy_since if self.busy_workers else 0)

    def _enter(self, worker: _Worker, state: WorkerState) -> None:
        if (worker.state in (state, WorkerState.NONE) and self.is_over) or worker.state == state:
            return
        now = self.engine.now
        if worker.state == WorkerState.RUNS:
            self.busy_workers -= 1
            if not self.busy_workers:
                self.busy_ns += now - self.busy_since
        if worker.state != WorkerState.NONE:
            row = worker.record.row(Metric.WORKER, _RUNTIME, flags=worker.state)
            took = now - worker.since
            row.add(took)
            busy = took if worker.state == WorkerState.RUNS else self._worked_until() - worker.busy_before
            row.x[WorkerFields.WHILE_BUSY] += min(busy, took)
        worker.state, worker.since = state, now
        worker.record.event(now, EventKind.WORKER_STATE, _RUNTIME, worker.number, 0, state)
        if state == WorkerState.RUNS:
            if not self.busy_workers:
                self.busy_since = now
            self.busy_workers += 1
        worker.busy_before = self._worked_until()

    def _compute(self, worker: _Worker, work: int) -> Running:
        end, pauses = worker.cpu.compute(self.engine.now, work)
        for pause in pauses:
            worker.record.off_cpu(pause.begin, pause.end, is_preempted=True)
        worker.record.run_ns += work
        if end > self.engine.now:
            yield end - self.engine.now

    # Queues.

    def _push(self, task: int, worker: _Worker) -> None:
        home = self.program.tasks[task].home
        to = worker if home is None else self.workers[home]
        to.queue.append(task)
        if not self.sleepers:
            return
        own = [at for at, (sleeper, _) in enumerate(self.sleepers) if sleeper is to]
        if own and not self.program.steals:
            self.sleepers.pop(own[0])[1].send()
        elif self.program.steals:
            self.sleepers.pop()[1].send()

    def _take(self, worker: _Worker) -> int | None:
        """From its own queue the newest, from others the oldest one."""
        return worker.queue.pop() if worker.queue else None

    def _steal(self, thief: _Worker) -> int | None:
        if not self.program.steals:
            return None
        others = [worker for worker in self.workers if worker.queue and worker is not thief]
        if not others:
            return None
        return others[int(self.random.integers(len(others)))].queue.popleft()

    def _work(self, worker: _Worker) -> Running:
        while True:
            task = self._take(worker)
            if task is None:
                task = yield from self._look(worker)
            yield from self._compute(worker, self.machine.fetch_ns)
            yield from self._execute(worker, task)

    def _look(self, worker: _Worker):  # type: ignore[no-untyped-def]
        self._enter(worker, WorkerState.LOOKS)
        while True:
            begin = self.engine.now
            while self.engine.now - begin < self.machine.look_ns:
                yield from self._compute(worker, self.machine.steal_ns)
                task = self._take(worker)
                if task is None:
                    task = self._steal(worker)
                if task is not None:
                    self._enter(worker, WorkerState.RUNS)
                    return task
            self._enter(worker, WorkerState.IDLE)
            yield from self._sleep(worker)

    def _sleep(self, worker: _Worker) -> Running:
        begin = self.engine.now
        signal = Signal(self.engine)
        self.sleepers.append((worker, signal))
        yield signal
        ready = self.engine.now
        awake = ready + max(self.machine.wake_ns, 1)
        free = worker.cpu.free_at(awake)
        # Ready to run, without a CPU: schedstat counts that.
        worker.record.delay_ns += free - awake
        yield free - ready
        worker.record.off_cpu(begin, self.engine.now, is_preempted=False)
        self._enter(worker, WorkerState.LOOKS)

    # Tasks.

    def _execute(self, worker: _Worker, task: int) -> Running:
        what = self.program.tasks[task]
        subject, number = self.kind[task], task + 1
        worker.running = number
        began, inside = self.engine.now, 0
        row = worker.record.row(Metric.TASK, subject)
        if task in self.suspended:
            waited = began - self.suspended.pop(task)
            worker.record.row(Metric.SUSPENDED, subject, flags=WaitCause.CHILDREN).add(waited)
            worker.record.event(began, EventKind.TASK_RESUMED, subject, number, waited, WaitCause.CHILDREN)
            self.resumed.add(task)
        else:
            worker.record.event(began, EventKind.TASK_BEGIN, subject, number)
            for child in what.children:
                yield from self._compute(worker, what.making + self.machine.spawn_ns)
                self._make(child, worker)
            if what.waits:
                inside = yield from self._run_children(worker, task)
            if what.waits and self.open_children[task]:
                now = self.engine.now
                worker.record.event(now, EventKind.TASK_SUSPENDED, subject, number, 0, WaitCause.CHILDREN)
                row.total += now - began - inside
                row.x[TaskFields.INCLUSIVE] += now - began
                row.x[TaskFields.SUSPENSIONS] += 1
                self.suspended[task] = now
                return
        yield from self._compute(worker, what.time)
        self._give(task, worker)
        now = self.engine.now
        worker.record.event(now, EventKind.TASK_END, subject, number)
        row.add(now - began - inside)
        row.x[TaskFields.INCLUSIVE] += now - began
        self.left -= 1
        if not self.left:
            self.all_ended.send()

    def _run_children(self, worker: _Worker, task: int):  # type: ignore[no-untyped-def]
        """A task that waits runs those of its children that lie on top of its worker's queue. Returns how long."""
        begin = self.engine.now
        while worker.queue and self.parent[child := worker.queue[-1]] == task:
            if self.program.tasks[child].waits:
                break
            yield from self._execute(worker, worker.queue.pop())
            worker.running = task + 1
        return self.engine.now - begin

    def _make(self, task: int, worker: _Worker) -> None:
        subject = self.kind[task]
        worker.record.event(self.engine.now, EventKind.TASK_CREATED, subject, task + 1, worker.running)
        worker.record.row(Metric.TASK, subject).x[TaskFields.CREATED] += 1
        self.is_made[task] = True
        self._satisfy(task, worker)

    def _satisfy(self, task: int, worker: _Worker) -> None:
        self.missing[task] -= 1
        if self.missing[task]:
            return
        what = self.program.tasks[task]
        now = self.engine.now
        if what.inputs:
            for needed in what.inputs:
                worker.record.event(now, EventKind.EDGE, NO_SUBJECT, needed + 1, task + 1, WaitCause.SLOT)
            worker.record.event(now, EventKind.TASK_READY, self.kind[task], task + 1, worker.running)
        self._push(task, worker)

    def receive(self, task: int, sender: int, parcel: int) -> None:
        """A letter has come: a worker without a task takes it, or else the thread of the network."""
        assert self.port is not None
        self.missing[task] -= 1
        if self.missing[task]:
            return
        free = [worker for worker in self.workers if worker.state in (WorkerState.LOOKS, WorkerState.IDLE)]
        lane = free[0].record if free else self.port.network
        lane.event(self.engine.now, EventKind.TASK_READY, self.kind[task], task + 1)
        lane.event(self.engine.now, EventKind.ANSWER_RECEIVED, NO_SUBJECT, task + 1, parcel, sender)
        self._push(task, free[0] if free else self.workers[0])

    def _give(self, task: int, worker: _Worker) -> None:
        """What the end of a task gives others."""
        for to in self.program.tasks[task].sends:
            assert self.port is not None
            self.port.send(worker.record, (self.kind[task], task + 1), to)
        for follower in self.followers[task]:
            self._satisfy(follower, worker)
        parent = self.parent[task]
        if task == 0:
            return
        self.open_children[parent] -= 1
        if not self.open_children[parent] and parent in self.suspended:
            now = self.engine.now
            worker.record.event(now, EventKind.EDGE, NO_SUBJECT, task + 1, parent + 1, WaitCause.CHILDREN)
            self._push(parent, worker)

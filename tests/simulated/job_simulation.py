"""Runs a job on machines, one for each locality, and records it as the rooms `tasks` and `parcels` would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from synthetic import write_run
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import EventKind, LeaveCause

from simulated.engine import Engine, Signal
from simulated.engine import Process as Running
from simulated.job_program import JobProgram
from simulated.machine import Machine
from simulated.recording import LaneRecorder, Recording
from simulated.task_simulation import TaskSimulation

# Parcels and tasks of a process have different numbers.
_FIRST_PARCEL = 1 << 20


@dataclass
class JobRecording:
    """A simulated job.

    Attributes:
        processes: by rank.
        makespan_ns: until the last one ends; all begin at 0.
    """

    processes: Sequence[Recording]
    makespan_ns: int

    def write(self, folder: Path) -> Path:
        """A run directory with all processes."""
        return write_run(folder, *(process.files() for process in self.processes))


@dataclass
class _Letter:
    parcel: int
    task: int  # that it is for


class _Outbox:
    """What one locality sends to another one: letters wait until the first of them has waited long enough."""

    def __init__(self, job: _Job, sender: int, receiver: int) -> None:
        self.job, self.sender, self.receiver = job, sender, receiver
        self.queue: list[_Letter] = []
        self.messages = 0

    def add(self, letter: _Letter, lane: LaneRecorder) -> None:
        self.queue.append(letter)
        self.job.waiting[self.sender] += 1
        if not self.job.program.wait_ns:
            self.leave(lane, LeaveCause.HANDLED)
        elif len(self.queue) == 1:
            self.job.engine.start(self._leave_later(), self.job.program.wait_ns)

    def _leave_later(self) -> Running:
        self.leave(self.job.network[self.sender], LeaveCause.TIME)
        yield from ()

    def leave(self, lane: LaneRecorder, cause: LeaveCause) -> None:
        letters, self.queue = self.queue, []
        self.messages += 1
        now = self.job.engine.now
        for letter in letters:
            lane.event(now, EventKind.PARCEL_LEFT, NO_SUBJECT, letter.parcel, self.messages, cause)
        self.job.left(self.sender, len(letters))
        self.job.engine.start(self._arrive(letters), self.job.program.wire_ns)

    def _arrive(self, letters: Sequence[_Letter]) -> Running:
        for letter in letters:
            self.job.simulations[self.receiver].receive(letter.task, self.sender, letter.parcel)
        yield from ()


class _Job:
    def __init__(self, program: JobProgram, machine: Machine, seed: int) -> None:
        self.program = program
        self.engine = Engine()
        places = range(program.localities)
        self.network = [LaneRecorder(program.workers + 1) for _ in places]
        self.parcels = [_FIRST_PARCEL for _ in places]
        self.waiting = [0 for _ in places]
        self.emptied = [Signal(self.engine) for _ in places]
        self.outboxes = {
            (sender, receiver): _Outbox(self, sender, receiver)
            for sender in places
            for receiver in program.partners[sender]
        }
        self.simulations = [
            TaskSimulation(program.of_locality(place), machine, seed + place, _Port(self, place))
            for place in places
        ]

    def run(self) -> JobRecording:
        for simulation in self.simulations:
            simulation.start()
        self.engine.run()
        recordings = [simulation.recording() for simulation in self.simulations]
        workers, localities = self.program.workers, self.program.localities
        for place, recording in enumerate(recordings):
            recording.pid = 100 + place
            recording.facts = {
                "rank": str(place),
                "size": str(localities),
                "cpus": f"{place * workers}-{(place + 1) * workers - 1}",
            }
        return JobRecording(recordings, max(recording.makespan_ns for recording in recordings))

    def left(self, place: int, letters: int) -> None:
        self.waiting[place] -= letters
        if not self.waiting[place]:
            self.emptied[place].send()


class _Port:
    """How one locality reaches the others."""

    def __init__(self, job: _Job, place: int) -> None:
        self._job, self._place = job, place
        self.engine = job.engine
        self.network = job.network[place]

    def send(self, lane: LaneRecorder, sender: tuple[int, int], to: tuple[int, int]) -> None:
        """A letter of a task (kind, number) for a task of another locality (locality, task)."""
        self._job.parcels[self._place] += 1
        parcel = self._job.parcels[self._place]
        kind, number = sender
        lane.event(self.engine.now, EventKind.PARCEL_SENT, kind, parcel, number, to[0])
        self._job.outboxes[self._place, to[0]].add(_Letter(parcel, to[1]), lane)

    def empty(self) -> Running:
        """Until nothing waits in its queues."""
        while self._job.waiting[self._place]:
            yield self._job.emptied[self._place]


def simulate_job(program: JobProgram, machine: Machine, seed: int = 0) -> JobRecording:
    """The run of the job; `machine`: of each locality."""
    return _Job(program, machine, seed).run()

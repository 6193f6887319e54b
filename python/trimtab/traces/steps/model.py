"""The steps of a process or a job: what a replay runs again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import NO_SUBJECT
from trimtab.traces.columns import picked

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
NO_STEP = -1
NO_PIECE = -1


def same(value: int, count: int) -> Integers:
    """A column of that value, which takes no memory. To be read only."""
    return np.broadcast_to(np.int64(value), (count,))


@dataclass(frozen=True)
class StepPieces:
    """What steps consist of, by lane and time; times in nanoseconds since the process began.

    Attributes:
        begin_ns, end_ns: shape (pieces,), as all of these.
        lane: by its place.
        step: the place of its step.
        doing: a `Doing`.
        subject: region or kind of task; NO_SUBJECT: none.
        pace: a `Pace`.
    """

    begin_ns: Integers
    end_ns: Integers
    lane: NDArray[Any]
    step: NDArray[Any]
    doing: NDArray[np.int8]
    subject: NDArray[Any]
    pace: NDArray[np.int8]

    @property
    def length_ns(self) -> Integers:
        """How long each takes."""
        length: Integers = self.end_ns - self.begin_ns
        return length


@dataclass(frozen=True)
class StepLinks:
    """What steps wait for: `to_step` begins when another one has come to a moment, or has ended, and not earlier.

    Attributes:
        to_step: shape (links,), as all of these.
        from_step: the other one.
        from_piece: the piece of it in which that moment is; NO_PIECE: its end, as of joins.
        within_ns: how far into that piece.
        latency_ns: what passed from then, in the recorded run, before the moment that counts.
        is_lock: it waits for a lock.
        is_message: it waits for a message of another process.
    """

    to_step: NDArray[Any]
    from_step: NDArray[Any]
    from_piece: NDArray[Any]
    within_ns: Integers
    latency_ns: Integers
    is_lock: NDArray[np.bool_]
    is_message: NDArray[np.bool_]

    def pick(self, chosen: Any) -> StepLinks:
        return StepLinks(*picked(vars(self).values(), chosen))


@dataclass(frozen=True)
class StepLoops:
    """What steps have to do with worksharing loops whose chunks are recorded; all of shape (steps,).

    Attributes:
        loop: the instance of which the step is a chunk, from 1; 0: none.
        leaves: the instance that the lane leaves with this step: it takes chunks before it; 0: none.
        iterations: of the chunk.
        subject: that loop; NO_SUBJECT: none.
        schedule: of it, a `Schedule`.
        part: the first step of the same lane that nothing but chunks divides from this one.
    """

    loop: Integers
    leaves: Integers
    iterations: Integers
    subject: Integers
    schedule: Integers
    part: Integers

    @staticmethod
    def nothing(count: int) -> StepLoops:
        """Of so many steps that are in no loop. To be read only."""
        zeros = same(0, count)
        return StepLoops(zeros, zeros, zeros, same(NO_SUBJECT, count), zeros, np.arange(count))

    def writable(self) -> StepLoops:
        """With columns of its own."""
        return StepLoops(*(column.copy() for column in vars(self).values()))


@dataclass(frozen=True)
class Steps:
    """A process as steps and links.

    Attributes:
        pieces: what the steps of lanes and of the pool consist of.
        links: between steps.
        first_piece: of each step; NO_PIECE: of joins, and of moments of the clock.
        begin_ns: when each step began in the recorded run.
        lead_ns: from when each could begin until it did.
        lane: that did it; -1: none.
        is_pooled: any worker of its process may do it.
        clock_ns: how long steps without a lane take: 0 of joins.
        phase: the join at which the lane arrives after this step; NO_STEP: none.
        owner: number of the task of each step; 0: none.
        lanes: how many there are.
        workers: so many of them serve pools; they come last, by process.
        span_ns: from the first begin of a step to the last end.
        process: by place, that each step is of.
        workers_of: how many workers each process has.
        start_ns: when the first step began, since the process did.
        messages: moments of the clock at which messages of other processes were received; their senders are not known here.
        received_ns: shape (messages,): when, since the process began.
        queued_ns: shape (messages,): how long they were in the queues of their senders; 0: not at all, or not known.
        delay_ns: the part of `lead_ns` in which the lane was ready and had no CPU.
        loops: worksharing loops.
        has_shared_chunks: any lane takes chunks of loops with a dynamic schedule.
    """

    pieces: StepPieces
    links: StepLinks
    first_piece: Integers
    begin_ns: Integers
    lead_ns: Integers
    lane: Integers
    is_pooled: NDArray[np.bool_]
    clock_ns: Integers
    phase: Integers
    owner: Integers
    lanes: int
    workers: int
    span_ns: int
    process: Integers
    workers_of: tuple[int, ...]
    start_ns: int
    messages: Integers
    received_ns: Integers
    queued_ns: Integers
    delay_ns: Integers
    loops: StepLoops
    has_shared_chunks: bool = True

    def __len__(self) -> int:
        return len(self.begin_ns)

    def queued_of_steps(self, message: Integers) -> Integers:
        """For how long the messages were in the queues of their senders that these moments of the clock stand for."""
        of_steps = np.zeros(len(self), np.int64)
        of_steps[self.messages] = self.queued_ns
        queued: Integers = of_steps[message]
        return queued

    def with_subjects_of_processes(self) -> Steps:
        """The same, where no two processes of a job have a region or kind of task in common."""
        pieces, processes = self.pieces, len(self.workers_of)
        if processes == 1:
            return self
        own = np.where(
            pieces.subject == NO_SUBJECT,
            NO_SUBJECT,
            pieces.subject.astype(np.int64) * processes + self.process[pieces.step],
        )
        return replace(self, pieces=replace(pieces, subject=own))

    def with_recorded_workers(self) -> Steps:
        """The same, where each step of a task or a loop stays with the lane that did it, in the recorded order."""
        return replace(self, is_pooled=np.zeros(len(self), np.bool_), has_shared_chunks=False)

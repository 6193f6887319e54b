"""Messages that wait in the queues of their senders while others need them: how long and why, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.counted import counted
from trimtab.model.enumerations import LeaveCause
from trimtab.traces import Trace
from trimtab.traces.intervals.parcels import sent_by

_FIXED = (LeaveCause.COUNT, LeaveCause.TIME, LeaveCause.FULL)
_WORDS = {
    LeaveCause.NONE: "they were too long for a queue",
    LeaveCause.COUNT: "the queue held as many parcels as the fixed setting says",
    LeaveCause.BATCH: "a batch was complete",
    LeaveCause.TIME: "the wait of the fixed setting was over",
    LeaveCause.FULL: "the queue was full",
    LeaveCause.HANDLED: "the receiver had handled the messages before",
    LeaveCause.SENDER_WAITS: "the sender had nothing else to do",
    LeaveCause.AGE: "a thread of the sender had nothing else to do",
    LeaveCause.ASKED: "the program asked for it",
    LeaveCause.ROOM: "the transport had room again",
}
_FIXED_ACTION = (
    "let parcels wait for less: a smaller TRIMTAB_PARCEL_WAIT or TRIMTAB_PARCEL_COUNT (coalescing::wait_us, count), or leave out the fixed "
    "setting (set_coalescing, job_options::standard), since the adaptive rules send at once while the receiver has nothing to do"
)
_ROOM_ACTION = (
    "send less at a time, or let the receiver take messages more often: shorter tasks, or a worker more"
)
_ADAPTIVE_ACTION = "call job.flush() behind the last parcel that others wait for, or let the sender look at its queues more often: shorter tasks"


@dataclass(frozen=True)
class Queues:
    """Parcels of a job whose leaving their queues is recorded.

    Attributes:
        parcels, messages: how many, and in how many messages.
        p50_s, p99_s: how long they were in the queues: median, 99th percentile.
        chief_cause: what ended most of that time.
    """

    parcels: int
    messages: int
    p50_s: float
    p99_s: float
    chief_cause: LeaveCause

    def __str__(self) -> str:
        return (
            f"{counted(self.parcels, 'parcel')} left in {counted(self.messages, 'message')}, {self.p50_s * 1e6:.3g} us after they "
            f"had been queued in the median (99th percentile {self.p99_s * 1e6:.3g} us), most of that time until {_WORDS[self.chief_cause]}"
        )

    @property
    def action(self) -> str:
        """What shortens that time."""
        if self.chief_cause in _FIXED:
            return _FIXED_ACTION
        return _ROOM_ACTION if self.chief_cause is LeaveCause.ROOM else _ADAPTIVE_ACTION


def queues_of(traces: Sequence[Trace]) -> Queues | None:
    """None: nothing is recorded about queues."""
    waits, reasons, messages = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for trace in traces:
        sent = sent_by(trace, (), 0)
        is_recorded = sent.leave_cause >= 0
        waits.append((sent.left_ns - sent.at_ns)[is_recorded])
        reasons.append(sent.leave_cause[is_recorded])
        messages += len(np.unique(np.column_stack([sent.to, sent.message])[is_recorded], axis=0))
    wait, causes = np.concatenate(waits), np.concatenate(reasons)
    if not len(wait):
        return None
    p50_s, p99_s = np.percentile(wait, (50, 99)) * 1e-9
    totals = {cause: int(wait[causes == cause].sum()) for cause in LeaveCause}
    return Queues(
        len(wait), messages, float(p50_s), float(p99_s), max(totals, key=lambda cause: totals[cause])
    )

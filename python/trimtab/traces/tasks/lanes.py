"""What lanes contribute to the table of tasks: in which task each was, when it waited in one, and when it was occupied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.model.enumerations import EventKind, WaitCause, WaitKind, WorkerState
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.slices import Role
from trimtab.traces.tasks.model import Booleans, Integers

RUNNING = -1
_LEFT = -2
# What a task of OpenMP waits for, by the kind of wait. At the join of its region an implicit task has ended.
_CAUSES = {
    WaitKind.JOIN: _LEFT,
    WaitKind.BARRIER: WaitCause.BARRIER,
    WaitKind.CRITICAL: WaitCause.MUTEX,
    WaitKind.LOCK: WaitCause.MUTEX,
    WaitKind.TASKWAIT: WaitCause.CHILDREN,
}


@dataclass(frozen=True)
class LaneTasks:
    """Of one lane, times in ticks since the process began.

    Attributes:
        number: identity of the task that the lane was in; 0: it has none.
        slice: the slice of that part of it, which tells apart tasks without identity.
        wait: RUNNING, or the cause for which the task waited.
        subject, is_explicit: of the task.
        begun, begun_low, begun_high: each slice of a task, also those in which no time passed, and its bounds.
    """

    number: NDArray[np.uint64]
    slice: Integers
    low: Integers
    high: Integers
    wait: Integers
    begun: Integers
    begun_number: NDArray[np.uint64]
    begun_subject: Integers
    begun_explicit: Booleans
    begun_low: Integers
    begun_high: Integers


def tasks_of_lane(parts: LaneParts) -> LaneTasks:
    """Neighbouring pieces of one slice in the same state are one row."""
    wait = _waits(parts)
    chosen = (parts.owner >= 0) & (wait != _LEFT)
    low, high, owner, wait = parts.low[chosen], parts.high[chosen], parts.owner[chosen], wait[chosen]
    is_new = np.ones(len(low), np.bool_)
    is_new[1:] = (owner[1:] != owner[:-1]) | (wait[1:] != wait[:-1]) | (low[1:] != high[:-1])
    first = np.flatnonzero(is_new)
    last = np.append(first[1:], len(low)) - 1
    begun = parts.works
    return LaneTasks(
        _numbers(parts, owner[first]),
        owner[first],
        low[first],
        high[last] if len(first) else high[:0],
        wait[first],
        begun,
        _numbers(parts, begun),
        parts.event("subject", begun),
        parts.slices.role[begun] != Role.WORK,
        parts.slices.ticks[begun],
        parts.ends(begun),
    )


def _numbers(parts: LaneParts, begins: Integers) -> NDArray[np.uint64]:
    """Identities of tasks; an implicit task has none, but its region's instance."""
    number: NDArray[np.uint64] = parts.lane.events["a"][parts.slices.source[begins]].astype(np.uint64)
    return np.where(parts.slices.role[begins] == Role.WORK, np.uint64(0), number)


def _waits(parts: LaneParts) -> Integers:
    """Of each piece: RUNNING, or why the task around it does not run."""
    inner = np.maximum(parts.inner, 0)
    role = parts.slices.role[inner] if len(parts.slices) else inner
    wait = np.full(len(inner), RUNNING, np.int64)
    in_wait = np.flatnonzero((parts.inner >= 0) & (role == Role.WAIT))
    kinds = parts.event("arg", inner[in_wait])
    causes = np.full(len(kinds), int(WaitCause.OTHER), np.int64)
    for kind, cause in _CAUSES.items():
        causes[kinds == kind] = int(cause)
    wait[in_wait] = causes
    wait[(parts.inner >= 0) & (role == Role.LOCK_WAIT)] = int(WaitCause.MUTEX)
    wait[(parts.inner >= 0) & (role == Role.STATE)] = int(WaitCause.OTHER)
    return wait


def occupied(parts: LaneParts, own: LaneTasks) -> tuple[Integers, Integers]:
    """When the lane worked: a worker, when it neither looked for a task nor was parked; another lane, when it was in a task."""
    if not parts.is_worker:
        is_running = own.wait == RUNNING
        return own.low[is_running], own.high[is_running]
    first, last = _life(parts)
    low, high = _states(parts, None)
    low, high = np.maximum(low, first), np.minimum(high, last)
    is_long = high > low
    begins, ends = np.append(first, high[is_long]), np.append(low[is_long], last)
    return begins[ends > begins], ends[ends > begins]


def capped(parts: LaneParts) -> tuple[Integers, Integers]:
    """When the cap kept a worker from running tasks."""
    return _states(parts, WorkerState.CAPPED)


def _states(parts: LaneParts, state: WorkerState | None) -> tuple[Integers, Integers]:
    slices = parts.slices
    begins = np.flatnonzero((slices.change == 1) & (slices.role == Role.STATE))
    if state is not None:
        begins = begins[parts.event("arg", begins) == state]
    return slices.ticks[begins], parts.ends(begins)


def _life(parts: LaneParts) -> tuple[int, int]:
    """From the first state of a worker to its end, or to the last that is known of it."""
    events = parts.lane.events
    states = np.flatnonzero(events["kind"] == EventKind.WORKER_STATE)
    ticks = np.maximum(events["ticks"].astype(np.int64) - parts.start, 0)
    if not len(states):
        return (int(ticks[0]), int(ticks[-1])) if len(ticks) else (0, 0)
    is_ended = events["arg"][states[-1]] == WorkerState.NONE
    last_seen = int(parts.slices.ticks[-1]) if len(parts.slices) else int(ticks[-1])
    return int(ticks[states[0]]), int(ticks[states[-1]]) if is_ended else last_seen


def worker_groups(lanes: Sequence[LaneParts]) -> tuple[int, ...]:
    """Of each lane the runtime that it is a worker of; 0: none."""
    return tuple(int(parts.lane.header["worker_of"]) for parts in lanes)

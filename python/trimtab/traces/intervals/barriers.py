"""Waits at barriers: who came last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.model.enumerations import WaitKind
from trimtab.traces.intervals.lane_parts import LaneParts, begins_of
from trimtab.traces.intervals.lookup import last_of, ordinals
from trimtab.traces.intervals.model import Doing, Integers
from trimtab.traces.slices import Role

WAITS = {
    WaitKind.JOIN: Doing.JOIN,
    WaitKind.BARRIER: Doing.BARRIER,
    WaitKind.REDUCTION: Doing.BARRIER,
    WaitKind.SINGLE: Doing.BARRIER,
    WaitKind.CRITICAL: Doing.LOCK,
    WaitKind.LOCK: Doing.LOCK,
    WaitKind.ORDERED: Doing.ORDERED,
    WaitKind.TASKWAIT: Doing.TASKWAIT,
}


@dataclass(frozen=True)
class Barriers:
    """All waits at barriers of a process, by lane and event: who came last to each, and when."""

    lane: Integers
    source: Integers
    last: Integers
    release: Integers

    @staticmethod
    def of(lanes: Sequence[LaneParts]) -> Barriers:
        columns = [_barriers_of(parts, at) for at, parts in enumerate(lanes)]
        lane, source, instance, begin, barrier = (
            np.concatenate([column[at] for column in columns]) for at in range(5)
        )
        last, release = last_of(_numbers(instance, barrier), lane, begin)
        return Barriers(lane, source, last, release)


def kinds_of(*wanted: Doing) -> list[int]:
    return [int(kind) for kind, doing in WAITS.items() if doing in wanted]


def _numbers(instance: Integers, barrier: Integers) -> Integers:
    """A number above 0 for each barrier of each instance; 0: its instance is not known."""
    order = np.lexsort((barrier, instance))
    is_next = np.append(True, (np.diff(instance[order]) != 0) | (np.diff(barrier[order]) != 0))[: len(order)]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(is_next)
    return np.where(instance > 0, numbers, 0)


def _barriers_of(parts: LaneParts, at: int) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    """Lane, event, instance and begin of a lane's waits at barriers, and which barrier of its instance each is.

    The k-th barrier of an instance and kind is one for all members. Kinds are counted apart: at the end of a `single` with
    copyprivate only the lane that executed it waits at a barrier of libgomp's.
    """
    begins = begins_of(parts, Role.WAIT)
    kind = parts.event("arg", begins)
    is_barrier = np.isin(kind, kinds_of(Doing.BARRIER))
    begins, kind = begins[is_barrier], kind[is_barrier]
    instance = parts.event("b", begins)
    lane = np.full(len(begins), at, np.int64)
    barrier = ordinals(instance << 4 | kind) << 4 | kind
    return lane, parts.slices.source[begins], instance, parts.slices.ticks[begins], barrier

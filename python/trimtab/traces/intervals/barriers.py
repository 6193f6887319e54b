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
    WaitKind.ORDERED: Doing.LOCK,
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
        lane, source, instance, begin, number = (
            np.concatenate([column[at] for column in columns]) for at in range(5)
        )
        # The k-th barrier of an instance is one for all members.
        last, release = last_of(np.where(instance > 0, instance << 24 | number, 0), lane, begin)
        return Barriers(lane, source, last, release)


def kinds_of(*wanted: Doing) -> list[int]:
    return [int(kind) for kind, doing in WAITS.items() if doing in wanted]


def _barriers_of(parts: LaneParts, at: int) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    """Lane, event, instance and begin of a lane's waits at barriers, and the how manieth of its instance each is."""
    begins = begins_of(parts, Role.WAIT)
    begins = begins[np.isin(parts.event("arg", begins), kinds_of(Doing.BARRIER))]
    instance = parts.event("b", begins)
    lane = np.full(len(begins), at, np.int64)
    return lane, parts.slices.source[begins], instance, parts.slices.ticks[begins], ordinals(instance)

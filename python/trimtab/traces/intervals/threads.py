"""Threads that are no workers and make tasks: they work alone, and wait for the workers.

Their waits are not recorded. Where context switches were, a thread that gave its CPU away and went on after a task had
ended waited for that task. Without switches it is taken to wait while tasks run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trimtab.model.enumerations import EventKind
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import among
from trimtab.traces.intervals.model import NO_LANE, Doing, Integers
from trimtab.traces.intervals.moments import Moments
from trimtab.traces.intervals.off_cpu import Absences
from trimtab.traces.intervals.pieces import Pieces, joined, pieces_of_lane

_GIFTS = (EventKind.TASK_CREATED, EventKind.TASK_READY, EventKind.EDGE)


def gives_tasks(parts: LaneParts) -> bool:
    """It is no worker, and made tasks or made them ready; not a thread that receives them from other processes."""
    kind = parts.lane.events["kind"]
    is_receiver = bool(among(kind, (EventKind.PARCEL_RECEIVED, EventKind.ANSWER_RECEIVED)).any())
    return not parts.is_worker and not is_receiver and bool(among(kind, _GIFTS).any())


def beside_workers(
    parts: LaneParts, at: int, ends: Moments, stretches: tuple[Integers, Integers], span: tuple[int, int]
) -> Pieces:
    """All time of such a thread from the begin of `span` to its end; `stretches`: when tasks run."""
    low, high = (np.clip(column, *span) for column in stretches)
    giver, release = ends.latest(at, low, high)
    is_wait = (giver != NO_LANE) & (high > low)
    low, high, giver, release = (column[is_wait] for column in (low, high, giver, release))
    begin, end = np.append(span[0], high), np.append(low, span[1])
    is_long = end > begin
    alone = pieces_of_lane(begin[is_long], end[is_long], at, int(Doing.SERIAL))
    waits = pieces_of_lane(low, high, at, int(Doing.TASKS), giver=giver, release=release)
    return joined([alone, waits])


def blocked(absences: Absences) -> tuple[Integers, Integers]:
    """When a thread gave its CPU away by its own will."""
    return absences.low[~absences.preempted], absences.high[~absences.preempted]


def running(lanes: Sequence[LaneParts]) -> tuple[Integers, Integers]:
    """When any worker ran a task: stretches that do not touch."""
    works = [(parts, parts.tasks()) for parts in lanes if parts.is_worker]
    none = np.empty(0, np.int64)
    low = np.concatenate([none, *(parts.slices.ticks[tasks] for parts, tasks in works)])
    high = np.concatenate([none, *(parts.ends(tasks) for parts, tasks in works)])
    order = np.argsort(low, kind="stable")
    low, latest = low[order], np.maximum.accumulate(high[order]) if len(order) else none
    is_first = np.append(True, low[1:] > latest[:-1])[: len(low)]
    firsts = np.flatnonzero(is_first)
    return low[firsts], latest[np.append(firsts[1:], len(low))[: len(firsts)] - 1]

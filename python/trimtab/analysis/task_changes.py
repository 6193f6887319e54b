"""Changes of how tasks depend on each other and who makes them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.step_work import is_work, largest, ones, subject_of_steps, work_of_steps
from trimtab.analysis.what_if import Change
from trimtab.model import NO_SUBJECT
from trimtab.traces.columns import ordered, small
from trimtab.traces.intervals import Pace
from trimtab.traces.steps import Steps
from trimtab.traces.steps.model import NO_PIECE, Booleans, Integers


def _moments(steps: Steps) -> Integers:
    """When each link was satisfied in the recorded run, nanoseconds since the process began; of ends: of the last piece."""
    links, pieces = steps.links, steps.pieces
    last = np.full(len(steps), NO_PIECE, np.int64)
    last[pieces.step] = np.arange(len(pieces.step))
    inside = links.from_piece != NO_PIECE
    piece = np.where(inside, links.from_piece, last[links.from_step])
    begin = pieces.begin_ns[np.maximum(piece, 0)]
    moment = np.where(inside, begin + links.within_ns, pieces.end_ns[np.maximum(piece, 0)])
    moments: Integers = np.where(piece == NO_PIECE, 0, moment + links.latency_ns)
    return moments


class TaskOrder:
    """What several changes need to know of the tasks of a process; found out once."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    @cached_property
    def first_links(self) -> NDArray[Any]:
        """The earliest link into each step of a task: what made the task, if that is known."""
        steps, links = self.steps, self.steps.links
        into_task = np.flatnonzero(steps.is_pooled[links.to_step])
        order = into_task[ordered(links.to_step[into_task], _moments(steps)[into_task])]
        first = order[np.diff(links.to_step[order], prepend=-1) > 0]
        return small(first, len(links.to_step))

    @cached_property
    def queued_lead_ns(self) -> int | None:
        """What passes from when a worker has done a task until it begins one that waited in a queue; None: none did.

        The lower quartile: where tasks are made one by one, many of these workers had just fallen asleep, and had to be woken.
        """
        steps = self.steps
        tasks = np.flatnonzero(steps.is_pooled)
        order = tasks[ordered(steps.lane[tasks], steps.begin_ns[tasks])]
        ends = np.zeros(len(steps), np.int64)
        np.maximum.at(ends, steps.pieces.step, steps.pieces.end_ns)
        later, earlier = order[1:], order[:-1]
        free_ns = steps.begin_ns[later] - steps.lead_ns[later]
        is_next = (steps.lane[later] == steps.lane[earlier]) & (np.abs(free_ns - ends[earlier]) <= 1)
        leads = steps.lead_ns[later[is_next]]
        return int(np.percentile(leads, 25)) if len(leads) else None


def _begins_task(steps: Steps) -> Booleans:
    """Of each step, whether it is the first one of its task."""
    tasks = np.flatnonzero(steps.owner != 0)
    order = tasks[ordered(steps.owner[tasks], steps.begin_ns[tasks])]
    owner, begins = steps.owner[order], np.zeros(len(steps), np.bool_)
    begins[order[:1]] = True
    begins[order[1:][owner[1:] != owner[:-1]]] = True
    return begins


def _queued_leads(tasks: TaskOrder, is_queued: Booleans) -> Integers:
    """The most that each step may begin later than it could, if these wait in a queue: no worker has to be woken for them."""
    most = np.full(len(is_queued), np.iinfo(np.int64).max)
    if (lead_ns := tasks.queued_lead_ns) is not None:
        most[is_queued] = lead_ns
    return most


def _queued_places(steps: Steps, is_queued: Booleans, first: NDArray[Any]) -> Integers:
    """The order of all steps if these do not wait for inputs: each is queued when it is made, behind what was made before.

    Args:
        first: the link of each task that made it.
    """
    place = np.empty(len(steps), np.int64)
    place[np.argsort(steps.begin_ns, kind="stable")] = np.arange(len(steps))
    made = first[np.lexsort((steps.links.to_step[first], _moments(steps)[first]))]
    task = steps.links.to_step[made]
    task = task[_begins_task(steps)[task]]
    waits = is_queued[task]
    latest = np.maximum.accumulate(np.where(waits, -1, np.arange(len(task))))
    key, rank = place.copy(), np.zeros(len(steps), np.int64)
    key[task[waits]] = np.where(latest >= 0, place[task[np.maximum(latest, 0)]], -1)[waits]
    rank[task[waits]] = 1 + np.flatnonzero(waits)
    changed = np.empty(len(steps), np.int64)
    changed[np.lexsort((rank, key))] = np.arange(len(steps))
    return changed


class Chains:
    """Inputs that tasks get from others of their kind; not what made them, nor children that a task waits for."""

    def __init__(self, tasks: TaskOrder) -> None:
        steps = tasks.steps
        links, subject = steps.links, subject_of_steps(steps)
        is_input = _begins_task(steps)[links.to_step] & steps.is_pooled[links.from_step]
        is_input[tasks.first_links] = False
        is_input &= subject[links.to_step] == subject[links.from_step]
        is_input &= subject[links.to_step] != NO_SUBJECT
        self._tasks, self._steps, self._is_input, self._subject = tasks, steps, is_input, subject

    def subjects(self, least_ns: float) -> list[int]:
        """Kinds of tasks with such inputs, those whose waiting tasks compute most first."""
        is_waiting = np.zeros(len(self._steps), np.bool_)
        is_waiting[self._steps.links.to_step[self._is_input]] = True
        waiting = np.flatnonzero(is_waiting)
        return largest(self._subject[waiting], work_of_steps(self._steps)[waiting], least_ns)

    def without(self, subject: int) -> Change:
        """Tasks of that kind do not wait for each other: they are queued when they are made."""
        steps = self._steps
        is_cut = self._is_input & (self._subject[steps.links.to_step] == subject)
        is_queued = np.zeros(len(steps), np.bool_)
        is_queued[steps.links.to_step[is_cut]] = True
        return Change(
            kept_links=~is_cut,
            places=_queued_places(steps, is_queued, self._tasks.first_links),
            most_lead_ns=_queued_leads(self._tasks, is_queued),
        )

    def bound_ns(self, subject: int) -> float:
        """How much longer or shorter the run could be: which of these tasks a worker would take last is not recorded."""
        is_waiting = np.zeros(len(self._steps), np.bool_)
        is_waiting[self._steps.links.to_step[self._is_input]] = True
        work = work_of_steps(self._steps)[is_waiting & (self._subject == subject)]
        return float(work.max(initial=0.0)) * (1.0 - 1.0 / max(self._steps.workers, 1))


class Making:
    """What tasks do to make other tasks."""

    def __init__(self, tasks: TaskOrder) -> None:
        steps, pieces = tasks.steps, tasks.steps.pieces
        self._tasks, self._steps = tasks, steps
        is_known = is_work(steps) & (pieces.pace == int(Pace.MAKING)) & (pieces.subject != NO_SUBJECT)
        self._is_making = is_known & steps.is_pooled[pieces.step]

    def subjects(self, least_ns: float) -> list[int]:
        """Kinds of tasks that make others, those that take most time for it first."""
        pieces = self._steps.pieces
        making = np.flatnonzero(self._is_making)
        return largest(pieces.subject[making], pieces.length_ns[making].astype(np.float64), least_ns)

    def shared(self, subject: int) -> Change | None:
        """The tasks that are made do it themselves: each takes longer by the same part. None: which ones is not known."""
        steps, pieces, factor = self._steps, self._steps.pieces, ones(self._steps)
        making = self._is_making & (pieces.subject == subject)
        first = self._tasks.first_links
        maker = steps.links.from_piece[first]
        made = steps.links.to_step[first[(maker != NO_PIECE) & making[np.maximum(maker, 0)]]]
        is_made = np.isin(steps.owner[pieces.step], steps.owner[made]) & is_work(steps) & ~making
        if not (work := float(pieces.length_ns[is_made].sum())):
            return None
        factor[is_made] = 1.0 + float(pieces.length_ns[making].sum()) / work
        factor[making] = 0.0
        is_queued = np.zeros(len(steps), np.bool_)
        is_queued[made] = True
        return Change(factor, most_lead_ns=_queued_leads(self._tasks, is_queued))


def without_locks(tasks: TaskOrder) -> Change:
    """Nobody waits for a lock; where tasks did, workers find tasks in queues and need not be woken for them."""
    steps = tasks.steps
    is_for_task = steps.links.is_lock & steps.is_pooled[steps.links.to_step]
    if not is_for_task.any():
        return Change(has_locks=False)
    return Change(has_locks=False, most_lead_ns=_queued_leads(tasks, steps.is_pooled))

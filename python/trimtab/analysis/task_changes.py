"""Changes of how tasks depend on each other and who makes them."""

from __future__ import annotations

import numpy as np

from trimtab.analysis.step_work import Floats, is_work, largest, ones, subject_of_steps, work_of_steps
from trimtab.model import NO_SUBJECT
from trimtab.traces.columns import ordered
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
    known: Integers = np.where(piece == NO_PIECE, 0, moment + links.latency_ns)
    return known


def _first_links(steps: Steps) -> Integers:
    """The earliest link into each step of a task: what made the task, if that is known."""
    links = steps.links
    into_task = np.flatnonzero(steps.is_pooled[links.to_step])
    order = into_task[ordered(links.to_step[into_task], _moments(steps)[into_task])]
    first: Integers = order[np.diff(links.to_step[order], prepend=-1) > 0]
    return first


def _begins_task(steps: Steps) -> Booleans:
    """Of each step, whether it is the first one of its task."""
    tasks = np.flatnonzero(steps.owner != 0)
    order = tasks[ordered(steps.owner[tasks], steps.begin_ns[tasks])]
    owner, begins = steps.owner[order], np.zeros(len(steps), np.bool_)
    begins[order[:1]] = True
    begins[order[1:][owner[1:] != owner[:-1]]] = True
    return begins


class Chains:
    """Inputs that tasks get from others of their kind; not what made them, nor children that a task waits for."""

    def __init__(self, steps: Steps) -> None:
        links, subject = steps.links, subject_of_steps(steps)
        is_input = _begins_task(steps)[links.to_step] & steps.is_pooled[links.from_step]
        is_input[_first_links(steps)] = False
        is_input &= subject[links.to_step] == subject[links.from_step]
        is_input &= subject[links.to_step] != NO_SUBJECT
        self._steps, self._is_input, self._subject = steps, is_input, subject

    def subjects(self, least_ns: float) -> list[int]:
        """Kinds of tasks with such inputs, those whose waiting tasks compute most first."""
        is_waiting = np.zeros(len(self._steps), np.bool_)
        is_waiting[self._steps.links.to_step[self._is_input]] = True
        waiting = np.flatnonzero(is_waiting)
        return largest(self._subject[waiting], work_of_steps(self._steps)[waiting], least_ns)

    def without(self, subject: int) -> Booleans:
        """The links that stay if tasks of that kind do not wait for each other."""
        kept: Booleans = ~(self._is_input & (self._subject[self._steps.links.to_step] == subject))
        return kept


class Making:
    """What tasks do to make other tasks."""

    def __init__(self, steps: Steps) -> None:
        pieces = steps.pieces
        self._steps = steps
        is_known = is_work(steps) & (pieces.pace == int(Pace.MAKING)) & (pieces.subject != NO_SUBJECT)
        self._is_making = is_known & steps.is_pooled[pieces.step]

    def subjects(self, least_ns: float) -> list[int]:
        """Kinds of tasks that make others, those that take most time for it first."""
        pieces = self._steps.pieces
        making = np.flatnonzero(self._is_making)
        return largest(pieces.subject[making], pieces.length_ns[making].astype(np.float64), least_ns)

    def shared(self, subject: int) -> Floats | None:
        """The tasks that are made do it themselves: each takes longer by the same part. None: which ones is not known."""
        steps, pieces, factor = self._steps, self._steps.pieces, ones(self._steps)
        making = self._is_making & (pieces.subject == subject)
        first = _first_links(steps)
        maker = steps.links.from_piece[first]
        made = steps.links.to_step[first[(maker != NO_PIECE) & making[np.maximum(maker, 0)]]]
        is_made = np.isin(steps.owner[pieces.step], steps.owner[made]) & is_work(steps) & ~making
        if not (work := float(pieces.length_ns[is_made].sum())):
            return None
        factor[is_made] = 1.0 + float(pieces.length_ns[making].sum()) / work
        factor[making] = 0.0
        return factor

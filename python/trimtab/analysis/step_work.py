"""What the steps of a process work on: columns that several changes of a replay need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimtab.model import NO_SUBJECT
from trimtab.traces.columns import numbered
from trimtab.traces.intervals import Doing
from trimtab.traces.steps import Steps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# So many regions or kinds of tasks are tried, those with most to gain first.
_MOST_SUBJECTS = 3


def is_work(steps: Steps) -> NDArray[np.bool_]:
    """Of each piece, whether it computes in a region or a task."""
    chosen: NDArray[np.bool_] = steps.pieces.doing == int(Doing.WORK)
    return chosen


def ones(steps: Steps) -> Floats:
    """A factor of each piece that changes nothing."""
    return np.ones(len(steps.pieces.step))


def work_of_steps(steps: Steps) -> Floats:
    """What each step computes, nanoseconds."""
    pieces = steps.pieces
    work = np.bincount(
        pieces.step, weights=np.where(is_work(steps), pieces.length_ns, 0), minlength=len(steps)
    )
    return work.astype(np.float64)


def subject_of_steps(steps: Steps) -> Integers:
    """What each step works on first; NO_SUBJECT: it does not work."""
    work = np.flatnonzero(is_work(steps))[::-1]
    subject = np.full(len(steps), NO_SUBJECT, np.int64)
    subject[steps.pieces.step[work]] = steps.pieces.subject[work]
    return subject


def largest(subject: Integers, amount: Floats, least: float) -> list[int]:
    """Of subjects those with the largest sums of `amount`, largest first, of at least `least`."""
    numbers, place = numbered(subject)
    sums = np.bincount(place, weights=amount, minlength=len(numbers))
    order = np.argsort(-sums, kind="stable")[:_MOST_SUBJECTS]
    return [int(numbers[at]) for at in order if sums[at] >= least]

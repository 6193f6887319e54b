"""Changes that make work equal: stragglers at their median, and lanes that share the rest.

Each takes away its own cause alone: what stragglers take above their median is theirs, and stays where lanes share their work.
"""

from __future__ import annotations

import numpy as np

from trimtab.analysis.step_work import (
    Floats,
    Integers,
    is_work,
    largest,
    ones,
    subject_of_steps,
    work_of_steps,
)
from trimtab.model import NO_SUBJECT
from trimtab.traces.columns import different, numbered
from trimtab.traces.intervals import Pace
from trimtab.traces.steps import Steps

_STRAGGLER = 2.0


def without_stragglers(steps: Steps) -> Floats:
    """Parts of regions, and tasks, that take more than twice the median of their kind take as long as the median."""
    return np.where(is_work(steps), _straggler_scale(steps)[steps.pieces.step], ones(steps))


def _straggler_scale(steps: Steps) -> Floats:
    """Of each step, what its work is multiplied by."""
    pieces = steps.pieces
    part = steps.loops.part
    work = np.bincount(part, weights=work_of_steps(steps), minlength=len(steps))
    subject = _subject_of_parts(steps)
    is_slow = np.zeros(len(steps), np.bool_)
    is_slow[part[pieces.step[pieces.pace == int(Pace.STRAGGLER)]]] = True
    scale = np.ones(len(steps))
    for kind in different(subject[subject != NO_SUBJECT]).tolist():
        own = np.flatnonzero((subject == kind) & (work > 0))
        if len(own) < 4:
            continue
        median = float(np.median(work[own]))
        slow = own[(work[own] > _STRAGGLER * median) & (is_slow[own] | (steps.owner[own] != 0))]
        scale[slow] = median / work[slow]
    return scale[part]


def _subject_of_parts(steps: Steps) -> Integers:
    """What each step works on first, together with those that chunks of loops divide from it."""
    own, part = subject_of_steps(steps), steps.loops.part
    subject = own.copy()
    chunks = np.flatnonzero((part != np.arange(len(steps))) & (own != NO_SUBJECT))[::-1]
    chunks = chunks[own[part[chunks]] == NO_SUBJECT]
    subject[part[chunks]] = own[chunks]
    return subject


class SharedWork:
    """What lanes do before they arrive at the same join, and what it would be if they shared it equally."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        key = steps.phase * steps.lanes + np.maximum(steps.lane, 0)
        key = np.where(steps.phase >= 0, key - key[steps.phase >= 0].min(initial=0) + 1, 0)
        _, self._place = numbered(key)
        usual = work_of_steps(steps) * _straggler_scale(steps)
        work = np.bincount(self._place, weights=usual)
        phase = np.full(len(work), -1, np.int64)
        phase[self._place] = steps.phase
        _, phase_place = numbered(phase)
        mean = np.bincount(phase_place, weights=work) / np.bincount(phase_place)
        equal = np.where(phase >= 0, mean[phase_place], work)
        self._excess = (np.maximum(work - equal, 0.0) / np.maximum(work, 1.0))[self._place]
        self._scale = self._of_all_work(usual, np.where(work > 0, equal / np.maximum(work, 1.0), 1.0))

    def _of_all_work(self, usual: Floats, scale: Floats) -> Floats:
        """Of each step the factor that scales its usual work and leaves what a straggler takes above that."""
        work = work_of_steps(self._steps)
        changed = work - usual + usual * scale[self._place]
        return np.where(work > 0, changed / np.maximum(work, 1.0), 1.0)

    def unbalanced(self, least_ns: float) -> list[int]:
        """Regions whose lanes do unequal work, those with most above the mean first."""
        steps, pieces = self._steps, self._steps.pieces
        lost = np.where(is_work(steps), pieces.length_ns, 0) * self._excess[pieces.step]
        chosen: Integers = np.flatnonzero((lost > 0) & (pieces.subject != NO_SUBJECT))
        return largest(pieces.subject[chosen], lost[chosen], least_ns)

    def balanced(self, subject: int) -> Floats:
        """The lanes share the work of a region equally."""
        steps, pieces = self._steps, self._steps.pieces
        is_scaled = is_work(steps) & (pieces.subject == subject)
        return np.where(is_scaled, self._scale[pieces.step], 1.0)

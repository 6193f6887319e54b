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
# Deviations from a lane's usual share by this much in the median are chance, where there are so many instances that they are known.
_CHANCE = 0.03
_INSTANCES = 6
_BARRIERS = 4
# More barriers have to explain the shares better than fewer by this factor.
_CLEARLY = 0.7


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


def _deviations(share: Floats, lane: Integers, time: Integers) -> Floats:
    """What shares of work are of those that their lanes usually have of that work; 1 where they differ by more than chance.

    A region may have several barriers, between which lanes have different shares: as many as explain the shares best.

    Args:
        share: of the work of all lanes in an instance that the lane has, as a part of their mean.
        time: of the instance.
    """
    _, instance = np.unique(time, return_inverse=True)
    instance = instance.reshape(-1)
    _, lanes = np.unique(lane, return_inverse=True)
    lanes = lanes.reshape(-1)
    best, deviation = _CHANCE, np.ones(len(share))
    for barriers in range(1, min(_BARRIERS, (int(instance.max(initial=0)) + 1) // _INSTANCES) + 1):
        _, group = np.unique(np.column_stack([lane, instance % barriers]), axis=0, return_inverse=True)
        group = group.reshape(-1)
        relative = share / _medians(share, group)[group]
        # Of the lane with the largest ones: few lanes may have what others have not.
        if (spread := float(_medians(np.abs(relative - 1.0), lanes).max(initial=0.0))) <= best:
            best, deviation = _CLEARLY * spread, relative
    return deviation


def _medians(values: Floats, group: Integers) -> Floats:
    """Of each group, numbered from 0."""
    order = np.lexsort((values, group))
    counts = np.bincount(group)
    first = np.cumsum(counts) - counts
    low, high = first + (counts - 1) // 2, first + counts // 2
    medians: Floats = (values[order[low]] + values[order[high]]) / 2
    return medians


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
        equal = equal * self._chance(np.asarray(work, np.float64), phase, phase_place)
        self._excess = (np.maximum(work - equal, 0.0) / np.maximum(work, 1.0))[self._place]
        self._scale = self._of_all_work(usual, np.where(work > 0, equal / np.maximum(work, 1.0), 1.0))

    def _chance(self, work: Floats, phase: Integers, phase_place: Integers) -> Floats:
        """What each lane's work in an instance is of its equal share, since it is never twice the same; 1 where that is more than chance.

        What lanes differ by from one instance to the next by no more than some percent nobody can divide away.
        """
        steps, chance = self._steps, np.ones(len(work))
        kind, lane = np.full(len(work), NO_SUBJECT, np.int64), np.zeros(len(work), np.int64)
        subject = subject_of_steps(steps)
        named = np.flatnonzero(subject != NO_SUBJECT)[::-1]  # the first step of each part comes last
        kind[self._place[named]], lane[self._place] = subject[named], steps.lane
        mean = np.bincount(phase_place, weights=work) / np.bincount(phase_place)
        begin_ns = np.zeros(len(mean), np.int64)  # when the last step of each instance began
        np.maximum.at(begin_ns, phase_place[self._place], steps.begin_ns)
        known = np.flatnonzero((phase >= 0) & (work > 0) & (kind != NO_SUBJECT))
        for region in different(kind[known]).tolist():
            cells = known[kind[known] == region]
            share = work[cells] / mean[phase_place[cells]]
            chance[cells] = _deviations(share, lane[cells], begin_ns[phase_place[cells]])
        return chance

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

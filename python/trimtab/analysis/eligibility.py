"""How many tasks ran, could run, could not, and were suspended, at each moment (docs/reference/metrics.md, "Eligibility")."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model.enumerations import WaitCause
from trimtab.traces import Trace
from trimtab.traces.columns import numbered
from trimtab.traces.compiled_columns import sums_before
from trimtab.traces.intervals import LaneParts
from trimtab.traces.tasks import Stays, TaskState, TaskTable, task_table_of

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StepFunction:
    """A count over time: `count[i]` holds from `at_ns[i]` until `at_ns[i + 1]`; it is 0 before the first and after the last."""

    at_ns: Integers
    count: Integers

    @staticmethod
    def of(begin_ns: Integers, end_ns: Integers) -> StepFunction:
        """How many of these intervals contain each moment."""
        moments = np.sort(np.concatenate([begin_ns << 1 | 1, end_ns << 1]))
        at, counts = moments >> 1, np.cumsum((moments & 1) * 2 - 1)
        is_last = np.append(at[1:] != at[:-1], True)[: len(at)]
        at, counts = at[is_last], counts[is_last]
        is_change = np.diff(counts, prepend=0) != 0
        return StepFunction(at[is_change], counts[is_change])

    def at(self, ns: Integers) -> Integers:
        """The count at each of these moments."""
        place = np.searchsorted(self.at_ns, ns, side="right") - 1
        if not len(self.count):
            return np.zeros(len(ns), np.int64)
        return np.where(place >= 0, self.count[np.maximum(place, 0)], 0)

    def integral(self, ns: Integers) -> Floats:
        """The count's integral from the first change until each of these moments, in count x nanoseconds."""
        if not len(self.at_ns):
            return np.zeros(len(ns))
        sums = np.concatenate([[0.0], np.cumsum(self.count[:-1] * np.diff(self.at_ns).astype(np.float64))])
        place = np.searchsorted(self.at_ns, ns, side="right") - 1
        inside = np.maximum(place, 0)
        integral = sums[inside] + self.count[inside] * (ns - self.at_ns[inside]).astype(np.float64)
        return np.where(place >= 0, integral, 0.0)

    def means(self, edges_ns: Integers) -> Floats:
        """The mean count between each two neighbouring edges, which are ascending: exact, not sampled."""
        width = np.diff(edges_ns)
        return np.diff(self.integral(edges_ns)) / np.maximum(width, 1)


@dataclass(frozen=True)
class KindTimes:
    """What the tasks of one kind did, in seconds of task time.

    Attributes:
        staged_s: from the creation of each until it began: `ineligible_s` and, of what came before its begin, `eligible_s`.
        eligible_s: they had all that they needed, before they began or after a wait, and no worker.
        suspended_s: by cause.
        is_own: the runtime's own tasks, which views of the program leave out.
    """

    subject: int
    count: int
    staged_s: float
    ineligible_s: float
    eligible_s: float
    active_s: float
    suspended_s: dict[WaitCause, float]
    is_own: bool


@dataclass(frozen=True)
class Eligibility:
    """The tasks of a process over time.

    Attributes:
        own: subjects of the runtime's own tasks: in no count below unless asked for, and in `times` marked as such.
    """

    table: TaskTable
    own: frozenset[int]

    def steps(self, state: TaskState, subject: int | None = None) -> StepFunction:
        """How many tasks were in a state, at each moment; of one kind, or of all that are the program's."""
        stays = self._of_state[state]
        chosen = self._is_of(stays, subject)
        return StepFunction.of(stays.begin_ns[chosen], stays.end_ns[chosen])

    def means(self, state: TaskState, edges_ns: Integers, subject: int | None = None) -> Floats:
        """The mean number of tasks in a state between each two neighbouring edges."""
        stays = self.table.stays
        is_chosen = (stays.state == state) & self._is_of(stays, subject)
        # Without the steps: of millions of tasks these take long to be sorted.
        integral = sums_before(stays.begin_ns[is_chosen], edges_ns) - sums_before(
            stays.end_ns[is_chosen], edges_ns
        )
        return np.diff(integral) / np.maximum(np.diff(edges_ns), 1)

    @cached_property
    def times(self) -> tuple[KindTimes, ...]:
        """All kinds of explicit tasks, most active time first."""
        table, stays = self.table, self.table.stays
        kinds, place = numbered(table.subject)
        length = (stays.end_ns - stays.begin_ns) * 1e-9
        is_counted = table.is_explicit[stays.task]
        size = len(kinds) * len(TaskState)
        cell = place[stays.task] * len(TaskState) + stays.state
        sums = np.bincount(cell[is_counted], length[is_counted], size).reshape(-1, len(TaskState))
        counts = np.bincount(place[table.is_explicit], minlength=len(kinds))
        is_staged = is_counted & (stays.end_ns <= _until(table)[stays.task])
        staged = np.bincount(place[stays.task[is_staged]], length[is_staged], len(kinds))
        made = [
            KindTimes(
                int(subject),
                int(counts[at]),
                float(staged[at]),
                float(sums[at, TaskState.INELIGIBLE]),
                float(sums[at, TaskState.ELIGIBLE]),
                float(sums[at, TaskState.RUNNING]),
                self._suspended(int(subject)),
                int(subject) in self.own,
            )
            for at, subject in enumerate(kinds)
            if counts[at]
        ]
        return tuple(sorted(made, key=lambda kind: (-kind.active_s, kind.subject)))

    def _suspended(self, subject: int) -> dict[WaitCause, float]:
        stays = self._of_state[TaskState.SUSPENDED]
        chosen = self.table.subject[stays.task] == subject
        length = (stays.end_ns[chosen] - stays.begin_ns[chosen]) * 1e-9
        sums = np.bincount(np.maximum(stays.cause[chosen], 0), length)
        known = {int(cause) for cause in WaitCause}
        by_cause: dict[WaitCause, float] = {}
        for number in np.flatnonzero(sums > 0).tolist():
            cause = WaitCause(number) if number in known else WaitCause.OTHER
            by_cause[cause] = by_cause.get(cause, 0.0) + float(sums[number])
        return by_cause

    @cached_property
    def _of_state(self) -> dict[TaskState, Stays]:
        stays = self.table.stays
        return {state: stays.pick(stays.state == state) for state in TaskState}

    def _is_of(self, stays: Stays, subject: int | None) -> NDArray[np.bool_]:
        subjects = self.table.subject[stays.task]
        is_chosen: NDArray[np.bool_] = (
            subjects == subject if subject is not None else ~np.isin(subjects, list(self.own))
        )
        return is_chosen


def _until(table: TaskTable) -> Integers:
    """When each task began; of one that did not, the end of the trace."""
    return np.where(table.begin_ns >= 0, table.begin_ns, table.end_of_trace_ns)


def eligibility_of(
    trace: Trace, own: Collection[int] = (), parts: Sequence[LaneParts] | None = None
) -> Eligibility | None:
    """None where the process ran no tasks that are recorded, or not all of its events are there.

    Args:
        own: subjects of the runtime's own tasks (`own_subjects`).
        parts: of its lanes, if they are known.
    """
    table = task_table_of(trace, parts)
    return Eligibility(table, frozenset(own)) if table is not None else None


# What the room `parcels` runs for itself: to handle messages, not to do the program's work.
_OWN_NAMESPACES = ("trimtab::parcels::",)


def own_subjects(places: Mapping[int, Any]) -> frozenset[int]:
    """Kinds of task that belong to the runtime, by the functions that they run; `places`: label and place of each subject."""
    return frozenset(
        number for number, (_, place) in places.items() if place.function.startswith(_OWN_NAMESPACES)
    )

"""Idle regions with their verdicts: why at most one worker was busy (docs/reference/metrics.md, "Idle regions").

Times in nanoseconds since the process began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trimtab.analysis.eligibility import StepFunction
from trimtab.analysis.occupancy import LEAST_WORKERS, Dips, Occupancy, dips_of, free_in, occupancy_of
from trimtab.analysis.task_chains import NO_PHASE, Phases, phases_of
from trimtab.model.enumerations import IdleVerdict
from trimtab.traces.tasks import NO_TASK, TaskTable

# Of a region's length: a task that could have started earlier by less would not have changed it much.
_LEAST_EARLIER = 0.1
# A task that took so many times what is usual is a straggler.
_STRAGGLER = 1.5
_LEAST_OF_KIND = 4
# Tasks of a chain that are kept, from its end and from its beginning.
_LONGEST_CHAIN = 12


@dataclass(frozen=True)
class IdleRegion:
    """From when all workers of a runtime were busy, over a time with at most one, until all were busy again.

    Attributes:
        lost_ns: workers x time in which they were not busy.
        chain: rows of tasks: the first one that ran beside another at the end, who gave it the last that it needed, and so on;
            of a long chain its two ends, with NO_TASK between them.
        breaking: had this task ended earlier, the region would have ended earlier; NO_TASK: work came from outside of all tasks.
        initiating: the latest task of the chain that started before the region; had it ended earlier, the region would have been
            shorter; NO_TASK: the chain began inside.
        delayed: the task of the chain that could have started earlier by most; NO_TASK: all began as soon as they could.
        earlier_ns: by how much.
        more_workers: so many more would have let it start then; None: another verdict.
        preferred_ns: subjects of tasks that began while the delayed one waited, and by how much they delayed it: what they took until
            it began / workers.
    """

    begin_ns: int
    end_ns: int
    lost_ns: int
    verdict: IdleVerdict
    chain: tuple[int, ...]
    breaking: int
    initiating: int
    delayed: int
    earlier_ns: int
    more_workers: int | None
    preferred_ns: tuple[tuple[int, float], ...] = ()


def widest_group(table: TaskTable) -> int:
    """The runtime with most workers; 0: the lanes that are no workers."""
    groups, counts = np.unique(np.array(table.lanes.group, np.int64), return_counts=True)
    return int(groups[np.argmax(counts)]) if len(groups) else 0


def workers_in(table: TaskTable, group: int) -> int:
    """How many could be busy at a time."""
    return int(occupancy_of(table.lanes, group).available.max(initial=0))


def idle_regions_of(
    table: TaskTable, group: int, period_ns: int | None = None, elsewhere: StepFunction | None = None
) -> tuple[IdleRegion, ...]:
    """The idle regions of a group of lanes in order of time; none of fewer than `LEAST_WORKERS`.

    Args:
        group: as in `Lanes`.
        period_ns: look at the workers every so often, as published; None: at every change.
        elsewhere: how many workers of other processes were free, on this process's axis of time.
    """
    exact = occupancy_of(table.lanes, group)
    if exact.available.max(initial=0) < LEAST_WORKERS:
        return ()
    dips = dips_of(exact if period_ns is None else exact.sampled(period_ns))
    if not len(dips):
        return ()
    judge = _Judge(table, phases_of(table, group), exact, free_in(exact), elsewhere)
    return tuple(judge.regions(dips))


@dataclass(frozen=True)
class _Judge:
    """Says of each dip which tasks are behind it."""

    table: TaskTable
    phases: Phases
    occupancy: Occupancy
    free: StepFunction
    elsewhere: StepFunction | None

    def regions(self, dips: Dips) -> Iterator[IdleRegion]:
        columns = (dips.begin_ns, dips.end_ns, dips.rise_ns, dips.lost_ns)
        for begin, end, rise, lost in zip(*(column.tolist() for column in columns), strict=True):
            yield self._region(begin, end, rise, lost)

    def _region(self, begin: int, end: int, rise: int, lost: int) -> IdleRegion:
        phases = self.phases
        chain = list(phases.back(phases.first_from(rise), begin))
        initiating = chain[-1] if len(chain) > 1 and phases.begin_ns[chain[-1]] < begin else NO_PHASE
        delayed, earlier = self._most_delayed(chain)
        is_delayed = earlier >= max(_LEAST_EARLIER * (end - begin), 1)
        verdict, more = self._of_delay(delayed) if is_delayed else (self._of_chain(chain, initiating), None)
        rows = [int(phases.task[phase]) for phase in chain]
        return IdleRegion(
            begin,
            end,
            lost,
            verdict,
            _shortened(rows),
            breaking=rows[1] if len(rows) > 1 else NO_TASK,
            initiating=rows[-1] if initiating != NO_PHASE else NO_TASK,
            delayed=int(phases.task[delayed]) if is_delayed else NO_TASK,
            earlier_ns=earlier if is_delayed else 0,
            more_workers=more,
            preferred_ns=self._preferred(delayed) if more is not None else (),
        )

    def _most_delayed(self, chain: list[int]) -> tuple[int, int]:
        """The phase that waited longest for a worker, and for how long."""
        phases = self.phases
        waits = [int(phases.begin_ns[phase] - phases.ready_ns[phase]) for phase in chain]
        at = max(range(len(chain)), key=waits.__getitem__, default=-1)
        return (chain[at], waits[at]) if at >= 0 else (NO_PHASE, 0)

    def _of_delay(self, phase: int) -> tuple[IdleVerdict, int | None]:
        ready, begin = int(self.phases.ready_ns[phase]), int(self.phases.begin_ns[phase])
        if self._was_free(self.free, ready, begin) or self._was_free(self.elsewhere, ready, begin):
            return IdleVerdict.BAD_DISTRIBUTION, None
        # Workers that were free then took some of those that were ready, as soon as they noticed.
        missing = self.phases.ahead_of(phase) + 1 - self.occupancy.free_at(ready)
        return IdleVerdict.NOT_ENOUGH_WORKERS, max(missing, 1)

    def _preferred(self, phase: int) -> tuple[tuple[int, float], ...]:
        phases = self.phases
        until = int(phases.begin_ns[phase])
        chosen = phases.begun_between(int(phases.ready_ns[phase]), until)
        took = np.minimum(phases.end_ns[chosen], until) - phases.begin_ns[chosen]
        subjects, place = np.unique(self.table.subject[phases.task[chosen]], return_inverse=True)
        workers = max(int(self.occupancy.available.max(initial=0)), 1)
        sums = np.bincount(place.reshape(-1), took, len(subjects)) / workers
        return tuple(zip(subjects.tolist(), sums.tolist(), strict=True))

    def _of_chain(self, chain: list[int], initiating: int) -> IdleVerdict:
        if len(chain) < 2:
            return IdleVerdict.OUTSIDE
        if initiating != NO_PHASE and self._is_straggler(initiating, chain[-2]):
            return IdleVerdict.STRAGGLER
        return IdleVerdict.DEPENDENCE

    @staticmethod
    def _was_free(workers: StepFunction | None, begin: int, end: int) -> bool:
        """Whether at least one was free for most of the time."""
        if workers is None:
            return False
        return float(workers.means(np.array([begin, end]))[0]) > 0.5

    def _is_straggler(self, phase: int, successor: int) -> bool:
        """It took much longer than the other predecessors of its successor; where these are not known, than its kind."""
        phases, task = self.phases, int(self.phases.task[phase])
        others = phases.other_givers(successor, task)
        if not len(others):
            others = phases.of_kind(task)
            if len(others) < _LEAST_OF_KIND:
                return False
        return bool(phases.active_ns[task] > _STRAGGLER * np.median(phases.active_ns[others]))


def _shortened(chain: list[int]) -> tuple[int, ...]:
    half = _LONGEST_CHAIN // 2
    return tuple(chain) if len(chain) <= _LONGEST_CHAIN else (*chain[:half], NO_TASK, *chain[-half:])

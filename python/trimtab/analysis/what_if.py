"""What a process or a job would take with a change: its recorded steps run again, on paper (rooms/diagnosis, `replay`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis import compiled
from trimtab.analysis.division import Division
from trimtab.analysis.step_work import Floats, Integers
from trimtab.model.enumerations import Schedule
from trimtab.traces.columns import numbered, ordered, small
from trimtab.traces.steps import NO_PIECE, StepLinks, Steps
from trimtab.traces.steps.model import same

SHARED_SCHEDULES = (Schedule.DYNAMIC, Schedule.GUIDED)


@dataclass(frozen=True, eq=False)
class Change:
    """How a replay differs from the recorded run.

    Attributes:
        factor: what the length of each piece is multiplied by, shape (pieces,); None: as recorded.
        more_workers: so many workers of each process take tasks, too.
        has_locks: whether steps wait for locks.
        has_messages_on_the_way: whether messages take time from one process to another, besides that in queues.
        has_queued_messages: whether they wait in the queues of their senders.
        has_leads: whether steps begin as late as recorded after they could; without, they still wait for CPUs.
        has_delays: whether lanes wait for CPUs before steps.
        kept_links: which links there are, shape (links,); None: all.
        places: of each step, how many begin before it where a queue has them all, shape (steps,); None: as recorded.
        most_lead_ns: no step begins later than that after it could, shape (steps,); None: as recorded.
        shared_loops: the steps whose chunks any lane may take, whatever the schedule, shape (steps,).
        added_ns: what steps take besides their pieces, shape (steps,).
        division: steps that are divided into several.
    """

    factor: Floats | None = None
    more_workers: int = 0
    has_locks: bool = True
    has_leads: bool = True
    has_messages_on_the_way: bool = True
    has_queued_messages: bool = True
    has_delays: bool = True
    kept_links: NDArray[np.bool_] | None = None
    places: Integers | None = None
    most_lead_ns: Integers | None = None
    shared_loops: NDArray[np.bool_] | None = None
    added_ns: Integers | None = None
    division: Division | None = None


class Replays:
    """Replays of one process, or of all processes of a job.

    The replay keeps the recorded order of tasks in queues, and of those who hold a lock.
    """

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    @cached_property
    def unchanged_ns(self) -> int:
        """What the replay of the recorded run takes."""
        return self.end_ns(Change())

    @property
    def error(self) -> float:
        """By how much that differs from the recorded time, as a share of it."""
        return self.unchanged_ns / max(self.steps.span_ns, 1) - 1.0

    def saved_s(self, change: Change) -> float:
        """By how much shorter the process would be with a change, seconds; below 0: longer.

        Raises:
            CompiledError: steps wait for each other.
        """
        scale = self.steps.span_ns / max(self.unchanged_ns, 1)
        return (self.unchanged_ns - self.end_ns(change)) * scale * 1e-9

    def end_ns(self, change: Change) -> int:
        """When the last step ends, nanoseconds from the first one's begin.

        Raises:
            CompiledError: steps wait for each other.
        """
        length = self._length_ns if change.factor is None else self._length_ns * change.factor
        places = self._places_in_order if change.places is None else change.places
        lane, pool = self._lanes_and_pools(change)
        steps = compiled.StepColumns(self._durations(change, length), self._leads(change), places, lane, pool)
        links = self._links(change, length)
        if change.division is not None:
            steps, links = change.division.divided(steps, links)
        servers = self._servers(change)
        lanes = self.steps.lanes + len(servers) - self.steps.workers
        return compiled.replayed_end_ns(
            compiled.Program(steps, links, lanes, len(servers), server_pools=servers)
        )

    @cached_property
    def _length_ns(self) -> Integers:
        """Of each piece."""
        return self.steps.pieces.length_ns

    def _durations(self, change: Change, length: NDArray[Any]) -> Integers:
        """Of each step, where its pieces are so long."""
        steps = self.steps
        sums = np.bincount(steps.pieces.step, weights=length, minlength=len(steps))
        durations: Integers = np.rint(sums, out=sums).astype(np.int64)
        durations += steps.clock_ns
        if change.added_ns is not None:
            durations += change.added_ns
        return durations

    def _servers(self, change: Change) -> NDArray[np.uint32]:
        """The pool of each worker."""
        steps = self.steps
        pools = np.arange(1, len(steps.workers_of) + 1, dtype=np.uint32)
        has_workers = np.array(steps.workers_of) > 0
        return np.concatenate(
            [np.repeat(pools, steps.workers_of), np.tile(pools[has_workers], change.more_workers)]
        )

    def _lanes_and_pools(self, change: Change) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Of each step, as `STEP` has them."""
        return self._recorded_lanes_and_pools if change.shared_loops is None else self._placed(change)

    @cached_property
    def _recorded_lanes_and_pools(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        return self._placed(Change())

    def _placed(self, change: Change) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        steps = self.steps
        loop, leaves = self._loops(change)
        in_loop = loop + leaves
        has_no_lane = steps.is_pooled | (steps.lane < 0) | (loop > 0)
        lane = np.where(has_no_lane, compiled.NO_LANE, steps.lane).astype(np.uint32)
        pool = np.where(steps.is_pooled, steps.process, len(steps.workers_of) - 1 + in_loop) + 1
        pool[~steps.is_pooled & (in_loop == 0)] = 0
        return lane, pool.astype(np.uint32)

    def _loops(self, change: Change) -> tuple[Integers, Integers]:
        """For all steps: the loop whose shared chunk the step is, and the loop that its lane leaves with it; 0: none."""
        loops = self.steps.loops
        if not self._has_loops:
            return same(0, len(self.steps)), same(0, len(self.steps))
        is_shared = np.isin(loops.schedule, SHARED_SCHEDULES) & self.steps.has_shared_chunks
        if change.shared_loops is not None:
            is_shared |= change.shared_loops
        loop, leaves = np.where(is_shared, loops.loop, 0), np.where(is_shared, loops.leaves, 0)
        _, place = numbered(np.concatenate([[0], loop, leaves]))
        return place[1 : len(loop) + 1], place[len(loop) + 1 :]

    @cached_property
    def _has_loops(self) -> bool:
        return bool(self.steps.loops.loop.any() or self.steps.loops.leaves.any())

    def _leads(self, change: Change) -> NDArray[np.int64]:
        """Who does not wait for a lock is not woken, either."""
        steps = self.steps
        leads = steps.lead_ns if change.has_leads else steps.delay_ns
        if not change.has_delays:
            leads = leads - steps.delay_ns
        if not change.has_locks:
            leads = leads.copy()
            leads[steps.links.to_step[steps.links.is_lock]] = 0
        return leads if change.most_lead_ns is None else np.minimum(leads, change.most_lead_ns)

    @cached_property
    def _places_in_order(self) -> NDArray[np.int64]:
        """Of each step, how many began before it in the recorded run."""
        places = np.empty(len(self.steps), np.int64)
        places[np.argsort(self.steps.begin_ns, kind="stable")] = np.arange(len(self.steps))
        return places

    def _links(self, change: Change, length: NDArray[Any]) -> compiled.LinkColumns:
        links, columns = self._sorted_links, self._recorded_links
        is_changed = not (change.has_messages_on_the_way and change.has_queued_messages)
        if change.factor is not None:
            columns = columns._replace(latency_ns=self._latencies(length))
        elif is_changed:
            columns = columns._replace(latency_ns=columns.latency_ns.copy())
        if not change.has_messages_on_the_way:
            way_ns = links.latency_ns - self.steps.queued_of_steps(links.to_step)
            columns.latency_ns[links.is_message] -= way_ns[links.is_message]
        if not change.has_queued_messages:
            queued_ns = self.steps.queued_of_steps(links.to_step[links.is_message])
            columns.latency_ns[links.is_message] -= queued_ns
        if change.has_locks and change.kept_links is None:
            return columns
        is_kept = np.ones(len(links.to_step), np.bool_) if change.has_locks else ~links.is_lock
        if change.kept_links is not None:
            is_kept &= change.kept_links[self._order_of_links]
        return columns.pick(is_kept)

    @cached_property
    def _order_of_links(self) -> NDArray[Any]:
        """By the step that they come from, and how far it has come: the order that replays need."""
        links = self.steps.links
        is_end = links.from_piece == NO_PIECE
        moment = np.where(is_end, np.iinfo(np.int64).max >> 1, links.within_ns + links.latency_ns)
        moment[~is_end] += self.steps.pieces.begin_ns[links.from_piece[~is_end]]
        return small(ordered(links.from_step, moment), len(moment))

    @cached_property
    def _sorted_links(self) -> StepLinks:
        return self.steps.links.pick(self._order_of_links)

    @cached_property
    def _recorded_links(self) -> compiled.LinkColumns:
        links = self._sorted_links
        base = np.where(links.from_piece >= 0, compiled.FROM_BEGIN, compiled.FROM_END)
        return compiled.LinkColumns(
            _unsigned(links.from_step),
            _unsigned(links.to_step),
            self._latencies(self._length_ns),
            base.astype(np.uint8),
        )

    def _latencies(self, length: NDArray[Any]) -> NDArray[np.int64]:
        """What passes from the end of each link's step, or its begin, where its pieces are so long."""
        links = self._sorted_links
        before = np.zeros(len(length) + 1)
        np.cumsum(length, dtype=np.float64, out=before[1:])
        moments = compiled.LinkMoments(
            links.from_piece,
            links.from_step,
            links.within_ns,
            links.latency_ns,
            self.steps.first_piece,
            self._length_ns,
        )
        return compiled.latencies(moments, before)


def _unsigned(steps: NDArray[Any]) -> NDArray[np.uint32]:
    """Places of steps as `LINK` has them: those of a long run are not copied."""
    return steps.view(np.uint32) if steps.dtype == np.int32 else steps.astype(np.uint32)

"""The steps of a process, from its lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.threads import of_each
from trimtab.traces.columns import different, small
from trimtab.traces.intervals.build import LanePieces, Lanes
from trimtab.traces.intervals.gifts import Gifts
from trimtab.traces.intervals.pieces import joined
from trimtab.traces.steps.cuts import LaneSteps, steps_of_lane
from trimtab.traces.steps.delays import delays_of
from trimtab.traces.steps.demands import Arrivals, Demands, arrivals_of, demands_of
from trimtab.traces.steps.loops import Loops, LoopSteps, loops_of, loops_of_steps
from trimtab.traces.steps.model import (
    NO_PIECE,
    NO_STEP,
    Booleans,
    Integers,
    StepLinks,
    StepLoops,
    StepPieces,
    Steps,
    same,
)
from trimtab.traces.steps.tasks import TaskSteps, demands_of_tasks


@dataclass(frozen=True)
class StepDraft:
    """What the steps of a process are made of, when its lanes' slices are no longer needed.

    Attributes:
        order: places of the lanes; workers come last.
        workers: how many these are.
        built: of each lane in that order.
    """

    lanes: LanePieces
    gifts: Gifts
    order: Integers
    workers: int
    built: list[LaneSteps]
    demands: Demands
    arrivals: Arrivals
    loops: Loops

    def steps(self) -> Steps:
        return _Builder(self).steps(self.demands, self.arrivals, self.loops)


def draft_of_lanes(lanes: Lanes) -> StepDraft | None:
    """None where there is no work."""
    demands, arrivals, loops = demands_of(lanes), arrivals_of(lanes), loops_of(lanes)
    is_worker = [parts.is_worker for parts in lanes.parts]
    order = np.argsort(is_worker, kind="stable")
    rows = sum(len(pieces.low) for pieces in lanes.pieces)
    built = of_each(lambda at: _lane(lanes, at, demands, arrivals, loops), order.tolist(), rows)
    if not any(lane.count for lane in built):
        return None
    pieces = lanes.without_events()
    return StepDraft(pieces, lanes.gifts, order, sum(is_worker), built, demands, arrivals, loops)


def steps_of_lanes(lanes: Lanes) -> Steps | None:
    """None where there is no work."""
    draft = draft_of_lanes(lanes)
    return draft.steps() if draft is not None else None


def _lane(lanes: Lanes, at: int, demands: Demands, arrivals: Arrivals, loops: Loops) -> LaneSteps:
    cuts = [demands.at[demands.lane == at], arrivals.until[arrivals.lane == at]]
    return steps_of_lane(lanes, at, different(np.concatenate(cuts)), different(loops.cuts(at)))


_Columns = tuple[NDArray[Any], ...]
_NONE = np.empty(0, np.int64)


def _narrow(columns: _Columns, count: int) -> _Columns:
    """Of links, as `_Builder` makes them: steps and pieces are below `count`."""
    to_step, from_step, from_piece, within, latency, is_lock, ready = columns
    steps = (small(column, count) for column in (to_step, from_step, from_piece))
    return *steps, within, latency, is_lock.astype(np.bool_, copy=False), ready


def _joined_columns(tables: list[_Columns]) -> Iterator[NDArray[Any]]:
    """Column by column; the parts of each are freed before the next one is made."""
    columns = [list(parts) for parts in zip(*tables, strict=True)]
    tables.clear()
    while columns:
        parts = columns.pop(0)
        filled = [part for part in parts if len(part)] or parts[:1]
        del parts
        yield np.concatenate(filled) if len(filled) > 1 else filled[0]


class _Builder:
    """Numbers the steps of all lanes, then adds joins, moments of the clock and links."""

    def __init__(self, draft: StepDraft) -> None:
        self._draft, self._built = draft, draft.built
        self._ns = draft.lanes.ns_per_tick
        order, built = draft.order, draft.built
        counts = np.array([lane.count for lane in built])
        self._first_step = np.concatenate([[0], np.cumsum(counts)])
        self._first_piece = np.concatenate([[0], np.cumsum([len(lane.step) for lane in built])])
        self._place_of_lane = np.argsort(order)
        pieces = joined([lane.pieces for lane in built])
        self._low, self._high = pieces.low, pieces.high
        step = np.concatenate(
            [lane.step + base for lane, base in zip(built, self._first_step[:-1], strict=True)]
        )
        self._step = small(step, len(step))
        self._owner = np.concatenate([lane.owner for lane in built])
        self._lane = np.repeat(np.arange(len(built), dtype=np.int32), [len(lane.step) for lane in built])
        self._doing, self._subject, self._pace = pieces.doing, pieces.subject, pieces.pace
        self._first_of_step = np.flatnonzero(np.diff(self._step, prepend=-1))
        self._last_of_step = np.append(self._first_of_step[1:], len(self._step)) - 1
        self._begin = self._low[self._first_of_step]
        self._end = self._high[self._last_of_step]
        self._lane_of_step = self._lane[self._first_of_step].astype(np.int64)

    def steps(self, demands: Demands, arrivals: Arrivals, loops: Loops) -> Steps:
        count, joins = len(self._begin), arrivals.count
        tasks = demands_of_tasks(self._draft.gifts, self._task_steps())
        clocks = len(tasks.without_giver)
        count_all = len(self._step) + joins + clocks
        makers: tuple[Callable[[], _Columns], ...] = (
            lambda: self._of_demands(demands.lane, demands.at, demands.giver, demands.given, demands.is_lock),
            lambda: self._into_joins(arrivals, count),
            lambda: self._out_of_joins(arrivals, count),
            lambda: self._from_pieces(tasks.step, tasks.giver, tasks.given, tasks.is_lock),
            lambda: self._after_steps(tasks.later, tasks.earlier),
            lambda: self._of_clock(tasks.without_giver, tasks.ready, count + joins),
        )
        # One after the other, and each in few bytes: there may be tens of millions of links.
        to_step, from_step, from_piece, within, latency, is_lock, ready = _joined_columns(
            [_narrow(make(), count_all) for make in makers]
        )
        tasks = replace(tasks, step=_NONE, giver=_NONE, given=_NONE, later=_NONE, earlier=_NONE)
        nothing = np.zeros(joins + clocks, np.int64)
        begin = np.concatenate([self._begin, nothing])
        lane = np.concatenate([self._lane_of_step, nothing - 1])
        phase = same(NO_STEP, len(begin))
        if joins:
            phase = np.append(self._phases(arrivals, count), nothing + NO_STEP)
        start = int(self._low.min())
        lead_ns = self._in_ns(self._leads(to_step, ready, len(begin), start))
        del ready
        clock = np.concatenate([np.zeros(count + joins, np.int64), np.maximum(tasks.ready - start, 0)])
        return Steps(
            StepPieces(
                self._in_ns(self._low),
                self._in_ns(self._high),
                self._lane,
                self._step,
                self._doing,
                self._subject,
                self._pace,
            ),
            StepLinks(
                to_step,
                from_step,
                from_piece,
                self._in_ns(within),
                self._in_ns(latency),
                is_lock,
                np.zeros(len(to_step), np.bool_),
            ),
            np.concatenate([self._first_of_step, nothing + NO_PIECE]),
            self._in_ns(begin),
            lead_ns,
            lane,
            np.concatenate([self._owner[self._first_of_step] != 0, nothing != 0]),
            self._in_ns(clock),
            phase,
            np.concatenate([self._owner[self._first_of_step], nothing]),
            len(self._built),
            self._draft.workers,
            int((self._high.max() - start) * self._ns),
            same(0, len(begin)),
            (self._draft.workers,),
            round(start * self._ns),
            count + joins + np.flatnonzero(tasks.is_message),
            self._in_ns(tasks.ready[tasks.is_message]),
            same(0, int(np.count_nonzero(tasks.is_message))),
            delays_of(self._draft.lanes, self._draft.order[lane] * (lane >= 0) - (lane < 0), lead_ns),
            self._loops(loops, len(begin)),
        )

    def _loops(self, loops: Loops, count: int) -> StepLoops:
        if not len(loops.lane):
            return StepLoops.nothing(count)
        placed = replace(loops, lane=self._place_of_lane[loops.lane])
        steps = LoopSteps(self._lane_of_step, self._begin, self._end, self._has_no_gap())
        made = loops_of_steps(placed, steps, count)
        parts = np.concatenate(
            [lane.part + base for lane, base in zip(self._built, self._first_step[:-1], strict=True)]
        )[self._first_of_step]
        key = self._lane_of_step << 40 | parts
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        made.part[: len(key)] = first[place]
        return made

    def _has_no_gap(self) -> Booleans:
        """Of each step, whether its pieces follow each other."""
        has_gap = np.zeros(len(self._begin), np.bool_)
        gaps = np.flatnonzero(self._low[1:] > self._high[:-1]) + 1
        gaps = gaps[self._step[gaps] == self._step[gaps - 1]]
        has_gap[self._step[gaps]] = True
        return ~has_gap

    def _in_ns(self, ticks: Integers) -> Integers:
        scaled = ticks * self._ns
        rounded: Integers = np.rint(scaled, out=scaled).astype(np.int64)
        return rounded

    def _task_steps(self) -> TaskSteps:
        is_task = np.flatnonzero(self._owner[self._first_of_step] != 0)
        return TaskSteps(
            is_task,
            self._owner[self._first_of_step][is_task],
            self._begin[is_task],
            self._lane_of_step[is_task],
        )

    def _pieces_at(self, lanes: Integers, ticks: Integers, find: str) -> Integers:
        """Of lanes and moments the pieces that `LaneSteps` finds; -1: none."""
        found = np.full(len(lanes), -1, np.int64)
        place = self._place_of_lane[lanes]
        for at, lane in enumerate(self._built):
            own = np.flatnonzero(place == at)
            if len(own):
                pieces = getattr(lane, find)(ticks[own])
                found[own] = np.where(pieces >= 0, pieces + self._first_piece[at], -1)
        return found

    def _of_demands(
        self, lane: Integers, at: Integers, giver: Integers, given: Integers, is_lock: Booleans
    ) -> tuple[Integers, ...]:
        target = self._pieces_at(lane, at, "starting_at")
        return self._from_pieces(np.where(target >= 0, self._step[target], -1), giver, given, is_lock)

    def _from_pieces(
        self, to_step: Integers, giver: Integers, given: Integers, is_lock: Booleans
    ) -> tuple[Integers, ...]:
        """Links from moments of lanes to steps; without those that have no end."""
        piece = self._pieces_at(giver, given, "running_at")
        # A step cannot wait for itself, nor for what begins later: of damaged files.
        is_known = (to_step >= 0) & (piece >= 0) & (given <= self._begin[to_step])
        is_known &= self._step[piece] != to_step
        if not is_known.all():
            to_step, piece, given = (column[is_known] for column in (to_step, piece, given))
            is_lock = is_lock[is_known]
        end = np.minimum(given, self._high[piece])
        return (
            to_step,
            self._step[piece],
            piece,
            end - self._low[piece],
            given - end,
            is_lock.astype(np.bool_),
            given,
        )

    def _into_joins(self, arrivals: Arrivals, first: int) -> tuple[Integers, ...]:
        piece = self._before(arrivals)
        chosen = np.flatnonzero((piece >= 0) & arrivals.arrives)
        nothing = np.zeros(len(chosen), np.int64)
        from_step = self._step[piece[chosen]]
        return (
            first + arrivals.join[chosen],
            from_step,
            nothing + NO_PIECE,
            nothing,
            nothing,
            nothing,
            nothing,
        )

    def _before(self, arrivals: Arrivals) -> Integers:
        """The last piece of the lane that ends when it arrives, or earlier."""
        piece = self._pieces_at(arrivals.lane, arrivals.until, "running_at")
        return np.where((piece >= 0) & (self._high[piece] <= arrivals.until), piece, -1)

    def _out_of_joins(self, arrivals: Arrivals, first: int) -> tuple[Integers, ...]:
        piece = self._pieces_at(arrivals.lane, arrivals.until, "starting_at")
        before = self._before(arrivals)
        ready = np.zeros(max(arrivals.count, 1), np.int64)
        arrived = (before >= 0) & arrivals.arrives
        np.maximum.at(ready, arrivals.join[arrived], self._high[before[arrived]])
        chosen = np.flatnonzero((piece >= 0) & arrivals.goes_on)
        nothing = np.zeros(len(chosen), np.int64)
        join = arrivals.join[chosen]
        return (
            self._step[piece[chosen]],
            first + join,
            nothing + NO_PIECE,
            nothing,
            nothing,
            nothing,
            ready[join],
        )

    def _after_steps(self, later: Integers, earlier: Integers) -> tuple[Integers, ...]:
        nothing = np.zeros(len(later), np.int64)
        return later, earlier, nothing + NO_PIECE, nothing, nothing, nothing, self._end[earlier]

    def _of_clock(self, steps: Integers, ready: Integers, first: int) -> tuple[Integers, ...]:
        nothing = np.zeros(len(steps), np.int64)
        return (
            steps,
            first + np.arange(len(steps)),
            nothing + NO_PIECE,
            nothing,
            nothing,
            nothing,
            ready,
        )

    def _leads(self, to_step: Integers, ready: Integers, count: int, start: int) -> Integers:
        """From when a step had all that it waits for, and its lane, until it began."""
        latest = np.full(count, start, np.int64)
        np.maximum.at(latest, to_step, ready)
        is_same_lane = self._lane_of_step[1:] == self._lane_of_step[:-1]
        earlier_end = np.concatenate([[start], np.where(is_same_lane, self._end[:-1], start)])
        lead = np.zeros(count, np.int64)
        own = len(self._begin)
        lead[:own] = np.maximum(self._begin - np.maximum(latest[:own], earlier_end), 0)
        return lead

    def _phases(self, arrivals: Arrivals, first: int) -> Integers:
        """The join at which the lane of each step arrives next."""
        piece = self._before(arrivals)
        chosen = np.flatnonzero((piece >= 0) & arrivals.arrives)
        phase = np.full(len(self._begin), NO_STEP, np.int64)
        ends = self._step[piece[chosen]]
        order = np.argsort(ends, kind="stable")
        ends, join = ends[order], arrivals.join[chosen][order]
        place = np.searchsorted(ends, np.arange(len(phase)))
        is_in = place < len(ends)
        place = np.minimum(place, max(len(ends) - 1, 0))
        if len(ends):
            is_in &= self._lane_of_step[ends[place]] == self._lane_of_step
            phase = np.where(is_in, join[place] + first, NO_STEP)
        return phase

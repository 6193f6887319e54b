"""Worksharing loops whose chunks are recorded: which step is which chunk, so that another lane may take it in a replay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.model.enumerations import Schedule
from trimtab.traces.columns import numbered
from trimtab.traces.intervals.build import Lanes
from trimtab.traces.intervals.lane_parts import LaneParts, begins_of
from trimtab.traces.intervals.lookup import ordinals
from trimtab.traces.intervals.model import Booleans, Integers
from trimtab.traces.slices import Role
from trimtab.traces.steps.model import StepLoops

# Of a process: each becomes a step.
_MOST_CHUNKS = 1_000_000
_SCHEDULES = (Schedule.STATIC, Schedule.STATIC_CHUNKED, Schedule.DYNAMIC, Schedule.GUIDED)


@dataclass(frozen=True)
class Loops:
    """What lanes do in worksharing loops. Times in ticks since the process began.

    Attributes:
        lane, begin, end: of the time that each lane is in an instance of a loop, shape (visits,).
        loop: the instance, from 1; shape (visits,).
        subject, schedule: of that loop.
        chunk_visit, chunk_begin, iterations: of each chunk, shape (chunks,).
    """

    lane: Integers
    begin: Integers
    end: Integers
    loop: Integers
    subject: Integers
    schedule: Integers
    chunk_visit: Integers
    chunk_begin: Integers
    iterations: Integers

    def cuts(self, lane: int) -> Integers:
        """Where steps of a lane begin: with each chunk, and one tick before the lane leaves the loop."""
        chunks = self.chunk_begin[self.lane[self.chunk_visit] == lane]
        return np.concatenate([chunks, self.end[self.lane == lane] - 1])


@dataclass(frozen=True)
class LoopSteps:
    """Steps of lanes, by lane and time, with where they begin and end in ticks; `is_whole`: nothing is waited for inside."""

    lane: Integers
    begin: Integers
    end: Integers
    is_whole: Booleans


def loops_of(lanes: Lanes) -> Loops:
    """Those of the program's teams that have recorded chunks."""
    tables = [_of_lane(parts, at) for at, parts in enumerate(lanes.parts)]
    if sum(len(table[-1]) for table in tables) > _MOST_CHUNKS:
        tables = [_nothing() for _ in tables]
    first = np.cumsum([0, *(len(table[0]) for table in tables)])
    lane, begin, end, instance, subject, schedule, ordinal = (
        np.concatenate([table[column] for table in tables]) for column in range(7)
    )
    keys = np.stack([instance, subject, ordinal]) if len(lane) else np.zeros((3, 0), np.int64)
    _, loop = np.unique(keys, axis=1, return_inverse=True)
    return Loops(
        lane,
        begin,
        end,
        loop.reshape(-1) + 1,
        subject,
        schedule,
        np.concatenate([table[7] + base for table, base in zip(tables, first, strict=False)]),
        np.concatenate([table[8] for table in tables]),
        np.concatenate([table[9] for table in tables]),
    )


_Table = tuple[Integers, ...]


def _nothing() -> _Table:
    return (np.zeros(0, np.int64),) * 10


def _of_lane(parts: LaneParts, at: int) -> _Table:
    """Visits: lane, begin, end, instance of the region, subject, schedule, ordinal; chunks: visit, begin, iterations."""
    loops, works = begins_of(parts, Role.LOOP), begins_of(parts, Role.WORK)
    chunks = begins_of(parts, Role.CHUNK)
    if parts.is_worker or not (len(loops) and len(works) and len(chunks)):
        return _nothing()
    ticks = parts.slices.ticks
    work = works[np.maximum(np.searchsorted(ticks[works], ticks[loops], side="right") - 1, 0)]
    instance = parts.event("a", work)
    is_inside = (ticks[work] <= ticks[loops]) & (parts.ends(work) >= parts.ends(loops)) & (instance > 0)
    is_inside &= (parts.ends(loops) - ticks[loops] >= 3) & np.isin(parts.event("arg", loops), _SCHEDULES)
    loops, instance = loops[is_inside], instance[is_inside]
    begin, end, subject = ticks[loops], parts.ends(loops), parts.event("subject", loops)
    _, key = numbered(instance << 32 | subject)
    visit = np.searchsorted(begin, ticks[chunks], side="right") - 1
    is_of_loop = visit >= 0
    visit = np.maximum(visit, 0)
    if len(loops):
        is_of_loop &= (ticks[chunks] < end[visit]) & (parts.event("subject", chunks) == subject[visit])
    chunks, visit = chunks[is_of_loop], visit[is_of_loop]
    # A lane enters a loop before it takes a chunk, and leaves it behind the last one.
    taken = np.clip(ticks[chunks], begin[visit] + 1, end[visit] - 2)
    lane = np.full(len(loops), at, np.int64)
    schedule = parts.event("arg", loops)
    return (
        *(lane, begin, end, instance, subject, schedule, ordinals(key)),
        *(visit, taken, parts.event("a", chunks)),
    )


def loops_of_steps(loops: Loops, steps: LoopSteps, count: int) -> StepLoops:
    """What each of `count` steps has to do with a loop; nothing with those of which not all chunks are steps."""
    visits = len(loops.lane)
    if not visits:
        return StepLoops.nothing(count)
    chunk = _starting(steps, loops.lane[loops.chunk_visit], loops.chunk_begin)
    leave = _starting(steps, loops.lane, loops.end - 1)
    until = np.append(loops.chunk_begin[1:], 0)
    is_last = np.append(loops.chunk_visit[1:] != loops.chunk_visit[:-1], True)[: len(until)]
    until = until[: len(loops.chunk_begin)]
    until[is_last[: len(until)]] = loops.end[loops.chunk_visit[is_last[: len(until)]]] - 1
    is_step = chunk >= 0
    is_step &= (steps.end[chunk] == until) & steps.is_whole[chunk] if len(steps.end) else False
    is_damaged = np.zeros(int(loops.loop.max(initial=0)) + 1, np.bool_)
    is_damaged[loops.loop[loops.chunk_visit[~is_step]]] = True
    is_damaged[loops.loop[leave < 0]] = True
    intact = ~is_damaged[loops.loop]
    made = StepLoops.nothing(count).writable()
    chosen = np.flatnonzero(intact[loops.chunk_visit])
    visit = loops.chunk_visit[chosen]
    made.loop[chunk[chosen]] = loops.loop[visit]
    made.iterations[chunk[chosen]] = loops.iterations[chosen]
    made.leaves[leave[intact]] = loops.loop[intact]
    for step, of in ((chunk[chosen], visit), (leave[intact], np.flatnonzero(intact))):
        made.subject[step] = loops.subject[of]
        made.schedule[step] = loops.schedule[of]
    return made


def _starting(steps: LoopSteps, lane: Integers, ticks: Integers) -> Integers:
    """The step of each lane that begins at a moment; -1: none."""
    if not len(lane) or not len(steps.lane):
        return np.full(len(lane), -1, np.int64)
    bits = int(max(steps.begin.max(), ticks.max(), 1)).bit_length()
    keys = steps.lane << bits | steps.begin
    wanted = lane << bits | np.maximum(ticks, 0)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found: Integers = np.where(keys[place] == wanted, place, -1)
    return found

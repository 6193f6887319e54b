"""What lies in a slice: work, and waits with who ends them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import WaitKind, WorkerState
from trimtab.traces.intervals.barriers import Barriers, kinds_of
from trimtab.traces.intervals.gifts import Gifts
from trimtab.traces.intervals.holds import Holds
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Doing, Integers, Pace
from trimtab.traces.intervals.pieces import Pieces, pieces_of_lane
from trimtab.traces.intervals.queued import though_there_was_one, until_last_made
from trimtab.traces.intervals.task_paces import TaskPaces, TaskTimes
from trimtab.traces.intervals.teams import Teams
from trimtab.traces.slices import Role


@dataclass(frozen=True)
class Known:
    """What is known of the process as a whole; `last_task`: the lane that ended a task last."""

    teams: Teams
    barriers: Barriers
    holds: Holds
    gifts: Gifts
    tasks: TaskTimes
    last_task: int


def inside(parts: LaneParts, at: int, known: Known) -> Pieces:
    """What lies in a slice."""
    is_in = parts.inner >= 0
    low, high, inner, owner = (column[is_in] for column in (parts.low, parts.high, parts.inner, parts.owner))
    low, high, inner, owner = _cut_behind_making(low, high, inner, owner, known.tasks.paces[at])
    role = parts.slices.role[inner]
    kind = parts.event("arg", inner)
    has_owner = owner >= 0
    # Of what lies in no part: its own subject.
    subject = parts.event("subject", np.where(has_owner, owner, inner))
    doing = np.where(has_owner, int(Doing.WORK), int(Doing.SERIAL))
    pace = _pace_of(parts, owner, at, known.teams)
    of_task, last_made = known.tasks.paces[at].of_owners(owner)
    pace = np.where(high <= last_made, int(Pace.MAKING), np.maximum(pace, of_task))
    made = pieces_of_lane(low, high, at, doing, subject=np.where(has_owner, subject, NO_SUBJECT), pace=pace)
    made.subject[role == Role.REGION] = subject[role == Role.REGION]
    _fork_and_join(made, np.flatnonzero(role == Role.REGION), inner, parts, at, known.teams)
    is_wait = role == Role.WAIT
    barriers = np.flatnonzero(is_wait & np.isin(kind, kinds_of(Doing.BARRIER)))
    _at_barriers(made, barriers, parts.slices.source[inner[barriers]], at, known.barriers)
    _set_wait(made, np.flatnonzero(is_wait & np.isin(kind, kinds_of(Doing.JOIN))), Doing.JOIN)
    _set_wait(made, np.flatnonzero(is_wait & np.isin(kind, kinds_of(Doing.LOCK))), Doing.LOCK)
    locks = np.flatnonzero(role == Role.LOCK_WAIT)
    _set_wait(made, locks, Doing.LOCK, *known.holds.before(at, parts.slices.source[inner[locks]]))
    _set_wait(made, np.flatnonzero(is_wait & (kind == WaitKind.TASKWAIT)), Doing.TASKWAIT)
    _without_task(made, np.flatnonzero(role == Role.STATE), kind, parts, known)
    return though_there_was_one(until_last_made(made, at, *known.gifts.last_made), *known.tasks.queued)


def _cut_behind_making(
    low: Integers, high: Integers, inner: Integers, owner: Integers, paces: TaskPaces
) -> tuple[Integers, Integers, Integers, Integers]:
    """Pieces, cut where a task has made its last task."""
    _, made = paces.of_owners(owner)
    cut = np.flatnonzero((low < made) & (made < high))
    if not len(cut):
        return low, high, inner, owner
    rest = made[cut]
    high = high.copy()
    low, high = np.concatenate([low, rest]), np.concatenate([high, high[cut]])
    high[cut] = rest
    return low, high, np.concatenate([inner, inner[cut]]), np.concatenate([owner, owner[cut]])


def _pace_of(parts: LaneParts, owner: Integers, at: int, teams: Teams) -> Integers:
    """Of the parts of regions that pieces lie in."""
    rows = teams.of_lane(at)
    if rows.start == rows.stop:
        return np.full(len(owner), int(Pace.USUAL), np.int64)
    slices, place = parts.slices, np.maximum(owner, 0)
    row = np.searchsorted(teams.begin[rows], slices.ticks[place], side="right") - 1 + rows.start
    is_part = (owner >= 0) & (slices.role[place] == Role.WORK) & (row >= rows.start)
    return np.where(is_part, teams.pace[np.maximum(row, 0)], int(Pace.USUAL))


def _set_wait(made: Pieces, chosen: Integers, doing: Doing, giver: Any = NO_LANE, release: Any = -1) -> None:
    """Waits for a giver until it acts; of who is not known all of it is waited. The subject stays."""
    made.doing[chosen] = int(doing)
    made.giver[chosen] = giver
    made.release[chosen] = np.where(made.giver[chosen] == NO_LANE, made.high[chosen], release)


def _fork_and_join(
    made: Pieces, chosen: Integers, inner: Integers, parts: LaneParts, at: int, teams: Teams
) -> None:
    """What the forker does in a region outside of its own part: it forks, then it waits for the others."""
    rows = teams.of_lane(at)
    row = lookup(teams.instance[rows], parts.event("a", inner[chosen]))
    row = np.where(row >= 0, row + rows.start, -1)
    is_joining = (row >= 0) & (made.low[chosen] >= values_at(teams.end, row, 0))
    made.doing[chosen] = np.where(is_joining, int(Doing.JOIN), int(Doing.ARRIVAL))
    released = np.where(
        values_at(teams.last, row, NO_LANE) == at, made.low[chosen], values_at(teams.released, row, 0)
    )
    made.release[chosen] = np.where(is_joining, released, made.low[chosen])
    made.giver[chosen] = np.where(is_joining, values_at(teams.last, row, NO_LANE), NO_LANE)


def _at_barriers(made: Pieces, chosen: Integers, source: Integers, at: int, barriers: Barriers) -> None:
    own = np.flatnonzero(barriers.lane == at)
    row = values_at(own, lookup(barriers.source[own] + 1, source + 1), -1)
    last = values_at(barriers.last, row, NO_LANE)
    # Who came last waits for nobody.
    release = np.where(last == at, made.low[chosen], values_at(barriers.release, row, 0))
    made.doing[chosen] = int(Doing.BARRIER)
    made.giver[chosen] = np.where(last == at, NO_LANE, last)
    made.release[chosen] = np.where(row >= 0, release, made.high[chosen])


def _without_task(made: Pieces, chosen: Integers, state: Integers, parts: LaneParts, known: Known) -> None:
    """A worker looks for a task, or is parked, until it begins one: whoever made that one ready ended the wait."""
    tasks = parts.works[parts.slices.role[parts.works] != Role.WORK]
    begins = parts.slices.ticks[tasks]
    following = np.searchsorted(begins, made.high[chosen], side="left")
    has_next = following < len(tasks)
    place = np.minimum(following, max(len(tasks) - 1, 0))
    task = parts.event("a", tasks[place]) if len(tasks) else np.zeros(len(chosen), np.int64)
    gift = known.gifts.latest(
        np.where(has_next, task, -1), values_at(begins, np.where(has_next, place, -1), -1)
    )
    given_at = values_at(known.gifts.at, gift, 0)
    is_early = (gift >= 0) & (given_at <= made.low[chosen])
    is_capped = state[chosen] == WorkerState.CAPPED
    doing = values_at(known.gifts.doing, gift, int(Doing.DEPENDENCE))
    doing = np.where(has_next, np.where(is_early, int(Doing.FAR_TASK), doing), int(Doing.NO_FURTHER_TASK))
    giver = np.where(has_next, values_at(known.gifts.lane, gift, NO_LANE), known.last_task)
    made.doing[chosen] = np.where(is_capped, int(Doing.CAPPED), doing)
    made.giver[chosen] = np.where(is_capped | is_early, NO_LANE, giver)
    made.release[chosen] = np.where(
        is_early & ~is_capped, made.low[chosen], np.where(has_next & (gift >= 0), given_at, made.high[chosen])
    )
    made.subject[chosen] = NO_SUBJECT

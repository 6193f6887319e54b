"""What lies in a slice: work, and waits with who ends them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import WaitKind, WorkerState
from trimtab.traces.intervals.awaited import Awaited, awaited_doing, scope_of
from trimtab.traces.intervals.barriers import Barriers, kinds_of
from trimtab.traces.intervals.gifts import BY_TASKS, Gifts, LastTask
from trimtab.traces.intervals.handed import along_gifts
from trimtab.traces.intervals.holds import Holds
from trimtab.traces.intervals.lane_parts import LaneParts
from trimtab.traces.intervals.lookup import lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Doing, Integers, Pace
from trimtab.traces.intervals.moments import Moments
from trimtab.traces.intervals.mutexes import MutexWaits
from trimtab.traces.intervals.order import Turns
from trimtab.traces.intervals.pieces import Pieces, joined, pieces_of_lane
from trimtab.traces.intervals.queued import though_there_was_one, until_last_made
from trimtab.traces.intervals.task_paces import TaskPaces, TaskTimes
from trimtab.traces.intervals.teams import Teams
from trimtab.traces.slices import Role


@dataclass(frozen=True)
class Known:
    """What is known of the process as a whole.

    Attributes:
        last_task: of all workers.
        progress: where lanes that are no workers made or ended tasks.
        turns: ordered sections.
        ends: where workers' parts of tasks ended.
        awaited: tasks with identities, of lanes that are no workers.
        outsider: the thread outside of the task runtime that makes its tasks, by place; NO_LANE: none.
        mutexes: that tasks of a runtime wait for.
    """

    teams: Teams
    barriers: Barriers
    holds: Holds
    gifts: Gifts
    tasks: TaskTimes
    last_task: LastTask
    progress: Moments
    turns: Turns
    ends: Moments
    awaited: Awaited
    outsider: int
    mutexes: MutexWaits


def inside(parts: LaneParts, at: int, known: Known) -> Pieces:
    """What lies in a slice."""
    low, high, inner, owner = _pieces_inside(parts, known.last_task.end)
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
    pieces = pieces_of_lane(low, high, at, doing, subject=np.where(has_owner, subject, NO_SUBJECT), pace=pace)
    pieces.subject[role == Role.REGION] = subject[role == Role.REGION]
    _fork_and_join(pieces, np.flatnonzero(role == Role.REGION), inner, parts, at, known)
    is_wait = role == Role.WAIT
    barriers = np.flatnonzero(is_wait & np.isin(kind, kinds_of(Doing.BARRIER)))
    _at_barriers(pieces, barriers, parts.slices.source[inner[barriers]], at, known)
    joins = np.flatnonzero(is_wait & np.isin(kind, kinds_of(Doing.JOIN)))
    _set_wait(pieces, joins, Doing.JOIN)
    _until_tasks_end(pieces, joins, at, known.progress)
    _set_wait(pieces, np.flatnonzero(is_wait & np.isin(kind, kinds_of(Doing.LOCK))), Doing.LOCK)
    _for_omp_locks(
        pieces,
        np.flatnonzero(is_wait & (kind == WaitKind.LOCK)),
        parts.event("subject", inner),
        at,
        known.holds,
    )
    locks = np.flatnonzero(role == Role.LOCK_WAIT)
    is_lock = (role == Role.LOCK_WAIT) | (is_wait & np.isin(kind, kinds_of(Doing.LOCK)))
    pieces.subject[is_lock] = parts.event("subject", inner[is_lock])
    _set_wait(pieces, locks, Doing.LOCK, *known.holds.before(at, parts.slices.source[inner[locks]]))
    # Nobody else held it: it was free, and to take it took so long.
    free = locks[pieces.giver[locks] == NO_LANE]
    pieces.release[free] = pieces.low[free]
    ordered = np.flatnonzero(is_wait & (kind == WaitKind.ORDERED))
    turns, left = known.turns.giver(at, parts.slices.source[inner[ordered]])
    _set_wait(pieces, ordered, Doing.ORDERED, turns, left)
    first = ordered[turns == NO_LANE]
    pieces.release[first] = pieces.low[first]
    waits = np.flatnonzero(is_wait & (kind == WaitKind.TASKWAIT))
    _for_tasks(pieces, waits, at, known.progress)
    _for_children(pieces, waits, scope_of(parts, at, owner[waits]), at, known.awaited)
    for_tasks = np.concatenate([waits, barriers, joins, np.flatnonzero(role == Role.REGION)])
    _until_task_is_ready(pieces, for_tasks, at, known.awaited)
    states = np.flatnonzero(role == Role.STATE)
    gift = np.full(len(pieces.low), -1, np.int64)
    gift[states] = _without_task(pieces, states, kind, parts, known)
    within = states[np.isin(owner[states], parts.tasks()) & (pieces.low[states] < known.last_task.end)]
    _inside_task(pieces, within, at, known.ends)
    gift[within] = -1
    is_given = gift >= 0
    pieces = joined(
        [
            _along_chains(pieces.pick(~is_given), (np.cumsum(~is_given) - 1)[for_tasks], known.awaited),
            along_gifts(pieces.pick(is_given), gift[is_given], known.gifts),
        ]
    )
    return though_there_was_one(until_last_made(pieces, at, *known.gifts.last_made), *known.tasks.queued)


def _for_omp_locks(pieces: Pieces, chosen: Integers, subject: Integers, at: int, holds: Holds) -> None:
    """Waits of omp_set_lock: for who held the lock before, where that is recorded; nobody did: it was free."""
    row = holds.behind(at, subject[chosen], pieces.high[chosen])
    waits, row = chosen[row >= 0], row[row >= 0]
    _set_wait(pieces, waits, Doing.LOCK, *holds.before_rows(at, row))
    free = waits[pieces.giver[waits] == NO_LANE]
    pieces.release[free] = pieces.low[free]


def _cut_behind_making(
    low: Integers, high: Integers, inner: Integers, owner: Integers, paces: TaskPaces
) -> tuple[Integers, Integers, Integers, Integers]:
    """Pieces, cut where a task has made its last task."""
    _, pieces = paces.of_owners(owner)
    cut = np.flatnonzero((low < pieces) & (pieces < high))
    if not len(cut):
        return low, high, inner, owner
    rest = pieces[cut]
    high = high.copy()
    low, high = np.concatenate([low, rest]), np.concatenate([high, high[cut]])
    high[cut] = rest
    return low, high, np.concatenate([inner, inner[cut]]), np.concatenate([owner, owner[cut]])


def _pieces_inside(parts: LaneParts, cut: int) -> tuple[Integers, Integers, Integers, Integers]:
    """Begin, end, innermost slice and owner of the pieces in slices; those of a worker are cut where the last task ended."""
    is_in = parts.inner >= 0
    low, high, inner, owner = (column[is_in] for column in (parts.low, parts.high, parts.inner, parts.owner))
    is_cut = (low < cut) & (cut < high) & parts.is_worker
    later = np.flatnonzero(is_cut)
    return (
        np.concatenate([low, np.full(len(later), cut, np.int64)]),
        np.concatenate([np.where(is_cut, cut, high), high[later]]),
        np.concatenate([inner, inner[later]]),
        np.concatenate([owner, owner[later]]),
    )


def _pace_of(parts: LaneParts, owner: Integers, at: int, teams: Teams) -> Integers:
    """Of the parts of regions that pieces lie in."""
    rows = teams.of_lane(at)
    if rows.start == rows.stop:
        return np.full(len(owner), int(Pace.USUAL), np.int64)
    slices, place = parts.slices, np.maximum(owner, 0)
    row = np.searchsorted(teams.begin[rows], slices.ticks[place], side="right") - 1 + rows.start
    is_part = (owner >= 0) & (slices.role[place] == Role.WORK) & (row >= rows.start)
    return np.where(is_part, teams.pace[np.maximum(row, 0)], int(Pace.USUAL))


def _set_wait(
    pieces: Pieces, chosen: Integers, doing: Doing, giver: Any = NO_LANE, release: Any = -1
) -> None:
    """Waits for a giver until it acts; of who is not known all of it is waited. The subject stays."""
    pieces.doing[chosen] = int(doing)
    pieces.giver[chosen] = giver
    pieces.release[chosen] = np.where(pieces.giver[chosen] == NO_LANE, pieces.high[chosen], release)


def _fork_and_join(
    pieces: Pieces, chosen: Integers, inner: Integers, parts: LaneParts, at: int, known: Known
) -> None:
    """What the forker does in a region outside of its own part: it forks, then it waits for the others and for tasks."""
    teams = known.teams
    rows = teams.of_lane(at)
    row = lookup(teams.instance[rows], parts.event("a", inner[chosen]))
    row = np.where(row >= 0, row + rows.start, -1)
    is_joining = (row >= 0) & (pieces.low[chosen] >= values_at(teams.end, row, 0))
    pieces.doing[chosen] = np.where(is_joining, int(Doing.JOIN), int(Doing.ARRIVAL))
    released = np.where(
        values_at(teams.last, row, NO_LANE) == at, pieces.low[chosen], values_at(teams.released, row, 0)
    )
    pieces.release[chosen] = np.where(is_joining, released, pieces.low[chosen])
    last = values_at(teams.last, row, NO_LANE)
    pieces.giver[chosen] = np.where(is_joining & (last != at), last, NO_LANE)
    _until_tasks_end(pieces, chosen[is_joining], at, known.progress)


def _until_tasks_end(pieces: Pieces, chosen: Integers, at: int, progress: Moments) -> None:
    """Who waits for other lanes also waits for tasks of theirs that end later.

    A piece that ends before those lanes act ends with a task that this lane runs: it waited for who pieces that one.
    """
    low, high, release = pieces.low[chosen], pieces.high[chosen], pieces.release[chosen]
    is_interrupted = (release > high) | ((release == high) & (pieces.giver[chosen] == NO_LANE))
    giver, ended = progress.latest(at, np.where(is_interrupted, low, np.maximum(low, release)), high)
    is_later = giver != NO_LANE
    pieces.giver[chosen[is_later]], pieces.release[chosen[is_later]] = giver[is_later], ended[is_later]


def _for_tasks(pieces: Pieces, chosen: Integers, at: int, progress: Moments) -> None:
    """A wait for tasks, in pieces between the tasks that this lane runs meanwhile: until another lane made or ended one.

    Where none did, there was a task, or nothing to wait for, and the runtime took its time.
    """
    giver, moment = progress.latest(at, pieces.low[chosen], pieces.high[chosen])
    pieces.doing[chosen] = int(Doing.TASKWAIT)
    pieces.giver[chosen] = giver
    pieces.release[chosen] = np.where(giver == NO_LANE, pieces.low[chosen], moment)


def _for_children(pieces: Pieces, chosen: Integers, scope: Integers, at: int, awaited: Awaited) -> None:
    """Of waits whose tasks have identities: until the child that ended last ended on another lane."""
    child = awaited.children.latest(np.where(scope == 0, np.iinfo(np.int64).min, scope), pieces.high[chosen])
    end, lane = values_at(awaited.end, child, -1), values_at(awaited.lane, child, NO_LANE)
    is_known = (end > pieces.low[chosen]) & (lane != at)
    waits = chosen[is_known]
    pieces.giver[waits], pieces.release[waits] = lane[is_known], end[is_known]


def _until_task_is_ready(pieces: Pieces, chosen: Integers, at: int, awaited: Awaited) -> None:
    """Pieces that end since this lane begins a task with an identity: until that one had all that it needed."""
    task = awaited.begun_at(at, pieces.high[chosen])
    giver, given = values_at(awaited.giver, task, NO_LANE), values_at(awaited.given, task, -1)
    is_known = giver != NO_LANE
    waits, giver, given = (
        chosen[is_known],
        giver[is_known],
        np.maximum(given[is_known], pieces.low[chosen[is_known]]),
    )
    pieces.giver[waits] = np.where(giver == at, NO_LANE, giver)
    pieces.release[waits] = np.where(giver == at, pieces.low[waits], given)
    is_chained = awaited.is_given_by_task(task[is_known])
    pieces.doing[waits] = awaited_doing(pieces.doing[waits], is_chained)


def _along_chains(pieces: Pieces, chosen: Integers, awaited: Awaited) -> Pieces:
    """Waits that end with the end of a task are for the tasks that it depended on, until each had ended."""
    is_wait = np.zeros(len(pieces.low), np.bool_)
    is_wait[chosen] = (pieces.giver[chosen] != NO_LANE) & (pieces.release[chosen] > pieces.low[chosen])
    waits, task = awaited.cut_behind_tasks(pieces.pick(is_wait))
    return joined([pieces.pick(~is_wait), awaited.cut(waits, task)]) if (task >= 0).any() else pieces


def _at_barriers(pieces: Pieces, chosen: Integers, source: Integers, at: int, known: Known) -> None:
    barriers = known.barriers
    own = np.flatnonzero(barriers.lane == at)
    row = values_at(own, lookup(barriers.source[own] + 1, source + 1), -1)
    last = values_at(barriers.last, row, NO_LANE)
    # Who came last waits for nobody.
    release = np.where(last == at, pieces.low[chosen], values_at(barriers.release, row, 0))
    pieces.doing[chosen] = int(Doing.BARRIER)
    pieces.giver[chosen] = np.where(last == at, NO_LANE, last)
    pieces.release[chosen] = np.where(row >= 0, release, pieces.high[chosen])
    _until_tasks_end(pieces, chosen, at, known.progress)


def _without_task(
    pieces: Pieces, chosen: Integers, state: Integers, parts: LaneParts, known: Known
) -> Integers:
    """A worker looks for a task, or is parked, until it begins one: whoever made that one ready ended the wait.

    Returns:
        The gift that ended each wait, by row; -1: no other task gave one.
    """
    tasks = parts.works[parts.slices.role[parts.works] != Role.WORK]
    begins = parts.slices.ticks[tasks]
    following = np.searchsorted(begins, pieces.high[chosen], side="left")
    has_next = following < len(tasks)
    place = np.where(has_next, following, -1)
    task = values_at(parts.event("a", tasks), place, -1)
    gift = known.gifts.latest(task, values_at(begins, place, -1))
    doing = values_at(known.gifts.doing, gift, int(Doing.RESUMPTION))
    gift = np.where(doing == int(Doing.RESUMPTION), -1, gift)
    given_at = values_at(known.gifts.at, gift, 0)
    # Since when the lane has had no task.
    idle = values_at(parts.ends(tasks), np.minimum(following, len(tasks)) - 1, 0)
    is_early = (gift >= 0) & (given_at <= pieces.low[chosen])
    is_far = is_early & (given_at <= idle)
    giver = np.where(is_early, NO_LANE, values_at(known.gifts.lane, gift, NO_LANE))
    # What the worker itself gave in passing, such as a message that it received: the cause lies elsewhere.
    at = int(pieces.lane[0]) if len(pieces.lane) else NO_LANE
    is_foreign = (giver == at) | (doing == int(Doing.MESSAGE))
    doing = np.where((giver == at) & (doing != int(Doing.MESSAGE)), int(Doing.RESUMPTION), doing)
    giver = np.where(is_foreign, NO_LANE, giver)
    release = np.where(gift >= 0, given_at, pieces.high[chosen])
    _set_wait(pieces, chosen, Doing.RESUMPTION)
    pieces.doing[chosen] = np.where(is_far, int(Doing.FAR_TASK), doing)
    pieces.giver[chosen] = giver
    pieces.release[chosen] = release
    _behind_last_task(pieces, chosen[~has_next], at, known)
    capped = chosen[state[chosen] == WorkerState.CAPPED]
    _set_wait(pieces, capped, Doing.CAPPED)
    pieces.subject[chosen] = NO_SUBJECT
    is_by_task = np.isin(pieces.doing[chosen], BY_TASKS) & (pieces.giver[chosen] != NO_LANE)
    return np.where(is_by_task, gift, -1)


def _inside_task(pieces: Pieces, chosen: Integers, at: int, ends: Moments) -> None:
    """A worker whose task waits on its stack: until a task of another worker has ended that this one waited for."""
    giver, ended = ends.latest(at, pieces.low[chosen], pieces.high[chosen])
    is_found = giver != NO_LANE
    waits = chosen[is_found]
    pieces.doing[waits], pieces.giver[waits], pieces.release[waits] = (
        int(Doing.DEPENDENCE),
        giver[is_found],
        ended[is_found],
    )
    is_alone = pieces.doing[chosen] == int(Doing.NO_FURTHER_TASK)
    others = chosen[~is_found & is_alone & (pieces.giver[chosen] == NO_LANE)]
    _set_wait(pieces, others, Doing.RESUMPTION)


def _behind_last_task(pieces: Pieces, chosen: Integers, at: int, known: Known) -> None:
    """A worker waits for the last task of all, then for the thread that could make more."""
    is_before = pieces.low[chosen] < known.last_task.end
    giver = np.where(is_before, known.last_task.lane, known.outsider)
    pieces.doing[chosen] = np.where(is_before, int(Doing.NO_FURTHER_TASK), int(Doing.END))
    pieces.giver[chosen] = np.where(giver == at, NO_LANE, giver)
    pieces.release[chosen] = pieces.high[chosen]

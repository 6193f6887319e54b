"""What steps wait for, by lanes and moments of the recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.model.enumerations import WaitKind
from trimtab.traces.columns import different, numbered
from trimtab.traces.intervals.barriers import kinds_of
from trimtab.traces.intervals.build import Lanes
from trimtab.traces.intervals.holds import Holds, locks_of
from trimtab.traces.intervals.lane_parts import LaneParts, begins_of
from trimtab.traces.intervals.lookup import ordinals
from trimtab.traces.intervals.model import NO_LANE, Booleans, Doing, Integers
from trimtab.traces.intervals.pieces import BUSY
from trimtab.traces.intervals.teams import Teams
from trimtab.traces.slices import Role

_OF_SEVERAL = (*BUSY, int(Doing.JOIN), int(Doing.BARRIER), int(Doing.TASK_CHAIN), int(Doing.LOCK))


@dataclass(frozen=True)
class Demands:
    """Each says: what begins on `lane` at `at` or later waits until lane `giver` has come to its moment `given`.

    Attributes:
        lane, at, giver, given: shape (demands,); ticks since the process began.
        is_lock: it waits for a lock.
    """

    lane: Integers
    at: Integers
    giver: Integers
    given: Integers
    is_lock: Booleans


@dataclass(frozen=True)
class Arrivals:
    """Lanes that arrive at joins and barriers, and those that go on from there.

    Attributes:
        lane: shape (arrivals,), as all of these.
        until: what ends there or earlier has been done before the lane arrives.
        join: number of the join, from 0.
        goes_on: the lane's first step from `until` on waits for all that arrive.
        arrives: the others wait for what the lane did before.
    """

    lane: Integers
    until: Integers
    join: Integers
    goes_on: Booleans
    arrives: Booleans

    @property
    def count(self) -> int:
        """How many joins there are."""
        return int(self.join.max()) + 1 if len(self.join) else 0


def demands_of(lanes: Lanes) -> Demands:
    """Of waits whose giver is known, of locks that were waited for, and nothing of tasks."""
    tables = [*_of_waits(lanes), _of_locks(lanes)]
    lane, at, giver, given = (np.concatenate([table[column] for table in tables]) for column in range(4))
    is_lock = np.repeat([False] * (len(tables) - 1) + [True], [len(table[0]) for table in tables])
    return Demands(lane, at, giver, given, is_lock)


_Table = tuple[Integers, Integers, Integers, Integers]


def _of_waits(lanes: Lanes) -> Sequence[_Table]:
    """Waits for one other lane: it acted when the wait was released. Joins and barriers wait for all, locks for the one before."""
    tables = []
    for at, (parts, pieces) in enumerate(zip(lanes.parts, lanes.pieces, strict=True)):
        if parts.is_worker:
            continue
        is_known = (pieces.giver != NO_LANE) & ~np.isin(pieces.doing, _OF_SEVERAL)
        chosen = pieces.pick(is_known)
        lane = np.full(len(chosen.low), at, np.int64)
        tables.append((lane, chosen.high, chosen.giver.astype(np.int64), chosen.release))
    return tables


def _of_locks(lanes: Lanes) -> _Table:
    """Each holder of a lock waits for the one before, of locks that somebody waited for."""
    holds = lanes.holds
    is_next = (holds.lock[1:] == holds.lock[:-1]) & (holds.lane[1:] != holds.lane[:-1])
    later = np.flatnonzero(is_next) + 1
    waited = [locks_of(parts, begins_of(parts, Role.LOCK_WAIT)) for parts in lanes.parts]
    waited += [_locks_waited_for(parts, at, holds) for at, parts in enumerate(lanes.parts)]
    later = later[np.isin(holds.lock[later], different(np.concatenate(waited)))]
    later = later[holds.end[later - 1] <= holds.begin[later]]
    return holds.lane[later], holds.begin[later], holds.lane[later - 1], holds.end[later - 1]


def _locks_waited_for(parts: LaneParts, at: int, holds: Holds) -> Integers:
    """Locks of omp_set_lock that a lane waited for."""
    begins = begins_of(parts, Role.WAIT)
    begins = begins[parts.event("arg", begins) == WaitKind.LOCK]
    row = holds.behind(at, parts.event("subject", begins), parts.ends(begins))
    return holds.lock[row[row >= 0]]


def arrivals_of(lanes: Lanes) -> Arrivals:
    """At the ends of regions, and at barriers inside."""
    teams = lanes.teams
    is_team = teams.instance > 0
    instances, join = numbered(teams.instance[is_team])
    _, first = np.unique(join, return_index=True)
    member = (teams.lane[is_team], teams.end[is_team], join)
    forker, released = teams.forker[is_team][first], teams.released[is_team][first]
    has_forker = forker != NO_LANE
    at_once = _with_next_region(teams)[is_team]
    going_on = (
        np.concatenate([forker[has_forker], teams.lane[is_team][at_once]]),
        np.concatenate([released[has_forker], teams.released[is_team][at_once]]),
        np.concatenate([np.flatnonzero(has_forker), join[at_once]]),
    )
    barriers = _barriers(lanes, len(instances))
    counts = [len(table[0]) for table in (member, going_on, barriers)]
    lane, until, joins = (
        np.concatenate([table[column] for table in (member, going_on, barriers)]) for column in range(3)
    )
    return Arrivals(
        lane, until, joins, np.repeat([False, True, True], counts), np.repeat([True, False, True], counts)
    )


def _with_next_region(teams: Teams) -> Booleans:
    """Parts of lanes that begin another one where the region ends: there is no wait for its fork, which comes after the join."""
    is_next = np.zeros(len(teams.lane), np.bool_)
    is_next[:-1] = (teams.lane[1:] == teams.lane[:-1]) & (teams.begin[1:] == teams.released[:-1])
    is_next &= teams.lane != teams.forker
    return is_next


def _barriers(lanes: Lanes, first: int) -> tuple[Integers, Integers, Integers]:
    """Lane and end of each wait at a barrier, and which one it is, from `first` on."""
    tables = []
    for at, parts in enumerate(lanes.parts):
        begins = begins_of(parts, Role.WAIT)
        begins = begins[np.isin(parts.event("arg", begins), kinds_of(Doing.BARRIER))]
        instance = parts.event("b", begins)
        number, is_team = instance << 24 | ordinals(instance), instance > 0
        tables.append(
            (np.full(int(is_team.sum()), at, np.int64), parts.ends(begins)[is_team], number[is_team])
        )
    lane, until, number = (np.concatenate([table[column] for table in tables]) for column in range(3))
    _, join = numbered(number)
    return lane, until, join + first

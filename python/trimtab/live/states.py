"""What each lane does: its state now, and its shares of the interval between two moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.live.model import LaneLook, Shares
from trimtab.live.rows import Totals
from trimtab.live.tails import Tails
from trimtab.model.enumerations import WorkerState
from trimtab.readers import layout

_SHARES = Shares.__struct_fields__
_STATES = _SHARES
_BUSY, _CPU_WAIT, _BARRIER, _JOIN, _LOCK, _TASKS, _BLOCKED, _IDLE, _CAPPED = range(len(_STATES))
# Of workers that run no task.
_WORKER_STATES: dict[int, int] = {
    WorkerState.LOOKS: _TASKS,
    WorkerState.IDLE: _TASKS,
    WorkerState.CAPPED: _CAPPED,
}


def _kept(states: tuple[int, ...], otherwise: int) -> NDArray[np.int64]:
    """By state: itself where it is among these."""
    return np.array([state if state in states else otherwise for state in range(len(_STATES))])


# What a lane inside a region or task does, by what it mostly did. Off its CPU it probably waits for what it waited for last.
_STATES_OFF_CPU = _kept((_BARRIER, _LOCK, _TASKS, _BLOCKED), _BLOCKED)
_STATES_ON_CPU = _kept((_BARRIER, _LOCK, _TASKS, _CPU_WAIT), _BUSY)
# A lane that neither runs nor wants to in this share of an interval is asleep.
_ASLEEP = 0.02
_MOST_NAMED = 4


def _word(field: str) -> int:
    return (layout.FILE_HEADER.itemsize + layout.offset_of(layout.LANE_HEADER, field)) // 8


_TID, _END, _RUN, _DELAY, _WORKER, _IS_MAIN, _KIND = (
    _word(field) for field in ("tid", "end_ticks", "run_ns", "run_delay_ns", "worker_of", "is_main", "kind")
)
_TITLE = slice(_word("title"), _word("title") + 5)
_THREAD_NAME = slice(_word("name"), _word("name") + 2)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class Moment:
    """A process at one moment.

    Attributes:
        now: in ticks.
        headers: first pages of the lanes' files, as 64-bit words, a row a lane.
        subjects: (metric, subject), in the order of the totals.
        switched: of lanes: whether the last switch was off the CPU, whether it could have run on, and when.
    """

    now: int
    tick_s: float
    headers: NDArray[np.uint64]
    tails: Tails
    totals: Totals
    subjects: list[tuple[int, int]]
    switched: dict[int, tuple[bool, bool, int]]

    def interval_since(self, before: Moment | None) -> float | None:
        """Seconds; None: there is no moment before."""
        seconds = 0.0 if before is None else (self.now - before.now) * self.tick_s
        return seconds if seconds > 0 else None


def lane_looks(
    process: str, moment: Moment, before: Moment | None, label_of: Callable[[int], str]
) -> list[LaneLook]:
    """Lanes that are open."""
    headers = moment.headers
    shares = _shares(moment, before) if before is not None and moment.interval_since(before) else None
    is_open = (headers[:, _END] == 0).tolist()
    is_thread = (headers[:, _KIND] & _LOW == 0).tolist()
    tids = (headers[:, _TID] >> _HALF).tolist()
    states = [
        _STATES[code] if is_lane_open else ""
        for code, is_lane_open in zip(_state_codes(moment, shares).tolist(), is_open, strict=True)
    ]
    at_work = _at_work(moment, states)
    subjects = _top_subjects(moment, before)
    subjects = [
        tail.subject if tail.subject >= 0 else subject
        for tail, subject in zip(moment.tails.rows, subjects, strict=True)
    ]
    labels = {subject: label_of(subject) if subject >= 0 else None for subject in set(subjects)}
    names = _names(headers)
    rows = None if shares is None else shares.tolist()
    return [
        LaneLook(
            process,
            lane,
            names[lane],
            tids[lane] if is_thread[lane] else None,
            state,
            labels[subjects[lane]],
            _waits_for(moment, lane, state, at_work) if at_work or state == "lock" else (),
            None if rows is None else Shares(*rows[lane]),
        )
        for lane, state in enumerate(states)
        if state
    ]


def _names(headers: NDArray[np.uint64]) -> list[str]:
    return _decoded(headers[:, _TITLE].tobytes(), headers[:, _THREAD_NAME].tobytes(), len(headers))


@lru_cache(maxsize=64)
def _decoded(titles: bytes, threads: bytes, lanes: int) -> list[str]:
    """Most looks find them as they were. Not to be changed."""
    columns = [
        [
            text[at : at + len(text) // lanes].split(b"\0", 1)[0]
            for at in range(0, len(text), len(text) // lanes)
        ]
        for text in (titles, threads)
        if lanes
    ]
    return [(title or thread).decode("utf-8", "replace") for title, thread in zip(*columns, strict=True)]


def _shares(moment: Moment, before: Moment) -> NDArray[np.float64]:
    """A row a lane, in the order of the fields of `Shares`."""
    tails, before_tails = moment.tails, before.tails
    size, old = len(tails.rows), len(before_tails.rows)
    length = float(moment.now - before.now)

    now = moment.totals.times.copy()
    now[:2] += tails.open_times(moment.now)
    earlier = np.zeros_like(now)
    earlier[:, :old] = before.totals.times
    earlier[:2, :old] += before_tails.open_times(before.now)
    grown = np.minimum(np.maximum((now - earlier) / length, 0.0), 1.0)
    work, join, arrival, barrier, lock, tasks, runs, looks, parked, capped = grown
    join = join + arrival
    waits = barrier + lock + tasks
    # Waits that have ended are known by kind; `work` has them too where the part is still open.
    work = np.maximum(work - np.where(tails.has_part, waits, 0.0), 0.0)
    run, delay = _times(moment, before, _RUN), _times(moment, before, _DELAY)
    is_worker = (moment.headers[:, _WORKER] & _LOW) > 0
    # The first thread runs the program between regions; other members of teams have nothing to do there.
    is_member = moment.totals.has_rows | tails.was_in_team
    is_member &= (moment.headers[:, _IS_MAIN] >> _HALF) == 0
    rest_share = np.maximum(1.0 - work - join - waits, 0.0)
    program = work + np.where(is_member, 0.0, rest_share)
    join += np.where(is_member, rest_share, 0.0)
    if is_worker.any():
        program = np.where(is_worker, runs, program)
        tasks = np.where(is_worker, looks + parked, tasks)
        join[is_worker] = 0.0
    # A lane also spins, and lacks a CPU, while it waits: what it had of both is shared out evenly.
    awake = np.maximum(run + delay, _ASLEEP)
    blocked = np.minimum(np.maximum(program - awake, 0.0), 1.0)
    on_cpu = program - blocked
    cpu_wait = on_cpu * delay / awake
    rows = np.zeros((len(_SHARES), size))
    rows[_BUSY], rows[_CPU_WAIT], rows[_BARRIER], rows[_JOIN] = on_cpu - cpu_wait, cpu_wait, barrier, join
    rows[_LOCK], rows[_TASKS], rows[_BLOCKED], rows[_CAPPED] = (
        lock,
        tasks,
        blocked,
        np.where(is_worker, capped, 0.0),
    )
    total = rows.sum(axis=0)
    rows[_IDLE] = np.maximum(1.0 - total, 0.0)
    rows /= np.maximum(total, 1.0)
    rounded: NDArray[np.float64] = rows.round(4).T
    return rounded


def _times(moment: Moment, before: Moment, word: int) -> Any:
    """Shares of the interval by figures of the system, which the sampler writes every 40 ms or more rarely."""
    old = len(before.tails.rows)
    earlier = moment.headers[:, word].astype(np.float64)
    grown = earlier.copy()
    grown[:old] -= before.headers[:, word]
    grown[old:] = 0.0
    grown *= 1e-9 / ((moment.now - before.now) * moment.tick_s)
    return np.minimum(np.maximum(grown, 0.0), 1.0)


def _state_codes(moment: Moment, shares: NDArray[np.float64] | None) -> NDArray[np.int64]:
    """What each lane does now, by place in `_STATES`; where nothing says so, what it mostly did."""
    tails, workers = moment.tails, moment.totals.state
    is_off_cpu, could_run = np.zeros((2, len(workers)), np.bool_)
    for lane, (lacks_cpu, is_ready, _) in moment.switched.items():
        if lane < len(workers):
            is_off_cpu[lane], could_run[lane] = lacks_cpu, is_ready
    mostly = np.full(len(workers), _BUSY) if shares is None else shares.argmax(axis=1)
    inner_state = np.where(is_off_cpu | (mostly == _BLOCKED), _STATES_OFF_CPU[mostly], _STATES_ON_CPU[mostly])
    state = np.where(tails.is_awaiting, _JOIN, mostly)
    state = np.where(tails.has_part | (workers == WorkerState.RUNS), inner_state, state)
    state[is_off_cpu & could_run] = _CPU_WAIT
    for worker, code in _WORKER_STATES.items():
        state[workers == worker] = code
    return state


def _at_work(moment: Moment, states: list[str]) -> dict[int, list[int]]:
    """Lanes that are at work in each instance of a region, whom the others may wait for."""
    working_lanes: dict[int, list[int]] = {}
    for lane, tail in enumerate(moment.tails.rows):
        if tail.part.ticks and states[lane] in ("busy", "cpu_wait", "lock", "tasks"):
            working_lanes.setdefault(tail.part.instance, []).append(lane)
    return working_lanes


def _waits_for(moment: Moment, lane: int, state: str, at_work: dict[int, list[int]]) -> tuple[int, ...]:
    """Whom it waits for: at a join or barrier, who is still at work in the region; at a lock, who held locks longest."""
    if state == "lock":
        held = moment.totals.held.copy()
        held[lane] = 0
        return (int(held.argmax()),) if held.any() else ()
    if state not in ("join", "barrier", "blocked"):
        return ()
    tail = moment.tails.rows[lane]
    instance = tail.part.instance if tail.part.ticks else tail.last_instance
    others = at_work.get(instance, []) if instance else []
    return tuple(other for other in others[: _MOST_NAMED + 1] if other != lane)[:_MOST_NAMED]


def _top_subjects(moment: Moment, before: Moment | None) -> list[int]:
    """Of each lane the subject that took most of its time in the interval; -1: none did."""
    size = len(moment.tails.rows)
    if not moment.subjects or before is None:
        return [-1] * size
    grown = moment.totals.by_lane.copy()
    at = {key: place for place, key in enumerate(before.subjects)}
    places = [(place, at[key]) for place, key in enumerate(moment.subjects) if key in at]
    if places:
        now, earlier = zip(*places, strict=True)
        grown[np.ix_(range(len(before.tails.rows)), now)] -= before.totals.by_lane[:, list(earlier)]
    best = grown.argmax(axis=1)
    return [
        moment.subjects[place][1] if grown[lane, place] > 0 else -1
        for lane, place in enumerate(best.tolist())
    ]

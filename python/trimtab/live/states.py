"""What each lane does: its state now, and its shares of the interval between two moments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
_WORKER_STATES: dict[int, str] = {
    WorkerState.RUNS: "busy",
    WorkerState.LOOKS: "tasks",
    WorkerState.IDLE: "tasks",
    WorkerState.CAPPED: "capped",
}
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
_NOT_SWITCHED = (False, False, 0)


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
    workers = moment.totals.state.tolist()
    running = moment.tails.running
    states = [
        _state(moment, lane, workers[lane], running, shares[lane] if shares else None)
        if is_open[lane]
        else ""
        for lane in range(len(headers))
    ]
    at_work = _at_work(moment, states)
    subjects = _top_subjects(moment, before)
    names = _names(headers)
    looks = []
    for lane, state in enumerate(states):
        if not state:
            continue
        subject = moment.tails.rows[lane].subject
        subject = subject if subject >= 0 else subjects[lane]
        looks.append(
            LaneLook(
                process,
                lane,
                names[lane],
                tids[lane] if is_thread[lane] else None,
                state,
                label_of(subject) if subject >= 0 else None,
                _waits_for(moment, lane, state, at_work),
                Shares(*shares[lane]) if shares else None,
            )
        )
    return looks


def _names(headers: NDArray[np.uint64]) -> list[str]:
    titles, threads = headers[:, _TITLE].tobytes(), headers[:, _THREAD_NAME].tobytes()
    title_bytes, thread_bytes = 8 * (_TITLE.stop - _TITLE.start), 8 * (_THREAD_NAME.stop - _THREAD_NAME.start)
    return [
        _decoded(
            titles[lane * title_bytes : (lane + 1) * title_bytes],
            threads[lane * thread_bytes : (lane + 1) * thread_bytes],
        )
        for lane in range(len(headers))
    ]


@lru_cache(maxsize=4096)
def _decoded(title: bytes, name: bytes) -> str:
    return (title.split(b"\0", 1)[0] or name.split(b"\0", 1)[0]).decode("utf-8", "replace")


def _shares(moment: Moment, before: Moment) -> list[list[float]]:
    """A row a lane, in the order of the fields of `Shares`."""
    tails, before_tails = moment.tails, before.tails
    size, old = len(tails.rows), len(before_tails.rows)
    length = float(moment.now - before.now)

    def grown(name: str, extra: Any = None, extra_before: Any = None) -> Any:
        now, then = getattr(moment.totals, name), np.zeros(size)
        then[:old] = getattr(before.totals, name)
        if extra is not None:
            now, then[:old] = now + extra, then[:old] + extra_before
        return np.clip((now - then) / length, 0.0, 1.0)

    open_now, open_before = tails.open_times(moment.now), before_tails.open_times(before.now)
    work = grown("work", open_now[0], open_before[0])
    join = grown("join", open_now[1], open_before[1]) + grown("arrival")
    inner = {name: grown(name) for name in ("barrier", "lock", "tasks")}
    waits = sum(inner.values())
    # Waits that have ended are known by kind; `work` has them too where the part is still open.
    work = np.clip(work - np.where(tails.has_part, waits, 0.0), 0.0, 1.0)
    run, delay = _times(moment, before, _RUN), _times(moment, before, _DELAY)
    is_worker = (moment.headers[:, _WORKER] & _LOW) > 0
    has_team = moment.totals.has_rows | tails.was_in_team
    is_main = (moment.headers[:, _IS_MAIN] >> _HALF) > 0
    idle = np.zeros(size)
    outside = np.clip(1.0 - work - join - waits, 0.0, 1.0)
    # The first thread runs the program between regions; other members of teams have nothing to do there.
    program = np.where(has_team & ~is_main, work, work + outside)
    join = join + np.where(has_team & ~is_main, outside, 0.0)
    program = np.where(is_worker, grown("runs"), program)
    inner["tasks"] = np.where(is_worker, grown("looks") + grown("parked"), inner["tasks"])
    capped = np.where(is_worker, grown("capped"), 0.0)
    join = np.where(is_worker, 0.0, join)
    # A lane also spins, and lacks a CPU, while it waits: what it had of both is shared out evenly.
    awake = np.maximum(run + delay, _ASLEEP)
    blocked = np.clip(program - awake, 0.0, 1.0)
    cpu_wait = (program - blocked) * delay / awake
    busy = program - blocked - cpu_wait
    columns = np.stack(
        [busy, cpu_wait, inner["barrier"], join, inner["lock"], inner["tasks"], blocked, idle, capped], axis=1
    )
    total = columns.sum(axis=1)
    columns[:, _SHARES.index("idle")] = np.where(total < 1.0, 1.0 - total, 0.0)
    columns /= np.maximum(total, 1.0)[:, None]
    rows: list[list[float]] = np.round(columns, 4).tolist()
    return rows


def _times(moment: Moment, before: Moment, word: int) -> Any:
    """Shares of the interval by figures of the system, which the sampler writes every 40 ms or more rarely."""
    old = len(before.tails.rows)
    then = moment.headers[:, word].astype(np.float64)
    grown = then.copy()
    grown[:old] -= before.headers[:, word]
    grown[old:] = 0.0
    return np.clip(grown * 1e-9 / ((moment.now - before.now) * moment.tick_s), 0.0, 1.0)


def _state(moment: Moment, lane: int, worker: int, running: Mapping[int, int], shares: list[float] | None) -> str:
    """What it does now; where nothing says so, what it mostly did. `running`: instances of regions that are."""
    tail = moment.tails.rows[lane]
    off, could_run, _ = moment.switched.get(lane, _NOT_SWITCHED)
    if worker in _WORKER_STATES and worker != WorkerState.RUNS:
        return _WORKER_STATES[worker]
    if off and could_run:
        return "cpu_wait"
    mostly = _SHARES[shares.index(max(shares))] if shares is not None else ""
    if tail.part.ticks or worker == WorkerState.RUNS:
        if off or mostly == "blocked":
            # Off its CPU inside a region: what it waited for last, it probably waits for again.
            return mostly if mostly in ("barrier", "lock", "tasks", "blocked") else "blocked"
        return mostly if mostly in ("barrier", "lock", "tasks", "cpu_wait") else "busy"
    if tail.last_end and tail.last_instance in running:
        return "join"
    return mostly or "busy"


def _at_work(moment: Moment, states: list[str]) -> dict[int, list[int]]:
    """Lanes that are at work in each instance of a region, whom the others may wait for."""
    found: dict[int, list[int]] = {}
    for lane, tail in enumerate(moment.tails.rows):
        if tail.part.ticks and states[lane] in ("busy", "cpu_wait", "lock", "tasks"):
            found.setdefault(tail.part.instance, []).append(lane)
    return found


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
        now, then = zip(*places, strict=True)
        grown[np.ix_(range(len(before.tails.rows)), now)] -= before.totals.by_lane[:, list(then)]
    best = grown.argmax(axis=1)
    return [
        moment.subjects[place][1] if grown[lane, place] > 0 else -1
        for lane, place in enumerate(best.tolist())
    ]

"""The newest events of each lane: which region, part, task or scope it is in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Records
from trimtab.model.enumerations import EventKind
from trimtab.readers import layout

LENGTH = 32
# Region, part, inner (task) and scope.
_PAIRS = (
    (EventKind.REGION_BEGIN, EventKind.REGION_END),
    (EventKind.WORK_BEGIN, EventKind.WORK_END),
    (EventKind.TASK_BEGIN, EventKind.TASK_END),
    (EventKind.SCOPE_BEGIN, EventKind.SCOPE_END),
)


class Opened(NamedTuple):
    """What a lane has begun and not ended; ticks 0: nothing.

    Attributes:
        subject: of the innermost.
        outer_ticks: when the outermost began.
        instance: of the outermost region.
    """

    ticks: int = 0
    subject: int = -1
    outer_ticks: int = 0
    instance: int = 0


NOTHING = Opened()


class Tail(NamedTuple):
    """What a lane is in.

    Attributes:
        last_end: ticks of the last end of a part; 0: none is known.
        last_instance: its instance.
        subject: the subject that it is in; -1: none.
    """

    region: Opened = NOTHING
    part: Opened = NOTHING
    inner: Opened = NOTHING
    scope: Opened = NOTHING
    last_end: int = 0
    last_instance: int = 0
    subject: int = -1


class Tails:
    """Those of all lanes of a process, and what looks need of them together. They do not change."""

    def __init__(self, rows: Sequence[Tail]) -> None:
        self.rows = rows

    @cached_property
    def running(self) -> dict[int, int]:
        """Instances of regions that run, and when the outermost region around each began, ticks."""
        return {tail.region.instance: tail.region.outer_ticks for tail in self.rows if tail.region.ticks}

    @cached_property
    def has_part(self) -> NDArray[np.bool_]:
        """Of each lane, whether it is in a part of a region."""
        return np.array([tail.part.ticks > 0 for tail in self.rows], np.bool_)

    @cached_property
    def was_in_team(self) -> NDArray[np.bool_]:
        """Of each lane, whether it is or was in a part of a region."""
        return np.array([bool(tail.part.ticks or tail.last_end) for tail in self.rows], np.bool_)

    @cached_property
    def part_since(self) -> NDArray[np.float64]:
        """When each lane's open part began, ticks; infinite: there is none."""
        return np.array(
            [tail.part.outer_ticks if tail.part.ticks else np.inf for tail in self.rows], np.float64
        )

    @cached_property
    def ended_parts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of lanes whose last part has ended and whose region runs: how long they worked in it, and since when they wait (infinite: they do not)."""
        work, waits_since = np.zeros(len(self.rows)), np.full(len(self.rows), np.inf)
        for lane, tail in enumerate(self.rows):
            if not tail.part.ticks and tail.last_end and tail.last_instance in self.running:
                begin = self.running[tail.last_instance]
                work[lane] = max(tail.last_end - begin, 0)
                waits_since[lane] = max(tail.last_end, begin)
        return work, waits_since

    @cached_property
    def is_awaiting(self) -> NDArray[np.bool_]:
        """Of each lane, whether it has ended its part of a region that runs."""
        return np.isfinite(self.ended_parts[1])

    def open_times(self, now: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Work and waiting at the join, in ticks, of parts whose region has not ended: profile rows do not have them yet."""
        work, waits_since = self.ended_parts
        return work + np.maximum(now - self.part_since, 0.0), np.maximum(now - waits_since, 0.0)


def tails_of(newest: Sequence[Records], before: Sequence[Tail]) -> list[Tail]:
    """The tails of lanes with these newest events, each with what it was before."""
    if not newest:
        return []
    # All lanes at once, the newest event first; what is missing is of kind none.
    events = np.zeros((len(newest), LENGTH), layout.EVENT)
    for lane, records in enumerate(newest):
        events[lane, : len(records)] = records[::-1]
    kinds = np.ascontiguousarray(events["kind"])
    # Events are older than this only where they were overwritten.
    oldest = np.where(kinds[:, -1] != EventKind.NONE, events["ticks"][:, -1], 0).tolist()
    opened = [_opened(events, kinds, *pair) for pair in _PAIRS]
    is_end = kinds == EventKind.WORK_END
    has_end, ends = is_end.any(axis=1).tolist(), events[np.arange(len(newest)), is_end.argmax(axis=1)]
    ticks, instances = ends["ticks"].tolist(), ends["a"].tolist()
    tails = []
    for lane, old in enumerate(before):
        oldest_ticks = oldest[lane]
        region = _chosen(opened[0], lane, old.region, oldest_ticks)
        part = _chosen(opened[1], lane, old.part, oldest_ticks)
        inner = _chosen(opened[2], lane, old.inner, oldest_ticks)
        scope = _chosen(opened[3], lane, old.scope, oldest_ticks)
        # Of equal ones the first: as `max` has it, and in less time.
        newest_of = region if region.ticks >= part.ticks else part
        newest_of = newest_of if newest_of.ticks >= inner.ticks else inner
        newest_of = newest_of if newest_of.ticks >= scope.ticks else scope
        end, instance = (ticks[lane], instances[lane]) if has_end[lane] else (old.last_end, old.last_instance)
        tails.append(Tail(region, part, inner, scope, end, instance, newest_of.subject))
    return tails


def _opened(events: Records, kinds: Records, begin: int, end: int) -> list[Opened | None] | None:
    """What is open in each row. None: nothing in a row, or in any, says; an older event may."""
    is_begin, is_end = kinds == begin, kinds == end
    rows = np.flatnonzero((is_begin | is_end).any(axis=1))
    if not len(rows):
        return None
    balance = (is_begin[rows].astype(np.int8) - is_end[rows]).cumsum(axis=1, dtype=np.int8)
    depth = balance.max(axis=1)
    inner = events[rows, (balance >= 1).argmax(axis=1)]
    outer = events[rows, (balance >= depth[:, None]).argmax(axis=1)]
    columns = zip(
        rows.tolist(),
        (depth >= 1).tolist(),
        inner["ticks"].tolist(),
        inner["subject"].tolist(),
        outer["ticks"].tolist(),
        outer["a"].tolist(),
        strict=True,
    )
    opened: list[Opened | None] = [None] * len(events)
    for row, is_open, *begun in columns:
        opened[row] = Opened(*begun) if is_open else NOTHING
    return opened


def _chosen(found: list[Opened | None] | None, lane: int, old: Opened, oldest: int) -> Opened:
    """What was open before its events were overwritten still is, unless others say more; where none were, nothing was."""
    told = found[lane] if found is not None else None
    if told is not None:
        return told
    return old if 0 < old.ticks < oldest else NOTHING

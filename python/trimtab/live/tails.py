"""The newest events of each lane: which region, part, task or scope it is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.model import Records
from trimtab.model.enumerations import EventKind
from trimtab.readers import layout

LENGTH = 48
_PAIRS = {
    "region": (EventKind.REGION_BEGIN, EventKind.REGION_END),
    "part": (EventKind.WORK_BEGIN, EventKind.WORK_END),
    "inner": (EventKind.TASK_BEGIN, EventKind.TASK_END),
    "scope": (EventKind.SCOPE_BEGIN, EventKind.SCOPE_END),
}


@dataclass(frozen=True)
class Opened:
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


@dataclass(frozen=True)
class Tail:
    """What a lane is in.

    Attributes:
        last_end: ticks of the last end of a part; 0: none is known.
        last_instance: its instance.
    """

    region: Opened = NOTHING
    part: Opened = NOTHING
    inner: Opened = NOTHING
    scope: Opened = NOTHING
    last_end: int = 0
    last_instance: int = 0
    last_wait: int = 0

    @property
    def subject(self) -> int:
        """The subject that it is in; -1: none."""
        candidates = (self.region, self.part, self.inner, self.scope)
        return max(candidates, key=lambda opened: opened.ticks).subject


def tails_of(newest: Sequence[Records], before: Sequence[Tail]) -> list[Tail]:
    """The tails of lanes with these newest events, each with what it was before."""
    if not newest:
        return []
    # All lanes at once, the newest event first; what is missing is of kind none.
    events = np.zeros((len(newest), LENGTH), layout.EVENT)
    for lane, records in enumerate(newest):
        events[lane, : len(records)] = records[::-1]
    kinds = events["kind"]
    opened = {name: _opened(events, kinds, *pair) for name, pair in _PAIRS.items()}
    is_end = kinds == EventKind.WORK_END
    has_end, end_at = is_end.any(axis=1), is_end.argmax(axis=1)
    is_wait = kinds == EventKind.WAIT
    has_wait, wait_at = is_wait.any(axis=1), is_wait.argmax(axis=1)
    tails = []
    for lane, old in enumerate(before):
        oldest = int(newest[lane]["ticks"][0]) if len(newest[lane]) == LENGTH else 0
        parts = {name: _kept(opened[name][lane], getattr(old, name), oldest) for name in _PAIRS}
        end = events[lane, end_at[lane]]
        wait = events[lane, wait_at[lane]]
        tails.append(
            Tail(
                **parts,
                last_end=int(end["ticks"]) if has_end[lane] else old.last_end,
                last_instance=int(end["a"]) if has_end[lane] else old.last_instance,
                last_wait=int(wait["subject"]) if has_wait[lane] else -1,
            )
        )
    return tails


def _opened(events: Records, kinds: Records, begin: int, end: int) -> list[Opened | None]:
    """What is open in each row; None: nothing in it says, an older event may."""
    step = (kinds == begin).astype(np.int64) - (kinds == end)
    balance = step.cumsum(axis=1)
    depth = balance.max(axis=1)
    innermost, outermost = (balance >= 1).argmax(axis=1), (balance >= depth[:, None]).argmax(axis=1)
    is_silent = (step == 0).all(axis=1)
    rows = np.arange(len(events))
    inner, outer = events[rows, innermost], events[rows, outermost]
    found: list[Opened | None] = []
    for lane, is_open in enumerate((depth >= 1).tolist()):
        if is_open:
            found.append(
                Opened(
                    int(inner["ticks"][lane]),
                    int(inner["subject"][lane]),
                    int(outer["ticks"][lane]),
                    int(outer["a"][lane]),
                )
            )
        else:
            found.append(None if is_silent[lane] else NOTHING)
    return found


def _kept(found: Opened | None, old: Opened, oldest: int) -> Opened:
    """What was open before its events were overwritten still is; where none were, nothing was."""
    if found is not None:
        return found
    return old if oldest and 0 < old.ticks < oldest else NOTHING

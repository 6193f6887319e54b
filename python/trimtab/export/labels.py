"""What viewers write on slices and instants: names, categories, and the figures that belong to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import CAUSES, SCHEDULES, WAITS, Records
from trimtab.model.enumerations import LEAVE_CAUSES, EventKind, WorkerState
from trimtab.traces.slices import Role, Slices

CATEGORIES = {
    Role.REGION: "region",
    Role.WORK: "work",
    Role.TASK: "task",
    Role.SCOPE: "scope",
    Role.LOOP: "loop",
    Role.WAIT: "wait",
    Role.CHUNK: "chunk",
    Role.LOCK: "lock",
    Role.LOCK_WAIT: "wait",
    Role.SINGLE: "single",
    Role.TASK_CREATED: "task",
    Role.TASK_READY: "task",
    Role.MARK: "mark",
    Role.THREAD_BEGIN: "thread",
    Role.THREAD_END: "thread",
    Role.STATE: "worker",
    Role.PART: "task",
    Role.SUSPENDED: "task",
    Role.GIVES: "task",
    Role.SENDS: "task",
    Role.LEAVES: "task",
}
# Figures beside the name: what they are called, the field that has them, and whether it is signed. Names that end
# in "_ns" are of ticks.
FIGURES: dict[Role, tuple[tuple[str, str, bool], ...]] = {
    Role.WORK: (("thread", "b", False),),
    Role.TASK: (("task", "a", False),),
    Role.LOOP: (("iterations", "b", False),),
    Role.CHUNK: (("iterations", "a", False), ("first", "b", True)),
    Role.TASK_CREATED: (("task", "a", False),),
    Role.TASK_READY: (("task", "a", False), ("by", "b", False)),
    Role.PART: (("task", "a", False), ("suspended_ns", "b", False)),
    Role.SUSPENDED: (("task", "a", False), ("waits for", "b", False)),
    Role.GIVES: (("task", "a", False), ("to", "b", False)),
    Role.SENDS: (("parcel", "a", False), ("task", "b", False)),
    Role.LEAVES: (("parcel", "a", False), ("message", "b", False)),
    Role.THREAD_BEGIN: (("tid", "a", False),),
    Role.THREAD_END: (("tid", "a", False),),
}
_TOLD_BY_ARG = [
    int(role)
    for role in (Role.LOOP, Role.WAIT, Role.SINGLE, Role.STATE, Role.SUSPENDED, Role.GIVES, Role.LEAVES)
]
# What says more is damaged.
_LONGEST_NS = 2.0**62
_STATES: dict[int, str] = {
    WorkerState.LOOKS: "looks for tasks",
    WorkerState.IDLE: "no task",
    WorkerState.CAPPED: "held back by the cap",
}


def has_figures(events: Records, role: Role, source: NDArray[np.int64]) -> NDArray[np.bool_]:
    """False for a part in a region whose begin was lost: its end has other figures."""
    if role != Role.WORK:
        return np.ones(len(source), np.bool_)
    has_figures_mask: NDArray[np.bool_] = events["kind"][source] != EventKind.WORK_END
    return has_figures_mask


def figure_of(events: Records, name: str, field: str, source: NDArray[np.int64], ns_per_tick: float) -> Any:
    """The values of a figure of the items of `source`."""
    values = events[field][source]
    if not name.endswith("_ns"):
        return values
    return np.minimum(values.astype(np.float64) * ns_per_tick, _LONGEST_NS).astype(np.uint64)


class Namer:
    """Numbers for the names of a lane's slices, given out block by block."""

    def __init__(self, places: Mapping[int, Any]) -> None:
        self._places = places
        self._numbers: dict[int, int] = {}
        self._by_name: dict[str, int] = {}
        self.names: list[str] = []

    def numbers(self, slices: Slices, events: Records, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number (from 0, into `names`) of each of the `chosen` items."""
        keys, inverse = name_keys(slices, events, chosen)
        numbers_by_key = np.array([self._number(key) for key in keys.tolist()], np.int64)
        numbers: NDArray[np.int64] = numbers_by_key[inverse]
        return numbers

    def _number(self, key: int) -> int:
        if key not in self._numbers:
            name = name_of(key, self._places)
            if name not in self._by_name:
                self._by_name[name] = len(self.names)
                self.names.append(name)
            self._numbers[key] = self._by_name[name]
        return self._numbers[key]


def name_keys(
    slices: Slices, events: Records, chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What items are named by: role << 48 | arg << 32 | subject, each different one once; and which one each item has."""
    source = slices.source[chosen]
    role = slices.role[chosen].astype(np.int64)
    is_named_by_arg = np.isin(role, _TOLD_BY_ARG)
    arg = np.where(is_named_by_arg, events["arg"][source], 0).astype(np.int64)
    keys, inverse = np.unique(
        (role << 48) | (arg << 32) | events["subject"][source].astype(np.int64), return_inverse=True
    )
    return keys, inverse.reshape(-1)


def name_of(key: int, places: Mapping[int, Any]) -> str:
    """The name of items with that key."""
    return _name(Role(key >> 48), (key >> 32) & 0xFFFF, str(places[key & 0xFFFFFFFF][0]))


def _name(role: Role, arg: int, place: str) -> str:
    if role == Role.LOOP:
        return f"loop {place}, {SCHEDULES.get(arg) or 'no schedule'}"
    if role == Role.WAIT:
        return f"wait: {WAITS.get(arg, 'other')} {place}"
    if role == Role.SINGLE:
        return f"single {place}, {'executed' if arg else 'passed'}"
    if role == Role.STATE:
        return _STATES.get(arg, "other state")
    if role == Role.SUSPENDED:
        return f"suspends: waits for {CAUSES.get(arg, 'other')}"
    if role == Role.GIVES:
        return f"gives: {CAUSES.get(arg, 'other')}"
    if role == Role.LEAVES:
        return f"parcel leaves the queue: {LEAVE_CAUSES.get(arg, 'other')}"
    before = {
        Role.REGION: "region ",
        Role.TASK: "task ",
        Role.PART: "task ",
        Role.CHUNK: "chunk ",
        Role.LOCK: "critical ",
        Role.LOCK_WAIT: "wait: critical ",
        Role.TASK_CREATED: "creates task ",
        Role.TASK_READY: "task ready ",
        Role.SENDS: "sends ",
    }
    if role in (Role.THREAD_BEGIN, Role.THREAD_END):
        return "thread begins" if role == Role.THREAD_BEGIN else "thread ends"
    return before.get(role, "") + place

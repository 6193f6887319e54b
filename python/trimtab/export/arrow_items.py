"""Which slices and instants of a lane arrows leave and enter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.traces.slices import Role, Slices

_ROLES = [
    int(role)
    for role in (Role.TASK, Role.PART, Role.TASK_CREATED, Role.TASK_READY, Role.GIVES, Role.SENDS, Role.LOCK)
]


@dataclass(frozen=True)
class ArrowItems:
    """For each begin, end and instant of a lane whether arrows leave and enter it.

    A slice that is cut in pieces, since it crosses another, is entered at the first of them and left at the last.
    """

    leaving: NDArray[np.bool_]
    entering: NDArray[np.bool_]

    @staticmethod
    def none() -> ArrowItems:
        """Of a lane without items."""
        return ArrowItems(np.empty(0, np.bool_), np.empty(0, np.bool_))

    @staticmethod
    def of(slices: Slices) -> ArrowItems:
        """Of all the lane's."""
        shown = np.isin(slices.role, _ROLES) & (slices.change != -1)
        if not slices.is_cut:
            return ArrowItems(shown, shown)
        return ArrowItems(_last_of_each_event(slices, shown), _first_of_each_event(slices, shown))

    def entering_after_waits(self, slices: Slices) -> ArrowItems:
        """These, but locks that were waited for are entered where the wait ends: the slice of a lock begins with its wait."""
        had = (slices.role == Role.LOCK_WAIT) & (slices.change == -1)
        if slices.is_cut:
            had = _last_of_each_event(slices, had)
        waited = (slices.role == Role.LOCK) & np.isin(slices.source, slices.source[had])
        return ArrowItems(self.leaving, (self.entering & ~waited) | had)


def _first_of_each_event(slices: Slices, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    items = np.flatnonzero(chosen)
    return _only(chosen, items[_first_places(slices, items)])


def _last_of_each_event(slices: Slices, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of the items that are `chosen` the last of each event and role."""
    items = np.flatnonzero(chosen)[::-1]
    return _only(chosen, items[_first_places(slices, items)])


def _first_places(slices: Slices, items: NDArray[np.int64]) -> NDArray[np.int64]:
    keys = slices.source[items].astype(np.int64) << 8 | slices.role[items]
    places: NDArray[np.int64] = np.unique(keys, return_index=True)[1]
    return places


def _only(chosen: NDArray[np.bool_], items: NDArray[np.int64]) -> NDArray[np.bool_]:
    only = np.zeros_like(chosen)
    only[items] = True
    return only

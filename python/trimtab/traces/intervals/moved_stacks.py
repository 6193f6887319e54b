"""Tasks whose stack another worker took over: here they end when it left.

A worker may run a task on top of one that waits. If the upper one is suspended, both leave the worker with their stack. Where the
upper one is resumed by another worker, the lower one goes on there, and its end is recorded there.
"""

from __future__ import annotations

import numpy as np

from trimtab.model import Records
from trimtab.model.enumerations import EventKind, WorkerState
from trimtab.traces.intervals.model import Integers
from trimtab.traces.slices import Role, Slices

_TASKS = (int(Role.TASK), int(Role.PART))
_NEVER = np.iinfo(np.int64).max


def end_of_worker(events: Records, end_ticks: int) -> int:
    """When a worker said that it ended, if it did nothing afterwards; else the end of its process, ticks."""
    states = np.flatnonzero(events["kind"] == EventKind.WORKER_STATE)
    if not len(states) or events["arg"][states[-1]] != WorkerState.NONE:
        return end_ticks
    is_last = bool((events["kind"][states[-1] + 1 :] == EventKind.THREAD_END).all())
    return min(int(events["ticks"][states[-1]]), end_ticks) if is_last else end_ticks


def left_at(slices: Slices, events: Records, changing: Integers, parent: Integers) -> Integers:
    """When the stack of each task left the lane on which its end is not recorded; of all others a moment behind the end of time.

    Args:
        changing: places of the begins and ends of slices; the result has a value for each of them.
        parent: of each of these the begin around it, by its place among them; -1: none.
    """
    left_ticks = np.full(len(changing), _NEVER, np.int64)
    begins = np.flatnonzero((slices.change[changing] == 1) & np.isin(slices.role[changing], _TASKS))
    partner = slices.partner[changing[begins]]
    is_open = np.zeros(len(changing), np.bool_)
    is_open[begins] = slices.source[changing[begins]] == slices.source[partner]
    last = slices.source[partner]
    is_upper = is_open[np.maximum(parent[begins], 0)] & (parent[begins] >= 0) & ~is_open[begins]
    is_upper &= events["kind"][last] == EventKind.TASK_SUSPENDED
    begins, last, partner = begins[is_upper], last[is_upper], partner[is_upper]
    has_left = _next_resumption(events, last) == _NEVER
    np.minimum.at(left_ticks, parent[begins[has_left]], slices.ticks[partner[has_left]])
    return left_ticks


def _next_resumption(events: Records, suspensions: Integers) -> Integers:
    """The place of the event with which the lane resumes each task again."""
    resumed = np.flatnonzero(events["kind"] == EventKind.TASK_RESUMED)
    order = resumed[np.lexsort((resumed, events["a"][resumed]))]
    task, wanted = events["a"][order], events["a"][suspensions]
    begins, ends = np.searchsorted(task, wanted, "left"), np.searchsorted(task, wanted, "right")
    following = np.full(len(suspensions), _NEVER, np.int64)
    for row, (low, high) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        at = low + int(np.searchsorted(order[low:high], suspensions[row]))
        if at < high:
            following[row] = order[at]
    return following

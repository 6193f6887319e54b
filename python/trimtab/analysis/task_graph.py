"""Which kinds of task create which, and which depend on which, over all processes of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimtab.traces.tasks import NO_TASK, TaskState, TaskTable

Integers = NDArray[np.int64]
OUTSIDE = -1


@dataclass(frozen=True)
class GraphKind:
    """A kind of task; `total_s`: active time of all its tasks."""

    name: str
    count: int
    total_s: float

    @property
    def mean_s(self) -> float:
        return self.total_s / self.count if self.count else 0.0


@dataclass(frozen=True)
class GraphEdge:
    """Tasks of kind `giver` created tasks of kind `receiver`, or gave them something that they waited for.

    `count` is of pairs of tasks; `giver` may be OUTSIDE: code outside of all tasks.
    """

    giver: int
    receiver: int
    is_creation: bool
    count: int


@dataclass(frozen=True)
class TaskGraph:
    """Kinds by most active time; edges know them by their place."""

    kinds: tuple[GraphKind, ...]
    edges: tuple[GraphEdge, ...]


@dataclass(frozen=True)
class NamedTasks:
    """The tasks of a process, and by subject a key that is the same in all processes, and a name."""

    table: TaskTable
    keys: Mapping[int, str]
    names: Mapping[int, str]


_Sums = dict[str, tuple[str, int, float]]
_Edges = dict[tuple[str | None, str, bool], int]


def task_graph_of(processes: Iterable[NamedTasks]) -> TaskGraph:
    """Of explicit tasks, and of regions whose implicit tasks created or enabled some."""
    sums: _Sums = {}
    edges: _Edges = {}
    for process in processes:
        _add_edges(process, edges)
        _add_kinds(process, sums)
    linked = {key for giver, receiver, _ in edges for key in (giver, receiver)}
    explicit = {key for process in processes for key in _explicit_keys(process)}
    order = sorted(
        (key for key in sums if key in linked or key in explicit),
        key=lambda key: (-sums[key][2], sums[key][0], key),
    )
    place: dict[str | None, int] = {None: OUTSIDE, **{key: at for at, key in enumerate(order)}}
    kinds = tuple(GraphKind(*sums[key]) for key in order)
    rows = [
        GraphEdge(place[giver], place[receiver], is_creation, count)
        for (giver, receiver, is_creation), count in edges.items()
    ]
    return TaskGraph(kinds, tuple(sorted(rows, key=lambda row: (row.giver, row.receiver, row.is_creation))))


def _explicit_keys(process: NamedTasks) -> list[str]:
    table = process.table
    return [process.keys[int(subject)] for subject in np.unique(table.subject[table.is_explicit])]


def _add_kinds(process: NamedTasks, sums: _Sums) -> None:
    table = process.table
    subjects, place = np.unique(table.subject, return_inverse=True)
    stays = table.stays.pick(table.stays.state == TaskState.RUNNING)
    length = (stays.end_ns - stays.begin_ns) * 1e-9
    seconds = np.bincount(place[stays.task], length, len(subjects))
    counts = np.bincount(place, minlength=len(subjects))
    for subject, count, total in zip(subjects.tolist(), counts.tolist(), seconds.tolist(), strict=True):
        key = process.keys[subject]
        _, count_before, total_before = sums.get(key, ("", 0, 0.0))
        sums[key] = (process.names[subject], count_before + count, total_before + total)


def _add_edges(process: NamedTasks, edges: _Edges) -> None:
    table, gifts = process.table, process.table.gifts
    creations = gifts.pick(gifts.is_creation)
    # What made a task ready without being its creator; a reported dependence says the same, so pairs count once.
    others = gifts.pick(~gifts.is_creation & (gifts.giver != NO_TASK))
    creator = np.full(len(table), NO_TASK, np.int64)
    creator[creations.receiver] = creations.giver
    is_dependence = others.is_edge | (others.giver != creator[others.receiver])
    others = others.pick(is_dependence & (others.giver != others.receiver))
    for is_creation, givers, receivers in (
        (True, creations.giver, creations.receiver),
        (False, others.giver, others.receiver),
    ):
        pairs = np.unique(np.stack([givers, receivers], axis=1), axis=0)
        for giver, receiver, count in _by_kind(table, pairs):
            key = (process.keys[giver] if giver != OUTSIDE else None, process.keys[receiver], is_creation)
            edges[key] = edges.get(key, 0) + count


def _by_kind(table: TaskTable, pairs: Integers) -> list[tuple[int, int, int]]:
    subject = table.subject.astype(np.int64)
    if not len(pairs):
        return []
    giver = np.where(pairs[:, 0] == NO_TASK, OUTSIDE, subject[np.maximum(pairs[:, 0], 0)])
    kinds, counts = np.unique(np.stack([giver, subject[pairs[:, 1]]], axis=1), axis=0, return_counts=True)
    return [(*row, count) for row, count in zip(kinds.tolist(), counts.tolist(), strict=True)]

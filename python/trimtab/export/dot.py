"""The graph of tasks for Graphviz: who made whom, and who waited for whom; of many tasks one node for each kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

from trimtab.escapes import printable
from trimtab.export.edges import EdgePart, Ends, edge_parts
from trimtab.export.source import Integers, View
from trimtab.model import NO_SUBJECT
from trimtab.traces.arrows import EdgeKind, edge_kind_name
from trimtab.traces.slices import Role

# A drawing with more nodes shows nothing, and Graphviz takes minutes for it.
MOST_TASKS = 1000
_NO_TASKS = (EdgeKind.GOES_ON, EdgeKind.LOCK)
_TICKS_PER_MS = 1e6


@dataclass(frozen=True)
class _Tasks:
    """The tasks of a process with an identity: number, subject, and time on lanes, nanoseconds."""

    view: View
    place: int
    task: Integers
    subject: Integers
    ns: Integers


def write_dot(views: Sequence[View], stream: IO[bytes], most_tasks: int) -> str | None:
    """The graph; returns what is to be said of it, if its tasks were too many to show each."""
    tables = [_tasks(view, place) for place, view in enumerate(views)]
    count = sum(len(table.task) for table in tables)
    is_merged = count > most_tasks
    note = f"{count:,} tasks are more than {most_tasks:,}: each node is a kind of task (--max-tasks changes that)"
    label = f"{note}; numbers beside edges count them" if is_merged else f"{count:,} tasks"
    lines = ["digraph tasks {", f"  label={_quoted(label)};", "  node [shape=box];"]
    for table in tables:
        lines += _cluster(table, is_merged)
    by_place = {id(view): place for place, view in enumerate(views)}
    known = [frozenset(table.task.tolist()) for table in tables]
    subjects = [dict(zip(table.task.tolist(), table.subject.tolist(), strict=True)) for table in tables]
    counts: dict[tuple[str, str, int], int] = {}
    for part in edge_parts(views):
        pairs = _pairs(part, by_place, known)
        for kind, (from_place, from_task), (to_place, to_task) in pairs:
            if is_merged:
                from_task, to_task = subjects[from_place][from_task], subjects[to_place][to_task]
            ends = (_node(from_place, from_task, is_merged), _node(to_place, to_task, is_merged), kind)
            counts[ends] = counts.get(ends, 0) + 1
    lines += [_edge(*ends, number, is_merged) for ends, number in counts.items()]
    stream.write("\n".join([*lines, "}", ""]).encode("utf-8", "replace"))
    return note if is_merged else None


def _tasks(view: View, place: int) -> _Tasks:
    """Tasks that began on a lane; the time of one that is suspended counts for none."""
    parts = [np.empty((3, 0), np.int64)]
    for lane in view.process.lanes:
        slices = view.slices(lane)
        begins = np.flatnonzero((slices.change == 1) & np.isin(slices.role, (Role.TASK, Role.PART)))
        events = lane.events[slices.source[begins]]
        ticks = slices.ticks[slices.partner[begins]] - slices.ticks[begins]
        ns = (ticks * view.process.ns_per_tick).astype(np.int64)
        columns = [events["a"].astype(np.int64), events["subject"].astype(np.int64), ns]
        parts.append(np.stack(columns)[:, events["a"] != 0])
    task, subject, ns = np.concatenate(parts, axis=1)
    distinct, first, inverse = np.unique(task, return_index=True, return_inverse=True)
    total = np.bincount(inverse.reshape(-1), weights=ns, minlength=len(distinct)).astype(np.int64)
    return _Tasks(view, place, distinct, subject[first], total)


def _cluster(table: _Tasks, is_merged: bool) -> Iterator[str]:
    """The nodes of a process."""
    if not len(table.task):
        return
    yield f"  subgraph cluster_{table.place} {{"
    yield f"    label={_quoted(table.view.name or table.view.trace.id)};"
    if is_merged:
        for subject in np.unique(table.subject).tolist():
            own = table.ns[table.subject == subject]
            text = f"{_name(table, subject)}\n{len(own):,} tasks, {own.sum() / _TICKS_PER_MS:.3f} ms"
            yield f"    {_node(table.place, subject, True)} [label={_quoted(text)}];"
    else:
        for task, subject, ns in zip(
            table.task.tolist(), table.subject.tolist(), table.ns.tolist(), strict=True
        ):
            text = f"{_name(table, subject)}\ntask {task}, {ns / _TICKS_PER_MS:.3f} ms"
            yield f"    {_node(table.place, task, False)} [label={_quoted(text)}];"
    yield "  }"


def _name(table: _Tasks, subject: int) -> str:
    return "task" if subject == NO_SUBJECT else str(table.view.places[subject][0])


def _pairs(
    part: EdgePart, by_place: dict[int, int], known: Sequence[frozenset[int]]
) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
    """Edges between two different tasks that are nodes: kind, and process and task of both ends, each pair once."""

    def side(ends: Ends) -> tuple[int, Integers]:
        return by_place[id(ends.view)], ends.task.astype(np.int64)

    (from_place, from_task), (to_place, to_task) = side(part.froms), side(part.tos)
    chosen = ~np.isin(part.kind, _NO_TASKS) & ((from_place != to_place) | (from_task != to_task))
    rows = np.unique(np.stack([part.kind, from_task, to_task])[:, chosen], axis=1)
    for kind, giver, taker in zip(*rows.tolist(), strict=True):
        if giver in known[from_place] and taker in known[to_place]:
            yield kind, (from_place, giver), (to_place, taker)


def _node(place: int, number: int, is_merged: bool) -> str:
    return f"p{place}_{'kind' if is_merged else 'task'}{number}"


def _edge(giver: str, taker: str, kind: int, count: int, is_merged: bool) -> str:
    """Making a task is dashed: what it depends on comes first to the eye."""
    style = ", style=dashed" if kind == EdgeKind.CREATES else ""
    text = edge_kind_name(kind) + (f" ({count:,})" if is_merged else "")
    return f"  {giver} -> {taker} [label={_quoted(text)}{style}];"


def _quoted(text: str) -> str:
    """A string of DOT: a backslash begins an escape of its own, whatever the name means by it."""
    lines = (printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n"))
    return '"' + "\\n".join(lines) + '"'

"""Edges of a run as a table: what could not happen before something else did, in a process and between processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.export.source import BLOCK, Integers, View
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import EventKind
from trimtab.traces.arrows import EdgeKind, Edges, Flows, Placed, edge_kind_name, edges_of

EDGES = {
    "kind": "word",
    "from_process": "word",
    "from_lane": "int",
    "from_time_ns": "int",
    "from_task": "uint",
    "from_name": "word",
    "to_process": "word",
    "to_lane": "int",
    "to_time_ns": "int",
    "to_task": "uint",
    "to_name": "word",
}


@dataclass(frozen=True)
class Ends:
    """One side of edges: the event of each, the task that is at it (0: none, or not known), and its subject."""

    view: View
    lane: Integers
    time_ns: Integers
    task: NDArray[np.uint64]
    subject: Integers


@dataclass(frozen=True)
class EdgePart:
    """Edges from one process to one process, the same one or another."""

    kind: Integers
    froms: Ends
    tos: Ends


def edge_parts(views: Sequence[View]) -> Iterator[EdgePart]:
    """All edges of a run: of each process its own, then those between processes."""
    for view in views:
        edges = edges_of(view.process)
        if len(edges.kind):
            subjects = _events_at(view, edges.froms), _events_at(view, edges.tos)
            froms = _ends(view, edges.froms, _giver(edges, subjects[0]), subjects[0])
            tos = _ends(view, edges.tos, edges.tos["a"], subjects[1])
            yield EdgePart(edges.kind, froms, tos)
    yield from _parcels(views)


def _events_at(view: View, placed: Placed) -> Any:
    """The events themselves."""
    lanes = {lane.id: lane for lane in view.process.lanes}
    result = np.zeros(len(placed), next(iter(lanes.values())).events.dtype)
    for lane in np.unique(placed["lane"]).tolist():
        own = np.flatnonzero(placed["lane"] == lane)
        result[own] = lanes[lane].events[placed["at"][own]]
    return result


def _giver(edges: Edges, events: Any) -> NDArray[np.uint64]:
    """The task that does what an edge begins with: of who is made or made ready, the maker."""
    is_by_b = np.isin(events["kind"], (EventKind.TASK_CREATED, EventKind.TASK_READY))
    giver: NDArray[np.uint64] = np.where(is_by_b, edges.froms["b"], edges.froms["a"])
    return giver


def _ends(view: View, placed: Placed, task: NDArray[np.uint64], events: Any) -> Ends:
    is_lock = events["kind"] == EventKind.LOCK
    return Ends(
        view,
        placed["lane"],
        view.ns_of(placed["ticks"]),
        np.where(is_lock, 0, task).astype(np.uint64),
        events["subject"].astype(np.int64),
    )


def _parcels(views: Sequence[View]) -> Iterator[EdgePart]:
    """From where a call was sent to where its task begins."""
    sent = [_flows(view, view.parcels[0]) for view in views]
    received = [_flows(view, view.parcels[1]) for view in views]
    for sender, (sent_numbers, from_lanes, from_places) in zip(views, sent, strict=True):
        for receiver, (numbers, to_lanes, to_places) in zip(views, received, strict=True):
            _, at, to = np.intersect1d(sent_numbers, numbers, return_indices=True)
            if len(at):
                froms = _parcel_ends(sender, from_lanes[at], from_places[at], "b")
                tos = _parcel_ends(receiver, to_lanes[to], to_places[to], "a")
                yield EdgePart(np.full(len(at), int(EdgeKind.PARCEL)), froms, tos)


def _flows(view: View, flows: dict[int, Flows]) -> tuple[NDArray[np.uint64], Integers, Integers]:
    """Number, lane and place of all of them."""
    if not flows:
        return np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64)
    lanes = [np.full(len(own.numbers), lane) for lane, own in flows.items()]
    return (
        np.concatenate([own.numbers for own in flows.values()]),
        np.concatenate(lanes),
        np.concatenate([own.places for own in flows.values()]),
    )


def _parcel_ends(view: View, lane: Integers, places: Integers, field: str) -> Ends:
    placed = np.zeros(len(lane), [("lane", "<i8"), ("at", "<i8")])
    placed["lane"], placed["at"] = lane, places
    events = _events_at(view, placed)
    subject = events["subject"].astype(np.int64)
    return Ends(view, lane, view.ns_of(events["ticks"]), events[field], subject)


def edge_blocks(views: Sequence[View]) -> Iterator[dict[str, Any]]:
    """The table, block by block."""
    for part in edge_parts(views):
        kinds = [edge_kind_name(kind) for kind in np.unique(part.kind).tolist()]
        kind = np.unique(part.kind, return_inverse=True)[1].reshape(-1)
        for low in range(0, len(kind), BLOCK):
            block = slice(low, low + BLOCK)
            yield {
                "kind": (kinds, kind[block]),
                **_side("from", part.froms, block),
                **_side("to", part.tos, block),
            }


def _side(prefix: str, ends: Ends, block: slice) -> dict[str, Any]:
    subjects, inverse = np.unique(ends.subject[block], return_inverse=True)
    names = [
        None if number == NO_SUBJECT else str(ends.view.places[number][0]) for number in subjects.tolist()
    ]
    task = ends.task[block]
    return {
        f"{prefix}_process": ([ends.view.trace.id], np.zeros(len(task), np.intp)),
        f"{prefix}_lane": ends.lane[block],
        f"{prefix}_time_ns": ends.time_ns[block],
        f"{prefix}_task": np.ma.array(task, mask=task == 0),
        f"{prefix}_name": (names, inverse.reshape(-1)),
    }

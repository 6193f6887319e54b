"""A run as tables, for CSV and Parquet: columns by name, in blocks, so that no table is ever whole in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.analysis.regions import region_table
from trimtab.export.edges import EDGES, edge_blocks
from trimtab.export.source import BLOCK, Advance, View
from trimtab.model import (
    CAUSES,
    NO_LANE,
    NO_SUBJECT,
    SCHEDULES,
    UNKNOWN,
    WAITS,
    WORKER_STATES,
    Lane,
)
from trimtab.model.enumerations import (
    EVENT_KINDS,
    LEAVE_CAUSES,
    METRIC_NAMES,
    REGION_FLAGS,
    EventKind,
    Metric,
)

_SPANS = (EventKind.LOOP, EventKind.WAIT, EventKind.LOCK)

Block = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Columns with their types (int, uint, float, str, word: a str of few different ones), and its blocks.

    A value is None where it is not known. A block is a column by name, all of one length.
    """

    name: str
    columns: dict[str, str]
    blocks: Iterator[Block]


def tables_of(views: list[View], advance: Advance) -> list[Table]:
    """All tables; the events come first, and `advance` is told of them."""
    return [
        Table("events", _EVENTS, _events(views, advance)),
        Table("regions", _REGIONS, _regions(views)),
        Table("profile", _PROFILE, _profile(views)),
        Table("counters", _COUNTERS, _counters(views)),
        Table("switches", _SWITCHES, _switches(views)),
        Table("edges", EDGES, edge_blocks(views)),
    ]


_PROCESS_COLUMNS = {"process": "word", "pid": "int", "image": "int"}

_EVENTS = {
    **_PROCESS_COLUMNS,
    "lane": "int",
    "time_ns": "int",
    "kind": "word",
    "name": "word",
    "detail": "word",
    "duration_ns": "int",
    "a": "uint",
    "b": "uint",
}


def _process_columns(view: View, count: int) -> Block:
    trace = view.trace
    return {
        "process": ([trace.id], np.zeros(count, np.intp)),
        "pid": np.full(count, trace.pid),
        "image": np.full(count, trace.image),
    }


def _events(views: list[View], advance: Advance) -> Iterator[Block]:
    for view in views:
        for lane in view.process.lanes:
            for low in range(0, len(lane.events), BLOCK):
                events = lane.events[low : low + BLOCK]
                yield _event_block(view, lane, events)
                advance(len(events))


def _event_block(view: View, lane: Lane, events: Any) -> Block:
    kind = events["kind"]
    is_span = np.isin(kind, _SPANS)
    lasts = np.minimum(events["a"], np.uint64(1 << 62)).astype(np.float64) * view.process.ns_per_tick
    return {
        **_process_columns(view, len(events)),
        "lane": np.full(len(events), lane.id),
        "time_ns": view.ns_of(events["ticks"]),
        "kind": _words(kind, lambda number: EVENT_KINDS.get(number, f"kind {number}")),
        "name": _words(events["subject"], lambda number: _subject_name(view, number)),
        "detail": _words(
            (kind.astype(np.uint64) << np.uint64(16)) | events["arg"],
            lambda key: _detail(key >> 16, key & 0xFFFF),
        ),
        "duration_ns": _optional(np.minimum(lasts, 2.0**62).astype(np.int64), is_span),
        "a": events["a"],
        "b": events["b"],
    }


def _subject_name(view: View, number: int) -> str | None:
    return None if number == NO_SUBJECT else str(view.places[number][0])


def _detail(kind: int, arg: int) -> str | None:
    if kind in (EventKind.LOOP, EventKind.CHUNK):
        return SCHEDULES.get(arg)
    if kind == EventKind.WAIT:
        return WAITS.get(arg, "other")
    if kind in (EventKind.TASK_SUSPENDED, EventKind.TASK_RESUMED, EventKind.EDGE):
        return CAUSES.get(arg, "other")
    if kind == EventKind.WORKER_STATE:
        return WORKER_STATES.get(arg, "other")
    if kind in (EventKind.PARCEL_SENT, EventKind.PARCEL_RECEIVED, EventKind.ANSWER_RECEIVED):
        return f"locality {arg}"
    if kind == EventKind.PARCEL_LEFT:
        return LEAVE_CAUSES.get(arg, "other")
    if kind == EventKind.SINGLE:
        return "executed" if arg else "passed"
    return f"level {arg}" if kind in (EventKind.REGION_BEGIN, EventKind.REGION_END) else None


def _words(keys: Any, word_of: Any) -> tuple[list[str | None], Any]:
    """A column of few different words: the words, and for each row which of them."""
    distinct, inverse = np.unique(keys, return_inverse=True)
    return [word_of(key) for key in distinct.tolist()], inverse.reshape(-1)


def _optional(values: Any, is_present: Any) -> Any:
    return np.ma.array(values, mask=~is_present)


_REGIONS = {
    **_PROCESS_COLUMNS,
    "name": "str",
    "file": "str",
    "line": "int",
    "function": "str",
    "runtime": "str",
    "calls": "int",
    "threads": "int",
    "wall_s": "float",
    "work_s": "float",
    "wait_s": "float",
    "arrival_s": "float",
    "imbalance": "float",
    "schedule": "str",
    "chunk": "int",
    "iterations": "int",
}


def _regions(views: list[View]) -> Iterator[Block]:
    for view in views:
        entries = region_table(view.process, view.trace.id, view.places, view.keys)
        if entries:
            columns = [name for name in _REGIONS if name not in _PROCESS_COLUMNS]
            own_columns = {name: [getattr(entry, name) for entry in entries] for name in columns}
            yield {**_process_columns(view, len(entries)), **own_columns}


_PROFILE = {
    **_PROCESS_COLUMNS,
    "lane": "int",
    "about_lane": "int",
    "metric": "word",
    "name": "word",
    "file": "word",
    "line": "int",
    "function": "word",
    "in_region": "word",
    "detail": "word",
    "count": "uint",
    "timed": "uint",
    "sum_ns": "float",
    "min_ns": "float",
    "max_ns": "float",
    "x0": "uint",
    "x1": "uint",
    "x2": "uint",
    "x3": "uint",
}


def _profile(views: list[View]) -> Iterator[Block]:
    for view in views:
        for lane in view.process.lanes:
            if len(lane.rows):
                yield _profile_block(view, lane)


def _profile_block(view: View, lane: Lane) -> Block:
    rows, tick = lane.rows, view.process.ns_per_tick
    is_timed = rows["timed"] > 0
    lines = np.array([view.places[int(number)][1].line for number in rows["subject"]], np.int64)
    detail = (rows["what"].astype(np.uint64) << np.uint64(16)) | rows["flags"]

    def place(field: str) -> Any:
        return _words(rows["subject"], lambda number: getattr(view.places[number][1], field) or None)

    return {
        **_process_columns(view, len(rows)),
        "lane": np.full(len(rows), lane.id),
        "about_lane": rows["about"],
        "metric": _words(rows["what"], lambda number: METRIC_NAMES.get(number, f"metric {number}")),
        "name": _words(rows["subject"], lambda number: _subject_name(view, number)),
        "file": place("file"),
        "line": _optional(lines, lines > 0),
        "function": place("function"),
        "in_region": _words(rows["in_region"], lambda number: _subject_name(view, number)),
        "detail": _words(detail, lambda key: _flags(key >> 16, key & 0xFFFF)),
        "count": rows["count"],
        "timed": rows["timed"],
        "sum_ns": rows["sum"] * tick,
        "min_ns": _optional(rows["min"] * tick, is_timed),
        "max_ns": _optional(rows["max"] * tick, is_timed),
        **{f"x{at}": _optional(rows["x"][:, at], rows["x"][:, at] != UNKNOWN) for at in range(4)},
    }


def _flags(metric: int, flags: int) -> str | None:
    if metric == Metric.LOOP:
        return SCHEDULES.get(flags)
    if metric == Metric.WORKER:
        return WORKER_STATES.get(flags, "other")
    if metric == Metric.SUSPENDED:
        return CAUSES.get(flags, "other")
    if metric in (Metric.REGION, Metric.TEAM):
        return REGION_FLAGS.get(flags)
    return WAITS.get(flags, "other") if metric == Metric.WAIT else None


_COUNTERS = {
    **_PROCESS_COLUMNS,
    "lane": "int",
    "time_ns": "int",
    "name": "word",
    "unit": "word",
    "value": "float",
}


def _counters(views: list[View]) -> Iterator[Block]:
    for view in views:
        counters = view.process.counters
        for low in range(0, len(view.process.samples), BLOCK):
            samples = view.process.samples[low : low + BLOCK]

            def name(number: int, counters_by_number: Any = counters) -> str:
                return (
                    counters_by_number[number].name if number in counters_by_number else f"counter {number}"
                )

            def unit(number: int, counters_by_number: Any = counters) -> str | None:
                return counters_by_number[number].unit if number in counters_by_number else None

            yield {
                **_process_columns(view, len(samples)),
                "lane": _optional(samples["lane"], samples["lane"] != NO_LANE),
                "time_ns": view.ns_of(samples["ticks"]),
                "name": _words(samples["counter"], name),
                "unit": _words(samples["counter"], unit),
                "value": samples["value"],
            }


_SWITCHES = {
    **_PROCESS_COLUMNS,
    "lane": "int",
    "time_ns": "int",
    "kind": "word",
    "cpu": "int",
    "is_preempted": "int",
}


def _switches(views: list[View]) -> Iterator[Block]:
    for view in views:
        for low in range(0, len(view.process.switches), BLOCK):
            switches = view.process.switches[low : low + BLOCK]
            yield {
                **_process_columns(view, len(switches)),
                "lane": switches["b"].astype(np.int64),
                "time_ns": view.ns_of(switches["ticks"]),
                "kind": _words(switches["kind"], lambda number: EVENT_KINDS.get(number, f"kind {number}")),
                "cpu": switches["a"].astype(np.int64),
                "is_preempted": switches["arg"].astype(np.int64),
            }

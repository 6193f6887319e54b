"""An application as a run of our model, for what reads runs and not reports: the exports.

Executors are processes, core slots their lanes, stages the kinds of tasks. An arrow leads to each task from the last task
of its stage's parents: before that one ended, no task of the stage could begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.model import Lane, Process, Records, Run, Subject
from trimtab.model.enumerations import EventKind, LaneKind, ProcessState, RecordLevel, WaitCause
from trimtab.readers import layout
from trimtab.spark.application import Application
from trimtab.spark.slots import Integers, Slots

_NS = 1_000_000
_MOST_RANKS = 1 << 16
# Numbers of arrows between executors: larger than those of tasks.
_FIRST_PARCEL = 1 << 40


def run_of(application: Application, slots: Slots, path: Path) -> Run:
    """The run of a log at `path`. A tick is a nanosecond since the application started."""
    events = _events(application, slots)
    processes = tuple(_process(application, slots, at, events) for at in range(len(application.executors)))
    return Run(
        path,
        {
            "program": application.name,
            "argv": [application.name],
            "level": "trace",
            "started_real_ns": application.started_ms * _NS,
        },
        processes,
        lead_ns=min((int(process.header["start_ticks"]) for process in processes), default=0),
    )


def _header(dtype: np.dtype[Any], **values: Any) -> dict[str, Any]:
    """A record of zeros with some values."""
    record = np.zeros(1, dtype)[0]
    header = {name: record[name].item() for name in dtype.names or () if dtype[name].kind != "V"}
    return header | values


def _process(application: Application, slots: Slots, at: int, events: dict[int, Records]) -> Process:
    executor = application.executors[at]
    own = np.flatnonzero(slots.executor == at)
    begin = int(slots.added[own].min(initial=application.end)) * _NS
    end = int(slots.end[own].max(initial=0)) * _NS
    is_complete = application.is_complete or executor.removed is not None
    header = _header(
        layout.PROCESS_HEADER,
        pid=at + 1,
        level=int(RecordLevel.TRACE),
        state=int(ProcessState.EXITED if is_complete else ProcessState.RUNNING),
        lanes=len(own),
        ns_per_tick=1.0,
        real_ns_0=application.started_ms * _NS,
        start_ticks=begin,
        last_ticks=max(end, begin),
        end_ticks=max(end, begin) if is_complete else 0,
        cpus_available=float(len(own)),
    )
    facts = {"host": executor.host or "unknown"}
    if len(application.executors) < _MOST_RANKS:
        facts["rank"] = str(at)
    return Process(
        Path(f"executor-{at + 1}-0"),
        header,
        (),
        {number: _subject(number, stage.label) for number, stage in enumerate(application.stages)},
        {},
        {0: ("Spark", application.version)},
        (),
        facts,
        tuple(_lane(number, slots, int(slot), events) for number, slot in enumerate(own)),
        np.empty(0, layout.RECORDS["counters"]),
        np.empty(0, layout.RECORDS["switches"]),
        (f"executor {executor.id}",),
    )


def _subject(number: int, name: str) -> Subject:
    return Subject(number, "task", 0, None, 0, False, None, name, "", "", 0)


def _lane(number: int, slots: Slots, slot: int, events: dict[int, Records]) -> Lane:
    own = events.get(slot, np.empty(0, layout.EVENT))
    title = f"core slot {number}"
    header = _header(
        layout.LANE_HEADER,
        lane=number,
        kind=int(LaneKind.EXECUTOR),
        number=number,
        start_ticks=int(slots.added[slot]) * _NS,
        end_ticks=int(slots.end[slot]) * _NS,
        name=title,
        title=title,
    )
    return Lane(number, header, np.empty(0, layout.ROW), own, len(own), 0, 0)


def _events(application: Application, slots: Slots) -> dict[int, Records]:
    """By slot: begins and ends of tasks, and where arrows leave and enter, in order of time."""
    tasks = application.tasks
    ids = tasks["id"] + 1
    stage = tasks["stage"].astype(np.int64)
    parts = [
        _table(tasks["begin"], stage, EventKind.TASK_BEGIN, ids, slots.slot, 3),
        _table(slots.until, stage, EventKind.TASK_END, ids, slots.slot, 1),
        *_arrows(application, slots, ids),
    ]
    rows = np.concatenate([part[0] for part in parts])
    slot = np.concatenate([part[1] for part in parts])
    rank = np.concatenate([part[2] for part in parts])
    order = np.lexsort((rank, rows["ticks"], slot))
    rows, slot = rows[order], slot[order]
    bounds = np.searchsorted(slot, np.arange(len(slots.executor) + 1))
    return {at: rows[bounds[at] : bounds[at + 1]] for at in range(len(slots.executor))}


_Part = tuple[Records, Integers, Integers]


def _table(
    milliseconds: Integers, subjects: Integers, kind: int, numbers: Integers, slots: Integers, rank: int
) -> _Part:
    """Events of one kind; `rank` orders those of one moment: what ends, then what leaves, enters, begins."""
    rows = np.zeros(len(milliseconds), layout.EVENT)
    rows["ticks"], rows["subject"], rows["kind"], rows["a"] = milliseconds * _NS, subjects, kind, numbers
    return rows, slots, np.full(len(rows), rank, np.int64)


def _arrows(application: Application, slots: Slots, ids: Integers) -> Iterator[_Part]:
    """Within an executor as edges of tasks, between executors as parcels."""
    tasks = application.tasks
    givers = _givers(application)[tasks["stage"]]
    receivers = np.flatnonzero(givers >= 0)
    givers = givers[receivers]
    stage = tasks["stage"][receivers].astype(np.int64)
    froms, tos = tasks["executor"][givers], tasks["executor"][receivers]
    leaves = slots.until[givers]
    numbers = _FIRST_PARCEL + receivers
    same = froms == tos
    edges = _table(leaves[same], stage[same], EventKind.EDGE, ids[givers[same]], slots.slot[givers[same]], 0)
    edges[0]["b"], edges[0]["arg"] = ids[receivers[same]], WaitCause.OTHER
    yield edges
    other = ~same
    sent = _table(
        leaves[other], stage[other], EventKind.PARCEL_SENT, numbers[other], slots.slot[givers[other]], 0
    )
    sent[0]["b"], sent[0]["arg"] = ids[givers[other]], tos[other]
    yield sent
    begins = tasks["begin"][receivers[other]]
    received = _table(
        begins,
        stage[other],
        EventKind.PARCEL_RECEIVED,
        ids[receivers[other]],
        slots.slot[receivers[other]],
        2,
    )
    received[0]["b"], received[0]["arg"] = numbers[other], froms[other]
    yield received


def _givers(application: Application) -> Integers:
    """Of each stage: the task of its parents that ended last before it was submitted; -1: none."""
    tasks = application.tasks
    by_id: dict[int, list[int]] = {}
    for at, stage in enumerate(application.stages):
        by_id.setdefault(stage.id, []).append(at)
    result = np.full(len(application.stages), -1, np.int64)
    for at, stage in enumerate(application.stages):
        parents = [place for parent in stage.parents for place in by_id.get(parent, [])]
        if not parents or stage.submitted is None:
            continue
        before = np.flatnonzero(np.isin(tasks["stage"], parents) & (tasks["end"] <= stage.submitted))
        if len(before):
            result[at] = before[np.argmax(tasks["end"][before])]
    return result

"""Task graphs that a simulated machine runs, as run directories: which task ran when is known.

A unit of time is a nanosecond. The scheduler is greedy: an idle worker takes the task that has been ready for longest.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from synthetic import LaneFile, ProcessFiles, S, event, subject, write_run
from trimtab.model.enumerations import EventKind, RecordLevel, SubjectKind, WaitCause, WorkerState
from trimtab.readers import open_run
from trimtab.traces import Trace, traces_of

RUNTIME = 1


@dataclass
class Graph:
    """Tasks are numbered from 1; those without inputs are created at the start, the others are known from the start, too."""

    kinds: list[str] = field(default_factory=list)
    tasks: list[tuple[int, int, tuple[int, ...], int | None]] = field(default_factory=list)

    def task(self, kind: str, length: int, inputs: Iterable[int] = (), worker: int | None = None) -> int:
        """Returns its number; a task with a `worker` waits for that one."""
        if kind not in self.kinds:
            self.kinds.append(kind)
        self.tasks.append((self.kinds.index(kind), length, tuple(inputs), worker))
        return len(self.tasks)


@dataclass(frozen=True)
class Run:
    task: int
    worker: int
    begin: int
    end: int


def scheduled(graph: Graph, workers: int) -> tuple[list[Run], dict[int, tuple[int, int]]]:
    """Who ran what when; and of each task when it became ready, and the task that ended last before (0: none)."""
    missing = {n: len(inputs) for n, (_, _, inputs, _) in enumerate(graph.tasks, 1)}
    followers: dict[int, list[int]] = {}
    for number, (_, _, inputs, _) in enumerate(graph.tasks, 1):
        for giver in inputs:
            followers.setdefault(giver, []).append(number)
    ready = [number for number, count in missing.items() if count == 0]
    since: dict[int, tuple[int, int]] = {number: (0, 0) for number in ready}
    idle, now, runs = list(range(workers)), 0, list[Run]()
    running: list[tuple[int, int, int]] = []
    while ready or running:
        for number in list(ready):
            wanted = graph.tasks[number - 1][3]
            if not idle or (wanted is not None and wanted not in idle):
                continue
            worker = idle[0] if wanted is None else wanted
            idle.remove(worker)
            ready.remove(number)
            end = now + graph.tasks[number - 1][1]
            runs.append(Run(number, worker, now, end))
            heapq.heappush(running, (end, number, worker))
        now, ended, worker = heapq.heappop(running)
        idle = sorted([*idle, worker])
        for follower in followers.get(ended, []):
            missing[follower] -= 1
            if missing[follower] == 0:
                since[follower] = (now, ended)
                ready.append(follower)
        while running and running[0][0] == now:
            _, ended, worker = heapq.heappop(running)
            idle = sorted([*idle, worker])
            for follower in followers.get(ended, []):
                missing[follower] -= 1
                if missing[follower] == 0:
                    since[follower] = (now, ended)
                    ready.append(follower)
    return runs, since


def lanes_of(
    graph: Graph, runs: Sequence[Run], since: dict[int, tuple[int, int]], workers: int
) -> list[LaneFile]:
    """The events that the task runtime would have recorded."""
    first_kind = RUNTIME + 1
    lanes: list[list[tuple[int, int, bytes]]] = [[] for _ in range(workers)]
    where = {run.task: run.worker for run in runs}
    for number, (kind, _, inputs, _) in enumerate(graph.tasks, 1):
        lanes[0].append((0, 0, event(0, EventKind.TASK_CREATED, first_kind + kind, number)))
        if not inputs:
            continue
        at, last = since[number]
        own = lanes[where[last]]
        for giver in inputs:
            own.append(
                (at, 1, event(at, EventKind.EDGE, first_kind + kind, giver, number, arg=WaitCause.SLOT))
            )
        own.append((at, 2, event(at, EventKind.TASK_READY, first_kind + kind, number, last)))
    for run in runs:
        kind = first_kind + graph.tasks[run.task - 1][0]
        lanes[run.worker].append((run.begin, 5, event(run.begin, EventKind.TASK_BEGIN, kind, run.task)))
        lanes[run.worker].append((run.end, 3, event(run.end, EventKind.TASK_END, kind, run.task)))
    for worker in range(workers):
        own_runs = sorted((run for run in runs if run.worker == worker), key=lambda run: run.begin)
        state, until = WorkerState.IDLE, 0
        lanes[worker].append((0, -1, event(0, EventKind.WORKER_STATE, RUNTIME, worker, arg=state)))
        for at, run in enumerate(own_runs):
            if at == 0 or run.begin > until:
                lanes[worker].append(_state(run.begin, 4, WorkerState.RUNS, worker))
            until = run.end
            if at + 1 == len(own_runs) or own_runs[at + 1].begin > until:
                lanes[worker].append(_state(until, 4, WorkerState.IDLE, worker))
    return [
        LaneFile(events=[entry for _, _, entry in sorted(lane, key=lambda row: row[:2])], worker_of=RUNTIME)
        for lane in lanes
    ]


def _state(at: int, order: int, state: WorkerState, worker: int) -> tuple[int, int, bytes]:
    return at, order, event(at, EventKind.WORKER_STATE, RUNTIME, worker, arg=state)


def process_of(graph: Graph, workers: int) -> tuple[ProcessFiles, list[Run]]:
    """A process that ran the graph."""
    runs, since = scheduled(graph, workers)
    names = [
        subject(RUNTIME, kind=SubjectKind.WORKERS, name="runtime 1"),
        *(subject(RUNTIME + 1 + at, kind=SubjectKind.TASK, name=kind) for at, kind in enumerate(graph.kinds)),
    ]
    wall = max(run.end for run in runs) / S
    lanes = lanes_of(graph, runs, since, workers)
    return ProcessFiles(lanes, names, wall=wall, level=RecordLevel.TRACE, cpus=float(workers)), runs


def trace_of(folder: Path, graph: Graph, workers: int) -> tuple[Trace, list[Run]]:
    """Its trace, and who ran what when."""
    process, runs = process_of(graph, workers)
    (trace,) = traces_of(open_run(write_run(folder / "run", process)))
    return trace, runs


MS = 1_000_000


def conjugate_gradient(
    steps: int, workers: int, *, slow: int | None = None, tasks: int | None = None
) -> Graph:
    """A product in parts, then one reduction of all parts, for each step; `slow`: length of one part in each step."""
    graph, before = Graph(), list[int]()
    for _ in range(steps):
        count = tasks if tasks is not None else workers
        parts = [
            graph.task("product", slow if slow is not None and at == 0 else 10 * MS + at * 1000, before)
            for at in range(count)
        ]
        before = [graph.task("reduction", 2 * MS, parts)]
    for at in range(workers):
        graph.task("product", 10 * MS + at, before)
    return graph


def stencil(steps: int, width: int, *, length: int = 5 * MS) -> Graph:
    """Each part of a step needs its own and its neighbours' parts of the step before."""
    graph, before = Graph(), list[int]()
    for _ in range(steps):
        before = [
            graph.task("stencil", length + at % 3 * 1000, before[max(at - 1, 0) : at + 2])
            for at in range(width)
        ]
    return graph

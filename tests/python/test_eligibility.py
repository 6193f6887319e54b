"""Tasks over time: created, ready, running and suspended, in traces written by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from synthetic import LaneFile, ProcessFiles, S, event, subject, write_run
from trimtab.analysis.eligibility import Eligibility, StepFunction, eligibility_of
from trimtab.model.enumerations import EventKind, RecordLevel, SubjectKind, WaitCause, WorkerState
from trimtab.readers import open_run
from trimtab.traces import Trace, traces_of
from trimtab.traces.tasks import NO_TIME, TaskState

PRODUCER, CONSUMER, RUNTIME = 1, 2, 3
NAMES = [
    subject(PRODUCER, kind=SubjectKind.TASK, name="producer"),
    subject(CONSUMER, kind=SubjectKind.TASK, name="consumer"),
    subject(RUNTIME, kind=SubjectKind.WORKERS, name="runtime 1"),
]


def trace_of(folder: Path, *lanes: list[bytes], wall: float = 10.0) -> Trace:
    workers = [
        LaneFile(events=[event(0, EventKind.WORKER_STATE, RUNTIME, at, arg=WorkerState.RUNS), *events])
        for at, events in enumerate(lanes)
    ]
    for worker in workers:
        worker.worker_of = RUNTIME
    process = ProcessFiles(workers, NAMES, wall=wall, level=RecordLevel.TRACE, cpus=float(len(lanes)))
    (trace,) = traces_of(open_run(write_run(folder / "run", process)))
    return trace


def at(second: float, kind: EventKind, kind_of_task: int, task: int, b: int = 0, arg: int = 0) -> bytes:
    return event(round(second * S), kind, kind_of_task, task, b, arg)


def two_tasks(folder: Path) -> Eligibility:
    """Task 2 is created at 1, ready when task 1 ends at 4, runs from 5 to 6, waits until 8, and runs again from 8.5 to 9."""
    first = [
        at(1, EventKind.TASK_BEGIN, PRODUCER, 1),
        at(1, EventKind.TASK_CREATED, CONSUMER, 2, 1),
        at(4, EventKind.TASK_READY, CONSUMER, 2, 1),
        at(4, EventKind.TASK_END, PRODUCER, 1),
        at(7, EventKind.TASK_BEGIN, PRODUCER, 3),
        at(8, EventKind.EDGE, PRODUCER, 3, 2, arg=WaitCause.FUTURE),
        at(9.5, EventKind.TASK_END, PRODUCER, 3),
    ]
    second = [
        at(5, EventKind.TASK_BEGIN, CONSUMER, 2),
        at(6, EventKind.TASK_SUSPENDED, CONSUMER, 2, 3, arg=WaitCause.FUTURE),
        at(8.5, EventKind.TASK_RESUMED, CONSUMER, 2, arg=WaitCause.FUTURE),
        at(9, EventKind.TASK_END, CONSUMER, 2),
    ]
    item = eligibility_of(trace_of(folder, first, second))
    assert item is not None
    return item


def rows_of(eligibility: Eligibility, state: TaskState, kind: int) -> list[tuple[float, int]]:
    steps = eligibility.steps(state, kind)
    return [(ns / S, count) for ns, count in zip(steps.at_ns.tolist(), steps.count.tolist(), strict=True)]


def test_each_task_is_in_one_state_at_a_time(tmp_path: Path) -> None:
    tasks = two_tasks(tmp_path)
    assert rows_of(tasks, TaskState.INELIGIBLE, CONSUMER) == [(1, 1), (4, 0)]
    assert rows_of(tasks, TaskState.ELIGIBLE, CONSUMER) == [(4, 1), (5, 0), (8, 1), (8.5, 0)]
    assert rows_of(tasks, TaskState.RUNNING, CONSUMER) == [(5, 1), (6, 0), (8.5, 1), (9, 0)]
    assert rows_of(tasks, TaskState.SUSPENDED, CONSUMER) == [(6, 1), (8, 0)]
    assert rows_of(tasks, TaskState.RUNNING, PRODUCER) == [(1, 1), (4, 0), (7, 1), (9.5, 0)]


def test_times_by_kind_of_task(tmp_path: Path) -> None:
    producer, consumer = two_tasks(tmp_path).times
    assert (producer.subject, producer.count, producer.active_s) == (PRODUCER, 2, pytest.approx(5.5))
    assert consumer.staged_s == pytest.approx(4.0)
    assert consumer.ineligible_s == pytest.approx(3.0)
    assert consumer.eligible_s == pytest.approx(1.5)
    assert consumer.active_s == pytest.approx(1.5)
    assert consumer.suspended_s == {WaitCause.FUTURE: pytest.approx(2.0)}


def test_own_tasks_are_left_out_of_views_and_counted(tmp_path: Path) -> None:
    tasks = two_tasks(tmp_path)
    hiding = Eligibility(tasks.table, frozenset({PRODUCER}))
    assert hiding.steps(TaskState.RUNNING).count.tolist() == [1, 0, 1, 0]
    assert [(kind.subject, kind.is_own) for kind in hiding.times] == [(PRODUCER, True), (CONSUMER, False)]


def test_a_task_that_never_began(tmp_path: Path) -> None:
    """Of a kind that is reported to become ready: without that, an input is missing. Of another kind: it is ready at once."""
    events = [
        at(0, EventKind.TASK_BEGIN, PRODUCER, 1),
        at(1, EventKind.TASK_CREATED, CONSUMER, 2, 1),
        at(2, EventKind.TASK_CREATED, CONSUMER, 3, 1),
        at(3, EventKind.TASK_READY, CONSUMER, 2, 1),
        at(4, EventKind.TASK_CREATED, PRODUCER, 4, 1),
        at(10, EventKind.TASK_END, PRODUCER, 1),
    ]
    tasks = eligibility_of(trace_of(tmp_path, events))
    assert tasks is not None
    assert rows_of(tasks, TaskState.ELIGIBLE, CONSUMER) == [(3, 1), (10, 0)]
    assert rows_of(tasks, TaskState.INELIGIBLE, CONSUMER) == [(1, 1), (2, 2), (3, 1), (10, 0)]
    assert rows_of(tasks, TaskState.ELIGIBLE, PRODUCER) == [(4, 1), (10, 0)]
    assert tasks.table.begin_ns[1] == NO_TIME


def test_a_task_inside_another_takes_its_lane(tmp_path: Path) -> None:
    events = [
        at(0, EventKind.TASK_BEGIN, PRODUCER, 1),
        at(1, EventKind.TASK_CREATED, CONSUMER, 2, 1),
        at(3, EventKind.TASK_BEGIN, CONSUMER, 2),
        at(5, EventKind.TASK_END, CONSUMER, 2),
        at(10, EventKind.TASK_END, PRODUCER, 1),
    ]
    tasks = eligibility_of(trace_of(tmp_path, events))
    assert tasks is not None
    assert rows_of(tasks, TaskState.RUNNING, PRODUCER) == [(0, 1), (3, 0), (5, 1), (10, 0)]
    assert rows_of(tasks, TaskState.SUSPENDED, PRODUCER) == [(3, 1), (5, 0)]
    assert rows_of(tasks, TaskState.ELIGIBLE, CONSUMER) == [(1, 1), (3, 0)]


def test_dependences_of_openmp_end_with_the_giver(tmp_path: Path) -> None:
    """Its edges are recorded when the receiver is created."""
    events = [
        at(0, EventKind.TASK_CREATED, PRODUCER, 1),
        at(1, EventKind.TASK_CREATED, CONSUMER, 2),
        at(1, EventKind.EDGE, CONSUMER, 1, 2, arg=WaitCause.OTHER),
        at(2, EventKind.TASK_BEGIN, PRODUCER, 1),
        at(6, EventKind.TASK_END, PRODUCER, 1),
        at(7, EventKind.TASK_BEGIN, CONSUMER, 2),
        at(8, EventKind.TASK_END, CONSUMER, 2),
    ]
    tasks = eligibility_of(trace_of(tmp_path, events))
    assert tasks is not None
    assert rows_of(tasks, TaskState.INELIGIBLE, CONSUMER) == [(1, 1), (6, 0)]
    assert rows_of(tasks, TaskState.ELIGIBLE, CONSUMER) == [(6, 1), (7, 0)]


def test_nothing_is_said_of_a_trace_with_gaps(tmp_path: Path) -> None:
    lane = LaneFile(events=[at(0, EventKind.TASK_BEGIN, PRODUCER, 1)], written=5)
    process = ProcessFiles([lane], NAMES, level=RecordLevel.TRACE)
    (trace,) = traces_of(open_run(write_run(tmp_path / "run", process)))
    assert eligibility_of(trace) is None


def test_means_are_exact() -> None:
    generator = np.random.default_rng(7)
    begin = generator.integers(0, 900, 200)
    end = begin + generator.integers(1, 100, 200)
    steps = StepFunction.of(begin, end)
    edges = np.unique(np.concatenate([[-50, 0, 1200], generator.integers(0, 1000, 30)]))
    moments = np.arange(-50, 1200)
    counts = ((begin[None] <= moments[:, None]) & (moments[:, None] < end[None])).sum(1)
    means = [counts[low + 50 : high + 50].mean() for low, high in pairwise(edges.tolist())]
    assert steps.means(edges).tolist() == pytest.approx(means)
    assert steps.at(moments).tolist() == counts.tolist()


def test_a_dependence_on_a_task_that_never_ends(tmp_path: Path) -> None:
    events = [
        at(0, EventKind.TASK_BEGIN, PRODUCER, 9),
        at(1, EventKind.TASK_CREATED, PRODUCER, 1),
        at(2, EventKind.TASK_CREATED, CONSUMER, 2),
        at(2, EventKind.EDGE, CONSUMER, 1, 2, arg=WaitCause.OTHER),
        at(10, EventKind.TASK_END, PRODUCER, 9),
    ]
    tasks = eligibility_of(trace_of(tmp_path, events))
    assert tasks is not None
    assert rows_of(tasks, TaskState.ELIGIBLE, PRODUCER) == [(1, 1), (10, 0)]
    assert rows_of(tasks, TaskState.INELIGIBLE, CONSUMER) == [(2, 1), (10, 0)]
    assert rows_of(tasks, TaskState.ELIGIBLE, CONSUMER) == []

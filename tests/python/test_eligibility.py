"""How many tasks wait for a worker, and for their inputs, over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic import event
from test_intervals import TASK, at, lane, trace_of
from trimtab.analysis.eligibility import Eligibility, eligibility
from trimtab.model.enumerations import EventKind, WaitCause

EDGES = np.arange(0.0, 11.0)
Step = tuple[float, EventKind]


def task(number: int, *steps: Step, cause: WaitCause = WaitCause.FUTURE) -> list[tuple[float, bytes]]:
    """Events of one task; it gets things from task 99."""
    return [
        (
            time,
            event(
                at(time), kind, TASK, *((99, number) if kind == EventKind.EDGE else (number, 0)), arg=cause
            ),
        )
        for time, kind in steps
    ]


def counted(folder: Path, *tasks: list[tuple[float, bytes]]) -> tuple[list[float], list[float]]:
    found = eligibility(trace_of(folder, lane(*tasks, worker_of=1)).process, EDGES)
    assert isinstance(found, Eligibility)
    return found.eligible.tolist(), found.ineligible.tolist()


def bins(*filled: int) -> list[float]:
    return pytest.approx([float(at in filled) for at in range(10)])  # type: ignore[return-value]


def test_created_and_begun_waits_for_a_worker(tmp_path: Path) -> None:
    steps = task(1, (1, EventKind.TASK_CREATED), (3, EventKind.TASK_BEGIN), (5, EventKind.TASK_END))
    assert counted(tmp_path, steps) == (bins(1, 2), bins())


def test_until_it_is_ready_its_inputs_are_missing(tmp_path: Path) -> None:
    steps = task(
        1,
        (1, EventKind.TASK_CREATED),
        (4, EventKind.TASK_READY),
        (6, EventKind.TASK_BEGIN),
        (7, EventKind.TASK_END),
    )
    assert counted(tmp_path, steps) == (bins(4, 5), bins(1, 2, 3))


def test_a_suspended_task_waits_for_what_it_is_given(tmp_path: Path) -> None:
    steps = task(
        1,
        (0, EventKind.TASK_CREATED),
        (1, EventKind.TASK_BEGIN),
        (2, EventKind.TASK_SUSPENDED),
        (5, EventKind.EDGE),
        (7, EventKind.TASK_RESUMED),
        (8, EventKind.TASK_END),
    )
    assert counted(tmp_path, steps) == (bins(0, 5, 6), bins(2, 3, 4))


def test_an_edge_that_only_says_what_depends_on_what_is_no_step(tmp_path: Path) -> None:
    created = task(1, (1, EventKind.TASK_CREATED), (4, EventKind.TASK_BEGIN), (5, EventKind.TASK_END))
    edge = task(1, (2, EventKind.EDGE), cause=WaitCause.OTHER)
    assert counted(tmp_path, created, edge) == (bins(1, 2, 3), bins())


def test_what_never_begins_is_neither(tmp_path: Path) -> None:
    ended = task(1, (1, EventKind.TASK_CREATED), (2, EventKind.TASK_BEGIN), (3, EventKind.TASK_END))
    assert counted(tmp_path, ended, task(2, (1, EventKind.TASK_CREATED))) == (bins(1), bins())


def test_without_creations_nothing_is_known(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, lane(task(1, (1, EventKind.TASK_BEGIN), (2, EventKind.TASK_END)), worker_of=1))
    assert eligibility(trace.process, EDGES) is None

"""The steps of recorded processes, and replays of them with a change: every construct, in small traces with known times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic import LaneFile, S, event
from test_intervals import TASK, at, fork, lane, lock, part, trace_of, wait
from trimtab.analysis import compiled
from trimtab.analysis.changes import ChangeKind, Prediction, Predictions, predictions_of
from trimtab.analysis.what_if import Change, Replays
from trimtab.model.enumerations import EventKind, Schedule, WaitCause, WorkerState
from trimtab.traces import Trace
from trimtab.traces.intervals import lanes_of
from trimtab.traces.steps import steps_of_lanes


def replays_of(trace: Trace) -> Replays:
    lanes = lanes_of(trace)
    assert lanes is not None
    steps = steps_of_lanes(lanes)
    assert steps is not None
    return Replays(steps)


def predicted(trace: Trace) -> Predictions:
    predictions = predictions_of(replays_of(trace).steps)
    assert predictions is not None
    return predictions


def saved(predictions: Predictions, kind: ChangeKind, count: int = 0) -> float:
    (found,) = [change for change in predictions.changes if (change.kind, change.count) == (kind, count)]
    assert isinstance(found, Prediction)
    return found.saved_s


def uneven(folder: Path) -> Trace:
    """Two seconds alone, then a region in which one lane works 6 s and the other 2 s."""
    return trace_of(
        folder,
        lane(fork(2, 8), part(2, 8)),
        lane(part(2, 4)),
        wall=9.0,
    )


def test_a_region_is_replayed_in_its_time(tmp_path: Path) -> None:
    replays = replays_of(uneven(tmp_path))
    assert replays.unchanged_ns == pytest.approx(9 * S)
    assert replays.error == pytest.approx(0.0, abs=1e-9)


def test_equal_work_ends_when_the_mean_does(tmp_path: Path) -> None:
    predictions = predicted(uneven(tmp_path))
    assert saved(predictions, ChangeKind.BALANCED) == pytest.approx(2.0)
    # 3 s alone become 1.5 s on two lanes.
    assert saved(predictions, ChangeKind.PARALLEL_SERIAL_PART) == pytest.approx(1.5)


def test_faster_work_of_who_is_not_last_saves_nothing(tmp_path: Path) -> None:
    replays = replays_of(uneven(tmp_path))
    pieces = replays.steps.pieces
    factor = pieces.length_ns * 0.0 + 1.0
    factor[(pieces.lane == 1)] = 0.1
    assert replays.saved_s(Change(factor)) == pytest.approx(0.0, abs=1e-9)
    factor[(pieces.lane == 0) & (pieces.begin_ns == 2 * S)] = 0.5
    assert replays.saved_s(Change(factor)) == pytest.approx(3.0)


def test_who_comes_last_to_a_barrier_may_be_another_one(tmp_path: Path) -> None:
    # Each lane is last once: balanced phases take 3 s each instead of 4 s.
    trace = trace_of(
        tmp_path,
        lane(fork(0, 8), part(0, 8), wait(2, 4)),
        lane(part(0, 6)),
        wall=8.0,
    )
    assert replays_of(trace).error == pytest.approx(0.0, abs=1e-9)
    trace = trace_of(
        tmp_path / "second",
        lane(fork(0, 8), part(0, 8), wait(2, 4)),
        lane(part(0, 6), wait(4, 4)),
        wall=8.0,
    )
    assert saved(predicted(trace), ChangeKind.BALANCED) == pytest.approx(2.0)


LOOP = 40


def in_loop(begin: float, end: float, chunks: list[float], schedule: Schedule) -> list[tuple[float, bytes]]:
    """A lane in a loop, with the begins of its chunks of 10 iterations."""
    taken = [(second, event(at(second), EventKind.CHUNK, LOOP, 10, 0, schedule)) for second in chunks]
    length = at(end) - at(begin)
    return [*taken, (end, event(at(begin), EventKind.LOOP, LOOP, length, 10 * len(chunks), schedule))]


def late_for_a_loop(folder: Path) -> Replays:
    """Six chunks of 2 s; the second lane comes 6 s late and gets one of them."""
    dynamic = Schedule.DYNAMIC
    return replays_of(
        trace_of(
            folder,
            lane(fork(0, 10), part(0, 10), in_loop(0, 10, [0, 2, 4, 6, 8], dynamic)),
            lane(part(6, 8), in_loop(6, 8, [6], dynamic)),
            wall=10.0,
        )
    )


def test_any_lane_takes_chunks_of_a_dynamic_loop(tmp_path: Path) -> None:
    replays = late_for_a_loop(tmp_path)
    assert replays.error == pytest.approx(0.0, abs=1e-6)
    loops = replays.steps.loops
    assert (loops.loop != 0).sum() == 6 and (loops.leaves != 0).sum() == 2
    # Both at 0: three chunks each.
    assert replays.saved_s(Change(has_leads=False)) == pytest.approx(4.0, abs=1e-6)
    staying = Replays(replays.steps.with_recorded_workers())
    assert staying.error == pytest.approx(0.0, abs=1e-6)
    assert staying.saved_s(Change(has_leads=False)) == pytest.approx(0.0, abs=1e-6)


def test_a_loop_that_waits_inside_stays_with_its_lanes(tmp_path: Path) -> None:
    dynamic = Schedule.DYNAMIC
    replays = replays_of(
        trace_of(
            tmp_path,
            lane(fork(0, 8), part(0, 8), in_loop(0, 8, [0, 4], dynamic), lock(4, 4, 6)),
            lane(part(0, 8), in_loop(0, 8, [0, 4], dynamic), lock(4, 6, 8)),
            wall=8.0,
        )
    )
    assert not replays.steps.loops.loop.any() and replays.error == pytest.approx(0.0, abs=1e-6)


def convoy(folder: Path) -> Trace:
    """Both lanes want the lock at once, hold it for 3 s each, and work 1 s after it."""
    return trace_of(
        folder,
        lane(fork(0, 7), part(0, 4), lock(0, 0, 3)),
        lane(part(0, 7), lock(0, 3, 6)),
        wall=7.0,
    )


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    replays = replays_of(convoy(tmp_path))
    assert replays.error == pytest.approx(0.0, abs=1e-9)
    assert replays.steps.links.is_lock.sum() == 1
    pieces = replays.steps.pieces
    factor = pieces.length_ns * 0.0 + 1.0
    factor[(pieces.lane == 0) & (pieces.end_ns <= 3 * S)] = 2.0
    assert replays.saved_s(Change(factor)) == pytest.approx(-3.0), "who waits for the lock waits longer"
    assert replays.saved_s(Change(has_locks=False)) == pytest.approx(3.0)


def created(second: float, task: int) -> list[tuple[float, bytes]]:
    return [(second, event(at(second), EventKind.TASK_CREATED, TASK, task))]


def task(begin: float, end: float, number: int) -> list[tuple[float, bytes]]:
    return [
        (begin, event(at(begin), EventKind.TASK_BEGIN, TASK, number)),
        (end, event(at(end), EventKind.TASK_END, TASK, number)),
    ]


def state(second: float, state: WorkerState) -> list[tuple[float, bytes]]:
    return [(second, event(at(second), EventKind.WORKER_STATE, 0, arg=state))]


def worker(*parts: list[tuple[float, bytes]]) -> LaneFile:
    return lane(*parts, worker_of=1)


def one_worker(folder: Path) -> Trace:
    """A task of 1 s makes four of 2 s, at 0.5 s; one worker does all."""
    makes = [entry for number in range(2, 6) for entry in created(0.5, number)]
    tasks = [
        entry for number in range(2, 6) for entry in task(1 + 2 * (number - 2), 3 + 2 * (number - 2), number)
    ]
    return trace_of(folder, worker(task(0, 1, 1), makes, tasks), wall=9.0)


def test_more_workers_share_tasks_that_are_ready(tmp_path: Path) -> None:
    predictions = predicted(one_worker(tmp_path))
    assert predictions.error == pytest.approx(0.0, abs=1e-9)
    # The second worker begins at 0.5 s: 0.5 to 4.5, while the first one is ready at 5.
    assert saved(predictions, ChangeKind.MORE_WORKERS, 1) == pytest.approx(4.0)
    # All four at once, when they have been made.
    assert saved(predictions, ChangeKind.MORE_WORKERS, 4) == pytest.approx(6.5)


def test_workers_take_tasks_of_their_own_process_only() -> None:
    # Three tasks of 2 s in the first process, one in the second; each has a worker.
    steps = np.zeros(4, compiled.STEP)
    steps["duration_ns"], steps["lane"], steps["pool"] = 2, compiled.NO_LANE, [1, 1, 1, 2]
    links = np.zeros(0, compiled.LINK)
    own = compiled.replay(steps, links, 2, 2, server_pools=np.array([1, 2], np.uint32))
    assert own["begin_ns"].tolist() == [0, 2, 4, 0]
    assert own["lane"].tolist() == [0, 0, 0, 1]
    more = compiled.replay(steps, links, 3, 3, server_pools=np.array([1, 2, 1], np.uint32))
    assert sorted(more["begin_ns"].tolist()) == [0, 0, 0, 2]
    with pytest.raises(compiled.CompiledError, match="server_pools: expected 2 pools, found 1"):
        compiled.replay(steps, links, 2, 2, server_pools=np.array([1], np.uint32))
    with pytest.raises(compiled.CompiledError, match="no lane serves their pool"):
        compiled.replay(steps, links, 1, 1, server_pools=np.array([1], np.uint32))


def test_a_task_waits_for_what_it_needs(tmp_path: Path) -> None:
    def edge(second: float, source: int, target: int) -> list[tuple[float, bytes]]:
        return [(second, event(at(second), EventKind.EDGE, TASK, source, target, arg=WaitCause.FUTURE))]

    # 3 needs what 2 gives at its end, so more workers save nothing.
    trace = trace_of(
        tmp_path,
        worker(created(0, 2), created(0, 3), task(0, 4, 2), edge(4, 2, 3), task(4, 6, 3)),
        wall=6.0,
    )
    predictions = predicted(trace)
    assert predictions.error == pytest.approx(0.0, abs=1e-9)
    assert saved(predictions, ChangeKind.MORE_WORKERS, 4) == pytest.approx(0.0, abs=1e-9)
    assert saved(predictions, ChangeKind.FASTER) == pytest.approx(1.5)


def test_a_task_goes_on_after_those_on_top_of_it(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path,
        worker(created(0, 1), created(1, 2), [task(0, 6, 1)[0]], task(2, 5, 2), [task(0, 6, 1)[1]]),
        wall=6.0,
    )
    replays = replays_of(trace)
    assert replays.error == pytest.approx(0.0, abs=1e-9)
    pieces = replays.steps.pieces
    factor = pieces.length_ns * 0.0 + 1.0
    factor[(pieces.begin_ns == 2 * S)] = 0.0
    assert replays.saved_s(Change(factor)) == pytest.approx(3.0)


def test_a_straggler_is_replaced_by_the_median(tmp_path: Path) -> None:
    # Four tasks of 1 s, and one of 5 s at the end, while the other worker has nothing to do.
    makes = [entry for number in range(2, 7) for entry in created(0, number)]
    trace = trace_of(
        tmp_path,
        worker(makes, task(0, 1, 2), task(1, 2, 4), task(2, 7, 6)),
        worker(task(0, 1, 3), task(1, 2, 5), state(2, WorkerState.IDLE)),
        wall=7.0,
    )
    predictions = predicted(trace)
    assert saved(predictions, ChangeKind.NO_STRAGGLERS) == pytest.approx(4.0)


def test_no_lock_is_named_where_nobody_waited(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, lane(fork(0, 4), part(0, 4), lock(1, 1, 2)), lane(part(0, 4)), wall=4.0)
    kinds = {change.kind for change in predicted(trace).changes}
    assert ChangeKind.NO_LOCK_WAITS not in kinds and ChangeKind.BALANCED not in kinds

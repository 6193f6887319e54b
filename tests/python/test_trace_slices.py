"""A lane's events become slices that nest, whatever was lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab.model.enumerations import EventKind
from trimtab.readers.layout import EVENT
from trimtab.traces.slices import Role, _go_through, _in_order, _Repair, _repaired, lane_slices

Event = tuple[int, int, int, int, int, int]  # ticks, subject, kind, arg, a, b


def slices_of(*events: Event, end: int = 10_000) -> Any:
    return lane_slices(np.array(list(events), EVENT), 0, end, 1.0)


def tree(*events: Event, end: int = 10_000) -> list[tuple[int, str, int, int]]:
    """Depth, role, begin and end of each slice in order of their begins."""
    slices = slices_of(*events, end=end)
    depth, result = 0, []
    for at in range(len(slices)):
        if slices.change[at] == 1:
            partner = slices.partner[at]
            role = Role(int(slices.role[at])).name
            result.append((depth, role, int(slices.ticks[at]), int(slices.ticks[partner])))
        depth += int(slices.change[at])
    assert depth == 0
    return result


REGION, REGION_END = EventKind.REGION_BEGIN, EventKind.REGION_END
WORK, WORK_END = EventKind.WORK_BEGIN, EventKind.WORK_END
TASK, TASK_END = EventKind.TASK_BEGIN, EventKind.TASK_END
LOOP, WAIT, CHUNK, LOCK, SINGLE = (EventKind[name] for name in ("LOOP", "WAIT", "CHUNK", "LOCK", "SINGLE"))
CREATED, SUSPENDED, RESUMED = EventKind.TASK_CREATED, EventKind.TASK_SUSPENDED, EventKind.TASK_RESUMED
STATE = EventKind.WORKER_STATE


def test_spans_are_put_where_they_began() -> None:
    result = tree(
        (100, 1, REGION, 1, 7, 0),
        (110, 1, WORK, 0, 7, 0),
        (120, 2, CHUNK, 3, 4, 0),
        (150, 2, CHUNK, 3, 4, 4),
        (115, 2, LOOP, 3, 85, 8),  # ends at 200
        (200, 3, WAIT, 2, 50, 7),
        (260, 1, WORK_END, 0, 7, 50),
        (300, 1, REGION_END, 1, 7, 2),
    )
    assert result == [
        (0, "REGION", 100, 300),
        (1, "WORK", 110, 260),
        (2, "LOOP", 115, 200),
        (3, "CHUNK", 120, 150),
        (3, "CHUNK", 150, 200),
        (2, "WAIT", 200, 250),
    ]


def test_a_loop_that_runs_again() -> None:
    # Its first chunk is taken at the very tick at which it begins.
    once = [(0, 2, CHUNK, 3, 4, 0), (0, 2, LOOP, 3, 30, 4)]
    repeated = [(100, 2, CHUNK, 3, 4, 0), (100, 2, LOOP, 3, 30, 4)]
    assert tree(*once, *repeated) == [
        (0, "LOOP", 0, 30),
        (1, "CHUNK", 0, 30),
        (0, "LOOP", 100, 130),
        (1, "CHUNK", 100, 130),
    ]


def test_what_begins_together_nests_by_its_end() -> None:
    result = tree((100, 3, WAIT, 2, 20, 0), (120, 3, WAIT, 2, 0, 0), (100, 2, LOOP, 3, 100, 8))
    assert result == [(0, "LOOP", 100, 200), (1, "WAIT", 100, 120), (1, "WAIT", 120, 120)]


def test_a_long_wait_for_a_lock_is_shown_and_a_short_one_is_not() -> None:
    result = tree((5000, 4, LOCK, 0, 300, 2000), (6000, 4, LOCK, 0, 300, 20))
    assert result == [(0, "LOCK", 3000, 5300), (1, "LOCK_WAIT", 3000, 5000), (0, "LOCK", 6000, 6300)]


def test_tasks_that_ran_in_a_wait_are_inside_it() -> None:
    # The wait's duration leaves out the task's.
    result = tree(
        (10, 5, TASK, 0, 1, 0), (30, 5, TASK, 0, 2, 0), (90, 5, TASK_END, 0, 2, 0), (20, 6, WAIT, 6, 10, 0)
    )
    assert result == [(0, "TASK", 10, 10_000), (1, "WAIT", 20, 90), (2, "TASK", 30, 90)]


def test_ends_whose_begins_a_ring_lost_begin_with_the_first_event() -> None:
    result = tree((500, 3, WAIT, 2, 50, 7), (600, 1, WORK_END, 0, 7, 0), (650, 1, REGION_END, 1, 7, 2))
    assert result == [(0, "REGION", 500, 650), (1, "WORK", 500, 600), (2, "WAIT", 500, 550)]


def test_what_was_open_at_a_kill_ends_with_the_process() -> None:
    result = tree((100, 1, REGION, 1, 7, 0), (110, 1, WORK, 0, 7, 0), (120, 2, CHUNK, 3, 4, 0), end=900)
    assert result == [(0, "REGION", 100, 900), (1, "WORK", 110, 900), (2, "CHUNK", 120, 900)]


def test_a_task_that_is_suspended_shows_in_parts() -> None:
    result = tree(
        (10, 5, TASK, 0, 1, 0),
        (20, 5, SUSPENDED, 1, 1, 0),
        (20, 5, TASK, 0, 2, 0),
        (40, 5, TASK_END, 0, 2, 0),
        (40, 5, RESUMED, 1, 1, 20),
        (60, 5, TASK_END, 0, 1, 0),
    )
    assert result == [(0, "TASK", 10, 20), (0, "TASK", 20, 40), (0, "PART", 40, 60)]


def test_a_task_that_goes_on_elsewhere_is_there_then() -> None:
    slices_here = tree(
        (10, 5, TASK, 0, 1, 0),
        (20, 5, SUSPENDED, 0, 1, 0),
        (30, 5, TASK, 0, 2, 0),
        (50, 5, TASK_END, 0, 2, 0),
    )
    assert slices_here == [(0, "TASK", 10, 20), (0, "TASK", 30, 50)]
    assert tree((70, 5, RESUMED, 0, 1, 0), (90, 5, TASK_END, 0, 1, 0)) == [(0, "PART", 70, 90)]


def test_a_suspension_is_an_instant_in_the_part_that_it_ends() -> None:
    slices = slices_of((10, 5, TASK, 0, 1, 0), (20, 5, SUSPENDED, 3, 1, 7))
    assert slices.change.tolist() == [1, 0, -1]
    assert slices.role.tolist() == [Role.TASK, Role.SUSPENDED, Role.TASK]
    assert slices.source.tolist() == [0, 1, 1]


def test_a_worker_is_in_a_state_until_the_next() -> None:
    # Runs, looks, runs a task, is parked within it (it waits on its stack), runs, and is parked at the end.
    result = tree(
        (0, 8, STATE, 1, 0, 0),
        (10, 8, STATE, 2, 0, 0),
        (20, 8, STATE, 1, 0, 0),
        (20, 5, TASK, 0, 1, 0),
        (30, 8, STATE, 3, 0, 0),
        (40, 8, STATE, 1, 0, 0),
        (50, 5, TASK_END, 0, 1, 0),
        (60, 8, STATE, 4, 0, 0),
        end=90,
    )
    assert result == [
        (0, "STATE", 10, 20),
        (0, "TASK", 20, 50),
        (1, "STATE", 30, 40),
        (0, "STATE", 60, 90),
    ]


def test_slices_that_cross_are_cut() -> None:
    result = tree((10, 8, 7, 0, 0, 0), (20, 9, 7, 0, 0, 0), (30, 8, 8, 0, 0, 0), (40, 9, 8, 0, 0, 0))
    assert result == [(0, "SCOPE", 10, 30), (1, "SCOPE", 20, 30), (0, "SCOPE", 30, 40)]


def test_instants_have_no_partner() -> None:
    slices = slices_of((10, 5, CREATED, 0, 1, 0), (20, 5, SINGLE, 1, 0, 0))
    assert slices.change.tolist() == [0, 0] and slices.partner.tolist() == [-1, -1]
    assert len(slices_of()) == 0


event = st.tuples(
    st.integers(0, 3000) | st.integers(0, 2**64 - 1),
    st.integers(0, 3),
    st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 19, 20, 32, 34, 35, 36, 40, 41, 43, 500]),
    st.integers(0, 5),
    st.integers(0, 4) | st.integers(0, 2**64 - 1),
    st.integers(0, 4) | st.integers(0, 2**64 - 1),
)


@settings(deadline=None)
@given(st.lists(event, max_size=60), st.booleans())
def test_any_events_nest(events: list[Event], is_sorted: bool) -> None:
    slices = slices_of(*(sorted(events) if is_sorted else events))
    stack: list[int] = []
    for at in range(len(slices)):
        if slices.change[at] == 1:
            stack.append(at)
        elif slices.change[at] == -1:
            begin = stack.pop()
            assert slices.partner[at] == begin and slices.partner[begin] == at
            assert slices.role[at] == slices.role[begin]
    assert stack == []
    assert (np.diff(slices.ticks) >= 0).all()
    assert slices.ticks.max(initial=0) <= 10_000


@pytest.mark.parametrize("count", [1, 5000])
def test_deep_nesting(count: int) -> None:
    events = [(at, 8, 7, 0, 0, 0) for at in range(count)]
    slices = slices_of(*events, end=9_000)
    assert len(slices) == 2 * count and slices.ticks[-1] == 9_000


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 30))
def test_repaired_stretch_by_stretch_is_as_repaired_as_a_whole(seed: int) -> None:
    """Tasks and scopes that begin and end at random, now and then with nothing open."""
    random = np.random.default_rng(seed)
    events: list[Event] = []
    for at in range(int(random.integers(1, 200))):
        kind = (TASK, TASK_END, TASK, TASK_END, EventKind.SCOPE_BEGIN, EventKind.SCOPE_END)[
            int(random.integers(0, 6 if random.random() < 0.1 else 2))
        ]
        number = len(events) // 2 if random.random() < 0.7 else int(random.integers(1, 4))
        events.append((at, 1, kind, 0, number, 0))
    recorded = np.array(events, EVENT)
    items = _in_order(recorded, recorded["ticks"].astype(np.int64), 10_000, 1000)
    repair = _Repair(2 * len(items.ticks) + 1000)
    _go_through(recorded, items, 0, len(items.ticks), repair)
    expected, result = repair.items(), _repaired(recorded, items)
    assert result.ticks.tolist() == expected.ticks.tolist()
    assert result.change.tolist() == expected.change.tolist()
    assert result.role.tolist() == expected.role.tolist()
    begins = expected.change >= 0
    assert result.source[begins].tolist() == expected.source[begins].tolist()


def test_one_crossing_costs_no_more_than_its_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    visited: list[int] = []
    add = _Repair.add

    def counted(repair: _Repair, at: int, *item: int) -> None:
        visited.append(at)
        add(repair, at, *item)

    monkeypatch.setattr(_Repair, "add", counted)
    events: list[Event] = []
    for number in range(1, 1001):
        events += [(10 * number, 1, TASK, 0, number, 0), (10 * number + 5, 1, TASK_END, 0, number, 0)]
    # The 500th and the 501st cross.
    events[999], events[1000] = (5004, 1, TASK, 0, 501, 0), (5005, 1, TASK_END, 0, 500, 0)
    slices = slices_of(*events, end=20_000)
    assert len(visited) == 4 and len(slices) >= 2000

"""Arrows between parts of tasks lead from the event that they are of to the part that it is about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from synthetic import LaneFile, ProcessFiles, event, fact, subject, write_run
from trimtab.model.enumerations import EventKind, SubjectKind, WaitCause
from trimtab.readers import open_run
from trimtab.traces.arrows import FIRST_PARCEL, Arrows, arrows_of, parcel_arrows

BEGIN, END, EDGE = EventKind.TASK_BEGIN, EventKind.TASK_END, EventKind.EDGE
CREATED, READY = EventKind.TASK_CREATED, EventKind.TASK_READY
SENT, RECEIVED = EventKind.PARCEL_SENT, EventKind.PARCEL_RECEIVED
SUSPENDED, RESUMED = EventKind.TASK_SUSPENDED, EventKind.TASK_RESUMED
FUTURE = WaitCause.FUTURE
End = tuple[int, int]


def arrows(path: Path, *lanes: list[bytes]) -> Arrows:
    files = ProcessFiles([LaneFile(events=lane) for lane in lanes], [subject(5, SubjectKind.TASK, "t")])
    return arrows_of(open_run(write_run(path / "run", files)).processes[0])


def ends_of(result: Arrows) -> tuple[set[tuple[End, End]], set[tuple[End, End]]]:
    """Pairs of lane and place of the event: what depends on what, and what goes on."""
    places = {}
    for side, flows in (("from", result.leaving), ("to", result.entering)):
        for lane, flow in flows.items():
            for place, number in zip(flow._places.tolist(), flow._numbers.tolist(), strict=True):
                places[side, number] = (lane, place)
    numbers = range(1, result.count + 1)
    pairs = {number: (places["from", number], places["to", number]) for number in numbers}
    before = {pair for number, pair in pairs.items() if number < result.first_going_on}
    return before, set(pairs.values()) - before


def test_what_a_task_waits_for_leads_to_where_it_goes_on(tmp_path: Path) -> None:
    first = [
        event(10, CREATED, 5, a=1),
        event(20, BEGIN, 5, a=1),
        event(30, CREATED, 5, a=2, b=1),
        event(40, SUSPENDED, 5, a=1, b=2, arg=FUTURE),
        event(90, RESUMED, 5, a=1, b=50, arg=FUTURE),
        event(99, END, 5, a=1),
    ]
    second = [event(50, BEGIN, 5, a=2), event(60, EDGE, 5, a=2, b=1, arg=FUTURE), event(70, END, 5, a=2)]
    before, going_on = ends_of(arrows(tmp_path, first, second))
    assert before == {((0, 0), (0, 1)), ((0, 2), (1, 0)), ((1, 1), (0, 4))}
    assert going_on == {((0, 1), (0, 4))}


def test_who_makes_a_task_ready_leads_to_it_unless_it_made_it(tmp_path: Path) -> None:
    first = [
        event(10, CREATED, 5, a=2, b=1),
        event(11, READY, 5, a=2, b=1),
        event(12, CREATED, 5, a=3, b=1),
        event(40, READY, 5, a=3, b=2),
        event(41, READY, 5, a=9, b=2),
    ]
    second = [event(20, BEGIN, 5, a=2), event(50, BEGIN, 5, a=3)]
    before, going_on = ends_of(arrows(tmp_path, first, second))
    assert before == {((0, 0), (1, 0)), ((0, 2), (1, 1)), ((0, 3), (1, 1))}
    assert not going_on


def test_an_edge_leads_to_the_first_part_after_it(tmp_path: Path) -> None:
    parts = [event(at, kind, 5, a=1) for at, kind in ((10, BEGIN), (30, RESUMED), (50, RESUMED))]
    edges = [event(at, EDGE, 5, a=9, b=1, arg=FUTURE) for at in (5, 10, 11, 31, 51)]
    before, _ = ends_of(arrows(tmp_path, parts, edges))
    # The last one came too late for any part.
    assert before == {((1, 0), (0, 0)), ((1, 1), (0, 0)), ((1, 2), (0, 1)), ((1, 3), (0, 2))}


def test_a_dependence_without_a_moment_leads_from_the_last_part_to_the_first(tmp_path: Path) -> None:
    parts = [event(10, BEGIN, 5, a=1), event(20, BEGIN, 5, a=1), event(40, BEGIN, 5, a=2)]
    edges = [event(5, EDGE, 5, a=1, b=2), event(6, EDGE, 5, a=1, b=2), event(7, EDGE, 5, a=1, b=77)]
    before, going_on = ends_of(arrows(tmp_path, parts, edges))
    assert before == {((0, 1), (0, 2))}
    assert going_on == {((0, 0), (0, 1))}


def test_without_tasks_there_are_none(tmp_path: Path) -> None:
    result = arrows(tmp_path, [event(10, BEGIN, 5, a=0), event(20, RESUMED, 5, a=0)], [])
    assert result.count == 0 and not result.leaving and not result.entering


def test_a_parcel_leads_from_where_it_was_sent_to_the_task_in_the_other_process(tmp_path: Path) -> None:
    """Locality 0 sends parcels 7 and 8, the latter outside of tasks; nobody knows who sent parcel 9, and task 4 never begins."""
    first = [
        event(10, BEGIN, 5, a=1),
        event(20, SENT, 5, a=7, b=1, arg=1),
        event(30, END, 5, a=1),
        event(35, SENT, 5, a=8, arg=1),
    ]
    second = [
        event(40, CREATED, 5, a=1),
        event(41, RECEIVED, 5, a=1, b=7, arg=0),
        event(42, CREATED, 5, a=2, b=6),
        event(43, RECEIVED, 5, a=2, b=8, arg=0),
        event(44, CREATED, 5, a=3),
        event(45, RECEIVED, 5, a=3, b=9, arg=0),
        event(46, RECEIVED, 5, a=4, b=7, arg=0),
        event(47, RECEIVED, 5, a=1, b=7, arg=3),
    ]
    third = [event(50, BEGIN, 5, a=2), event(60, BEGIN, 5, a=1), event(70, BEGIN, 5, a=3)]
    files = [
        ProcessFiles(
            [LaneFile(events=lane) for lane in lanes],
            [subject(5, SubjectKind.TASK, "t"), fact("rank", str(rank)), fact("size", "2")],
            pid=100 + rank,
        )
        for rank, lanes in enumerate([[first], [second, third]])
    ]
    processes = open_run(write_run(tmp_path / "run", *files)).processes
    (leaving, nothing), (none, entering) = parcel_arrows(processes)
    assert (nothing, none) == ({}, {})
    assert leaving[0].at(np.array([1, 3]))[1].tolist() == [FIRST_PARCEL, FIRST_PARCEL + 1]
    assert entering[1].at(np.array([0, 1]))[1].tolist() == [FIRST_PARCEL + 1, FIRST_PARCEL]
    # Who received it is not its cause, even if a task did so.
    receiver = arrows_of(processes[1])
    assert not receiver.leaving
    both = receiver.with_parcels((none, entering))
    assert both.entering[1].at(np.array([1, 2]))[0].tolist() == [1, 0]

"""Arrows between parts of tasks lead from the event that they are of to the part that it is about."""

from __future__ import annotations

from pathlib import Path

from synthetic import LaneFile, ProcessFiles, event, subject, write_run
from trimtab.model.enumerations import EventKind, SubjectKind, WaitCause
from trimtab.readers import open_run
from trimtab.traces.arrows import Arrows, arrows_of

BEGIN, END, EDGE = EventKind.TASK_BEGIN, EventKind.TASK_END, EventKind.EDGE
CREATED, READY = EventKind.TASK_CREATED, EventKind.TASK_READY
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

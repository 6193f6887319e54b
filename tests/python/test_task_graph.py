"""The graph of kinds of task, its layout, and its picture."""

from __future__ import annotations

import random
from pathlib import Path
from xml.etree import ElementTree

import pytest
from scheduled_graph import conjugate_gradient, process_of, stencil
from synthetic import LaneFile, ProcessFiles, event, write_run
from trimtab.analysis.task_graph import OUTSIDE, GraphEdge, GraphKind, NamedTasks, TaskGraph, task_graph_of
from trimtab.export import export
from trimtab.export.graph_layout import layered
from trimtab.export.graph_svg import task_graph_svg
from trimtab.model import RunError
from trimtab.model.enumerations import EventKind, RecordLevel
from trimtab.readers import open_run
from trimtab.traces import traces_of
from trimtab.traces.tasks import task_table_of


def graph_of(folder: Path) -> TaskGraph:
    """Of two processes that ran the same kinds."""
    process, _ = process_of(conjugate_gradient(3, 4), 4)
    other, _ = process_of(conjugate_gradient(2, 4), 4)
    other.pid = 200
    run = open_run(write_run(folder / "run", process, other))
    named = []
    for trace in traces_of(run):
        table = task_table_of(trace)
        assert table is not None
        names = {number: subject.name for number, subject in trace.process.subjects.items()}
        named.append(NamedTasks(table, names, names))
    return task_graph_of(named)


def test_kinds_and_edges_of_all_processes(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    assert [(kind.name, kind.count) for kind in graph.kinds] == [("product", 28), ("reduction", 5)]
    assert graph.kinds[1].total_s == pytest.approx(5 * 0.002)
    assert graph.kinds[1].mean_s == pytest.approx(0.002)
    # Each reduction waits for 4 products; the products of all steps but the first wait for one reduction each.
    assert graph.edges == (
        GraphEdge(OUTSIDE, 0, True, 28),
        GraphEdge(OUTSIDE, 1, True, 5),
        GraphEdge(0, 1, False, 20),
        GraphEdge(1, 0, False, 20),
    )


def texts(svg: str) -> list[str]:
    return [
        element.text or "" for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")
    ]


def test_the_picture_names_kinds_and_counts(tmp_path: Path) -> None:
    svg = task_graph_svg(graph_of(tmp_path), "a title")
    assert {"a title", "product", "reduction", "outside of tasks", "20", "28", "5 x 2 ms = 10 ms"} <= set(
        texts(svg)
    )
    assert svg == task_graph_svg(graph_of(tmp_path / "again"), "a title")


def test_names_are_escaped_and_printable() -> None:
    name = 'f<int> & "x"</text><script>\x1b[2J\u202e'
    kinds = (GraphKind(name, 1, 1.0), GraphKind("g" * 500, 1, 1.0))
    svg = task_graph_svg(TaskGraph(kinds, (GraphEdge(0, 1, True, 1), GraphEdge(1, 1, False, 3))), name)
    assert "<script>" not in svg and "\x1b" not in svg and "\u202e" not in svg
    assert any(text.startswith("f<int> & ") for text in texts(svg))
    assert max(map(len, texts(svg))) < 120


def test_kinds_with_least_time_are_left_out() -> None:
    kinds = tuple(GraphKind(f"kind {at}", 1, 100.0 - at) for at in range(70))
    edges = tuple(GraphEdge(at, at + 1, True, 1) for at in range(69))
    shown = texts(task_graph_svg(TaskGraph(kinds, edges), "many"))
    assert "kind 59" in shown and "kind 60" not in shown
    assert "10 kinds with less time are left out" in shown


@pytest.mark.parametrize("seed", range(20))
def test_nodes_do_not_overlap_and_edges_lead_down(seed: int) -> None:
    generator = random.Random(seed)
    count = generator.randint(1, 25)
    edges = [
        (generator.randrange(count), generator.randrange(count)) for _ in range(generator.randint(0, 60))
    ]
    sizes = [(generator.uniform(20, 300), generator.uniform(20, 60)) for _ in range(count)]
    layout = layered(sizes, edges)
    for at, box in enumerate(layout.boxes):
        assert box.x - box.width / 2 + 1e-6 >= 0 and box.x + box.width / 2 <= layout.width + 1e-6
        assert box.y - box.height / 2 + 1e-6 >= 0 and box.y + box.height / 2 <= layout.height + 1e-6
        for other in layout.boxes[:at]:
            is_beside = abs(box.x - other.x) >= (box.width + other.width) / 2 - 1e-6
            is_above = abs(box.y - other.y) >= (box.height + other.height) / 2 - 1e-6
            assert is_beside or is_above
    for (begin, end), route in zip(edges, layout.routes, strict=True):
        if begin == end:
            assert route is None
            continue
        assert route is not None
        heights = [y for _, y in route.points]
        assert heights == sorted(heights, reverse=route.is_upward)
        assert len(set(heights)) == len(heights), "an edge lies in no layer"
        first, last = layout.boxes[begin], layout.boxes[end]
        assert route.points[0] == (first.x, first.y) and route.points[-1] == (last.x, last.y)


def test_without_cycles_no_edge_leads_up() -> None:
    edges = [(1, 0), (2, 1), (2, 0), (4, 2), (3, 2)]
    layout = layered([(10.0, 10.0)] * 5, edges)
    assert not any(route is None or route.is_upward for route in layout.routes)


def test_export(tmp_path: Path) -> None:
    process, _ = process_of(stencil(5, 8), 4)
    run = open_run(write_run(tmp_path / "run", process))
    exported = export(run, "task-graph", tmp_path / "graph.svg")
    assert exported.files == [tmp_path / "graph.svg"]
    assert "stencil" in texts((tmp_path / "graph.svg").read_text())


def test_who_makes_a_task_ready_is_waited_for_unless_it_created_it(tmp_path: Path) -> None:
    """Task 1 creates and starts task 2, and creates task 3, which task 2 makes ready."""
    lane = LaneFile(
        events=[
            event(0, EventKind.TASK_BEGIN, 1, 1),
            event(1, EventKind.TASK_CREATED, 2, 2, 1),
            event(2, EventKind.TASK_READY, 2, 2, 1),
            event(3, EventKind.TASK_CREATED, 3, 3, 1),
            event(4, EventKind.TASK_END, 1, 1),
            event(5, EventKind.TASK_BEGIN, 2, 2),
            event(6, EventKind.TASK_READY, 3, 3, 2),
            event(7, EventKind.TASK_END, 2, 2),
            event(8, EventKind.TASK_BEGIN, 3, 3),
            event(9, EventKind.TASK_END, 3, 3),
        ]
    )
    process = ProcessFiles([lane], level=RecordLevel.TRACE)
    (trace,) = traces_of(open_run(write_run(tmp_path / "run", process)))
    table = task_table_of(trace)
    assert table is not None
    names = {1: "a", 2: "b", 3: "c"}
    graph = task_graph_of([NamedTasks(table, names, names)])
    named = {
        (graph.kinds[edge.giver].name, graph.kinds[edge.receiver].name, edge.is_creation)
        for edge in graph.edges
    }
    assert named == {("a", "b", True), ("a", "c", True), ("b", "c", False)}


def test_a_run_without_tasks(tmp_path: Path) -> None:
    process, _ = process_of(stencil(1, 1), 4)
    for lane in process.lanes:
        lane.events = []
    run = open_run(write_run(tmp_path / "run", process))
    with pytest.raises(RunError, match="trimtab run --trace"):
        export(run, "task-graph", tmp_path / "graph.svg")
    assert not (tmp_path / "graph.svg").exists()

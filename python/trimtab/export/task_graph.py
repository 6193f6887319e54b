"""Writes the graph of kinds of task of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trimtab.analysis.task_graph import NamedTasks, task_graph_of
from trimtab.export.graph_svg import task_graph_svg
from trimtab.export.source import Advance, View
from trimtab.model import Run, RunError
from trimtab.traces.tasks import task_table_of
from trimtab.whole_files import whole_files


def write_task_graph(run: Run, views: Sequence[View], path: Path, advance: Advance) -> None:
    """The picture of all processes of which all events are there.

    Raises:
        RunError: there is none with tasks.
    """
    graph = task_graph_of(list(_named(views, advance)))
    if not graph.kinds:
        raise RunError(
            f"{run.directory}: expected a run with all events of tasks, found none: record one with trimtab run --trace"
        )
    title = f"tasks of {run.info.get('program') or run.directory.name}, by kind: count x mean time = total"
    with whole_files([path]) as (stream,):
        stream.write(task_graph_svg(graph, title).encode())


def _named(views: Sequence[View], advance: Advance) -> Iterator[NamedTasks]:
    for view in views:
        table = task_table_of(view.trace)
        if table is not None:
            subjects = sorted(set(table.subject.tolist()))
            names = {subject: view.places[subject][0] for subject in subjects}
            yield NamedTasks(table, {subject: view.keys[subject] for subject in subjects}, names)
        advance(sum(len(lane.events) for lane in view.process.lanes))

"""Recorded runs in formats that other tools open."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from trimtab.export.cpus import dropped_events, host_tracks
from trimtab.export.dot import MOST_TASKS, write_dot
from trimtab.export.source import Advance, View, notes_of, views_of
from trimtab.export.tables import Table, tables_of
from trimtab.model import Run
from trimtab.whole_files import folder_to_fill, whole_files, whole_folder

if TYPE_CHECKING:
    from trimtab.otf2 import Library

__all__ = ["FORMATS", "Exported", "MissingLibrary", "default_path", "export", "work_of"]

FORMATS = ("perfetto", "chrome", "otf2", "dot", "csv", "parquet", "task-graph")
_ENDINGS = {
    "perfetto": ".perfetto-trace",
    "chrome": ".json",
    "otf2": "-otf2",
    "dot": ".dot",
    "csv": "-csv",
    "parquet": "-parquet",
    "task-graph": ".svg",
}
_MOST_FOR_BROWSERS = 2_000_000_000


class MissingLibrary(Exception):
    """A format needs a library that is not installed; says how to install it."""


@dataclass(frozen=True)
class Exported:
    """The files that were written, and what the run did not have."""

    files: list[Path]
    notes: list[str]


def default_path(run: Path, to: str) -> Path:
    """Where an export goes if nothing else is said: beside the user, named after the run."""
    return Path(run.resolve().name + _ENDINGS[to])


def work_of(run: Run) -> int:
    """How many events an export goes through: what `advance` adds up to, about."""
    return sum(len(lane.events) for process in run.processes for lane in process.lanes)


def export(
    run: Run, to: str, path: Path, advance: Advance = lambda _: None, most_tasks: int = MOST_TASKS
) -> Exported:
    """Write `run` as `to`: a file at `path`, or a folder there: of tables with one file for each, of OTF2 with the archive.

    `most_tasks`: DOT shows that many tasks each; of more, their kinds.

    Raises:
        MissingLibrary: Parquet needs pyarrow, OTF2 the package otf2.
        OSError: the files cannot be written; then none is.
        RunError: a graph of tasks needs their events.
    """
    write_table = _table_writer(to)
    if to == "otf2":
        _otf2_library()
    views = views_of(run)
    notes = notes_of(views)
    if dropped := dropped_events(run):
        notes.append(
            f"{dropped:,} events of the operating system's scheduler are missing: tracks of CPUs have gaps"
        )
    if to == "task-graph":
        from trimtab.export.task_graph import write_task_graph

        write_task_graph(run, views, path, advance)
        return Exported([path], notes)
    if to == "perfetto":
        _write_perfetto(run, views, path, advance)
        return Exported([path], notes)
    if to == "otf2":
        return Exported([_write_otf2(run, views, path, advance)], notes)
    if to == "dot":
        with whole_files([path]) as (stream,):
            note = write_dot(views, stream, most_tasks)
        return Exported([path], notes + ([note] if note else []))
    if to == "chrome":
        _write_chrome(run, views, path, notes, advance)
        if path.stat().st_size > _MOST_FOR_BROWSERS:
            notes.append("browsers do not open files of 2 GB and more: --to perfetto is a third of the size")
        return Exported([path], notes)
    tables = tables_of(views, advance)
    files = [path / f"{table.name}.{to}" for table in tables]
    with folder_to_fill(path), whole_files(files) as streams:
        for table, stream in zip(tables, streams, strict=True):
            write_table(table, stream)
    return Exported(files, notes)


def _table_writer(to: str) -> Callable[[Table, IO[bytes]], None]:
    """Before any work is done: what a format lacks is told at once."""
    from trimtab.export.csv_files import write_csv

    if to != "parquet":
        return write_csv
    try:
        from trimtab.export.parquet_files import write_parquet
    except ImportError as error:
        raise MissingLibrary(
            f"Parquet needs pyarrow ({error}): pip install trimtab[parquet], or --to csv"
        ) from error
    return write_parquet


def _write_perfetto(run: Run, views: list[View], path: Path, advance: Advance) -> None:
    from trimtab.export.perfetto import Perfetto

    with whole_files([path]) as (stream,):
        writer = Perfetto(stream)
        for view in views:
            writer.process(view, advance)
        for host in host_tracks(run, {view.number for view in views}):
            writer.host(host)


def _otf2_library() -> Library:
    from trimtab.otf2 import MissingPackage, load

    try:
        return load()
    except MissingPackage as error:
        raise MissingLibrary(str(error)) from error


def _write_otf2(run: Run, views: list[View], path: Path, advance: Advance) -> Path:
    """The file that viewers of the archive open."""
    from trimtab.export.otf2_trace import Otf2
    from trimtab.otf2 import Failure
    from trimtab.otf2.archive import ANCHOR, Archive

    library = _otf2_library()
    with whole_folder(path, ANCHOR) as folder:
        archive = Archive(library, folder)
        try:
            writer = Otf2(archive, views)
            for view in views:
                writer.process(view, advance)
            writer.close(int(run.info.get("started_real_ns") or 0))
        except Failure as error:
            raise _error_of(error, folder, path) from error
        finally:
            archive.discard()
    return path / ANCHOR


def _error_of(failure: Exception, folder: Path, path: Path) -> OSError:
    """The library does not say that the disk is full; it writes buffers of this size at once."""
    from trimtab.otf2.archive import LARGEST_WRITE

    if shutil.disk_usage(folder).free < LARGEST_WRITE:
        return OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)} ({failure})", str(path))
    return OSError(0, str(failure), str(path))


def _write_chrome(run: Run, views: list[View], path: Path, notes: list[str], advance: Advance) -> None:
    from trimtab.export.chrome import Chrome

    with whole_files([path]) as (stream,):
        writer = Chrome(stream, notes)
        for view in views:
            writer.process(view, advance)
        for host in host_tracks(run, {view.number for view in views}):
            writer.host(host)
        writer.close()

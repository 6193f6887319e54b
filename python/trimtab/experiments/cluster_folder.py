"""The folder of an experiment on nodes: what may be there, and the list of its jobs.

nodes/NODE is the folder of a sweep on that node, and jobs/ has what belongs to jobs: their list (submitted.jsonl, written by
the command), their reports (JOB.json, written by the jobs), their scripts and their logs.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.experiments.node_job import JOBS
from trimtab.experiments.slurm_queue import Queued
from trimtab.experiments.spec import HOST, Experiment, ExperimentError
from trimtab.files import FileKind, read_bytes
from trimtab.whole_files import open_kept

_LOCK = ".lock"
_SUBMITTED = "submitted.jsonl"
_SUBMITTED_FILE = FileKind("the list of the jobs of a sweep", 64 << 20, ExperimentError)


@dataclass
class NodeJob:
    """A job that was submitted; `node` is the one that it asked for or has, if either is known; `misses` counts how often the queue did not have it."""

    number: str
    node: str | None
    queued: Queued | None = None
    misses: int = 0

    def title(self) -> str:
        """As messages call it."""
        return f"job {self.number} on {self.node}" if self.node else f"job {self.number}"

    def state(self) -> str:
        """As Slurm calls it, such as PENDING; empty if it is in no queue."""
        return self.queued.state if self.queued is not None else ""


def check_host_factor(experiment: Experiment) -> None:
    """That results of nodes differ in a factor, whose values the nodes themselves have."""
    hosts = [factor for factor in experiment.factors if factor.kind == HOST]
    if not hosts:
        raise ExperimentError(
            f"{experiment.file}: key 'factors': expected a factor of the host, which tells the nodes apart, such as node = {{host = true}}"
        )
    for factor in hosts:
        if factor.values != (os.uname().nodename,):
            names = ", ".join(map(str, factor.values))
            raise ExperimentError(
                f"{experiment.file}: factor '{factor.name}': expected no names, since each node gives its own, found {names}"
            )


def check_folder(directory: Path) -> None:
    """That there is nothing, or an experiment on nodes."""
    if not directory.is_dir() or (directory / JOBS).is_dir():
        return
    others = sorted(entry.name for entry in directory.iterdir() if entry.name != _LOCK)
    if others:
        raise ExperimentError(
            f"{directory}: expected a new or empty folder, or one of a sweep on nodes, found {others[0]}; give another one with -o"
        )


@contextlib.contextmanager
def locked_folder(directory: Path) -> Iterator[None]:
    """Two commands would submit the same jobs."""
    lock = open_kept(directory / _LOCK, os.O_RDWR)
    try:
        _take(lock, directory)
        yield
    finally:
        os.close(lock)


def _take(lock: int, directory: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ExperimentError(
            f"{directory}: another command waits for the jobs of this sweep; wait for it, or give another folder with -o"
        ) from None


def note_job(directory: Path, job: NodeJob) -> None:
    """On the disk, in the list of jobs."""
    opened = open_kept(directory / JOBS / _SUBMITTED, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(opened, json.dumps({"job": job.number, "node": job.node}).encode() + b"\n")
        os.fsync(opened)
    finally:
        os.close(opened)


def submitted_jobs(directory: Path) -> list[NodeJob]:
    """The jobs in the list."""
    path = directory / JOBS / _SUBMITTED
    if not path.exists():
        return []
    lines = read_bytes(path, _SUBMITTED_FILE).splitlines()
    try:
        rows: list[Any] = [json.loads(line) for line in lines]
        return [NodeJob(str(row["job"]), row["node"]) for row in rows]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ExperimentError(f"{path}: expected a line for each job, found {error!r}") from error

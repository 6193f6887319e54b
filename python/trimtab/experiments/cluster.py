"""An experiment on the nodes of a cluster: a Slurm job for each node, whose results are put together as they come."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from trimtab.experiments.cluster_folder import (
    NodeJob,
    check_folder,
    check_host_factor,
    locked_folder,
    note_job,
    submitted_jobs,
)
from trimtab.experiments.factors import configurations
from trimtab.experiments.gather import gathered_from
from trimtab.experiments.node_job import DONE, FAILED, JOBS, NODES, TAKEN, NodeTask, on_node, report_of
from trimtab.experiments.plan import plan
from trimtab.experiments.results import RESULTS, count_recorded, recorded
from trimtab.experiments.slurm_queue import Queued, accounted_end, queued_jobs, require_slurm
from trimtab.experiments.spec import Experiment, ExperimentError
from trimtab.experiments.submission import NodeRequest, SlurmOptions, Submitter, sbatch_options
from trimtab.experiments.sweeping import Options, expected_s, runs_left
from trimtab.experiments.swept import Swept
from trimtab.running import signals_held_back
from trimtab.whole_files import ensure_private_folder

# Between two looks at the jobs, in seconds: a tenth of the time since something changed, within these bounds.
_LEAST_PAUSE_S, _MOST_PAUSE_S = 0.5, 30.0
# A job that neither waits nor runs is over. Its report may reach this machine later: so often it is looked for.
_MOST_MISSES = 3


@dataclass(frozen=True)
class ClusterProgress:
    """How far the nodes are, in runs, and how many jobs run and wait; `reason` is what the first of these waits for."""

    done: int
    total: int
    running: int
    waiting: int
    reason: str


@dataclass(frozen=True)
class Listener:
    """Who is told: a line when something has happened, how far it is, and the results when a job has ended."""

    event: Callable[[str], None] = lambda _: None
    progress: Callable[[ClusterProgress], None] = lambda _: None
    results: Callable[[Swept], None] = lambda _: None


class ClusterSweep:
    """The folder of an experiment on nodes, and its jobs: `jobs` wait or run, `problems` says how others failed."""

    def __init__(
        self, experiment: Experiment, directory: Path, request: NodeRequest, options: Options
    ) -> None:
        """Nothing is submitted yet.

        Raises:
            ExperimentError: the experiment cannot tell nodes apart, or the folder holds something else.
        """
        check_host_factor(experiment)
        check_folder(directory)
        self._experiment, self._directory = experiment, directory
        self._request, self._options = request, options
        self._runs_of_node = len(plan(experiment, configurations(experiment)))
        self.jobs: list[NodeJob] = []
        self.problems: list[str] = []
        self._own_jobs: set[str] = set()
        # Nodes that get no further job from this command, and failed jobs of which nobody knows the node.
        self._handled_nodes: set[str] = set()
        self._lost_jobs = 0

    def planned_jobs(self) -> list[SlurmOptions]:
        """The options of each job that `run` would submit now."""
        self._find_jobs()
        return [self._options_of(node) for node in self._missing()]

    def run(
        self, listener: Listener = Listener(), pause: Callable[[float], None] = time.sleep
    ) -> Swept | None:
        """Submit what is missing, and wait for all jobs; None: no node has results.

        Raises:
            ExperimentError: a job cannot be submitted, or results are not of this experiment.
        """
        require_slurm()
        submitter = Submitter(self._directory)
        self._directory.mkdir(parents=True, exist_ok=True)
        # A job runs what it finds there.
        ensure_private_folder(self._directory / JOBS)
        with locked_folder(self._directory):
            self._find_jobs()
            for job in self.jobs:
                listener.event(f"{job.title()} was submitted before")
            while True:
                for node in self._missing():
                    self._submit(submitter, node, listener)
                if not self.jobs:
                    return self._swept()
                self._wait(submitter, listener, pause)
                if (swept := self._swept()) is not None:
                    listener.results(swept)

    def _find_jobs(self) -> None:
        """Those of earlier commands that still wait or run."""
        listed = [job for job in submitted_jobs(self._directory) if not self._has_ended(job)]
        queued = queued_jobs() if listed else {}
        if queued is None:
            raise ExperimentError(
                f"{self._directory}: has jobs of an earlier command, but squeue does not say whether they still run; try again when it does"
            )
        self.jobs = [job for job in listed if job.number in queued]
        for job in self.jobs:
            self._update(job, queued)

    def _has_ended(self, job: NodeJob) -> bool:
        report = report_of(self._directory, job.number)
        return report is not None and report.state in (DONE, TAKEN, FAILED)

    def _update(self, job: NodeJob, queued: dict[str, Queued] | None) -> None:
        """From the job's report and the queue."""
        if (report := report_of(self._directory, job.number)) is not None:
            job.node = report.node
        if queued is not None:
            job.queued = queued.get(job.number)
            job.misses = 0 if job.queued is not None else job.misses + 1

    def _missing(self) -> list[str | None]:
        """The nodes that still need a job; None: any further one."""
        busy = {job.node for job in self.jobs if job.node is not None}
        left = {node: self._runs_left(node) for node in self._known_nodes()}
        settled = {node for node, count in left.items() if not count} | self._handled_nodes
        if self._request.names:
            return [node for node in self._request.names if node not in busy | settled]
        open_count = self._request.count - len(settled - busy) - len(self.jobs) - self._lost_jobs
        # What is nearly finished needs least.
        begun = sorted((node for node in left if node not in busy | settled), key=lambda node: left[node])
        chosen: list[str | None] = [*begun[: max(open_count, 0)]]
        return chosen + [None] * (open_count - len(chosen))

    def _known_nodes(self) -> list[str]:
        folder = self._directory / NODES
        return sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []

    def _folder_of(self, node: str) -> Path:
        return self._directory / NODES / node

    def _runs_left(self, node: str) -> int:
        folder, experiment = self._folder_of(node), on_node(self._experiment, node)
        records = recorded(folder, experiment) if (folder / RESULTS).exists() else []
        return len(runs_left(experiment, records, self._options.is_retrying))

    def _options_of(self, node: str | None) -> SlurmOptions:
        known = self._known_nodes()
        # Of a node without results, the runs of another one say how long it may take.
        nodes_with_results = [name for name in (node, *known) if name and self._has_results(name)]
        folder = self._folder_of(nodes_with_results[0]) if nodes_with_results else self._directory
        expected = expected_s(on_node(self._experiment, node or ""), folder)
        return sbatch_options(self._request, self._experiment.name, node, known, expected)

    def _has_results(self, node: str) -> bool:
        return (self._folder_of(node) / RESULTS).exists()

    def _submit(self, submitter: Submitter, node: str | None, listener: Listener) -> None:
        task = NodeTask(self._experiment, self._directory.absolute(), self._options, node)
        options = self._options_of(node)
        # A job whose number nobody has noted would be submitted again.
        with signals_held_back():
            job = NodeJob(submitter.submit(task, options), node)
            note_job(self._directory, job)
            self.jobs.append(job)
            self._own_jobs.add(job.number)
        listener.event(f"{job.title()} is submitted")

    def _wait(self, submitter: Submitter, listener: Listener, pause: Callable[[float], None]) -> None:
        """Until at least one job has ended."""
        changed = time.monotonic()
        while True:
            if self._look(listener):
                changed = time.monotonic()
            ended = [job for job in self.jobs if self._has_ended(job) or job.misses >= _MOST_MISSES]
            for job in ended:
                self._end(job, submitter, listener)
            listener.progress(self._progress())
            if ended:
                return
            pause(min(max((time.monotonic() - changed) / 10, _LEAST_PAUSE_S), _MOST_PAUSE_S))

    def _look(self, listener: Listener) -> bool:
        """At the queue and the reports; whether a job is in another state than before."""
        before = [(job.node, job.state()) for job in self.jobs]
        # NFS: a change of the folder here makes changes from elsewhere visible.
        with contextlib.suppress(OSError):
            os.utime(self._directory / JOBS)
        queued = queued_jobs()
        for job in self.jobs:
            node_before = job.node
            self._update(job, queued)
            if job.node != node_before:
                listener.event(f"job {job.number} runs on {job.node}")
        return before != [(job.node, job.state()) for job in self.jobs] or any(
            job.misses for job in self.jobs
        )

    def _end(self, job: NodeJob, submitter: Submitter, listener: Listener) -> None:
        """Say how it went, and remember whether its node is to have another job."""
        self.jobs.remove(job)
        report = report_of(self._directory, job.number)
        if report is not None and report.state == TAKEN:
            listener.event(f"job {job.number} got node {report.node}, which another job has")
            return
        problem = self._problem(job)
        # What an earlier command has submitted may do less than this one asks for.
        if job.node is not None and (problem or job.number in self._own_jobs):
            self._handled_nodes.add(job.node)
        if not problem:
            listener.event(f"{job.title()} is done")
            return
        self._lost_jobs += job.node is None
        self.problems.append(f"{job.title()} {problem}; its log: {submitter.log_of(job.number)}")
        listener.event(self.problems[-1])

    def _problem(self, job: NodeJob) -> str:
        """Why the job did not do all that it was submitted for; empty if it did."""
        report = report_of(self._directory, job.number)
        if report is not None and report.state == DONE:
            is_stopped = self._options.is_stopping_on_failure and self._runs_left(report.node)
            return "stopped at the first run that failed" if is_stopped else ""
        state, node = accounted_end(job.number)
        job.node = job.node or node or None
        if report is not None and report.state == FAILED:
            return f"failed: {report.problem}" + (f" ({state})" if state else "")
        return f"ended without a result ({state or 'sacct has no record of it'})"

    def _progress(self) -> ClusterProgress:
        known = self._known_nodes()
        done = sum(min(count_recorded(self._folder_of(node)), self._runs_of_node) for node in known)
        reasons = [
            job.queued.reason for job in self.jobs if job.queued is not None and job.state() == "PENDING"
        ]
        total = max(self._request.count, len(known)) * self._runs_of_node
        return ClusterProgress(
            done, total, len(self.jobs) - len(reasons), len(reasons), reasons[0] if reasons else ""
        )

    def _swept(self) -> Swept | None:
        """The results of all nodes so far."""
        nodes = [node for node in self._known_nodes() if self._has_results(node)]
        if not nodes:
            return None
        swept = gathered_from(self._experiment, list(map(self._folder_of, nodes)), self._directory)
        finished = sum(not self._runs_left(node) for node in nodes)
        wanted = max(self._request.count, len(nodes))
        notes = [*swept.notes, *([f"finished nodes: {finished} of {wanted}"] if finished < wanted else [])]
        return replace(swept, notes=notes, is_stopped=bool(self.problems))

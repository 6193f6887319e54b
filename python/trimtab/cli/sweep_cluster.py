"""trimtab sweep --slurm: what is said while jobs wait and run."""

from __future__ import annotations

import sys
from pathlib import Path

from trimtab.cli.common import Stopped, echo, fail, stopped_by_signals
from trimtab.experiments import ClusterProgress, ClusterSweep, Listener, Swept, summarised, write_outputs
from trimtab.text.progress import progress


def run_on_cluster(cluster: ClusterSweep, directory: Path) -> Swept:
    """The results of all nodes when no job is left.

    A signal ends only the waiting: what is in a queue for hours is not lost with a terminal.

    Raises:
        ExperimentError: see `ClusterSweep.run`.
    """
    runs_done = 0
    try:
        with stopped_by_signals(), progress("sweep on nodes", 0) as advance:

            def show_progress(at: ClusterProgress) -> None:
                nonlocal runs_done
                advance(at.done - runs_done, _words(at), at.total)
                runs_done = at.done

            swept = cluster.run(Listener(_say, show_progress, _renew))
    except Stopped as stopped:
        _say(_how_to_go_on(cluster, directory))
        sys.exit(128 + stopped.number)
    if swept is None:
        fail(f"{directory}: no node has results", 1)
    return swept


def _say(text: str) -> None:
    echo(f"trimtab: {text}", err=True)


def _renew(swept: Swept) -> None:
    """Tables and figures, of what the nodes have so far."""
    write_outputs(swept, summarised(swept))


def _words(at: ClusterProgress) -> str:
    waiting = f", {at.waiting} waiting ({at.reason})" if at.waiting else ""
    return f"run {at.done} of {at.total}; jobs: {at.running} running{waiting}"


def _how_to_go_on(cluster: ClusterSweep, directory: Path) -> str:
    numbers = " ".join(job.number for job in cluster.jobs)
    end = f"; its jobs run on, `scancel {numbers}` ends them" if numbers else ""
    return f"stopped{end}; the same command goes on from {directory}"

"""trimtab sweep: experiments."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trimtab.cli.common import ProbeList, Stopped, echo, echo_json, fail, stopped_by_signals

if TYPE_CHECKING:
    from trimtab.experiments import Experiment, Options, Planned, Progress, SlurmOptions, Swept

# A sweep that takes less is over before anybody plans around it.
_WORTH_SAYING_S = 60


@click.command("sweep")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder of the results; one that has some goes on. Default: below trimtab-sweeps/, named in FILE.",
)
@click.option(
    "--resume/--no-resume", default=True, help="Go on where results are (the default), or refuse to."
)
@click.option(
    "--gather",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Run nothing: tables and figures of the results in FOLDER and in those of further --gather, as of other hosts.",
)
@click.option(
    "--slurm",
    "nodes",
    metavar="NODES",
    help="Run the whole experiment on each of several nodes of a cluster, in a Slurm job for each: a number of nodes, or names such as n1,n[3-5].",
)
@click.option(
    "--slurm-option",
    "slurm_options",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Another option of sbatch for these jobs, such as partition=short or time=2:00:00. May be given several times.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be run, and run nothing.")
@click.option("--variant", metavar="NAME", help="A smaller experiment that FILE has under this name.")
@click.option("--samples", type=click.IntRange(min=1), help="Runs of each configuration, in place of FILE's.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the order, in place of FILE's.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="NAME=VALUE[,VALUE...]",
    help="Another fixed value, or other values of a factor. May be given several times.",
)
@click.option(
    "--with", "probes", type=ProbeList(), help="Observe the runs, as trimtab run --with PROBES does."
)
@click.option("--stop-on-failure", is_flag=True, help="Stop at the first run that fails.")
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@click.option("--json", "as_json", is_flag=True, help="Print all tables as JSON.")
def run_sweep(
    file: Path,
    output: Path | None,
    resume: bool,
    folders: tuple[Path, ...],
    nodes: str | None,
    slurm_options: tuple[str, ...],
    dry_run: bool,
    variant: str | None,
    samples: int | None,
    seed: int | None,
    overrides: tuple[str, ...],
    probes: str | None,
    stop_on_failure: bool,
    retry_failed: bool,
    as_json: bool,
) -> None:
    """Run the experiment in FILE: a program with every combination of factors, several times, in random order.

    Leaves tables, figures and a page, index.html. Each result is kept at once: a sweep that was stopped goes on.
    Exits with 0, with 1 if a run or a job of --slurm failed, with 2 if FILE or an option is wrong, with 128 + N if signal N
    stopped it. Jobs of --slurm continue after a signal, and the same command waits for them again.
    """
    from trimtab.cli.sweep_cluster import run_on_cluster
    from trimtab.experiments import (
        ClusterSweep,
        ExperimentError,
        Options,
        configurations,
        expected_s,
        gathered_from,
        load,
        node_request,
        plan,
    )

    try:
        experiment = load(file, dict(map(_override, overrides)), probes, variant)
        experiment = _changed(experiment, samples, seed)
        chosen = configurations(experiment)
        directory = output if output is not None else Path("trimtab-sweeps") / experiment.name
        if nodes is None and slurm_options:
            fail("--slurm-option: expected --slurm NODES as well")
        if nodes is not None and folders:
            fail("--slurm: puts the results of its nodes together itself; leave out --gather")
        if folders:
            _finish(gathered_from(experiment, folders, directory), as_json)
            return
        options = Options(retry_failed, stop_on_failure)
        cluster = (
            None
            if nodes is None
            else ClusterSweep(experiment, directory, node_request(nodes, slurm_options), options)
        )
        expected = expected_s(experiment, directory)
        if dry_run:
            jobs = None if cluster is None else cluster.planned_jobs()
            _show_plan(experiment, len(chosen), plan(experiment, chosen), expected, jobs, as_json)
            return
        if not resume and any((directory / name).exists() for name in ("results.jsonl", "nodes")):
            fail(f"{directory}: has results already, and --no-resume was given")
        if cluster is not None:
            swept = run_on_cluster(cluster, directory)
        else:
            _announce(expected)
            swept = _run(experiment, directory, options, len(plan(experiment, chosen)))
        _finish(swept, as_json)
    except ExperimentError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or output}: {error.strerror or error}")
    sys.exit(1 if swept.failed or swept.is_stopped else 0)


def _changed(experiment: Experiment, samples: int | None, seed: int | None) -> Experiment:
    from dataclasses import replace

    return replace(
        experiment,
        samples=experiment.samples if samples is None else samples,
        seed=experiment.seed if seed is None else seed,
    )


def _override(text: str) -> tuple[str, Any]:
    """NAME=VALUE, or NAME=VALUE,VALUE... for a list; numbers and booleans as in TOML, all else strings."""
    name, equals, value_text = text.partition("=")
    if not equals or not name or not value_text:
        fail(f"--set {text}: expected NAME=VALUE or NAME=VALUE,VALUE..., found '{text}'")
    values = [_value(word) for word in value_text.split(",")]
    return name, values if len(values) > 1 else values[0]


def _value(text: str) -> str | int | float | bool:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _announce(expected_s: float | None) -> None:
    from trimtab.text.sweep import time_left

    if expected_s is not None and expected_s >= _WORTH_SAYING_S:
        echo(
            f"trimtab: the runs will take about {time_left(expected_s)}; a stopped sweep can be continued",
            err=True,
        )


def _show_plan(
    experiment: Experiment,
    configurations: int,
    runs: list[Planned],
    expected_s: float | None,
    jobs: list[SlurmOptions] | None,
    as_json: bool,
) -> None:
    from trimtab.experiments import as_words, command_of
    from trimtab.text.sweep import plan_table

    report: dict[str, Any] = {
        "name": experiment.name,
        "configurations": configurations,
        "samples": experiment.samples,
        "warm_up": experiment.warm_up,
        "runs": len(runs),
        "expected_s": expected_s,
        "order": experiment.order,
        "seed": experiment.seed,
        "commands": [shlex.join(command_of(experiment, run)) for run in runs],
    }
    if jobs is not None:
        report["jobs"] = [as_words(options) for options in jobs]
    if as_json:
        echo_json(report)
    else:
        plan_table(report)


def _run(experiment: Experiment, directory: Path, options: Options, total: int) -> Swept:
    from trimtab.experiments import sweep
    from trimtab.text.progress import progress
    from trimtab.text.sweep import time_left

    runs_done = 0
    try:
        with stopped_by_signals(), progress(f"sweep of {total} runs", total) as advance:

            def show_progress(at: Progress) -> None:
                nonlocal runs_done
                if at.record.failure is not None:
                    echo(_failure(at), err=True)
                advance(
                    at.done - runs_done, f"run {at.done} of {at.total}, {time_left(at.left_s)} left", at.total
                )
                runs_done = at.done

            return sweep(experiment, directory, options, show_progress)
    except Stopped as stopped:
        echo(f"trimtab: stopped; the same command goes on from {directory}", err=True)
        sys.exit(128 + stopped.number)


def _failure(at: Progress) -> str:
    record = at.record
    last = f": {record.stderr[-1]}" if record.stderr else ""
    return f"trimtab: run {at.done} of {at.total}: {shlex.join(record.command)}: {record.failure}{last}"


def _finish(swept: Swept, as_json: bool) -> None:
    from trimtab.experiments import json_of, summarised, write_outputs
    from trimtab.text.progress import progress
    from trimtab.text.sweep import sweep_tables

    with progress("tables and figures"):
        summary = summarised(swept)
        written = write_outputs(swept, summary)
    report = json_of(swept, summary)
    for note in (*swept.notes, *written.notes):
        echo(f"trimtab: {note}", err=True)
    if as_json:
        files = [*written.tables, *written.figures, written.page]
        echo_json({**report, "files": list(map(str, files)), "notes": written.notes})
    else:
        sweep_tables(report)
    counts = report["runs"]
    echo(
        f"trimtab: {counts['done']} of {counts['planned']} runs done{_further(counts)}: {written.page}",
        err=True,
    )
    if counts["failed"]:
        echo("trimtab: --retry-failed runs again what failed", err=True)


def _further(counts: dict[str, int]) -> str:
    words = {
        "failed": "failed",
        "repeated": "made again, because other programs disturbed them or they had failed",
        "disturbed": "still disturbed",
    }
    return "".join(f", {counts[name]} {word}" for name, word in words.items() if counts[name])

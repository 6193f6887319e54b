"""`trimtab tune`: find, over several runs, what makes a program faster, and prove it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab.cli.common import (
    Stopped,
    echo,
    echo_json,
    fail,
    input_class_option,
    input_file_option,
    policy_option,
    range_of,
    region_threads_option,
    search_option,
    stopped_by_signals,
    temporary_folder,
    virtual_threads_option,
)

if TYPE_CHECKING:
    from trimtab.history import Entry
    from trimtab.model.report import Report
    from trimtab.tuning.duration import Plan
    from trimtab.tuning.multi_run import Outcome, Start, Trial
    from trimtab.tuning.objective import Objective
    from trimtab.tuning.runner import ProgramRunner

# Objectives of whole runs, as a sentence says them.
NOUNS = {"time": "time", "energy": "energy", "energy-time": "energy x time"}


@click.command("tune", context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Runs that search for better settings, at the beginning.",
)
@click.option(
    "--pairs",
    type=click.IntRange(5),
    default=5,
    show_default=True,
    help="Pairs of runs, with and without a change, that prove one change.",
)
@click.option(
    "--wide",
    "--thorough",
    "is_wide",
    is_flag=True,
    help="Also try start-up values that no measurement suggests.",
)
@click.option(
    "--try-allocators",
    is_flag=True,
    help="Also try the memory allocators that are installed (jemalloc, mimalloc, tcmalloc): they are loaded into the program.",
)
@click.option(
    "--children",
    is_flag=True,
    help="Start-up values also for the programs that PROGRAM starts: for scripts, and for launchers of jobs.",
)
@search_option
@virtual_threads_option
@region_threads_option
@policy_option
@click.option(
    "--budget",
    type=range_of("TRIMTAB_BUDGET"),
    default=10,
    show_default=True,
    metavar="PERCENT",
    help="Largest share of a run's time that the search may cost.",
)
@click.option(
    "--objective",
    type=click.Choice(NOUNS),
    default="time",
    show_default=True,
    help="What whole runs are to need less of. Energy is that of all processors, as their meters count it (powercap). Within "
    "a run loops are tuned for time.",
)
@input_file_option
@click.option(
    "--history",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File for the settings that are proved to help. Default: trimtab/history.sqlite in your data folder.",
)
@input_class_option
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGS]...")
def run_tune(
    runs: int,
    pairs: int,
    is_wide: bool,
    try_allocators: bool,
    children: bool,
    search: str | None,
    virtual_threads: bool,
    threads: str | None,
    policy: str | None,
    budget: int,
    objective: Objective,
    source: Path | None,
    file: Path | None,
    input_class: str | None,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Run PROGRAM several times, try changes of its loops, scheduling policies and start-up values, and keep what is
    proved to help.

    The program's output is discarded, and each run must end with exit code 0. `trimtab run --frozen` then uses the settings
    that were kept.
    """
    from trimtab.history import History, HistoryError
    from trimtab.programs import find_program
    from trimtab.tuning.duration import Plan, duration_text
    from trimtab.tuning.kept_start import export_line, is_interleaved, kept_entries, spark_options
    from trimtab.tuning.multi_run import RunFailed, rows_of, tune
    from trimtab.tuning.objective import Meter, MeterMissing
    from trimtab.tuning.runner import ProgramRunner
    from trimtab.tuning.single_run import history_in, key_of
    from trimtab.tuning.start_sources import most_starts

    try:
        program = find_program(command[0])
    except FileNotFoundError as error:
        fail(str(error), 127)
    except PermissionError as error:
        fail(str(error), 126)
    history, key = history_in(file), key_of(Path(program), command[1:], input_class)
    try:
        history.check_writable()
        known_entries = history.recall(key)
    except HistoryError as error:
        fail(f"{error}: nothing that is found could be kept; --history FILE names another place")
    try:
        meter = Meter(objective)
    except MeterMissing as error:
        fail(f"--objective {objective}: {error}")
    options = ["--budget", str(budget)]
    for name, value in (("--input-class", input_class), ("--search", search), ("--policy", policy)):
        options += [] if value is None else [name, value]
    options += ["--virtual-threads"] if virtual_threads else []
    options += [] if threads is None else ["--threads", threads]
    with temporary_folder("tune") as folder:
        # The runs begin with what is kept: only what beats it may take its place.
        history_file = History(folder / "history.sqlite")
        if known_entries:
            try:
                history_file.remember(known_entries)
            except HistoryError as error:
                fail(str(error))
        runner = ProgramRunner(
            command,
            folder,
            history_file.path,
            options,
            source,
            input_class=input_class,
            meter=meter,
            is_inherited=children,
        )
        plan = Plan(runs, budget, most_starts(try_allocators), pairs)
        fewer: list[Report | None] = []

        def candidates(report: Report) -> list[Start]:
            fewer.append(_with_fewer_threads(report, runner))
            return _candidates(
                report,
                command,
                runner,
                plan,
                bare.seconds,
                is_wide=is_wide,
                may_preload=try_allocators,
                fewer=fewer[-1],
            )

        try:
            with stopped_by_signals():
                bare = runner.bare()
                most = duration_text(plan.most_s(bare.seconds))
                echo(
                    f"trimtab: {' '.join(command)}: {bare.text} as it is; tuning takes {most} at most",
                    err=True,
                )
                outcome = tune(
                    runner,
                    learning_runs=runs,
                    pairs=pairs,
                    candidates=candidates,
                    report_trial=_print_trial,
                )
                limit = _limit(outcome, fewer[-1])
        except RunFailed as error:
            fail(str(error))
        except Stopped as stopped:
            echo("trimtab: stopped; nothing was kept", err=True)
            sys.exit(128 + stopped.number)
        entries: list[Entry] = []
        kept, reason_not_kept = 0, ""
        if outcome.is_proved:
            try:
                entries = kept_entries(
                    outcome, history_file.recall(key), key, Path(program), is_inherited=children
                )
                history.remember(entries)
                kept = len(entries)
            except HistoryError as error:
                reason_not_kept = str(error)
    rows, line = rows_of(outcome), export_line(entries, runner.environment)
    if as_json:
        result = {"proved": outcome.is_proved, "kept": kept, "rows": rows, "export": line, "limit": limit}
        echo_json(result)
    else:
        from trimtab.text.tune import tuned_table

        tuned_table(rows)
    if reason_not_kept:
        fail(f"proved, but not kept: {reason_not_kept}")
    if as_json:
        return
    if not outcome.is_proved:
        _print_nothing_kept(bool(rows), objective, limit)
        return
    echo(f"kept: {kept} settings in {history.path}; trimtab run --frozen uses them", err=True)
    if line:
        echo(f"the start-up settings without Trimtab: {line}", err=True)
    if options_of_spark := spark_options(entries):
        echo(f"the settings of Spark without Trimtab: spark-submit {options_of_spark}", err=True)
    if is_interleaved(entries):
        echo(
            "memory from all nodes without Trimtab: numactl --interleave=all, before the program's name",
            err=True,
        )


def _limit(outcome: Outcome, fewer: Report | None) -> str:
    """What limits a program for which nothing was proved; else empty. `fewer`: of a run with fewer threads."""
    from trimtab.analysis.limit import limit_of

    if outcome.is_proved or outcome.report is None:
        return ""
    return limit_of(outcome.report, fewer)


def _with_fewer_threads(report: Report, runner: ProgramRunner) -> Report | None:
    """A run with half the threads, which tells memory bandwidth from work; None: the user's number stays, or there is no need."""
    from trimtab.tuning.multi_run import RunFailed
    from trimtab.tuning.start import THREAD_VARIABLES

    threads = report.threads or 0
    is_open = report.spark is None and not set(THREAD_VARIABLES) & runner.environment.keys()
    if not report.regions or threads < 2 or not is_open:
        return None
    count = threads // 2
    echo(f"trimtab: a run with {count} of {threads} threads, to see what limits the program", err=True)
    try:
        return runner.watched({"OMP_NUM_THREADS": str(count)})
    except RunFailed:
        # A program may refuse the number: then nothing is learnt from it.
        return None


def _print_nothing_kept(is_tried: bool, objective: Objective, limit: str) -> None:
    if is_tried:
        echo(f"nothing kept: the whole program does not need less {NOUNS[objective]} with it", err=True)
    else:
        echo("nothing was found that helps; trimtab run says where the time goes", err=True)
    if limit:
        echo(f"what limits it: {limit}", err=True)


def _candidates(
    report: Report,
    command: tuple[str, ...],
    runner: ProgramRunner,
    plan: Plan,
    bare_s: float,
    *,
    is_wide: bool,
    may_preload: bool,
    fewer: Report | None,
) -> list[Start]:
    """What is tried at the start; says how many, and how long that takes."""
    from trimtab.cgroup import available_cpus
    from trimtab.counted import counted
    from trimtab.doctor.runtimes import loader_cache
    from trimtab.tuning.duration import duration_text
    from trimtab.tuning.start_situation import Situation
    from trimtab.tuning.start_sources import proposed_starts, works_in_children

    situation = Situation(
        report,
        runner.environment,
        available_cpus(),
        is_wide=is_wide,
        may_preload=may_preload,
        loader_cache=loader_cache() if may_preload else "",
        command=tuple(command),
        fewer=fewer,
    )
    starts = proposed_starts(situation)
    left = duration_text(replace(plan, settings=len(starts)).trials_s(bare_s))
    echo(f"trimtab: {counted(len(starts), 'setting')} to try at the start; {left} at most", err=True)
    for start in starts:
        echo(f"trimtab:   {start.text}: {start.reason}", err=True)
    if starts and not runner.is_inherited and works_in_children(report):
        echo(
            "trimtab: the work is done by programs that this one starts, and they do not get these settings; "
            "--children gives them the settings, too",
            err=True,
        )
    return starts


def _print_trial(trial: Trial) -> None:
    left = f"; at most {trial.left_s:.0f} s left" if trial.left_s else ""
    echo(f"trimtab: {trial.what}: {trial.cost.text}, {trial.note}{left}", err=True)

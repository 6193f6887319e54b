"""`trimtab tune`: find, over several runs, what makes a program faster, and prove it."""

from __future__ import annotations

import shlex
import sys
import tempfile
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
    virtual_threads_option,
)

if TYPE_CHECKING:
    from trimtab.history import Entry, History, Key
    from trimtab.tuning.multi_run import Outcome, Trial
    from trimtab.tuning.objective import Objective

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
@click.option("--thorough", is_flag=True, help="Also try start-up values that no measurement suggests.")
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
    thorough: bool,
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
    from trimtab.launcher.spark import is_of_user
    from trimtab.programs import find_program
    from trimtab.tuning.memory_starts import memory_starts, offers_huge_pages
    from trimtab.tuning.multi_run import RunFailed, rows_of, starts_for, tune
    from trimtab.tuning.objective import Meter, MeterMissing
    from trimtab.tuning.runner import ProgramRunner
    from trimtab.tuning.single_run import available_cpus, history_in, key_of
    from trimtab.tuning.spark_starts import spark_starts
    from trimtab.tuning.tunables import with_variables

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
    with tempfile.TemporaryDirectory(prefix="trimtab-tune-") as folder:
        # The runs begin with what is kept: only what beats it may take its place.
        history_file = History(Path(folder) / "history.sqlite")
        if known_entries:
            history_file.remember(known_entries)
        runner = ProgramRunner(
            command, Path(folder), history_file.path, options, source, input_class=input_class, meter=meter
        )
        try:
            with stopped_by_signals():
                echo(f"trimtab: {' '.join(command)}: {runner.bare().text} as it is", err=True)
                outcome = tune(
                    runner,
                    learning_runs=runs,
                    pairs=pairs,
                    candidates=lambda report: [
                        *spark_starts(
                            report,
                            lambda name: is_of_user(name, list(command), runner.environment),
                            is_thorough=thorough,
                        ),
                        *memory_starts(
                            report,
                            runner.environment,
                            has_huge_pages=offers_huge_pages(),
                            is_thorough=thorough,
                        ),
                        *starts_for(report, runner.environment, cpus=available_cpus(), is_thorough=thorough),
                    ],
                    report_trial=_print_trial,
                )
        except RunFailed as error:
            fail(str(error))
        except Stopped as stopped:
            echo("trimtab: stopped; nothing was kept", err=True)
            sys.exit(128 + stopped.number)
        kept, reason_not_kept = 0, ""
        if outcome.is_proved:
            try:
                kept = _keep(outcome, history_file.recall(key), history, key, Path(program))
            except HistoryError as error:
                reason_not_kept = str(error)
    rows = rows_of(outcome)
    if as_json:
        echo_json({"proved": outcome.is_proved, "kept": kept, "rows": rows})
    else:
        from trimtab.text.tune import tuned_table

        tuned_table(rows)
    if reason_not_kept:
        fail(f"proved, but not kept: {reason_not_kept}")
    if as_json:
        return
    if outcome.is_proved:
        echo(f"kept: {kept} settings in {history.path}; trimtab run --frozen uses them", err=True)
        if outcome.chosen is not None and outcome.chosen.environment:
            variables = with_variables(runner.environment, outcome.chosen.environment)
            echo(_without_trimtab({name: variables[name] for name in outcome.chosen.environment}), err=True)
    elif rows:
        echo(f"nothing kept: the whole program does not need less {NOUNS[objective]} with it", err=True)
    else:
        echo("nothing was found that helps; trimtab run says where the time goes", err=True)


def _without_trimtab(variables: dict[str, str]) -> str:
    """What the user can start the program with instead."""
    from trimtab.launcher.spark import SETTINGS_VARIABLE, settings_of

    of_spark = settings_of(variables.pop(SETTINGS_VARIABLE, ""))
    parts = (
        [f"export {' '.join(f'{name}={shlex.quote(value)}' for name, value in variables.items())}"]
        if variables
        else []
    )
    parts += (
        [f"spark-submit {' '.join(f'--conf {name}={value}' for name, value in of_spark.items())}"]
        if of_spark
        else []
    )
    return f"the start-up settings without Trimtab: {'; '.join(parts)}"


def _print_trial(trial: Trial) -> None:
    left = f"; at most {trial.left_s:.0f} s left" if trial.left_s else ""
    echo(f"trimtab: {trial.what}: {trial.cost.text}, {trial.note}{left}", err=True)


def _keep(outcome: Outcome, entries: list[Entry], history: History, key: Key, program: Path) -> int:
    """What the runs found, and what the program is to be started with; how many settings."""
    from trimtab.tuning.multi_run import Start
    from trimtab.tuning.single_run import START, entries_of_start

    kept = {entry.subject: entry for entry in entries}
    environment: dict[str, str] = dict(kept[START].settings) if START in kept else {}
    for start, pairs in outcome.starts:
        if pairs.verdict != "better":
            continue
        # All variables are one entry, under what speaks for the last of them.
        environment = dict(start.on_top_of(Start(environment, "")).environment)
        start_and_loops = replace(start, environment=environment if start.environment else {})
        kept |= {entry.subject: entry for entry in entries_of_start(key, program, start_and_loops, pairs)}
    history.remember(kept.values())
    return len(kept)

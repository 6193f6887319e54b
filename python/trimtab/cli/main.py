"""trimtab: the command. Everything heavy is imported when it is needed: the program starts first."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trimtab import __version__, paths
from trimtab.bare import reason_of, run_bare
from trimtab.cli.common import (
    PROBES,
    NewFile,
    ProbeList,
    choice_of,
    default_folder,
    echo,
    echo_json,
    fail,
    find_run,
    fixed_threads_option,
    input_class_option,
    policy_option,
    range_of,
    runs_below,
    search_option,
    threads_option,
    virtual_threads_option,
)
from trimtab.cli.standard_output import standard_output
from trimtab.options import library_option
from trimtab.programs import NotStarted

if TYPE_CHECKING:
    from trimtab.analysis.kept_intervals import KeptIntervals
    from trimtab.launcher import Job, Launch
    from trimtab.launcher.spark import Consent
    from trimtab.model.report import Report
    from trimtab.tuning import Prepared, Tuning

# Commands with a module of their own, of the same name (but `import`, which is a keyword), and what they are called there.
_ELSEWHERE = {
    "check": "run_check",
    "compare": "compare_runs",
    "counters": "run_counters",
    "doctor": "run_doctor",
    "explain": "explain_run",
    "export": "export_run",
    "history": "run_history",
    "import": "import_archive",
    "launch": "run_launch",
    "prove": "prove_run",
    "replay": "run_replay",
    "spark": "run_spark",
    "sweep": "run_sweep",
    "top": "run_top",
    "tune": "run_tune",
    "view": "view_run",
}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class _Size(click.ParamType[int]):
    name = "SIZE"

    def __init__(self, variable: str) -> None:
        self._variable = variable

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+)([KMGT]?)i?B?", str(value), re.IGNORECASE)
        if match is None:
            self.fail(f"invalid size {value!r}; write for example 200M or 2G", param, ctx)
        size = int(match[1]) * _UNITS[match[2].upper()]
        if problem := library_option(self._variable).problem(str(size)):
            self.fail(f"{value}: {problem}", param, ctx)
        return size


class _Commands(click.Group):
    """Imports a command of another module when it is asked for: `run` needs none of them, and its program waits."""

    def main(self, *args: Any, **extra: Any) -> Any:
        with standard_output():
            return super().main(*args, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *_ELSEWHERE})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _ELSEWHERE and cmd_name not in self.commands:
            module = "import_archive" if cmd_name == "import" else cmd_name
            self.add_command(getattr(import_module(f"trimtab.cli.{module}"), _ELSEWHERE[cmd_name]))
        return super().get_command(ctx, cmd_name)


def _show_cmake_dir(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        echo(paths.cmake_dir())
        ctx.exit()


def _show_include_dir(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        echo(paths.include_dir())
        ctx.exit()


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="trimtab")
@click.option(
    "--cmake-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_cmake_dir,
    help="Print the folder for find_package(trimtab) and exit.",
)
@click.option(
    "--include-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_include_dir,
    help="Print the folder of trimtab.h and exit.",
)
def main() -> None:
    """Show why a parallel program's cores are idle."""


@main.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Run directory (new); the ranks of an MPI or Slurm job share it. Default: below trimtab-runs/.",
)
@click.option("--trace", is_flag=True, help="Record every event, not only profiles and the last events.")
@click.option(
    "--max-trace",
    type=_Size("TRIMTAB_MAX_TRACE"),
    help="Largest trace of a process, for example 500M. Default 1G.",
)
@click.option(
    "--keep",
    type=choice_of("TRIMTAB_KEEP"),
    default=library_option("TRIMTAB_KEEP").default,
    help="Which events to keep when the trace is full.",
)
@click.option(
    "--with",
    "probes",
    type=ProbeList(),
    help=f"Sources of counters, separated by commas: {', '.join(PROBES)}; or none. +NAME adds to the defaults.",
)
@click.option("--level", type=choice_of("TRIMTAB_LEVEL"), hidden=True)
@click.option("--html", type=NewFile(), help="Also write the report page to this file.")
@click.option("--no-follow", is_flag=True, help="Do not record the programs that this one starts.")
@click.option(
    "--tune",
    is_flag=False,
    flag_value="on",
    # frozen is --frozen, known is no option at all.
    type=choice_of("TRIMTAB_TUNE", excluded=("frozen", "known")),
    help="on: change loops while they run, keep and remember what is proved to help. off: change nothing. shuffle: change every "
    "setting at random, to see whether the answer stays the same. Default: use only what earlier runs proved to help.",
)
@click.option(
    "--frozen",
    is_flag=True,
    help="Use the settings and start-up values of earlier runs and search for nothing: the same settings in each run.",
)
@click.option(
    "--history",
    "history",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File with the settings that earlier runs found. Default: trimtab/history.sqlite in your data folder.",
)
@input_class_option
@search_option
@policy_option
@click.option(
    "--budget",
    type=range_of("TRIMTAB_BUDGET"),
    metavar="PERCENT",
    help=f"Largest share of the run's time that the search may cost. Default {library_option('TRIMTAB_BUDGET').default}.",
)
@click.option(
    "--seed",
    type=range_of("TRIMTAB_SEED"),
    metavar="NUMBER",
    help=f"Random seed of the search. Default {library_option('TRIMTAB_SEED').default}.",
)
@click.option(
    "--max-memory",
    type=_Size("TRIMTAB_MAX_MEMORY"),
    help="Most resident memory that a process may have because freed memory stays with it, for example 8G. "
    "Default: 20 % above its peak before.",
)
@threads_option
@fixed_threads_option
@virtual_threads_option
@click.option(
    "--record-snapshots",
    is_flag=True,
    help="Record the input of every decision, so that `trimtab replay` can make the decisions again.",
)
@click.option(
    "--kernel",
    is_flag=True,
    help="Also record what the operating system's scheduler does with all programs of this machine: who had the CPUs while "
    "this program waited for one. Needs root, or CAP_PERFMON and a readable /sys/kernel/tracing.",
)
@click.option(
    "--spark-pooled",
    is_flag=True,
    help="Consent to shuffle files of Spark that stay open (spark.shuffle.manager), in executors where opens are slow. The report "
    "says what was decided.",
)
@click.option(
    "--spark-speculation",
    is_flag=True,
    help="Consent to copies of slow tasks of Spark (speculation), from the first stage on that has lost time for want of them. "
    "What tasks write must allow that a task runs twice.",
)
@click.option(
    "--spark-persist",
    is_flag=True,
    help="Consent to results of shuffles of Spark being kept on disk when they are to be computed for the third time.",
)
@click.option(
    "--spark-partitions",
    is_flag=True,
    help="Consent to other numbers of partitions in shuffles of Spark's SQL queries (spark.sql.shuffle.partitions), tried on queries "
    "that repeat. Rows that a query does not sort may come in another order.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no verdict at the end.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGS]...")
def run(
    output: Path | None,
    trace: bool,
    max_trace: int | None,
    keep: str,
    probes: str | None,
    level: str | None,
    html: Path | None,
    no_follow: bool,
    tune: str | None,
    frozen: bool,
    history: Path | None,
    input_class: str | None,
    search: str | None,
    policy: str | None,
    budget: int | None,
    seed: int | None,
    max_memory: int | None,
    threads: str | None,
    threads_even_if_fixed: bool,
    virtual_threads: bool,
    record_snapshots: bool,
    kernel: bool,
    spark_pooled: bool,
    spark_speculation: bool,
    spark_persist: bool,
    spark_partitions: bool,
    quiet: bool,
    command: tuple[str, ...],
) -> None:
    """Run PROGRAM, record it, and say at the end where its cores' time went.

    The program keeps its output, input, signals and exit code. The verdict goes to standard error.
    """
    mode = _tuning_mode(tune, frozen)
    is_tuned = mode not in ("known", "off")
    _refuse_without_mode(mode, policy, threads, threads_even_if_fixed, virtual_threads)
    if not is_tuned:
        _refuse_without_tune(search=search, budget=budget, seed=seed, max_memory=max_memory)
    if mode == "off":
        _refuse_without_tune(input_class=input_class, history=history)
    if output is not None and os.path.lexists(output) and not _is_run_of_job(output):
        fail(f"-o {output}: exists already; expected the name of a new directory")

    def prepare_and_launch() -> tuple[Launch, Prepared | None]:
        from trimtab.launcher import Options, Steering, job_of, launch

        job = job_of()
        directory = (output if output is not None else _default_directory(command[0], job)).absolute()
        prepared = None
        if is_tuned or (mode == "known" and _has_history(history)):
            from trimtab.tuning import Tuning

            wanted = Tuning(
                mode, history, input_class, search, policy, budget, seed, virtual_threads, max_memory
            )
            prepared = _prepare(wanted, command, is_silent=quiet and not is_tuned)
            if not is_tuned and not prepared.has_something:
                prepared = None
        steering = None if prepared is None else prepared.steering
        if threads is not None:
            steering = replace(
                steering or Steering("off"), threads=threads, is_even_if_fixed=threads_even_if_fixed
            )
        options = Options(
            directory,
            level or ("trace" if trace else "profile"),
            max_trace,
            keep,
            probes,
            not no_follow,
            steering,
            record_snapshots,
            job,
            kernel,
            _spark_consents(spark_pooled, spark_speculation, spark_persist, spark_partitions),
        )
        return launch(list(command), options), prepared

    result, prepared = _launched_or_bare(prepare_and_launch, command)
    quiet = quiet or sys.stderr is None
    is_learnt_from = prepared is not None and prepared.steering.mode == "on"
    try:
        if result.why:
            echo(f"trimtab: not recorded: {result.why}", err=True)
        _say_what_is_lacking(result)
        has_report = not quiet or html is not None or is_learnt_from
        if result.directory is not None and has_report and result.is_reporter():
            _aside(partial(_verdict, result.directory, html, quiet, prepared))
    except (OSError, SystemExit):
        # That nobody can be told is no reason to end in another way than the program; rich exits where a pipe is closed.
        pass
    from trimtab.launcher.launch import end_like

    end_like(result)


def _spark_consents(
    is_pooled: bool, is_speculative: bool, is_persistent: bool, is_partitioned: bool
) -> tuple[Consent, ...]:
    if not (is_pooled or is_speculative or is_persistent or is_partitioned):
        return ()
    from trimtab.launcher.spark import PARTITIONS, PERSIST, POOLED, SPECULATION

    asked = {
        POOLED: is_pooled,
        SPECULATION: is_speculative,
        PERSIST: is_persistent,
        PARTITIONS: is_partitioned,
    }
    return tuple(consent for consent, is_asked in asked.items() if is_asked)


def _say_what_is_lacking(result: Launch) -> None:
    """One line for each option that could not do what it was given for."""
    from trimtab.launcher.scheduler import WHAT
    from trimtab.launcher.spark import PARTITIONS, PERSIST, POOLED, SPECULATION

    options = {
        WHAT: "--kernel",
        POOLED.what: "--spark-pooled",
        SPECULATION.what: "--spark-speculation",
        PERSIST.what: "--spark-persist",
        PARTITIONS.what: "--spark-partitions",
    }
    for entry in result.unavailable:
        if option := options.get(entry["what"]):
            echo(f"trimtab: {option}: {entry['why']}; {entry['remedy']}", err=True)


def _is_run_of_job(directory: Path) -> bool:
    """Whether another rank of this process's job has made it, and this rank may join; or it is gone."""
    with contextlib.suppress(Exception):
        from trimtab.launcher import is_open_to, job_of

        job = job_of()
        return job is not None and is_open_to(directory, job)
    return False


def _default_directory(program: str, job: Job | None) -> Path:
    from trimtab import launcher

    return launcher.default_directory(program) if job is None else launcher.directory_of_job(job)


def _aside(work: Callable[[], None]) -> None:
    """Do it in a process of its own: libraries that find no memory end theirs, and ours has to end as the program did."""
    # Nothing there is worth a thread per CPU, and where the user may have no more threads that is told for each.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    try:
        child = os.fork()
    except OSError:
        work()
        return
    if child:
        os.waitpid(child, 0)
        return
    try:
        work()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    finally:
        os._exit(0)


def _launched_or_bare(
    prepare_and_launch: Callable[[], tuple[Launch, Prepared | None]], command: tuple[str, ...]
) -> tuple[Launch, Prepared | None]:
    """The one guard of all that prepares a run: whatever fails there is told in one line, and the program runs without us."""
    try:
        try:
            return prepare_and_launch()
        except NotStarted:
            raise
        except Exception as error:
            with contextlib.suppress(Exception):
                echo(f"trimtab: not recorded: {reason_of(error)}", err=True)
        run_bare(command)
    except NotStarted as error:
        fail(str(error), error.code)


def _tuning_mode(tune: str | None, frozen: bool) -> str:
    """A value of TRIMTAB_TUNE.

    Raises:
        UsageError: the two options contradict each other.
    """
    if frozen and tune not in (None, "off"):
        raise click.UsageError(f"--frozen and --tune={tune} cannot be used together")
    return "frozen" if frozen else tune or "known"


def _refuse_without_mode(
    mode: str, policy: str | None, threads: str | None, threads_even_if_fixed: bool, virtual_threads: bool
) -> None:
    """Raises UsageError for options that mean nothing in this mode, or without each other."""
    is_tuned = mode not in ("known", "off")
    if policy is not None and mode not in ("on", "frozen"):
        raise click.UsageError(f"--policy={policy} needs --tune or --frozen")
    if threads_even_if_fixed and threads is None:
        raise click.UsageError("--threads-even-if-fixed needs --threads")
    if threads == "regions" and not is_tuned:
        raise click.UsageError("--threads regions needs --tune or --frozen")
    if virtual_threads and not is_tuned:
        raise click.UsageError("--virtual-threads needs --tune or --frozen")


def _refuse_without_tune(**of_tuning: object) -> None:
    """An option that would do nothing is a mistake, and told."""
    for name, value in of_tuning.items():
        if value is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --tune or --frozen")


def _has_history(file: Path | None) -> bool:
    """Without, nothing need be looked up: a program that nobody tuned starts sooner."""
    from trimtab.history import default_path

    try:
        return file is not None or default_path().exists()
    except OSError:
        # A folder that may not be entered: that is told when the history is read.
        return True


def _prepare(wanted: Tuning, command: tuple[str, ...], is_silent: bool) -> Prepared:
    """What the run is started with; a history that cannot be used is told, and the run goes on without."""
    from trimtab.counted import counted
    from trimtab.tuning import prepare

    program = Path(shutil.which(command[0]) or command[0])
    prepared = prepare(wanted, program, command[1:])
    if prepared.why and not is_silent:
        echo(f"trimtab: {prepared.why}", err=True)
    if prepared.outdated and not is_silent:
        echo(
            f"trimtab: not used: {counted(prepared.outdated, 'setting')} of earlier runs, because an older version measured "
            "loops wrongly; `trimtab run --tune` searches anew, `trimtab history list` shows what is not used",
            err=True,
        )
    return prepared


def _verdict(directory: Path, html: Path | None, quiet: bool, prepared: Prepared | None) -> None:
    """Never lets an error of ours reach the program's exit code."""
    from trimtab.model import RunError

    try:
        kept = _room_for_intervals(html)
        report = _build(directory, kept)
        if prepared is not None:
            from trimtab.tuning import remember

            if reason := remember(prepared, report, directory):
                echo(f"trimtab: settings not saved: {reason}", err=True)
        if not quiet:
            from trimtab.text.verdict import verdict

            verdict(report, directory, sys.stderr)
        if html is not None:
            _write_page(report, directory, html, kept)
            echo(f"trimtab: report page: {html}", err=True)
    except RunError as error:
        echo(f"trimtab: {error}", err=True)
    except OSError as error:
        echo(f"trimtab: {error.filename}: {error.strerror}", err=True)
    except Exception as error:
        echo(f"trimtab: no verdict: {reason_of(error)}; trimtab report {directory}", err=True)


def _room_for_intervals(html: Path | None) -> KeptIntervals | None:
    """What a page will show need not be found out twice."""
    from trimtab.analysis.kept_intervals import KeptIntervals

    return None if html is None else KeptIntervals()


def _build(directory: Path, kept: KeptIntervals | None = None) -> Report:
    from trimtab.cli.sources import Source
    from trimtab.heap import prepare_for_long_arrays
    from trimtab.text.progress import progress

    prepare_for_long_arrays()
    with progress("reading the run"):
        return Source(directory).report(kept)


def _write_page(report: Report, directory: Path, html: Path, kept: KeptIntervals | None) -> None:
    from trimtab.cli.sources import Source
    from trimtab.report import lane_page, write_html
    from trimtab.spark.with_run import event_log_of
    from trimtab.text.progress import progress
    from trimtab.threads import give_memory_back

    with progress("drawing the lanes"):
        give_memory_back()
        lanes = lane_page(
            Source(directory, event_log_of(directory)).run(), kept=() if kept is None else (kept,)
        )
    write_html(report, html, lanes)


def _tables(built: Report, directory: Path) -> None:
    """The report as text; of a Spark application, with its stages."""
    from trimtab.text.spark import spark_tables
    from trimtab.text.tables import tables

    if built.spark is not None:
        spark_tables(built, directory)
    else:
        tables(built, directory)


@main.command()
@click.argument("run_directory", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--html", type=NewFile(), help="Write a page that opens without a server.")
def report(run_directory: str, as_json: bool, html: Path | None) -> None:
    """Show a recorded run as tables. RUN is a run directory, or `last`."""
    from trimtab.model import RunError

    directory = find_run(run_directory)
    try:
        kept = _room_for_intervals(None if as_json else html)
        built = _build(directory, kept)
        if as_json:
            from trimtab.model.report_json import as_json as plain

            echo_json(plain(built))
        elif html is not None:
            _write_page(built, directory, html, kept)
            echo(f"trimtab: report page: {html}", err=True)
        else:
            _tables(built, directory)
    except RunError as error:
        fail(str(error))
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")


@main.command("list")
@click.argument("directory", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def list_runs(directory: Path | None, as_json: bool) -> None:
    """List the recorded runs below DIRECTORY, newest first. Default: where `trimtab run` leaves them."""
    from trimtab.model import RunError
    from trimtab.readers.run import read_info

    directory = default_folder() if directory is None else directory
    runs = []
    for run in runs_below(directory):
        try:
            runs.append(_summary(run, read_info(run)))
        except RunError as error:
            echo(f"trimtab: {error}; left out", err=True)
    runs.sort(key=lambda run_info: -int(run_info["started_real_ns"] or 0))
    if as_json:
        echo_json(runs)
        return
    if not runs:
        echo(f"no runs below {directory}", err=True)
        return
    from trimtab.text.tables import run_list

    run_list(runs)


def _summary(run: Path, info: dict[str, Any]) -> dict[str, Any]:
    ended = info.get("ended") or {}
    run_info = {
        "run": str(run),
        "program": info.get("program"),
        "started_real_ns": info.get("started_real_ns"),
    }
    return run_info | {key: ended.get(key) for key in ("wall_s", "code", "signal")}


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL: eval "$(trimtab completion bash)"."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        fail(f"no completion for {shell}")
    else:
        for line in kind(main, {}, "trimtab", "_TRIMTAB_COMPLETE").source().splitlines():
            echo(line)

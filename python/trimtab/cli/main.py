"""trimtab: the command. Everything heavy is imported when it is needed: the program starts first."""

from __future__ import annotations

import contextlib
import json
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
    fail,
    find_run,
    fixed_threads_option,
    input_class_option,
    policy_option,
    search_option,
    threads_option,
    virtual_threads_option,
)
from trimtab.programs import NotStarted

if TYPE_CHECKING:
    from trimtab.launcher import Launch
    from trimtab.tuning import Prepared, Tuning

# Commands with a module of their own, of the same name, and what they are called there.
_ELSEWHERE = {
    "check": "run_check",
    "compare": "compare_runs",
    "counters": "run_counters",
    "doctor": "run_doctor",
    "export": "export_run",
    "history": "run_history",
    "replay": "run_replay",
    "sweep": "run_sweep",
    "tune": "run_tune",
}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class _Size(click.ParamType[int]):
    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+)([KMGT]?)i?B?", str(value), re.IGNORECASE)
        if match is None:
            self.fail(f"{value!r} is no size; write for example 200M or 2G", param, ctx)
        return int(match[1]) * _UNITS[match[2].upper()]


class _Commands(click.Group):
    """Imports a command of another module when it is asked for: `run` needs none of them, and its program waits."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *_ELSEWHERE})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _ELSEWHERE and cmd_name not in self.commands:
            self.add_command(getattr(import_module(f"trimtab.cli.{cmd_name}"), _ELSEWHERE[cmd_name]))
        return super().get_command(ctx, cmd_name)


def _show_cmake_dir(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(paths.cmake_dir())
        ctx.exit()


def _show_include_dir(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(paths.include_dir())
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
    help="Run directory (new). Default: below trimtab-runs/.",
)
@click.option("--trace", is_flag=True, help="Record every event, not only profiles and the last events.")
@click.option(
    "--max-trace", type=_Size(), help="Most that a process's trace may take, e.g. 500M. Default 1G."
)
@click.option(
    "--keep", type=click.Choice(["first", "last"]), default="first", help="Which end of a full trace stays."
)
@click.option(
    "--with",
    "probes",
    type=ProbeList(),
    help=f"Probes, comma separated; +NAME adds to the defaults; none. They are: {', '.join(PROBES)}.",
)
@click.option("--level", type=click.Choice(["off", "idle", "profile", "trace"]), hidden=True)
@click.option("--html", type=NewFile(), help="Also write the report page to this file.")
@click.option("--no-follow", is_flag=True, help="Do not watch the program's children.")
@click.option(
    "--tune",
    is_flag=False,
    flag_value="on",
    type=click.Choice(["on", "off", "shuffle"]),
    help="Change loops while they run, keep what is proved to help, and remember it. off: run it as it is written. shuffle: "
    "turn every knob at random, to see whether the answer stays. Default: use what earlier runs proved to help, and nothing else.",
)
@click.option(
    "--frozen",
    is_flag=True,
    help="Use all that earlier runs found, started as the last one was, and search for nothing: the same settings each time.",
)
@click.option(
    "--history",
    "history",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What earlier runs found. Default: yours.",
)
@input_class_option
@search_option
@policy_option
@click.option(
    "--budget",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    help="Most of the run's time that search may cost. Default 3.",
)
@click.option("--seed", type=click.IntRange(0), help="Of what search draws by lot. Default 1.")
@threads_option
@fixed_threads_option
@virtual_threads_option
@click.option(
    "--record-snapshots",
    is_flag=True,
    help="Write down all that steering is told, so that `trimtab replay` can make its decisions again.",
)
@click.option("-q", "--quiet", is_flag=True, help="No verdict at the end.")
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
    threads: str | None,
    threads_even_if_fixed: bool,
    virtual_threads: bool,
    record_snapshots: bool,
    quiet: bool,
    command: tuple[str, ...],
) -> None:
    """Run PROGRAM, record it, and say at the end where its cores' time went.

    The program's output, input, signals and exit code stay its own; the verdict goes to standard error.
    """
    if frozen and tune not in (None, "off"):
        raise click.UsageError(f"--frozen and --tune={tune} exclude each other")
    mode = "frozen" if frozen else tune or "known"
    is_asked_for = mode not in ("known", "off")
    if policy is not None and mode not in ("on", "frozen"):
        raise click.UsageError(f"--policy={policy} wants --tune (or --frozen), found --tune={tune or 'off'}")
    if threads_even_if_fixed and threads is None:
        raise click.UsageError("--threads-even-if-fixed needs --threads")
    if threads == "regions" and not is_asked_for:
        raise click.UsageError("--threads regions needs --tune or --frozen")
    if not is_asked_for:
        _refuse_without_tune(search=search, budget=budget, seed=seed)
    if mode == "off":
        _refuse_without_tune(input_class=input_class, history=history)
    if virtual_threads and not is_asked_for:
        raise click.UsageError("--virtual-threads needs --tune or --frozen")
    if output is not None and os.path.lexists(output):
        fail(f"-o {output}: exists already; expected the name of a new directory")

    def prepare_and_launch() -> tuple[Launch, Prepared | None]:
        from trimtab.launcher import Options, Steering, default_directory, launch

        directory = (output if output is not None else default_directory(command[0])).absolute()
        prepared = None
        if is_asked_for or (mode == "known" and _has_history(history)):
            from trimtab.tuning import Tuning

            wanted = Tuning(mode, history, input_class, search, policy, budget, seed, virtual_threads)
            prepared = _prepare(wanted, command, is_silent=quiet and not is_asked_for)
            if not is_asked_for and not prepared.has_something:
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
        )
        return launch(list(command), options), prepared

    result, prepared = _launched_or_bare(prepare_and_launch, command)
    quiet = quiet or sys.stderr is None
    is_learnt_from = prepared is not None and prepared.steering.mode == "on"
    try:
        if result.why:
            click.echo(f"trimtab: not recorded: {result.why}", err=True)
        if result.directory is not None and (not quiet or html is not None or is_learnt_from):
            _aside(partial(_verdict, result.directory, html, quiet, prepared))
    except (OSError, SystemExit):
        # That nobody can be told is no reason to end in another way than the program; rich exits where a pipe is closed.
        pass
    from trimtab.launcher.launch import end_like

    end_like(result)


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
            with contextlib.suppress(OSError):
                click.echo(f"trimtab: not recorded: {reason_of(error)}", err=True)
        run_bare(command)
    except NotStarted as error:
        fail(str(error), error.code)


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
    from trimtab.tuning import prepare

    program = Path(shutil.which(command[0]) or command[0])
    prepared = prepare(wanted, program, command[1:])
    if prepared.why and not is_silent:
        click.echo(f"trimtab: nothing known: {prepared.why}", err=True)
    return prepared


def _verdict(directory: Path, html: Path | None, quiet: bool, prepared: Prepared | None) -> None:
    """Never lets an error of ours reach the program's exit code."""
    from trimtab.model import RunError

    try:
        report = _build(directory)
        if prepared is not None:
            from trimtab.tuning import remember

            if why := remember(prepared, report, directory):
                click.echo(f"trimtab: not remembered: {why}", err=True)
        if not quiet:
            from trimtab.text import verdict

            verdict(report, directory, sys.stderr)
        if html is not None:
            from trimtab.report import write_html

            write_html(report, html)
            click.echo(f"trimtab: report page: {html}", err=True)
    except RunError as error:
        click.echo(f"trimtab: {error}", err=True)
    except OSError as error:
        click.echo(f"trimtab: {error.filename}: {error.strerror}", err=True)
    except Exception as error:
        click.echo(f"trimtab: no verdict: {reason_of(error)}; trimtab report {directory}", err=True)


def _build(directory: Path) -> dict[str, Any]:
    from trimtab.analysis import build
    from trimtab.readers import open_run
    from trimtab.text.progress import progress

    with progress("reading the run"):
        return build(open_run(directory))


@main.command()
@click.argument("run_directory", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON on standard output.")
@click.option("--html", type=NewFile(), help="Write one page that opens without a server.")
def report(run_directory: str, as_json: bool, html: Path | None) -> None:
    """Tables of a recorded run. RUN is a run directory, or `last`."""
    from trimtab.model import RunError

    directory = find_run(run_directory)
    try:
        built = _build(directory)
        if as_json:
            json.dump(built, sys.stdout, indent=1)
            sys.stdout.write("\n")
        elif html is not None:
            from trimtab.report import write_html

            write_html(built, html)
            click.echo(f"trimtab: report page: {html}", err=True)
        else:
            from trimtab.text import tables

            tables(built, directory)
    except RunError as error:
        fail(str(error))
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")


@main.command("list")
@click.argument("directory", type=click.Path(path_type=Path), default=Path("trimtab-runs"))
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
def list_runs(directory: Path, as_json: bool) -> None:
    """Runs below DIRECTORY, newest first."""
    found = []
    for path in directory.glob("*/run.json"):
        try:
            info = json.loads(path.read_text(encoding="utf-8"))
            ended = info.get("ended") or {}
            found.append(
                {
                    "run": str(path.parent),
                    "program": info.get("program"),
                    "started_real_ns": info["started_real_ns"],
                    "wall_s": ended.get("wall_s"),
                    "code": ended.get("code"),
                    "signal": ended.get("signal"),
                }
            )
        except (OSError, ValueError, KeyError, AttributeError):
            click.echo(f"trimtab: {path}: not readable, left out", err=True)
    found.sort(key=lambda each: -int(each["started_real_ns"]))
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    if not found:
        click.echo(f"no runs below {directory}", err=True)
        return
    from trimtab.text import run_list

    run_list(found)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL: eval "$(trimtab completion bash)"."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        fail(f"no completion for {shell}")
    else:
        click.echo(kind(main, {}, "trimtab", "_TRIMTAB_COMPLETE").source())

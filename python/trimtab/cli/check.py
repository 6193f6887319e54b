"""trimtab check: is the answer still right?"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab.cli.common import (
    Stopped,
    echo,
    echo_json,
    fail,
    stopped_by_signals,
)

if TYPE_CHECKING:
    from trimtab.answer_check import Checked, Options, Rules

_NONE = click.FloatRange(min=0)


@click.command("check", context_settings={"allow_interspersed_args": False})
@click.option("--runs", type=click.IntRange(min=1), default=3, help="Runs of each side, in turn. Default 3.")
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    help="Also compare this file, the files in this folder, or those that this pattern (quoted) names. "
    "May be given several times.",
)
@click.option(
    "--binary",
    "binaries",
    type=(click.Choice(["f32", "f64"]), str),
    multiple=True,
    metavar="KIND PATH",
    help="The same for files that are arrays of numbers: f32 or f64, in this machine's order of bytes.",
)
@click.option("--tolerance", type=_NONE, default=0.0, help="Numbers may differ by this part of their value.")
@click.option("--absolute", type=_NONE, default=0.0, help="Or by this much.")
@click.option("--ignore", multiple=True, metavar="REGEX", help="Leave out lines that match.")
@click.option("--any-order", is_flag=True, help="Lines may come in any order.")
@click.option("--no-stderr", is_flag=True, help="Do not compare standard error.")
@click.option(
    "--input",
    "stdin",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=Path("/dev/null"),
    metavar="FILE",
    help="Standard input of each run. Default: none.",
)
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), help="Longest that a run may take, in seconds."
)
@click.option(
    "--with-options",
    "tuning",
    default="--tune",
    metavar="OPTIONS",
    help="How the tuned side runs: options of `trimtab run`, in one word. Default: --tune.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Keep what each run printed and wrote, and its run directory, in this folder (new).",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGS]...")
@click.pass_context
def run_check(
    ctx: click.Context,
    runs: int,
    files: tuple[str, ...],
    binaries: tuple[tuple[str, str], ...],
    tolerance: float,
    absolute: float,
    ignore: tuple[str, ...],
    any_order: bool,
    no_stderr: bool,
    stdin: Path,
    timeout: float | None,
    tuning: str,
    output: Path | None,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Run PROGRAM without and with tuning, and compare what it does: exit code, output, and files.

    Numbers and lines in which the plain runs differ themselves (times, process numbers) are not held against tuning.
    Files that are named are the same before each run, and in the end as they were.
    Exits with 0 if all is the same, with 1 if something differs, with 2 if that cannot be told.
    """
    from trimtab.answer_check import Options, Pattern, Rules

    options = Options(
        argv=command,
        runs=runs,
        tuning=_tuning(ctx, tuning, command),
        patterns=[*map(Pattern, files), *(Pattern(path, kind) for kind, path in binaries)],
        stdin=stdin,
        timeout_s=timeout,
        is_stderr=not no_stderr,
    )
    rules = Rules(tolerance, absolute, tuple(map(_compiled, ignore)), any_order)
    with _folder(output) as folder:
        checked = _check(options, rules, folder)
    report = checked.as_json()
    if as_json:
        echo_json(report)
    else:
        from trimtab.text.check import check_table

        check_table(report)
    sys.exit(0 if checked.is_same else 1)


def _tuning(ctx: click.Context, options: str, command: tuple[str, ...]) -> list[str]:
    """Options that `trimtab run` knows: otherwise each tuned run would differ by its error."""
    try:
        words = shlex.split(options)
        group = ctx.find_root().command
        assert isinstance(group, click.Group)
        group.commands["run"].make_context("run", [*words, "--", *command], resilient_parsing=False)
    except (ValueError, click.UsageError) as error:
        fail(f"--with-options '{options}': expected options of `trimtab run`: {error}")
    return words


def _compiled(pattern: str) -> re.Pattern[bytes]:
    try:
        return re.compile(pattern.encode())
    except re.error as error:
        fail(f"--ignore '{pattern}': expected a regular expression: {error}")


@contextmanager
def _folder(output: Path | None) -> Iterator[Path]:
    if output is None:
        with tempfile.TemporaryDirectory(prefix="trimtab-check-") as folder:
            yield Path(folder)
        return
    try:
        output.mkdir(parents=True)
    except OSError as error:
        fail(f"--output {output}: expected a folder that can be made: {error.strerror}")
    yield output.absolute()


def _check(options: Options, rules: Rules, folder: Path) -> Checked:
    from trimtab.answer_check import CheckError, check
    from trimtab.text.progress import progress

    steps_done = 0
    try:
        with stopped_by_signals(), progress("check", 2 * options.runs) as advance:

            def show_progress(activity: str, now: int, total: int) -> None:
                nonlocal steps_done
                advance(now - steps_done, activity, total)
                steps_done = now

            return check(options, rules, folder, show_progress)
    except CheckError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    except Stopped as stopped:
        echo("trimtab: stopped", err=True)
        sys.exit(128 + stopped.number)

"""What several commands share."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from trimtab.escapes import printable
from trimtab.files import FileKind, read_bytes
from trimtab.options import library_option, tunables_problem
from trimtab.paths import current_folder, run_folders
from trimtab.whole_files import open_private_folder


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """A line on standard output or error: texts of others in it (names, files, what a run says) move no cursor."""
    click.echo(printable(str(text), allowed="\t"), err=err, nl=nl)


def echo_json(value: object, indent: int = 1) -> None:
    """`value` as it is, for machines: JSON in ASCII, null for what JSON has no number for."""
    try:
        text = json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_with_numbers(value), indent=indent, allow_nan=False)
    click.echo(text)


def echo_encoded(line: bytes) -> None:
    """A line of JSON that is encoded already."""
    click.echo(line.decode())


def _with_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_numbers(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_with_numbers(element) for element in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def fail(message: str, code: int = 2) -> NoReturn:
    """One line on standard error, and out."""
    echo(f"trimtab: {message}", err=True)
    sys.exit(code)


PROBES = library_option("TRIMTAB_PROBES").words


class ProbeList(click.ParamType[str]):
    """Names of probes, each of which may begin with +; or none."""

    name = "PROBES"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        for unknown_word in library_option("TRIMTAB_PROBES").unknown_words(str(value)):
            self.fail(f"unknown probe {unknown_word!r}; choose from {', '.join(PROBES)}, or none", param, ctx)
        return str(value)


def range_of(variable: str) -> click.IntRange:
    """The numbers that the library takes for this variable."""
    option = library_option(variable)
    return click.IntRange(option.least, option.most)


def choice_of(variable: str, excluded: tuple[str, ...] = ()) -> click.Choice[str]:
    """The words that the library takes for this variable, but some that are set in another way."""
    return click.Choice([word for word in library_option(variable).words if word not in excluded])


class NewFile(click.ParamType[Path]):
    """A file to be written at the end of a run: what is wrong with its place is told before the program starts."""

    name = "PATH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if path.is_dir():
            self.fail(f"{value}: is a folder; expected the name of a file", param, ctx)
        if not path.absolute().parent.is_dir():
            self.fail(f"{value}: folder {path.parent} does not exist", param, ctx)
        return path


# Of commands that tune.
@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """A folder that is removed with all that is in it; the command ends where none can be made."""
    import tempfile

    try:
        folder = tempfile.TemporaryDirectory(prefix=f"trimtab-{purpose}-")
    except OSError as error:
        fail(f"TMPDIR: expected a folder that can be written, found none: {error.strerror}")
    with folder as name:
        yield Path(name)


input_file_option = click.option(
    "--input",
    "source",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File for the program's standard input. Default: none.",
)
input_class_option = click.option(
    "--input-class",
    metavar="NAME",
    help="Name under which the history keeps settings for this input. Default: the program's arguments.",
)
search_option = click.option(
    "--search",
    type=choice_of("TRIMTAB_SEARCH"),
    help=f"Search method within a run. Default: {library_option('TRIMTAB_SEARCH').default}.",
)


class _Threads(click.ParamType[str]):
    """A policy, and behind a colon what is to be another value of its tunables."""

    name = "POLICY[:TUNABLE=NUMBER,...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        policy, _, tunables_text = text.partition(":")
        policies = choice_of("TRIMTAB_THREADS", excluded=("off",)).choices
        if policy not in policies:
            self.fail(f"expected one of {', '.join(policies)}, found {policy!r}", param, ctx)
        if problem := tunables_problem(policy, tunables_text):
            self.fail(problem, param, ctx)
        return text


threads_option = click.option(
    "--threads",
    type=_Threads(),
    help="Consent to fewer threads than the program would have. fit: one number for all, by what others leave of the CPUs; "
    "regions: one for each parallel region, searched as --tune does; asat-v1, asat-v2: ASAT exactly as published, for comparison; they raise the nice value of the team's threads except the primary "
    "thread, which only a privileged process can undo; asat-v1-timed, asat-v2-reset: variants of them that keep the priority. "
    "Behind a colon tunables may be set: asat-v2:bad_trig=1,good_trig=10; flag=off: the program switches it on.",
)
region_threads_option = click.option(
    "--threads",
    type=click.Choice(["regions"]),
    help="Allow fewer threads than the program asks for; regions: search a number for each parallel region.",
)
fixed_threads_option = click.option(
    "--threads-even-if-fixed",
    is_flag=True,
    help="With --threads: also where the program sets the number itself (num_threads, omp_set_num_threads). Its answer must be right with fewer threads.",
)

virtual_threads_option = click.option(
    "--virtual-threads",
    is_flag=True,
    help="Also change static loops compiled by GCC, where a check of their machine code shows that this is safe.",
)


_POLICY_FILE = FileKind("a policy in Python", 16 << 20, click.ClickException, follows_links=True)


class _Policy(click.ParamType[str]):
    """One of ours, or a file with one of the user's, which is looked at before the program starts."""

    name = "POLICY"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        option = library_option("TRIMTAB_STEER_POLICY")
        if text in option.words:
            return text
        if not text.endswith(option.file_ending):
            self.fail(
                f"expected {', '.join(option.words)} or a file FILE{option.file_ending}, found {text!r}",
                param,
                ctx,
            )
        path = Path(text).absolute()
        try:
            compile(read_bytes(path, _POLICY_FILE), str(path), "exec")
        except click.ClickException as error:
            self.fail(error.message, param, ctx)
        except (SyntaxError, ValueError) as error:
            self.fail(f"{text}: {error}", param, ctx)
        return str(path)


policy_option = click.option(
    "--policy",
    type=_Policy(),
    help="Policy that decides within a run: tuner (default); arcs-online or arcs-offline, as published, without guard or "
    "proof, for comparison; FILE.py: your own policy (docs/guide/policies.md).",
)


def find_run(name: str) -> Path:
    """The run directory that the user means: a path, or `last`."""
    if name != "last":
        return Path(name)
    runs = runs_below(default_folder())
    if not runs:
        fail("no runs below trimtab-runs/ in this folder; name a run directory")
    return max(runs, key=lambda entry: _changed_at(entry / "run.json"))


def default_folder() -> Path:
    """Where `trimtab run` leaves its runs: see `run_folders`. What is there of another user is read as well."""
    default_folder = Path("trimtab-runs")
    for folder in run_folders():
        with suppress(OSError), open_private_folder(folder):
            is_default = current_folder() == folder.parent and folder.name == default_folder.name
            return default_folder if is_default or not runs_below(folder) else folder
    return default_folder


def runs_below(folder: Path) -> list[Path]:
    """Folders in `folder` that have a run.json, whatever it is, by name."""
    try:
        return sorted(entry for entry in folder.iterdir() if os.path.lexists(entry / "run.json"))
    except OSError:
        return []


def _changed_at(path: Path) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


class Stopped(BaseException):
    """A signal told us to end."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def stopped_by_signals(is_background: bool = False) -> Iterator[None]:
    """Signals that ask the process to end raise Stopped, so that who runs a program can end that, too. Ignored ones (nohup) stay ignored.

    Args:
        is_background: SIGINT also where it is ignored, as scripts start what they put into the background with `&`.
    """
    before = {entry: signal.getsignal(entry) for entry in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN or (is_background and number == signal.SIGINT):
            signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _: object) -> NoReturn:
    raise Stopped(number)

"""`trimtab history`: what earlier runs found."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trimtab.cli.common import (
    echo,
    echo_json,
    fail,
)

if TYPE_CHECKING:
    from trimtab.history import Entry, History


@click.group("history")
def run_history() -> None:
    """List, show, export or forget the settings that earlier runs found.

    A setting is used again for the same build of the program, subject, CPUs, input class and kind of machine.
    """


def _with_file(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--history",
        "file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="File of the history. Default: trimtab/history.sqlite in your data folder.",
    )(command)


def _open(file: Path | None) -> History:
    from trimtab.history import History, default_path

    return History(file if file is not None else default_path())


def _entries(history: History) -> list[Entry]:
    from trimtab.history import HistoryError

    try:
        return history.entries()
    except HistoryError as error:
        fail(str(error))


@run_history.command("list")
@click.argument("program", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@_with_file
def list_entries(program: str | None, as_json: bool, file: Path | None) -> None:
    """List the settings, newest first: all, or those of programs whose name contains PROGRAM."""
    history = _open(file)
    entries = [entry for entry in _entries(history) if program is None or program in entry.program]
    if as_json:
        echo_json([entry.as_json() for entry in entries])
        return
    if not entries:
        echo(f"no settings{f' of {program}' if program else ''} in {history.path}", err=True)
        return
    from trimtab.text.history import history_table

    history_table(entries)


@run_history.command("show")
@click.argument("number", type=int, metavar="ID")
@_with_file
def show_entry(number: int, file: Path | None) -> None:
    """Show everything about one setting."""
    history = _open(file)
    for entry in _entries(history):
        if entry.id != number:
            continue
        entry_as_json = entry.as_json()
        entry_as_json["input_class"] = " ".join(entry_as_json["input_class"].split("\0"))
        entry_as_json["settings"] = " ".join(f"{knob}={value}" for knob, value in entry.settings.items())
        entry_as_json["at"] = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.at))
        for name, value in entry_as_json.items():
            echo(f"{name.replace('_', ' '):<12} {'-' if value is None else value}")
        return
    fail(f"no entry {number} in {history.path}; `trimtab history list` shows all")


@run_history.command("export")
@click.argument("program", required=False)
@click.option(
    "--to", type=click.Choice(["json", "settings"]), default="json", help="Format; json by default."
)
@_with_file
def export_entries(program: str | None, to: str, file: Path | None) -> None:
    """Print all settings, or those of PROGRAM, as JSON, or in the form that the library reads."""
    from trimtab.history import settings_text

    entries = [entry for entry in _entries(_open(file)) if program is None or program in entry.program]
    if to == "json":
        echo_json([entry.as_json() for entry in entries])
    else:
        for line in settings_text(entry for entry in entries if entry.is_usable).splitlines():
            echo(line)


@run_history.command("forget")
@click.argument("numbers", type=int, nargs=-1, metavar="[ID]...")
@click.option("--all", "is_everything", is_flag=True, help="Everything.")
@_with_file
def forget_entries(numbers: tuple[int, ...], is_everything: bool, file: Path | None) -> None:
    """Remove settings, by their ids or all of them: the next run with --tune searches again."""
    from trimtab.history import HistoryError

    if is_everything == bool(numbers):
        fail("give ids of entries, or --all; `trimtab history list` shows them")
    history = _open(file)
    try:
        removed = history.forget(None if is_everything else numbers)
    except HistoryError as error:
        fail(str(error))
    if removed < len(set(numbers)):
        fail(f"removed {removed} of {len(set(numbers))}: {history.path} has no more of these")
    echo(f"trimtab: removed {removed} from {history.path}", err=True)

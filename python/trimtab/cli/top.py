"""trimtab top: what running programs do, live."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab.cli.common import (
    Stopped,
    default_folder,
    echo,
    echo_encoded,
    fail,
    runs_below,
    stopped_by_signals,
)

if TYPE_CHECKING:
    from trimtab.live.keys import Keys
    from trimtab.live.model import DecisionLook, Look
    from trimtab.live.run import LiveRun
    from trimtab.live.screen import View
    from trimtab.text.console import Console

_SHORTEST_S, _LONGEST_S = 0.1, 60.0


@click.command("top")
@click.argument("what", required=False, metavar="[PID|RUN]")
@click.option(
    "--interval",
    type=click.FloatRange(_SHORTEST_S, 3600),
    default=1.0,
    metavar="SECONDS",
    show_default=True,
    help="Time between two looks.",
)
@click.option(
    "--once", is_flag=True, help="Look twice, an interval apart, print the second look as lines, and end."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object a line for each look: docs/reference/top.schema.json.",
)
@click.option(
    "--findings",
    type=click.FloatRange(0, 3600),
    default=10.0,
    metavar="SECONDS",
    show_default=True,
    help="Time between two analyses of what was recorded so far; 0: none.",
)
@click.option(
    "--filter",
    "text",
    default="",
    metavar="TEXT",
    help="Show only lanes, subjects, knobs and counters with this text.",
)
@click.option(
    "--sort",
    type=click.Choice(["lane", "busy", "waiting", "name"]),
    default="lane",
    show_default=True,
    help="Order of the lanes.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="SUBJECT/KNOB=VALUE",
    help="Set a knob of the running program, say what became of it, and end. May be given several times.",
)
@click.option(
    "--undo",
    "undone",
    multiple=True,
    metavar="SUBJECT/KNOB",
    help="Bring back the value from before it was set by hand, and end.",
)
@click.option(
    "--list-knobs", is_flag=True, help="Print the knobs that can be set, with their values, and end."
)
def run_top(
    what: str | None,
    interval: float,
    once: bool,
    as_json: bool,
    findings: float,
    text: str,
    sort: str,
    settings: tuple[str, ...],
    undone: tuple[str, ...],
    list_knobs: bool,
) -> None:
    """Show live what observed programs do: their lanes, where the time goes, decisions, findings; and turn their knobs.

    Without an argument: the only run of yours that goes on here. PID is a process of a run, or its launcher; RUN is a run
    directory. In a terminal, the key h shows the keys. Into a pipe, lines are printed.
    """
    from trimtab.live.run import opened
    from trimtab.live.screen import View
    from trimtab.model import RunError

    directory, pid = _choose(what)
    is_turned = bool(settings or undone or list_knobs)
    view = View(sort=sort, text=text, interval_s=interval)
    try:
        # Ended by a signal, the screen is left as it was, and nothing goes on.
        with (
            stopped_by_signals(is_background=True),
            opened(directory, 0 if is_turned else findings, pid) as run,
        ):
            if is_turned:
                _turn(run, settings, undone, list_knobs)
            elif as_json or once or not (sys.stdout.isatty() and sys.stdin.isatty()):
                _print(run, view, as_json, once)
            else:
                _watch(run, view)
    except RunError as error:
        fail(str(error))
    except Stopped:
        pass
    except BrokenPipeError:
        # Who reads has gone; what is left in the buffer cannot be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")


def _choose(what: str | None) -> tuple[Path, int | None]:
    """The run that the user means, and the only process of it to show."""
    from trimtab.live.targets import running, runs_of

    if what is not None and not what.isdecimal():
        runs = runs_below(default_folder()) if what == "last" else []
        return max(runs, key=lambda run: run.stat().st_mtime) if runs else Path(what), None
    targets = running() if what is None else runs_of(int(what))
    if len(targets) == 1:
        is_one_of_several = what is not None and int(what) in targets[0].pids and len(targets[0].pids) > 1
        return targets[0].directory, int(what) if is_one_of_several and what is not None else None
    if not targets and what is not None:
        fail(
            f"process {what} is not recorded by trimtab, or is not yours: expected one that `trimtab run` has started"
        )
    if not targets:
        fail(
            "none of your programs on this host is recorded now; start one with trimtab run, or name a run directory"
        )
    echo("several runs go on; name one of them:", err=True)
    for target in targets:
        echo(f"  {target.pids[0]}  {target.command[:60]}  {target.directory}", err=True)
    sys.exit(2)


def _turn(run: LiveRun, settings: tuple[str, ...], undone: tuple[str, ...], list_knobs: bool) -> None:
    from trimtab.live.knobs import NotTurned
    from trimtab.live.run import NO_KNOBS

    if run.look().is_over:
        fail(f"{run.directory}: no process of it runs here: nothing can be set")
    try:
        for setting in settings:
            name, equals, value = setting.rpartition("=")
            if not equals:
                raise click.UsageError(f"--set {setting}: expected SUBJECT/KNOB=VALUE")
            for line in run.turn(name, value):
                echo(line)
        for name in undone:
            for line in run.turn(name, None):
                echo(line)
    except NotTurned as error:
        fail(str(error))
    if list_knobs:
        knobs = [slot.look for _, slot in run.slots() if slot.look.is_settable]
        for knob in knobs:
            more = "" if knob.value_count == len(knob.values) else f" ... {knob.value_count} values"
            echo(
                f"{knob.name} = {knob.value}{' (by hand)' if knob.is_by_hand else ''}: {' '.join(knob.values)}{more}"
            )
        if not knobs:
            echo(NO_KNOBS)


def _print(run: LiveRun, view: View, as_json: bool, once: bool) -> None:
    """Lines, or JSON, until the run is over; `once`: one look with its shares."""
    look = run.look()
    if look.is_over:
        fail(f"{run.directory}: no process of it runs here{_reasons(look)}")
    if not once:
        _print_look(look, view, as_json)
    due = time.monotonic()
    while True:
        # Looks do not drift, and those that were missed are left out.
        due = max(due + view.interval_s, time.monotonic())
        time.sleep(due - time.monotonic() if due > time.monotonic() else 0)
        look = run.look()
        _print_look(look, view, as_json)
        if look.is_over or once:
            break


def _print_look(look: Look, view: View, as_json: bool) -> None:
    if as_json:
        import msgspec

        echo_encoded(msgspec.json.encode(look))
        return
    from trimtab.live.screen import plain_lines

    echo(time.strftime("%H:%M:%S", time.localtime(look.time_s)))
    for line in plain_lines(look, view):
        echo(line)
    if look.is_over:
        echo(_ending(look))
    sys.stdout.flush()


def _ending(look: Look) -> str:
    states = ", ".join(
        f"{process.command[:40]} ({process.pid}) {process.state}" for process in look.processes
    )
    return f"the run is over{f': {states}' if states else ''}{_reasons(look)}"


def _reasons(look: Look) -> str:
    return f": {'; '.join(look.problems)}" if look.problems else ""


def _watch(run: LiveRun, view: View) -> None:
    """The screen, until the user or the run ends it."""
    from trimtab.live.keys import keys
    from trimtab.text.console import output

    first = run.look()
    if first.is_over:
        fail(f"{run.directory}: no process of it runs here{_reasons(first)}")
    console = output()
    with console.screen(hide_cursor=True), keys() as pressed:
        last = _Watch(run, view, first).until_end(console, pressed)
    if last is not None:
        echo(_ending(last))


class _Watch:
    """What is shown, and what keys change."""

    def __init__(self, run: LiveRun, view: View, look: Look) -> None:
        self._run, self._view, self._look = run, view, look
        self._decisions = look.decisions
        self._asks_for = ""

    def until_end(self, console: Console, pressed: Keys) -> Look | None:
        """None: the user has quit; otherwise the last look."""
        due = time.monotonic() + min(self._view.interval_s, 0.5)
        self._draw(console)
        while not pressed.is_closed:
            key = pressed.wait(due - time.monotonic())
            if key is not None:
                if key == "q" and self._view.prompt is None:
                    return None
                self._press(key)
            elif time.monotonic() >= due:
                due = time.monotonic() + self._view.interval_s
                if not self._view.is_paused:
                    self._refresh()
                    if self._look.is_over:
                        return self._look
            self._draw(console)
        return None

    def _refresh(self) -> None:
        look = self._run.look()
        self._decisions = (*self._decisions, *look.decisions)[-20:]
        self._look = look

    def _draw(self, console: Console) -> None:
        from rich.text import Text

        from trimtab.live.screen import lines_of

        # One column less: a full last line would scroll some terminals.
        size = console.size
        look = _with_decisions(self._look, self._decisions)
        lines = lines_of(look, self._view, size.width - 1, size.height)
        console.update_screen(Text("\n").join(lines))

    def _press(self, key: str) -> None:
        view = self._view
        if view.prompt is not None:
            return self._type(key)
        parts = {"f": "findings", "k": "knobs", "c": "counters", "d": "decisions"}
        moves = {"up": -1, "down": 1, "page up": -10, "page down": 10}
        if key in ("p", " "):
            view = replace(view, is_paused=not view.is_paused)
        elif key == "s":
            from trimtab.live.screen import SORTS

            view = replace(view, sort=SORTS[(SORTS.index(view.sort) + 1) % len(SORTS)])
        elif key in ("h", "?"):
            view = replace(view, has_help=not view.has_help)
        elif key in parts:
            view = view.with_toggled(parts[key])
        elif key in moves:
            view = replace(view, top=max(view.top + moves[key], 0))
        elif key in ("+", "-"):
            factor = 2.0 if key == "+" else 0.5
            view = replace(view, interval_s=min(max(view.interval_s * factor, _SHORTEST_S), _LONGEST_S))
        elif key in _PROMPTS:
            self._asks_for = key
            view = replace(view, prompt=_PROMPTS[key])
        self._view = replace(view, message="")

    def _type(self, key: str) -> None:
        begin = _PROMPTS[self._asks_for]
        prompt = self._view.prompt or begin
        if key == "enter":
            self._view = replace(self._view, prompt=None)
            self._finish(prompt[len(begin) :])
        elif key == "escape":
            self._view = replace(self._view, prompt=None)
        elif key == "backspace":
            self._view = replace(self._view, prompt=prompt[: max(len(prompt) - 1, len(begin))])
        elif key not in ("up", "down", "page up", "page down"):
            self._view = replace(self._view, prompt=prompt + key)

    def _finish(self, text: str) -> None:
        from trimtab.live.knobs import NotTurned
        from trimtab.model import RunError

        if self._asks_for == "/":
            self._view = replace(self._view, text=text, top=0)
            return
        name, _, value = text.rpartition("=") if self._asks_for == "e" else (text, "", "")
        try:
            lines = self._run.turn(name, value if self._asks_for == "e" else None)
        except (NotTurned, RunError) as error:
            lines = [str(error)]
        self._view = replace(self._view, message="; ".join(lines))


_PROMPTS = {"/": "show lines with: ", "e": "set SUBJECT/KNOB=VALUE: ", "u": "undo SUBJECT/KNOB: "}


def _with_decisions(look: Look, decisions: tuple[DecisionLook, ...]) -> Look:
    import msgspec

    return msgspec.structs.replace(look, decisions=decisions)

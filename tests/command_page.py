"""docs/reference/cli.md, made from the command itself: `.venv/bin/python tests/command_page.py` writes it anew."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click
from trimtab.cli import main

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "cli.md"
_HEAD = """\
# Commands

Made from the command's own help by `tests/command_page.py`; do not edit. A test compares it. `trimtab COMMAND --help` shows the
same. The guides say how to use the commands: [documentation](../README.md). Exit codes: [where it runs](../guide/where-it-runs.md#exit-codes).
"""


def page() -> str:
    """The whole page; the same commands give the same bytes."""
    commands = dict(_commands(main, "trimtab"))
    rows = [(f"[`{name}`](#{_anchor(name)})", _first_line(command)) for name, command in commands.items()]
    parts = [_HEAD, _table(("command", "what it does"), rows)]
    parts += [_section(name, command) for name, command in commands.items()]
    return "\n".join(parts)


def _commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


def _section(name: str, command: click.Command) -> str:
    arguments = [_argument(param) for param in command.params if isinstance(param, click.Argument)]
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    usage = " ".join([name, *(["[OPTIONS]"] if options else []), *arguments])
    parts = [f"## {name}\n", f"    {usage}\n", f"{_help_of(command)}\n"]
    if options:
        rows = [(f"`{_option(option)}`", option.help or "") for option in options]
        parts.append(_table(("option", "meaning"), rows))
    return "\n".join(parts)


def _help_of(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "")


def _first_line(command: click.Command) -> str:
    return _help_of(command).split("\n\n")[0].replace("\n", " ")


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.required or argument.metavar else f"[{name}]"


def _option(option: click.Option) -> str:
    """As it is written: names, and what its value may be."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    if option.is_flag or option.count:
        return names
    value = option.metavar or _value_of(option.type)
    # A value of such an option may be left out, so that it must stand behind an equals sign.
    return f"{names}[={value}]" if getattr(option, "_flag_needs_value", False) else f"{names} {value}"


def _value_of(kind: click.ParamType[object]) -> str:
    if isinstance(kind, click.Choice):
        return "|".join(kind.choices)
    if isinstance(kind, click.IntRange | click.FloatRange):
        return "NUMBER"
    return kind.name.upper()


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    lines += [
        f"| {first.replace('|', chr(92) + '|')} | {' '.join(second.replace('|', chr(92) + '|').split())} |"
        for first, second in rows
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

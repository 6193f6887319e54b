"""What is known from earlier runs, as a table."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from rich.markup import escape

from trimtab.text.console import output, table
from trimtab.text.units import with_uncertainty


class _Entry(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, str]: ...
    @property
    def gain(self) -> float | None: ...
    @property
    def spread(self) -> float | None: ...
    @property
    def at(self) -> float: ...
    @property
    def is_usable(self) -> bool: ...


def history_table(entries: Iterable[_Entry]) -> None:
    """A row an entry; those that are not used any more say so."""
    rows = table("subject", "id", "program", "settings", "gain", "found")
    for entry in entries:
        gain = "" if entry.gain is None else with_uncertainty(entry.gain, entry.spread)
        if not entry.is_usable:
            gain = "not used: measured by an older version"
        settings = " ".join(f"{knob}={value}" for knob, value in entry.settings.items())
        time_text = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at))
        rows.add_row(
            escape(entry.name),
            str(entry.id),
            escape(Path(entry.program).name),
            escape(settings),
            gain,
            time_text,
        )
    output().print(rows)

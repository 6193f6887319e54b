"""What trimtab doctor says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rich.markup import escape

from trimtab.text.console import Console

_MARKS = {
    "ok": ("ok", "green"),
    "info": ("note", "cyan"),
    "lacks": ("lacks", "yellow"),
    "broken": ("BROKEN", "bold red"),
}


class _Check(Protocol):
    @property
    def what(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def found(self) -> str: ...
    @property
    def costs(self) -> str: ...
    @property
    def remedy(self) -> str: ...


def diagnosis(checks: Iterable[_Check]) -> None:
    """A line a check, with what a lack costs and its remedy below."""
    console = Console(highlight=False, soft_wrap=True)
    all_checks = list(checks)
    width = max((len(check.what) for check in all_checks), default=0)
    for check in all_checks:
        word, colour = _MARKS[check.status]
        console.print(f"[{colour}]{word:7}[/]{escape(check.what.ljust(width))}  {escape(check.found)}")
        for label, text in (("costs", check.costs), ("do", check.remedy)):
            if text:
                console.print(f"{'':{width + 9}}[dim]{label}:[/] {escape(text)}")

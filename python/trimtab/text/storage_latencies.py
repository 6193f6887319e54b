"""What calls on files cost in each folder, as a table, and what to do about slow ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.markup import escape

from trimtab.text.console import Console, output, table
from trimtab.text.network import size_text
from trimtab.text.units import seconds


class _Latency(Protocol):
    @property
    def p50_us(self) -> float: ...
    @property
    def p99_us(self) -> float: ...


class _Folder(Protocol):
    @property
    def folder(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def file_system(self) -> str: ...
    @property
    def free_bytes(self) -> int: ...
    @property
    def open(self) -> _Latency | None: ...
    @property
    def read(self) -> _Latency | None: ...
    @property
    def write(self) -> _Latency | None: ...
    @property
    def problem(self) -> str: ...


class _Advice(Protocol):
    @property
    def folder(self) -> str: ...
    @property
    def action(self) -> str: ...
    @property
    def reason(self) -> str: ...


def storage_latencies(folders: Sequence[_Folder], advice: Sequence[_Advice]) -> None:
    """A row for each folder that could be measured, a line for each that could not, and the advice."""
    console = output()
    rows = table(
        "folder",
        *("from", "type", "free", "open p50", "p99", "read p50", "p99", "write p50", "p99"),
        title="calls on files of 4 KiB",
    )
    for folder in folders:
        if folder.open and folder.read and folder.write:
            texts = [
                seconds(value * 1e-6)
                for latency in (folder.open, folder.read, folder.write)
                for value in (latency.p50_us, latency.p99_us)
            ]
            free = size_text(folder.free_bytes)
            names = [escape(text) for text in (folder.folder, folder.source, folder.file_system)]
            rows.add_row(*names, free, *texts)
    if rows.row_count:
        console.print(rows)
    lines = Console(highlight=False, soft_wrap=True)
    for folder in folders:
        if folder.problem:
            lines.print(f"[yellow]lacks[/]  {escape(folder.folder)}: {escape(folder.problem)}")
    for entry in advice:
        lines.print(
            f"[bold]{escape(entry.folder)}[/]: {escape(entry.action)} [dim]({escape(entry.reason)})[/]"
        )

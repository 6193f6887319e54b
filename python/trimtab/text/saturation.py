"""What messages cost with and without communication servers, as tables, and what jobs choose by that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.markup import escape

from trimtab.counted import counted
from trimtab.text.console import Console, output, table
from trimtab.text.network import size_text

_NAMES = {"shm": "shared memory", "tcp": "TCP"}


class _Point(Protocol):
    @property
    def bytes(self) -> int: ...
    @property
    def senders(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def servers(self) -> int: ...
    @property
    def messages_per_s(self) -> float: ...


class _Sizes(Protocol):
    @property
    def largest_bytes(self) -> int: ...
    @property
    def servers(self) -> int: ...
    @property
    def least_messages(self) -> int: ...


class _Choice(Protocol):
    @property
    def free_cpus(self) -> int: ...
    @property
    def servers(self) -> int: ...
    @property
    def selection(self) -> Sequence[_Sizes]: ...


def saturation(transport: str, points: Sequence[_Point], choices: Sequence[_Choice]) -> None:
    """A row for each size, number of senders and of messages in a row: the rate without servers, then ratios to it."""
    console = output()
    servers = sorted({point.servers for point in points} - {0})
    rows = table(
        "message",
        "senders",
        "in a row",
        "messages/s",
        *[f"{counted(count, 'server')}" for count in servers],
        title=f"{_NAMES.get(transport, transport)}: messages a second, and how many times that with servers",
    )
    rates = {
        (point.bytes, point.senders, point.in_flight, point.servers): point.messages_per_s for point in points
    }
    for size, senders, in_flight, count in rates:
        if count != 0:
            continue
        direct = rates[size, senders, in_flight, 0]
        ratios = [f"{rates[size, senders, in_flight, each] / direct:.2f}" for each in servers]
        rows.add_row(size_text(size), str(senders), str(in_flight), f"{direct:,.0f}", *ratios)
    console.print(rows)
    for choice in choices:
        console.print(choice_line(choice))


def choice_line(choice: _Choice) -> str:
    """`with 2 CPUs that no worker uses: 1 server, for messages of 9 B to 4 KiB in rows of 16 and more`."""
    line = f"with {counted(choice.free_cpus, 'CPU')} that no worker uses: {counted(choice.servers, 'server')}"
    parts, before = [line], 0
    for sizes in choice.selection:
        if choice.servers and sizes.servers:
            of_them = "" if sizes.servers == choice.servers else f"{sizes.servers} of them "
            span = f"{size_text(before + 1)} to {size_text(sizes.largest_bytes)}"
            parts.append(f"{of_them}for messages of {span} in rows of {sizes.least_messages} and more")
        before = sizes.largest_bytes
    return ", ".join(parts)


def problem_line(problem: str) -> None:
    """What could not be measured or kept."""
    Console(highlight=False, soft_wrap=True).print(f"[yellow]lacks[/]  {escape(problem)}")

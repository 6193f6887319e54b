"""The messages between the localities of a job, in a line and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trimtab.counted import counted
from trimtab.model.report import ActionFlow, Flow, Network, NetworkPhase
from trimtab.text.units import percent, seconds

if TYPE_CHECKING:
    from rich.table import Table

_MOST_ROWS = 40
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def network_line(network: Network) -> str:
    """`20000 parcels in 1300 messages (15 each), 1.2 MiB; network overhead 31 %; waited 2 ms for queued parcels`."""
    size = size_text(sum(flow.message_bytes for flow in network.flows))
    each = f" ({network.parcels / network.messages:.3g} each)" if network.messages else ""
    line = f"{counted(network.parcels, 'parcel')} in {counted(network.messages, 'message')}{each}, {size}"
    if network.overhead is not None:
        line += f"; network overhead {percent(network.overhead)}"
    if network.queued_wait_s > 0:
        line += f"; waited {seconds(network.queued_wait_s)} for queued parcels"
    return line


def flow_table(network: Network) -> Table:
    """A row for each action of each flow, most bytes first; messages are those of the whole flow."""
    from rich.markup import escape

    from trimtab.text.console import table

    rows = table("from", "to", "action", "parcels", "bytes", "each", "parcels a message", "waited")
    for flow, action in _largest(network):
        each = size_text(action.bytes / action.count) if action.count else ""
        together = f"{flow.count / flow.messages:.3g}" if flow.messages else ""
        rows.add_row(
            str(flow.from_),
            str(flow.to),
            escape(action.action),
            str(action.count),
            size_text(action.bytes),
            each,
            together,
            seconds(flow.queued_wait_s) if flow.queued_wait_s > 0 else "",
        )
    return rows


def phase_table(network: Network) -> Table:
    """A row for each flow of each phase or part of the run, in the order of time."""
    from rich.markup import escape

    from trimtab.text.console import table

    rows = table("phase", "from", "to", "parcels", "bytes", "messages", "most bytes in")
    flows = [(phase, flow) for phase in network.phases for flow in phase.flows]
    for phase, flow in flows[:_MOST_ROWS]:
        rows.add_row(
            escape(phase_title(phase)),
            str(flow.from_),
            str(flow.to),
            str(flow.count),
            size_text(flow.bytes),
            str(flow.messages),
            escape(flow.actions[0].action) if flow.actions else "",
        )
    return rows


def phase_title(phase: NetworkPhase) -> str:
    """Its name, or the part of the run: `0 us to 1.5 s`."""
    return phase.name if phase.name is not None else f"{seconds(phase.begin_s)} to {seconds(phase.end_s)}"


def server_table(network: Network) -> Table:
    """A row for each communication server; what senders did is of the whole locality."""
    from trimtab.text.console import table

    rows = table(
        "locality",
        "server",
        "messages",
        "bytes",
        "busy",
        "saturated",
        "queue full",
        "held for flow",
        "sent directly",
    )
    for locality in network.servers:
        for server in locality.servers:
            rows.add_row(
                str(locality.locality),
                str(server.server),
                str(server.messages),
                size_text(server.bytes),
                percent(server.busy_share),
                seconds(server.saturated_s) if server.saturated_s > 0 else "",
                str(server.full_queue),
                str(locality.held_for_flow),
                str(locality.sent_directly),
            )
    return rows


def _largest(network: Network) -> list[tuple[Flow, ActionFlow]]:
    pairs = [(flow, action) for flow in network.flows for action in flow.actions]
    return sorted(pairs, key=lambda pair: (-pair[1].bytes, pair[0].from_, pair[0].to))[:_MOST_ROWS]


def size_text(size: float) -> str:
    """A number of bytes.

    >>> size_text(12), size_text(1000), size_text(2048), size_text(5 << 30)
    ('12 B', '1000 B', '2 KiB', '5 GiB')
    """
    unit = 0
    while size >= 1024 and unit + 1 < len(_UNITS):
        size /= 1024
        unit += 1
    return f"{size:.4g} {_UNITS[unit]}" if size >= 1000 else f"{size:.3g} {_UNITS[unit]}"

"""The messages of a whole job: who sent how much to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trimtab.analysis.traffic import Destination, Sent, Traffic
from trimtab.model.report import (
    ActionFlow,
    CommunicationServer,
    Flow,
    LocalityServers,
    Network,
    NetworkPhase,
    SizeClass,
)


def network_of(traffics: Iterable[Traffic | None], phases: Iterable[NetworkPhase] = ()) -> Network | None:
    """The sum over all processes; None where none recorded messages."""
    senders = [traffic for traffic in traffics if traffic is not None]
    if not senders:
        return None
    background, overhead = _background(senders)
    return Network(
        parcels=sum(sender.parcels for sender in senders),
        messages=sum(sender.messages for sender in senders),
        overhead=overhead,
        background_s=background,
        queued_wait_s=sum(sender.queued_wait_s for sender in senders),
        flows=flows_of(senders),
        phases=tuple(phases),
        servers=tuple(
            _servers(sender)
            for sender in sorted(senders, key=lambda sender: sender.locality)
            if sender.servers
        ),
    )


def flows_of(senders: Iterable[Traffic]) -> tuple[Flow, ...]:
    """By sender and receiver."""
    return tuple(
        _flow(sender.locality, to, sender.destinations[to])
        for sender in sorted(senders, key=lambda sender: sender.locality)
        for to in sorted(sender.destinations)
    )


def _background(senders: Sequence[Traffic]) -> tuple[float | None, float | None]:
    """Background time of all, and its share of task time: each sender's share says how long its tasks took."""
    background = tasks = 0.0
    for sender in senders:
        own = sender.totals.get("/parcels/time/background")
        share = sender.totals.get("/parcels/network-overhead")
        if own is None or share is None or not 0 < share <= 1:
            return None, None
        background += own
        tasks += own / share - own
    whole = background + tasks
    return background, background / whole if whole > 0 else None


def _servers(sender: Traffic) -> LocalityServers:
    def total(name: str) -> int:
        return int(sender.totals.get(f"/servers/count/{name}", 0))

    return LocalityServers(
        locality=sender.locality,
        handed_over=total("handed-over"),
        sent_directly=total("sent-directly"),
        held_for_order=total("held-for-order"),
        held_for_flow=total("held-for-flow"),
        servers=tuple(
            _server(number, sender.servers[number], sender.saturated_s.get(number, 0.0))
            for number in sorted(sender.servers)
        ),
    )


def _server(number: int, counts: Mapping[str, float], saturated_s: float) -> CommunicationServer:
    def count(name: str) -> int:
        return int(counts.get(f"/servers/{name}", 0))

    return CommunicationServer(
        server=number,
        messages=count("count/messages"),
        bytes=count("bytes/sent"),
        dropped=count("count/dropped"),
        full_queue=count("count/full-queue"),
        no_room=count("count/no-room"),
        busy_s=counts.get("/servers/time/busy", 0.0),
        busy_share=counts.get("/servers/busy-share", 0.0),
        saturated_s=saturated_s,
    )


def _flow(locality: int, to: int, destination: Destination) -> Flow:
    actions = [
        ActionFlow(action=name, key=key, count=sent.count, bytes=sent.bytes, sizes=_sizes([sent]))
        for (name, key), sent in destination.actions.items()
    ]
    return Flow(
        from_=locality,
        to=to,
        count=sum(action.count for action in actions),
        bytes=sum(action.bytes for action in actions),
        sizes=_sizes(destination.actions.values()),
        messages=destination.messages,
        message_bytes=destination.message_bytes,
        queued_wait_s=destination.queued_wait_s,
        actions=tuple(sorted(actions, key=lambda action: (-action.bytes, action.action))),
    )


def _sizes(flows: Iterable[Sent]) -> tuple[SizeClass, ...]:
    """
    >>> _sizes([Sent(3, 30, {16: 2, 8: 1}), Sent(1, 9, {16: 1})])
    (SizeClass(below=8, count=1), SizeClass(below=16, count=3))
    """
    total: dict[int, int] = {}
    for sent in flows:
        for below, count in sent.sizes.items():
            total[below] = total.get(below, 0) + count
    return tuple(SizeClass(below, total[below]) for below in sorted(total))

"""Findings about the messages of one process: why cores lose time to them (docs/reference/metrics.md, "Findings")."""

from __future__ import annotations

from trimtab.analysis.account import Account
from trimtab.analysis.findings import finding
from trimtab.analysis.traffic import Traffic
from trimtab.counted import counted
from trimtab.model.enumerations import Cause
from trimtab.model.report import Finding

# A message that costs more for itself than for what it carries, and holds next to nothing else.
_SMALL_MESSAGE = 256
_FEW_PARCELS = 2.0
# So many parcels a message make its own cost small beside theirs.
_GOOD_PARCELS = 16
_LEAST_MESSAGES = 1000
# Servers share the load if they are busy for this part of the time of the busiest one, on average.
_EVEN = 0.75
_BUSY = "/servers/time/busy"
_REASONS = ("count", "batch", "time", "full", "handled", "sender-waits", "age", "asked")


def network_findings(traffic: Traffic | None, account: Account, workers: int) -> list[Finding]:
    """Every finding that applies to the messages of a process with this number of workers, even if its gain is small."""
    if traffic is None or not workers:
        return []
    at_once = max(min(float(workers), account.cpus), 1.0)
    return [
        *_tiny_messages(traffic, at_once),
        *_queued_parcels(traffic, at_once),
        *_saturated_servers(traffic, account.cpus, workers),
    ]


def _flushed(traffic: Traffic, reason: str) -> float:
    return traffic.totals.get(f"/messages/flushed/{reason}", 0.0)


def _tiny_messages(traffic: Traffic, at_once: float) -> list[Finding]:
    """gain = (sending + receiving) * (1 - parcels per message / 16) / workers at a time.

    Only what a fixed count sends: the adaptive rules send a parcel alone because nothing is gained by waiting.
    """
    messages, parcels = traffic.messages, traffic.parcels
    message_bytes = sum(to.message_bytes for to in traffic.destinations.values())
    if messages < _LEAST_MESSAGES or _flushed(traffic, "count") < messages / 2:
        return []
    per_message, size = parcels / messages, message_bytes / messages
    if per_message >= _FEW_PARCELS or size >= _SMALL_MESSAGE:
        return []
    spent = sum(traffic.totals.get(f"/parcels/time/{what}", 0.0) for what in ("send", "receive"))
    return [
        finding(
            Cause.TINY_MESSAGES,
            None,
            f"{messages} messages of {counted(round(per_message, 1), 'parcel')} and {size:.0f} bytes; most were sent because a fixed count "
            f"was reached; sending and receiving took {spent:.3g} s",
            "let parcels travel together: leave out the fixed setting (set_coalescing, job_options::standard), since the "
            "adaptive rules are the default, or set a larger count with a wait",
            spent * (1 - per_message / _GOOD_PARCELS) / at_once,
        )
    ]


def _queued_parcels(traffic: Traffic, at_once: float) -> list[Finding]:
    """gain = time in which workers had nothing to do while their parcels waited / workers at a time."""
    waited = traffic.queued_wait_s
    if waited <= 0:
        return []
    reasons = {reason: _flushed(traffic, reason) for reason in _REASONS}
    chief = max(reasons, key=lambda reason: reasons[reason])
    return [
        finding(
            Cause.QUEUED_PARCELS,
            None,
            f"workers had nothing to do for {waited:.3g} s while parcels of theirs waited in queues; "
            f"{reasons[chief]:.0f} of {traffic.messages} messages were sent by the rule {chief!r}",
            "leave out the fixed setting (set_coalescing, job_options::standard), since the adaptive rules send what is waited "
            "for, or set sends_before_waiting, or a smaller count and wait",
            waited / at_once,
        )
    ]


def _saturated_servers(traffic: Traffic, cpus: float, workers: int) -> list[Finding]:
    """gain = time in which the busiest server was saturated * (1 - what it would take with the load divided).

    Divided among the servers that are there if the others have room, else among one more.
    """
    if not traffic.saturated_s:
        return []
    worst = max(traffic.saturated_s, key=lambda server: traffic.saturated_s[server])
    saturated, servers = traffic.saturated_s[worst], len(traffic.servers)
    busy_s = {server: counts.get(_BUSY, 0.0) for server, counts in traffic.servers.items()}
    if saturated <= 0 or busy_s[worst] <= 0:
        return []
    mean_of_busiest = sum(busy_s.values()) / servers / busy_s[worst]
    is_uneven = servers > 1 and mean_of_busiest < _EVEN
    shares = mean_of_busiest if is_uneven else servers / (servers + 1)
    counts = traffic.servers[worst]
    messages = counts.get("/servers/count/messages", 0.0)
    each = f" of {counts.get('/servers/bytes/sent', 0.0) / messages:.0f} bytes each" if messages else ""
    refused = counts.get("/servers/count/full-queue", 0.0) + traffic.totals.get(
        "/servers/count/held-for-flow", 0.0
    )
    return [
        finding(
            Cause.SATURATED_SERVER,
            None,
            f"communication server {worst} of {servers} sent without a pause for {saturated:.3g} s while senders were refused "
            f"{counted(int(refused), 'time')}; it sent {counted(int(messages), 'message')}{each}"
            + (
                f"; all servers together were busy {mean_of_busiest:.0%} as long as it, on average"
                if is_uneven
                else ""
            ),
            _remedy_of_saturation(servers, is_uneven, cpus - workers - servers),
            saturated * (1 - shares),
        )
    ]


def _remedy_of_saturation(servers: int, is_uneven: bool, free_cpus: float) -> str:
    by_senders = "let senders send these sizes themselves (served_sizes::servers = 0 for them, or TRIMTAB_COMMUNICATION_SERVERS=0)"
    if is_uneven:
        return f"give each server fewer messages in a row (server_settings::consecutive), or {by_senders}"
    if free_cpus < 1:
        return (
            f"no CPU is free for another server beside the workers: {by_senders}, or use a worker less and "
            f"{counted(servers + 1, 'server')}"
        )
    return (
        f"use {counted(servers + 1, 'server')} (TRIMTAB_COMMUNICATION_SERVERS={servers + 1}), or {by_senders}"
    )

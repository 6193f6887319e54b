"""Findings about the messages of one process: why cores lose time to them (docs/reference/metrics.md, "Findings")."""

from __future__ import annotations

from trimtab.analysis.account import Account
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
_REASONS = ("count", "batch", "time", "full", "handled", "sender-waits", "age", "asked")


def network_findings(traffic: Traffic | None, account: Account, workers: int) -> list[Finding]:
    """Every finding that applies to the messages of a process with this number of workers, even if its gain is small."""
    if traffic is None or not workers:
        return []
    at_once = max(min(float(workers), account.cpus), 1.0)
    return [*_tiny_messages(traffic, at_once), *_queued_parcels(traffic, at_once)]


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
        Finding(
            Cause.TINY_MESSAGES,
            None,
            f"{messages} messages of {counted(round(per_message, 1), 'parcel')} and {size:.0f} bytes; most were sent because a fixed count "
            f"was reached; sending and receiving took {spent:.3g} s",
            "let parcels travel together: leave out the fixed setting (set_coalescing, job_options::standard), since the "
            "adaptive rules are the default, or set a larger count with a wait",
            spent * (1 - per_message / _GOOD_PARCELS) / at_once,
            (),
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
        Finding(
            Cause.QUEUED_PARCELS,
            None,
            f"workers had nothing to do for {waited:.3g} s while parcels of theirs waited in queues; "
            f"{reasons[chief]:.0f} of {traffic.messages} messages were sent by the rule {chief!r}",
            "leave out the fixed setting (set_coalescing, job_options::standard), since the adaptive rules send what is waited "
            "for, or set sends_before_waiting, or a smaller count and wait",
            waited / at_once,
            (),
        )
    ]

"""The files by which a program and a policy in another process know of each other; docs/guide/policies.md has their formats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trimtab.files import FileKind, read_json
from trimtab.policies.policy import EVENTS, Event, Knob, Measurement, Policy, Proposal, Snapshot, Subject
from trimtab.whole_files import open_folder, write_in

# The process has one; each engine of its task runtimes has one with a name of its own.
SNAPSHOTS = "policy-snapshot*.json"
FORMAT = 1


class ExchangeError(Exception):
    """A snapshot that cannot be read, or a proposal that cannot be written."""


_SNAPSHOT_FILE = FileKind("a snapshot for a policy", 256 << 20, ExchangeError)


def read_snapshot(path: Path) -> Snapshot:
    """The snapshot of an engine, as the library writes it into the folder of its process.

    Raises:
        ExchangeError: it cannot be read, or it is of another version.
    """
    try:
        return _snapshot(read_json(path, _SNAPSHOT_FILE))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ExchangeError(f"{path}: expected a snapshot, found another thing: {error!r}") from error


def _snapshot(fields: Any) -> Snapshot:
    if fields["format"] != FORMAT:
        raise ExchangeError(f"snapshot of format {fields['format']}, expected {FORMAT}")
    return Snapshot(
        fields["number"],
        fields["time_s"],
        fields["is_last"],
        fields["budget_left_s"],
        fields["has_consent"],
        fields["figures"],
        tuple(_subject(subject) for subject in fields["subjects"]),
        tuple(Event(**event) for event in fields["events"]),
    )


def _subject(fields: dict[str, Any]) -> Subject:
    return Subject(
        fields["id"],
        fields["name"],
        fields["key"],
        fields["since"],
        fields["is_others"],
        fields["has_level"],
        {entry["name"]: Knob(**{**entry, "values": tuple(entry["values"])}) for entry in fields["knobs"]},
        fields["figures"],
        tuple(Measurement(*entry) for entry in fields["measured"]),
    )


def _word(text: str) -> str:
    # A word is never empty.
    return quote(text or "-", safe="_.:/-")


def when_line(policy: type[Policy]) -> str:
    """When the policy is to be called, as a line of an answer; "": as usual.

    Raises:
        ExchangeError: it asks for what there is not.
    """
    if isinstance(policy.events, str) or not set(policy.events) <= set(EVENTS):
        raise ExchangeError(f"events = {policy.events!r}, expected some of {', '.join(EVENTS)} in a tuple")
    period = policy.period_s
    if period is None and not policy.events:
        raise ExchangeError("period_s = None without events: it would never be called")
    if period is not None and not (isinstance(period, int | float) and 0.02 <= period <= 3600):
        raise ExchangeError(f"period_s = {period!r}, expected None or seconds from 0.02 to 3600")
    if period == Policy.period_s and not policy.events:
        return ""
    return " ".join(["when", "-" if period is None else f"{period!r}", *policy.events])


def answer_text(number: int, proposals: Iterable[Proposal], cadence: str = "") -> str:
    """The answer to that snapshot; when: as `when_line` says.

    Raises:
        ExchangeError: one of them is no proposal.
    """
    lines = [f"trimtab-proposals {FORMAT} {number}", *([cadence] if cadence else [])]
    for proposal in proposals:
        if not isinstance(proposal, Proposal):
            raise ExchangeError(
                f"proposed {proposal!r:.80}, expected what trial, set, keep or undo of a subject return"
            )
        values = [_word(f"{name}={value}") for name, value in proposal.values.items()]
        lines.append(" ".join([proposal.outcome, str(proposal.subject), _word(proposal.reason), *values]))
    return "\n".join(lines) + "\n"


def failure_text(number: int, reason: str) -> str:
    """The answer of a policy that has failed."""
    return f"trimtab-proposals {FORMAT} {number}\nfailed {_word(reason)}\n"


def write_answer(snapshot: Path, text: str) -> None:
    """The answer to the engine of that file. Whole: whoever reads sees it or the one before."""
    with open_folder(snapshot.parent) as opened:
        write_in(opened, snapshot.stem.replace("snapshot", "answer") + ".txt", text.encode())

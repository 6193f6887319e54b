"""The files by which a program and a policy in another process know of each other; docs/policies.md has their formats."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trimtab.policies.policy import Knob, Measurement, Proposal, Snapshot, Subject

SNAPSHOT = "policy-snapshot.json"
ANSWER = "policy-answer.txt"
FORMAT = 1


class ExchangeError(Exception):
    """A snapshot that cannot be read, or a proposal that cannot be written."""


def read_snapshot(text: str) -> Snapshot:
    """A snapshot as the library writes it.

    Raises:
        ExchangeError: it is of another version.
    """
    all_of_it: dict[str, Any] = json.loads(text)
    if all_of_it["format"] != FORMAT:
        raise ExchangeError(f"snapshot of format {all_of_it['format']}, expected {FORMAT}")
    return Snapshot(
        all_of_it["number"],
        all_of_it["time_s"],
        all_of_it["is_last"],
        all_of_it["budget_left_s"],
        all_of_it["has_consent"],
        all_of_it["figures"],
        tuple(_subject(each) for each in all_of_it["subjects"]),
    )


def _subject(each: dict[str, Any]) -> Subject:
    return Subject(
        each["id"],
        each["name"],
        each["key"],
        each["since"],
        each["is_others"],
        each["has_level"],
        {one["name"]: Knob(**{**one, "values": tuple(one["values"])}) for one in each["knobs"]},
        each["figures"],
        tuple(Measurement(*one) for one in each["measured"]),
    )


def _word(text: str) -> str:
    # A word is never empty.
    return quote(text or "-", safe="_.:/-")


def answer_text(number: int, proposals: Iterable[Proposal]) -> str:
    """The answer to that snapshot.

    Raises:
        ExchangeError: one of them is no proposal.
    """
    lines = [f"trimtab-proposals {FORMAT} {number}"]
    for each in proposals:
        if not isinstance(each, Proposal):
            raise ExchangeError(
                f"proposed {each!r:.80}, expected what trial, set, keep or undo of a subject return"
            )
        values = [_word(f"{name}={value}") for name, value in each.values.items()]
        lines.append(" ".join([each.outcome, str(each.subject), _word(each.reason), *values]))
    return "\n".join(lines) + "\n"


def failure_text(number: int, why: str) -> str:
    """The answer of a policy that has failed."""
    return f"trimtab-proposals {FORMAT} {number}\nfailed {_word(why)}\n"


def write_answer(folder: Path, text: str) -> None:
    """Whole: whoever reads sees it or the one before."""
    part = folder / f"{ANSWER}.part"
    part.write_text(text, encoding="utf-8")
    part.replace(folder / ANSWER)

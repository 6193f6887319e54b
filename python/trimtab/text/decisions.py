"""Decisions as lines: at 1.32 s threads of mandel.c:48 4 -> 3: run delay 31 %; gain 22 % ± 3 %."""

from __future__ import annotations

from collections import Counter
from typing import Any

from trimtab.counted import counted
from trimtab.model import LASTING
from trimtab.text.units import percent


def decision_line(decision: dict[str, Any]) -> str:
    """One decision, without its evidence."""
    changes = ", ".join(_change(each) for each in decision["changes"])
    first, _, others = changes.partition(" ")
    subject = decision["subject"]
    where = subject if subject.startswith(f"{first} of ") else f"{first} of {subject}"
    line = f"at {decision['time_s']:.2f} s {where} {others}"
    if decision["outcome"] not in LASTING:
        line += f", {decision['outcome']}"
    if decision["reason"]:
        line += f": {decision['reason']}"
    if decision["gain"] is not None:
        line += f"; gain {percent(decision['gain'])} ± {percent(decision['uncertainty'])}"
    return line


def _change(change: dict[str, Any]) -> str:
    """A search that found the program's own value to be best keeps it: from and to are the same then."""
    if change["from"] == change["to"]:
        return f"{change['knob']} stays {change['to']}"
    return f"{change['knob']} {change['from']} -> {change['to']}"


def lasting(decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that changed what the program runs with."""
    return [
        each
        for each in decisions
        if each["outcome"] in LASTING and any(change["from"] != change["to"] for change in each["changes"])
    ]


def summary(decisions: list[dict[str, Any]]) -> str | None:
    """How many there were; None without any."""
    if not decisions:
        return None
    outcomes = Counter(each["outcome"] for each in decisions)
    text = f"{counted(outcomes['kept'], 'change')} kept, {outcomes['trial']} tried"
    return text + (f", {outcomes['set']} set by rules" if outcomes["set"] else "")

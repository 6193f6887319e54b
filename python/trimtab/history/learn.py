"""From a run's decisions to what is worth remembering."""

from __future__ import annotations

from trimtab.history.entry import Entry, Key
from trimtab.model import LASTING
from trimtab.model.enumerations import PolicyName
from trimtab.model.report import Decision, Report


def entries_of(report: Report, key: Key, run: str) -> list[Entry]:
    """The values accepted at the end of the run, of every subject of which any was changed; by subject.

    A subject that went back to its own values has them here, too: they were found to be better. What the user has set by
    hand was proved by nobody, and is not remembered.
    """
    latest: dict[str, Decision] = {}
    settings: dict[str, dict[str, str]] = {}
    for decision in report.decisions:
        is_by_hand = decision.policy == PolicyName.BY_HAND
        if decision.outcome not in LASTING or not decision.key or is_by_hand:
            continue
        latest[decision.key] = decision
        key_settings = settings.setdefault(decision.key, {})
        key_settings.update({change.knob: change.to for change in decision.changes})
        key_settings.update(decision.notes)
    started = {process.id: process.started_real_ns * 1e-9 for process in report.processes}
    return [
        Entry(
            key,
            subject,
            decision.subject,
            str(report.program),
            settings[subject],
            decision.policy or "",
            decision.reason,
            decision.gain,
            decision.uncertainty,
            decision.pairs,
            started[decision.process] + decision.time_s,
            run,
        )
        for subject, decision in sorted(latest.items())
    ]

"""Decisions as lines: at 1.32 s threads of mandel.c:48 4 -> 3: run delay 31 %; gain 22 % ± 3 %."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from trimtab.counted import counted
from trimtab.model import LASTING, OUTCOMES
from trimtab.model.enumerations import Outcome, PolicyName, Reason
from trimtab.model.report import Change, Decision
from trimtab.text.units import with_uncertainty

_TRIAL, _KEPT = OUTCOMES[Outcome.TRIAL], OUTCOMES[Outcome.KEPT]
_UNDONE, _SET = OUTCOMES[Outcome.UNDONE], OUTCOMES[Outcome.SET]
# A trial alternates with what it is compared to; these end a turn of it, and are the last word only if the run ended there.
_REASONS = {
    Reason.INCUMBENTS_TURN.value: "the run ended before a gain was proved",
    Reason.MEASURED.value: "measured, and not chosen for a proof",
}


def decision_line(decision: Decision) -> str:
    """One decision, without its evidence."""
    changes = ", ".join(_change(change) for change in decision.changes)
    first, _, others = changes.partition(" ")
    subject = decision.subject
    place = subject if subject.startswith(f"{first} of ") else f"{first} of {subject}"
    line = f"at {decision.time_s:.2f} s {place} {others}"
    if decision.outcome not in LASTING:
        line += f", {decision.outcome}"
    if decision.reason:
        line += f": {decision.reason}"
    return line + _gain(decision)


def _change(change: Change) -> str:
    """A search that found the program's own value to be best keeps it: from and to are the same then."""
    if change.from_ == change.to:
        return f"{change.knob} stays {change.to}"
    return f"{change.knob} {change.from_} -> {change.to}"


def lasting(decisions: Sequence[Decision]) -> list[Decision]:
    """Those that changed what the program runs with."""
    return [
        decision
        for decision in decisions
        if decision.outcome in LASTING and any(change.from_ != change.to for change in decision.changes)
    ]


def summary(decisions: Sequence[Decision]) -> str | None:
    """How many there were; None without any. A setting that was tried several times counts once."""
    if not decisions:
        return None
    outcomes = Counter(decision.outcome for decision in decisions)
    tried = {(decision.subject, _setting(decision)) for decision in decisions if decision.outcome == _TRIAL}
    from_history = sum(
        decision.outcome == _SET and decision.policy == PolicyName.HISTORY for decision in decisions
    )
    by_hand = sum(
        decision.outcome == _SET and decision.policy == PolicyName.BY_HAND for decision in decisions
    )
    by_rules = outcomes[_SET] - from_history - by_hand
    kept = sum(decision.outcome == _KEPT for decision in lasting(decisions))
    text = f"{counted(kept, 'change')} kept, {len(tried)} tried"
    text += f", {from_history} from earlier runs" if from_history else ""
    text += f", {by_hand} set by hand" if by_hand else ""
    return text + (f", {by_rules} set by rules" if by_rules else "")


def rejected(decisions: Sequence[Decision]) -> list[Decision]:
    """Of each subject whose settings were tried without success: the last undone decision of each setting."""
    changed = {decision.subject for decision in decisions if decision.outcome in LASTING}
    latest: dict[tuple[str, str], Decision] = {}
    for decision in decisions:
        if decision.outcome == _UNDONE and decision.subject not in changed:
            latest[decision.subject, _undone_setting(decision)] = decision
    return list(latest.values())


def rejected_line(decision: Decision) -> str:
    """`tried schedule fac2 at mandel.c:48, undone: no better; gain -1.2 % ± 0.4 %`."""
    line = f"tried {_undone_setting(decision)} at {decision.subject}, undone: "
    line += _REASONS.get(decision.reason, decision.reason or "no reason recorded")
    return line + _gain(decision)


def _setting(decision: Decision) -> str:
    """What it set."""
    return ", ".join(f"{change.knob} {change.to}" for change in decision.changes)


def _undone_setting(decision: Decision) -> str:
    """What it took back."""
    return ", ".join(f"{change.knob} {change.from_}" for change in decision.changes)


def _gain(decision: Decision) -> str:
    if decision.gain is None:
        return ""
    return f"; gain {with_uncertainty(decision.gain, decision.uncertainty)}"

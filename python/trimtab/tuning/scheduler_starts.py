"""Scheduling policies of task runtimes: the library tells only of those that program and user leave open."""

from __future__ import annotations

from trimtab.model.report import Scheduler
from trimtab.tuning.multi_run import Start
from trimtab.tuning.start_situation import WIDE, Situation


def scheduler_starts(situation: Situation) -> list[Start]:
    """What the runtimes are advised; with --wide all others, too."""
    return [
        Start(
            {},
            reason,
            {scheduler.key: {"scheduler": name}},
            scheduler.subject,
            f"scheduler={scheduler.now}",
        )
        for scheduler in situation.report.schedulers
        for name, reason in _policies(scheduler, situation.is_wide).items()
    ]


def _policies(scheduler: Scheduler, is_wide: bool) -> dict[str, str]:
    """Reason by policy, the advised one first."""
    policies = {scheduler.advised: scheduler.reason} if scheduler.advised else {}
    for name in scheduler.others if is_wide else ():
        policies.setdefault(name, WIDE)
    return policies

"""Scheduling policies of task runtimes that were left open: what was in force, and what might be better."""

from __future__ import annotations

from trimtab.model import Process
from trimtab.model.report import Scheduler


def schedulers(process: Process, process_id: str) -> list[Scheduler]:
    """One entry a runtime, as rooms/runtime (scheduler_knob.cpp) tells of it: keys as in the history.

    `others` are all that the runtime could have had besides.
    """
    facts = process.facts
    entries: list[Scheduler] = []
    for fact, now in facts.items():
        name, _, key = fact.partition(" ")
        if name != "scheduler" or not key:
            continue
        advised, _, reason = facts.get(f"scheduler-advised {key}", "").partition(": ")
        entries.append(
            Scheduler(
                process=process_id,
                # tasks/PROGRAM/runtime 1/2 workers
                subject=key.split("/")[-2] if "/" in key else key,
                key=key,
                now=now,
                advised=advised or None,
                reason=reason,
                others=tuple(word for word in facts.get(f"schedulers {key}", "").split(",") if word),
            )
        )
    return entries

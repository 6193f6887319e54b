"""Compares what the report says of a synthetic run with what was planted in it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from trimtab import analysis
from trimtab.model.report import Report
from trimtab.readers import open_run

from simulated.job_simulation import JobRecording
from simulated.planting import Planted
from simulated.recording import Recording


@dataclass(frozen=True)
class Score:
    """What became of a planted run.

    Attributes:
        planted: causes and subjects, the one that costs most first.
        found: those that are blamed, most first.
    """

    planted: tuple[tuple[str, str], ...]
    found: tuple[tuple[str, str], ...]

    @property
    def is_right(self) -> bool:
        """The first causes are the planted ones, in their order."""
        return all(
            place < len(self.found) and _matches(wanted, self.found[place])
            for place, wanted in enumerate(self.planted)
        )


def _matches(wanted: tuple[str, str], found: tuple[str, str]) -> bool:
    return wanted[0] == found[0] and (not wanted[1] or wanted[1] == found[1])


def report_of(recording: Recording | JobRecording, folder: Path) -> Report:
    """The report of a simulated run; the run directory is removed again."""
    directory = folder / "run"
    try:
        return analysis.build(open_run(recording.write(directory)))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def blamed(report: Report) -> tuple[tuple[str, str], ...]:
    """Causes and subjects, most first. Of a cause without a subject in particular all subjects together."""
    return tuple((entry.cause.value, entry.subject or "") for entry in report.blame)


def score(planted: Planted, report: Report) -> Score:
    """What the report says of the planted causes; a cause that is planted without a subject is blamed as a whole."""
    order = sorted(range(len(planted.plants)), key=lambda at: -planted.costs_ns[at])
    wanted = tuple((planted.plants[at].cause.value, planted.plants[at].subject) for at in order)
    whole = {cause for cause, subject in wanted if not subject}
    sums: dict[tuple[str, str], float] = {}
    for entry in report.blame:
        key = (entry.cause.value, "" if entry.cause.value in whole else entry.subject or "")
        sums[key] = sums.get(key, 0.0) + entry.share
    found = tuple(sorted(sums, key=lambda key: -sums[key]))
    return Score(wanted, found)


# What replays change to take a cause away, by a part of the change's words.
_CHANGES = {
    "straggler": "stragglers take as long",
    "imbalance": "lanes share the work equally",
    "serial part": "the serial part uses all lanes",
    "lock holder": "nobody waits for a lock",
    "preemption": "no thread loses its CPU",
    "wake-up latency": "steps begin as soon as they can",
    "dependence chain": "do not wait for each other",
    "spawn rate": "makes its tasks in parallel",
}


def predicted_saving_s(planted: Planted, report: Report, at: int = 0) -> float | None:
    """What a replay says that a planted cause costs, seconds; None: no replay takes this cause away.

    The truth is `planted.costs_ns[at]`, of another simulation. A change without a subject is of all subjects.
    """
    plant = planted.plants[at]
    words = _CHANGES.get(plant.cause.value) if plant.change is None else plant.change
    if not words or not report.what_if:
        return None
    places = (None, plant.subject) if plant.subject else (None,)
    return max(
        (
            change.gain_s
            for change in report.what_if[1:]
            if words in change.change and change.subject in places
        ),
        default=0.0,
    )


def is_in_order(planted: Planted, report: Report) -> bool:
    """All planted causes are blamed, and by the replays' savings they are in the order of what they cost; where replays cannot say that, by blame."""
    result = score(planted, report)
    if any(plant.change == "" for plant in planted.plants):
        return result.is_right
    if not all(any(_matches(wanted, found) for found in result.found) for wanted in result.planted):
        return False
    order = sorted(range(len(planted.plants)), key=lambda at: -planted.costs_ns[at])
    saved = [predicted_saving_s(planted, report, at) for at in order]
    known = [seconds for seconds in saved if seconds]
    return len(known) == len(saved) and known == sorted(known, reverse=True)

"""Compares what the report says of a synthetic run with what was planted in it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from trimtab import analysis
from trimtab.model.report import Report
from trimtab.readers import open_run

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

    @property
    def is_in_order(self) -> bool:
        """The planted ones are all there, and in their order."""
        places = [
            next((at for at, found in enumerate(self.found) if _matches(wanted, found)), None)
            for wanted in self.planted
        ]
        known = [at for at in places if at is not None]
        return len(known) == len(places) and known == sorted(known)


def _matches(wanted: tuple[str, str], found: tuple[str, str]) -> bool:
    return wanted[0] == found[0] and (not wanted[1] or wanted[1] == found[1])


def report_of(recording: Recording, folder: Path) -> Report:
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
}


def predicted_saving_s(planted: Planted, report: Report) -> float | None:
    """What a replay says that the only planted cause costs, seconds; None: no replay takes this cause away.

    The truth is `planted.costs_ns[0]`, of another simulation.
    """
    words = _CHANGES.get(planted.plants[0].cause.value)
    if words is None or not report.what_if:
        return None
    return max((change.gain_s for change in report.what_if[1:] if words in change.change), default=0.0)

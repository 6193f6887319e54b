"""A whole check: runs of both sides in turn, and what they say."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trimtab
from trimtab.answer_check.compare import DIFFERS, Rules
from trimtab.answer_check.outcome import Item, judge
from trimtab.answer_check.outputs import Outputs
from trimtab.answer_check.sides import Options, Ran, run_plain, run_tuned


@dataclass(frozen=True)
class Checked:
    """What came of it. What a plain and a tuned run took is the median of all."""

    options: Options
    plain: list[Ran]
    tuned: list[Ran]
    items: list[Item]
    unseen: list[str]

    @property
    def is_same(self) -> bool:
        """Nothing differs but what differs by itself."""
        return all(item.compared.verdict != DIFFERS for item in self.items)

    def as_json(self) -> dict[str, Any]:
        """All that is told."""
        changes = [run.changes for run in self.tuned if run.changes is not None]
        return {
            "trimtab": trimtab.__version__,
            "command": list(self.options.argv),
            "tuning": list(self.options.tuning),
            "is_same": self.is_same,
            "plain": {"runs": len(self.plain), "wall_s": _median(self.plain)},
            "tuned": {
                "runs": len(self.tuned),
                "wall_s": _median(self.tuned),
                "recorded": len(changes),
                "kept": sum(change.kept for change in changes),
                "tried": sum(change.tried for change in changes),
            },
            "items": [item.as_json() for item in self.items],
            "notes": self._notes(),
        }

    def _notes(self) -> list[str]:
        messages = dict.fromkeys(line for ran in self.tuned for line in ran.said)
        return [*messages, *(f"{path}: no run has written it" for path in self.unseen)]


def _median(runs: list[Ran]) -> float:
    return statistics.median(run.wall_s for run in runs)


def check(
    options: Options, rules: Rules, folder: Path, report_progress: Callable[[str, int, int], None]
) -> Checked:
    """Run both sides in turn and compare them; what they wrote is below `folder`.

    Where they differ, the plain side is run as often again: what it does by itself only now and then is not the
    tuning's. `report_progress` gets what comes next, how many runs are done, and of how many.

    Raises:
        CheckError: the program cannot be run.
    """
    plain: list[Ran] = []
    tuned: list[Ran] = []
    total = 2 * options.runs

    def one_plain() -> None:
        report_progress(f"plain run {len(plain) + 1}", len(plain) + len(tuned), total)
        plain.append(run_plain(options, outputs, folder / f"plain-{len(plain) + 1}"))

    def judged() -> Checked:
        items = judge(plain, tuned, rules, options.is_stderr)
        return Checked(options, plain, tuned, items, outputs.unseen)

    with Outputs(options.patterns, folder) as outputs:
        for number in range(1, options.runs + 1):
            one_plain()
            report_progress(f"tuned run {number}", len(plain) + len(tuned), total)
            tuned.append(run_tuned(options, outputs, folder / f"tuned-{number}", plain[0]))
        checked = judged()
        if checked.is_same:
            return checked
        total += options.runs
        for _ in range(options.runs):
            one_plain()
        return judged()

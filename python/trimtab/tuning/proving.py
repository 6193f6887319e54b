"""What Trimtab can apply about a finding, and the proof: predicted and measured gain side by side.

Pure: how a run is made is its caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.analysis.own_actions import CPU_COUNT, OWN_ACTIONS
from trimtab.analysis.task_order import kinds_to_raise, kinds_without_knob
from trimtab.model.enumerations import Cause
from trimtab.model.report import Finding, Report
from trimtab.tuning.multi_run import Contest, Pairs, Runner, Start, Trial, measured_in_turn
from trimtab.tuning.objective import Cost

_TASK_TUNE = "TRIMTAB_TASK_TUNE"


@dataclass(frozen=True)
class Remedy:
    """What is done about a finding.

    Attributes:
        start: what the program is started with.
        is_searched: a run with search in it comes first, and what it keeps is used.
        words: for people.
    """

    start: Start
    is_searched: bool
    words: str


@dataclass(frozen=True)
class Proof:
    """Predicted and measured gain, as shares of the run's time; `pairs`: with the remedy and without."""

    predicted: float
    predicted_low: float
    predicted_high: float
    pairs: Pairs

    @property
    def measured_low(self) -> float:
        """The least that a pair gained."""
        return 1.0 - max(self.pairs.ratios)

    @property
    def measured_high(self) -> float:
        """The most that a pair gained."""
        return 1.0 - min(self.pairs.ratios)

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "predicted": self.predicted,
            "predicted_low": self.predicted_low,
            "predicted_high": self.predicted_high,
            "measured": self.pairs.gain,
            "measured_low": self.measured_low,
            "measured_high": self.measured_high,
            "verdict": self.pairs.verdict,
            "with_s": list(self.pairs.candidate),
            "without_s": list(self.pairs.incumbent),
        }


def remedy_of(finding: Finding, environment: Mapping[str, str], cpus: float, report: Report) -> Remedy | str:
    """What Trimtab can apply; a text: why it can apply nothing.

    Args:
        report: that has the finding.
        environment: the user's: what is set there is left.
        cpus: that the program may use, quota included.
    """
    cause = Cause(finding.cause)
    action = OWN_ACTIONS.get(cause)
    if cause is Cause.TASK_ORDER and finding.subject is not None and report.command:
        return _of_priorities(finding, finding.subject, environment, report)
    if action is not None and action.search:
        return Remedy(Start({}, finding.evidence), True, action.search)
    # Of a place: threads that wait in regions. Workers of a task runtime have no such setting.
    is_of_workers = cause is Cause.LATE_WAKE_UPS and finding.subject is None
    if action is None or not action.variables or is_of_workers:
        return f"Trimtab cannot apply it: {finding.action}"
    if taken := [name for name in action.known if name in environment]:
        return f"{', '.join(taken)}: set by you, so it is left as it is"
    count = str(max(int(cpus), 1))
    variables = {name: count if value == CPU_COUNT else value for name, value in action.variables.items()}
    start = Start(variables, finding.evidence)
    return Remedy(start, False, f"starts the program with {start.text}")


def prove(
    runner: Runner,
    finding: Finding,
    remedy: Remedy,
    report: Report,
    pairs: int,
    report_trial: Callable[[Trial], None] = lambda _: None,
) -> Proof:
    """Apply the remedy and measure it on fresh runs, in turn with runs as the user starts the program.

    Raises:
        RunFailed: a run did not end like the others.
    """
    if remedy.is_searched:
        learnt = runner.learn(remedy.start.environment)
        report_trial(Trial("a run that searches", Cost.of_time(learnt.wall_s)))
    contest = Contest(lambda: runner.frozen(remedy.start), runner.bare, remedy.words, pairs)
    measured = measured_in_turn(contest, report_trial)
    whole_s = report.observed_s or report.wall_s or 1.0
    return Proof(
        finding.gain_s / whole_s, finding.gain_low_s / whole_s, finding.gain_high_s / whole_s, measured
    )


def _of_priorities(
    finding: Finding, kind: str, environment: Mapping[str, str], report: Report
) -> Remedy | str:
    """Knobs `priority:KIND` of the task runtime, set when it begins, as a setting of an earlier run."""
    if _TASK_TUNE in environment:
        return f"{_TASK_TUNE}: set by you, so it is left as it is"
    raised = kinds_to_raise(report.idle_regions, kind)
    if unnamed := kinds_without_knob(report.task_times, raised):
        return (
            f"{', '.join(unnamed)}: no short name by which Trimtab could raise its priority: name these tasks "
            "(task_options::name), or raise them yourself (task_options::level = high)"
        )
    key = f"tasks/{Path(report.command[0]).name}/priorities of tasks"
    settings = {key: {f"priority:{name}": "high" for name in raised}}
    start = Start({_TASK_TUNE: "priority"}, finding.evidence, settings, subject="priorities of tasks")
    return Remedy(start, False, f"raises the priority of {', '.join(raised)}")

"""What Trimtab can apply about a finding, and the proof: predicted and measured gain side by side.

Pure: how a run is made is its caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trimtab.model.enumerations import Cause
from trimtab.model.report import Finding, Report
from trimtab.tuning.multi_run import Pairs, Runner, Start, Trial, measured_in_turn
from trimtab.tuning.objective import Cost

# What a search within a run changes: schedules, chunks, grain, scheduling policies.
_SEARCHED = {
    Cause.IMBALANCE: "the search chooses the schedules and chunks of loops",
    Cause.STRAGGLER: "the search chooses the schedules and chunks of loops",
    Cause.SMALL_CHUNKS: "the search chooses the chunks of loops",
    Cause.SMALL_TASKS: "the search chooses the grain",
    Cause.SCHEDULING_POLICY: "the search chooses the scheduling policy",
}
_THREAD_COUNTS = ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "KMP_ALL_THREADS")
_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY")


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


def remedy_of(finding: Finding, environment: Mapping[str, str], cpus: float) -> Remedy | str:
    """What Trimtab can apply; a text: why it can apply nothing.

    Args:
        environment: the user's: what is set there is left.
        cpus: that the program may use, quota included.
    """
    cause = Cause(finding.cause)
    count = str(max(int(cpus), 1))
    if cause in _SEARCHED:
        return Remedy(Start({}, finding.evidence), True, _SEARCHED[cause])
    if cause in (Cause.OVERSUBSCRIPTION, Cause.FEW_THREADS):
        return _of_start({"OMP_NUM_THREADS": count}, _THREAD_COUNTS, finding, environment)
    if cause is Cause.WAIT_POLICY:
        return _of_start({"OMP_WAIT_POLICY": "passive"}, _WAITING, finding, environment)
    # Of a place: threads that wait in regions. Workers of a task runtime have no such setting.
    if cause is Cause.LATE_WAKE_UPS and finding.subject is not None:
        return _of_start({"OMP_WAIT_POLICY": "active"}, _WAITING, finding, environment)
    if cause is Cause.FEW_WORKERS:
        return _of_start({"TRIMTAB_WORKERS": count}, ("TRIMTAB_WORKERS",), finding, environment)
    return f"Trimtab cannot apply it: {finding.action}"


def _of_start(
    variables: Mapping[str, str], known: tuple[str, ...], finding: Finding, environment: Mapping[str, str]
) -> Remedy | str:
    if taken := [name for name in known if name in environment]:
        return f"{', '.join(taken)}: set by you, so it is left as it is"
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
    measured = measured_in_turn(
        lambda: runner.frozen(remedy.start), runner.bare, pairs, 0, remedy.words, report_trial
    )
    whole_s = report.observed_s or report.wall_s or 1.0
    return Proof(
        finding.gain_s / whole_s, finding.gain_low_s / whole_s, finding.gain_high_s / whole_s, measured
    )

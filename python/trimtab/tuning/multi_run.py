"""Tuning over several runs: what is learnt within runs, what can only be set at the start, and a proof on fresh runs.

Pure: how a run is made is its caller's, so that tests can put a made-up program in its place.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from trimtab.model import LASTING, OUTCOMES
from trimtab.model.enumerations import Outcome as DecisionOutcome
from trimtab.model.enumerations import PolicyName
from trimtab.model.report import Decision, Report
from trimtab.tuning.objective import Cost
from trimtab.tuning.tunables import combined

# A candidate that needs this many times what the incumbent needs, twice in turn, is not tried further.
_CLEARLY_WORSE = 1.3
# Of so many pairs one may be lost, beyond the first five.
_PAIRS_FOR_ONE_LOST = 4
# A candidate that saves enough in the median, but has not won clearly enough, gets more pairs: so many, and so many again.
MORE_PAIRS = 2 * _PAIRS_FOR_ONE_LOST
# Fewer pairs say little of a candidate that has lost one of them.
_LEAST_PAIRS = 3
# How often chance may rank the pairs as much in the candidate's favour. With the pairs that may be lost, and both times that
# there are more pairs, a candidate without any effect is kept about once in 20, and the proof asks for as much again.
_CHANCE = 1 / 40
# Share of the cost that a change must save to be worth keeping.
LEAST_GAIN = 0.01

Verdict = Literal["better", "no better", "clearly worse"]


@dataclass(frozen=True)
class Pairs:
    """Costs of candidate and incumbent, in turn: of the whole program, seconds or what else is to become small.

    `is_stopped`: a run with the candidate took so long that it was ended.
    """

    candidate: tuple[float, ...]
    incumbent: tuple[float, ...]
    is_stopped: bool = False

    @property
    def ratios(self) -> list[float]:
        """Candidate over incumbent, by pair."""
        return [
            candidate / incumbent for candidate, incumbent in zip(self.candidate, self.incumbent, strict=True)
        ]

    @property
    def gain(self) -> float:
        """Share of the cost that the candidate saves: the median over the pairs."""
        return 1.0 - statistics.median(self.ratios)

    @property
    def spread(self) -> float:
        """Half the width of the interval that the pairs themselves span: 94 % for five pairs, more for more."""
        return (max(self.ratios) - min(self.ratios)) / 2

    @property
    def verdict(self) -> Verdict:
        """better: hardly a pair was lost, and the median saves enough. Of five pairs a coin wins all once in 32."""
        ratios = self.ratios
        if self.is_stopped or (len(ratios) >= 2 and min(ratios[-2:]) > _CLEARLY_WORSE):
            return "clearly worse"
        enough = len(ratios) >= 5 and (self.has_hardly_lost or chance_of(ratios) <= _CHANCE)
        return "better" if enough and self.gain > LEAST_GAIN else "no better"

    @property
    def has_hardly_lost(self) -> bool:
        """Of five pairs none, of nine one, and so on: then it does not matter how much a lost one cost."""
        return self._lost <= (len(self.ratios) - 5) // _PAIRS_FOR_ONE_LOST

    @property
    def can_prove_better(self) -> bool:
        """Whether more pairs may still say so: of a candidate that has lost pairs, only if it saves enough in the median."""
        is_early = self._lost == 1 and len(self.ratios) < _LEAST_PAIRS and max(self.ratios) <= _CLEARLY_WORSE
        return self._lost == 0 or is_early or self.gain > LEAST_GAIN

    @property
    def _lost(self) -> int:
        return sum(ratio >= 1.0 for ratio in self.ratios)


def chance_of(ratios: Sequence[float]) -> float:
    """How often pairs of equal programs would speak at least as clearly for the candidate: Wilcoxon's signed ranks, exactly.

    >>> chance_of([0.9, 0.91, 0.92, 0.93, 0.94])
    0.03125
    >>> chance_of([0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 1.01]) * 2**9
    2.0
    """
    by_size = sorted(ratios, key=lambda ratio: abs(math.log(ratio)))
    lost_ranks = sum(rank for rank, ratio in enumerate(by_size, 1) if ratio >= 1.0)
    # How many ways there are to choose ranks with each sum.
    ways = [1] + [0] * lost_ranks
    for rank in range(1, len(by_size) + 1):
        for total in range(lost_ranks, rank - 1, -1):
            ways[total] += ways[total - rank]
    return float(sum(ways) / 2 ** len(by_size))


@dataclass(frozen=True)
class Start:
    """What the program could be started with, and what speaks for it.

    Attributes:
        environment: variables of the program.
        settings: value by knob, by the subject's key in the history: knobs that take effect at the start only.
        subject, before: what is changed, for people.
    """

    environment: Mapping[str, str]
    reason: str
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    subject: str = "start"
    before: str = "as it was"

    @property
    def text(self) -> str:
        """As a shell has it."""
        variable_sets = [self.environment, *self.settings.values()]
        return " ".join(f"{name}={value}" for variables in variable_sets for name, value in variables.items())

    def on_top_of(self, other: Start) -> Start:
        """Both, this one where they say different things."""
        return replace(
            self,
            environment=combined(other.environment, self.environment),
            settings={**other.settings, **self.settings},
        )


class Runner(Protocol):
    """Runs of the program; each raises RunFailed where it does not end as the first one did.

    A frozen run that takes far longer than a bare one may be ended: its cost says so.
    """

    def bare(self) -> Cost:
        """Of the program as the user starts it."""

    def learn(self, environment: Mapping[str, str]) -> Report:
        """A run with search in it; its report."""

    def frozen(self, start: Start) -> Cost:
        """Of a run with all that was found, what `start` says on top of it, and no search."""


class RunFailed(Exception):
    """A run of the program that did not end like the others: says how, and with which settings."""


@dataclass(frozen=True)
class Trial:
    """One thing that was tried, for the user to see.

    Attributes:
        left_s: what all that may still be to do takes; None: not known yet.
    """

    what: str
    cost: Cost
    note: str = ""
    left_s: float | None = None


@dataclass
class Outcome:
    """What came of it. `loops`: latest decision that lasts, by subject; `starts`: all that were tried; `report`: of the last
    learning run.

    `then`: what the last learning run was started with as things are (quota, other programs); frozen runs are, too.
    """

    loops: dict[str, Decision] = field(default_factory=dict)
    starts: list[tuple[Start, Pairs]] = field(default_factory=list)
    chosen: Start | None = None
    then: Start | None = None
    proof: Pairs | None = None
    report: Report | None = None

    @property
    def is_proved(self) -> bool:
        """Whether the program is faster with what was found than as its user starts it."""
        return self.proof is not None and self.proof.verdict == "better"


@dataclass(frozen=True)
class Contest:
    """Runs that are to be compared.

    Attributes:
        purpose: for people.
        pairs: how many at most.
        left_behind: how many others there may be after these.
        is_decided_early: no further pair is run once the candidate has lost so many that it cannot prove better.
        may_go_on: if the candidate saves enough, and has not won clearly enough, there are more pairs.
    """

    candidate: Callable[[], Cost]
    incumbent: Callable[[], Cost]
    purpose: str
    pairs: int
    left_behind: int = 0
    is_decided_early: bool = False
    may_go_on: bool = False


def tune(
    runner: Runner,
    *,
    learning_runs: int,
    pairs: int,
    candidates: Callable[[Report], Iterable[Start]],
    report_trial: Callable[[Trial], None] = lambda _: None,
) -> Outcome:
    """Learn, choose what to start with, prove.

    Args:
        runner: makes the runs.
        learning_runs: runs with search within them, at least one, one after the other; each begins with what the ones before found.
        pairs: of runs, for each thing that is to be proved; at least 5.
        candidates: what to try at the start, from the report of the last learning run.
        report_trial: called for each run.

    Raises:
        RunFailed: the program failed with something that was tried, or by itself.
    """
    outcome = Outcome()
    _learn(runner, learning_runs, outcome, report_trial)
    assert outcome.report is not None
    outcome.then = _started_with(outcome.report)
    incumbent = Start({}, "")
    starts = list(candidates(outcome.report))
    for number, start in enumerate(starts, 1):
        tried = start.on_top_of(incumbent)
        contest = Contest(
            lambda tried=tried: runner.frozen(tried),  # type: ignore[misc]
            lambda incumbent=incumbent: runner.frozen(incumbent),  # type: ignore[misc]
            start.text,
            pairs,
            left_behind=pairs * (len(starts) - number + 1),
            is_decided_early=True,
            may_go_on=True,
        )
        measured = measured_in_turn(contest, report_trial)
        outcome.starts.append((start, measured))
        if measured.verdict == "better":
            incumbent = tried
            outcome.chosen = tried
    if outcome.loops or outcome.chosen is not None or outcome.then is not None:
        whole = Contest(lambda: runner.frozen(incumbent), runner.bare, "all of it", pairs, may_go_on=True)
        outcome.proof = measured_in_turn(whole, report_trial)
    return outcome


def _learn(
    runner: Runner, learning_runs: int, outcome: Outcome, report_trial: Callable[[Trial], None]
) -> None:
    for number in range(learning_runs):
        report = outcome.report = runner.learn({})
        lasting = [decision for decision in report.decisions if decision.outcome in LASTING and decision.key]
        outcome.loops.update({decision.key: decision for decision in lasting})
        kept_count = sum(decision.outcome == OUTCOMES[DecisionOutcome.KEPT] for decision in lasting)
        report_trial(
            Trial(
                f"learning, run {number + 1} of {learning_runs}",
                Cost.of_time(report.wall_s),
                f"{kept_count} kept",
            )
        )


def _started_with(report: Report) -> Start | None:
    values = report.steering.start_values if report.steering is not None else ()
    if not values:
        return None
    return Start({value.name: value.value for value in values}, "; ".join(value.reason for value in values))


def measured_in_turn(contest: Contest, report_trial: Callable[[Trial], None]) -> Pairs:
    """Pairs in alternating order, so that a machine that gets slower speaks for neither."""
    of_candidate: list[Cost] = []
    of_incumbent: list[Cost] = []
    most, number = contest.pairs, 0
    while number < most:
        for is_candidate in (True, False) if number % 2 == 0 else (False, True):
            (of_candidate if is_candidate else of_incumbent).append(
                contest.candidate() if is_candidate else contest.incumbent()
            )
        number += 1
        so_far = _pairs_of(of_candidate, of_incumbent)
        is_open = so_far.verdict == "no better" and so_far.can_prove_better
        if number == most and contest.may_go_on and is_open and so_far.gain > LEAST_GAIN:
            most = min(most + _PAIRS_FOR_ONE_LOST, contest.pairs + MORE_PAIRS)
        seconds = of_candidate[-1].seconds + of_incumbent[-1].seconds
        report_trial(
            Trial(
                f"{contest.purpose}, pair {number} of {most}",
                of_candidate[-1],
                f"{of_incumbent[-1].text} without",
                seconds * (most - number + contest.left_behind),
            )
        )
        is_lost = contest.is_decided_early and not (is_open or so_far.verdict == "better")
        if is_lost or so_far.verdict == "clearly worse":
            break
    return _pairs_of(of_candidate, of_incumbent)


def _pairs_of(candidate: Sequence[Cost], incumbent: Sequence[Cost]) -> Pairs:
    return Pairs(
        tuple(cost.value for cost in candidate),
        tuple(cost.value for cost in incumbent),
        any(cost.is_stopped for cost in candidate),
    )


def _verdict_of(decision: Decision) -> str:
    if decision.outcome == OUTCOMES[DecisionOutcome.SET]:
        return "known before" if decision.policy == PolicyName.HISTORY else "set by a rule"
    return "best measured" if decision.gain is None else "better"


def rows_of(outcome: Outcome) -> Sequence[dict[str, Any]]:
    """For tables and JSON: subject, setting before and after, gain, spread, verdict, reason."""
    rows: list[dict[str, Any]] = []
    for loop in outcome.loops.values():
        changes = loop.changes
        rows.append(
            {
                "subject": loop.subject,
                "before": ", ".join(f"{change.knob}={change.from_}" for change in changes),
                "after": ", ".join(f"{change.knob}={change.to}" for change in changes),
                "gain": loop.gain,
                "spread": loop.uncertainty,
                "verdict": _verdict_of(loop),
                "reason": loop.reason,
            }
        )
    if outcome.then is not None:
        rows.append(
            {
                "subject": "start",
                "before": "as it was",
                "after": outcome.then.text,
                "gain": None,
                "spread": None,
                "verdict": "as things are",
                "reason": outcome.then.reason,
            }
        )
    for start, pairs in outcome.starts:
        rows.append(
            {
                "subject": start.subject,
                "before": start.before,
                "after": start.text,
                "gain": pairs.gain,
                "spread": pairs.spread,
                "verdict": pairs.verdict,
                "reason": start.reason,
            }
        )
    if outcome.proof is not None:
        rows.append(
            {
                "subject": "the whole program",
                "before": "bare",
                "after": "all that is better",
                "gain": outcome.proof.gain,
                "spread": outcome.proof.spread,
                "verdict": outcome.proof.verdict,
                "reason": "",
            }
        )
    return rows

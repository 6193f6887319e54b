"""Tuning over several runs: what is learnt within runs, what can only be set at the start, and a proof on fresh runs.

Pure: how a run is made is its caller's, so that tests can put a made-up program in its place.
"""

from __future__ import annotations

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
# Share of the cost that a change must save to be worth keeping.
LEAST_GAIN = 0.01

Verdict = Literal["better", "no better", "clearly worse"]


@dataclass(frozen=True)
class Pairs:
    """Costs of candidate and incumbent, in turn: of the whole program, seconds or what else is to become small."""

    candidate: tuple[float, ...]
    incumbent: tuple[float, ...]

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
        if len(ratios) >= 2 and min(ratios[-2:]) > _CLEARLY_WORSE:
            return "clearly worse"
        lost = sum(ratio >= 1.0 for ratio in ratios)
        enough = len(ratios) >= 5 and lost <= (len(ratios) - 5) // 4
        return "better" if enough and self.gain > LEAST_GAIN else "no better"


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
    """Runs of the program; each raises RunFailed where it does not end as the first one did."""

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
    """What came of it. `loops`: latest decision that lasts, by subject; `starts`: all that were tried.

    `then`: what the last learning run was started with as things are (quota, other programs); frozen runs are, too.
    """

    loops: dict[str, Decision] = field(default_factory=dict)
    starts: list[tuple[Start, Pairs]] = field(default_factory=list)
    chosen: Start | None = None
    then: Start | None = None
    proof: Pairs | None = None

    @property
    def is_proved(self) -> bool:
        """Whether the program is faster with what was found than as its user starts it."""
        return self.proof is not None and self.proof.verdict == "better"


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
    # Of pairs; the last are those that prove all of it.
    left = pairs

    def in_turn(candidate: Callable[[], Cost], incumbent: Callable[[], Cost], purpose: str) -> Pairs:
        nonlocal left
        left -= pairs
        return measured_in_turn(candidate, incumbent, pairs, left, purpose, report_trial)

    for number in range(learning_runs):
        report = runner.learn({})
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
    outcome.then = _started_with(report)
    incumbent = Start({}, "")
    starts = list(candidates(report))
    left += pairs * len(starts)
    for start in starts:
        tried = start.on_top_of(incumbent)
        measured = in_turn(
            lambda tried=tried: runner.frozen(tried),  # type: ignore[misc]
            lambda incumbent=incumbent: runner.frozen(incumbent),  # type: ignore[misc]
            start.text,
        )
        outcome.starts.append((start, measured))
        if measured.verdict == "better":
            incumbent = tried
            outcome.chosen = tried
    if outcome.loops or outcome.chosen is not None or outcome.then is not None:
        outcome.proof = in_turn(lambda: runner.frozen(incumbent), runner.bare, "all of it")
    return outcome


def _started_with(report: Report) -> Start | None:
    values = report.steering.start_values if report.steering is not None else ()
    if not values:
        return None
    return Start({value.name: value.value for value in values}, "; ".join(value.reason for value in values))


def measured_in_turn(
    candidate: Callable[[], Cost],
    incumbent: Callable[[], Cost],
    pairs: int,
    left_behind: int,
    purpose: str,
    report_trial: Callable[[Trial], None],
) -> Pairs:
    """Pairs in alternating order, so that a machine that gets slower speaks for neither.

    `left_behind`: how many others there may be after these.
    """
    of_candidate: list[Cost] = []
    of_incumbent: list[Cost] = []
    for number in range(pairs):
        for is_candidate in (True, False) if number % 2 == 0 else (False, True):
            (of_candidate if is_candidate else of_incumbent).append(
                candidate() if is_candidate else incumbent()
            )
        so_far = _pairs_of(of_candidate, of_incumbent)
        left_s = (of_candidate[-1].seconds + of_incumbent[-1].seconds) * (pairs - number - 1 + left_behind)
        report_trial(
            Trial(
                f"{purpose}, pair {number + 1} of {pairs}",
                of_candidate[-1],
                f"{of_incumbent[-1].text} without",
                left_s,
            )
        )
        if so_far.verdict == "clearly worse":
            break
    return _pairs_of(of_candidate, of_incumbent)


def _pairs_of(candidate: Sequence[Cost], incumbent: Sequence[Cost]) -> Pairs:
    return Pairs(tuple(cost.value for cost in candidate), tuple(cost.value for cost in incumbent))


def starts_for(
    report: Report, environment: Mapping[str, str], *, cpus: float, is_thorough: bool = False
) -> list[Start]:
    """What is worth trying at the start, after what a run has shown; the likeliest first.

    Scheduling policies of task runtimes come first: the library tells only of those that program and user leave open.

    Args:
        report: of a run.
        environment: the user's: what is set there is left.
        cpus: that the program may use, quota included.
        is_thorough: try also what nothing speaks for.
    """
    shares: Mapping[str, float] = report.time or {}
    threads = report.threads or 0
    delay, waits = shares.get("run_delay", 0.0), shares.get("barrier_wait", 0.0)
    managing = shares.get("runtime", 0.0) + shares.get("arrival", 0.0)
    starts = _schedulers(report, is_thorough)
    if report.spark is not None or (report.workers and not report.regions):
        return starts  # a program of Spark or of tasks alone: OpenMP's variables are nothing to it
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY"} & environment.keys():
        if delay > 0.03 or is_thorough:
            starts.append(
                Start({"OMP_WAIT_POLICY": "passive"}, f"threads waited for a CPU {delay:.0%} of the time")
            )
        if managing > 0.1 or is_thorough:
            starts.append(
                Start({"OMP_WAIT_POLICY": "active"}, f"starting regions took {managing:.0%} of the time")
            )
    if not {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "KMP_ALL_THREADS"} & environment.keys():
        counts: list[tuple[int, str]] = []
        if threads > cpus:
            counts.append((max(1, int(cpus)), f"{threads} threads for {cpus:g} CPUs"))
        if delay > 0.03:
            counts.append((threads - 1, f"threads waited for a CPU {delay:.0%} of the time"))
        if managing + waits > 0.3 or is_thorough:
            reason = f"waiting and starting regions took {managing + waits:.0%} of the time"
            counts += [(threads // 2, reason), (1, reason)]
        seen_threads: set[int] = {threads}
        for count, reason in counts:
            if count >= 1 and count not in seen_threads:
                seen_threads.add(count)
                starts.append(Start({"OMP_NUM_THREADS": str(count)}, reason))
    return starts


def _schedulers(report: Report, is_thorough: bool) -> list[Start]:
    starts: list[Start] = []
    for scheduler in report.schedulers:
        reasons = {scheduler.advised: scheduler.reason} if scheduler.advised else {}
        if is_thorough:
            reasons |= {
                name: "with --thorough all others are tried"
                for name in scheduler.others
                if name not in reasons
            }
        starts += [
            Start(
                {},
                reason,
                {scheduler.key: {"scheduler": name}},
                scheduler.subject,
                f"scheduler={scheduler.now}",
            )
            for name, reason in reasons.items()
        ]
    return starts


def _verdict_of(decision: Decision) -> str:
    if decision.outcome == OUTCOMES[DecisionOutcome.SET]:
        return "known before" if decision.policy == PolicyName.HISTORY else "set by a rule"
    return "best measured" if decision.gain is None else "better"


def rows_of(outcome: Outcome) -> Sequence[dict[str, Any]]:
    """For tables and JSON: subject, setting before and after, gain, spread, verdict."""
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
            }
        )
    return rows

"""Tuning over several runs, of a made-up program: what is tried, what is proved, what is kept."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from reports import typed
from trimtab.cli.main import main
from trimtab.history import Entry, History, HistoryError, Key
from trimtab.machine_files import Machine
from trimtab.model.report import Report
from trimtab.tuning.kept_start import kept_entries
from trimtab.tuning.multi_run import Outcome, Pairs, RunFailed, Start, Trial, rows_of, tune
from trimtab.tuning.objective import Cost
from trimtab.tuning.runner import ProgramRunner
from trimtab.tuning.single_run import INHERIT, START, entries_of_start, key_of
from trimtab.tuning.start_situation import Situation
from trimtab.tuning.start_sources import proposed_starts
from trimtab.tuning.tunables import VARIABLE


def starts_for(
    report: Report, environment: Mapping[str, str], *, cpus: float, is_wide: bool = False
) -> list[Start]:
    """On a machine of which nothing is known, so nothing is proposed for its memory."""
    situation = Situation(report, environment, cpus, Machine(Path("/nonexistent")), is_wide=is_wide)
    return [start for start in proposed_starts(situation) if VARIABLE not in start.environment]


QUIET = {"run_delay": 0.0, "barrier_wait": 0.0, "runtime": 0.0, "arrival": 0.0, "work": 1.0}


def decision(key: str, to: str, gain: float | None, outcome: str = "kept") -> dict[str, Any]:
    change = {"knob": "schedule", "from": "as-written", "to": to}
    return {
        "key": key,
        "subject": f"{key}.c:1",
        "outcome": outcome,
        "policy": "history" if outcome == "set" else "tuner",
        "changes": [change],
        "gain": gain,
        "uncertainty": None if gain is None else 0.01,
    }


class MadeUp:
    """A program of 10 s; loops that are known save `loops` of it, each start value what `starts` says."""

    def __init__(
        self, loops: float = 0.0, starts: Mapping[str, float] | None = None, noise: float = 0.01
    ) -> None:
        self.loops, self.starts, self.noise = loops, starts or {}, noise
        self.runs = 0

    def _seconds(self, saved: float, environment: Mapping[str, str]) -> float:
        self.runs += 1
        for name, value in environment.items():
            saved += self.starts.get(f"{name}={value}", 0.0)
        return 10 * (1 - saved) * (1 + self.noise * ((self.runs * 7919) % 5 - 2))

    def bare(self) -> Cost:
        return Cost.of_time(self._seconds(0.0, {}))

    def frozen(self, start: Start) -> Cost:
        of_settings = {
            f"{key} {knob}": to for key, entry_of in start.settings.items() for knob, to in entry_of.items()
        }
        return Cost.of_time(self._seconds(self.loops, {**start.environment, **of_settings}))

    def learn(self, environment: Mapping[str, str]) -> Report:
        result = [decision("a", "fac2", self.loops)] if self.loops > 0 else []
        return typed(
            {
                "decisions": result,
                "wall_s": self._seconds(self.loops, environment),
                "time": QUIET,
                "threads": 2,
            }
        )


def passive(_: Report) -> list[Start]:
    return [Start({"OMP_WAIT_POLICY": "passive"}, "a reason"), Start({"OMP_NUM_THREADS": "1"}, "another")]


def test_what_helps_is_proved_together() -> None:
    reported: list[Trial] = []
    program = MadeUp(0.2, {"OMP_WAIT_POLICY=passive": 0.1, "OMP_NUM_THREADS=1": -0.5})
    outcome = tune(program, learning_runs=2, pairs=5, candidates=passive, report_trial=reported.append)
    assert outcome.is_proved and outcome.proof is not None
    assert outcome.proof.gain == pytest.approx(0.3, abs=0.05)
    assert outcome.chosen is not None and outcome.chosen.environment == {"OMP_WAIT_POLICY": "passive"}
    verdicts = {row["after"]: row["verdict"] for row in rows_of(outcome)}
    assert verdicts == {
        "schedule=fac2": "better",
        "OMP_WAIT_POLICY=passive": "better",
        "OMP_NUM_THREADS=1": "no better",
        "all that is better": "better",
    }
    assert len(outcome.starts[1][1].ratios) == 1, "a pair that is lost cannot be won back"
    assert [entry.what for entry in reported][:3] == [
        "learning, run 1 of 2",
        "learning, run 2 of 2",
        "OMP_WAIT_POLICY=passive, pair 1 of 5",
    ]
    left = [entry.left_s for entry in reported]
    assert left[:2] == [None, None] and left[-1] == 0
    assert left[2] == pytest.approx(2 * 14 * reported[2].cost.seconds, rel=0.2), (
        "of this, the other start and the proof"
    )


def test_what_does_not_help_is_not_kept() -> None:
    outcome = tune(MadeUp(0.0), learning_runs=1, pairs=5, candidates=passive)
    assert outcome.chosen is None and outcome.proof is None and not outcome.is_proved
    # The loops are faster, and the program is not: something else has become slower.
    program = MadeUp(0.2)
    program.frozen = lambda start: Cost.of_time(10.5)  # type: ignore[method-assign]
    outcome = tune(program, learning_runs=1, pairs=5, candidates=lambda _: [])
    assert outcome.proof is not None and outcome.proof.verdict == "no better" and not outcome.is_proved


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([0.9] * 5, "better"),
        ([0.9] * 4, "no better"),
        ([0.9] * 4 + [1.1], "no better"),
        ([0.9] * 8 + [1.1], "better"),
        ([0.95] * 7 + [1.01, 1.02], "better"),  # the lost ones are the smallest
        ([0.95] * 7 + [1.01, 1.1], "no better"),
        ([0.95] * 6 + [1.01, 1.02, 1.03], "no better"),
        ([0.995] * 9, "no better"),
        ([1.4, 1.4], "clearly worse"),
        ([0.9, 1.4, 0.9, 0.9, 0.9], "no better"),
    ],
)
def test_verdicts(ratios: list[float], verdict: str) -> None:
    pairs = Pairs(tuple(ratios), tuple(1.0 for _ in ratios))
    assert pairs.verdict == verdict


def test_what_is_tried_at_the_start_follows_from_what_was_seen() -> None:
    def tried(environment: Mapping[str, str], cpus: float = 4, **shares: float) -> list[str]:
        report = typed({"time": QUIET | shares, "threads": 4})
        return [entry.text for entry in starts_for(report, environment, cpus=cpus)]

    assert tried({}) == []
    assert tried({}, run_delay=0.2) == ["OMP_WAIT_POLICY=passive", "OMP_NUM_THREADS=3"]
    assert tried({"OMP_NUM_THREADS": "4"}, run_delay=0.2) == ["OMP_WAIT_POLICY=passive"]
    assert tried({"GOMP_SPINCOUNT": "1"}, run_delay=0.2) == ["OMP_NUM_THREADS=3"]
    assert tried({}, cpus=0.5) == ["OMP_NUM_THREADS=1"]
    assert tried({}, runtime=0.4) == ["OMP_WAIT_POLICY=active", "OMP_NUM_THREADS=2", "OMP_NUM_THREADS=1"]
    everything = starts_for(
        typed({"time": QUIET, "threads": 4}),
        {},
        cpus=4,
        is_wide=True,
    )
    assert {entry.text for entry in everything} == {
        "OMP_WAIT_POLICY=passive",
        "OMP_WAIT_POLICY=active",
        "OMP_NUM_THREADS=2",
        "OMP_NUM_THREADS=1",
        "OMP_PROC_BIND=true OMP_PLACES=threads",
    }


KEY = "tasks/app/runtime 1/2 workers"


def left_open(advised: str | None, *others: str) -> Report:
    """A report of a run whose only runtime may have another scheduling policy."""
    entry = {
        "subject": "runtime 1",
        "key": KEY,
        "now": "static-priority",
        "advised": advised,
        "reason": "idle" if advised else "",
        "others": list(others),
    }
    return typed({"time": QUIET, "threads": 2, "schedulers": [entry], "workers": [{}]})


def test_a_scheduling_policy_that_was_advised_is_tried() -> None:
    report = left_open("local-priority", "local-priority", "local", "abp-priority")
    (start,) = starts_for(report, {}, cpus=2)
    assert (start.subject, start.before, start.text, start.reason) == (
        "runtime 1",
        "scheduler=static-priority",
        "scheduler=local-priority",
        "idle",
    )
    assert start.environment == {} and start.settings == {KEY: {"scheduler": "local-priority"}}
    assert starts_for(left_open(None, "local"), {}, cpus=2) == []
    wide = [entry.text for entry in starts_for(report, {}, cpus=2, is_wide=True)]
    assert wide == ["scheduler=local-priority", "scheduler=local", "scheduler=abp-priority"]


def test_a_better_scheduling_policy_is_proved_with_all_else() -> None:
    faster = {f"{KEY} scheduler=local-priority": 0.4, "OMP_NUM_THREADS=1": 0.1}
    starts = [
        *starts_for(left_open("local-priority"), {}, cpus=2),
        Start({"OMP_NUM_THREADS": "1"}, "another"),
    ]
    outcome = tune(MadeUp(0.0, faster), learning_runs=1, pairs=5, candidates=lambda _: starts)
    assert outcome.is_proved and outcome.chosen is not None and outcome.proof is not None
    assert outcome.chosen.settings == {KEY: {"scheduler": "local-priority"}}
    assert outcome.chosen.environment == {"OMP_NUM_THREADS": "1"}
    assert outcome.proof.gain == pytest.approx(0.5, abs=0.05)
    row = rows_of(outcome)[0]
    assert (row["subject"], row["before"], row["after"], row["verdict"]) == (
        "runtime 1",
        "scheduler=static-priority",
        "scheduler=local-priority",
        "better",
    )
    slower = {f"{KEY} scheduler=local-priority": -0.1}
    outcome = tune(MadeUp(0.0, slower), learning_runs=1, pairs=5, candidates=lambda _: starts[:1])
    assert outcome.chosen is None and not outcome.is_proved


def test_what_is_kept_is_an_entry_for_each_thing(tmp_path: Path) -> None:
    key = Key("build", "2", "", "machine")
    pairs = Pairs((6.0,) * 5, (10.0,) * 5)
    starts = [
        Start({}, "idle", {KEY: {"scheduler": "local"}}, "runtime 1", "scheduler=static-priority"),
        Start({"OMP_NUM_THREADS": "1"}, "waits"),
        Start({"OMP_WAIT_POLICY": "passive"}, "delay"),
    ]
    before = entries_of_start(key, Path("app"), Start({}, "found", {KEY: {"scheduler": "hierarchy"}}))
    history = History(tmp_path / "history.sqlite")
    outcome = Outcome(starts=[(one_start, pairs) for one_start in starts])
    history.remember(kept_entries(outcome, before, key, Path("app")))
    assert len(history.recall(key)) == 2
    policy, start = history.recall(key)
    if policy.subject == START:
        policy, start = start, policy
    assert (policy.subject, policy.name, policy.settings) == (KEY, "runtime 1", {"scheduler": "local"})
    assert (policy.policy, policy.reason, policy.gain, policy.pairs) == (
        "tune",
        "idle",
        pytest.approx(0.4),
        5,
    )
    assert (start.subject, start.settings) == (START, {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"})
    # What was proved on top of a kept start value is kept together with it.
    overrides = Outcome(starts=[(Start({"OMP_PROC_BIND": "close"}, "moves"), pairs)])
    history.remember(kept_entries(overrides, history.recall(key), key, Path("app")))
    (start,) = (entry for entry in history.recall(key) if entry.subject == START)
    assert start.settings == {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "OMP_PROC_BIND": "close"}
    assert start.reason == "waits; delay; moves"
    inherited = kept_entries(overrides, history.recall(key), key, Path("app"), is_inherited=True)
    assert INHERIT in next(entry.settings for entry in inherited if entry.subject == START)


@pytest.mark.parametrize(("saved", "is_replaced"), [(0.2, True), (0.0, False)])
def test_its_runs_begin_with_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: float, is_replaced: bool
) -> None:
    """So what is found in them has won against it, and not only against the program as it is written."""
    key = key_of(Path(shutil.which("true") or ""), [], None)
    history = History(tmp_path / "history.sqlite")
    kept = Entry(key, "a", "a.c:1", "true", {"chunk": "256"}, "tuner", "before", 0.5, 0.1, 9, 1.0, "run")
    untouched = replace(kept, subject="b")
    history.remember([kept, untouched])
    begun_with: list[list[dict[str, str]]] = []

    class Made(MadeUp):
        def __init__(self, _command: object, _folder: object, result: Path, *_: object, **__: object) -> None:
            super().__init__(saved)
            self.environment: dict[str, str] = {}
            self.found = History(result)

        def learn(self, environment: Mapping[str, str]) -> Report:
            begun_with.append([entry.settings for entry in self.found.recall(key)])
            if saved > 0:
                self.found.remember([replace(kept, settings={"chunk": "64"})])
            return super().learn(environment)

    monkeypatch.setattr("trimtab.tuning.runner.ProgramRunner", Made)
    completed = CliRunner().invoke(
        main, ["tune", "--runs", "1", "--history", str(history.path), "--", "true"]
    )
    assert completed.exit_code == 0, completed.output
    assert begun_with == [[{"chunk": "256"}, {"chunk": "256"}]]
    result = {entry.subject: entry.settings["chunk"] for entry in history.recall(key)}
    assert result == {"a": "64" if is_replaced else "256", "b": "256"}


def test_a_program_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="false as you start it: expected exit code 0, found exit code 1"):
        ProgramRunner(["false"], tmp_path, tmp_path / "h").bare()
    completed = CliRunner().invoke(main, ["tune", "--", "no-such-program-anywhere"])
    assert completed.exit_code == 127 and "no such program" in completed.output
    plain = tmp_path / "plain"
    plain.write_text("exit 0\n")
    completed = CliRunner().invoke(main, ["tune", "--", str(plain)])
    assert completed.exit_code == 126 and "plain: not an executable file" in completed.output
    plain.chmod(0o700)
    assert ProgramRunner([str(plain)], tmp_path, tmp_path / "h").bare().seconds > 0, (
        "the shell's, as everywhere"
    )


def test_a_history_that_cannot_be_written_is_told_before_the_first_run(tmp_path: Path) -> None:
    damaged = tmp_path / "history.sqlite"
    damaged.write_text("no database at all, but long enough to be one" * 20)
    completed = CliRunner().invoke(main, ["tune", "--history", str(damaged), "--", "true"])
    assert completed.exit_code == 2 and completed.output.count("\n") == 1
    assert "nothing that is found could be kept; --history FILE names another place" in completed.output


def test_what_was_proved_is_told_where_it_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Made(MadeUp):
        def __init__(self, *_: object, **__: object) -> None:
            super().__init__(0.2)
            self.environment: dict[str, str] = {}

    def refuse(history: History, _: object) -> None:
        raise HistoryError(f"{history.path}: locked by another process")

    monkeypatch.setattr("trimtab.tuning.runner.ProgramRunner", Made)
    monkeypatch.setattr(History, "remember", refuse)
    file = tmp_path / "history.sqlite"
    completed = CliRunner().invoke(main, ["tune", "--history", str(file), "--", "true"])
    assert completed.exit_code == 2
    assert "the whole program" in completed.output and "better" in completed.output
    assert f"proved, but not kept: {file}: locked by another process" in " ".join(
        completed.output.split("\n")
    )


class Scripted(MadeUp):
    """Start values whose pairs have these ratios, in turn; after them, the last one."""

    def __init__(self, ratios: tuple[float, ...]) -> None:
        super().__init__()
        self.ratios = list(ratios)
        self.tried = 0

    def bare(self) -> Cost:
        return Cost.of_time(10.0)

    def frozen(self, start: Start) -> Cost:
        if not start.environment:
            return Cost.of_time(10.0)
        ratio = self.ratios[min(self.tried, len(self.ratios) - 1)]
        self.tried += 1
        return Cost.of_time(10.0 * ratio)


@pytest.mark.parametrize(
    ("ratios", "pairs", "verdict"),
    [
        ((0.93,), 5, "better"),
        ((0.93, 1.02, 0.93), 9, "better"),  # one lost of nine
        ((0.93, 0.93, 0.93, 0.93, 1.02, 0.93), 9, "better"),
        ((1.02, 0.93), 9, "better"),  # lost by chance at first
        ((0.93, 1.02, 0.93, 0.93, 0.93, 1.01, 0.93), 9, "better"),
        ((0.93, 1.2, 0.93, 0.93, 1.1, 0.93), 13, "better"),
        ((1.2, 0.93, 0.93, 0.93, 1.1, 0.93, 0.93, 0.93, 1.1, 0.93), 13, "no better"),
        ((1.02, 0.93, 1.02), 3, "no better"),
        ((1.02, 1.01, 0.93), 2, "no better"),
        ((0.995, 1.01), 3, "no better"),  # too little saved
        ((0.995, 0.995), 5, "no better"),
    ],
)
def test_a_lost_pair_costs_more_pairs(ratios: tuple[float, ...], pairs: int, verdict: str) -> None:
    outcome = tune(
        Scripted(ratios), learning_runs=1, pairs=5, candidates=lambda _: [Start({"X": "1"}, "a reason")]
    )
    ((_, measured),) = outcome.starts
    assert (len(measured.ratios), measured.verdict) == (pairs, verdict)


def test_what_makes_no_difference_is_rarely_kept() -> None:
    """Of settings without any effect, in noise of 5 %, one in 22 wins its pairs; the proof then asks for as many again."""
    kept = tried = 0
    for seed in range(2000):
        noise = random.Random(seed)
        program = Scripted(tuple(noise.gauss(1.0, 0.05) for _ in range(13)))
        ((_, measured),) = tune(
            program, learning_runs=1, pairs=5, candidates=lambda _: [Start({"X": "1"}, "a reason")]
        ).starts
        kept += measured.verdict == "better"
        tried += 1
    assert kept / tried < 1 / 20


def test_a_gain_of_seven_percent_is_seen_in_noise() -> None:
    kept = 0
    for seed in range(500):
        noise = random.Random(seed)
        program = Scripted(tuple(noise.gauss(0.93, 0.04) for _ in range(13)))
        ((_, measured),) = tune(
            program, learning_runs=1, pairs=5, candidates=lambda _: [Start({"X": "1"}, "a reason")]
        ).starts
        kept += measured.verdict == "better"
    assert kept / 500 > 0.97


def test_a_gain_of_three_percent_is_mostly_seen_in_noise_of_two() -> None:
    kept = 0
    for seed in range(500):
        noise = random.Random(seed)
        program = Scripted(tuple(noise.gauss(0.97, 0.02) for _ in range(13)))
        ((_, measured),) = tune(
            program, learning_runs=1, pairs=5, candidates=lambda _: [Start({"X": "1"}, "a reason")]
        ).starts
        kept += measured.verdict == "better"
    assert kept / 500 > 0.85

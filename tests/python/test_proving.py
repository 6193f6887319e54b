"""Proofs of findings, with a made-up program in the place of a real one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
import reports
from msgspec.structs import replace
from trimtab.analysis.findings import finding
from trimtab.model.enumerations import Cause
from trimtab.model.report import Report
from trimtab.tuning.multi_run import Start
from trimtab.tuning.objective import Cost
from trimtab.tuning.proving import Remedy, prove, remedy_of


@dataclass
class MadeUp:
    """Takes 10 s as it is, and `fast_s` with the remedy."""

    report: Report
    fast_s: float
    calls: list[str] = field(default_factory=list)

    def bare(self) -> Cost:
        self.calls.append("bare")
        return Cost.of_time(10.0)

    def learn(self, environment: Mapping[str, str]) -> Report:
        self.calls.append("learn")
        return self.report

    def frozen(self, start: Start) -> Cost:
        self.calls.append(f"frozen {start.text}".strip())
        return Cost.of_time(self.fast_s)


@pytest.fixture
def report() -> Report:
    made: Report = reports.part(Report, {"observed_s": 10.0, "wall_s": 10.0})
    return made


def remedy(cause: Cause, environment: Mapping[str, str] | None = None) -> Remedy | str:
    return remedy_of(
        finding(cause, None, "evidence", "do it", 1.0), environment or {}, 4.0, reports.part(Report, {})
    )


def test_predicted_and_measured_are_shares_of_the_run(report: Report) -> None:
    found = replace(finding(Cause.IMBALANCE, "r", "evidence", "do it", 2.0), gain_low_s=1.5, gain_high_s=2.5)
    searched = remedy(Cause.IMBALANCE)
    assert isinstance(searched, Remedy) and searched.is_searched
    runner = MadeUp(report, 8.0)
    proof = prove(runner, found, searched, report, 5)
    assert runner.calls[0] == "learn" and runner.calls.count("bare") == runner.calls.count("frozen") == 5
    assert (proof.predicted, proof.predicted_low, proof.predicted_high) == pytest.approx((0.2, 0.15, 0.25))
    assert proof.pairs.gain == pytest.approx(0.2) and proof.pairs.verdict == "better"
    assert proof.as_json()["measured_low"] == pytest.approx(0.2)


def test_what_does_not_help_is_said(report: Report) -> None:
    chosen = remedy(Cause.OVERSUBSCRIPTION)
    assert isinstance(chosen, Remedy)
    runner = MadeUp(report, 20.0)
    proof = prove(runner, finding(Cause.OVERSUBSCRIPTION, None, "e", "a", 5.0), chosen, report, 5)
    assert proof.pairs.verdict == "clearly worse" and proof.pairs.gain == pytest.approx(-1.0)
    assert "learn" not in runner.calls and "frozen OMP_NUM_THREADS=4" in runner.calls


def test_only_threads_that_wait_in_regions_can_spin(report: Report) -> None:
    late = finding(Cause.LATE_WAKE_UPS, "r", "evidence", "wait less often", 1.0)
    spinning = remedy_of(late, {}, 4.0, report)
    assert isinstance(spinning, Remedy) and spinning.start.environment == {"OMP_WAIT_POLICY": "active"}
    assert "set by you" in str(remedy_of(late, {"OMP_WAIT_POLICY": "passive"}, 4.0, report))
    assert "cannot apply it: do it" in str(remedy(Cause.LATE_WAKE_UPS))


@pytest.mark.parametrize(
    ("cause", "variables"),
    [
        (Cause.OVERSUBSCRIPTION, {"OMP_NUM_THREADS": "4"}),
        (Cause.FEW_THREADS, {"OMP_NUM_THREADS": "4"}),
        (Cause.WAIT_POLICY, {"OMP_WAIT_POLICY": "passive"}),
        (Cause.FEW_WORKERS, {"TRIMTAB_WORKERS": "4"}),
    ],
)
def test_what_a_program_is_started_with(cause: Cause, variables: dict[str, str]) -> None:
    chosen = remedy(cause)
    assert isinstance(chosen, Remedy) and chosen.start.environment == variables
    for name in variables:
        assert isinstance(refused := remedy(cause, {name: "1"}), str) and name in refused, "the user's own"


def test_what_only_the_programmer_can_do(report: Report) -> None:
    assert remedy(Cause.SERIAL_PART) == "Trimtab cannot apply it: do it"

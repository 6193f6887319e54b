"""Predicted beside measured gains, as tables."""

from __future__ import annotations

from typing import Any

from benchmarks.predicted_gains import FAULTY, REPAIRED
from benchmarks.spread import Spread, differences, spread
from benchmarks.tables import Results, machine, markdown

# What a prediction may differ from the measured gain, as a share of it, or of the run's time.
OF_GAIN, OF_TIME = 0.15, 0.02


def measured_gain(case: dict[str, Any]) -> Spread:
    """How much less time a pair's run without the fault takes, seconds."""
    return spread(differences(case["times"][FAULTY], case["times"][REPAIRED]))


def is_near(predicted_s: float, measured_s: float, time_s: float) -> bool:
    """Whether a prediction is near enough to one measured gain."""
    return abs(predicted_s - measured_s) <= max(OF_GAIN * abs(measured_s), OF_TIME * time_s)


def verdict(case: dict[str, Any]) -> str:
    """`met` or `not met` where the measured gain's whole interval says so, else `open`."""
    measured, time_s = measured_gain(case), spread(case["times"][FAULTY]).median
    predicted_s = spread(case["predicted_s"]).median
    near = [is_near(predicted_s, value, time_s) for value in (measured.low, measured.median, measured.high)]
    is_within = measured.low <= predicted_s <= measured.high
    return "met" if all(near) else "open" if any(near) or is_within else "not met"


def programs(results: Results) -> str:
    """A line a program."""
    rows = []
    for case in results["cases"]:
        measured, predicted = measured_gain(case), spread(case["predicted_s"])
        time_s = spread(case["times"][FAULTY]).median
        difference = predicted.median - measured.median
        rows.append(
            [
                case["name"],
                case["severity"],
                f"{time_s:.3f}",
                f"{predicted.median:.3f} ({min(case['predicted_s']):.3f} to {max(case['predicted_s']):.3f})",
                f"{measured.median:.3f} ({measured.low:.3f} to {measured.high:.3f})",
                f"{measured.median / time_s:.0%}",
                f"{difference / measured.median:+.0%}" if measured.median > 0 else "",
                f"{difference / time_s:+.1%}",
                verdict(case),
            ]
        )
    head = [
        "program",
        "severity",
        "time, s",
        "predicted gain, s",
        "measured gain, s (95 % interval)",
        "of the time",
        "off, of the gain",
        "off, of the time",
        "near",
    ]
    return markdown(head, rows)


def summary(results: Results) -> str:
    """How many predictions are near, and how often the first finding names the planted cause."""
    cases = results["cases"]
    verdicts = [verdict(case) for case in cases]
    named = [cause in case["causes"] for case in cases for cause in case["first_causes"]]
    return "\n".join(
        [
            f"- {verdicts.count('met')} of {len(cases)} predictions are near, {verdicts.count('open')} open, "
            f"{verdicts.count('not met')} not near",
            f"- the first finding names the planted cause in {sum(named)} of {len(named)} recorded runs",
        ]
    )


def prediction_faults(results: Results) -> list[str]:
    """Predictions that are surely not near, a line each."""
    return [
        f"{case['name']}, {case['severity']}: predicted {spread(case['predicted_s']).median:.3f} s, "
        f"measured {measured_gain(case).median:.3f} s"
        for case in results["cases"]
        if verdict(case) == "not met"
    ]


PREDICTED_GAINS_BLOCKS = {
    "predicted-gains-machine": machine,
    "predicted-gains-summary": summary,
    "predicted-gains": programs,
}

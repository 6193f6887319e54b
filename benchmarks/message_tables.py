"""Results of coalescing as tables: what was promised, and every phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.messages import ADAPTIVE, ALONE, PHASES, TRANSPORTS
from benchmarks.spread import Spread, differences, judge, ratios, spread
from benchmarks.tables import Results, machine, markdown


@dataclass(frozen=True)
class Bar:
    """A limit that was promised for the adaptive setting in one phase.

    Attributes:
        against: `alone`, `strict`, `before` or `static`: each parcel by itself; the best strict setting, the best that sends
            before it waits, or the better of these two, as they were chosen for this phase.
        limit: by transport; of the ratio of the two times, or of their difference if it ends with " ns".
    """

    phase: str
    against: str
    limit: Mapping[str, str]


BARS = (
    Bar("ping", "alone", {"shm": "50 ns", "tcp": "1.2"}),
    Bar("burst", "strict", {"shm": "0.8", "tcp": "0.8"}),
    Bar("window", "static", {"shm": "1.1", "tcp": "1.1"}),
    Bar("stream", "static", {"shm": "1.1", "tcp": "1.1"}),
    Bar("paced", "alone", {"shm": "2.1", "tcp": "2.1"}),
    Bar("changing", "before", {"shm": "0.85", "tcp": "1.05"}),
    Bar("changing", "strict", {"shm": "0.4", "tcp": "0.4"}),
)

_NAMES = {
    "alone": "each parcel alone",
    "strict": "the best strict setting",
    "before": "the best that sends before it waits",
    "static": "the best static setting",
}


def setting_against(case: Mapping[str, Any], bar: Bar) -> str:
    """The static setting that a bar compares with."""
    if bar.against == "alone":
        return ALONE
    chosen: Mapping[str, str] = case["chosen"][bar.phase]
    if bar.against != "static":
        return chosen[bar.against]
    phase = case["phases"][bar.phase]
    return min(chosen.values(), key=lambda name: spread(phase[name]).median)


def message_targets(results: Results) -> str:
    """The table of what was promised."""
    rows = []
    for case in results["cases"]:
        for bar in BARS:
            name = setting_against(case, bar)
            phase = case["phases"][bar.phase]
            limit, _, unit = bar.limit[case["name"]].partition(" ")
            compared = differences if unit else ratios
            result = spread(compared(phase[ADAPTIVE], phase[name]))
            rows.append(
                [
                    TRANSPORTS[case["name"]],
                    bar.phase,
                    f"{_NAMES[bar.against]} ({name})",
                    f"at most {'+' if unit else ''}{limit}{' ' + unit if unit else ''}",
                    _shown(result, unit),
                    judge(result, float(limit)),
                ]
            )
    return markdown(["transport", "phase", "beside", "bar", "found (95 % interval)", "verdict"], rows)


def _shown(result: Spread, unit: str) -> str:
    if unit:
        return f"{result.median:+.0f} {unit} ({result.low:+.0f} to {result.high:+.0f})"
    return f"{result.median:.2f} ({result.low:.2f} to {result.high:.2f})"


def message_phases(results: Results) -> str:
    """Every phase: medians, and parcels a message."""
    rows = []
    for case in results["cases"]:
        for phase in PHASES:
            chosen = case["chosen"][phase]
            for name in dict.fromkeys([ADAPTIVE, ALONE, chosen["strict"], chosen["before"]]):
                result = spread(case["phases"][phase][name])
                rows.append(
                    [
                        TRANSPORTS[case["name"]],
                        phase,
                        name,
                        _time(result.median),
                        f"{_time(result.quarter)} to {_time(result.three_quarters)}",
                        f"{case['parcels_a_message'][phase][name]:.1f}",
                    ]
                )
    return markdown(["transport", "phase", "setting", "median", "middle half", "parcels a message"], rows)


def message_learning(results: Results) -> str:
    """What tuning does to each phase, soon after it begins and later."""
    rows = []
    for case in results["cases"]:
        for phase, values in case["learning"].items():
            first = spread(ratios(values["tuned first"], values["steady first"]))
            then = spread(ratios(values["tuned then"], values["steady then"]))
            steady = spread(values["steady then"]).median
            rows.append([TRANSPORTS[case["name"]], phase, _time(steady), _shown(first, ""), _shown(then, "")])
    return markdown(["transport", "phase", "not tuned", "tuned, first half", "tuned, second half"], rows)


def _time(ns: float) -> str:
    """With three digits.

    Example:
        >>> _time(1234.0)
        '1.23 us'
    """
    for unit, scale in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if ns < 999.5 * scale or unit == "ms":
            return f"{ns / scale:.3g} {unit}"
    raise AssertionError


MESSAGE_BLOCKS = {
    "machine": machine,
    "targets": message_targets,
    "phases": message_phases,
    "learning": message_learning,
}

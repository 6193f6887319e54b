"""Results of the study of coalescing as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import numpy as np

from benchmarks.messages import TRANSPORTS
from benchmarks.study_tables import study_figures, study_run
from benchmarks.tables import Results, markdown

ADAPTIVE = 0
_PHASES = (1, 2, 3, 4)
_CHANGING = "toy --count-factor 8"
_NAMES = {
    "toy": "toy",
    "rotation": "rotation",
    "toy --dependent 1 --parcels 50": "toy, each call needs the one before",
    _CHANGING: "toy, the count changes",
}
_RESAMPLES = 4000

Case = Mapping[str, Any]


def _median(case: Case, metric: str) -> float:
    return float(case["metrics"][metric][0])


def _groups(results: Results, wanted: Callable[[str], bool]) -> dict[tuple[str, str], list[Case]]:
    """Cases by program and transport."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in results["cases"]:
        at = case["configuration"]
        if wanted(at["program"]):
            groups.setdefault((at["program"], at["transport"]), []).append(case)
    return groups


def correlation(first: list[float], second: list[float]) -> tuple[float, float, float]:
    """Pearson's coefficient, and a 95 % interval by resampling the pairs (percentile bootstrap).

    Both lists have the same length, at least three. The result is NaN if all values of one list are equal.

    Example:
        >>> correlation([1, 2, 3, 4], [2, 4, 6, 8])
        (1.0, 1.0, 1.0)
    """
    pairs = np.array([first, second], dtype=float)
    generator = np.random.default_rng(1)
    places = generator.integers(0, pairs.shape[1], size=(_RESAMPLES, pairs.shape[1]))
    sampled = pairs[:, places]
    apart = sampled - sampled.mean(axis=2, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (apart[0] * apart[1]).mean(axis=1) / (sampled[0].std(axis=1) * sampled[1].std(axis=1))
        whole = float(np.corrcoef(pairs)[0, 1])
    if np.isnan(whole):
        return whole, whole, whole
    # A sample in which all pairs are the same one has no coefficient.
    low, high = np.nanquantile(found, [0.025, 0.975])
    return round(whole, 6), round(float(low), 6), round(float(high), 6)


def _settings(cases: list[Case]) -> list[list[Case]]:
    """Static settings. All cases with count 1 are one setting: their wait has no effect."""
    alone = [case for case in cases if case["configuration"]["count"] == 1]
    others = [[case] for case in cases if case["configuration"]["count"] not in (ADAPTIVE, 1)]
    return [alone, *others] if alone else others


def _correlated(settings: list[list[Case]], time: str, other: str) -> str:
    measured = [
        group
        for group in settings
        if all(time in case["metrics"] and other in case["metrics"] for case in group)
    ]
    if len(measured) < 3:
        return ""
    whole, low, high = correlation(
        [median(_median(case, other) for case in group) for group in measured],
        [median(_median(case, time) for case in group) for group in measured],
    )
    return f"{whole:.2f} ({low:.2f} to {high:.2f})"


def coalescing_correlations(results: Results) -> str:
    """Network overhead, and time waited for queued parcels, against time: over all static settings, in all and by phase."""
    rows = []
    for (program, transport), cases in _groups(results, lambda name: name != _CHANGING).items():
        static = _settings(cases)
        rows.append(
            [
                _NAMES[program],
                TRANSPORTS[transport],
                str(len(static)),
                _correlated(static, "time_s", "overhead"),
                _correlated(static, "time_s", "queued_wait_s"),
                *(_correlated(static, f"phase{at}_time_s", f"phase{at}_overhead") for at in _PHASES),
            ]
        )
    head = ["program", "transport", "settings", "overhead", "queued wait"]
    return markdown([*head, *(f"overhead, phase {at}" for at in _PHASES)], rows)


def coalescing_best(results: Results) -> str:
    """For each program the best and the worst static setting, and the rules that adapt themselves."""
    rows = []
    for (program, transport), cases in _groups(results, lambda name: name != _CHANGING).items():
        static = sorted(
            (case for case in cases if case["configuration"]["count"] != ADAPTIVE),
            key=lambda case: _median(case, "time_s"),
        )
        adaptive = [case for case in cases if case["configuration"]["count"] == ADAPTIVE]
        for name, case in (
            ("best static", static[0]),
            ("worst static", static[-1]),
            *(("adaptive", case) for case in adaptive),
        ):
            at = case["configuration"]
            middle, quarter, three_quarters = (1e3 * value for value in case["metrics"]["time_s"])
            setting = "" if at["count"] == ADAPTIVE else f"{at['count']}, {at['wait']} us"
            rows.append(
                [
                    _NAMES[program],
                    TRANSPORTS[transport],
                    name,
                    setting,
                    f"{middle:.1f} ({quarter:.1f}-{three_quarters:.1f})",
                    f"{middle / 1e3 / _median(static[0], 'time_s'):.2f}",
                    f"{_median(case, 'overhead'):.2f}",
                    f"{1e3 * _median(case, 'queued_wait_s'):.1f}",
                    f"{_median(case, 'parcels_a_message'):.3g}",
                ]
            )
    head = ["program", "transport", "", "count, wait", "time, ms (quartiles)", "/ best static", "overhead"]
    return markdown([*head, "queued wait, ms", "parcels a message"], rows)


def coalescing_changing(results: Results) -> str:
    """The run whose count is eight times larger in each phase."""
    rows = []
    for (_, transport), cases in _groups(results, lambda name: name == _CHANGING).items():
        case = cases[0]
        first = int(case["configuration"]["count"])
        for at in _PHASES:
            rows.append(
                [
                    TRANSPORTS[transport],
                    str(at),
                    str(first * 8 ** (at - 1)),
                    f"{1e3 * _median(case, f'phase{at}_time_s'):.1f}",
                    f"{_median(case, f'phase{at}_overhead'):.2f}",
                ]
            )
    return markdown(["transport", "phase", "count", "time, ms", "overhead"], rows)


COALESCING_BLOCKS = {
    "study-run": study_run,
    "coalescing-best": coalescing_best,
    "coalescing-correlations": coalescing_correlations,
    "coalescing-changing": coalescing_changing,
    "study-figures": study_figures,
}

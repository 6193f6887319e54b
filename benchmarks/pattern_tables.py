"""Results of `./x bench --only patterns` as a table."""

from __future__ import annotations

from typing import Any

from benchmarks.patterns import BARE, FROZEN, HAND, MOST_OF_BARE, TUNED
from benchmarks.spread import Spread, judge, ratios, spread
from benchmarks.tables import Results, machine, markdown


def _ratio(case: dict[str, Any], level: str, to: str) -> Spread | None:
    levels = case["levels"]
    return spread(ratios(levels[level], levels[to])) if level in levels and to in levels else None


# Of fewer rounds not even the range from least to most holds the median with 95 %.
LEAST_ROUNDS = 6


def _is_above(ratio: Spread | None, limit: float) -> bool:
    return ratio is not None and ratio.count >= LEAST_ROUNDS and judge(ratio, limit) == "not met"


def _text(ratio: Spread | None) -> str:
    return "" if ratio is None else f"{ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f})"


def faults(case: dict[str, Any]) -> list[str]:
    """What the case's intervals show to be slower than promised; an interval that holds the bar shows nothing."""
    result = [
        f"{level} above {MOST_OF_BARE:g} of bare"
        for level in (TUNED, FROZEN)
        if _is_above(_ratio(case, level, BARE), MOST_OF_BARE)
    ]
    limit = case["most_of_hand"]
    if limit is not None and _is_above(_ratio(case, FROZEN, HAND), limit):
        result.append(f"frozen above {limit:g} of by hand")
    if not case["has_knob"] and not case["why_no_knob"]:
        result.append("no knob, and no reason was printed")
    return result


def patterns(results: Results) -> str:
    """Ratios of paired runs with their 95 % intervals, and a verdict a row."""
    rows = []
    for case in results["cases"]:
        shown = faults(case)
        rows.append(
            [
                case["title"],
                f"{spread(case['levels'][BARE]).median:.2f}",
                _text(_ratio(case, TUNED, BARE)),
                _text(_ratio(case, FROZEN, BARE)),
                _text(_ratio(case, FROZEN, HAND)),
                "yes" if case["has_knob"] else f"no: {case['why_no_knob']}",
                ", ".join(shown)
                or ("passed" if len(case["others_share"]) >= LEAST_ROUNDS else "too few rounds"),
            ]
        )
    head = [
        "pattern",
        "bare, s",
        "`--tune` / bare",
        "`--frozen` / bare",
        "`--frozen` / by hand",
        "knob",
        "verdict",
    ]
    return markdown(head, rows)


def pattern_faults(results: Results) -> list[str]:
    """Each case that is slower than promised, a line each."""
    return [f"{case['title']}: {', '.join(result)}" for case in results["cases"] if (result := faults(case))]


PATTERN_BLOCKS = {"machine": machine, "patterns": patterns}

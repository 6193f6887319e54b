"""Results of the steering benchmarks as tables."""

from __future__ import annotations

from typing import Any

from benchmarks.spread import judge, ratios, spread
from benchmarks.steering import AGAIN, APART, BARE, HAND, HOGS, NAMES, SHARING, TUNED, TURNS
from benchmarks.tables import Results, machine, markdown


def _apart(results: Results, part: str, title: str) -> str:
    """Of which commit a part is that was measured by itself."""
    result = results.get(APART, {}).get(part)
    return f"{title}{result['date']}, commit {result['commit']}\n\n" if result else ""


def _ratio(case: dict[str, Any], level: str, to: str) -> str:
    """Median of the rounds' ratios, with the quartiles."""
    levels = case["levels"]
    if level not in levels or to not in levels:
        return ""
    result = spread(ratios(levels[level], levels[to]))
    return f"{result.median:.2f} ({result.quarter:.2f}-{result.three_quarters:.2f})"


def _ratio_of_all(case: dict[str, Any], level: str, to: str) -> str:
    """Of what all rounds together took: rare runs that take very long count here, and not in a median."""
    levels = case["levels"]
    return f"{sum(levels[level]) / sum(levels[to]):.2f}"


def steering_targets(results: Results) -> str:
    """What was promised, and whether it holds: time as a share of the bare one, and of the one by hand."""
    rows = []
    for case in results["cases"]:
        if case["why_not"]:
            rows.append([case["title"], "", "", "", "", "", f"not measured: {case['why_not']}"])
            continue
        levels = case["levels"]
        verdicts = [judge(spread(ratios(levels[TUNED], levels[BARE])), case["most"])]
        bars = [f"{case['most']:g} of bare"]
        if case["most_of_hand"] is not None:
            verdicts.append(judge(spread(ratios(levels[AGAIN], levels[HAND])), case["most_of_hand"]))
            bars.append(f"frozen {case['most_of_hand']:g} of by hand")
        rows.append(
            [
                case["title"],
                _ratio(case, TUNED, BARE),
                _ratio_of_all(case, TUNED, BARE),
                _ratio(case, AGAIN, BARE),
                _ratio(case, AGAIN, HAND),
                ", ".join(bars),
                ", ".join(verdicts),
            ]
        )
    head = [
        "program",
        "`--tune` / bare",
        "of all rounds' time",
        "`--frozen` / bare",
        "`--frozen` / by hand",
        "bar",
        "",
    ]
    return _apart(results, HOGS, "Beside CPU hogs: ") + markdown(head, rows)


def steering_times(results: Results) -> str:
    """Median seconds, and how much others disturbed."""
    rows = []
    for case in results["cases"]:
        times = [
            f"{spread(case['levels'][level]).median:.2f}" if level in case["levels"] else ""
            for level in (BARE, TUNED, AGAIN, HAND)
        ]
        shares = sorted(case["others_share"])
        others = f"{shares[len(shares) // 2]:.0%}" if shares else ""
        stopped = f", {case['stopped']} stopped" if case.get("stopped") else ""
        rows.append([case["title"], *times, f"{len(shares)}{stopped}", others])
    return markdown(["program", *(f"{name}, s" for name in NAMES.values()), "rounds", "others"], rows)


def steering_turns(results: Results) -> str:
    """What hooks cost within one process; each process is one value."""
    rows = []
    for case in results[TURNS]:
        for level, result in case["levels"].items():
            ratio, hooks = spread(result["ratio"]), spread(result["hooks_ns"])
            bar = case["most"] if level == NAMES[TUNED] else None
            rows.append(
                [
                    case["title"],
                    level,
                    f"{spread(result['region_ns']).median / 1e3:.1f}",
                    f"{hooks.median:.0f} ({hooks.quarter:.0f} to {hooks.three_quarters:.0f})",
                    f"{ratio.median:.3f} ({ratio.quarter:.3f}-{ratio.three_quarters:.3f})",
                    "" if bar is None else f"{bar:g}",
                    "" if bar is None else judge(ratio, bar),
                ]
            )
    head = ["program", "", "region, us", "hooks, ns a region", "with hooks / without", "bar", ""]
    return _apart(results, TURNS, "") + markdown(head, rows)


def steering_sharing(results: Results) -> str:
    """What is promised of programs that share CPUs."""
    rows = []
    for case in results[SHARING]:
        ratio = spread(case["ratio"])
        result = sorted({*case["notes"]})
        rows.append(
            [
                case["title"] + (f" ({', '.join(result)})" if result else ""),
                f"{ratio.median:.2f} ({ratio.quarter:.2f}-{ratio.three_quarters:.2f})",
                f"{case['bar']:g}",
                judge(ratio, case["bar"]),
            ]
        )
    return _apart(results, SHARING, "") + markdown(["what", "found", "bar", ""], rows)


STEERING_BLOCKS = {
    "machine": machine,
    "steering-targets": steering_targets,
    "steering-times": steering_times,
    "steering-turns": steering_turns,
    "steering-sharing": steering_sharing,
}

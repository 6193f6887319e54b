"""What Trimtab promises (docs/performance/recording.md), judged by the results: met, not met, or open within the spread."""

from __future__ import annotations

from benchmarks.spread import judge, spread
from benchmarks.tables import (
    Results,
    above_bare,
    all_programs,
    markdown,
    of_group,
    own_pairs,
    percent,
    ratios_to_bare,
)

_LONG_US = 100.0
Row = tuple[str, str, str, str]


def targets(results: Results) -> str:
    """The table."""
    rows = [*_scopes(results), *_regions(results), *_programs(results), *_reading(results), *_own(results)]
    return markdown(["what", "at most", "found (95 % interval)", "verdict"], rows)


def _scopes(results: Results) -> list[Row]:
    result = []
    for level, limit, name in (
        ("bare", 2.0, "not attached"),
        ("profile", 20.0, "profile"),
        ("trace", 20.0, "trace"),
    ):
        for case in of_group(results, "scope"):
            entry = spread(case["levels"][level]["value"])
            result.append(
                (
                    f"begin + end, {case['compiler']}, {name}",
                    f"{limit:.0f} ns",
                    f"{entry.median:.1f} ns ({entry.low:.1f} to {entry.high:.1f})",
                    judge(entry, limit),
                )
            )
    return result


def _regions(results: Results) -> list[Row]:
    result = []
    for case in of_group(results, "construct"):
        if case["name"] != "region":
            continue
        entry = above_bare(case, "profile")
        result.append(
            (
                f"empty region, {case['compiler']}, {case['threads']} thread{'s'[: case['threads'] > 1]}, profile",
                "150 ns",
                f"{entry.median:.0f} ns ({entry.low:.0f} to {entry.high:.0f})",
                judge(entry, 150.0),
            )
        )
    return result


def _programs(results: Results) -> list[Row]:
    result = []
    for level, limit in (("profile", 1.01), ("trace", 1.02)):
        long = [
            case
            for case in of_group(results["programs"], "program")
            if case["shortest_region_us"] >= _LONG_US
        ]
        verdicts = [judge(spread(ratios_to_bare(case, level)), limit) for case in long]
        entry = all_programs(results, level)
        result.append(
            (
                f"whole programs together, {level}",
                f"{limit - 1:.0%}",
                f"{percent(entry)} %",
                judge(entry, limit),
            )
        )
        counts = ", ".join(
            f"{verdicts.count(name)} {name}" for name in ("met", "open", "not met") if name in verdicts
        )
        worst = "not met" if "not met" in verdicts else "open" if "open" in verdicts else "met"
        result.append((f"each of {len(long)} programs, {level}", f"{limit - 1:.0%}", counts, worst))
    return result


def _reading(results: Results) -> list[Row]:
    result = results["reading"]
    wall, peak = spread(result["wall_s"]), spread(result["peak_bytes"])
    name = f"report of {result['events'] / 1e6:.1f} M events"
    return [
        (
            f"{name}, time",
            "5 s",
            f"{wall.median:.2f} s ({wall.low:.2f} to {wall.high:.2f})",
            judge(wall, 5.0),
        ),
        (f"{name}, memory", "1 GB", f"{peak.median / 1e9:.2f} GB", judge(peak, 1e9)),
    ]


def _own(results: Results) -> list[Row]:
    quotients = [(reported / measured.median) for _, _, reported, measured in own_pairs(results)]
    close_count = sum(0.5 <= quotient <= 2 for quotient in quotients)
    if not quotients:
        return [("own cost, reported / measured", "0.5 to 2", "no difference stands out", "open")]
    return [
        (
            "own cost, reported / measured",
            "0.5 to 2",
            f"{close_count} of {len(quotients)} within ({min(quotients):.2f} to {max(quotients):.2f})",
            "met" if close_count == len(quotients) else "not met",
        )
    ]

"""What a report and its page cost, as tables."""

from __future__ import annotations

from typing import Any

from benchmarks.report_speed import HTML, JSON, OPTIONS
from benchmarks.spread import Spread, judge, spread
from benchmarks.tables import Results, machine, markdown

# For the run with most events: seconds and bytes of a report; bytes of a page, seconds until its first picture, and
# milliseconds of script that 95 of 100 steps of zooming take at most.
REPORT_S, REPORT_BYTES, PAGE_BYTES, FIRST_PICTURE_S, STEP_MS = 10.0, 2e9, 30e6, 1.0, 16.0


def _of(case: dict[str, Any], option: str, figure: str) -> Spread:
    return spread([cost[figure] for cost in case["costs"][option]])


def _percentile_95(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[min(-(-95 * len(ordered) // 100), len(ordered)) - 1]


def _steps_ms(case: dict[str, Any]) -> Spread:
    """Of each round what 95 of 100 drawings take at most."""
    return spread([_percentile_95(page["drawings_ms"]) for page in case["pages"]])


def _first_s(case: dict[str, Any]) -> Spread:
    return spread([page["first_picture_s"] for page in case["pages"]])


def _range(entry: Spread, factor: float = 1.0, digits: int = 2) -> str:
    median, low, high = (f"{value * factor:.{digits}f}" for value in (entry.median, entry.low, entry.high))
    return f"{median} ({low} to {high})"


def costs(results: Results) -> str:
    """A line for each size and option."""
    rows = []
    for case in results["cases"]:
        for option in OPTIONS:
            cpu = _of(case, option, "cpu_s")
            rows.append(
                [
                    f"{case['events'] / 1e6:.1f}",
                    f"`--{option}`",
                    _range(_of(case, option, "wall_s")),
                    _range(cpu),
                    f"{cpu.median / case['events'] * 1e6:.2f}",
                    _range(_of(case, option, "peak_bytes"), 1e-9),
                ]
            )
    head = ["events, millions", "report", "time, s", "CPU time, s", "us an event", "peak memory, GB"]
    return markdown(head, rows)


def pages(results: Results) -> str:
    """A line for each size."""
    rows = [
        [
            f"{case['events'] / 1e6:.1f}",
            f"{case['page_bytes'] / 1e6:.1f}",
            _range(_first_s(case)),
            _range(_steps_ms(case), digits=1),
            f"{max(max(page['drawings_ms']) for page in case['pages']):.1f}",
        ]
        for case in results["cases"]
    ]
    head = [
        "events, millions",
        "page, MB",
        "first picture, s",
        "step of zooming, 95 %, ms",
        "longest step, ms",
    ]
    return markdown(head, rows)


def _judged(results: Results) -> list[tuple[str, str, str, str]]:
    """Of the largest run: what, at most, found, and the verdict."""
    case = max(results["cases"], key=lambda case: case["events"])
    size = spread([float(case["page_bytes"])])
    rows = [
        ("report, time", REPORT_S, _of(case, JSON, "wall_s"), "s", 1.0),
        ("report, peak memory", REPORT_BYTES, _of(case, JSON, "peak_bytes"), "GB", 1e-9),
        ("report and page, peak memory", REPORT_BYTES, _of(case, HTML, "peak_bytes"), "GB", 1e-9),
        ("page", PAGE_BYTES, size, "MB", 1e-6),
        ("first picture", FIRST_PICTURE_S, _first_s(case), "s", 1.0),
        ("script of a step of zooming, 95 %", STEP_MS, _steps_ms(case), "ms", 1.0),
    ]
    return [
        (name, f"{most * factor:g} {unit}", f"{_range(entry, factor)} {unit}", judge(entry, most))
        for name, most, entry, unit, factor in rows
    ]


def targets(results: Results) -> str:
    """What is promised for ten million events."""
    return markdown(["what", "at most", "found (95 % interval)", "verdict"], _judged(results))


def report_faults(results: Results) -> list[str]:
    """What is surely worse than promised, a line each."""
    return [
        f"{name}: expected at most {most}, found {entry}"
        for name, most, entry, verdict in _judged(results)
        if verdict == "not met"
    ]


REPORT_BLOCKS = {
    "report-machine": machine,
    "report-targets": targets,
    "report-costs": costs,
    "report-pages": pages,
}

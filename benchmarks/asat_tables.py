"""Results of the study of ASAT as published, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from benchmarks.asat import WORD
from benchmarks.tables import Results, machine, markdown


def _of(results: Results, kind: str) -> list[dict[str, Any]]:
    return [case for case in results["cases"] if case["kind"] == kind]


def timelines(results: Results) -> str:
    """How soon the number of threads follows the load, and what the program got done."""
    rows = [
        [
            case["load"],
            case["policy"],
            _seconds(_answers(case, came=True)),
            _seconds(_answers(case, came=False)),
            f"{median(_mean_count(counts, case['steps'][-1][0]) for counts in case['counts']):.2f}",
            f"{median(case['work_cpus']):.2f}",
            f"{median(case['cpu_time_ratio']):.2f}",
        ]
        for case in _of(results, "timeline")
    ]
    head = ["load", "threads", "fewer after, s", "as many again after, s", "mean number"]
    return markdown([*head, "work done, CPUs", "CPU time / that of one thread"], rows)


def _seconds(times: Sequence[float]) -> str:
    return f"{median(times):.2f} ({len(times)})" if times else "never"


def _answers(case: dict[str, Any], came: bool) -> list[float]:
    """Over all rounds: from when load came, or all of it left, until there were fewer threads, or as many as at first."""
    return [
        answer
        for counts in case["counts"]
        for answer in _answers_of(counts, case["steps"], came)
        if answer is not None
    ]


def _answers_of(
    counts: Sequence[Sequence[float]], steps: Sequence[Sequence[float]], came: bool
) -> Iterable[float | None]:
    first = counts[0][1]
    for (_, before), (at, now), (until, _) in zip(steps, steps[1:], steps[2:], strict=False):
        if came and before == 0 < now:
            yield _first(counts, at, until, lambda count: count < first)
        elif not came and before > 0 == now:
            yield _first(counts, at, until, lambda count: count >= first)


def _first(counts: Sequence[Sequence[float]], at: float, until: float, is_wanted: Any) -> float | None:
    """Seconds from `at` to the first change to a wanted number; 0: it was there already; None: not before `until`."""
    earlier = [count for moment, count in counts if moment <= at]
    if earlier and is_wanted(earlier[-1]):
        return 0.0
    return next((moment - at for moment, count in counts if at < moment <= until and is_wanted(count)), None)


def _mean_count(counts: Sequence[Sequence[float]], end: float) -> float:
    later = [*counts[1:], (end, 0)]
    return sum(count * (until - at) for (at, count), (until, _) in zip(counts, later, strict=True)) / end


def skews(results: Results) -> str:
    """Appendix A: how far apart threads are, in microseconds; medians, and the greatest in parentheses."""
    rows = [
        [
            str(case["beside"]),
            case["policy"],
            f"{case['figures']['threads']:.2f}",
            *(
                f"{case['figures'][f'{name}_us']:.1f} ({case['figures'][f'{name}_max_us']:.0f})"
                for name in ("whole", "spawn", "exit", "passage")
            ),
        ]
        for case in _of(results, "skew")
    ]
    return markdown(
        ["busy programs", "threads", "mean number", "whole", "spawn", "exit", "barrier passage"], rows
    )


def asat_run(results: Results) -> str:
    """How it was run."""
    rounds = len(_of(results, "timeline")[0]["counts"])
    return f"{machine(results)}\n- {rounds} rounds"


def asat_figures(results: Results) -> str:
    """Threads over time, a figure for each load."""
    loads = dict.fromkeys(case["load"] for case in _of(results, "timeline"))
    return "\n\n".join(f"![Threads over time, {load} load](figures/{WORD}-{load}.png)" for load in loads)


ASAT_BLOCKS = {
    "asat-run": asat_run,
    "asat-timelines": timelines,
    "asat-skews": skews,
    "asat-figures": asat_figures,
}

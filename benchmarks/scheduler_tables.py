"""Tables of what recording the scheduler costs (docs/performance/kernel.md)."""

from __future__ import annotations

from typing import Any

from benchmarks.docs import Blocks
from benchmarks.scheduler import BARE, OURS, PERF
from benchmarks.spread import Spread, judge, ratios, spread
from benchmarks.tables import Results, machine, markdown

_MOST_SLOWER, _MOST_OF_PERF = 1.03, 0.6
# Of the bars: so far from 1.
_BARS = {
    "running, perf sched latency": 0.005,
    "switches, events of perf": 0.01,
    "waiting, perf sched latency": 0.03,
}


def _shown(result: Spread) -> str:
    return f"{result.median:.3f} ({result.low:.3f} to {result.high:.3f})"


def _cases(results: Results, kind: str) -> list[dict[str, Any]]:
    return [case for case in results["cases"] if case["kind"] == kind]


def costs(results: Results) -> str:
    """How much longer the program takes, and the part of what `perf sched record` adds."""
    rows = []
    for case in _cases(results, "cost"):
        bare = case["seconds"][BARE]
        ours = spread(ratios(case["seconds"][OURS], bare))
        row = [case["title"], f"{spread(case['rates']).median:,.0f}", _shown(ours), judge(ours, _MOST_SLOWER)]
        if PERF in case["seconds"]:
            perf = ratios(case["seconds"][PERF], bare)
            # What ours adds less the allowed part of what perf adds: at most 0. Dividing by what may be 0 says nothing.
            added = spread(
                [
                    own - 1 - _MOST_OF_PERF * (other - 1)
                    for own, other in zip(ratios(case["seconds"][OURS], bare), perf, strict=True)
                ]
            )
            part = (ours.median - 1) / (spread(perf).median - 1) if spread(perf).median != 1 else float("nan")
            row += [_shown(spread(perf)), f"{part:.2f}", judge(added, 0.0)]
        else:
            row += ["", "", ""]
        rows.append(row)
    head = ["program", "switches a second", "trimtab-kernel / bare", "at most 1.03"]
    head += ["perf sched record / bare", "part of what perf adds", "at most 0.6"]
    return markdown(head, rows)


def agreements(results: Results) -> str:
    """What one says in terms of the other, recorded at the same time."""
    rows = []
    for case in _cases(results, "agreement"):
        for name, values in case["ratios"].items():
            if not values:
                continue
            result = spread(values)
            bar = _BARS.get(name)
            is_met = bar is not None and result.low >= 1 - bar and result.high <= 1 + bar
            is_missed = bar is not None and (result.high < 1 - bar or result.low > 1 + bar)
            verdict = "" if bar is None else "met" if is_met else "not met" if is_missed else "open"
            rows.append([case["title"], name, _shown(result), "" if bar is None else f"±{bar:.1%}", verdict])
    return markdown(["program", "what, beside", "trimtab / the other", "bar", "verdict"], rows)


SCHEDULER_BLOCKS: Blocks = {"machine": machine, "costs": costs, "agreements": agreements}

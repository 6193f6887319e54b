"""Runs of one side that lie apart from the others, and by what (docs/reference/metrics.md, "Outliers")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

# Dixon's test at 99 %, from four runs on: the gap to the next value, as a share of the whole range (Rorabacher 1991).
_LEAST_RUNS = 4
_CRITICAL = (0.926, 0.821, 0.740, 0.680, 0.634, 0.598, 0.568)
# Of the median time of the side: smaller differences are nobody's concern.
_LEAST_SHARE = 0.02


@dataclass(frozen=True)
class Apart:
    """A run's figure that lies apart, seconds of wall time; `others`: the median of the other runs."""

    run: int
    value: float
    others: float

    @property
    def difference(self) -> float:
        """By how much it is more than the others."""
        return self.value - self.others


def apart(values: Sequence[float], least: float) -> list[Apart]:
    """Values that lie apart from the rest on either side, by Dixon's test; a few together are tested as one.

    Args:
        values: of each run.
        least: smaller differences from the others' median do not count.
    """
    found: list[Apart] = []
    column = np.array(values, dtype=float)
    order = np.argsort(column, kind="stable")
    for count in range(1, (len(column) - _LEAST_RUNS) // 2 + 2):
        for ends in (order[-count:], order[:count]):
            rest = np.setdiff1d(order, ends)
            if _is_apart(column, ends, rest):
                others = float(np.median(column[rest]))
                found += [Apart(int(at), float(column[at]), others) for at in ends]
    return sorted(
        {entry.run: entry for entry in found if abs(entry.difference) >= least}.values(),
        key=lambda entry: entry.run,
    )


def _is_apart(column: np.ndarray, ends: np.ndarray, rest: np.ndarray) -> bool:
    place = len(rest) + 1 - _LEAST_RUNS
    if place < 0:
        return False
    critical = _CRITICAL[min(place, len(_CRITICAL) - 1)]
    low, high = float(column[rest].min()), float(column[rest].max())
    gap = max(float(column[ends].min()) - high, low - float(column[ends].max()))
    return gap > critical / (1 - critical) * (high - low)


def outliers(
    wall_s: Sequence[float], causes: Mapping[tuple[str, str | None], Sequence[float]]
) -> list[tuple[Apart, list[tuple[tuple[str, str | None], Apart]]]]:
    """Runs whose time or a cause's part of it lies apart: with the time, and the causes that do so, most first.

    Args:
        wall_s: of each run.
        causes: by cause and subject what it takes of the wall time of each run, seconds.
    """
    if len(wall_s) < _LEAST_RUNS:
        return []
    least = _LEAST_SHARE * float(np.median(wall_s))
    of_runs: dict[int, list[tuple[tuple[str, str | None], Apart]]] = {
        entry.run: [] for entry in apart(wall_s, least)
    }
    for key, values in causes.items():
        for entry in apart(values, least):
            of_runs.setdefault(entry.run, []).append((key, entry))
    return [
        (
            Apart(run, wall_s[run], float(np.median(np.delete(np.array(wall_s), run)))),
            sorted(of_runs[run], key=lambda item: (-abs(item[1].difference), item[0][0], item[0][1] or "")),
        )
        for run in sorted(of_runs)
    ]

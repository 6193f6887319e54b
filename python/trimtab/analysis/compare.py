"""Two sides of runs: what differs by more than their noise (docs/reference/metrics.md, "Comparing")."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from trimtab.model.report import Report

_NORMAL_95 = 1.96


def compare(before: Sequence[Report], after: Sequence[Report]) -> dict[str, Any]:
    """Differences of two sides of reports, in total and per region of either.

    Args:
        before: reports (`build`) of at least one run.
        after: the same, of the other side.

    Returns:
        `runs` a side, `total` with one entry per figure, `regions` with the same per region's name, most changed
        wall time first. An entry has the medians `before` and `after`, the `difference` (median of all pairwise
        ones), its 95 % `interval` (null with fewer than four runs a side) and `is_clear` (null likewise).
    """
    if not before or not after:
        raise ValueError("each side needs a run")
    total: dict[str, Any] = {}
    for name in ("wall_s", "efficiency"):
        total[name] = _entry(
            [getattr(side_report, name) for side_report in before],
            [getattr(side_report, name) for side_report in after],
        )
    times = [[entry.time for entry in side if entry.time is not None] for side in (before, after)]
    if [len(side) for side in times] == [len(before), len(after)]:
        for share in times[0][0]:
            total[share] = _entry(*[[time[share] for time in side] for side in times])
    sides = [
        [{region.name: region for region in report.regions} for report in side] for side in (before, after)
    ]
    names = sorted({name for side in sides for regions in side for name in regions})
    regions = [
        {
            "name": name,
            **{
                figure: _entry(
                    *[
                        [getattr(entries_by_name.get(name), figure, None) for entries_by_name in side]
                        for side in sides
                    ]
                )
                for figure in ("wall_s", "work_s", "wait_s", "imbalance", "calls")
            },
        }
        for name in names
    ]
    regions.sort(key=_change, reverse=True)
    return {"runs": [len(before), len(after)], "total": total, "regions": regions}


def _change(region: dict[str, Any]) -> float:
    """By how much a region's wall time changed; one that only one side has comes first."""
    difference = region["wall_s"]["difference"]
    return math.inf if difference is None else abs(float(difference))


def _entry(before: Sequence[float | None], after: Sequence[float | None]) -> dict[str, Any]:
    """One figure on both sides; runs that have none are left out, and a side without any is null."""
    a = np.array([value for value in before if value is not None], dtype=float)
    b = np.array([value for value in after if value is not None], dtype=float)
    entry: dict[str, Any] = {
        "before": float(np.median(a)) if len(a) else None,
        "after": float(np.median(b)) if len(b) else None,
        "difference": None,
        "interval": None,
        "is_clear": None,
    }
    if not len(a) or not len(b):
        return entry
    differences = np.sort((b[:, None] - a[None, :]).ravel())
    entry["difference"] = float(np.median(differences))
    # Hodges and Lehmann's estimate and its interval from the rank sum's distribution (normal approximation).
    pairs = len(differences)
    spread = math.sqrt(pairs * (len(a) + len(b) + 1) / 12)
    rank = math.floor(pairs / 2 - _NORMAL_95 * spread)
    if rank >= 1:
        low, high = float(differences[rank - 1]), float(differences[pairs - rank])
        entry["interval"] = [low, high]
        entry["is_clear"] = low > 0 or high < 0
    return entry

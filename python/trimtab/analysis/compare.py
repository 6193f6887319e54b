"""Two sides of runs: what differs by more than their noise (docs/reference/metrics.md, "Comparing")."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from trimtab.analysis.outliers import outliers
from trimtab.model.report import Report

_NORMAL_95 = 1.96


# As a cause of where the core time went, beside those of idle time.
_WORK = "work"
_Place = tuple[str, str | None]


def compare(
    before: Sequence[Report], after: Sequence[Report], names: Sequence[Sequence[str]] = ((), ())
) -> dict[str, Any]:
    """Differences of two sides of reports, in total, by cause of idle time and per region of either.

    Args:
        before: reports (`build`) of at least one run.
        after: the same, of the other side.
        names: of the runs of both sides; without, outliers have their number.

    Returns:
        `runs` a side, `total` with one entry per figure, `regions` with the same per region's name, most changed
        wall time first. `causes`: by cause and subject, `work` included, the core time `lane_time_s` and the part of the
        wall time `wall_s` that it explains, most changed first. `outliers`: runs that lie apart from others of their side. An entry has the medians `before` and `after`, the `difference` (median of all pairwise
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
    region_names = sorted({name for side in sides for regions in side for name in regions})
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
        for name in region_names
    ]
    regions.sort(key=_change, reverse=True)
    return {
        "runs": [len(before), len(after)],
        "total": total,
        "causes": _by_cause(before, after),
        "outliers": [*_outliers("A", before, names[0]), *_outliers("B", after, names[1])],
        "regions": regions,
    }


def _lane_times(report: Report) -> dict[_Place, float]:
    """Core time of a run by cause and subject, seconds; empty where it is not known."""
    if report.efficiency is None or not report.capacity_s:
        return {}
    times: dict[_Place, float] = {(_WORK, None): report.efficiency * report.capacity_s}
    for entry in report.blame:
        place = (str(entry.cause), entry.subject)
        times[place] = times.get(place, 0.0) + entry.lane_time_s
    return times


def _wall_of_lane_s(report: Report) -> float:
    """Wall time that a second of core time is worth: one over the mean number of cores."""
    return (report.observed_s or 0.0) / report.capacity_s if report.capacity_s else 0.0


def _by_cause(before: Sequence[Report], after: Sequence[Report]) -> list[dict[str, Any]]:
    sides = [[(_lane_times(report), _wall_of_lane_s(report)) for report in side] for side in (before, after)]
    known = [[(times, scale) for times, scale in side if times] for side in sides]
    places = {place for side in known for times, _ in side for place in times}
    entries = [
        {
            "cause": place[0],
            "subject": place[1],
            "lane_time_s": _entry(*[[times.get(place, 0.0) for times, _ in side] for side in known]),
            "wall_s": _entry(*[[times.get(place, 0.0) * scale for times, scale in side] for side in known]),
        }
        for place in places
    ]
    return sorted(
        entries,
        key=lambda entry: (
            -abs(entry["wall_s"]["difference"] or 0.0),
            entry["cause"],
            entry["subject"] or "",
        ),
    )


def _outliers(label: str, side: Sequence[Report], names: Sequence[str]) -> list[dict[str, Any]]:
    known = [_lane_times(report) for report in side]
    scales = [_wall_of_lane_s(report) for report in side]
    places = sorted(
        {place for times in known for place in times}, key=lambda place: (place[0], place[1] or "")
    )
    causes = {
        place: [times.get(place, 0.0) * scale for times, scale in zip(known, scales, strict=True)]
        for place in places
        if all(known)
    }
    return [
        {
            "side": label,
            "run": run.run + 1,
            "name": names[run.run] if run.run < len(names) else None,
            "wall_s": run.value,
            "others_wall_s": run.others,
            "causes": [
                {"cause": place[0], "subject": place[1], "wall_s": entry.value, "others_wall_s": entry.others}
                for place, entry in found
            ],
        }
        for run, found in outliers([report.wall_s for report in side], causes)
    ]


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

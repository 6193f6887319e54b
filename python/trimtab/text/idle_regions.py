"""Idle regions and times of tasks, in lines and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape

from trimtab.counted import counted
from trimtab.model.report import IdleRegion, IdleRegionGroup, Report
from trimtab.text.console import table
from trimtab.text.units import percent, seconds

if TYPE_CHECKING:
    from rich.table import Table

_MOST_ROWS, _MOST_LINKS = 12, 6
# Of all worker time: less is not worth a word at the end of a run.
_LEAST_SHARE = 0.02
_OUTSIDE = "code outside of tasks"
_INSIDE = "a task that began inside"


def idle_region_line(report: Report) -> str | None:
    """The group that cost most, for the end of a run."""
    if not report.idle_region_groups or report.idle_region_groups[0].share < _LEAST_SHARE:
        return None
    group = report.idle_region_groups[0]
    who = group.initiating or group.breaking or _OUTSIDE
    more = "" if group.more_workers is None else f", up to {group.more_workers} more would have helped"
    return (
        f"{counted(group.count, 'idle region')} ({percent(group.share)} of all workers' time): {group.verdict}{more}; "
        f"started by {who}"
    )


def idle_group_table(report: Report) -> Table | None:
    """All idle regions by verdict and kinds of task."""
    if not report.idle_region_groups:
        return None
    rows = table(
        "idle regions",
        "verdict",
        "breaking task",
        "initiating task",
        "time",
        "lost lane time",
        "share",
        title="when at most one worker was busy",
    )
    for group in report.idle_region_groups[:_MOST_ROWS]:
        rows.add_row(
            str(group.count),
            _verdict(group),
            escape(group.breaking or _OUTSIDE),
            escape(group.initiating or ("" if group.breaking is None else _INSIDE)),
            seconds(group.time_s),
            seconds(group.lane_time_s),
            percent(group.share),
        )
    if rest := report.idle_region_groups[_MOST_ROWS:]:
        lost, share = sum(group.lane_time_s for group in rest), sum(group.share for group in rest)
        count = sum(group.count for group in rest)
        rows.add_row(str(count), f"{len(rest)} other groups", "", "", "", seconds(lost), percent(share))
    return rows


def _verdict(group: IdleRegionGroup) -> str:
    if group.more_workers is None:
        return group.verdict
    return f"{group.verdict} (up to {group.more_workers} more)"


def longest_idle_region_lines(report: Report) -> Iterator[str]:
    """The region that cost most, told as a chain; or why there is none."""
    if report.no_idle_regions is not None:
        if report.task_times:
            yield f"idle regions: {report.no_idle_regions}"
        return
    if not report.idle_regions:
        yield "idle regions: none, there was never at most one busy worker between two times when all were busy"
        return
    region = max(report.idle_regions, key=lambda region: region.lane_time_s)
    yield (
        f"the idle region that cost most: at {seconds(region.begin_s)}, for {seconds(region.end_s - region.begin_s)}, "
        f"{region.verdict}: {_story(region)}"
    )


def _story(region: IdleRegion) -> str:
    links = list(region.chain)
    if len(links) > _MOST_LINKS:
        half = _MOST_LINKS // 2
        links = [*links[:half], "...", *links[-half:]]
    chain = " <- ".join(
        link for at, link in enumerate(links) if at == 0 or link != "..." or links[at - 1] != "..."
    )
    if region.breaking is None:
        return f"ended by {chain or 'nothing that is recorded'}, which {_OUTSIDE} made"
    text = f"ended by {chain}"
    if region.initiating is not None:
        text += " (running when it began)"
    if region.delayed is not None:
        text += f"; {region.delayed} could have started {seconds(region.earlier_s)} earlier"
    return text


def task_time_table(report: Report) -> Table | None:
    """What tasks did from their creation until their end."""
    if not report.task_times:
        return None
    rows = table(
        "tasks", "count", "inputs missing", "no worker", "active", "suspended", "for", title="time of tasks"
    )
    for times in report.task_times[:_MOST_ROWS]:
        causes = sorted(times.suspended_s.items(), key=lambda cause: -cause[1])
        rows.add_row(
            escape(times.name) + (" (runtime)" if times.is_own else ""),
            f"{times.count:,}",
            seconds(times.ineligible_s),
            seconds(times.eligible_s),
            seconds(times.active_s),
            seconds(sum(times.suspended_s.values())),
            escape(", ".join(cause for cause, _ in causes[:3])),
        )
    if rest := report.task_times[_MOST_ROWS:]:
        count, active = sum(times.count for times in rest), sum(times.active_s for times in rest)
        rows.add_row(f"{len(rest)} other kinds", f"{count:,}", "", "", seconds(active), "", "")
    return rows

"""A sweep on the terminal: the best configurations, and what came of the runs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape

from trimtab.text.console import LEAST_NAME, output, table

_MOST_ROWS = 40
# A heading, and a cell for each row.
Column = tuple[str, list[str]]


def sweep_tables(swept: Mapping[str, Any]) -> None:
    """What `trimtab.experiments.json_of` gives, in short, on standard output."""
    console = output()
    for best in swept["best"]:
        groups = best["groups"]
        if not groups:
            console.print(f"{escape(best['title'])}: no run has '{escape(best['metric'])}'")
            continue
        columns = _columns(swept, best, groups[:_MOST_ROWS])
        shown = fitting(columns, len(groups[0]["configuration"]) + 1, console.width)
        rows = table(*(escape(head) for head, _ in shown), title=escape(best["title"]))
        for cells in zip(*(cells for _, cells in shown), strict=True):
            rows.add_row(*map(escape, cells))
        console.print(rows)
        if len(shown) < len(columns) or len(groups) > _MOST_ROWS:
            console.print("index.html has all columns and rows")


def fitting(columns: Sequence[Column], least_width: int, width: int) -> list[Column]:
    """As many columns, from the left, as a terminal is wide; the first `least_width` in any case.

    Example:
        >>> [head for head, _ in fitting([("a", ["1"]), ("b", ["22"]), ("c", ["333"])], 1, 21)]
        ['a', 'b']
    """
    used, chosen = 1, []
    for at, (head, cells) in enumerate(columns):
        used += max(map(len, (head, *cells, "" if at else " " * LEAST_NAME))) + 3
        if at >= least_width and used > width:
            break
        chosen.append((head, cells))
    return chosen


def _columns(swept: Mapping[str, Any], best: Mapping[str, Any], groups: Sequence[Any]) -> list[Column]:
    """Configuration, the figure and its spread, then what is to be shown besides."""
    shown = list(dict.fromkeys(name for group in groups for name in group["show"]))
    chosen = [
        (name, [_word(group["configuration"][name]) for group in groups])
        for name in groups[0]["configuration"]
    ]
    chosen.append((_head(swept, best["metric"]), [figure(group["median"]) for group in groups]))
    chosen += [
        (head, [figure(group[name]) for group in groups]) for head, name in (("IQR", "iqr"), ("min", "min"))
    ]
    chosen += [("n", [str(group["n"]) for group in groups])]
    chosen += [("others as good", [str(group["as_good"]) for group in groups])]
    for name in shown:
        cells = [figure(group["show"][name]) if name in group["show"] else "" for group in groups]
        chosen.append((_head(swept, name), cells))
    return chosen


def _head(swept: Mapping[str, Any], name: str) -> str:
    metric = swept["metrics"][name]
    return f"{metric['title']} ({metric['unit']})" if metric["unit"] else str(metric["title"])


def plan_table(planned: Mapping[str, Any], limit: int = 20) -> None:
    """What `trimtab sweep --dry-run` says: how much there is to run, and the first commands in their order."""
    console = output()
    for options in planned.get("jobs", ()):
        console.print(escape(f"sbatch {shlex.join(options)}"))
    console.print(f"{planned['configurations']} configurations, {planned['runs']} runs, {planned['order']}")
    if planned["expected_s"] is not None:
        console.print(f"about {time_left(planned['expected_s'])} for the runs that are left")
    for command in planned["commands"][:limit]:
        console.print(f"  {escape(command)}")
    if len(planned["commands"]) > limit:
        console.print(f"  and {len(planned['commands']) - limit} more (--json has all)")


def time_left(seconds: float) -> str:
    """How long a sweep still takes, as exact as an estimate is.

    Example:
        >>> time_left(42), time_left(200), time_left(9000), time_left(1e6)
        ('42 s', '3 min', '2.5 h', '11.6 days')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 172_800:
        return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"


def figure(value: float) -> str:
    """A figure of any size: whole where it is large, else four digits.

    Example:
        >>> figure(0.123456), figure(1234567.0), figure(2.5e12)
        ('0.1235', '1234567', '2.5e+12')
    """
    return f"{value:.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

"""A sweep on the terminal: the best configurations, and what came of the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from trimtab.text.console import output, table

_MOST_ROWS = 40


def sweep_tables(swept: Mapping[str, Any]) -> None:
    """What `trimtab.experiments.as_json` gives, in short, on standard output."""
    console = output()
    for best in swept["best"]:
        groups = best["groups"]
        if not groups:
            console.print(f"{escape(best['title'])}: no run has '{best['metric']}'")
            continue
        factors = list(groups[0]["configuration"])
        shown = list(dict.fromkeys(name for each in groups for name in each["show"]))
        heads = [_head(swept, name) for name in (best["metric"], *shown)]
        rows = table(
            factors[0] if factors else "",
            *factors[1:],
            heads[0],
            "IQR",
            "min",
            "n",
            *heads[1:],
            "others as good",
        )
        rows.title, rows.title_justify = escape(best["title"]), "left"
        for each in groups[:_MOST_ROWS]:
            words = [escape(_word(value)) for value in each["configuration"].values()] or [""]
            told = [figure(each[name]) for name in ("median", "iqr", "min")]
            more = [figure(each["show"][name]) if name in each["show"] else "" for name in shown]
            rows.add_row(*words, *told, str(each["n"]), *more, str(each["as_good"]))
        console.print(rows)
        if len(groups) > _MOST_ROWS:
            console.print(f"and {len(groups) - _MOST_ROWS} more groups (index.html has all)")


def _head(swept: Mapping[str, Any], name: str) -> str:
    metric = swept["metrics"][name]
    return f"{metric['title']} ({metric['unit']})" if metric["unit"] else str(metric["title"])


def plan_table(planned: Mapping[str, Any], most: int = 20) -> None:
    """What `trimtab sweep --dry-run` says: how much there is to run, and the first commands in their order."""
    console = output()
    console.print(f"{planned['configurations']} configurations, {planned['runs']} runs, {planned['order']}")
    for each in planned["commands"][:most]:
        console.print(f"  {escape(each)}")
    if len(planned["commands"]) > most:
        console.print(f"  and {len(planned['commands']) - most} more (--json has all)")


def time_left(seconds: float) -> str:
    """How long a sweep still takes, as exact as an estimate is.

    Example:
        >>> time_left(42), time_left(200), time_left(9000)
        ('42 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def figure(value: float) -> str:
    """A figure of any size: whole where it is large, else four digits.

    Example:
        >>> figure(0.123456), figure(1234567.0), figure(2.5e12)
        ('0.1235', '1234567', '2.5e+12')
    """
    return f"{value:.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

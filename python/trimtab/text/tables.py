"""Tables on standard output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from trimtab.text.units import NAMES, percent, seconds


def tables(report: dict[str, Any], directory: Path) -> None:
    """The whole report as tables on standard output."""
    console = Console(highlight=False)
    console.print(f"[bold]{escape(' '.join(report['command']))}[/]  {escape(str(directory))}")
    end = report["exit"]
    how = f"killed by {end['signal']}" if end["signal"] else f"exit code {end['code']}"
    console.print(f"{seconds(report['wall_s'])}, {how}{'' if report['complete'] else ' (incomplete)'}")
    if report["time"] is not None:
        table = Table(
            "share of core time", "", title=f"{report['cpus_available']:g} CPUs, {report['threads']} threads"
        )
        for name, share in report["time"].items():
            table.add_row(NAMES[name], f"{share:.2%}")
        console.print(table)
    if report["regions"]:
        table = Table(
            "region",
            "calls",
            "threads",
            "wall",
            "work",
            "wait",
            "imbalance",
            "schedule",
            "chunk",
            "iterations",
        )
        for region in report["regions"][:40]:
            table.add_row(
                escape(region["name"]),
                str(region["calls"]),
                str(region["threads"]),
                seconds(region["wall_s"]),
                seconds(region["work_s"]),
                seconds(region["wait_s"]),
                f"{region['imbalance']:.2f}" if region["imbalance"] else "",
                region["schedule"] or "",
                str(region["chunk"] or ""),
                str(region["iterations"] if region["iterations"] is not None else ""),
            )
        console.print(table)
        if len(report["regions"]) > 40:
            console.print(f"and {len(report['regions']) - 40} more regions (--json has all)")
    for finding in report["findings"]:
        subject = f" at {finding['subject']}" if finding["subject"] else ""
        console.print(
            f"[bold]{escape(finding['cause'])}{escape(subject)}[/] (up to {seconds(finding['gain_s'])})"
        )
        console.print(f"  {escape(finding['evidence'])}\n  -> {escape(finding['action'])}")
    for missing in report["unavailable"]:
        console.print(
            f"not available: {escape(missing['what'])}: {escape(missing['why'])}. {escape(missing['remedy'])}"
        )
    own = report["overhead"]
    console.print(
        f"own cost {percent(own['share'])} of core time; {own['events']} events, {own['dropped']} dropped"
    )


def run_list(runs: list[dict[str, Any]]) -> None:
    """Recorded runs, one a row."""
    table = Table("run", "program", "wall", "ended")
    for each in runs:
        ended = each["signal"] or ("" if each["code"] is None else str(each["code"]))
        wall = seconds(each["wall_s"]) if each["wall_s"] is not None else "not ended"
        table.add_row(escape(each["run"]), escape(str(each["program"])), wall, ended)
    Console(highlight=False).print(table)

"""What a terminal shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_NAMES = {
    "work": "work",
    "barrier_wait": "barrier wait",
    "arrival": "arrival",
    "serial": "serial",
    "run_delay": "run delay",
    "runtime": "runtime and tool",
    "unattributed": "unattributed",
}


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %" if 0.0005 <= share < 0.9995 else f"{share * 100:.0f} %"


def _seconds(value: float) -> str:
    if value >= 1:
        return f"{value:.3g} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} us"


def verdict(report: dict[str, Any], directory: Path, stream: TextIO) -> None:
    """A few lines: efficiency, shares, worst regions, findings."""
    console = Console(file=stream, highlight=False, soft_wrap=True)
    if report["efficiency"] is None:
        console.print(
            f"[bold]trimtab[/]: {_seconds(report['wall_s'])}; {escape(report['unavailable'][0]['why'])}"
        )
        console.print(f"  run: {escape(str(directory))}")
        return
    console.print(
        f"[bold]trimtab[/]: {_percent(report['efficiency'])} of {report['cpus_available']:g} CPUs' time over "
        f"{_seconds(report['wall_s'])} was work ({report['threads']} threads)"
    )
    shares = [
        f"{_NAMES[name]} {_percent(share)}" for name, share in report["time"].items() if share >= 0.0005
    ]
    console.print("  " + ", ".join(shares))
    for region in report["regions"][:3]:
        imbalance = f", imbalance {region['imbalance']:.2f}" if region["imbalance"] else ""
        console.print(
            f"  region {escape(region['name'])}: {region['calls']} calls, {_seconds(region['wall_s'])}, "
            f"waits {_seconds(region['wait_s'])}{imbalance}"
        )
    for finding in report["findings"][:3]:
        subject = f" at {finding['subject']}" if finding["subject"] else ""
        console.print(
            f"  [bold]{escape(finding['cause'])}{escape(subject)}[/] (up to {_seconds(finding['gain_s'])}): "
            f"{escape(finding['evidence'])}"
        )
        console.print(f"    -> {escape(finding['action'])}")
    if not report["regions"]:
        for missing in report["unavailable"]:
            if missing["what"] == "OpenMP regions":
                console.print(f"  no regions: {escape(missing['why'])}")
    console.print(
        f"  own cost {_percent(report['overhead']['share'])}; run: {escape(str(directory))} "
        "(trimtab report RUN, --html FILE)"
    )


def tables(report: dict[str, Any], directory: Path) -> None:
    """The whole report as tables on standard output."""
    console = Console(highlight=False)
    console.print(f"[bold]{escape(' '.join(report['command']))}[/]  {escape(str(directory))}")
    end = report["exit"]
    how = f"killed by {end['signal']}" if end["signal"] else f"exit code {end['code']}"
    console.print(f"{_seconds(report['wall_s'])}, {how}{'' if report['complete'] else ' (incomplete)'}")
    if report["time"] is not None:
        table = Table(
            "share of core time", "", title=f"{report['cpus_available']:g} CPUs, {report['threads']} threads"
        )
        for name, share in report["time"].items():
            table.add_row(_NAMES[name], f"{share:.2%}")
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
                _seconds(region["wall_s"]),
                _seconds(region["work_s"]),
                _seconds(region["wait_s"]),
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
            f"[bold]{escape(finding['cause'])}{escape(subject)}[/] (up to {_seconds(finding['gain_s'])})"
        )
        console.print(f"  {escape(finding['evidence'])}\n  -> {escape(finding['action'])}")
    for missing in report["unavailable"]:
        console.print(
            f"not available: {escape(missing['what'])}: {escape(missing['why'])}. {escape(missing['remedy'])}"
        )
    own = report["overhead"]
    console.print(
        f"own cost {_percent(own['share'])} of core time; {own['events']} events, {own['dropped']} dropped"
    )


def run_list(runs: list[dict[str, Any]]) -> None:
    """Recorded runs, one a row."""
    table = Table("run", "program", "wall", "ended")
    for each in runs:
        ended = each["signal"] or ("" if each["code"] is None else str(each["code"]))
        wall = _seconds(each["wall_s"]) if each["wall_s"] is not None else "not ended"
        table.add_row(escape(each["run"]), escape(str(each["program"])), wall, ended)
    Console(highlight=False).print(table)

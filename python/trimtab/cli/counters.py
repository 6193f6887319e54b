"""`trimtab counters`: what the task runtime counts. The table is the one that its C++ sources include."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

import click

from trimtab import paths
from trimtab.cli.common import (
    echo,
    echo_json,
    fail,
)

_ROW = re.compile(r'COUNTER\(\w+, "([^"]+)", "([^"]+)", (exact|estimated), "([^"]+)"\)')


@dataclass(frozen=True)
class Counter:
    """One counter: its path without instance, unit, whether it is exact or estimated, and what it means."""

    path: str
    unit: str
    how: str
    meaning: str


def read_counters() -> list[Counter]:
    """All counters of the installed task runtime, in the order of its table."""
    table = paths.include_dir() / "trimtab" / "tasks" / "core" / "counter_table.inc"
    return [Counter(*match.groups()) for match in _ROW.finditer(table.read_text())]


@click.command("counters")
@click.argument("pattern", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def run_counters(pattern: str | None, as_json: bool) -> None:
    """List the counters of the task runtime: all, or those whose path contains PATTERN."""
    counters = [counter for counter in read_counters() if pattern is None or pattern in counter.path]
    if not counters:
        fail(f"no counter's path contains {pattern!r}; `trimtab counters` lists all")
    if as_json:
        echo_json([asdict(counter) for counter in counters], indent=2)
        return
    width = max(len(counter.path) for counter in counters)
    for counter in counters:
        echo(f"{counter.path:<{width}}  {counter.unit:<3} {counter.how:<9}  {counter.meaning}")
    echo(
        "\nOf one worker: /threads{locality#0/worker-thread#1}/idle-rate; of each: worker-thread#*; without {}: of all."
        "\nA program prints them with --trimtab:print-counter=PATH, and reads them with trimtab::find_counters."
    )

"""`trimtab counters`: what the task runtime and jobs count. The tables are those that their C++ sources include."""

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

# In the folder of headers.
TABLES = ("tasks/core/counter_table.inc", "parcels/counters/counter_table.inc")
_ROW = re.compile(
    r'^(?:ACTION_|DESTINATION_|SERVER_)?COUNTER\(\w+, "([^"]+)", "([^"]+)", (exact|estimated), "([^"]+)"\)',
    re.MULTILINE,
)


@dataclass(frozen=True)
class Counter:
    """One counter: its path without instance, unit, whether it is exact or estimated, and what it means."""

    path: str
    unit: str
    how: str
    meaning: str


def read_counters() -> list[Counter]:
    """All counters of the installed task runtime and of jobs, in the order of their tables."""
    folder = paths.include_dir() / "trimtab"
    texts = [(folder / table).read_text() for table in TABLES]
    return [Counter(*match.groups()) for text in texts for match in _ROW.finditer(text)]


@click.command("counters")
@click.argument("pattern", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def run_counters(pattern: str | None, as_json: bool) -> None:
    """List the counters of the task runtime and of jobs: all, or those whose path contains PATTERN."""
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
        "\nOf messages (/parcels, /messages): {locality#0/to#1}, {locality#0/action#NAME}; of communication servers (/servers):"
        "\n{locality#0/server#1}. A job prints them with the same option, and reads them with trimtab::parcels::find_counters."
    )

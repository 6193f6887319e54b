"""What several commands share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import click


def fail(message: str, code: int = 2) -> NoReturn:
    """One line on standard error, and out."""
    click.echo(f"trimtab: {message}", err=True)
    sys.exit(code)


def find_run(name: str) -> Path:
    """The run directory that the user means: a path, or `last`."""
    if name != "last":
        return Path(name)
    runs = sorted(Path("trimtab-runs").glob("*/run.json"), key=lambda path: path.stat().st_mtime)
    if not runs:
        fail("no run below trimtab-runs/ here; give a run directory")
    return runs[-1].parent

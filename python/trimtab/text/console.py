"""Standard output as the commands write to it, for people and for pipes."""

from __future__ import annotations

import os
import sys

from rich.console import Console
from rich.table import Column, Table

# Wide enough that nothing is cut or wrapped: what reads a pipe wants names whole.
_PIPE_WIDTH = 4000
# Of the first column.
LEAST_NAME = 12


def output() -> Console:
    """The terminal's width, or, into a pipe or file, as wide as what is written (COLUMNS says otherwise)."""
    is_free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(highlight=False, width=_PIPE_WIDTH if is_free else None)


def table(names: str, *figures: str, title: str | None = None) -> Table:
    """A first column of names, which a narrow terminal folds, and columns of figures, which stay whole."""
    columns = [Column(name, no_wrap=True, overflow="fold") for name in figures]
    return Table(
        Column(names, overflow="fold", min_width=LEAST_NAME), *columns, title=title, title_justify="left"
    )

"""Standard output as the commands write to it, for people and for pipes."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from rich import console
from rich.errors import MarkupError
from rich.table import Column, Table
from rich.text import Text

from trimtab.escapes import printable

# Wide enough that nothing is cut or wrapped: what reads a pipe wants names whole.
_PIPE_WIDTH = 4000
# Of the first column.
LEAST_NAME = 12


class Console(console.Console):
    """Shows texts of others as they are: no escape sequence, change of direction or line break in them is obeyed.

    Whoever prints a text of others still escapes its brackets (`rich.markup.escape`), or they are taken for styles. Two
    texts of which each has a part of a tag make one tag together: where that is none, it is shown as it is.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        shown = printable(text)
        try:
            return super().render_str(shown, **options)
        except MarkupError:
            return super().render_str(shown, **{**options, "markup": False})


def output() -> Console:
    """The terminal's width, or, into a pipe or file, as wide as what is written (COLUMNS says otherwise)."""
    stream = sys.stdout if sys.stdout is not None else io.StringIO()
    is_free = not stream.isatty() and "COLUMNS" not in os.environ
    return Console(file=stream, highlight=False, width=_PIPE_WIDTH if is_free else None)


def table(names: str, *figures: str, title: str | None = None) -> Table:
    """A first column of names, which a narrow terminal folds, and columns of figures, which stay whole."""
    columns = [Column(name, no_wrap=True, overflow="fold") for name in figures]
    return Table(
        Column(names, overflow="fold", min_width=LEAST_NAME), *columns, title=title, title_justify="left"
    )

"""Tables as CSV (RFC 4180): a header, commas, empty where a value is not known."""

from __future__ import annotations

import csv
import io
from typing import IO, Any

import numpy as np

from trimtab.export.tables import Table


def write_csv(table: Table, stream: IO[bytes]) -> None:
    """Writes a whole table."""
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="", write_through=False)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    for block in table.blocks:
        writer.writerows(
            zip(*(_values(kind, block[name]) for name, kind in table.columns.items()), strict=True)
        )
    text.flush()
    text.detach()


def _values(kind: str, column: Any) -> list[Any]:
    if kind == "word":
        words, word_numbers = column
        return [words[at] for at in word_numbers.tolist()]
    # Masked values come out as None, which the writer leaves empty.
    return column if isinstance(column, list) else np.ma.asanyarray(column).tolist()

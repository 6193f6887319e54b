"""What tuning came to, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.markup import escape

from trimtab.text.console import output, table
from trimtab.text.units import with_uncertainty


def tuned_table(found: Iterable[Mapping[str, Any]]) -> None:
    """A row for each thing that was tried: `trimtab.tuning.multi_run.rows_of`."""
    rows = table("subject", "before", "after", "gain", "verdict")
    for each in found:
        gain = "" if each["gain"] is None else with_uncertainty(each["gain"], each["spread"])
        rows.add_row(
            *(escape(str(each[name])) for name in ("subject", "before", "after")),
            gain,
            escape(each["verdict"]),
        )
    if rows.row_count:
        output().print(rows)

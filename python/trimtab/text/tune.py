"""What tuning came to, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.markup import escape

from trimtab.text.console import output, table
from trimtab.text.units import with_uncertainty


def tuned_table(settings: Iterable[Mapping[str, Any]]) -> None:
    """A row for each thing that was tried: `trimtab.tuning.multi_run.rows_of`."""
    rows = table("subject", "before", "after", "gain", "verdict")
    for setting in settings:
        gain = "" if setting["gain"] is None else with_uncertainty(setting["gain"], setting["spread"])
        rows.add_row(
            *(escape(str(setting[name])) for name in ("subject", "before", "after")),
            gain,
            escape(setting["verdict"]),
        )
    if rows.row_count:
        output().print(rows)

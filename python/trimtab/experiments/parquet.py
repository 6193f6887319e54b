"""A table as Parquet, through pyarrow."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trimtab.experiments.tables import Table


def parquet(table: Table) -> bytes:
    """The file's bytes. Whole numbers stay whole where all of a column are."""
    content = io.BytesIO()
    columns = {name: _array([row[at] for row in table.rows]) for at, name in enumerate(table.columns)}
    pq.write_table(pa.table(columns), content, compression="zstd")
    return content.getvalue()


def _array(cells: list[Any]) -> Any:
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds == {int} and all(cell is None or abs(cell) < 2**63 for cell in cells):
        return pa.array(cells, pa.int64())
    if kinds and kinds <= {int, float}:
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())

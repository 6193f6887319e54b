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
    kinds = {type(each) for each in cells if each is not None}
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds == {int} and all(each is None or abs(each) < 2**63 for each in cells):
        return pa.array(cells, pa.int64())
    if kinds and kinds <= {int, float}:
        return pa.array([None if each is None else float(each) for each in cells], pa.float64())
    return pa.array([None if each is None else str(each) for each in cells], pa.string())
